"""The rules as a table: files of signatures, their calls, and what comes of each.

    ## Row major
    f(A: Tensor([n, k], float32))  # not contiguous
      tensor((3, 4)) => n=3; k=4
      tensor((3, 4), (8, 2)) => ValueError #0 A.strides[1]: 1 (row-major contiguous) | 2 (…)

A call is Python. Ints, floats, bools, None, strs, bytes and lists stand for themselves, ``NULL(2)``
for a NULL array of two arguments, and all else is as in :mod:`tests.differential.description`, with
the names of TypeIndex. Of an error there is the class, the argument and what of it is wrong, what
was expected, and what came. Of an accepted call there is what the kernel gets, and whether Optionals
are there; what is said of a tensor, as ``A.strides=(4, 1)``, is checked where it is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, nan
from pathlib import Path
from typing import Any, Final, cast

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Signature
from tests.differential import description as d
from tests.oracle import Accepted
from tests.support.raw import register

FOLDER: Final = Path(__file__).parent
_BASE: Final = register("tests.Base")
_DERIVED: Final = register("tests.Derived", _BASE, depth=2)
TYPES: Final = {
    "Base": _BASE,
    "Derived": _DERIVED,
    "Leaf": register("tests.Leaf", _DERIVED, depth=3),
    "Other": register("tests.Other"),
}
"""Types of objects that are registered, by name."""


@dataclass(frozen=True)
class Rule:
    """A signature, as it is written, and calls with what comes of them."""

    line: str
    signature: Signature
    calls: tuple[tuple[str, str], ...]


def read(path: Path) -> Iterator[Rule]:
    """The rules of a file."""
    for line, calls in re.findall(r"^(\w+\(.*)\n((?:  .*\n)+)", path.read_text(), re.MULTILINE):
        rows = [row.strip().partition(" => ") for row in calls.splitlines()]
        signature = Signature.parse(line.partition("  # ")[0], device="cpu")
        yield Rule(line, signature, tuple((call, outcome) for call, _, outcome in rows))


def arguments(call: str) -> d.Arguments:
    """What is passed in a call."""
    given = eval(f"({call},)" if call else "()", dict(_NAMES))
    if given and isinstance(given[0], d.Arguments):
        return given[0]
    return d.Arguments(tuple(map(value, given)))


def value(given: Any) -> d.Value:
    """A value of Python as a description."""
    match given:
        case None:
            return d.NONE
        case bool():
            return d.of_bool(given)
        case int():
            return d.of_int(given)
        case float():
            return d.of_float(given)
        case str():
            return d.str_(given.encode())
        case bytes():
            return d.bytes_(given)
        case list():
            return d.array(*map(value, cast("list[Any]", given)))
        case _:
            return given


_NAMES: Final[dict[str, Any]] = {
    **vars(d),
    **TypeIndex.__members__,
    **TYPES,
    "inf": inf,
    "nan": nan,
    "NULL": lambda count: d.Arguments(None, count),  # pyright: ignore
    "tensor": lambda *fields, **others: d.tensor(d.DLTensor(*fields, **others)),  # pyright: ignore
    "array": lambda *values: d.array(*map(value, values)),  # pyright: ignore
    "list_": lambda *values: d.list_(*map(value, values)),  # pyright: ignore
    "Elements": lambda values, size: d.Elements(  # pyright: ignore
        None if values is None else tuple(map(value, values)),  # pyright: ignore
        size,  # pyright: ignore
    ),
    "small": lambda content, kind=TypeIndex.SMALL_STR, size=None: d.small(kind, content, size),  # pyright: ignore
}


def said(found: Accepted) -> tuple[list[str], set[str]]:
    """What is always said of an accepted call, and what may be said of its tensors."""
    singles = {
        path: "address" if isinstance(single, int) and 2**24 < single < 2**47 else single
        for path, single in found.singles.items()
    }
    pairs = {
        **found.values,
        **singles,
        **{path: list(each) for path, each in found.elements.items()},
    }
    always = [f"{path}={each}" for path, each in pairs.items()]
    always += [
        f"{path} is {'there' if there else 'absent'}" for path, there in found.present.items()
    ]
    if found.env_stream_device is not None:
        always.append(f"stream of {found.env_stream_device}")
    tensors = {**found.tensors}
    for path, each in found.lists.items():
        tensors |= {f"{path}[{index}]": tensor for index, tensor in enumerate(each)}
    return always, {
        f"{path}.{name}={fact}"
        for path, each in tensors.items()
        for name, fact in vars(each).items()
    }


def in_short(kind: str, message: str) -> str:
    """An error without the signature, and with the names of types that are registered."""
    parts = re.fullmatch(
        r"Mismatched (.*?)(?: on argument (#\d+))? when calling: `.*`, expected (.*) but got (.*)",
        message,
    )
    assert parts is not None, message
    subject, argument, expected, got = parts.groups()
    for name, index in TYPES.items():
        got = re.sub(rf"type index {index}$", f"type index {name}", got)
    return f"{kind} {argument or ''} {subject}: {expected} | {got}".replace("  ", " ", 1)
