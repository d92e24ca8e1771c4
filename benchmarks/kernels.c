#include "kernels.h"

void kernel_scalar(int32_t x) {}
void kernel_mm(void *a, void *b, void *c, int64_t n, int64_t k, int64_t m) {}

#define POINTERS void *p0, void *p1, void *p2, void *p3, void *p4, void *p5, void *p6, void *p7
#define FOUR(x) int64_t x##0, int64_t x##1, int64_t x##2, int64_t x##3

void kernel_t8(POINTERS, FOUR(d)) {}
void kernel_t8_strided(POINTERS, FOUR(d), FOUR(a), FOUR(b), FOUR(c), FOUR(e), FOUR(f), FOUR(g), FOUR(h), FOUR(i)) {}
