"""Cubins of several toolkits and architectures, made by make.py."""

from __future__ import annotations

from itertools import accumulate

import pytest

from ffi_builder.cuda.images import Kernel, Parameter
from ffi_builder.cuda.images import kernels as read_image
from tests.cuda.images.images import FILL, SIZES, SMALL, image

CUBINS = {
    "cuda12-sm_80.cubin": "sm_80",
    "cuda12-sm_90.cubin": "sm_90",
    "cuda12-sm_90a.cubin": "sm_90a",
    "cuda13-sm_80.cubin": "sm_80",
    "cuda13-sm_90.cubin": "sm_90",
    "cuda13-sm_90a.cubin": "sm_90a",
    "cuda13-sm_100.cubin": "sm_100",
    "cuda13-sm_100f.cubin": "sm_100f",
}
PARAMETERS_AT = {"sm_80": 0x160, "sm_90": 0x210, "sm_90a": 0x210, "sm_100": 0x380, "sm_100f": 0x380}
"""Offsets of parameters in the constant bank, as cuobjdump shows them (EIATTR_PARAM_CBANK)."""


@pytest.mark.parametrize("name", CUBINS)
def test_architecture(name: str):
    read = read_image(image(name))
    assert (read.format, read.architectures) == ("cubin", (CUBINS[name],))
    assert read.unread == ()


@pytest.mark.parametrize("name", CUBINS)
def test_kernels_and_the_sizes_of_their_parameters(name: str):
    read = read_image(image(name))
    extra = {"large"} if name == "cuda13-sm_90.cubin" else set[str]()
    expected = SIZES if "90a" in name else SMALL
    assert set(read.kernels) == {*expected, *extra}
    for kernel in expected:
        parameters = read.kernels[kernel].parameters
        assert parameters is not None
        assert [parameter.size for parameter in parameters] == SIZES[kernel]
        assert [parameter.index for parameter in parameters] == list(range(len(SIZES[kernel])))
        assert {parameter.type for parameter in parameters} <= {None}


@pytest.mark.parametrize("name", CUBINS)
def test_offsets_are_where_the_assembler_has_put_the_parameters(name: str):
    """Which need not be where a C struct would have them: here the address is aligned to 64."""
    read = read_image(image(name))
    assert offsets(read.kernels["saxpy"]) == [0, 8, 16, 24]
    map_at = -(PARAMETERS_AT[CUBINS[name]] + 4) % 64 + 4
    assert offsets(read.kernels["tensor_map"]) == [0, map_at, map_at + 128]


def test_parameters_of_every_width():
    sizes = SIZES["many"]
    expected = [0, *accumulate(sizes)][:-1]
    aligned = [0]
    for size, before in zip(sizes[1:], sizes[:-1], strict=True):
        aligned.append(-(-(aligned[-1] + before) // size) * size)
    assert expected != aligned
    assert offsets(read_image(image("cuda13-sm_90a.cubin")).kernels["many"]) == aligned


def test_parameters_larger_than_16383_bytes():
    kernel = read_image(image("cuda13-sm_90.cubin"))["large"]
    assert kernel.parameters == (
        Parameter(0, 0, 4),
        Parameter(1, 4, 4 * 4097),
        Parameter(2, 16392, 8),
    )


@pytest.mark.parametrize("name", ["cuda12-sm_90a.cubin", "cuda13-sm_90a.cubin"])
def test_bounds_and_clusters(name: str):
    kernels = read_image(image(name)).kernels
    bounds = {
        name: (kernel.max_threads, kernel.cluster, kernel.max_cluster_rank)
        for name, kernel in kernels.items()
        if (kernel.max_threads, kernel.cluster, kernel.max_cluster_rank) != (None, None, None)
    }
    assert bounds == {
        "bounded": (256, None, None),
        "clustered": (None, (2, 1, 1), None),
        "ranked": (128, None, 4),
    }
    assert {kernel.block for kernel in kernels.values()} == {None}


@pytest.mark.parametrize("name", CUBINS)
def test_static_shared_memory_is_without_what_the_system_reserves(name: str):
    kernels = read_image(image(name)).kernels
    shared = {name: kernel.static_shared_bytes for name, kernel in kernels.items()}
    assert shared == dict.fromkeys(kernels, 0) | ({"bounded": 1024} if "bounded" in kernels else {})


def test_registers():
    """As cuobjdump -res-usage says."""
    kernels = read_image(image("cuda13-sm_90a.cubin")).kernels
    assert {name: kernel.registers for name, kernel in kernels.items()} == dict.fromkeys(
        kernels, 10
    ) | {"nothing": 4, "clustered": 8, "ranked": 8, FILL: 8}


def test_list_for_people():
    lines = str(read_image(image("cuda12-sm_90a.cubin"))).splitlines()
    assert lines[0] == "cubin for sm_90a"
    assert "  tensor_map(4 bytes, 128 bytes, 8 bytes)  [registers 10]" in lines
    assert "  nothing()  [registers 4]" in lines
    assert "  bounded(8 bytes)  [threads <= 256; registers 10; static shared bytes 1024]" in lines
    assert "  clustered(8 bytes)  [cluster 2 x 1 x 1; registers 8]" in lines
    assert "  ranked(8 bytes)  [threads <= 128; blocks of a cluster <= 4; registers 8]" in lines


def test_other_buffers_than_bytes():
    data = image("cuda12-sm_80.cubin")
    assert read_image(bytearray(data)) == read_image(memoryview(data)) == read_image(data)


def offsets(kernel: Kernel) -> list[int | None]:
    assert kernel.parameters is not None
    return [parameter.offset for parameter in kernel.parameters]
