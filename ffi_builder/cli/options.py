"""Options that several commands share: the signature, the convention, the target."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from ffi_builder.errors import SpecError
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
    """``--convention`` and ``--callee``."""
    known = "; ".join(f"{name}: {words}" for name, words in CONVENTIONS.items())
    parser.add_argument(
        "--convention",
        choices=CONVENTIONS,
        default=default,
        help=f"how the kernel is called (default {default}). {known}",
    )
    parser.add_argument(
        "--callee", metavar="NAME", help="symbol of the kernel (default: the signature's name)"
    )


def signature_of(text: str, device: str | None) -> Signature:
    """The signature that a text describes.

    Raises:
        SpecError: with a hint at ``--device``, where that is what is missing.
    """
    try:
        return Signature.parse(text, device=device)
    except SpecError as error:
        if "no device_type given" in str(error):
            raise SpecError(f"{error}\n(or here: --device cpu)") from error
        raise


def provider_of(convention: str, callee: str) -> CallProvider:
    """The call provider of a convention."""
    from ffi_builder import providers

    match convention:
        case "memref":
            return providers.MemRefCallProvider(callee)
        case "direct":
            return providers.DirectCallProvider(callee)
        case "pack":
            return providers.DynamicParamPackCallProvider(callee)
        case _:
            return providers.NopCallProvider()
