"""Fields that a tensor takes from another one: ``dtype="x.dtype"``."""

from __future__ import annotations

import re
from typing import Final, TypeGuard

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import plain

REFERABLE: Final = ("shape", "dtype", "device_type")
"""The fields of a tensor that may be taken from another one."""
PATTERN: Final = rf"[A-Za-z_]\w*(?:\[\d+\]|\.[A-Za-z_]\w*)*?\.(?:{'|'.join(REFERABLE)})(?![\w.\[])"
"""``x.dtype``, ``cfg.x.shape``, ``pair[0].device_type``."""


def is_reference(value: object, name: str) -> TypeGuard[str]:
    """Return whether the value of this field refers to the same field of another tensor."""
    return isinstance(value, str) and value.endswith(f".{name}")


def checked_reference(what: str, given: str, name: str) -> str:
    """Return a reference to the field ``name`` of another tensor.

    Raises:
        SpecError: the part before the dot is not the path of a parameter.
    """
    if not is_reference(given, name) or not re.fullmatch(PATTERN, given, re.ASCII):
        raise SpecError(
            f"{what}: expected the {name} of a parameter, such as 'x.{name}', but got {given!r}"
        )
    return plain(given)
