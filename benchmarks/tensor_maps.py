"""Measure what tensor maps add to the launch of a CUDA kernel, on a driver that does nothing.

    python benchmarks/tensor_maps.py [--quick]

The kernel has three matrices, of which none, one or all are passed as maps, called from C. Printed
are nanoseconds a launch: the median of the rounds, all in turn in each. Needs a C compiler.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median
from typing import Final

from launches.driver import Driver, null_driver
from launches.ways import Loops, from_c

from ffi_builder import Launch, runtime, spec, wrap
from ffi_builder.providers import cuda
from tests.fakecuda.memory import tensor_at

NAMES: Final = "abc"
COUNTS: Final = (0, 1, 3)
ROUNDS: Final = {True: 5, False: 101}
CALLS: Final = 10_000


def ptx(maps: int) -> str:
    """Return a kernel that does nothing, with so many maps and pointers for the rest."""
    each = [".param .align 64 .b8 {}[128]" if i < maps else ".param .u64 {}" for i in range(3)]
    parameters = ", ".join(text.format(name) for text, name in zip(each, NAMES, strict=True))
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    return f"{head}.visible .entry three({parameters}) {{ ret; }}\n"


def wrapper(maps: int) -> runtime.CompiledModule:
    """Return ``three(a, b, c)`` with so many maps."""
    m, k = spec.dims("m k", "int64")
    matrices = [spec.Tensor(name, [m, k], "float16", device_type="cuda") for name in NAMES]
    args = [
        cuda.TensorMap(each, box=(64, 64), swizzle="128B") if index < maps else each.data
        for index, each in enumerate(matrices)
    ]
    signature = spec.Signature("three", matrices)
    launch = Launch(grid=spec.ceildiv(m, 64), block=128)
    return wrap(ptx(maps), signature, function="three", launch=launch, args=args)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = ROUNDS[parser.parse_args().quick]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Driver(null_driver(folder))
        loops = Loops(folder)
        tensors = [tensor_at((1 + index) << 20, (256, 128), "float16") for index in range(3)]
        made = {maps: wrapper(maps) for maps in COUNTS}
        samples = {
            maps: from_c(loops, module.address("three"), tensors, module)
            for maps, module in made.items()
        }
        found = [{maps: sample(CALLS) for maps, sample in samples.items()} for _ in range(rounds)]
    none = COUNTS[0]
    print("| maps | ns a launch | ns a map |\n| -: | -: | -: |")
    for maps in COUNTS:
        whole = median(each[maps] for each in found)
        more = median((each[maps] - each[none]) / max(maps, 1) for each in found)
        print(f"| {maps} | {whole:.1f} | {'' if maps == none else f'{more:.1f}'} |")


if __name__ == "__main__":
    main()
