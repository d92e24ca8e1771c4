#include "../../fakecuda/c/state.c"
