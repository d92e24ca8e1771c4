"""Sorts the values of one call as XLA passes them: operands, then results, then attributes.

An argument that is read and written is an operand and a result; the function gets the result. The
numbers that the function returns are written to the last results. What a list contains is passed
one by one, and a static list of numbers is one attribute::

    f(c, y: out, x, s: inout, mask: absent, ts: 2 tensors) -> r: number
    operands x, s, ts[0], ts[1]; results y, s', r; attributes c
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, Union

from ffi_builder import spec
from ffi_builder.extending import FLOAT_DTYPES, dataclass, elements
from ffi_builder.frameworks.described import Described
from ffi_builder.frameworks.jax.adapter import Adapter, Number, Source
from ffi_builder.frameworks.jax.form import Form
from ffi_builder.frameworks.jax.target import load

_Leaf: TypeAlias = tuple[str, int]
"""What something is passed as, and its index among these."""
_Tree: TypeAlias = Union[_Leaf, list["_Tree"], None]


@dataclass(frozen=True)
class Passed:
    """What XLA passes in a call, and the function gets."""

    adapter: Adapter
    results: Sequence[Described]
    aliases: dict[int, int]
    """The number of each result that shares an operand's memory, by the operand's number."""
    attributes: dict[str, Any]
    marks: Sequence[str]
    """What the call differs in from others of the function."""


def sort(form: Form, values: Sequence[Any]) -> Passed:
    """Sort the value of each argument: Described, a static value, a tuple of these, or None."""
    parts = _Sorted()
    trees = [
        parts.add(name, param, value)
        for name, param, value in zip(form.names, form.signature.arguments, values, strict=True)
    ]
    first = parts.operands + len(parts.results)
    numbers = [
        Number(place, number.name, number.dtype) for place, number in enumerate(form.numbers, first)
    ]
    returned = [Described((), number.written, "cpu") for number in numbers]
    starts = {"operand": 0, "result": parts.operands, "attribute": first + len(returned)}
    several = isinstance(form.signature.returns, Sequence)
    adapter = Adapter([_source(tree, starts) for tree in trees], numbers, several)
    without = f"without.{'.'.join(parts.absent)}"
    return Passed(
        adapter,
        [*parts.results, *returned],
        parts.aliases,
        parts.attributes,
        [*([without] if parts.absent else []), *parts.lengths],
    )


class _Sorted:
    def __init__(self) -> None:
        self.operands = 0
        self.results: list[Described] = []
        self.aliases: dict[int, int] = {}
        self.attributes: dict[str, Any] = {}
        self.absent: list[str] = []
        self.lengths: list[str] = []

    def add(self, path: str, param: spec.Param, value: Any) -> _Tree:
        if value is None:
            if isinstance(param, spec.Optional):
                self.absent.append(path)
            return None
        match spec.required(param):
            case spec.Tensor(intent=intent):
                return self._add_tensor(value, intent)
            case spec.TensorList(tensor=tensor, length=length):
                if not isinstance(length, int):
                    self.lengths.append(f"{path}.{len(value)}")
                inner = [(f"{path}[{at}]", tensor) for at in range(len(value))]
                return self._add_all(inner, value)
            case (spec.TupleParam() | spec.Struct()) as container:
                return self._add_all(elements(container, path), value)
            case plain:
                self.attributes[path] = _attribute(plain, value)
                return "attribute", len(self.attributes) - 1

    def _add_all(self, inner: Iterable[tuple[str, spec.Param]], values: Iterable[Any]) -> _Tree:
        pairs = zip(inner, values, strict=False)
        return [self.add(path, param, value) for (path, param), value in pairs]

    def _add_tensor(self, value: Described, intent: str | None) -> _Leaf:
        if intent == "inout":
            self.aliases[self.operands] = len(self.results)
        if intent != "out":
            self.operands += 1
        if intent == "in":
            return "operand", self.operands - 1
        self.results.append(value)
        return "result", len(self.results) - 1


def _source(tree: _Tree, starts: dict[str, int]) -> Source:
    match tree:
        case None:
            return None
        case list():
            return tuple(_source(each, starts) for each in tree)
        case (kind, index):
            return starts[kind] + index


def _attribute(param: spec.Param, value: Any) -> Any:
    """Return a static value in the type with which XLA passes all of its bits."""
    numpy = load("numpy")
    match value:
        case bool() | str():
            return value
        case int():
            return numpy.int64(value)
        case float():
            return numpy.float64(value)
        case _:
            is_float = isinstance(param, spec.List) and param.dtype in FLOAT_DTYPES
            return numpy.array(value, "float64" if is_float else "int64")
