"""Malformed calls that are drawn: of each signature of tests/steps, with what the oracle says.

Each step of the plan fails in one call; Hypothesis draws others, many of them with several things
wrong, the same in every run. They are written in the lines that harness.c reads. Object types that
are registered at run time are left out, as the C program has none.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from ctypes import string_at
from dataclasses import fields, is_dataclass
from typing import Any, Final, cast

from hypothesis import given, settings

from ffi_builder import abi
from ffi_builder.plan import make_plan
from ffi_builder.spec import Signature
from tests.differential.description import Arguments, Object
from tests.differential.memory import Memory
from tests.differential.strategies import LARGE, calls_of
from tests.oracle import Rejected, judge
from tests.steps.broken import Breaker
from tests.steps.right import Right
from tests.steps.samples import SAMPLES
from tests.support.drawn import drawn as examples

DRAWN: Final = examples(40)
"""Calls of each signature that Hypothesis draws."""


def lines() -> Iterator[str]:
    """Return all calls, each once; ``# NAME SIGNATURE`` comes before those of a signature."""
    memory, written = Memory(), set[str]()
    for number, (text, values) in enumerate(SAMPLES.values()):
        signature = Signature.parse(text, device="cpu")
        yield f"# f{number} {signature}"
        for arguments in (*broken(signature, values), *drawn(signature)):
            if not has_dynamic_types(arguments):
                call = "\n".join(call_lines(f"f{number}", signature, arguments, memory))
                if call not in written:
                    yield call
                written.add(call)


def broken(signature: Signature, values: Mapping[str, float]) -> Iterator[Arguments]:
    """Return a call for each step of the plan, which fails there."""
    for _, found in Breaker(make_plan(signature), Right(values)).every():
        if found is not None:
            yield found


def drawn(signature: Signature) -> list[Arguments]:
    """Draw calls, the same in every run."""
    found: list[Arguments] = []

    @settings(
        max_examples=DRAWN,
        database=None,
        derandomize=True,
        deadline=None,
        suppress_health_check=LARGE,
    )
    @given(calls_of(signature))
    def collect(arguments: Arguments) -> None:
        found.append(arguments)

    collect()
    return found


def has_dynamic_types(value: object) -> bool:
    """Tell whether an object is of a type that is registered at run time."""
    if isinstance(value, Object) and abi.FIRST_DYNAMIC in (
        min(value.type_index, abi.FIRST_DYNAMIC),
        min(value.says or 0, abi.FIRST_DYNAMIC),
    ):
        return True
    if isinstance(value, tuple):
        return any(map(has_dynamic_types, cast("tuple[object, ...]", value)))
    if is_dataclass(value):
        return any(
            has_dynamic_types(getattr(value, item.name)) for item in fields(cast("Any", value))
        )
    return False


def call_lines(
    name: str, signature: Signature, arguments: Arguments, memory: Memory
) -> Iterator[str]:
    """Write one call, and what the oracle says of it."""
    address = memory.place(arguments)
    numbers = {at: number for number, (at, _) in enumerate(memory.buffers)}
    yield f"call {abi.PREFIX}{name} {arguments.count} {numbers.get(address, -1)}"
    for at, size in memory.buffers:
        content = string_at(at, size)
        if size % 8:
            yield f"bytes {content.hex()}"
            continue
        words = (word for (word,) in struct.iter_unpack("<Q", content))
        yield " ".join(
            ["words", *(f"@{numbers[word]}" if word in numbers else hex(word) for word in words)]
        )
    verdict = judge(signature, address, arguments.count)
    if isinstance(verdict, Rejected):
        yield f"error {verdict.kind} {re.sub('`.*`', '``', verdict.message)}"
    else:
        yield "right"
