"""The fake driver's log, read: what was called, which kernels ran, and which rules were broken."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ffi_builder.fakecuda.values import read_values

Dims = tuple[int, int, int]


@dataclass(frozen=True)
class Call:
    """A call that has returned; ``arguments`` are by name, numbers as ints."""

    name: str
    result: int
    arguments: Mapping[str, int | str]
    thread: int


@dataclass(frozen=True)
class Parameter:
    """A kernel parameter as it was copied: ``address`` is where from, 0 if out of a buffer."""

    offset: int
    size: int
    address: int
    data: bytes


@dataclass(frozen=True)
class Launch:
    """A kernel that was run, or that went into a graph."""

    kernel: str
    grid: Dims
    block: Dims
    cluster: Dims
    shared: int
    device: int
    context: int
    stream: int
    attributes: Mapping[int, bytes]
    """The launch attributes: their values, 64 bytes each, by their ids."""
    parameters: tuple[Parameter, ...]
    captured: bool
    thread: int

    @property
    def arguments(self) -> tuple[bytes, ...]:
        """The bytes of each parameter."""
        return tuple(parameter.data for parameter in self.parameters)

    def values(self, types: Sequence[str]) -> list[Any]:
        """The arguments, by the types that :meth:`FakeCuda.kernel` takes; pointers are addresses.

        Raises:
            ValueError: the types do not fit the parameters, or one is unknown.
        """
        return read_values(self.kernel, self.arguments, types)


@dataclass(frozen=True)
class Violation:
    """A mistake that no driver would report: rules.py has the rules without a result."""

    rule: str
    text: str
    thread: int


Event = Call | Launch | Violation

_ARGUMENT = re.compile(r"(\w+)=('[^']*'|\S+)")


def read_log(text: str) -> list[Event]:
    """The events of a log, in order."""
    return [_event(*line.split("\t", 4)) for line in text.splitlines()]


def _event(kind: str, thread: str, name: str, result: str, details: str) -> Event:
    if kind == "violation":
        return Violation(name, details, int(thread))
    pairs = _ARGUMENT.findall(details)
    if kind == "call":
        arguments = MappingProxyType({key: _value(value) for key, value in pairs})
        return Call(name, int(result), arguments, int(thread))
    fields = dict[str, str](pairs)
    return Launch(
        name,
        _dims(fields["grid"]),
        _dims(fields["block"]),
        _dims(fields["cluster"]),
        int(fields["shared"]),
        int(fields["device"]),
        int(fields["context"], 16),
        int(fields["stream"], 16),
        MappingProxyType(dict(_attribute(value) for key, value in pairs if key == "a")),
        tuple(_parameter(value) for key, value in pairs if key == "p"),
        kind == "captured",
        int(thread),
    )


def _value(text: str) -> int | str:
    if text == "(nil)":
        return 0
    if re.fullmatch(r"-?\d+|0x[0-9a-f]+", text):
        return int(text, 0)
    return text.strip("'")


def _dims(text: str) -> Dims:
    x, y, z = map(int, text.split(","))
    return x, y, z


def _attribute(text: str) -> tuple[int, bytes]:
    number, data = text.split(":")
    return int(number), bytes.fromhex(data)


def _parameter(text: str) -> Parameter:
    offset, size, address, data = text.split(":")
    return Parameter(int(offset), int(size), int(address, 16), bytes.fromhex(data))
