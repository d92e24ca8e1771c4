// The functions for launching kernels that wrappers call, in one translation unit.

#include "cuda.h"

// clang-format off: each file may use those before it.
#include "message.c"
#include "driver.c"
#include "context.c"
#include "limits.c"
#include "own_limits.c"
#include "report.c"
#include "hooks.c"
#include "prepare.c"
#include "launch.c"
#include "watch.c"
#include "find.c"
#include "control.c"
#include "load.c"
#include "zero.c"
#include "capability.c"
#include "tensor_map.c"
