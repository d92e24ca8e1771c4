"""Tells as what tvm-ffi passes a value whose class derives from one of Python's containers.

tvm-ffi makes an Array of a tuple or list, and a Map of a dict, unless their class is something else
first: a ``tvm_ffi.Shape`` is a tuple, too.
"""

from __future__ import annotations

import ctypes
import functools
import numbers
from collections.abc import Iterable
from typing import Any, Final, cast

import tvm_ffi

_BEFORE_CONTAINERS: Final = (
    "__tvm_ffi_object__",
    "__dlpack_c_exchange_api__",
    "__cuda_stream__",
    "__dlpack__",
)
"""Attributes of classes that tvm-ffi looks for before it takes a value for a container."""

_BEFORE_VALUES: Final = (
    *_BEFORE_CONTAINERS,
    "__tvm_ffi_opaque_ptr__",
    "__dlpack_data_type__",
    "__dlpack_device__",
    "__tvm_ffi_int__",
    "__tvm_ffi_float__",
)
"""The same before it asks for ``__tvm_ffi_value__``."""

_OTHERS: Final = (
    *(tvm_ffi.Object, tvm_ffi.core.PyNativeObject, numbers.Real),
    *(str, bytes, bytearray, tuple, list, dict, ctypes.c_void_p),
)
"""Classes that it looks for before."""

_DEEPEST: Final = 32
"""The most objects around a value, each of which has ``__tvm_ffi_value__``."""


@functools.lru_cache(maxsize=256)
def container(cls: type[object]) -> type[tuple[Any, ...] | list[Any] | dict[Any, Any]] | None:
    """Return tuple, list or dict if tvm-ffi passes the items of values of a class, or else None."""
    if issubclass(cls, tvm_ffi.core.PyNativeObject) or _has_any(cls, _BEFORE_CONTAINERS):
        return None
    return next((kind for kind in (tuple, list, dict) if issubclass(cls, kind)), None)


def is_sequence(value: Any) -> bool:
    """Return whether tvm-ffi makes an Array of a value."""
    return container(cast("type[object]", type(value))) in (tuple, list)


def is_mapping(value: Any) -> bool:
    """Return whether tvm-ffi makes a Map of a value."""
    return container(cast("type[object]", type(value))) is dict


def items(value: Any) -> Iterable[Any]:
    """Return what tvm-ffi passes of a sequence: it asks lists alone for an iterator."""
    return cast("Any", tuple).__iter__(value) if isinstance(value, tuple) else value


def pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return what tvm-ffi passes of a mapping: it does not ask a subclass."""
    return cast("Any", dict).items(value)


def unwrapped(value: Any) -> Any:
    """Return the value that tvm-ffi passes instead of an object with ``__tvm_ffi_value__``."""
    for _ in range(_DEEPEST):
        if not is_wrapped(cast("type[object]", type(value))):
            break
        value = value.__tvm_ffi_value__()
    return value


@functools.lru_cache(maxsize=256)
def is_wrapped(cls: type[object]) -> bool:
    """Return whether tvm-ffi passes what ``__tvm_ffi_value__`` returns for values of a class."""
    if not hasattr(cls, "__tvm_ffi_value__") or issubclass(cls, _OTHERS):
        return False
    # Every class has that attribute: its metaclass does.
    is_callable = any("__call__" in base.__dict__ for base in cls.__mro__)
    return not (is_callable or _has_any(cls, _BEFORE_VALUES))


def _has_any(cls: type[object], names: Iterable[str]) -> bool:
    return any(hasattr(cls, name) for name in names)
