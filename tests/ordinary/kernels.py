"""Kernels in the forms in which authors of compilers write them: C, Numba, and MLIR's dialects."""

# pyright: basic
# ruff: noqa

from __future__ import annotations

import math

import numpy as np

C = {
    "saxpy": "void f(long n, float a, const float *restrict x, float *restrict y) { for (long i = 0; i < n; i++) y[i] += a * x[i]; }",
    "matmul": """void f(long n, long m, long k, const float *restrict a, const float *restrict b, float *restrict c) {
      for (long i = 0; i < n; i++) for (long j = 0; j < m; j++) { float s = 0;
        for (long l = 0; l < k; l++) s += a[i * k + l] * b[l * m + j]; c[i * m + j] = s; } }""",
    "tile": """struct exo_win_2f32 { float *const data; const long strides[2]; };
      void f(struct exo_win_2f32 x, struct exo_win_2f32 y) { float t[8][8];
        for (long i = 0; i < 8; i++) for (long j = 0; j < 8; j++) t[i][j] = x.data[i * x.strides[0] + j * x.strides[1]];
        for (long i = 0; i < 8; i++) for (long j = 0; j < 8; j++) y.data[i * y.strides[0] + j] = t[j][i]; }""",
    "avx": """#include <immintrin.h>
      __attribute__((target("avx2,fma"))) void f(long n, const float *x, float *y) { for (long i = 0; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_fmadd_ps(_mm256_loadu_ps(x + i), _mm256_loadu_ps(x + i), _mm256_loadu_ps(y + i))); }""",
    "vector extension": """typedef float v8 __attribute__((vector_size(32)));
      void f(long n, v8 *x, v8 *y) { for (long i = 0; i < n; i++) y[i] = x[i] * x[i] + y[i]; }""",
    "softmax": """#include <math.h>
      void f(long n, const float *x, float *y) { float m = x[0], s = 0; for (long i = 1; i < n; i++) m = fmaxf(m, x[i]);
        for (long i = 0; i < n; i++) s += y[i] = expf(x[i] - m); for (long i = 0; i < n; i++) y[i] /= s; }""",
    "libm": """#include <math.h>
      double f(double x, double y, int k) { return __builtin_powi(x, k) + atan2(x, y) + fma(x, y, 1) + floor(x) + sin(y) + lround(x) + cbrt(y); }""",
    "integers": """#include <stdint.h>
      uint64_t f(uint64_t x, int32_t y, int8_t z) { __int128 w = (__int128)x * y; return (uint64_t)(w >> 61) / (z | 1) + __builtin_popcountll(x) + __builtin_clz(y | 1) % 7; }""",
    "bit fields": "struct s { unsigned a : 7; unsigned long b : 41; int c : 12; }; long f(struct s *p) { p->b += p->a; p->c = p->b >> 3; return p->c + p->b; }",
    "switch": """int f(int k, int x) { switch (k) { case 1: return x + 1; case 2: return x * 3; case 9: return -x; case 11: return x ^ 5;
      case 40: return x >> 2; default: return 0; } }""",
    "checksum": "unsigned f(const unsigned char *p, unsigned long n) { unsigned a = 1, b = 0; while (n--) { a = (a + *p++) % 65521; b = (b + a) % 65521; } return b << 16 | a; }",
    "sort": """void f(int *x, int n) { for (int i = 1; i < n; i++) { int k = x[i], j = i - 1; while (j >= 0 && x[j] > k) { x[j + 1] = x[j]; j--; } x[j + 1] = k; } }""",
    "strings": """#include <string.h>
      static const char *const names[] = {"zero", "one", "two"}; long f(const char *s) { for (int i = 0; i < 3; i++) if (!strcmp(s, names[i])) return i; return -1; }""",
    "atomics": """#include <stdatomic.h>
      int f(atomic_int *p, _Atomic(long) *q) { long e = 3; atomic_compare_exchange_strong(q, &e, 4); atomic_thread_fence(memory_order_acquire); return atomic_fetch_add(p, 2) + atomic_load(p) + (int)e; }""",
    "callbacks": "typedef double (*F)(double, void *); double f(F g, void *p, double a, double b) { double s = 0; for (int i = 0; i < 100; i++) s += g(a + i * (b - a) / 100, p); return s; }",
    "half": "void f(long n, const _Float16 *x, float *y, __bf16 *z) { for (long i = 0; i < n; i++) { y[i] = (float)x[i] * 2; z[i] = (__bf16)y[i]; } }",
    "complex": "#include <complex.h>\n void f(long n, float complex *x, float complex a) { for (long i = 0; i < n; i++) x[i] = x[i] + a * 2.0f; }",
    "heap": """#include <stdlib.h>
      #include <string.h>
      double *f(long n) { double *p = malloc(n * 8); if (!p) abort(); memset(p, 0, n * 8); p[n - 1] = 1; return realloc(p, n * 16); }""",
    "stencil": """void f(long n, long m, const double *restrict x, double *restrict y) { for (long i = 1; i < n - 1; i++)
      for (long j = 1; j < m - 1; j++) y[i * m + j] = 0.25 * (x[i * m + j - 1] + x[i * m + j + 1] + x[(i - 1) * m + j] + x[(i + 1) * m + j]); }""",
    "unrolled": """void f(long n, float *x) { _Pragma("clang loop unroll_count(4) vectorize_width(4) interleave_count(2)") for (long i = 0; i < n; i++) x[i] = x[i] > 0 ? x[i] : 0; }""",
}
C_FLAGS = {
    "-O0": ("saxpy", "tile", "switch"),
    "-O1": ("matmul", "strings", "sort"),
    "-O2": tuple(C),
    "-O3 -march=x86_64_v3": ("matmul", "stencil"),
}


# ---- Numba, each with the types of its arguments


def dot(x, y):
    s = 0.0
    for i in range(x.size):
        s += x[i] * y[i]
    return s


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def smooth(x, y):
    for i in range(1, x.size - 1):
        y[i] = (x[i - 1] + 2 * x[i] + x[i + 1]) / 4


def mandelbrot(x, y, limit):
    c, z = complex(x, y), 0j
    for i in range(limit):
        z = z * z + c
        if abs(z) > 2:
            return i
    return limit


def primes(out):
    n = out.size
    for i in range(2, n):
        out[i] = 1
    for i in range(2, n):
        if out[i]:
            for j in range(i * i, n, i):
                out[j] = 0


def powers(x, k, y):
    for i in range(x.size):
        y[i] = x[i] ** k + x[i] ** 3


def angles(x, y, out):
    for i in range(x.size):
        out[i] = math.atan2(y[i], x[i]) + math.hypot(x[i], y[i]) + math.exp(-x[i])


def histogram(x, out):
    for value in x:
        at = int(value * out.size)
        if 0 <= at < out.size:
            out[at] += 1


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def bits(x):
    total = 0
    for v in x:
        while v:
            total += v & 1
            v >>= 1
    return total


def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


def clip(x, low, high, y):
    for i in range(x.size):
        y[i] = min(max(x[i], low), high)


def running_maximum(x, y):
    best = x[0]
    for i in range(x.size):
        best = max(best, x[i])
        y[i] = best


def checked(x, y):
    if x.size != y.size:
        raise ValueError("sizes")
    for i in range(x.size):
        y[i] = x[i] / y[i]


def transposed(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[j, i] = x[i, j]


def statistics(x):
    return x.sum(), x.mean(), x.max(), x.argmin()


def polynomial(x, c, y):
    for i in range(x.size):
        s = 0.0
        for j in range(c.size - 1, -1, -1):
            s = s * x[i] + c[j]
        y[i] = s


def allocated(n):
    x = np.zeros(n)
    for i in range(n):
        x[i] = i * 0.5
    return x


def filtered(x):
    return [v for v in x if v > 0]


def nested(x):
    n = 0
    for i in range(x.shape[0]):
        for j in range(i):
            for k in range(j):
                n += x[i, j] ^ x[j, k]
    return n


NUMBA = {
    "dot": (dot, "f8[::1], f8[::1]"),
    "dot of any strides": (dot, "f4[:], f4[:]"),
    "matmul": (matmul, "f4[:,::1], f4[:,::1], f4[:,::1]"),
    "smooth": (smooth, "f8[::1], f8[::1]"),
    "mandelbrot": (mandelbrot, "f8, f8, i8"),
    "primes": (primes, "u1[::1]"),
    "powers": (powers, "f8[::1], i4, f8[::1]"),
    "angles": (angles, "f8[::1], f8[::1], f8[::1]"),
    "histogram": (histogram, "f4[::1], i8[::1]"),
    "collatz": (collatz, "i8"),
    "bits": (bits, "u8[::1]"),
    "gcd": (gcd, "u4, u4"),
    "clip": (clip, "f4[::1], f4, f4, f4[::1]"),
    "running maximum": (running_maximum, "i4[::1], i4[::1]"),
    "checked": (checked, "f8[::1], f8[::1]"),
    "transposed": (transposed, "i2[:,::1], i2[:,::1]"),
    "statistics": (statistics, "f8[::1]"),
    "polynomial": (polynomial, "f8[::1], f8[::1], f8[::1]"),
    "allocated": (allocated, "i8"),
    "filtered": (filtered, "f8[::1]"),
    "nested": (nested, "i8[:,::1]"),
}

# ---- MLIR, and the passes that lower it

PASSES = """
  func.func(convert-linalg-to-loops) convert-vector-to-scf lower-affine convert-scf-to-cf
  expand-strided-metadata lower-affine convert-vector-to-llvm convert-math-to-llvm
  convert-math-to-libm finalize-memref-to-llvm convert-arith-to-llvm convert-func-to-llvm
  convert-cf-to-llvm convert-ub-to-llvm convert-index-to-llvm reconcile-unrealized-casts
"""
LOWERING = f"builtin.module({','.join(PASSES.split())})"

# A compiler of tiles makes this of `tl.load(…, mask=)`; xDSL prints the rest.

TRITON = {
    "masked add": """func.func @f(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
      %c128 = arith.constant 128 : index  %z = arith.constant 0.0 : f32  %c0 = arith.constant 0 : index
      scf.for %i = %c0 to %n step %c128 { %left = arith.subi %n, %i : index
        %m = vector.create_mask %left : vector<128xi1>  %p = vector.broadcast %z : f32 to vector<128xf32>
        %a = vector.maskedload %x[%i], %m, %p : memref<?xf32>, vector<128xi1>, vector<128xf32> into vector<128xf32>
        %b = arith.addf %a, %a : vector<128xf32>
        vector.maskedstore %y[%i], %m, %b : memref<?xf32>, vector<128xi1>, vector<128xf32> } return }""",
    "softmax": """func.func @f(%x: memref<?x256xf32>, %r: index) { %c0 = arith.constant 0 : index  %z = arith.constant 0.0 : f32
      %a = vector.transfer_read %x[%r, %c0], %z : memref<?x256xf32>, vector<256xf32>
      %m = vector.reduction <maximumf>, %a : vector<256xf32> into f32  %mb = vector.broadcast %m : f32 to vector<256xf32>
      %s = arith.subf %a, %mb : vector<256xf32>  %e = math.exp2 %s : vector<256xf32>
      %t = vector.reduction <add>, %e : vector<256xf32> into f32  %tb = vector.broadcast %t : f32 to vector<256xf32>
      %d = arith.divf %e, %tb : vector<256xf32>
      vector.transfer_write %d, %x[%r, %c0] : vector<256xf32>, memref<?x256xf32> return }""",
    "dot": """func.func @f(%a: vector<16x8xf16>, %b: vector<8x16xf16>, %c: vector<16x16xf32>, %o: memref<16x16xf32>) {
      %c0 = arith.constant 0 : index  %x = arith.extf %a : vector<16x8xf16> to vector<16x8xf32>  %y = arith.extf %b : vector<8x16xf16> to vector<8x16xf32>
      %r = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]} %x, %y, %c : vector<16x8xf32>, vector<8x16xf32> into vector<16x16xf32>
      vector.transfer_write %r, %o[%c0, %c0] : vector<16x16xf32>, memref<16x16xf32> return }""",
    "activations": """func.func @f(%x: memref<?xf32>, %i: index) { %z = arith.constant 0.0 : f32  %k = arith.constant 3 : i32
      %v = memref.load %x[%i] : memref<?xf32>  %t = math.tanh %v : f32  %e = math.erf %t : f32  %p = math.fpowi %e, %k : f32, i32
      %a = math.atan2 %p, %v : f32  %l = math.log1p %a : f32  %f = math.floor %l : f32  %q = math.rsqrt %f : f32
      %c = math.ctpop %k : i32  %g = arith.sitofp %c : i32 to f32  %s = arith.addf %q, %g : f32
      memref.store %s, %x[%i] : memref<?xf32> return }""",
    "atomics": """func.func @f(%x: memref<?xf32>, %c: memref<?xi32>, %i: index) { %v = memref.load %x[%i] : memref<?xf32>  %one = arith.constant 1 : i32
      %0 = memref.atomic_rmw addf %v, %x[%i] : (f32, memref<?xf32>) -> f32  %1 = memref.atomic_rmw maxs %one, %c[%i] : (i32, memref<?xi32>) -> i32 return }""",
    "gather": """func.func @f(%x: memref<?xf32>, %at: vector<16xi32>, %m: vector<16xi1>, %o: memref<?xf32>) { %c0 = arith.constant 0 : index  %p = arith.constant dense<0.0> : vector<16xf32>
      %g = vector.gather %x[%c0] [%at], %m, %p : memref<?xf32>, vector<16xi32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
      %k = arith.maximumf %g, %p : vector<16xf32>
      vector.transfer_write %k, %o[%c0] : vector<16xf32>, memref<?xf32> return }""",
    "quantised": """func.func @f(%x: memref<?xi8>, %y: memref<?xf32>, %i: index, %s: f32) { %v = memref.load %x[%i] : memref<?xi8>
      %w = arith.extsi %v : i8 to i32  %n = arith.trunci %w : i32 to i4  %h = arith.extui %n : i4 to i32  %f = arith.sitofp %h : i32 to f32
      %r = arith.mulf %f, %s : f32  %b = arith.truncf %r : f32 to bf16  %e = arith.extf %b : bf16 to f32
      memref.store %e, %y[%i] : memref<?xf32> return }""",
    "assertion": """func.func @f(%n: index, %x: memref<?x?xf64>) { %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      %d = memref.dim %x, %c0 : memref<?x?xf64>  %ok = arith.cmpi sge, %d, %n : index  cf.assert %ok, "too few rows"
      scf.for %i = %c0 to %n step %c1 { %v = memref.load %x[%i, %c1] : memref<?x?xf64>  memref.store %v, %x[%c0, %i] : memref<?x?xf64> } return }""",
}
XDSL = {
    "copy": """func.func @f(%x: memref<?xf64>, %y: memref<?xf64>, %n: index) { %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 { %v = memref.load %x[%i] : memref<?xf64>  memref.store %v, %y[%i] : memref<?xf64> } return }""",
    "stencil": """func.func @f(%x: memref<64x64xf64>, %y: memref<64x64xf64>) { %c1 = arith.constant 1 : index  %c63 = arith.constant 63 : index  %q = arith.constant 0.25 : f64
      scf.for %i = %c1 to %c63 step %c1 { scf.for %j = %c1 to %c63 step %c1 { %l = arith.subi %j, %c1 : index  %r = arith.addi %j, %c1 : index
        %a = memref.load %x[%i, %l] : memref<64x64xf64>  %b = memref.load %x[%i, %r] : memref<64x64xf64>  %s = arith.addf %a, %b : f64
        %m = arith.mulf %s, %q : f64  memref.store %m, %y[%i, %j] : memref<64x64xf64> } } return }""",
    "reduction": """func.func @f(%x: memref<?xi32>, %n: index) -> i32 { %c0 = arith.constant 0 : index  %c1 = arith.constant 1 : index  %z = arith.constant 0 : i32
      %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> (i32) { %v = memref.load %x[%i] : memref<?xi32>  %u = arith.addi %t, %v : i32  scf.yield %u : i32 }
      func.return %s : i32 }""",
    "branches": """func.func @f(%a: i32, %b: i32) -> i32 { %c = arith.cmpi slt, %a, %b : i32
      %r = scf.if %c -> (i32) { %0 = arith.muli %a, %b : i32  scf.yield %0 : i32 } else { %1 = arith.divsi %a, %b : i32  scf.yield %1 : i32 } func.return %r : i32 }""",
    "call": """func.func private @g(f32) -> f32  func.func @f(%x: f32) -> f32 { %0 = func.call @g(%x) : (f32) -> f32  %1 = arith.select %t, %0, %x : f32 func.return %1 : f32 }""".replace(
        "%1 = arith.select %t, %0, %x : f32 ", "%1 = arith.mulf %0, %x : f32  "
    ),
    "local memory": """func.func @f(%x: memref<16xf32>) { %t = memref.alloca() : memref<16xf32>  %h = memref.alloc() : memref<16xf32>
      "memref.copy"(%x, %t) : (memref<16xf32>, memref<16xf32>) -> ()  "memref.copy"(%t, %h) : (memref<16xf32>, memref<16xf32>) -> ()  memref.dealloc %h : memref<16xf32> return }""",
}
