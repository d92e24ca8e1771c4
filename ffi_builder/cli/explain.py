"""``explain``: print the plan of a signature, or the code of its wrapper."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ffi_builder.cli.options import add_convention, add_signature, args_of, provider_of
from ffi_builder.spec import Signature

if TYPE_CHECKING:
    from ffi_builder.providers import CallProvider

HELP = "print what a wrapper checks, or its code"
DESCRIPTION = """\
Print the checks of a signature's wrapper, in their order, and the errors that they raise (plan); or
the wrapper as MLIR, LLVM IR, or assembly for this machine.
"""
EXAMPLES = """\
examples:
  ffi-builder explain --device cpu --signature 'f(x: Tensor([n, 4], float32), a: int32)'
  ffi-builder explain --stage asm --signature 'f(n: int32) where n % 16 == 0'
  ffi-builder explain --stage mlir --convention memref --device cpu \\
      --signature 'add(x: Tensor([n], float32), y: Tensor([n], float32))'
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    add_signature(parser, many=False)
    parser.add_argument(
        "--stage",
        choices=("plan", "mlir", "llvm", "asm"),
        default="plan",
        help="what to print (default plan; the others need the extras mlir and jit)",
    )
    add_convention(parser, "nop")


def run(given: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    signature = Signature.parse(given.signature, device=given.device)
    made = provider_of(given)
    # A signature that returns a scalar needs the default provider of `emit`, which calls nothing.
    is_class = isinstance(made, type)
    name = given.function or signature.name
    provider = made(name, args=args_of(given.args)) if is_class else None
    print(_text(signature, given.stage, provider).rstrip())
    return 0


def _text(signature: Signature, stage: str, provider: CallProvider | None) -> str:
    if stage == "plan":
        from ffi_builder import explain

        return explain(signature)
    from ffi_builder import runtime, testing

    if stage == "mlir":
        return testing.emit(signature, provider)
    lowered = runtime.lower(testing.emit(signature, provider, whole=True))
    text = lowered.llvm_ir if stage == "llvm" else lowered.assembly
    assert text is not None, "a module that was lowered from MLIR has every stage"
    return text
