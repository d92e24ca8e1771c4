/* f16, bf16, and pairs of them. */
#include "engine.h"
