"""Writes the corpus: ``python -m tests.malformed.make``.

The calls are those of tests/steps, in which each step of each plan fails, and for the same
signatures ones that Hypothesis draws, many of them with several things wrong. Object types that are
registered at run time are left out: their type indices differ from process to process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, Final, cast

from hypothesis import given, settings

from ffi_builder import abi
from ffi_builder.plan import make_plan
from ffi_builder.spec import Signature
from tests.differential.description import Arguments, Object
from tests.differential.memory import Memory
from tests.differential.strategies import LARGE, calls_of
from tests.malformed.corpus import PATH, call_lines
from tests.steps.broken import Breaker
from tests.steps.right import Right
from tests.steps.samples import SAMPLES

DRAWN: Final = 40
"""Calls of each signature that Hypothesis draws."""


def written() -> Iterator[str]:
    memory, calls = Memory(), dict[str, str]()
    for number, (text, values) in enumerate(SAMPLES.values()):
        signature = Signature.parse(text, device="cpu")
        yield f"# f{number} {signature}"
        for arguments in (*broken(signature, Right(values)), *drawn(signature)):
            if not has_dynamic_types(arguments):
                lines = "\n".join(call_lines(f"f{number}", signature, arguments, memory))
                calls[lines] = lines
    yield from calls


def broken(signature: Signature, right: Right) -> Iterator[Arguments]:
    for _, found in Breaker(make_plan(signature), right).every():
        if found is not None:
            yield found.given


def drawn(signature: Signature) -> list[Arguments]:
    """The same in every run."""
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


if __name__ == "__main__":
    PATH.write_text("".join(f"{line}\n" for line in written()))
