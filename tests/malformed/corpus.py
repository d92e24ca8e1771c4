"""The corpus: signatures, calls of their wrappers laid out block by block, and what each raises.

Lines are those of harness.c, and before them one line ``# NAME SIGNATURE`` for each wrapper.
"""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ffi_builder import attach, runtime
from ffi_builder.abi import PREFIX
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature
from ffi_builder.testing.check import check_raw
from tests.differential.description import Arguments
from tests.differential.memory import Memory
from tests.support.wrapping import new_module

PATH: Final = Path(__file__).with_name("corpus.txt")


def call_lines(name: str, signature: Signature, given: Arguments, memory: Memory) -> Iterator[str]:
    """One call, and the error that ``testing.check_raw`` raises for it."""
    address = memory.place(given)
    numbers = {at: number for number, (at, _) in enumerate(memory.buffers)}
    yield f"call {PREFIX}{name} {given.count} {numbers.get(address, -1)}"
    points: list[str] = []
    for number, (at, size) in enumerate(memory.buffers):
        content = bytearray(ctypes.string_at(at, size))
        for offset in range(0, size - 7, 8):
            (value,) = struct.unpack_from("<Q", content, offset)
            if value in numbers:
                points.append(f"point {number} {offset} {numbers[value]}")
                struct.pack_into("<Q", content, offset, 0)
        yield f"block {content.hex() or '-'}"
    yield from points
    try:
        check_raw(signature, address, given.count)
        yield "right"
    except (TypeError, ValueError) as error:
        message = re.sub("`.*`", "``", str(error))
        yield f"error {type(error).__name__} {message}"


def signatures() -> dict[str, Signature]:
    """Those of the corpus, by the name of their wrapper."""
    found = re.findall(r"^# (\w+) (.*)$", PATH.read_text(), re.MULTILINE)
    return {name: Signature.parse(text) for name, text in found}


def build(found: dict[str, Signature]) -> runtime.CompiledModule:
    """All their wrappers, in one module."""
    module = new_module()
    for name, signature in found.items():
        attach(module, signature, NopCallProvider(), symbol_name=name)
    return runtime.compile(module)
