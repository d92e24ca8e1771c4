"""Compares the parameters of a prototype with what is passed for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.overlap import tensors_of
from ffi_builder.wrapping.prototype import DLTENSOR, HALIDE_BUFFER, CType, llvm_type

BYTES: Final = ("int8", "uint8")
"""What a pointer points to that may point to anything, as ``char *``."""
BITS: Final = {"uint16": ("float16", "bfloat16")}
"""Integers as which C handles floats that it lacks."""
_EXPRESSION: Final = r"[A-Za-z_].*[-+*/%(]|[-+*/%(].*[A-Za-z_]"
_OBJECTS: Final = (spec.Object, spec.Function, spec.Array, spec.Map)


class Comparison:
    """Compares the parameters of a prototype with what is passed, and collects what to check."""

    def __init__(
        self, function: str, params: Mapping[str, spec.Param], numbers: Mapping[str, spec.Var]
    ) -> None:
        self.function, self.numbers = function, numbers
        self.scalars = {each.name for each in params.values() if isinstance(each, spec.Var)}
        self.narrow = dict[str, str]()
        self.ranges = list[str]()
        self.read, self.written = set[str](), set[str]()
        self.apart, self.aligned = list[str](), list[str]()

    def check(self, own: str, type_: CType, entry: object, item: object) -> None:
        """Compare a parameter with a C argument. Raises BuildError."""
        what = f"{self.function}: parameter {own or entry} is {type_}"
        if isinstance(item, spec.Tensor):
            _check_tensor(what, type_, item)
            (self.read if type_.is_const else self.written).add(item.name)
            if type_.is_restrict:
                self.apart.append(f"{entry}")
            elements = min(parse_dtype(each).alignment for each in item.element_dtypes)
            if type_.align > (item.data_alignment or elements):
                self.aligned.append(f"{entry}.data % {type_.align} == 0")
        elif isinstance(item, spec.Var) and item.dtype != "handle":
            _check_number(what, type_, item.name)
            if item.name not in self.scalars and _is_narrower(type_, item.dtype):
                self.narrow[item.name] = f"{type_.dtype}"
            elif llvm_type(item.dtype) != type_.llvm:
                raise BuildError(
                    f"{what}, but {item.name!r} is {item.dtype}: declare `{item.name}: "
                    f"{type_.dtype}`"
                )
        elif isinstance(item, _OBJECTS):
            _check_object(what, type_, item)
        elif isinstance(item, (spec.String, spec.Bytes)):
            if type_.is_pointer and type_.to not in (None, *BYTES):
                raise BuildError(f"{what}, but {item.name!r} is passed as the address of bytes")
        elif isinstance(item, spec.TensorList):
            _check_list(what, type_, f"{entry}")
        elif isinstance(entry, str) and entry in self.numbers:
            _check_result(what, type_, self.numbers[entry])
        elif isinstance(item, (int, float)):
            _check_number(what, type_, item)
            _check_constant(what, type_, item)
        elif isinstance(item, str) and re.search(_EXPRESSION, item) and not type_.is_pointer:
            if INT_RANGES.get(f"{type_.dtype}", (-1, 0))[0] == 0:
                self.ranges.append(f"0 <= {item}")  # the provider checks the other end
        elif entry is None and not type_.is_pointer:
            raise BuildError(f"{what}, and None is NULL")

    def conditions(self) -> list[str]:
        """Return what the signature has to check, as text."""
        dtypes = (f"{name}: {dtype}" for name, dtype in self.narrow.items())
        return [*self.ranges, *dtypes, *self.aligned]

    def no_overlap(self, signature: spec.Signature) -> list[str]:
        """Return the tensors that ``restrict`` keeps apart from others, if there are any."""
        tensors = tensors_of(signature.params)
        return [path for path in self.apart if path in tensors] if len(tensors) > 1 else []

    def only_read(self, signature: spec.Signature) -> dict[str, spec.Param]:
        """Return the tensors that the kernel gets by const pointers alone, as ones that it reads.

        The signature says nothing of their intent. They may be in Optionals.
        """
        found = dict[str, spec.Param]()
        for param in signature.params:
            tensor = spec.required(param)
            is_open = isinstance(tensor, spec.Tensor) and tensor.intent is None
            if is_open and tensor.name in self.read - self.written:
                read = replace(tensor, intent="in")
                inside = isinstance(param, spec.Optional)
                found[param.name] = replace(param, param=read) if inside else read
        return found


def _check_constant(what: str, type_: CType, number: float) -> None:
    """Raise BuildError for a constant that the kernel's type does not hold."""
    ranges = {**INT_RANGES, "bool": (0, 1)}
    low, high = ranges.get(f"{type_.dtype}", (0, 0))
    is_int = type_.dtype in ranges
    if is_int != isinstance(number, int) or (is_int and not low <= number <= high):
        raise BuildError(f"{what}, which is not {number!r}: write a number of that type")


def _check_object(what: str, type_: CType, param: spec.Param) -> None:
    """Raise BuildError if an object of TVM-FFI is passed for something else."""
    if not type_.is_pointer or type_.to is None or "TVMFFI" in type_.to:
        return
    cure = (
        f"; declare `{param.name}: handle`, for which callers pass "
        f"ctypes.cast(callback, ctypes.c_void_p), or let a function in C call TVMFFIFunctionCall"
    )
    raise BuildError(
        f"{what}, but {param.name!r} is passed as an object of TVM-FFI, which is a `void *` in C"
        f"{cure if isinstance(param, spec.Function) else ''}"
    )


def _check_list(what: str, type_: CType, path: str) -> None:
    """Raise BuildError if a part of a list of tensors is passed for something else."""
    expected = "a pointer" if path.endswith(".pointers") else "int64"
    is_length = path.endswith(".length")
    if is_length == type_.is_pointer or (type_.to not in (None, expected)):
        words = "the number of tensors" if is_length else f"a pointer to {expected}"
        raise BuildError(f"{what}, but {path!r} is passed as {words}")


def _check_number(what: str, type_: CType, number: object) -> None:
    if type_.is_pointer:
        raise BuildError(
            f"{what}, but {number!r} is a number; None passes NULL, and a tensor of rank 0, as "
            f"`a: Tensor([], float64)`, the address of a number"
        )


def _is_narrower(type_: CType, dtype: str) -> bool:
    if type_.dtype not in INT_RANGES or dtype not in INT_RANGES:
        return False
    return INT_RANGES[type_.dtype][1] < INT_RANGES[dtype][1]


def _check_result(what: str, type_: CType, result: spec.Var) -> None:
    """Raise BuildError if the kernel does not write a number of the result's dtype by a pointer."""
    if not type_.is_pointer or type_.is_const or type_.opaque is not None:
        raise BuildError(f"{what}, but the kernel writes the result {result.name!r} by a pointer")
    if type_.dtype not in (None, *BYTES, result.dtype) and result.dtype != "handle":
        raise BuildError(
            f"{what}, but the result {result.name!r} is {result.dtype}: declare "
            f"`-> {result.name}: {type_.dtype}`"
        )


def _check_tensor(what: str, type_: CType, tensor: spec.Tensor) -> None:
    """Raise BuildError if no pointer is passed, or one to other elements, or for other accesses."""
    if not type_.is_pointer:
        raise BuildError(f"{what}, but {tensor.name!r} is a tensor, which is passed as a pointer")
    if type_.opaque == DLTENSOR and not tensor.any_rank:
        raise BuildError(
            f"{what}, which a tensor of any rank is passed as: declare `{tensor.name}: Tensor(..., "
            f"{tensor.dtypes[0]})`, or pass '{tensor.name}.dltensor'"
        )
    if tensor.any_rank and type_.to not in (None, DLTENSOR):
        raise BuildError(
            f"{what}, but {tensor.name!r} may have any rank, so its DLTensor* is passed: pass "
            f"'{tensor.name}.data', or declare its sizes"
        )
    if type_.opaque not in (None, HALIDE_BUFFER, DLTENSOR):
        raise BuildError(
            f"{what}, but {tensor.name!r} is passed as the address of its elements; let a function "
            f"in C make what the kernel takes, or write a provider"
        )
    if type_.rank is not None and type_.rank != tensor.ndim:
        raise BuildError(f"{what}, but {tensor.name!r} has rank {tensor.ndim}")
    allowed = (None, *(() if type_.opaque else BYTES), *tensor.dtypes)
    is_bits = all(dtype in BITS.get(f"{type_.dtype}", ()) for dtype in tensor.dtypes)
    if type_.dtype not in allowed and not is_bits:
        raise BuildError(
            f"{what}, but the elements of {tensor.name!r} are {' or '.join(tensor.dtypes)}: "
            f"declare `{tensor.name}: Tensor([…], {type_.dtype})`, or change the prototype"
        )
    _check_row(what, type_, tensor)
    if type_.is_const and tensor.intent in ("out", "inout"):
        raise BuildError(
            f"{what}, so the kernel does not write to it, but intent={tensor.intent!r} of "
            f"{tensor.name!r} says that it does"
        )


def _check_row(what: str, type_: CType, tensor: spec.Tensor) -> None:
    """Raise BuildError if ``float x[][5]`` gets rows of another size, or of any."""
    given = tensor.dims[-len(type_.row) :] if type_.row else ()
    first = tensor.dims[0] if tensor.dims else None
    if isinstance(first, int) and first < type_.first and tensor.ndim == 1 + len(type_.row):
        raise BuildError(
            f"{what}, written as an array of {type_.first}, but {tensor.name!r} has {first}"
        )
    if tensor.strides is not None or len(given) != len(type_.row) or len(given) == tensor.ndim:
        return
    if any(size not in (None, entry) for size, entry in zip(type_.row, given, strict=True)):
        row = ", ".join(
            f"{entry if size is None else size}"
            for size, entry in zip(type_.row, given, strict=True)
        )
        raise BuildError(
            f"{what}, but {tensor.name!r} has rows of {', '.join(map(str, given))} elements: "
            f"declare `{tensor.name}: Tensor([…, {row}], {tensor.dtypes[0]})`"
        )
