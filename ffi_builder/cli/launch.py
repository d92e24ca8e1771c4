"""Options of ``wrap`` for a kernel in a CUDA image, which the wrapper launches."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ffi_builder.cli.options import list_of
from ffi_builder.errors import CompileError

if TYPE_CHECKING:
    from ffi_builder.providers import CallProvider

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
        CompileError: a launch lacks an option, or another kernel has one.
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

    return providers.CudaLaunchCallProvider(
        given.kernel.read_bytes(),
        callee,
        grid=list_of("--grid", given.grid),
        block=list_of("--block", given.block),
        cluster=None if given.cluster is None else list_of("--cluster", given.cluster),
        dynamic_smem_bytes=0 if given.shared_memory is None else given.shared_memory,
        args=None if given.args is None else list_of("--args", given.args),
    )
