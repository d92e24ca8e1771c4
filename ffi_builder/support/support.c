// The functions that wrappers call, in one translation unit.

#include "support.h"

// clang-format off: each file may use those before it.
#include "objects.c"
#include "tensors.c"
#include "overlap.c"
#include "numbers.c"
#include "copies.c"
#include "elements.c"
#include "diagnosis.c"
#include "python.c"
#include "cuda_message.c"
#include "cuda_driver.c"
#include "cuda_context.c"
#include "cuda_limits.c"
#include "cuda_report.c"
#include "cuda_load.c"
#include "cuda_prepare.c"
#include "cuda_control.c"
#include "cuda_zero.c"
#include "cuda_capability.c"
