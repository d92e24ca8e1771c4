/* mma, ldmatrix, stmatrix, movmatrix. */
#include "engine.h"
