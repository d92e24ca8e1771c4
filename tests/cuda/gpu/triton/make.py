# pyright: basic, reportMissingImports=false
"""Write softmax.cubin and softmax.json beside it anew: the kernel of examples/triton_aot.py.

    python -m tests.cuda.gpu.triton.make

Triton 3.9.0 was used, whose ptxas makes code for sm_90a of the target 90: it runs on compute
capability 9.0 alone. Neither this nor the tests need a GPU, and the tests need no Triton.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.frontends.support import example

HERE: Final = Path(__file__).parent
NAMES: Final = (
    *("num_warps", "num_ctas", "shared", "global_scratch_size", "profile_scratch_size"),
    *("launch_cooperative_grid", "launch_pdl"),
)
"""The fields of Triton's metadata that are about launching."""


def compile_softmax() -> tuple[bytes, dict[str, Any]]:
    """The cubin, and what there is to know for launching it."""
    compiled = example("triton_aot").compile_kernel(90)
    launch = {name: getattr(compiled.metadata, name) for name in (*NAMES, "triton_version")}
    return compiled.asm["cubin"], launch


def main() -> None:
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # with it the cubin has the path of the source
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache  # what is there may be of another Triton's options
        cubin, launch = compile_softmax()
    (HERE / "softmax.cubin").write_bytes(cubin)
    (HERE / "softmax.json").write_text(json.dumps(launch, indent=2) + "\n")


if __name__ == "__main__":
    main()
