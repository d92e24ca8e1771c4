# pyright: basic, reportMissingImports=false, reportInvalidTypeForm=false
"""Write a library of a kernel of TileLang, for its target `c`, and call it.

pip install torch tilelang==0.1.15 '.[export,prototype,testing]'   # in a clone; see docs/systems.md
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import tilelang
import tilelang.language as T
from tilelang import tvm

from ffi_builder import cuda, runtime

m = T.dynamic("m")


@T.prim_func
def scale(x: T.Tensor((m, 128), "float32"), y: T.Tensor((m, 128), "float32"), by: T.float32):
    with T.Kernel(m, threads=128) as row:
        for i in T.Parallel(128):
            y[row, i] = x[row, i] * by


with tempfile.TemporaryDirectory() as made:
    folder = Path(made)
    with tvm.target.Target("c") as target:
        source = tilelang.lower(scale, target=target).kernel_source
    (folder / "scale.cpp").write_text(source)
    templates = Path(str(tilelang.__file__)).parent / "src"
    command = ["c++", "-O2", "-fPIC", "-c", "scale.cpp", "-o", "scale.o", f"-I{templates}"]
    subprocess.run(command, cwd=folder, check=True)

    # TileLang needs a tvm-ffi without a JIT, so the command line writes a library.
    signature = str(cuda.tilelang_signature(scale, device="cpu"))
    prototype = re.findall(r"int32_t scale_kernel\(.*\)", source)[0]
    command = [sys.executable, "-m", "ffi_builder", "wrap", str(folder / "scale.o")]
    command += ["--signature", signature, "--callee", "scale_kernel", "--prototype", prototype]
    subprocess.run([*command, "-o", str(folder / "scale.so")], check=True)
    function = runtime.load(folder / "scale.so")["scale"]

x = np.random.default_rng(0).standard_normal((3, 128), "float32")
y = np.empty_like(x)
function(x, y, 3.0)
print("largest difference from NumPy:", abs(y - 3 * x).max())
try:
    function(x, y[:, ::2], 3.0)
except ValueError as error:
    print(error)
