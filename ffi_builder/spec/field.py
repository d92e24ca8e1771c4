"""Parts of parameters, as arguments for callees."""

from __future__ import annotations

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import one_of
from ffi_builder.spec.composite import Optional, Param, is_param, required
from ffi_builder.spec.tensor import Tensor
from ffi_builder.spec.tensor_list import TensorList


@dataclass(frozen=True)
class Field:
    """A part of a parameter, as an argument for a callee (see the ``args=`` of call providers).

    Args:
        param: an Optional, a Tensor or a TensorList.
        part: of an Optional ``present``, a bool: whether the argument is not None. Of a Tensor
            ``dtype`` (the ``DLDataType``, 32 bits), ``device_type``, ``device_id``, ``ndim`` (32
            bits each) or ``dltensor`` (the ``DLTensor*``). Of a TensorList ``pointers`` (a
            ``void**``), ``shapes`` and ``strides`` (an ``int64_t*`` each), arrays in the memory of
            the host that are valid during the call, or ``length``, an int64.

    Raises:
        SpecError: the parameter has no such part.

    Examples:
        >>> from ffi_builder import providers, spec, testing
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n], ("float16", "float32"), device_type="cpu")
        >>> bias = spec.Optional(spec.Tensor("bias", [n], "float32", device_type="cpu"))
        >>> add_bias = spec.Signature("add_bias", [x, bias])
        >>> args = [x, spec.Field(x, "dtype"), bias, spec.Field(bias, "present"), n]
        >>> wrapper = testing.emit(add_bias, providers.DirectCallProvider("kernel", args=args))
        >>> [line] = [line for line in wrapper.splitlines() if "call @kernel" in line]
        >>> line.rpartition(" : ")[2]
        '(!llvm.ptr, i32, !llvm.ptr, i1 {llvm.zeroext}, i64) -> ()'
    """

    param: Param
    part: str

    def __post_init__(self) -> None:
        given: object = self.param
        if not is_param(given):
            raise SpecError(f"Field: expected a parameter such as Tensor('x', …) but got {given!r}")
        parts = parts_of(given)
        if not parts:
            raise SpecError(
                f"{given.label}: part: a {type(given).__name__} has no parts, but got {self.part!r}"
            )
        if self.part == "present" and "present" not in parts:
            raise SpecError(
                f"{given.label}: part: only an Optional has the part 'present'; this is always "
                f"present"
            )
        one_of(f"{given.label}: part", self.part, parts)

    def __str__(self) -> str:
        return f"{self.param.name}.{self.part}"


def parts_of(param: Param) -> tuple[str, ...]:
    """Return the ``part`` values that a :class:`Field` of this parameter may have.

    Examples:
        >>> from ffi_builder import spec
        >>> spec.parts_of(spec.Tensor("x", ..., "float32", device_type="cpu"))
        ('dtype', 'device_type', 'device_id', 'ndim', 'dltensor')
    """
    present = ("present",) if isinstance(param, Optional) else ()
    match required(param):
        case Tensor():
            return (*present, "dtype", "device_type", "device_id", "ndim", "dltensor")
        case TensorList():
            return (*present, "pointers", "shapes", "strides", "length")
        case _:
            return present
