"""``wrap``: make a library, an object or IR from a kernel and signatures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ffi_builder import CompileError
from ffi_builder.cli.options import (
    add_convention,
    add_launch,
    add_signature,
    args_of,
    destroy_of,
    errors_of,
    file_or_name,
    launch_of,
    provider_of,
    status_of,
)
from ffi_builder.cli.output import print_note

if TYPE_CHECKING:
    from ffi_builder.runtime import LoweredModule
    from ffi_builder.wrapping.prepare import Wrapped

HELP = "make a library, an object or IR from a kernel and a signature"
DESCRIPTION = """\
Read a kernel (MLIR, LLVM IR, an object, an archive, a shared library, or a CUDA image), attach a
validating TVM-FFI entry point for each signature, and write a shared library, an object, LLVM IR,
MLIR or assembly, depending on the suffix of the output: .so .o .ll .mlir .s

It is ffi_builder.wrap for files: each option means what wrap's option of that name means.
"""
EXAMPLES = """\
examples:
  ffi-builder wrap kernel.mlir --device cpu -o add_one.so \\
      --signature 'add_one(x: Tensor([n], float32), y: Tensor([n], float32))'
  ffi-builder wrap kernel.o --device cpu -o scale.so \\
      --prototype 'void scale_f32(float *x, int64_t n, float factor)' \\
      --signature 'scale(x: Tensor([n], float32), factor: float32)'
  ffi-builder wrap kernel.ll --device cuda --convention pack --triple aarch64-linux-gnu -o k.o \\
      --signature 'k(x: Tensor([n], float16), s: EnvStream)' --header k.h
  ffi-builder wrap saxpy.ptx --grid 'ceildiv(n, 128)' --block 128 -o saxpy.so \\
      --signature 'saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32))
                   where n: int32' \\
      --args 'a, x, y, n'
"""
_SUFFIXES: Final = (".so", ".o", ".ll", ".mlir", ".s")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument(
        "kernel", type=file_or_name, help="a file of any of these kinds, or -l and a library's name"
    )
    add_signature(parser, many=True)
    add_convention(parser, "what the types of the kernel say")
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
        help="a folder of headers that --prototype includes; may be given several times",
    )
    parser.add_argument(
        "--error",
        action="append",
        default=[],
        dest="errors",
        metavar="[STATUS=]ERROR",
        help="the error for a status, as '22=ValueError: the order is negative', 22=ValueError, or "
        "'-1=' for the TVM-FFI error that the kernel has set; without a status, for all others; "
        "instead of a class, a function that returns the text of a status, as zError; may be given "
        "several times",
    )
    parser.add_argument(
        "--success",
        type=status_of,
        action="append",
        metavar="STATUS",
        help="a status that is no error (default 0), or its name in the prototype; may be given "
        "several times",
    )
    parser.add_argument(
        "--errno",
        action="store_true",
        help="the kernel sets errno: a status that is no success, or a result of -1 or NULL, is "
        "an OSError",
    )
    parser.add_argument(
        "--free",
        metavar="FUNCTION",
        help="the function that frees the text which the kernel returns as a char *",
    )
    parser.add_argument(
        "--destroy",
        action="append",
        default=[],
        metavar="FUNCTION",
        help="the function that destroys the handle which is the result; for several results "
        "'db=sqlite3_close'; may be given several times",
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="PATH", help="the file to write"
    )
    parser.add_argument(
        "--pipeline",
        metavar="PASSES",
        help="an MLIR pass pipeline, or none (default: one for linalg, affine, scf, memref and "
        "func, if the kernel has a func.func)",
    )
    parser.add_argument(
        "--opt-level",
        type=int,
        default=2,
        choices=range(4),
        help="optimization level of LLVM (default 2)",
    )
    parser.add_argument(
        "--link",
        type=file_or_name,
        action="append",
        default=[],
        metavar="PATH",
        help="more .ll, .o, .a or .so files to link, or --link=-lname for a library of the system",
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
    parser.add_argument(
        "--release-gil",
        action=argparse.BooleanOptionalAction,
        help="whether other threads of Python run during a call (default); --no-release-gil for a "
        "kernel that uses Python",
    )
    add_launch(parser)


def run(given: argparse.Namespace) -> int:
    """Run the command; return the exit status."""
    from ffi_builder import runtime
    from ffi_builder.wrapping.options import Options
    from ffi_builder.wrapping.prepare import prepare

    _check_output(given)
    options = Options(
        device=given.device,
        function=given.function,
        prototype=given.prototype,
        include=given.include,
        args=args_of(given.args),
        errors=errors_of(given.errors),
        success=given.success,
        errno=given.errno,
        free=given.free,
        destroy=destroy_of(given.destroy),
        provider=provider_of(given),
        launch=launch_of(given),
        release_gil=given.release_gil,
        pipeline="builtin.module()" if given.pipeline == "none" else given.pipeline,
        link=given.link,
        sanitize=given.sanitize,
        target=given.triple,
    )
    try:
        wrapped = prepare(given.kernel, given.signature, options)
    except (TypeError, ValueError) as error:  # options that do not go together
        raise CompileError(str(error)) from error
    lowered = runtime.lower(**wrapped.arguments, opt_level=given.opt_level)
    _write(lowered, given, wrapped)
    return 0


def _check_output(given: argparse.Namespace) -> None:
    suffix = given.output.suffix
    if suffix not in _SUFFIXES:
        raise CompileError(
            f"{given.output}: the suffix says what to write; expected one of {', '.join(_SUFFIXES)}"
        )
    if suffix not in (".so", ".o"):
        for name in ("triple", "header", "stub", "export_only"):
            if getattr(given, name):
                raise CompileError(f"--{name.replace('_', '-')} goes with an output .so or .o")


def _write(lowered: LoweredModule, given: argparse.Namespace, wrapped: Wrapped) -> None:
    names = [each.signature.name for each in wrapped.functions]
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
            others = [*([given.kernel] if wrapped.links_kernel else []), *given.link]
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
    if text is None:
        raise CompileError(f"{path}: only a kernel in MLIR has MLIR; write .ll")
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        temporary.write_text(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
