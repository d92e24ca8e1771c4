"""Options that several commands share: the signature, the call convention, and launches.

The options for launches are for kernels in CUDA images.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ffi_builder.errors import CompileError, NoKernelError, SpecError

if TYPE_CHECKING:
    from ffi_builder.providers import CallProvider


CONVENTIONS: Final = {
    "memref": "expanded MLIR memrefs, to which func.func with memref parameters is lowered",
    "direct": "plain C arguments: a tensor is its data pointer",
    "pack": "void** with one pointer per parameter",
    "nop": "no kernel: the wrapper only checks its arguments",
}


def add_signature(parser: argparse.ArgumentParser, *, many: bool) -> None:
    """Add ``--signature`` and ``--device``."""
    parser.add_argument(
        "--signature",
        required=True,
        metavar="TEXT",
        action="append" if many else "store",
        help="the parameters of the function, in the grammar of docs/signatures.md"
        + ("; may be given several times" if many else ""),
    )
    parser.add_argument(
        "--device",
        metavar="TYPE",
        help="device type of tensors without one in the signature: cpu, cuda, …",
    )


def add_convention(parser: argparse.ArgumentParser, default: str) -> None:
    """Add ``--convention`` (None if not given), ``--callee`` and ``--args``."""
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
        help="the arguments of the kernel: parameters, parts of them, expressions, NULL and "
        "numbers, as in 'x, x.ndim, n * 2, NULL, 0.5' (default: all parameters)",
    )


def list_of(option: str, text: str) -> list[str]:
    """Split the value of an option at commas outside brackets.

    Raises:
        CompileError: an entry is empty.
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
        raise CompileError(f"{option} {text!r}: an entry is empty")
    return [entry for entry in entries if entry]


def args_of(text: str | None) -> Any:
    """Return the entries of ``--args``: ``NULL``, floats, and what providers read themselves.

    Entries such as ``ctx=NULL`` make a dict.

    Raises:
        CompileError: an entry is empty.
    """
    if text is None:
        return None
    entries = list_of("--args", text)
    pairs = [re.fullmatch(r"(\w+)\s*=\s*([^=].*)", entry) for entry in entries]
    if entries and None not in pairs:
        return {pair[1]: _entry(pair[2]) for pair in pairs if pair}
    return list(map(_entry, entries))


def _entry(text: str) -> str | float | None:
    is_float = re.fullmatch(r"-?\d+(\.\d*(e[+-]?\d+)?|e[+-]?\d+)", text)
    return None if text == "NULL" else float(text) if is_float else text


def provider_of(convention: str, callee: str, args: str | None) -> CallProvider:
    """Return the call provider of a convention.

    Raises:
        CompileError: ``args`` are given for a convention that calls nothing.
    """
    from ffi_builder import providers

    chosen = args_of(args)
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


# ---- launches

IMAGES: Final = (".cubin", ".fatbin", ".ptx")
_OPTIONS: Final = ("grid", "block", "cluster", "shared_memory")


def add_launch(parser: argparse.ArgumentParser) -> None:
    """Add ``--grid``, ``--block``, ``--cluster`` and ``--shared-memory``."""
    group = parser.add_argument_group(
        "launches", "for a kernel in a .cubin, .fatbin or .ptx: up to three ints or expressions"
    )
    group.add_argument(
        "--grid", metavar="SIZES", help="blocks: 'ceildiv(n, 128)', '(n + 7) // 8, m'"
    )
    group.add_argument("--block", metavar="SIZES", help="threads of a block")
    group.add_argument("--cluster", metavar="SIZES", help="blocks of a cluster")
    group.add_argument(
        "--shared-memory", metavar="BYTES", help="dynamic shared memory of a block: 'n * 4'"
    )


def is_image(kernel: Path) -> bool:
    """Return whether a file is a CUDA image, by its suffix."""
    return kernel.suffix.lower() in IMAGES


def check_launch_options(given: argparse.Namespace) -> None:
    """Check that launch options are given for CUDA images, and only for these.

    Raises:
        CompileError: a CUDA image lacks a launch option, or another kernel has one.
    """
    if is_image(given.kernel):
        for name in ("grid", "block"):
            if getattr(given, name) is None:
                raise CompileError(f"{given.kernel} is launched, so --{name} is needed")
        if given.convention is not None:
            raise CompileError(f"--convention: {given.kernel} is launched; leave it out")
        return
    for name in _OPTIONS:
        if getattr(given, name) is not None:
            raise CompileError(
                f"--{name.replace('_', '-')} goes with a kernel that is launched "
                f"({', '.join(IMAGES)}), and {given.kernel} is something else"
            )


def launch_provider(given: argparse.Namespace, callee: str) -> CallProvider:
    """Return the call provider that launches the kernel ``callee``."""
    from ffi_builder import providers

    try:
        return providers.CudaLaunchCallProvider(
            given.kernel.read_bytes(),
            callee,
            grid=list_of("--grid", given.grid),
            block=list_of("--block", given.block),
            cluster=None if given.cluster is None else list_of("--cluster", given.cluster),
            dynamic_smem_bytes=0 if given.shared_memory is None else given.shared_memory,
            args=args_of(given.args),
        )
    except NoKernelError as error:
        raise SpecError(f"{error}; say which with --callee") from None
