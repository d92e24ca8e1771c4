"""PTX that somebody has damaged is refused, or runs: it ends no process, and nothing else is raised."""

from __future__ import annotations

import contextlib
import random
import re
from pathlib import Path
from typing import Any, Final

import numpy
import pytest

from ffi_builder.ptx import text
from ffi_builder.ptx.decode import decode
from ffi_builder.ptx.errors import KernelFault, PtxError
from ffi_builder.ptx.machine import Code, Memory, Shape

np: Any = numpy

FILES: Final = sorted((Path(__file__).parent / "kernels").glob("*.ptx"))
TOKEN: Final = re.compile(r"[%\w$.:]+|[^\s\w]")
NUMBERS: Final = ("0", "-1", "17", "2147483648", "4294967296", "18446744073709551616", "0f7F")
ROUNDS: Final = 8
"""Of each file: more take long. Another seed finds others."""


def damaged(source: str, drawn: random.Random) -> str:
    """Exchange, remove or repeat some words and lines of a text."""
    for _ in range(drawn.choice((1, 1, 2, 5))):
        tokens = [found.span() for found in TOKEN.finditer(source)]
        begin, end = drawn.choice(tokens)
        lines = source.split("\n")
        line = drawn.randrange(len(lines))
        match drawn.randrange(5):
            case 0:
                first, last = drawn.choice(tokens)
                source = source[:begin] + source[first:last] + source[end:]
            case 1:
                source = source[:begin] + source[end:]
            case 2:
                source = source[:begin] + drawn.choice(NUMBERS) + source[end:]
            case 3:
                source = "\n".join((*lines[:line], *lines[line + 1 :]))
            case _:
                lines.insert(drawn.randrange(len(lines)), lines[line])
                source = "\n".join(lines)
    return source


def run(source: str, drawn: random.Random) -> None:
    module = text.read(source)
    for function in module.functions.values():
        if not function.is_kernel or function.body is None:
            continue
        program = decode(module, function.name)
        arrays = [np.zeros(4096, "uint8") for _ in range(4)]
        memory = sorted((each.ctypes.data, each.nbytes, each.ctypes.data) for each in arrays)
        addresses = {name: arrays[0].ctypes.data for _, name, _ in program.variables}
        arguments = [
            int(arrays[at % 4].ctypes.data if size == 8 else drawn.choice((0, 1, 64))).to_bytes(
                8, "little"
            )[:size]
            for at, (_, size) in enumerate(program.params.values())
        ]
        padded = [
            data.ljust(size, b"\0")
            for data, (_, size) in zip(arguments, program.params.values(), strict=True)
        ]
        shape = Shape((2, 1, 1), (drawn.choice((32, 33, 128)), 1, 1), (1, 1, 1), 8192)
        Code(program, addresses).run(padded, shape, Memory(given=memory), patience=5000)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_damaged_ptx_is_refused_or_runs(file: Path) -> None:
    drawn = random.Random(file.stem)
    source = file.read_text()
    for _ in range(ROUNDS):
        with contextlib.suppress(PtxError, KernelFault):
            run(damaged(source, drawn), drawn)
