/* Copying a kernel's parameters; a list of extras ends with 3 here. */
#include "hip.h"

#undef CU_LAUNCH_PARAM_END
#define CU_LAUNCH_PARAM_END ((void*)3)
#include "../../fakecuda/c/arguments.c"
