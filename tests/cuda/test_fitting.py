"""Which values fit which parameters, and values at the edge of their types."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pytest

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.providers.cuda import Pointee, Scalar, Struct
from tests.cuda.fake import DeviceArray, FakeDriver, KernelImage, make_cubin, make_fatbin
from tests.cuda.launching import launched, provider, wrap
from tests.support.wrapping import attached

N = spec.Var("n", "int64")
U = spec.Var("u", "uint64")


def ptx(parameters: str, more: str = "") -> bytes:
    """PTX with a kernel ``k`` that has these."""
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    return f"{head}.visible .entry k({parameters}) {more} {{ ret; }}\n".encode()


def of(image: bytes, **options: Any) -> Any:
    return provider(KernelImage("k"), image=image, **options)


def test_members_of_a_struct(driver: FakeDriver):
    entry = Struct("s", N * 2, 7, "t")
    params = [
        spec.Shape("s", [N, 3, spec.Var("m", "int16")]),
        spec.TupleParam("t", [spec.Var("a", "int8"), spec.Var("b", "float32")]),
    ]
    launch = launched(driver, KernelImage("k", (40,)), params, (5, 3, 2), (1, 0.5), args=[entry])
    assert launch.arguments == (struct.pack("<qh6xqqb3xf", 5, 2, 10, 7, 1, 0.5),)


def test_what_is_copied_whole_cannot_be_within_a_struct():
    with pytest.raises(BuildError, match=r"args= has \*p, which cannot be within a Struct"):
        attached(
            [spec.DataPointer("p")],
            provider(KernelImage("k", (8,)), args=[Struct(Pointee("p", 8))]),
        )


@pytest.mark.parametrize(
    ("var", "dtype", "fits", "fails"),
    [
        (N, "int64", [-(2**63), 2**63 - 1], []),
        (N, "uint64", [0, 2**63 - 1], [-1]),
        (N, "uint32", [0, 2**32 - 1], [-1, 2**32]),
        (N, "int16", [-(2**15), 2**15 - 1], [-(2**15) - 1, 2**15]),
        (U, "uint64", [0, 2**63 - 1], []),
        (U, "int64", [0, 2**63 - 1], []),
        (U, "int32", [0, 2**31 - 1], [2**31]),
    ],
)
def test_scalars_at_the_edge(
    driver: FakeDriver, var: spec.Var, dtype: str, fits: Sequence[int], fails: Sequence[int]
):
    kernel = KernelImage("k", (int(dtype.lstrip("uint")) // 8,))
    function = wrap(kernel, [var], args=[Scalar(var, dtype)])
    for value in fits:
        function(value)
    size, signed = kernel.parameters[0], dtype.startswith("i")
    expected = [(value.to_bytes(size, "little", signed=signed),) for value in fits]
    assert [launch.arguments for launch in driver.launches()] == expected
    for value in fails:
        with pytest.raises(ValueError, match=f"{var.name} is {value}, which is no {dtype}"):
            function(value)


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1.0, 0x3F80),
        (-0.0, 0x8000),
        (float("inf"), 0x7F80),
        (1.00390625, 0x3F80),  # half-way: to even
        (1.01171875, 0x3F82),
        (1.00390625 + 2**-30, 0x3F81),  # above, but half-way as a float32
        (1.01171875 - 2**-30, 0x3F81),
        (3.4e38, 0x7F80),
    ],
)
def test_bfloat16_is_rounded_once(value: float, bits: int):
    assert Scalar(value, "bfloat16").bits == bits


def test_bfloat16_of_nan_is_nan():
    bits = Scalar(float("nan"), "bfloat16").bits
    assert bits & 0x7F80 == 0x7F80
    assert bits & 0x7F


def test_a_scalar_must_be_a_number():
    with pytest.raises(SpecError, match="expected a number but got 'n'"):
        Scalar("n", "int32")  # pyright: ignore[reportArgumentType]


def test_an_int_must_fit_the_kernels_parameter():
    attached([], provider(KernelImage("k", (1,)), args=[255]))
    with pytest.raises(BuildError, match=r"args= has 256, which does not fit the 1 byte that"):
        attached([], provider(KernelImage("k", (1,)), args=[256]))


def test_integers_are_no_floats_where_ptx_says_so():
    floats = ptx(".param .f32 a")
    attached([spec.Var("a", "float32")], of(floats))
    for params, args in (([spec.Var("a", "int32")], None), ([N], [N * 2])):
        with pytest.raises(BuildError, match=r"takes \(#0 f32\), but the arguments"):
            attached(params, of(floats, args=args))
    attached([spec.Var("a", "int32")], of(ptx(".param .b32 a")))


def test_an_argument_at_an_offset_that_its_type_cannot_have():
    """Two ints of 4 bytes are as large as a pointer, which would be at 8."""

    class TwoInts(KernelImage):
        def offsets(self, base: int = 0) -> list[int]:
            return [0, 4]

    kernel = TwoInts("k", (4, 8))
    i, j = (spec.Var(name, "int32") for name in "ij")
    attached([i, j], provider(kernel, args=[i, Struct(i, j)]))
    with pytest.raises(BuildError, match=r"#1 8 bytes at 4.* \(#1 differs\)"):
        attached([i, spec.DataPointer("p")], provider(kernel))


def test_an_image_whose_parts_do_not_agree_tells_nothing(driver: FakeDriver):
    """Then nothing is compared; ints and expressions have 8 bytes."""
    parts = [
        (make_cubin([KernelImage("k", (size,))], sm=sm), sm) for size, sm in ((4, 80), (8, 90))
    ]
    launch = launched(driver, KernelImage("k"), [N], 5, image=make_fatbin(parts), args=[N * 2])
    assert launch.arguments == (struct.pack("<q", 10),)


def test_a_block_that_the_kernel_needs():
    required = ptx("", ".reqntid 64, 2, 1")
    of(required, block=(64, 2))
    with pytest.raises(SpecError, match=r"block: expected \(64, 2, 1\), which the kernel 'k' was"):
        of(required, block=128)


def test_an_absent_tensor_of_any_device_is_null(driver: FakeDriver):
    x = spec.Optional(spec.Tensor("x", [N], "float32", device_type="any"))
    function = wrap(KernelImage("k", (8,)), [x])
    array = DeviceArray(driver, (3,), "float32", 1)
    function(None)
    function(array.tensor())
    launches = driver.launches()
    expected = [(bytes(8),), (struct.pack("<Q", array.address),)]
    assert [launch.arguments for launch in launches] == expected
    assert [launch.device for launch in launches] == [0, 1]


def test_pinned_memory_is_no_devices(driver: FakeDriver):
    """A kernel can read it, and the device is that of the tensor behind it."""
    x, y = (
        spec.Tensor(name, [N], "float32", device_type=kind)
        for name, kind in (("x", "cuda_host"), ("y", "cuda"))
    )
    function = wrap(KernelImage("k", (8, 8)), [spec.Optional(x), y])
    array = DeviceArray(driver, (3,), "float32", 1)
    function(None, array.tensor())
    [launch] = driver.launches()
    assert launch.device == 1
    with pytest.raises(BuildError, match="expected one of cuda, cuda_host, cuda_managed"):
        attached(
            [spec.Tensor("r", [N], "float32", device_type="rocm")],
            provider(KernelImage("k", (8,))),
        )
