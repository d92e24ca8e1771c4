"""The memory of devices that arguments may be on: a fake CUDA driver's, while one is used."""

from __future__ import annotations

from typing import Any, Protocol


class DeviceMemory(Protocol):
    """The memory of the devices of one kind, which the host can reach."""

    @property
    def devices(self) -> int:
        """How many devices there are."""
        ...

    def allocate(self, device: int, size: int) -> tuple[Any, int]:
        """Return zeros, as an array of uint8 that keeps them, and their address on the device."""
        ...

    def limit(self, address: int, begin: int, end: int) -> None:
        """Say which of the bytes at an address are of an array: others are nobody's."""
        ...

    def host(self, address: int, size: int, device: int) -> int:
        """Return where the host finds bytes of a device."""
        ...

    def raise_error(self) -> None:
        """Raise what has gone wrong on a device since the last time, if anything has."""
        ...

    def recover(self) -> None:
        """Let the devices work again after a fault of a kernel."""
        ...


_active: dict[str, DeviceMemory] = {}


def activate(kind: str, memory: DeviceMemory | None) -> None:
    """Let arrays be made on devices of this kind, ``"cuda"``; with None, no more."""
    if memory is None:
        _active.pop(kind, None)
    else:
        _active[kind] = memory


def active(kind: str) -> DeviceMemory | None:
    """Return the memory of devices of this kind, if arrays can be made there now."""
    return _active.get(kind)


def raise_errors() -> None:
    """Raise what has gone wrong on any device since the last time, if anything has."""
    for memory in _active.values():
        memory.raise_error()


def settle() -> None:
    """Raise what has gone wrong on any device; all devices work again afterwards."""
    for memory in _active.values():
        memory.recover()
    raise_errors()
