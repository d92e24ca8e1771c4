// The functions that wrappers call, in one translation unit.

#include "tensors.h"

// clang-format off: each file may use those before it.
#include "objects.c"
#include "tensors.c"
#include "overlap.c"
#include "numbers.c"
#include "diagnosis.c"
#include "python.c"
#include "allocator.c"
