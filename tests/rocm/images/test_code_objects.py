"""Code objects of each compiler, beside a second reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder import SpecError, rocm
from ffi_builder.cuda.images import Kernel, Parameter
from ffi_builder.extending import NoKernelError
from ffi_builder.rocm.images.targets import target_of
from tests.rocm.images.compilers import COMPILERS, lacks
from tests.rocm.images.images import IMAGES, image
from tests.rocm.images.llvm import LINKER, SAXPY, assemble, link
from tests.rocm.images.reader import facts, facts_read

CODE = sorted(path.name for path in IMAGES.glob("*.hsaco"))
needs_linker = pytest.mark.skipif(LINKER is None, reason="needs ld.lld (Debian's lld-19)")


def compare(data: bytes) -> None:
    """Compare what the two readers say of an image."""
    read = rocm.kernels(data)
    assert read.format == "code object"
    assert read.kernels
    assert {name: facts_read(each) for name, each in read.kernels.items()} == facts(data)


@pytest.mark.parametrize("name", CODE)
def test_kernels_as_a_second_reader_reads_them(name: str):
    compare(image(name))


@pytest.mark.parametrize("name", CODE)
def test_the_target_is_in_the_flags(name: str):
    target = {"opencl-gfx90a.hsaco": "gfx90a:xnack+"}.get(name, Path(name).stem.partition("-")[2])
    assert rocm.kernels(image(name)).architectures == (target,)


@pytest.mark.slow
@pytest.mark.parametrize("processor", ["gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_each_compiler_of_today(compiler: str, processor: str, tmp_path: Path):
    if reason := lacks(compiler):
        pytest.skip(reason)
    if (compiler, processor) in {("opencl", "gfx950"), ("hip", "gfx950")}:
        pytest.skip("clang-19 does not know gfx950")
    data = COMPILERS[compiler](processor, tmp_path)
    if compiler != "hip":
        compare(data)
    assert rocm.kernels(data).architectures == (processor,)


def test_parameters_of_every_kind():
    read = rocm.kernels(image("opencl-gfx942.hsaco"))
    assert read["saxpy"] == Kernel(
        "saxpy",
        (
            Parameter(0, 0, 4, "float", kind="by_value"),
            Parameter(1, 8, 8, "float*", kind="global_buffer"),
            Parameter(2, 16, 8, "float*", kind="global_buffer"),
            Parameter(3, 24, 4, "int", kind="by_value"),
        ),
        256,
        registers=6,
        static_shared_bytes=0,
        private_bytes=0,
        wave_size=64,
    )
    assert [each.is_pointer for each in read["saxpy"].parameters or ()] == [0, 1, 1, 0]
    tile = read["tile"]
    assert (tile.block, tile.max_threads, tile.static_shared_bytes) == ((64, 2, 1), 128, 1024)
    assert tile.parameters is not None
    assert [(each.offset, each.size) for each in tile.parameters] == [(0, 8), (8, 16), (24, 1)]
    dynamic = read["dynamic"].parameters
    assert dynamic is not None
    assert (dynamic[1].kind, dynamic[1].is_pointer) == ("dynamic_shared_pointer", False)
    assert read["nothing"].parameters == ()


def test_what_is_shown():
    lines = str(rocm.kernels(image("triton-gfx1100.hsaco"))).splitlines()
    pointers = ", ".join(["pointer"] * 3)
    assert lines == [
        "code object for gfx1100",
        f"  add({pointers}, 4 bytes, pointer, pointer)  [threads <= 128; registers 8; waves of 32]",
    ]
    shown = str(rocm.kernels(image("opencl-gfx942.hsaco"))["tile"])
    assert shown.startswith("tile(float*, struct pair, char)  [block 64 x 2 x 1; registers ")
    assert shown.endswith("; static shared bytes 1024; waves of 64]")


def test_a_kernel_that_is_not_there():
    read = rocm.kernels(image("opencl-gfx942.hsaco"))
    words = r"No kernel 'saxpi' in the code object for gfx942, which has 'saxpy', .*did you mean"
    with pytest.raises(NoKernelError, match=words):
        read["saxpi"]


@needs_linker
@pytest.mark.parametrize("version", [4, 5, 6])
@pytest.mark.parametrize(
    ("processor", "features", "target"),
    [
        ("gfx90a", "+xnack,-sramecc", "gfx90a:sramecc-:xnack+"),
        ("gfx906", "-xnack", "gfx906:xnack-"),
        ("gfx942", "", "gfx942"),
        ("gfx1100", "", "gfx1100"),
        ("gfx1250", "", "gfx1250"),
    ],
)
def test_what_llvm_writes(processor: str, features: str, target: str, version: int, tmp_path: Path):
    data = link(assemble(SAXPY, processor, features, version), tmp_path)
    compare(data)
    read = rocm.kernels(data)
    assert read.architectures == (target,)
    assert [each.name for each in read["saxpy"].parameters or ()] == ["a", "x", "y", "n"]
    assert str(read["saxpy"]).startswith("saxpy(a: 4 bytes, x: pointer, y: pointer, n: 4 bytes)")


@needs_linker
def test_a_generic_target(tmp_path: Path):
    data = link(assemble(SAXPY, "gfx11-generic", version=6), tmp_path)
    assert rocm.kernels(data).architectures == ("gfx11-generic",)


@pytest.mark.parametrize(
    "processor",
    [
        *("gfx600", "gfx704", "gfx803", "gfx900", "gfx908", "gfx90a", "gfx90c", "gfx942", "gfx950"),
        *("gfx1010", "gfx1036", "gfx1100", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"),
        *("gfx1200", "gfx1201", "gfx1250", "gfx1251", "gfx9-generic", "gfx9-4-generic"),
        *("gfx10-1-generic", "gfx10-3-generic", "gfx11-generic", "gfx12-generic"),
    ],
)
def test_the_numbers_of_processors_are_those_of_llvm(processor: str):
    data = assemble('target triple = "amdgcn-amd-amdhsa"', processor, version=6)
    assert target_of(int.from_bytes(data[48:52], "little")) == processor


def test_a_processor_of_tomorrow_has_a_number():
    assert target_of(0x2FE) == "processor 0xfe:xnack-"
    assert target_of(0x200) is None


def test_an_object_that_is_not_linked():
    with pytest.raises(SpecError, match=r"not linked, .*: link it with `ld\.lld -shared`"):
        rocm.kernels(assemble(SAXPY, "gfx942"))
