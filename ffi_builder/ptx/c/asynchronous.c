/* cp.async, mbarrier, bulk copies and tensor maps. */
#include "engine.h"
