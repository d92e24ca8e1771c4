#include <real.h>
real half(real x);
