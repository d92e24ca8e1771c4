"""How a kernel with a prototype is called, and what has to be checked before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.providers import CallProvider, CheckStatus, DirectCallProvider
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.places import occurrences
from ffi_builder.wrapping.prototype import CType, Prototype, bound_args

if TYPE_CHECKING:
    from ffi_builder.providers.arguments import Entry

_BYTES: Final = ("int8", "uint8")
"""What a pointer points to that may point to anything, as ``char *``."""


def called(
    declared: Prototype, signature: spec.Signature, args: Sequence[Entry] | None
) -> tuple[spec.Signature, CallProvider]:
    """Return a signature that checks what the prototype's types need, and a provider.

    Parameters of the kernel get the parameter, symbol or result of their name. A size that the
    kernel takes as a narrower integer gets that integer's range. An integer that the kernel
    returns is a status, unless the signature has results.

    Raises:
        BuildError: the prototype's pointers are to other elements than the tensors have, or const
            where the kernel writes; the signature lacks some of its names.
    """
    params = {path: spec.required(param) for path, param in spec.with_paths(signature.params)}
    symbols = {var.name: var for var in _symbols(signature)}
    if args is None:
        results = [result.name for result in signature.results]
        args = bound_args(declared, [*params, *symbols, *results])
    known = {**params, **{each.name: each for each in signature.result_tensors}}
    narrow: dict[str, str] = {}
    for (own, type_), entry in zip(declared.params, args or (), strict=False):
        size = symbols.get(entry) if isinstance(entry, str) and entry not in params else None
        if size is not None and _is_narrower(type_, size):
            narrow[size.name] = f"{type_.dtype}"
        tensor = known.get(entry) if isinstance(entry, str) else entry
        if isinstance(tensor, spec.Tensor):
            _check_tensor(f"{declared.name}: parameter {own or entry}", type_, tensor)
    signature = _narrowed(signature, narrow)
    provider = DirectCallProvider(declared.name, args=args)
    result = declared.result
    if result is None or result.is_pointer or signature.results:
        return signature, provider
    is_status = re.match("u?int", result.dtype or "")
    return signature, CheckStatus(provider) if is_status else provider


def _symbols(signature: spec.Signature) -> Iterable[spec.Var]:
    for _, entry in occurrences(signature.params):
        yield from variables(entry)


def _is_narrower(type_: CType, symbol: spec.Var) -> bool:
    if type_.is_pointer or type_.dtype not in INT_RANGES or symbol.dtype not in INT_RANGES:
        return False
    return INT_RANGES[type_.dtype][1] < INT_RANGES[symbol.dtype][1]


def _narrowed(signature: spec.Signature, dtypes: dict[str, str]) -> spec.Signature:
    """Return the signature with other dtypes of symbols."""
    if not dtypes:
        return signature
    text = str(signature)
    more = ", ".join(f"{name}: {dtype}" for name, dtype in dtypes.items())
    return spec.Signature.parse(f"{text}{', ' if ' where ' in text else ' where '}{more}")


def _check_tensor(what: str, type_: CType, tensor: spec.Tensor) -> None:
    """Raise BuildError if a pointer is to other elements, or allows other accesses."""
    if not type_.is_pointer:
        return
    if type_.dtype not in (None, *_BYTES, *tensor.dtypes):
        raise BuildError(
            f"{what} points to {type_.dtype}, but the elements of {tensor.name!r} are "
            f"{' or '.join(tensor.dtypes)}"
        )
    if type_.is_const and tensor.intent in ("out", "inout"):
        raise BuildError(
            f"{what} is const, so the kernel does not write to it, but intent={tensor.intent!r} of "
            f"{tensor.name!r} says that it does"
        )
