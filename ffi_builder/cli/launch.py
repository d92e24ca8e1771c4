"""Options of ``wrap`` for a kernel that is in a CUDA image, and is launched."""

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
    """``--grid``, ``--block``, ``--cluster`` and ``--shared-memory``."""
    group = parser.add_argument_group(
        "launches", "for a kernel in a .cubin, .fatbin or .ptx: up to three ints or expressions"
    )
    group.add_argument(
        "--grid", metavar="SIZES", help="blocks: 'ceildiv(n, 128)', '(n + 7) // 8, m'"
    )
    group.add_argument("--block", metavar="SIZES", help="threads of a block")
    group.add_argument("--cluster", metavar="SIZES", help="blocks of a cluster")
    group.add_argument("--shared-memory", metavar="BYTES", help="dynamic, of a block: 'n * 4'")


def is_image(kernel: Path) -> bool:
    """Whether it is one, by its suffix."""
    return kernel.suffix.lower() in IMAGES


def check_launch_options(given: argparse.Namespace) -> None:
    """That launches have what they need, and nothing else has it.

    Raises:
        CompileError: if not.
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


def launching(given: argparse.Namespace, callee: str) -> CallProvider:
    """The call provider."""
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
