"""Rules of frameworks for arrays that DLPack cannot express, and how tvm-ffi takes containers.

A wrapper sees memory, a shape and a dtype. Only its framework can tell whether an array has a
gradient, a mask, a conjugate bit or read-only memory. The rules are checked before a call; for
arrays that the extension reads in C, it checks them itself.
"""

from __future__ import annotations

import ctypes
import functools
import numbers
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, cast

import tvm_ffi

from ffi_builder.runtime.python import torch_rules
from ffi_builder.runtime.python.buffers import is_capsule, tensor_of_buffer, tensor_of_capsule
from ffi_builder.runtime.python.position import Position


def check_array(value: Any, at: Position) -> Any:
    """Return `value`, or a view of it that DLPack can pass on.

    Raises ValueError for an array that must not be passed here, and TypeError for a buffer whose
    items are no numbers. Any other value is returned unchanged; the wrapper refuses it.
    """
    rule = _rule_of_tensors(cast("type[object]", type(value)))
    return value if rule is None else rule(value, at)


def check_list(value: Any, at: Position) -> Any:
    """Check the arrays in a list of tensors, and return a list. Return other values unchanged."""
    value = unwrapped(value)
    if not is_sequence(value):
        return value
    return [check_array(item, at.item(index)) for index, item in enumerate(items(value))]


def check_items(value: Any, at: Position) -> Any:
    """Check the arrays in a list, tuple or dict, at any depth, and return one like it."""
    if is_sequence(value):
        return [check_items(item, at.inside(key)) for key, item in enumerate(items(value))]
    if is_mapping(value):
        return {key: check_items(item, at.inside(key)) for key, item in pairs(value)}
    rule = _rule(cast("type[object]", type(value)))
    return value if rule is None else rule(value, at)


Rule = Callable[[Any, Position], Any]


@functools.lru_cache(maxsize=256)
def _rule(cls: type[object]) -> Rule | None:
    """Return the rule for a class, without importing a framework."""
    if _is_of(cls, "torch", "Tensor"):
        return torch_rules.check_tensor
    if _is_of(cls, "torch.fx", "Proxy"):
        return torch_rules.refuse_proxy
    if _is_of(cls, "jax", "Array"):
        return _check_jax
    if _is_of(cls, "jax.core", "Tracer"):
        return _refuse_tracer
    if _is_of(cls, "numpy", "ndarray"):
        masked = any(base.__qualname__ == "MaskedArray" for base in cls.__mro__)
        return _refuse_masked if masked else _check_numpy
    return _check_wrapped if is_wrapped(cls) else None


@functools.lru_cache(maxsize=256)
def _rule_of_tensors(cls: type[object]) -> Rule | None:
    """Return the rule for values of a class that are passed as tensors."""
    if is_capsule(cls):
        return tensor_of_capsule
    return _rule(cls) or (None if _is_converted(cls) else tensor_of_buffer)


def _is_converted(cls: type[object]) -> bool:
    """Return whether tvm-ffi makes something of values of a class, whatever their memory is.

    It makes objects of bytes, but these are buffers where a tensor is expected.
    """
    others = (*_OTHERS, type(None), numbers.Complex)
    if issubclass(cls, others) and not issubclass(cls, (bytes, bytearray)):
        return True
    return _is_of(cls, "numpy", "generic") or _is_callable(cls) or _has_any(cls, _BEFORE_VALUES)


def _check_wrapped(value: Any, at: Position) -> Any:
    return check_items(unwrapped(value), at)


def _is_of(cls: type[object], module: str, name: str) -> bool:
    base: object = getattr(sys.modules.get(module), name, None)
    return isinstance(base, type) and issubclass(cls, base)


def _refuse_masked(array: Any, at: Position) -> Any:
    raise at.mismatch(
        "an array without a mask",
        f"a masked array, whose mask {at.function} would not see: pass {at.path}.filled(…), or "
        f"{at.path}.data for all values",
    )


def _check_numpy(array: Any, at: Position) -> Any:
    if array.flags.writeable:
        return array
    if at.intent == "in":
        return _writable_view(array)
    raise at.read_only("a read-only array")


class _ArrayMemory:
    """Memory of an array, described to NumPy as writable."""

    def __init__(self, array: Any) -> None:
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}
        self.array = array


def _writable_view(array: Any) -> Any:
    """Return a writable view of a read-only array, since NumPy's DLPack does not export that.

    The function only reads it.
    """
    numpy: Any = sys.modules["numpy"]
    return numpy.asarray(_ArrayMemory(array)).view(array.dtype)


def _check_jax(array: Any, at: Position) -> Any:
    if at.intent in ("out", "inout"):
        raise at.mismatch(
            at.writable,
            f"an array of JAX ({type(array).__name__}), which never changes: pass a NumPy array, "
            f"or make {at.function} a function of JAX by ffi_builder.frameworks.jax.function",
        )
    return array


def _refuse_tracer(tracer: Any, at: Position) -> Any:
    raise at.mismatch(
        "an array with values",
        f"a {type(tracer).__name__} of JAX, which has none while a function is traced: make "
        f"{at.function} a function of JAX by ffi_builder.frameworks.jax.function",
    )


# ---- after a call


def not_exported(value: Any, at: Position) -> TypeError | ValueError | None:
    """Make an error for the first array in a value that its framework does not export."""
    for array in arrays_in(value):
        reason = _refusal(array)
        if reason is not None and hasattr(array, "dtype"):
            return at.not_exported(array, reason)
    return None


def _refusal(array: Any) -> BufferError | None:
    """Return the error with which a framework refuses to export an array."""
    try:
        array.__dlpack__()
    except BufferError as error:
        return error
    return None


def mark_written(value: Any) -> None:
    """Increment the versions of torch's tensors in a value, for autograd."""
    for array in arrays_in(value):
        if _is_of(cast("type[object]", type(array)), "torch", "Tensor"):
            sys.modules["torch"].autograd.graph.increment_version(array)


def arrays_in(value: Any) -> Iterator[Any]:
    """Yield `value` if it is an array, or the arrays in a list, tuple or dict, at any depth."""
    if _is_array(cast("type[object]", type(value))):
        yield value
    elif isinstance(value, tvm_ffi.Array):
        for item in cast("tvm_ffi.Array[Any]", value):
            yield from arrays_in(item)
    elif is_sequence(value):
        for item in items(value):
            yield from arrays_in(item)
    elif is_mapping(value):
        for _, item in pairs(value):
            yield from arrays_in(item)


@functools.lru_cache(maxsize=256)
def _is_array(cls: type[object]) -> bool:
    return container(cls) is None and hasattr(cls, "__dlpack__")


@functools.lru_cache(maxsize=256)
def _framework(cls: type[object]) -> str | None:
    """Return the module of a class of arrays if results become such arrays."""
    if _is_of(cls, "numpy", "ndarray"):
        return "numpy"
    return "torch" if _is_of(cls, "torch", "Tensor") else None


def like_arguments(result: Any, arrays: list[Any]) -> Any:
    """Convert the tensors in a result to the framework of `arrays`, if all have the same one.

    `result` is a tensor or a `tvm_ffi.Array`, which becomes a tuple, as do lists of tensors in it.
    If no framework is found, an Array with tensors stays unchanged. So does a tensor whose dtype or
    device the framework lacks.
    """
    names = {_framework(cast("type[object]", type(array))) for array in arrays}
    name = names.pop() if len(names) == 1 else None
    if name is not None:
        framework: Any = sys.modules[name]
        if isinstance(result, tvm_ffi.Tensor) or not isinstance(result, tvm_ffi.Array):
            return _converted(result, framework)
        array = cast("tvm_ffi.Array[Any]", result)
        return tuple(_converted(item, framework) for item in array)
    if isinstance(result, tvm_ffi.Array):
        values = tuple(cast("tvm_ffi.Array[Any]", result))
        if not any(isinstance(value, tvm_ffi.Tensor) for value in values):
            return values
    return cast("object", result)


def _converted(value: Any, framework: Any) -> Any:
    if isinstance(value, tvm_ffi.Tensor):
        try:
            return framework.from_dlpack(value)
        except (BufferError, RuntimeError, ValueError):
            return value
    if isinstance(value, tvm_ffi.Array):
        array = cast("tvm_ffi.Array[Any]", value)
        has_tensors = any(isinstance(item, tvm_ffi.Tensor) for item in array)
        return tuple(_converted(item, framework) for item in array) if has_tensors else array
    return value


# ---- containers

_BEFORE_CONTAINERS: Final = (
    "__tvm_ffi_object__",
    "__dlpack_c_exchange_api__",
    "__cuda_stream__",
    "__dlpack__",
)
"""Attributes of classes that tvm-ffi looks up before it takes a value for a container."""

_BEFORE_VALUES: Final = (
    *_BEFORE_CONTAINERS,
    "__tvm_ffi_opaque_ptr__",
    "__dlpack_data_type__",
    "__dlpack_device__",
    "__tvm_ffi_int__",
    "__tvm_ffi_float__",
)
"""Attributes of classes that tvm-ffi looks up before ``__tvm_ffi_value__``."""

_OTHERS: Final = (
    *(tvm_ffi.Object, tvm_ffi.core.PyNativeObject, numbers.Real),
    *(str, bytes, bytearray, tuple, list, dict, ctypes.c_void_p),
)
"""Classes that tvm-ffi checks for before ``__tvm_ffi_value__``."""

_DEEPEST: Final = 32
"""The largest number of nested objects with ``__tvm_ffi_value__``."""


@functools.lru_cache(maxsize=256)
def container(cls: type[object]) -> type[tuple[Any, ...] | list[Any] | dict[Any, Any]] | None:
    """Return the container (tuple, list or dict) that tvm-ffi takes a class for, or None."""
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
    """Return the items of a sequence that tvm-ffi passes: only a list's own iterator is used."""
    return cast("Any", tuple).__iter__(value) if isinstance(value, tuple) else value


def pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the items of a mapping that tvm-ffi passes: methods of subclasses are not called."""
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
    """Return whether tvm-ffi replaces values of a class by the result of ``__tvm_ffi_value__``."""
    if not hasattr(cls, "__tvm_ffi_value__") or issubclass(cls, _OTHERS):
        return False
    return not (_is_callable(cls) or _has_any(cls, _BEFORE_VALUES))


def _is_callable(cls: type[object]) -> bool:
    # `hasattr` finds `__call__` for every class, as its metaclass has it.
    return any("__call__" in base.__dict__ for base in cls.__mro__)


def _has_any(cls: type[object], names: Iterable[str]) -> bool:
    return any(hasattr(cls, name) for name in names)
