#include "../../fakecuda/c/log.c"
