# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Images by each compiler for AMD GPUs that can be installed, as functions of the processor."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from tests.rocm.images.llvm import LINKER

HERE: Final = Path(__file__).parent
CLANG: Final = shutil.which("clang-19")
_HIP: Final = ("-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc")
_ELF: Final = b"\x7fELF"

_ADD: Final = """
func.func @add(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %square = arith.mulf %x, %x : tensor<?xf32>
  %sum = arith.addf %square, %y : tensor<?xf32>
  return %sum : tensor<?xf32>
}
"""


def opencl(processor: str, folder: Path, version: int = 5) -> bytes:
    """OpenCL C by clang."""
    path = folder / "opencl.hsaco"
    arguments = ("-x", "cl", "-cl-std=CL2.0", f"-mcode-object-version={version}", "-nogpulib")
    _clang(
        "--target=amdgcn-amd-amdhsa", f"-mcpu={processor}", *arguments, HERE / "kernels.cl", path
    )
    return path.read_bytes()


def hip(processors: str, folder: Path, *options: str, source: Path = HERE / "kernels.hip") -> bytes:
    """HIP by clang: a bundle for several processors, separated by commas."""
    path = folder / "hip.hipfb"
    _clang(*_HIP, *options, f"--offload-arch={processors}", source, path)
    return path.read_bytes()


def triton(processor: str, folder: Path) -> bytes:
    """Triton, with its own assembler and linker."""
    return compiled_by_triton(processor).asm["hsaco"]


def compiled_by_triton(processor: str) -> Any:
    """A ``CompiledKernel`` of Triton: the sum of two vectors."""
    from triton import knobs
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, compile

    from tests.rocm.images.of_triton import PROMISES, TYPES, add

    wave = 64 if processor.startswith("gfx9") else 32
    source = ASTSource(add, TYPES, {"BLOCK": 256}, PROMISES)
    options = {"enable_fp_fusion": True}
    with knobs.compilation.scope():
        knobs.compilation.disable_line_info = True  # folders are in it
        return compile(source, target=GPUTarget("hip", processor, wave), options=options)


def iree(processor: str, folder: Path) -> bytes:
    """IREE, with its own linker."""
    (folder / "in.mlir").write_text(_ADD)
    subprocess.run(
        [
            *(Path(sys.executable).parent / "iree-compile", folder / "in.mlir"),
            *("--iree-hal-target-device=hip", f"--iree-rocm-target={processor}"),
            f"--iree-hal-dump-executable-binaries-to={folder}",
            *("-o", folder / "out.vmfb"),
        ],
        check=True,
    )
    (path,) = folder.glob("*.hsaco")
    return path.read_bytes()


def flydsl(processor: str, folder: Path) -> bytes:
    """FlyDSL: the code object in what ``export_to_c`` writes."""
    data = exported_by_flydsl(processor, folder).read_bytes()
    at = data.index(_ELF, 1)
    return data[at : at + _size_of(data[at:])]


def exported_by_flydsl(processor: str, folder: Path) -> Path:
    """The object that ``export_to_c`` writes, of the sum of two vectors; a header is beside it."""
    for name in ("llvm/bin", "amdgcn/bitcode"):
        (folder / "rocm" / name).mkdir(parents=True, exist_ok=True)
    linker = folder / "rocm/llvm/bin/ld.lld"
    if not linker.exists():
        linker.symlink_to(str(LINKER))
    subprocess.run(
        [sys.executable, HERE / "of_flydsl.py", folder],
        check=True,
        env=dict(
            os.environ,
            ARCH=processor,
            FLYDSL_GPU_ARCH=processor,
            ROCM_PATH=str(folder / "rocm"),
            HOME=str(folder),
        ),
    )
    return folder / "add.o"


def _size_of(data: bytes) -> int:
    """The size of an ELF file whose section headers are at its end."""
    sections = int.from_bytes(data[40:48], "little")
    return sections + int.from_bytes(data[60:62], "little") * 64


def _clang(*arguments: str | Path) -> None:
    assert CLANG is not None
    *options, source, path = arguments
    command = [CLANG, "-O2", "-fuse-ld=lld", *options, source, "-o", path]
    subprocess.run(command, check=True, capture_output=True)


COMPILERS: Final[Mapping[str, Callable[[str, Path], bytes]]] = {
    "opencl": opencl,
    "hip": hip,
    "triton": triton,
    "iree": iree,
    "flydsl": flydsl,
}


def lacks(name: str) -> str:
    """Say what a compiler needs that is not here; empty if it can run."""
    if name in ("opencl", "hip"):
        return (
            "" if CLANG and LINKER else "needs clang-19 and ld.lld (Debian's clang-19 and lld-19)"
        )
    module = {"iree": "iree.compiler"}.get(name, name)
    if find_spec(module.partition(".")[0]) is None:
        return f"needs {name}, which `make test-rocm` installs"
    return "needs ld.lld (Debian's lld-19)" if name == "flydsl" and not LINKER else ""
