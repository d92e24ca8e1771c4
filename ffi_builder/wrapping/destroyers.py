"""``destroy=``: the functions that destroy the handles which kernels make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ffi_builder import BuildError, CompileError, spec
from ffi_builder.extending import did_you_mean
from ffi_builder.runtime.extending import Item, symbols_of
from ffi_builder.wrapping.c_types import POINTER, Prototype
from ffi_builder.wrapping.llvm_ir import LlvmFunctions


def with_destroyers(
    signatures: Sequence[spec.Signature], destroy: str | Mapping[str, str] | None
) -> tuple[list[spec.Signature], list[spec.Signature]]:
    """Return the signatures with the destroyers of handles, and those of destroyers they lack.

    Raises:
        BuildError: no result of that name is a handle, or several are and one name is given; a
            destroyer does not take one handle.
    """
    named = _named(signatures, _by_result(signatures, destroy))
    destroyers = dict.fromkeys(
        each.destroy for signature in named for each in _handles(signature) if each.destroy
    )
    own = [signature.name for signature in named]
    marked = [_marked(each) if each.name in destroyers else each for each in named]
    texts = (f"{name}(h: handle) where h.present" for name in destroyers if name not in own)
    return marked, [_marked(spec.Signature.parse(text)) for text in texts]


def args_of(prototype: Prototype) -> list[str] | None:
    """Return ``args=`` for a destroyer, which may take the address of the handle."""
    types = [type_ for _, type_ in prototype.params]
    return ["&h"] if [type_.opaque for type_ in types] == [POINTER] else None


def destroys(signature: spec.Signature) -> bool:
    """Return whether a function destroys the handle that it takes."""
    own = (each for each in signature.params if isinstance(each, spec.Var))
    return any(each.destroy == signature.name for each in own)


def defining(name: str, kernel: Item, items: Sequence[Item], ir: LlvmFunctions | None) -> Item:
    """Return the kernel, or what of ``link=`` defines a destroyer that it lacks.

    Raises:
        CompileError: none of them does. Libraries that the system finds by name are not read.
    """
    if ir is not None and ir.declaration(name) is not None:
        return kernel
    names = list[str]()
    for item in items if ir is not None else (kernel, *items):
        symbols = symbols_of(item)
        own = [each.name for each in symbols or () if each.defined and not each.data]
        if symbols is None or name in own:
            return item
        names += own
    raise CompileError(
        f"wrap: destroy= has {name!r}, which neither the kernel nor what link= lists defines"
        f"{did_you_mean(name, names)}; add the library that has it to link=, as '-lc' for 'free'"
    )


def _handles(signature: spec.Signature) -> list[spec.Var]:
    """Return the results that are handles."""
    return [r for r in signature.results if isinstance(r, spec.Var) and r.dtype == "handle"]


def _by_result(
    signatures: Sequence[spec.Signature], destroy: str | Mapping[str, str] | None
) -> Mapping[str, str]:
    names = [*dict.fromkeys(each.name for one in signatures for each in _handles(one))]
    if isinstance(destroy, str):
        if len(names) != 1:
            listed = ", ".join(f"{name!r}: {destroy!r}" for name in names) or "'made': '…'"
            raise BuildError(
                f"wrap: destroy={destroy!r} goes with one result that is a handle, but the "
                f"signature has {', '.join(names) or 'none'}: declare `-> made: handle`, or write "
                f"destroy={{{listed}}}"
            )
        return {names[0]: destroy}
    for name in destroy or ():
        if name not in names:
            raise BuildError(
                f"wrap: destroy= has {name!r}, but no result of that name is a handle"
                f"{did_you_mean(name, names)}; handles are {', '.join(names) or 'none'}"
            )
    return destroy or {}


def _named(
    signatures: Sequence[spec.Signature], destroy: Mapping[str, str]
) -> list[spec.Signature]:
    return [
        each.with_params(
            **{r.name: {"destroy": destroy[r.name]} for r in _handles(each) if r.name in destroy}
        )
        for each in signatures
    ]


def _marked(signature: spec.Signature) -> spec.Signature:
    """Return the signature of a destroyer, whose handle says that the call destroys it."""
    handles = [p for p in signature.params if isinstance(p, spec.Var) and p.dtype == "handle"]
    if len(handles) != 1:
        raise BuildError(
            f"wrap: `{signature.name}` destroys a handle, so it takes one, but it has "
            f"{', '.join(each.name for each in handles) or 'none'}: "
            f"{signature.name}(h: handle) where h.present"
        )
    if any(each.destroy == signature.name for each in _handles(signature)):
        raise BuildError(f"wrap: `{signature.name}` would destroy its own result")
    return signature.with_params(**{handles[0].name: {"destroy": signature.name}})
