"""``wrap``: make a library, an object or IR from a kernel and signatures."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ffi_builder.cli.options import (
    CONVENTIONS,
    IMAGES,
    add_convention,
    add_launch,
    add_signature,
    args_of,
    check_launch_options,
    is_image,
    launch_provider,
    provider_of,
)
from ffi_builder.cli.output import print_note
from ffi_builder.errors import BuildError, CompileError
from ffi_builder.spec import Signature
from ffi_builder.suggest import did_you_mean

if TYPE_CHECKING:
    from ffi_builder.runtime import LoweredModule
    from ffi_builder.wrapping.c_types import Prototype

HELP = "make a library, an object or IR from a kernel and a signature"
DESCRIPTION = """\
Read a kernel (MLIR, LLVM IR, an object, an archive, a shared library, or a CUDA image), attach a
validating TVM-FFI entry point for each signature, and write a shared library, an object, LLVM IR,
MLIR or assembly, depending on the suffix of the output: .so .o .ll .mlir .s

MLIR in other dialects than LLVM's is lowered by a pipeline for linalg, affine, scf, memref and
func; --pipeline sets another one, or `none`.
"""
EXAMPLES = """\
examples:
  ffi-builder wrap kernel.mlir --device cpu --convention memref -o add_one.so \\
      --signature 'add_one(x: Tensor([n], float32), y: Tensor([n], float32))'
  ffi-builder wrap kernel.o --device cpu -o scale.so \\
      --prototype 'void scale_f32(float *x, int64_t n, float factor)' \\
      --signature 'scale(x: Tensor([n], float32), factor: float32)'
  ffi-builder wrap kernel.ll --device cuda --convention pack --triple aarch64-linux-gnu -o k.o \\
      --signature 'k(x: Tensor([n], float16), s: EnvStream)' --header k.h
  ffi-builder wrap saxpy.ptx --device cuda --grid 'ceildiv(n, 128)' --block 128 -o saxpy.so \\
      --signature 'saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32))
                   where n: int32' \\
      --args 'a, x, y, n'
"""
_SUFFIXES: Final = (".so", ".o", ".ll", ".mlir", ".s")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    images = ", ".join(IMAGES)
    parser.add_argument("kernel", type=Path, help=f"a file .mlir, .ll, .o, .a, .so, {images}")
    add_signature(parser, many=True)
    add_convention(parser, "memref for a kernel in MLIR, direct with the types of --prototype")
    parser.add_argument(
        "--prototype",
        metavar="C",
        help="the kernel's declaration in C, or the path of a header that has it; it is compared "
        "with the signature, and an integer that the kernel returns is a status",
    )
    parser.add_argument(
        *("-I", "--include"),
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="a folder of headers that --prototype includes",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="PATH", help="the file to write"
    )
    parser.add_argument("--pipeline", metavar="PASSES", help="an MLIR pass pipeline, or none")
    parser.add_argument(
        "--opt-level",
        type=int,
        default=2,
        choices=range(4),
        help="optimization level of LLVM (default 2)",
    )
    parser.add_argument(
        "--link",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="more .ll, .o, .a or .so files to link",
    )
    parser.add_argument(
        "--cpu", default="baseline", help="baseline (default), host, or LLVM's name"
    )
    parser.add_argument("--triple", help="target triple (default: this machine)")
    parser.add_argument("--header", type=Path, metavar="PATH", help="write a header for C and C++")
    parser.add_argument("--stub", type=Path, metavar="PATH", help="write a stub (.pyi)")
    parser.add_argument(
        "--export-only", action="store_true", help="hide all symbols except the wrapped functions"
    )
    parser.add_argument(
        "--sanitize",
        action="store_true",
        help="let the wrappers look for mistakes of their kernels (slow, for debugging)",
    )
    add_launch(parser)


def run(given: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    from ffi_builder import runtime
    from ffi_builder.ir import PlainModule

    _check_options(given)
    signatures = [Signature.parse(text, device=given.device) for text in given.signature]
    check_launch_options(given)
    is_mlir = given.kernel.suffix == ".mlir"
    link: list[Path] = list(given.link)
    # In all other cases the callee may be in a file that is linked now or later.
    complete = is_mlir and given.output.suffix == ".so" and not link
    found = _prototypes(signatures, given)
    hook = _attach_hook(signatures, given, found, complete=complete)
    pipeline = None
    module: Any = PlainModule()
    for each in found.values():
        module.declare(*each.declaration())
    if is_mlir:
        module = given.kernel.read_text()
        pipeline = _pipeline(given.pipeline, module)
    elif given.pipeline is not None:
        raise CompileError(f"--pipeline needs MLIR, and {given.kernel} is something else")
    elif not is_image(given.kernel):
        link.insert(0, given.kernel)
    lowered = runtime.lower(
        module, pipeline=pipeline, post_compile_hooks=[hook], opt_level=given.opt_level, link=link
    )
    _write(lowered, given, [signature.name for signature in signatures])
    return 0


def _check_options(given: argparse.Namespace) -> None:
    suffix = given.output.suffix
    if suffix not in _SUFFIXES:
        raise CompileError(
            f"{given.output}: the suffix says what to write; expected one of {', '.join(_SUFFIXES)}"
        )
    if suffix not in (".so", ".o"):
        for name in ("triple", "header", "stub", "export_only"):
            if getattr(given, name):
                raise CompileError(f"--{name.replace('_', '-')} goes with an output .so or .o")
    for name in ("callee", "args"):
        shared = name == "args" and isinstance(args_of(given.args), dict)
        if getattr(given, name) is not None and len(given.signature) > 1 and not shared:
            hint = "; name the others after their kernels" if name == "callee" else ""
            raise CompileError(f"--{name} goes with one --signature{hint}")


def _attach_hook(
    signatures: Sequence[Signature],
    given: argparse.Namespace,
    prototypes: Mapping[str, Prototype],
    *,
    complete: bool,
) -> Callable[[Any], None]:
    def hook(module: Any) -> None:
        from ffi_builder.builder.wrapper import attach
        from ffi_builder.wrapping.calls import called

        for signature in signatures:
            if signature.name in prototypes:
                declared, args = prototypes[signature.name], args_of(given.args)
                checked, provider = called(declared, signature, args)
                attach(module, checked, provider, sanitize=given.sanitize)
                continue
            callee = given.callee or signature.name
            if is_image(given.kernel):
                provider = launch_provider(given, callee)
                attach(module, signature, provider, sanitize=given.sanitize)
                continue
            if complete and given.convention != "nop":
                _check_callee(module, callee, given.kernel)
            convention = given.convention or _default_convention(module, callee, given.kernel)
            provider = provider_of(convention, callee, given.args)
            attach(module, signature, provider, sanitize=given.sanitize)

    return hook


def _prototypes(signatures: Sequence[Signature], given: argparse.Namespace) -> dict[str, Prototype]:
    """Return the prototypes of the kernels by the names of the signatures, where they have some.

    Raises:
        CompileError: a prototype is not read, or given beside a convention or for MLIR.
    """
    from ffi_builder.wrapping.llvm_ir import defined_in
    from ffi_builder.wrapping.prototype import read

    is_code = given.kernel.suffix != ".mlir" and not is_image(given.kernel)
    if given.prototype is None:
        if given.kernel.suffix != ".ll" or given.convention is not None:
            return {}
        text = given.kernel.read_text()
        return {s.name: defined_in(text, given.callee or s.name) for s in signatures}
    if given.convention is not None or not is_code:
        what = "a --convention" if is_code else f"{given.kernel}, which has the types"
        raise CompileError(f"--prototype does not go with {what}")
    where = {"include": given.include, "target": given.triple}
    return {s.name: read(given.prototype, given.callee, s.name, **where) for s in signatures}


def _default_convention(module: Any, callee: str, kernel: Path) -> str:
    """Return ``memref`` if the module declares the callee, so that its type is compared.

    Raises:
        CompileError: the module does not.
    """
    if callee in _symbols(module):
        return "memref"
    choices = ", ".join(f"{name} ({words})" for name, words in CONVENTIONS.items())
    raise CompileError(
        f"--prototype or --convention is needed: {kernel} has no MLIR type of @{callee} to compare "
        f"with --signature, and a call that does not fit crashes; choose one of {choices}"
    )


def _symbols(module: Any) -> list[str]:
    operations = [view.operation for view in module.body.operations]
    return [op.attributes["sym_name"].value for op in operations if "sym_name" in op.attributes]


def _check_callee(module: Any, callee: str, kernel: Path) -> None:
    names = _symbols(module)
    if callee.startswith("@"):
        raise BuildError(f"--callee: expected the name without '@', but got {callee!r}")
    if callee not in names:
        meant = did_you_mean(callee, names, "@{}")
        raise BuildError(
            f"{kernel} has no @{callee}{meant} (it has {', '.join(names) or 'nothing'}; say which "
            f"with --callee, or link the file that has it with --link)"
        )


def _pipeline(given: str | None, text: str) -> str | None:
    """Return the given pipeline, or the one that the dialects of the text need."""
    if given is not None:
        return None if given == "none" else given
    from ffi_builder.wrapping.wrap import pipeline_for

    return pipeline_for(text)


def _write(lowered: LoweredModule, given: argparse.Namespace, names: list[str]) -> None:
    options: dict[str, Any] = {
        "cpu": given.cpu,
        "triple": given.triple,
        "export_only": names if given.export_only else None,
        "header": given.header,
        "stub": given.stub,
    }
    match given.output.suffix:
        case ".so":
            lowered.export_library(given.output, **options)
        case ".o":
            lowered.export_object(given.output, **options)
            inside = (".mlir", *IMAGES)
            others = [
                path for path in (given.kernel, *given.link) if path.suffix.lower() not in inside
            ]
            if others:
                print_note(
                    f"{given.output} has the wrapper; link {', '.join(map(str, others))} with it"
                )
        case ".ll":
            _write_text(given.output, lowered.llvm_ir)
        case ".mlir":
            _write_text(given.output, lowered.mlir)
        case _:
            _write_text(given.output, lowered.assembly)


def _write_text(path: Path, text: str | None) -> None:
    assert text is not None, "a module that was lowered from MLIR has every stage"
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_text(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
