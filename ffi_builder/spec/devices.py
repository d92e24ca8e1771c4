"""The device types of tensors."""

from __future__ import annotations

import re
from typing import Final

from ffi_builder import abi
from ffi_builder.errors import SpecError
from ffi_builder.spec._check import one_of

ANY: Final = "any"
"""The ``device_type`` of tensors that may be on any device.

Examples:
    >>> from ffi_builder import spec
    >>> x = spec.Tensor("x", ..., "float32", device_type=spec.ANY)
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
    found = re.fullmatch(r"(\w+):(\d+)", device_type) if isinstance(device_type, str) else None
    if found is not None and found[1] in abi.DEVICE_TYPES:
        raise SpecError(
            f"{what}: expected a type alone but got {device_type!r}, did you mean "
            f"device_type={found[1]!r}, device_id={found[2]}?"
        )
    one_of(what, device_type, DEVICES)
