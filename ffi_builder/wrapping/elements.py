"""Compares the type of a pointer in C with the tensor whose elements are passed for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.extending import parse_dtype
from ffi_builder.wrapping.c_types import DLTENSOR, HALIDE_BUFFER, POINTER, CType, Layout

BYTES: Final = ("int8", "uint8")
"""What a pointer points to that may point to anything, as ``char *``."""
BITS: Final = {"uint16": ("float16", "bfloat16")}
"""Integers as which C handles floats that it lacks."""
_IN_C: Final = {"float32": "float", "float64": "double", "int32": "int32_t", "int64": "int64_t"}


def check_elements(
    what: str, type_: CType, tensor: spec.Tensor, entries: Mapping[str, str], *, is_data: bool
) -> None:
    """Raise BuildError if no pointer is passed, or one to other elements, or to too few.

    Args:
        what: the words about the kernel's parameter.
        type_: its type.
        tensor: what is passed.
        entries: what is passed for each parameter of the kernel, for sizes such as ``x[n][5]``.
        is_data: whether ``x.data`` is passed, and not ``x``, which may be a descriptor.
    """
    _check_tensor(what, type_, tensor, entries, is_data=is_data)
    _check_rows(what, type_, tensor, entries)
    _check_size(what, type_, tensor)


def fits(type_: CType, dtypes: Sequence[str]) -> bool:
    """Return whether what a pointer points to may be each of these dtypes."""
    if type_.dtype is None or (type_.dtype in BYTES and type_.opaque in (None, POINTER)):
        return True
    return all(each in (type_.dtype, *BITS.get(type_.dtype, ())) for each in dtypes)


def order(name: str, entries: Mapping[str, str]) -> str:
    """Return a question about the order, where the parameter of this name gets something else."""
    if entries.get(name, name).removesuffix(".data") == name:
        return ""
    return f"; or is the order another: the kernel takes {', '.join(entries)}"


def _check_tensor(
    what: str, type_: CType, tensor: spec.Tensor, entries: Mapping[str, str], *, is_data: bool
) -> None:
    """Raise BuildError if no pointer is passed, or one to other elements, or for other accesses."""
    if not type_.is_pointer:
        raise BuildError(f"{what}, but {tensor.name!r} is a tensor, which is passed as a pointer")
    if type_.opaque == DLTENSOR and not tensor.any_rank:
        raise BuildError(
            f"{what}, which a tensor of any rank is passed as: declare `{tensor.name}: Tensor(..., "
            f"{tensor.dtypes[0]})`, or pass '{tensor.name}.dltensor'"
        )
    if tensor.any_rank and not is_data and type_.to not in (None, DLTENSOR):
        raise BuildError(
            f"{what}, but {tensor.name!r} may have any rank, so its DLTensor* is passed: pass "
            f"'{tensor.name}.data', or declare its sizes"
        )
    if type_.opaque not in (None, *(() if is_data else (HALIDE_BUFFER, DLTENSOR))):
        cure = "let a function in C make what the kernel takes, or write a provider"
        if type_.layout is not None:
            cure = _struct_or_array(type_, type_.layout, tensor)
        raise BuildError(
            f"{what}, but {tensor.name!r} is passed as the address of its elements; {cure}"
        )
    if type_.rank is not None and type_.rank != tensor.ndim:
        raise BuildError(f"{what}, but {tensor.name!r} has rank {tensor.ndim}")
    if not fits(type_, tensor.dtypes):
        several = any(fits(type_, [each]) for each in tensor.dtypes)
        cure = "wrap a kernel for each dtype, with VariantsCallProvider (docs/variants.md)"
        cure = cure if several else "change the kernel"
        raise BuildError(
            f"{what}, but the elements of {tensor.name!r} are {' or '.join(tensor.dtypes)}: "
            f"declare `{tensor.name}: Tensor([…], {type_.dtype})`, or {cure}"
            f"{order(tensor.name, entries)}"
        )
    if type_.is_const and tensor.intent in ("out", "inout"):
        raise BuildError(
            f"{what}, so the kernel does not write to it, but intent={tensor.intent!r} of "
            f"{tensor.name!r} says that it does"
        )


def _struct_or_array(type_: CType, layout: Layout, tensor: spec.Tensor) -> str:
    """Return how a pointer to a struct gets one struct, or the elements of an array of them."""
    fields = {each.name: each.type_.dtype for each in layout.members if not each.lacks}
    if not fields:
        return "a `void *`, in a prototype of your own, takes the elements as they are"
    is_alike = {*fields.values()} == {*tensor.dtypes}
    array = _IN_C.get(tensor.dtypes[0], "void") if is_alike else "void"
    return (
        f"a dict in args=, as in {{{', '.join(f'{name!r}: …' for name in [*fields][:2])}}}, is one "
        f"struct; for an array of them, let prototype= say "
        f"`{'const ' * type_.is_const}{array} *`"
        f"{'' if array != 'void' else ', and pass their bytes, uint8'}"
    )


def _check_rows(what: str, type_: CType, tensor: spec.Tensor, entries: Mapping[str, str]) -> None:
    """Raise BuildError if ``float x[][5]`` gets rows of another size, or not one after another."""
    rank = len(type_.row)
    if not rank:
        return
    if type_.dtype in BYTES and {parse_dtype(each).total_bits for each in tensor.dtypes} != {8}:
        raise BuildError(f"{what}, but {tensor.name!r} has rows of {' or '.join(tensor.dtypes)}")
    row = [None if size is None else _size(f"{size}", entries) for size in type_.row]
    expected, actual = row, [f"{size}" for size in tensor.dims[-rank:]]
    has = f"rows of {', '.join(actual)} elements"
    if tensor.strides is not None:
        expected = ["1"]
        for size in reversed(row):
            expected = [_times(size, expected[0]), *expected]
        steps = tensor.strides if isinstance(tensor.strides, tuple) else [tensor.strides]
        actual = [f"{step}" for step in steps[-rank - 1 :]]
        has = f"the strides {', '.join(actual)}"
    is_alike = len(actual) == len(expected) and all(
        size in (None, own) for size, own in zip(expected, actual, strict=True)
    )
    if not is_alike or (tensor.ndim == rank and type_.first > 1):
        dims = ", ".join(size or "…" for size in row)
        raise BuildError(
            f"{what}, but {tensor.name!r} has {has}: declare "
            f"`{tensor.name}: Tensor([…, {dims}], {tensor.dtypes[0]})`"
        )


def _check_size(what: str, type_: CType, tensor: spec.Tensor) -> None:
    """Raise BuildError if ``float x[3][5]`` gets fewer than 15 elements."""
    dims, length = tensor.dims, type_.first
    if dims and isinstance(dims[0], int) and len(dims) == 1 + len(type_.row):
        length = dims[0]
    sizes = [*dims, *type_.row]
    if tensor.strides is None and not tensor.any_rank and 0 not in sizes:
        ints = [size for size in sizes if isinstance(size, int)]
        row = prod(size for size in type_.row if isinstance(size, int))
        length = prod(ints) // row**2 if len(ints) == len(sizes) else length
    if type_.dtype in BYTES:
        length = length * min(parse_dtype(each).total_bits for each in tensor.element_dtypes) // 8
    if length < type_.first:
        raise BuildError(
            f"{what}, written as an array of {type_.first}, but {tensor.name!r} has {length}"
        )


def _times(first: str | None, second: str | None) -> str:
    """Return a product of sizes; ``?`` for one that is not known, which no size is."""
    if second == "1":
        return first or "?"
    both = f"{first} {second}"
    return f"{int(first or 0) * int(second or 0)}" if re.fullmatch(r"\d+ \d+", both) else "?"


def _size(text: str, entries: Mapping[str, str]) -> str:
    """Return a size in C as the text of an expression of the signature, if it is one."""
    passed = re.sub(r"[A-Za-z_]\w*", lambda name: f"({entries.get(name[0], '?')})", text)
    try:
        parsed = spec.Signature.parse(f"f(x: Tensor([{passed}], int8))", device="cpu")
    except SpecError:
        return f"`{text}`"
    tensor = parsed.params[0]
    return f"{tensor.dims[0]}" if isinstance(tensor, spec.Tensor) else text
