"""One call: arguments by name, divided into operands, static values and given outputs."""

from __future__ import annotations

import ctypes
import enum
import operator
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Final, cast

from ffi_builder import abi, spec
from ffi_builder.frameworks.jax.form import Form
from ffi_builder.frameworks.jax.target import load
from ffi_builder.records import dataclass
from ffi_builder.testing import check
from ffi_builder.testing.evaluate import contiguous


@dataclass(frozen=True)
class Static:
    """A static value. Values are one where they are of one type and print alike.

    ``==`` would take 0.0 for -0.0 and True for 1, and JAX would call what was compiled for the
    other one.
    """

    value: Any = field(compare=False)
    key: tuple[type, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (type(self.value), repr(self.value)))


@dataclass(frozen=True)
class Call:
    """The parts of a call beside its arrays: a key of JAX's caches.

    Each pair has the index of an argument.
    """

    statics: tuple[tuple[int, Static], ...]
    outputs: tuple[tuple[int, Any], ...]
    """A ``jax.ShapeDtypeStruct`` for each output whose shape the caller gives."""

    def keywords(self, form: Form) -> dict[str, Any]:
        """Return the static values and given outputs by name, for rules of the author's."""
        given = {index: static.value for index, static in self.statics}
        return {
            form.names[index]: value for index, value in {**given, **dict(self.outputs)}.items()
        }


def bind(form: Form, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], Call]:
    """Divide the arguments of a call into the operands, where None is absent, and the rest.

    Raises:
        TypeError: too few or too many arguments, an unknown name, an operand that is no array, or
            a traced value where a static one is needed.
    """
    try:
        bound = form.python_signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{form.signature.name}(): {error}") from None
    bound.apply_defaults()
    operands: list[Any] = []
    statics: list[tuple[int, Static]] = []
    outputs: list[tuple[int, Any]] = []
    for index, (name, intent) in enumerate(zip(form.names, form.intents, strict=True)):
        value = bound.arguments[name]
        param = form.signature.arguments[index]
        if not intent:
            statics.append((index, Static(_static(form, name, param, value))))
        elif intent == "out":
            if value is not None:
                outputs.append((index, _described(form, name, value)))
        elif value is None and isinstance(param, spec.Optional):
            operands.append(None)
        else:
            operands.append(_array(form, name, value))
    return operands, Call(tuple(statics), tuple(outputs))


def _array(form: Form, name: str, value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, load("jax").Array)):
        return value
    numpy = load("numpy")
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return value
    kind = cast("type[object]", type(value))
    came = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    cure = f"; pass jax.numpy.from_dlpack({name})" if hasattr(kind, "__dlpack__") else ""
    raise TypeError(
        f"{form.signature.name}(): {name!r} expects an array of JAX or NumPy, or a number, but got "
        f"{came}{cure}"
    )


def _described(form: Form, name: str, value: Any) -> Any:
    """Return shape and dtype of an output, given by anything that has these."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise TypeError(
            f"{form.signature.name}(): the output {name!r} expects its shape and dtype, as "
            f"jax.ShapeDtypeStruct(shape, dtype), but got {type(value).__name__}"
        )
    return load("jax").ShapeDtypeStruct(value.shape, value.dtype)


def _static(form: Form, name: str, param: spec.Param, value: Any) -> Any:
    """Return a static value as a plain Python value; the wrapper's own check judges it."""
    jax = load("jax")
    if isinstance(value, jax.core.Tracer):
        raise TypeError(
            f"{form.signature.name}(): {name!r} is static, since XLA passes it as an attribute of "
            f"the call, but got a traced value of {str(jax.typeof(value)).lstrip('~')}; name it in "
            f"static_argnames= of jax.jit, close over it, or make it a Tensor of the kernel"
        )
    plain = spec.required(param)
    if isinstance(value, enum.Enum):
        by_name = isinstance(plain, spec.Choice) and not isinstance(value.value, str)
        return value.name if by_name else value.value
    if isinstance(plain, spec.Shape) and isinstance(value, (tuple, list)):
        items = cast("tuple[object, ...]", value)
        return tuple(_static(form, name, _ENTRY, item) for item in items)
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        return value.item()  # a scalar of NumPy, or an array without dimensions
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    return operator.index(value)


_ENTRY: Final = spec.Var("entry", "int64")
"""The parameter that an entry of a Shape is."""


# ---- checks, in the words of the wrapper

_ADDRESS: Final = 1 << 40
"""The data pointer of arrays without memory: it is not read, and meets every alignment."""


@dataclass(frozen=True)
class Described:
    """An array of which only shape, dtype and device type are known; row-major."""

    shape: tuple[Any, ...]
    dtype: str
    device: str


def check_call(signature: spec.Signature, values: Sequence[object]) -> None:
    """Check arguments, of which arrays are :class:`Described`.

    If a size is symbolic, only kinds, ranks and dtypes are checked here; the wrapper checks the
    rest when it is called.

    Raises:
        TypeError, ValueError: the wrapper's error.
    """
    arrays = [value for value in values if isinstance(value, Described)]
    sizes = [size for array in arrays for size in array.shape]
    checked = replace(signature, no_overlap=())  # all have the same address here
    if not all(isinstance(size, int) for size in sizes):
        checked = replace(checked, params=[_relaxed(param) for param in signature.params])
    exported = [_Exported(v) if isinstance(v, Described) else v for v in values]
    try:
        check(checked, *(v.tensor() if isinstance(v, _Exported) else v for v in exported))
    except (TypeError, ValueError) as error:
        texts = spec.short_text(checked), spec.short_text(signature)
        raise type(error)(str(error).replace(*texts)) from None


def _relaxed(param: spec.Param) -> spec.Param:
    """Return a tensor that may be of any size."""
    if isinstance(param, spec.Optional):
        return replace(param, param=_relaxed(param.param))
    if not isinstance(param, spec.Tensor) or param.any_rank:
        return param
    return replace(param, shape=[None] * param.ndim, strides="any")


class _Managed(ctypes.Structure):
    """``DLManagedTensor``; a NULL deleter, as Python owns the memory."""

    _fields_: ClassVar = [
        ("tensor", ctypes.c_char * abi.DLTENSOR_SIZE),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


# A prototype of its own: others set the types of the one that `pythonapi` has.
_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_NAME: Final = b"dltensor"
"""A capsule keeps the address of its name."""


class _Exported:
    """A DLPack export of an array without memory; it must outlive the tensors made of it."""

    def __init__(self, array: Described) -> None:
        shape = [size if isinstance(size, int) else 1 for size in array.shape]
        self._device = abi.DEVICE_TYPES[array.device]
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = (ctypes.c_int64 * len(shape))(*contiguous(shape))
        self._managed = _Managed()
        code, bits, lanes = spec.parse_dtype(array.dtype)
        at = ctypes.addressof(self._managed)
        ctypes.c_uint64.from_address(at + abi.DLTENSOR_DATA).value = _ADDRESS
        ctypes.c_int32.from_address(at + abi.DLTENSOR_DEVICE_TYPE).value = self._device
        ctypes.c_int32.from_address(at + abi.DLTENSOR_NDIM).value = len(shape)
        ctypes.c_uint8.from_address(at + abi.DLTENSOR_DTYPE_CODE).value = code
        ctypes.c_uint8.from_address(at + abi.DLTENSOR_DTYPE_BITS).value = bits
        ctypes.c_uint16.from_address(at + abi.DLTENSOR_DTYPE_LANES).value = lanes
        for offset, values in (
            (abi.DLTENSOR_SHAPE, self._shape),
            (abi.DLTENSOR_STRIDES, self._strides),
        ):
            ctypes.c_uint64.from_address(at + offset).value = ctypes.addressof(values)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0

    def __dlpack__(self, **_: object) -> Any:
        return _capsule(ctypes.addressof(self._managed), _NAME, None)

    def tensor(self) -> Any:
        """Return the ``tvm_ffi.Tensor``."""
        import tvm_ffi

        return tvm_ffi.from_dlpack(self)
