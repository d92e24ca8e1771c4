// The functions for launching kernels that wrappers call, in one translation unit. The files that
// are not in this folder are in cuda/support.

#include "cuda.h"

// clang-format off: each file may use those before it.
#include "message.c"
#include "driver.c"
#include "context.c"
#include "limits.c"
#include "own_limits.c"
#include "report.c"
#include "hooks.c"
#include "launch.c"
#include "watch.c"
#include "find.c"
#include "control.c"
#include "load.c"
#include "zero.c"
#include "capability.c"
#include "call.c"
