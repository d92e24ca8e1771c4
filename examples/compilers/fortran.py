# pyright: basic
"""Wrap Fortran: arguments go by address, matrices are column-major, and names end in `_`."""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ffi_builder import wrap

SOURCE = """
subroutine smooth(m, n, weight, x, y, steps)
  integer, intent(in) :: m, n
  real(8), intent(in) :: weight, x(m, n)
  real(8), intent(out) :: y(m, n)
  integer, intent(inout) :: steps
  integer :: i
  y = x
  do i = 1, steps
    y(2:m, :) = (1 - weight) * y(2:m, :) + weight * y(1:m - 1, :)
  end do
  steps = steps * m * n
end subroutine

function norm(n, x) bind(C) result(r)
  use iso_c_binding
  integer(c_int64_t), value :: n
  real(c_double), intent(in) :: x(n)
  real(c_double) :: r
  r = norm2(x)
end function
"""
PROTOTYPES = """
void smooth_(const int *m, const int *n, const double *weight, const double *x, double *y,
             int *steps);
double norm(int64_t n, const double *x);
"""
MATRIX = "Tensor([m, n], float64, strides=F"

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "kernel.f90").write_text(SOURCE)
    command = "gfortran -O2 -fPIC -c kernel.f90 -o kernel.o"
    subprocess.run(command.split(), cwd=folder, check=True)
    kernel = Path(folder, "kernel.o")
    smooth = wrap(
        kernel,
        f"smooth(x: {MATRIX}), weight: float64, y: {MATRIX}, intent=out), count: int32)"
        " -> operations: int32 where no_overlap(y)",
        function="smooth_",
        prototype=PROTOTYPES,
        args={"steps": "&count -> operations"},
        link=["-lgfortran"],
        device="cpu",
    )
    norm = wrap(
        kernel,
        "norm(x: Tensor([n], float64)) -> r: float64",
        prototype=PROTOTYPES,
        link=["-lgfortran"],
        device="cpu",
    )

x = np.asfortranarray(np.random.default_rng(0).random((4, 3)))
y, expected = np.empty_like(x), x.copy()
operations = smooth(x, 0.25, y, 2)
for _ in range(2):
    expected[1:] = 0.75 * expected[1:] + 0.25 * expected[:-1]
print("operations:", operations)
print("largest difference from NumPy:", np.abs(y - expected).max())
print("norm:", norm(x.ravel(order="K")), np.linalg.norm(x))
try:
    smooth(np.ascontiguousarray(x), 0.25, y, 2)
except ValueError as error:
    print(f"ValueError: {error}")
