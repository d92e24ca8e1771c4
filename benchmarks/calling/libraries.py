"""Functions of C libraries, as users of ffi_builder, cffi and nanobind write them.

Each text is what a function takes beside what all share: `wrap`, the `ffi` and `lib` of cffi's API
mode, or the body of NB_MODULE. nanobind's arrays are the strictest that it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HEADERS: Final = (
    "fftw3.h",
    "gsl/gsl_cblas.h",
    "gsl/gsl_fit.h",
    "openssl/evp.h",
    "zlib.h",
    "zstd.h",
)
INCLUDES: Final = "#include <math.h>\n" + "".join(f"#include <{name}>\n" for name in HEADERS)
LIBRARIES: Final = ("-lfftw3", "-lgsl", "-lgslcblas", "-lm", "-lcrypto", "-lz", "-lzstd")


@dataclass(frozen=True)
class Texts:
    """The code of one function, which defines `call`."""

    ours: str
    cdef: str
    cffi: str
    nanobind: str

    def lines(self) -> tuple[int, int, int]:
        """Return the lines of code: ours, cffi's, nanobind's."""
        ours, cdef, cffi, nanobind = (
            sum(bool(line.strip()) for line in text.splitlines())
            for text in (self.ours, self.cdef, self.cffi, self.nanobind)
        )
        return ours, cdef + cffi, nanobind


HYPOT: Final = Texts(
    ours="""
hypot = wrap("-lm", "hypot(x: float64, y: float64) -> r: float64", prototype="#include <math.h>")
call = hypot["hypot"]
""",
    cdef="double hypot(double x, double y);",
    cffi="call = lib.hypot",
    nanobind='m.def("hypot", [](double x, double y) { return hypot(x, y); });',
)

CRC32: Final = Texts(
    ours="""
call = wrap("-lz", "crc32(crc: uint64, buf: Bytes) -> sum: uint64",
            prototype="#include <zlib.h>", args={"len": "buf.length"})["crc32"]
""",
    cdef="unsigned long crc32(unsigned long crc, const unsigned char *buf, unsigned int len);",
    cffi="""
def call(crc, buf):
    return lib.crc32(crc, buf, len(buf))
""",
    nanobind="""
m.def("crc32", [](unsigned long crc, nb::bytes buf) {
  return crc32(crc, (const unsigned char *)buf.data(), buf.size());
});
""",
)

ERROR: Final = Texts(
    ours="""
call = wrap("-lzstd", "ZSTD_getErrorName(code: uint64) -> name: String",
            prototype="#include <zstd.h>")["ZSTD_getErrorName"]
""",
    cdef="const char *ZSTD_getErrorName(size_t code);",
    cffi="""
def call(code):
    return ffi.string(lib.ZSTD_getErrorName(code)).decode()
""",
    nanobind='m.def("ZSTD_getErrorName", [](size_t code) { return ZSTD_getErrorName(code); });',
)

DOT: Final = Texts(
    ours="""
call = wrap("-lgslcblas", '''cblas_ddot(X: Tensor([N], float64, strides=[incX]),
                                        Y: Tensor([N], float64, strides=[incY])) -> r: float64''',
            prototype="#include <gsl/gsl_cblas.h>", device="cpu")["cblas_ddot"]
""",
    cdef="double cblas_ddot(int N, const double *X, int incX, const double *Y, int incY);",
    cffi="""
def call(x, y):
    x, y = ffi.from_buffer("double[]", x), ffi.from_buffer("double[]", y)
    return lib.cblas_ddot(len(x), x, 1, y, 1)
""",
    nanobind="""
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
m.def("cblas_ddot", [](Vector x, Vector y) {
  return cblas_ddot(x.shape(0), x.data(), x.stride(0), y.data(), y.stride(0));
}, nb::arg("x").noconvert(), nb::arg("y").noconvert());
""",
)

FIT: Final = Texts(
    ours="""
call = wrap("-lgsl", '''gsl_fit_linear(x: Tensor([n], float64, strides=[xstride]),
                                       y: Tensor([n], float64, strides=[ystride]))
                        -> (c0: float64, c1: float64, cov00: float64, cov01: float64,
                            cov11: float64, sumsq: float64) where n >= 3''',
            prototype="#include <gsl/gsl_fit.h>", device="cpu")["gsl_fit_linear"]
""",
    cdef="""
int gsl_fit_linear(const double *x, size_t xstride, const double *y, size_t ystride, size_t n,
                   double *c0, double *c1, double *cov00, double *cov01, double *cov11,
                   double *sumsq);
""",
    cffi="""
def call(x, y):
    out = ffi.new("double[6]")
    x, y = ffi.from_buffer("double[]", x), ffi.from_buffer("double[]", y)
    status = lib.gsl_fit_linear(x, 1, y, 1, len(x), out, out + 1, out + 2, out + 3, out + 4,
                                out + 5)
    if status:
        raise RuntimeError(f"gsl_fit_linear failed with status {status}")
    return tuple(out)
""",
    nanobind="""
using Column = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
m.def("gsl_fit_linear", [](Column x, Column y) {
  double o[6];
  int status = gsl_fit_linear(x.data(), x.stride(0), y.data(), y.stride(0), x.shape(0), o, o + 1,
                              o + 2, o + 3, o + 4, o + 5);
  if (status) throw std::runtime_error("gsl_fit_linear failed");
  return std::make_tuple(o[0], o[1], o[2], o[3], o[4], o[5]);
}, nb::arg("x").noconvert(), nb::arg("y").noconvert());
""",
)

EXECUTE: Final = Texts(
    ours="""
fftw = wrap("-lfftw3", [
    '''fftw_plan_dft_r2c_1d(n: int32, in: Workspace([n], float64),
                            out: Workspace([n // 2 + 1], complex128)) -> plan: handle
       where n >= 1''',
    '''fftw_execute_dft_r2c(p: handle, n: int32, in: Tensor([n], float64, intent=in),
                            out: Tensor([n // 2 + 1], complex128, intent=out))
       where p.present, no_overlap(out)'''],
    prototype="#include <complex.h>\\n#include <fftw3.h>", args={"flags": "FFTW_ESTIMATE"},
    destroy="fftw_destroy_plan", device="cpu")
plan, call = fftw["fftw_plan_dft_r2c_1d"], fftw["fftw_execute_dft_r2c"]
""",
    cdef="""
typedef double fftw_complex[2];
typedef struct fftw_plan_s *fftw_plan;
fftw_plan fftw_plan_dft_r2c_1d(int n, double *in, fftw_complex *out, unsigned flags);
void fftw_execute_dft_r2c(const fftw_plan p, double *in, fftw_complex *out);
void fftw_destroy_plan(fftw_plan p);
#define FFTW_ESTIMATE ...
""",
    cffi="""
def plan(n):
    x, y = ffi.new("double[]", n), ffi.new("fftw_complex[]", n // 2 + 1)
    made = lib.fftw_plan_dft_r2c_1d(n, x, y, lib.FFTW_ESTIMATE)
    return ffi.gc(made, lib.fftw_destroy_plan)

def call(p, n, x, y):
    lib.fftw_execute_dft_r2c(p, ffi.from_buffer("double[]", x),
                             ffi.from_buffer("fftw_complex[]", y, require_writable=True))
""",
    nanobind="""
struct Plan {
  fftw_plan p;
  explicit Plan(int n) {
    std::vector<double> x(n), y(2 * (n / 2 + 1));
    p = fftw_plan_dft_r2c_1d(n, x.data(), (fftw_complex *)y.data(), FFTW_ESTIMATE);
  }
  ~Plan() { fftw_destroy_plan(p); }
};
nb::class_<Plan>(m, "Plan").def(nb::init<int>());
using In = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Out = nb::ndarray<std::complex<double>, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
m.def("fftw_execute_dft_r2c", [](Plan &p, int, In x, Out y) {
  fftw_execute_dft_r2c(p.p, x.data(), (fftw_complex *)y.data());
}, nb::arg("p"), nb::arg("n"), nb::arg("x").noconvert(), nb::arg("y").noconvert());
""",
)

CONTEXT: Final = Texts(
    ours="""
call = wrap("-lcrypto", "EVP_MD_CTX_new() -> ctx: handle", prototype="#include <openssl/evp.h>",
            destroy="EVP_MD_CTX_free")["EVP_MD_CTX_new"]
""",
    cdef="""
typedef struct evp_md_ctx_st EVP_MD_CTX;
EVP_MD_CTX *EVP_MD_CTX_new(void);
void EVP_MD_CTX_free(EVP_MD_CTX *ctx);
""",
    cffi="""
def call():
    return ffi.gc(lib.EVP_MD_CTX_new(), lib.EVP_MD_CTX_free)
""",
    nanobind="""
struct Context {
  EVP_MD_CTX *c = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(c); }
};
nb::class_<Context>(m, "EVP_MD_CTX_new").def(nb::init<>());
""",
)

FUNCTIONS: Final = {
    "hypot": HYPOT,
    "crc32": CRC32,
    "ZSTD_getErrorName": ERROR,
    "cblas_ddot": DOT,
    "gsl_fit_linear": FIT,
    "fftw_execute_dft_r2c": EXECUTE,
    "EVP_MD_CTX_new": CONTEXT,
}
