"""Values that fit parameters or not, and values at the edge of their types."""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.providers import CudaLaunchCallProvider
from ffi_builder.providers.cuda import Pointee, Scalar, Struct
from tests.cuda.images.images import image
from tests.cuda.launching import launched, provider, wrap
from tests.fakecuda import DeviceArray, FakeDriver, KernelImage, make_cubin, make_fatbin
from tests.support.wrapping import attached

N = spec.Var("n", "int64")
U = spec.Var("u", "uint64")


def ptx(parameters: str, more: str = "") -> bytes:
    """PTX with a kernel ``k`` that has these."""
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    return f"{head}.visible .entry k({parameters}) {more} {{ ret; }}\n".encode()


def of(image: bytes, **options: Any) -> Any:
    return provider(KernelImage("k"), image=image, **options)


def at_offsets(sizes: Sequence[int], offsets: Sequence[int]) -> KernelImage:
    """A kernel ``k`` whose parameters are where a compiler has put them."""

    class Compiled(KernelImage):
        def offsets(self, base: int = 0) -> list[int]:
            return list(offsets)

    return Compiled("k", sizes)


DEVICE, DTYPE, P = spec.Device("d"), spec.DType("t"), spec.DataPointer("p")
J, HOST = spec.Var("j", "int32"), spec.Tensor("h", [N], "float32", device_type="cpu")
X = spec.Tensor("x", [N], "float32", device_type="cuda")
TWO, BY_64 = at_offsets((4, 8), (0, 4)), ptx("", ".reqntid 64, 2, 1")
BYTE, SHORT, INT = (spec.Var(name, f"int{bits}") for name, bits in (("b", 8), ("s", 16), ("i", 32)))
OF_DLPACK = [
    # (int n, DLDevice d), and (short n, DLDataType t)
    ([INT, DEVICE], None, (4, 8), (0, 4), "<iii", (7, 2, 3)),
    ([SHORT, DTYPE], None, (2, 4), (0, 2), "<hBBH", (7, 2, 32, 1)),
    # struct { int i; DLDevice d; long long l; }, struct { char b; DLDataType t; }
    ([INT, DEVICE, N], [Struct(INT, "d", N)], (24,), (0,), "<iii4xq", (7, 2, 3, 7)),
    ([BYTE, DTYPE], [Struct(BYTE, "t")], (6,), (0,), "<bxBBH", (7, 2, 32, 1)),
    # struct { DLDevice d; int i; }, which is no 16 bytes
    ([INT, DEVICE], [Struct("d", INT)], (12,), (0,), "<iii", (2, 3, 7)),
]


@pytest.mark.parametrize(
    ("params", "args", "sizes", "offsets", "layout", "numbers"),
    OF_DLPACK,
    ids=lambda value: str(value)[:20],
)
def test_dlpacks_structs_are_aligned_as_their_members(
    driver: FakeDriver,
    params: Sequence[spec.Param],
    args: Any,
    sizes: Sequence[int],
    offsets: Sequence[int],
    layout: str,
    numbers: Sequence[int],
):
    """Offsets and sizes are those of nvcc 13.5 for sm_90."""
    others: dict[Any, Any] = {DEVICE: tvm_ffi.device("cuda:3"), DTYPE: tvm_ffi.dtype("float32")}
    values = [others.get(param, 7) for param in params]
    launch = launched(driver, at_offsets(sizes, offsets), params, *values, args=args)
    assert b"".join(launch.arguments) == struct.pack(layout, *numbers)


def test_a_value_is_stored_at_the_alignment_of_its_place():
    """More than that must not be promised, even where x86 does not mind."""
    text = str(attached([INT, DEVICE], provider(at_offsets((12,), (0,)), args=[Struct("d", INT)])))
    assert re.search(r"llvm\.store %\w+, %\w+ \{alignment = 4 : i64\} : i64, !llvm\.ptr", text)


def test_the_dtype_of_a_tensor_is_aligned_as_one(driver: FakeDriver):
    array = DeviceArray(driver, (4,), "float32").tensor()
    args = [Struct(Scalar(1, "int8"), "x.dtype"), Scalar(2, "int16"), "x.dtype"]
    kernel = at_offsets((6, 2, 4), (0, 6, 8))
    launch = launched(driver, kernel, [X], array, args=args)
    assert launch.arguments == (
        struct.pack("<bxBBH", 1, 2, 32, 1),
        struct.pack("<h", 2),
        struct.pack("<BBH", 2, 32, 1),
    )


@pytest.mark.parametrize(
    ("var", "dtype", "fits", "fails"),
    [
        (N, "int64", [-(2**63), 2**63 - 1], []),
        (N, "uint64", [0, 2**63 - 1], [-1]),
        (N, "uint32", [0, 2**32 - 1], [-1, 2**32]),
        (N, "int16", [-(2**15), 2**15 - 1], [-(2**15) - 1, 2**15]),
        (U, "uint64", [0, 2**63 - 1, 2**63, 2**64 - 1], []),
        (U, "int64", [0, 2**63 - 1], [2**63, 2**64 - 1]),
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
        # A uint64 beyond int64 is shown as the int64 with its bits.
        shown = value if value < 2**63 else value - 2**64
        with pytest.raises(ValueError, match=f"{var.name} is {shown}, which is no {dtype}"):
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
        (3.39e38, 0x7F7F),
        (-3.39e38, 0xFF7F),
    ],
)
def test_bfloat16_is_rounded_once(value: float, bits: int):
    assert Scalar(value, "bfloat16").bits == bits


def test_bfloat16_of_nan_is_nan():
    bits = Scalar(float("nan"), "bfloat16").bits
    assert bits & 0x7F80 == 0x7F80
    assert bits & 0x7F


@pytest.mark.parametrize("value", [3.4e38, -3.4e38, 1e39])
def test_what_would_be_rounded_to_infinity(value: float):
    with pytest.raises(SpecError, match="is too large for a bfloat16"):
        Scalar(value, "bfloat16")


FLOAT, UNSIGNED = spec.Var("a", "float32"), spec.Var("a", "uint32")
KINDS: list[tuple[str, list[spec.Param], list[Any] | None, bool]] = [
    # the type in PTX, parameters, args, and whether they fit: pointers are integers in PTX
    ("f32", [FLOAT], None, True),
    ("f32", [spec.Var("a", "int32")], None, False),
    ("f32", [N], [N * 2], False),
    ("b32", [spec.Var("a", "int32")], None, True),
    *((kind, [UNSIGNED], None, True) for kind in ("u32", "s32")),
    *((kind, [FLOAT], None, False) for kind in ("u32", "s32")),
    *((kind, [], [Scalar(1.0, "float32")], False) for kind in ("u32", "s32")),
    ("b32", [FLOAT], None, True),
    ("u64", [spec.DataPointer("a")], None, True),
]


@pytest.mark.parametrize(("kind", "params", "args", "fits"), KINDS)
def test_integers_are_no_floats_where_ptx_says_so(kind: str, params: Any, args: Any, fits: bool):
    words = rf"takes \(#0 {kind}\), but the arguments"
    with nullcontext() if fits else pytest.raises(BuildError, match=words):
        attached(params, of(ptx(f".param .{kind} a"), args=args))


@pytest.mark.parametrize(
    ("dtype", "kinds"),
    [("float16", ["f16", "b16"]), ("bfloat16", ["b16"]), ("float32", ["f32", "b32"]),
     ("float64", ["f64", "b64"])],
)  # fmt: skip
def test_constants_that_are_floats(driver: FakeDriver, dtype: str, kinds: Sequence[str]):
    """Their bits are passed as those of an integer, but they are floats."""
    constant = Scalar(0.5, dtype)
    for kind in kinds:
        image = ptx(f".param .{kind} a")
        [passed] = launched(driver, KernelImage("k"), [], image=image, args=[constant]).arguments
        assert int.from_bytes(passed, "little") == constant.bits


def test_what_ptx_says_of_alignment(driver: FakeDriver):
    one = ".param .align 64 .b8 {}[72]"
    image = ptx(f"{one.format('a')}, {one.format('b')}, .param .u64 .ptr .align 16 p")
    memory = ctypes.create_string_buffer(72)
    args, params = [Pointee("p", 72), Pointee("p", 72), "p"], [spec.DataPointer("p")]
    address = ctypes.addressof(memory)
    launch = launched(driver, KernelImage("k"), params, address, image=image, args=args)
    assert [each.address % 64 for each in launch.parameters[:2]] == [0, 0]


def test_an_argument_at_an_offset_that_its_type_can_have():
    """Two ints of 4 bytes are as large as a pointer, which would be at 8."""
    attached([INT, J], provider(TWO, args=[INT, Struct(INT, J)]))
    assert str(Struct("a", Scalar(1, "int8"))) == f"{{a, {Scalar(1, 'int8')}}}"


def fatbin_of(size: int, other: int) -> bytes:
    parts = [
        (make_cubin([KernelImage("k", (size,))], sm=sm), sm)
        for size, sm in ((size, 80), (other, 90))
    ]
    return make_fatbin(parts)


OTHER: list[tuple[str, Any, type[Exception], str]] = [
    ("a struct in which a pointee is", lambda: attached([P], provider(KernelImage("k", (8,)), args=[Struct(Pointee("p", 8))])), BuildError, r"args= has \*p, which cannot be inside a Struct"),
    ("an int that is too large", lambda: attached([], provider(KernelImage("k", (1,)), args=[256])), BuildError, "args= has 256, which does not fit the 1 byte that"),
    ("a pointer at 4", lambda: attached([INT, P], provider(TWO)), BuildError, r"#1 8 bytes at 4.* \(#1 differs\)"),
    ("rocm", lambda: attached([spec.Tensor("r", [N], "float32", device_type="rocm")], provider(KernelImage("k", (8,)))), BuildError, "expected one of cuda, cuda_host, cuda_managed"),
    ("data of the host", lambda: attached([HOST], provider(KernelImage("k", (8,)), args=[HOST.data])), BuildError, "'h' is on device_type 'cpu', whose memory a kernel"),
    ("data for 4 bytes", lambda: attached([X], provider(KernelImage("k", (4,)), args=[X.data])), BuildError, r"passed as \(#0 x.data: 8 bytes\) \(#0 differs\)"),
    ("parts that do not agree", lambda: of(fatbin_of(4, 8)), SpecError, r"has different parameters in the entries .* sm_80 has \(4 bytes\), sm_90 has \(8 bytes\)"),
    ("another block than it needs", lambda: of(BY_64, block=128), SpecError, r"block: expected \(64, 2, 1\), which the kernel 'k' was"),
    ("an empty struct", Struct, SpecError, r"^Struct: expected at least one member; C has no empty"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "error", "words"), [e[1:] for e in OTHER], ids=[e[0] for e in OTHER]
)
def test_what_does_not_fit(make: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        make()


def test_a_block_that_the_kernel_needs():
    of(BY_64, block=(64, 2))
    of(fatbin_of(4, 4))
    attached([], provider(KernelImage("k", (1,)), args=[255]))


def test_an_image_that_does_not_tell_its_parameters(driver: FakeDriver):
    """Then nothing is compared; ints and expressions have 8 bytes."""
    unknown = ptx(".param .x64 a")
    launch = launched(driver, KernelImage("k"), [N], 5, image=unknown, args=[N * 2])
    assert launch.arguments == (struct.pack("<q", 10),)


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


def of_two_architectures(*, ptx_too: bool) -> bytes:
    entries = [(make_cubin([KernelImage("k")], sm=sm), sm) for sm in (80, 90)]
    return make_fatbin([*entries, (ptx(""), 90)] if ptx_too else entries)


@pytest.mark.parametrize(
    ("code", "most"),
    [
        (make_cubin([KernelImage("k")], sm=75), 96 << 10),
        (make_cubin([KernelImage("k")], sm=80), 163 << 10),
        (make_cubin([KernelImage("k")], sm=90, exact=True), 227 << 10),
        (make_cubin([KernelImage("k")], sm=120), 99 << 10),
        (of_two_architectures(ptx_too=False), 227 << 10),
    ],
)
def test_shared_memory_that_no_gpu_has(code: bytes, most: int):
    of(code, dynamic_smem_bytes=most)
    words = f"expected at most {most}, as no GPU that runs sm_.* {most + 1}$"
    with pytest.raises(SpecError, match=words):
        of(code, dynamic_smem_bytes=most + 1)


@pytest.mark.parametrize("code", [ptx(""), of_two_architectures(ptx_too=True)])
def test_later_gpus_may_have_more_shared_memory(code: bytes):
    of(code, dynamic_smem_bytes=1 << 20)


def test_static_shared_memory_counts():
    cubin = image("cuda13-sm_90a.cubin")  # its kernel `bounded` has 1024 bytes
    most = (227 << 10) - 1024
    options: dict[str, Any] = {"grid": 1, "block": 1}
    CudaLaunchCallProvider(cubin, "bounded", dynamic_smem_bytes=most, **options)
    words = f"at most {most} beside the kernel's 1024 of static shared"
    with pytest.raises(SpecError, match=words):
        CudaLaunchCallProvider(cubin, "bounded", dynamic_smem_bytes=most + 1, **options)
