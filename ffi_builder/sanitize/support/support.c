// The functions for copies of tensors that wrappers call, in one translation unit.

#include "tensors.h"

// clang-format off: elements.c uses copies.c.
#include "copies.c"
#include "elements.c"
