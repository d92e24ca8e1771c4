"""Options that several commands share: the signature, the convention, the target."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from ffi_builder.errors import CompileError
from ffi_builder.spec import Signature

if TYPE_CHECKING:
    from ffi_builder.providers import CallProvider

CONVENTIONS: Final = {
    "memref": "MLIR memrefs, expanded: what func.func with memref parameters is lowered to",
    "direct": "plain C arguments: a tensor is its data pointer",
    "pack": "void** with one pointer a parameter",
    "nop": "nothing is called: the wrapper only checks",
}


def add_signature(parser: argparse.ArgumentParser, *, many: bool) -> None:
    """``--signature`` and ``--device``."""
    parser.add_argument(
        "--signature",
        required=True,
        metavar="TEXT",
        action="append" if many else "store",
        help="what the function accepts, as docs/signatures.md has it"
        + ("; may be given several times" if many else ""),
    )
    parser.add_argument(
        "--device",
        metavar="TYPE",
        help="device type of tensors that do not say theirs: cpu, cuda, …",
    )


def add_convention(parser: argparse.ArgumentParser, default: str) -> None:
    """``--convention``, ``--callee`` and ``--args``; left out, the convention is None."""
    known = "; ".join(f"{name}: {words}" for name, words in CONVENTIONS.items())
    parser.add_argument(
        "--convention",
        choices=CONVENTIONS,
        help=f"how the kernel is called (default {default}). {known}",
    )
    parser.add_argument(
        "--callee", metavar="NAME", help="symbol of the kernel (default: the signature's name)"
    )
    parser.add_argument(
        "--args",
        metavar="LIST",
        help="what the kernel gets, in order: parameters, parts of them and expressions, as in "
        "'x, x.ndim, n * 2' (default: all parameters)",
    )


def list_of(option: str, text: str) -> list[str]:
    """What stands between commas, those in brackets left alone.

    Raises:
        CompileError: if there is nothing between two of them.
    """
    entries, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            entries.append("")
        else:
            entries[-1] += letter
    entries = [entry.strip() for entry in entries]
    if "" in entries and entries != [""]:
        raise CompileError(f"{option} {text!r}: there is nothing between two commas, or at an end")
    return [entry for entry in entries if entry]


def signature_of(text: str, device: str | None) -> Signature:
    """The signature that a text describes.

    Raises:
        SpecError: if it describes none.
    """
    return Signature.parse(text, device=device)


def provider_of(convention: str, callee: str, args: str | None) -> CallProvider:
    """The call provider of a convention.

    Raises:
        CompileError: for ``args`` where nothing is called.
    """
    from ffi_builder import providers

    chosen = None if args is None else list_of("--args", args)
    match convention:
        case "memref":
            return providers.MemRefCallProvider(callee, args=chosen)
        case "direct":
            return providers.DirectCallProvider(callee, args=chosen)
        case "pack":
            return providers.DynamicParamPackCallProvider(callee, args=chosen)
        case _:
            if chosen is not None:
                raise CompileError("--args goes with a --convention that calls something")
            return providers.NopCallProvider()
