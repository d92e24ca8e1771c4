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
from ffi_builder.wrapping.prototype import HALIDE_BUFFER, CType, Prototype, bound_args, llvm_type

if TYPE_CHECKING:
    from ffi_builder.providers.arguments import Entry

_BYTES: Final = ("int8", "uint8")
"""What a pointer points to that may point to anything, as ``char *``."""
_BITS: Final = {"uint16": ("float16", "bfloat16")}
"""Integers as which C handles floats that it lacks."""
_BY_POSITION: Final = (
    "The signature has none of the kernel's names, so arguments go by position; args=[…] lists "
    "them in another order"
)
_EXPRESSION: Final = r"[A-Za-z_].*[-+*/%(]|[-+*/%(].*[A-Za-z_]"
_UNWRITTEN: Final = ("cls", "default", "doc", "kw_only")
"""Fields of parameters that the text of a signature does not keep."""


def called(
    declared: Prototype, signature: spec.Signature, args: Sequence[Entry] | None
) -> tuple[spec.Signature, CallProvider]:
    """Return a signature that checks what the prototype's types need, and a provider.

    An integer that the kernel returns is a status, unless it is a result of the signature.

    Raises:
        BuildError: as :func:`bound`; the kernel returns what nobody takes.
    """
    signature, args = bound(declared, signature, args)
    buffers = any(type_.opaque == HALIDE_BUFFER for _, type_ in declared.params)
    provider = (HalideCallProvider if buffers else DirectCallProvider)(declared.name, args=args)
    tensors = {tensor.name for tensor in signature.result_tensors}
    passed = {entry for entry in args or () if isinstance(entry, str)} | tensors
    result = declared.result
    returned = [each for each in signature.results if each.name not in passed]
    match returned:
        case [spec.Var(name, dtype)] if result and _llvm_type(dtype) != result.llvm:
            raise BuildError(
                f"{declared.name} returns {result}, but the result {name!r} is {dtype}: declare "
                f"`-> {name}: {result.dtype or 'handle'}`"
            )
        case _:
            pass
    if result is None or returned:
        return signature, provider
    if result.is_pointer or not re.match("u?int", result.dtype or ""):
        raise BuildError(
            f"{declared.name} returns {result}, which the signature lacks: "
            f"{'drop it by prototype=' + repr('void …') + ', or ' if result.is_pointer else ''}"
            f"add a result, as in `-> r: {'handle' if result.is_pointer else result.dtype}`"
        )
    return signature, provider if buffers else CheckStatus(provider)


def _llvm_type(dtype: str) -> str:
    """Return the type of a returned number or pointer."""
    return "ptr" if dtype == "handle" else llvm_type(dtype)


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
    if first.opaque != second.opaque and None not in (first.to, second.to):
        return False
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
    entries, is_whole = (args, True) if args is not None else _in_order(params, signature)
    try:
        if is_whole:
            _check_count(declared, entries, known)
        checks = _Checks(declared.name, known, params, numbers)
        for (own, type_), entry in zip(declared.params, entries, strict=False):
            checks.check(own, type_, entry)
    except BuildError as error:
        raise (error if args is not None else BuildError(f"{error}. {_BY_POSITION}")) from None
    unwritten = {name: {"intent": "in"} for name in checks.only_read(signature)}
    return with_conditions(signature.with_params(**unwritten), checks.conditions()), args


class _Checks:
    """Compares the parameters of a prototype with what is passed, and collects what to check."""

    def __init__(
        self,
        function: str,
        known: Mapping[str, spec.Param],
        params: Mapping[str, spec.Param],
        numbers: Mapping[str, spec.Var],
    ) -> None:
        self.function, self.known, self.params, self.numbers = function, known, params, numbers
        self.narrow = dict[str, str]()
        self.ranges = list[str]()
        self.read, self.written = set[str](), set[str]()

    def check(self, own: str, type_: CType, entry: Entry) -> None:
        """Compare a parameter with an entry of ``args=``. Raises BuildError."""
        what = f"{self.function}: parameter {own or entry} is {type_}"
        item = self.known.get(entry) if isinstance(entry, str) else entry
        if isinstance(item, spec.Tensor):
            _check_tensor(what, type_, item)
            (self.read if type_.is_const else self.written).add(item.name)
        elif isinstance(item, spec.Var) and item.dtype != "handle":
            _check_number(what, type_, item.name)
            if item.name not in self.params and _is_narrower(type_, item.dtype):
                self.narrow[item.name] = f"{type_.dtype}"
            elif llvm_type(item.dtype) != type_.llvm:
                raise BuildError(
                    f"{what}, but {item.name!r} is {item.dtype}: declare `{item.name}: "
                    f"{type_.dtype}`"
                )
        elif isinstance(entry, str) and entry in self.numbers:
            _check_result(what, type_, self.numbers[entry])
        elif isinstance(item, (int, float)):
            _check_number(what, type_, item)
            _check_constant(what, type_, item)
        elif isinstance(entry, str) and re.search(_EXPRESSION, entry) and not type_.is_pointer:
            if INT_RANGES.get(f"{type_.dtype}", (-1, 0))[0] == 0:
                self.ranges.append(f"0 <= {entry}")  # the provider checks the other end
        elif item is None and entry is None and not type_.is_pointer:
            raise BuildError(f"{what}, and None is NULL")

    def conditions(self) -> list[str]:
        """Return what the signature has to check, as text."""
        return [*self.ranges, *(f"{name}: {dtype}" for name, dtype in self.narrow.items())]

    def only_read(self, signature: spec.Signature) -> list[str]:
        """Return the tensors of unknown intent that the kernel gets by const pointers alone."""
        return [
            param.name
            for param in signature.params
            if isinstance(param, spec.Tensor)
            and param.intent is None
            and param.name in self.read - self.written
        ]


def _in_order(
    params: Mapping[str, spec.Param], signature: spec.Signature
) -> tuple[list[str], bool]:
    """Return what is passed without ``args=``, up to the first of which no one argument is made.

    Also return whether that is everything.
    """
    given = [item for item in params.items() if not isinstance(item[1], CONSTANTS)]
    single = takewhile(lambda item: isinstance(item[1], (spec.Tensor, spec.Var)), given)
    names = [path for path, _ in single]
    if len(names) < len(given):
        return names, False
    return [*names, *(each.name for each in signature.result_tensors)], True


def _check_constant(what: str, type_: CType, number: float) -> None:
    """Raise BuildError for a constant that the kernel's type does not hold."""
    low, high = INT_RANGES.get(f"{type_.dtype}", (0, 0))
    is_int = type_.dtype in INT_RANGES
    if is_int != isinstance(number, int) or (is_int and not low <= number <= high):
        raise BuildError(f"{what}, which is not {number!r}: write a number of that type")


def _check_count(declared: Prototype, args: Sequence[Entry], known: Mapping[str, object]) -> None:
    """Raise BuildError for another number of arguments, if each is passed as one."""
    single = (spec.Tensor, spec.Var, int, float, bytes, type(None))
    items = [known.get(e, e) if isinstance(e, str) else e for e in args]
    count = len(declared.params)
    if len(args) == count or not all(isinstance(item, single) for item in items):
        return
    params = ", ".join(f"{name or '_'}: {type_}" for name, type_ in declared.params)
    passed = ", ".join(f"{each}" for each in args)
    raise BuildError(
        f"{declared.name} takes {count} parameters ({params}), but {len(args)} are passed "
        f"({passed}): write args=[…] with an entry for each, which may be a size; None passes NULL"
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
    if type_.opaque not in (None, HALIDE_BUFFER):
        raise BuildError(
            f"{what}, but {tensor.name!r} is passed as the address of its elements; let a function "
            f"in C make what the kernel takes, or write a provider"
        )
    if type_.rank is not None and type_.rank != tensor.ndim:
        raise BuildError(f"{what}, but {tensor.name!r} has rank {tensor.ndim}")
    allowed = (None, *(() if type_.opaque else _BYTES), *tensor.dtypes)
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
