# pyright: basic, reportMissingImports=false
"""Write launches of wrappers as events that tritonparse reads.

    python examples/launch_hooks/tritonparse_trace.py trace.ndjson
    tritonparseoss info trace.ndjson      # pip install tritonparse

The kernel runs on the fake driver here. The hook is the same on a GPU.
"""

import json
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from ffi_builder import Launch, cuda, testing, wrap

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 x, .param .u32 n) { ret; }
"""


def write_events(file):
    """Write an event to a file before each launch, from now on."""

    @cuda.launch_hook
    def hook(phase, kernel, grid, block, shared, stream, device):
        if phase != "before":
            return
        event = {
            "event_type": "launch",
            "pid": os.getpid(),
            "timestamp": datetime.now(timezone.utc).isoformat(),
            "name": kernel,
            "stream": stream,
            "grid": list(grid),
            "compilation_metadata": {
                "name": kernel,
                "num_warps": -(-block[0] // 32),
                "shared": shared,
            },
        }
        print(json.dumps(event), file=file)


def main():
    signature = "twice(x: Tensor([n], float32)) where n: int32"
    launch = Launch(grid="ceildiv(n, 128)", block=128)
    twice = wrap(PTX, signature, device="cuda", launch=launch, args=["x", "n"])["twice"]
    with Path(sys.argv[1]).open("w") as file, testing.FakeCuda() as gpu:
        write_events(file)
        for size in (300, 1000):
            twice(gpu.array(np.ones(size, "float32")))
        cuda.launch_hook(None)
    print(f"wrote {sys.argv[1]}")


if __name__ == "__main__":
    main()
