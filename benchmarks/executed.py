"""Measure `testing.FakeCuda(execute=True)`: `python benchmarks/executed.py [--quick]`.

The kernels are those of tests/ptx/kernels, so it needs a clone.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy

from ffi_builder import Launch, spec, testing, wrap
from ffi_builder.ptx import text
from ffi_builder.ptx.build import interpreter
from ffi_builder.ptx.decode import decode
from ffi_builder.ptx.machine import Code, Memory, Shape
from tests.ptx.test_kernels import FOLDER, MATMUL, drawn, triton

np: Any = numpy

LOOP = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry loop(.param .u64 x, .param .u32 n) {
  .reg .b32 %r<4>; .reg .b64 %x; .reg .pred %p;
  ld.param.u64 %x, [x]; ld.param.u32 %r0, [n]; mov.b32 %r1, 0f3F800000;
  AGAIN: BODY
  sub.u32 %r0, %r0, 1; setp.ne.u32 %p, %r0, 0; @%p bra AGAIN;
  ret;
}
"""
BODIES = {
    "fma.rn.f32": "fma.rn.f32 %r2, %r1, %r1, %r1;",
    "mad.lo.s32": "mad.lo.s32 %r2, %r1, %r0, %r1;",
    "ld.global.b32": "ld.global.b32 %r2, [%x];",
    "shfl.sync": "shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;",
}
SAXPY = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) {
  .reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3; ld.param.u32 %r2, [n]; setp.ge.u32 %p, %r1, %r2; @%p ret;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.param.f32 %f1, [a];
  ld.global.f32 %f2, [%d1]; ld.global.f32 %f3, [%d2]; fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%d2], %f3; ret;
}
"""


def timed(function: Callable[[], object], rounds: int) -> float:
    """Return the median time of a call on the processor, in seconds."""
    found: list[float] = []
    for _ in range(rounds):
        begin = time.process_time()
        function()
        found.append(time.process_time() - begin)
    return statistics.median(found)


def instructions(times: int) -> None:
    x = np.zeros(32, "uint32")
    memory = Memory(given=[(x.ctypes.data, x.nbytes, x.ctypes.data)])
    given = [x.ctypes.data.to_bytes(8, "little"), times.to_bytes(4, "little")]
    for name, body in BODIES.items():
        source = LOOP.replace("BODY", body * 16)
        code = Code(decode(text.read(source), "loop"), {})
        seconds = timed(lambda code=code: code.run(given, Shape((1, 1, 1), (32, 1, 1)), memory), 3)
        print(f"{name:16} {seconds / times / 16 / 32 * 1e9:6.2f} ns a thread")


def decoding(rounds: int) -> None:
    for name in ("softmax_90", "attention_100", "matmul_90"):
        source = (FOLDER / f"{name}.ptx").read_text()
        kernel = next(iter(text.read(source).functions))

        def first(source: str = source, kernel: str = kernel) -> None:
            text.read.cache_clear()
            Code(decode(text.read(source), kernel), {})

        print(f"decode {name:16} {timed(first, rounds) * 1e3:6.1f} ms")


def launches(rounds: int) -> None:
    softmax = triton(
        "softmax_90",
        "softmax(o: Tensor([r, n], float32), x: Tensor([r, n], float32)) where r: int32, n: int32",
        "r",
        ["o", "x", "n"],
    )
    grid = ("ceildiv(m, 64)", "ceildiv(n, 64)")
    matmul = triton("matmul_90", MATMUL.format("bfloat16"), grid, ["a", "b", "c", "m", "n", "k"])
    signature = spec.Signature.parse(
        "saxpy(a: float32, x: Tensor([n], float32, intent=in), "
        "y: Tensor([n], float32, intent=inout)) where n: int32",
        device="cuda",
    )
    launch = Launch(grid="ceildiv(n, 128)", block=128)
    saxpy = wrap(SAXPY, signature, launch=launch, args=["a", "x", "y", "n"])["saxpy"]

    def reference(a: Any, x: Any, y: Any) -> Any:
        return a * x + y

    import ml_dtypes

    with testing.FakeCuda(execute=True) as gpu:
        for rows in (1, 8):
            x, o = gpu.array(drawn(rows, 1000)), gpu.array(np.zeros((rows, 1000), "float32"))
            softmax(o, x)
            seconds = timed(lambda x=x, o=o: softmax(o, x), rounds)
            print(f"softmax of {rows} x 1000, {128 * rows} threads {seconds * 1e3:8.2f} ms")
        a, b = (gpu.array(drawn(128, 128, dtype=ml_dtypes.bfloat16)) for _ in "ab")
        c = gpu.array(np.zeros((128, 128), "float32"))
        matmul(a, b, c)
        print(f"matmul of 128^3 {timed(lambda: matmul(a, b, c), rounds) * 1e3:8.1f} ms")

        def check() -> None:
            testing.check_kernel(saxpy, signature, reference)

        print(f"check_kernel, 100 examples of a saxpy {timed(check, 3):8.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    interpreter()
    instructions(200 if quick else 20_000)
    decoding(1 if quick else 9)
    launches(1 if quick else 21)


if __name__ == "__main__":
    main()
