#include "../../fakecuda/c/call.c"
