# pyright: basic, reportMissingImports=false
"""Show launches of wrappers in Proton, the profiler of Triton: a scope for each.

    python examples/launch_hooks/proton_scopes.py [profile]

Needs `pip install triton`. Without a GPU, Proton measures nothing, and kernels run on the fake
driver.
"""

import sys

import numpy as np
from triton import profiler as proton

from ffi_builder import Launch, cuda, testing, wrap

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 x, .param .u32 n) { ret; }
"""


def hook(phase, kernel, grid, block, shared, stream, device):
    if phase == "before":
        proton.enter_scope(f"{kernel} {grid[0]} x {block[0]}")
    else:
        proton.exit_scope()


def main():
    signature = "twice(x: Tensor([n], float32)) where n: int32"
    launch = Launch(grid="ceildiv(n, 128)", block=128)
    twice = wrap(PTX, signature, device="cuda", launch=launch, args=["x", "n"])["twice"]
    cuda.launch_hook(hook)
    try:
        session = proton.start(*sys.argv[1:])
    except RuntimeError as error:
        session = None
        print(f"Proton measures nothing: {error}")
    with testing.FakeCuda() as gpu:
        twice(gpu.array(np.ones(300, "float32")))
        print(f"launched {gpu.launches[0].kernel}")
    if session is not None:
        proton.finalize()


if __name__ == "__main__":
    main()
