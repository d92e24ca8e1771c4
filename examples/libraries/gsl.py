# pyright: basic
"""Call GSL with columns of arrays and numbers by address. Its errors end no process here.

apt-get install libgsl-dev
"""

import numpy as np

from ffi_builder import wrap

HEADER = "#include <gsl/gsl_errno.h>\n#include <gsl/gsl_fit.h>\n#include <gsl/gsl_sf_bessel.h>"

# By default, an error in GSL calls abort(). This holds for the whole process.
wrap("-lgsl", "gsl_set_error_handler_off() -> before: handle", prototype=HEADER)()

gsl = wrap(
    "-lgsl",
    [
        """gsl_fit_linear(x: Tensor([n], float64, strides=[xstride]),
                          y: Tensor([n], float64, strides=[ystride]))
           -> (c0: float64, c1: float64, cov00: float64, cov01: float64, cov11: float64,
               sumsq: float64)
           where n >= 3""",
        """gsl_sf_bessel_Jn_array(nmin: int32, nmax: int32, x: float64,
                                  result_array: Tensor([n], float64, intent=out))
           where n == nmax - nmin + 1""",
    ],
    prototype=HEADER,
    errors={"GSL_EDOM": ("ValueError", "{gsl_strerror(status)}")},
    device="cpu",
)
fit, bessel = gsl["gsl_fit_linear"], gsl["gsl_sf_bessel_Jn_array"]

# Columns are passed as they are: the wrapper gives GSL their strides.
table = np.random.default_rng(0).random((20, 3))
intercept, slope, *_ = fit(table[:, 0], table[:, 2])
expected = np.polynomial.polynomial.polyfit(table[:, 0], table[:, 2], 1)
print("largest difference from NumPy:", np.abs(expected - [intercept, slope]).max())

orders = np.empty(4)
bessel(0, 3, 1.5, orders)
print("J0 to J3 of 1.5:", orders.round(6))


def refused(call, *args):
    try:
        call(*args)
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")


refused(fit, table[:, 0], table[:19, 2])
refused(fit, table[:, 0], table[::-1, 2])
refused(fit, table[:, 0].astype("float32"), table[:, 2])
refused(bessel, 0, 4, 1.5, orders)
refused(bessel, -2, 1, 1.5, orders)
