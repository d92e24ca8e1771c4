"""The device types of tensors, and their default in a block of code, per thread and task."""

from __future__ import annotations

import re
from contextvars import ContextVar
from typing import Final

from ffi_builder import abi
from ffi_builder.errors import SpecError
from ffi_builder.spec._check import one_of

ANY: Final = "any"
"""The ``device_type`` of tensors that may be on any device.

Examples:
    >>> from ffi_builder import spec
    >>> from ffi_builder.spec.tensors.devices import ANY
    >>> x = spec.Tensor("x", ..., "float32", device_type=ANY)
    >>> x.device
    'any'
"""
DEVICES: Final = (*abi.DEVICE_TYPES, ANY)
"""The strings that ``device_type`` may be."""


def check_device_type(what: str, device_type: object) -> None:
    """Check a device type.

    Raises:
        SpecError: there is no such type.
    """
    match = re.fullmatch(r"(\w+):(\d+)", device_type) if isinstance(device_type, str) else None
    if match is not None and match[1] in abi.DEVICE_TYPES:
        raise SpecError(
            f"{what}: expected a type alone but got {device_type!r}, did you mean "
            f"device_type={match[1]!r}, device_id={match[2]}?"
        )
    one_of(what, device_type, DEVICES)


_ACTIVE: Final[ContextVar[tuple[DefaultConfig, ...]]] = ContextVar(
    "ffi_builder_defaults", default=()
)
"""The open blocks of this context, the innermost last."""


class DefaultConfig:
    """The default ``device_type`` of Tensors inside ``with DefaultConfig(device_type="cuda"):``.

    Blocks nest; the innermost counts. A Tensor stores its device type when it is made, so it can be
    used outside the block.

    Args:
        device_type: a DLPack name (``"cpu"``, ``"cuda"``, …), or ``"any"``.

    Raises:
        SpecError: there is no such device type.

    Examples:
        >>> from ffi_builder import spec
        >>> with spec.DefaultConfig(device_type="cuda"):
        ...     x = spec.Tensor("x", [1024], "float16")
        ...     host = spec.Tensor("host", [2], "int32", device_type="cpu")
        >>> x.device, host.device
        ('cuda', 'cpu')
    """

    def __init__(self, *, device_type: str) -> None:
        self.device_type = one_of("DefaultConfig: device_type", device_type, DEVICES)

    def __repr__(self) -> str:
        return f"DefaultConfig(device_type={self.device_type!r})"

    def __enter__(self) -> DefaultConfig:
        # All state is in the context: one object may be entered by several threads at once.
        _ACTIVE.set((*_ACTIVE.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _ACTIVE.set(_ACTIVE.get()[:-1])


def has_default() -> bool:
    """Return whether a block is open."""
    return bool(_ACTIVE.get())


def default_device_type(what: str) -> str:
    """Return the device type of the innermost block; ``what`` begins the error.

    Raises:
        SpecError: no block is open. A built-in default would be wrong for half the users.
    """
    active = _ACTIVE.get()
    if not active:
        raise SpecError(
            f"{what}: no device_type given and no default active. Say device_type='cpu' (or "
            f"'cuda', …), or make it inside `with DefaultConfig(device_type='cpu'):`"
        )
    return active[-1].device_type
