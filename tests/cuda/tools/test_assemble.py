"""PTX to cubins, by each tool that is here; and how a tool is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder import CompileError, SpecError, cuda
from ffi_builder.cuda.tools.compilers import Tool
from tests.cuda.images.images import SIZES, image
from tests.cuda.tools.tools import ASSEMBLERS, LLVM_IR, SCALE, needs_nvjitlink

PTX = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) { ret; }\n"


@pytest.mark.parametrize("tool", ASSEMBLERS)
def test_what_nvrtc_writes(tool: Tool):
    """As bytes with a NUL at the end."""
    ptx = image("cuda12-sm_90a.ptx")
    assert ptx.endswith(b"\0")
    read = cuda.kernels(cuda.assemble(ptx, arch="sm_90a", tool=tool))
    assert (read.format, read.architectures) == ("cubin", ("sm_90a",))
    assert set(read.kernels) == set(SIZES)
    of_text = cuda.kernels(ptx).kernels
    for kernel in read.kernels.values():
        assert kernel.parameters is not None
        assert [parameter.size for parameter in kernel.parameters] == SIZES[kernel.name]
        assert kernel.max_threads == of_text[kernel.name].max_threads
        assert kernel.cluster == of_text[kernel.name].cluster


@pytest.mark.parametrize("tool", ASSEMBLERS)
@pytest.mark.parametrize("source", [SCALE, LLVM_IR])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"])
def test_what_llvm_writes(arch: str, source: str, tool: Tool):
    ptx = cuda.lower_to_ptx(source, arch=arch)
    read = cuda.kernels(cuda.assemble(ptx, arch=arch, tool=tool))
    assert read.architectures == (arch,)
    (mine,), (theirs,) = cuda.kernels(ptx).kernels.values(), read.kernels.values()
    assert mine.parameters is not None
    assert theirs.parameters is not None
    assert [each.size for each in mine.parameters] == [each.size for each in theirs.parameters]
    assert (mine.max_threads, mine.block, mine.cluster) == (
        *(theirs.max_threads, theirs.block, theirs.cluster),
    )


@pytest.mark.parametrize("tool", ASSEMBLERS)
def test_for_a_newer_architecture(tool: Tool):
    assert cuda.kernels(cuda.assemble(PTX, arch="sm_100", tool=tool)).architectures == ("sm_100",)


@pytest.mark.parametrize("tool", ASSEMBLERS)
@pytest.mark.parametrize(
    ("ptx", "arch"),
    [
        (PTX.replace("ret;", "bogus;"), "sm_90"),
        (PTX.replace("8.0", "99.0"), "sm_90"),
        (PTX, "sm_80"),
        (PTX.replace("sm_90", "sm_90a"), "sm_100"),
    ],
)
def test_what_does_not_assemble(ptx: str, arch: str, tool: Tool):
    with pytest.raises(CompileError, match=rf"refuses the PTX for {arch}: (?s:.*)\S"):
        cuda.assemble(ptx, arch=arch, tool=tool)


@needs_nvjitlink
def test_an_architecture_that_nvjitlink_does_not_have():
    with pytest.raises(CompileError, match=r"nvJitLink [\d.]+ refuses (the PTX for sm_30|'sm_30')"):
        cuda.assemble(PTX, arch="sm_30", tool="nvjitlink")


@pytest.fixture
def ptxas(home: Path) -> Path:
    """A program that does what a test writes into it, found by CUDA_HOME."""
    (home / "bin").mkdir()
    program = home / "bin/ptxas"
    program.touch(0o755)
    return program


def test_ptxas_of_cuda_home_gets_the_text(ptxas: Path):
    ptxas.write_text('#!/bin/sh\n[ "$1" = -arch=sm_90a ] && cat "$2" > "$4"\n')
    assert cuda.assemble(PTX.encode() + b"\0", arch="sm_90a", tool="ptxas") == PTX.encode()


def test_words_of_ptxas(ptxas: Path):
    ptxas.write_text("#!/bin/sh\necho fatal: no >&2\nexit 3\n")
    with pytest.raises(CompileError, match=f"^{ptxas} refuses the PTX for sm_90: fatal: no$"):
        cuda.assemble(PTX, arch="sm_90", tool="ptxas")


def test_ptxas_that_says_nothing(ptxas: Path):
    ptxas.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(CompileError, match="refuses the PTX for sm_90: status 3"):
        cuda.assemble(PTX, arch="sm_90", tool="ptxas")


@pytest.mark.usefixtures("no_bindings")
def test_ptxas_where_there_is_no_nvjitlink(ptxas: Path):
    ptxas.write_text('#!/bin/sh\necho > "$4"\n')
    assert cuda.assemble(PTX, arch="sm_90") == b"\n"


@pytest.mark.usefixtures("no_bindings", "no_toolkit")
@pytest.mark.parametrize(
    ("tool", "words"),
    [(None, "nvJitLink or ptxas"), ("nvjitlink", "nvJitLink"), ("ptxas", "ptxas")],
)
def test_where_there_is_none(tool: Tool | None, words: str):
    with pytest.raises(CompileError, match=f"^assemble needs {words}, and found none.*pip install"):
        cuda.assemble(PTX, arch="sm_90", tool=tool)


def test_what_is_no_ptx():
    with pytest.raises(ValueError, match="ptx: expected PTX but got a cubin, which"):
        cuda.assemble(image("cuda13-sm_90.cubin"), arch="sm_90")
    words = r"but it is MLIR; ffi_builder\.cuda.lower_to_ptx makes PTX"
    with pytest.raises(SpecError, match=words):
        cuda.assemble(SCALE, arch="sm_90")
    with pytest.raises(TypeError, match="image: expected bytes but got None"):
        cuda.assemble(None, arch="sm_90")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="tool: expected one of nvjitlink, ptxas but got 'nvcc'"):
        cuda.assemble(PTX, arch="sm_90", tool="nvcc")  # pyright: ignore[reportArgumentType]
