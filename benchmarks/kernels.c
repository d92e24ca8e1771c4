#include "kernels.h"

#define FOUR(x) int64_t x##0, int64_t x##1, int64_t x##2, int64_t x##3
#define POINTERS void *p0, void *p1, void *p2, void *p3, void *p4, void *p5, void *p6, void *p7
#define TENSOR(x) void *x, FOUR(x##d), FOUR(x##s)

void kernel_pointers(void **parameters) {}

void kernel_scalar_direct(int32_t x) {}
void kernel_scalar_structs(int32_t x) {}
void kernel_mm_direct(void *a, void *b, void *c, int64_t n, int64_t k, int64_t m) {}
void kernel_mm_structs(void *a, int64_t a0, int64_t a1, void *b, int64_t b0, int64_t b1, void *c, int64_t c0, int64_t c1) {}
void kernel_t8_direct(POINTERS, FOUR(d)) {}
void kernel_t8_strided_direct(POINTERS, FOUR(d), FOUR(a), FOUR(b), FOUR(c), FOUR(e), FOUR(f), FOUR(g), FOUR(h), FOUR(i)) {}
void kernel_t8_strided_structs(TENSOR(a), TENSOR(b), TENSOR(c), TENSOR(d), TENSOR(e), TENSOR(f), TENSOR(g), TENSOR(h)) {}
void kernel_nested_direct(void *a, int32_t x, void *b, int64_t n) {}
void kernel_nested_structs(void *a, int64_t a0, int32_t x, void *b, int64_t b0) {}
void kernel_ptrs_direct(int64_t n, int64_t m, void *d, void *s) {}
void kernel_ptrs_structs(int64_t n, int64_t m, void *d, void *s) {}
