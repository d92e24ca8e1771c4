#include "../../fakecuda/c/plan.c"
