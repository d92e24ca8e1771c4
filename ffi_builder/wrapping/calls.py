"""How a kernel with a prototype is called, and what has to be checked before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    HalideCallProvider,
)
from ffi_builder.providers.arguments import CONSTANTS
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.places import occurrences
from ffi_builder.wrapping.prototype import CType, Prototype, bound_args, llvm_type

if TYPE_CHECKING:
    from ffi_builder.providers.arguments import Entry

_BYTES: Final = ("int8", "uint8")
"""What a pointer points to that may point to anything, as ``char *``."""
_BITS: Final = {"uint16": ("float16", "bfloat16")}
"""Integers as which C handles floats that it lacks."""
_EXPRESSION: Final = r"[A-Za-z_].*[-+*/%(]|[-+*/%(].*[A-Za-z_]"
_UNWRITTEN: Final = ("cls", "default", "doc", "kw_only")
"""Fields of parameters that the text of a signature does not keep."""
_HALIDE: Final = "struct halide_buffer_t"


def called(
    declared: Prototype, signature: spec.Signature, args: Sequence[Entry] | None
) -> tuple[spec.Signature, CallProvider]:
    """Return a signature that checks what the prototype's types need, and a provider.

    An integer that the kernel returns is a status, unless it is a result of the signature.

    Raises:
        BuildError: as :func:`bound`; the kernel returns what nobody takes.
    """
    signature, args = bound(declared, signature, args)
    buffers = any(type_.opaque == _HALIDE for _, type_ in declared.params)
    provider = (HalideCallProvider if buffers else DirectCallProvider)(declared.name, args=args)
    tensors = {tensor.name for tensor in signature.result_tensors}
    passed = {entry for entry in args or () if isinstance(entry, str)} | tensors
    result = declared.result
    if result is None or any(each.name not in passed for each in signature.results):
        return signature, provider
    if result.is_pointer or not re.match("u?int", result.dtype or ""):
        raise BuildError(
            f"{declared.name} returns {result}, which the signature lacks: add a result, as in "
            f"`-> r: {'handle' if result.is_pointer else result.dtype}`"
            f"{', or drop it: prototype=' + repr('void …') if result.is_pointer else ''}"
        )
    return signature, provider if buffers else CheckStatus(provider)


def check_same(given: Prototype, known: Prototype, who: str) -> None:
    """Raise BuildError if a prototype differs from the types that are known otherwise.

    A pointer may be dropped: Numba's LLVM IR returns one from functions without a result.
    """
    drops = given.result is None and known.result is not None and known.result.is_pointer
    of_given = [*(type_ for _, type_ in given.params), given.result]
    of_known = [*(type_ for _, type_ in known.params), None if drops else known.result]
    if len(of_given) != len(of_known) or not all(map(_fit, of_given, of_known)):
        says, defines = (
            f"({', '.join(map(str, types[:-1]))}) -> {types[-1] or 'void'}"
            for types in (of_given, of_known)
        )
        raise BuildError(f"{given.name}: prototype= says {says}, but {who} {defines}")


def _fit(first: CType | None, second: CType | None) -> bool:
    """Return whether two types are passed alike, and not known to point to other numbers."""
    if first is None or second is None or first.llvm != second.llvm:
        return first is second
    dtypes = {each.dtype for each in (first, second) if each.dtype not in (None, *_BYTES)}
    return not first.is_pointer or len(dtypes) < 2 or any(_BITS.get(f"{d}") for d in dtypes)


def bound(
    declared: Prototype, signature: spec.Signature, args: Sequence[Entry] | None
) -> tuple[spec.Signature, Sequence[Entry] | None]:
    """Return a signature that checks what the prototype's types need, and the arguments.

    Parameters of the kernel get the parameter, symbol or result of their name. A size that the
    kernel takes as a narrower integer gets that integer's range.

    Raises:
        BuildError: the prototype's types differ from those of the signature; the signature lacks
            some of its names.
    """
    params = {path: spec.required(param) for path, param in spec.with_paths(signature.params)}
    sizes = symbols(signature)
    if args is None:
        results = [result.name for result in signature.results]
        args = bound_args(declared, [*params, *sizes, *results])
    known = {**sizes, **params, **{each.name: each for each in signature.result_tensors}}
    numbers = {each.name: each for each in signature.results if isinstance(each, spec.Var)}
    _check_count(declared, args, known)
    narrow: dict[str, str] = {}
    conditions: list[str] = []
    entries = _in_order(params, signature) if args is None else args
    for (own, type_), entry in zip(declared.params, entries, strict=False):
        what = f"{declared.name}: parameter {own or entry} is {type_}"
        item = known.get(entry) if isinstance(entry, str) else entry
        if isinstance(item, spec.Tensor):
            _check_tensor(what, type_, item)
        elif isinstance(item, spec.Var) and item.dtype != "handle":
            _check_number(what, type_, item.name)
            if item.name not in params and _is_narrower(type_, item.dtype):
                narrow[item.name] = f"{type_.dtype}"
            elif llvm_type(item.dtype) != type_.llvm:
                raise BuildError(
                    f"{what}, but {item.name!r} is {item.dtype}: declare `{item.name}: "
                    f"{type_.dtype}`"
                )
        elif isinstance(entry, str) and entry in numbers:
            _check_result(what, type_, numbers[entry])
        elif isinstance(item, (int, float)):
            _check_number(what, type_, item)
            _check_constant(what, type_, item)
        elif isinstance(entry, str) and re.search(_EXPRESSION, entry) and not type_.is_pointer:
            if INT_RANGES.get(f"{type_.dtype}", (-1, 0))[0] == 0:
                conditions.append(f"0 <= {entry}")  # the provider checks the other end
        elif item is None and entry is None and not type_.is_pointer:
            raise BuildError(f"{what}, and None is NULL")
    conditions += [f"{name}: {dtype}" for name, dtype in narrow.items()]
    return with_conditions(signature, conditions), args


def _in_order(params: Mapping[str, spec.Param], signature: spec.Signature) -> list[str]:
    """Return what is passed without ``args=``, up to the first of which no one argument is made."""
    given = [item for item in params.items() if not isinstance(item[1], CONSTANTS)]
    single = takewhile(lambda item: isinstance(item[1], (spec.Tensor, spec.Var)), given)
    names = [path for path, _ in single]
    rest = [] if len(names) < len(given) else [each.name for each in signature.result_tensors]
    return [*names, *rest]


def _check_constant(what: str, type_: CType, number: float) -> None:
    """Raise BuildError for a constant that the kernel's type does not hold."""
    low, high = INT_RANGES.get(f"{type_.dtype}", (0, 0))
    is_int = type_.dtype in INT_RANGES
    if is_int != isinstance(number, int) or (is_int and not low <= number <= high):
        raise BuildError(f"{what}, which is not {number!r}: write a number of that type")


def _check_count(
    declared: Prototype, args: Sequence[Entry] | None, known: Mapping[str, object]
) -> None:
    """Raise BuildError for another number of arguments, if each is passed as one."""
    single = (spec.Tensor, spec.Var, int, float, bytes, type(None))
    items = [known.get(e, e) if isinstance(e, str) else e for e in args or ()]
    count = len(declared.params)
    if args is None or len(args) == count or not all(isinstance(item, single) for item in items):
        return
    names = ", ".join(name or "_" for name, _ in declared.params)
    raise BuildError(
        f"{declared.name} takes {count} parameters ({names}), but args= has {len(args)}: write an "
        f"entry for each; None passes NULL"
    )


def _check_number(what: str, type_: CType, number: object) -> None:
    if type_.is_pointer:
        raise BuildError(
            f"{what}, but {number!r} is a number; None passes NULL, and a tensor of rank 0, as "
            f"`a: Tensor([], float64)`, the address of a number"
        )


def symbols(signature: spec.Signature) -> dict[str, spec.Var]:
    """Return the sizes and strides in a signature, by their names."""
    uses = occurrences(signature.params)
    return {variable.name: variable for _, entry in uses for variable in variables(entry)}


def _is_narrower(type_: CType, dtype: str) -> bool:
    if type_.dtype not in INT_RANGES or dtype not in INT_RANGES:
        return False
    return INT_RANGES[type_.dtype][1] < INT_RANGES[dtype][1]


def with_conditions(signature: spec.Signature, conditions: Sequence[str]) -> spec.Signature:
    """Return the signature with more conditions, and dtypes of symbols, as text."""
    if not conditions:
        return signature
    text = str(signature)
    more = ", ".join(conditions)
    parsed = spec.Signature.parse(f"{text}{', ' if ' where ' in text else ' where '}{more}")
    unwritten = {
        each.name: {field: getattr(each, field) for field in _UNWRITTEN if hasattr(each, field)}
        for each in (*signature.params, *signature.results)
    }
    return replace(parsed.with_params(**unwritten), doc=signature.doc)


def _check_result(what: str, type_: CType, result: spec.Var) -> None:
    """Raise BuildError if the kernel does not write a number of the result's dtype by a pointer."""
    if not type_.is_pointer or type_.is_const or type_.opaque is not None:
        raise BuildError(f"{what}, but the kernel writes the result {result.name!r} by a pointer")
    if type_.dtype not in (None, *_BYTES, result.dtype) and result.dtype != "handle":
        raise BuildError(
            f"{what}, but the result {result.name!r} is {result.dtype}: declare "
            f"`-> {result.name}: {type_.dtype}`"
        )


def _check_tensor(what: str, type_: CType, tensor: spec.Tensor) -> None:
    """Raise BuildError if no pointer is passed, or one to other elements, or for other accesses."""
    if not type_.is_pointer:
        raise BuildError(f"{what}, but {tensor.name!r} is a tensor, which is passed as a pointer")
    if type_.opaque not in (None, _HALIDE):
        raise BuildError(
            f"{what}, but {tensor.name!r} is passed as the address of its elements; let a function "
            f"in C make what the kernel takes, or write a provider"
        )
    allowed = (None, *_BYTES, *tensor.dtypes)
    is_bits = all(dtype in _BITS.get(f"{type_.dtype}", ()) for dtype in tensor.dtypes)
    if type_.dtype not in allowed and not is_bits:
        raise BuildError(
            f"{what}, but the elements of {tensor.name!r} are {' or '.join(tensor.dtypes)}: "
            f"declare `{tensor.name}: Tensor([…], {type_.dtype})`, or change the prototype"
        )
    if type_.is_const and tensor.intent in ("out", "inout"):
        raise BuildError(
            f"{what}, so the kernel does not write to it, but intent={tensor.intent!r} of "
            f"{tensor.name!r} says that it does"
        )
