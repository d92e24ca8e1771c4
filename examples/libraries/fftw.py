# pyright: basic
"""Call FFTW: plans are handles, and each call gets its arrays, so that none has to outlive it.

apt-get install libfftw3-dev
"""

import numpy as np

from ffi_builder import runtime, wrap

HEADER = "#include <complex.h>\n#include <fftw3.h>"  # in this order, fftw_complex is C's complex

# FFTW's planner has global state: this makes it safe for threads, once in a process.
wrap("-lfftw3_threads", "fftw_make_planner_thread_safe()", prototype=HEADER)()
# A Workspace is memory for the time of the call: the plan refers to no array of a caller.
runtime.install_allocator(every_thread=True)
# `n` of the second function is not passed to FFTW. It is there to be compared with the arrays.
fftw = wrap(
    "-lfftw3",
    [
        """fftw_plan_dft_r2c_1d(n: int32, in: Workspace([n], float64),
                                out: Workspace([n // 2 + 1], complex128)) -> plan: handle
           where n >= 1""",
        """fftw_execute_dft_r2c(p: handle, n: int32, in: Tensor([n], float64, intent=in),
                                out: Tensor([n // 2 + 1], complex128, intent=out))
           where no_overlap(out)""",
    ],
    prototype=HEADER,
    args={"flags": "FFTW_ESTIMATE | FFTW_UNALIGNED"},  # unaligned: slices of arrays are fine
    destroy="fftw_destroy_plan",
    device="cpu",
)


class Transform:
    """A Fourier transform of `n` numbers. It knows the length that its plan is for."""

    def __init__(self, n):
        self.n, self.plan = n, fftw["fftw_plan_dft_r2c_1d"](n)

    def __call__(self, x, out):
        """Transform `x`, which need not be the array of an earlier call, into `out`."""
        fftw["fftw_execute_dft_r2c"](self.plan, self.n, x, out)
        return out


transform = Transform(10)
x, y = np.random.default_rng(0).random(11), np.empty(6, "complex128")
for part in (x[:10], x[1:]):
    found, expected = transform(part, y), np.fft.rfft(part)
    print("largest difference from NumPy:", np.abs(found - expected).max())


def refused(*args):
    try:
        transform(*args)
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")


refused(x, y)
refused(x[:10].astype("float32"), y)
refused(x[:10], y[:5])
refused(y.view("float64")[:10], y)
transform.plan.close()
refused(x[:10], y)
