# pyright: basic
"""Wrap Rust from a shared library (`--crate-type=cdylib`).

A panic may not leave the kernel: `extern "C"` functions end the process then. A static library
works too: the C compiler links it, since the JIT does not know all that Rust's library needs.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ffi_builder import wrap

SOURCE = """
#[no_mangle]
pub unsafe extern "C" fn cumsum(n: i64, x: *const f64, y: *mut f64) {
    let x = std::slice::from_raw_parts(x, n as usize);
    let y = std::slice::from_raw_parts_mut(y, n as usize);
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i];
        y[i] = sum;
    }
}
"""

with tempfile.TemporaryDirectory() as folder:
    Path(folder, "cumsum.rs").write_text(SOURCE)
    command = ["rustc", "-O", "--crate-type=cdylib", "cumsum.rs"]
    subprocess.run(command, cwd=folder, check=True)
    compiled = wrap(
        Path(folder, "libcumsum.so"),
        "cumsum(x: Tensor([n], float64), y: Tensor([n], float64))",
        device="cpu",
        prototype="void cumsum(int64_t n, const double *x, double *y)",
    )

x, y = np.arange(5.0), np.empty(5)
compiled["cumsum"](x, y)
print("largest difference from NumPy:", abs(y - np.cumsum(x)).max())
