"""Arguments of calls as parameters of kernels, byte by byte."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, SpecError, attach, runtime, spec
from ffi_builder.providers import CudaLaunchCallProvider
from ffi_builder.providers.cuda import Nested, Packed, Pointee, Scalar, Struct, TensorMap
from tests.cuda.launching import launched, provider, wrap
from tests.cuda.scalars import SCALARS, SIZES, bits, passed
from tests.fakecuda import DeviceArray, FakeDriver, KernelImage, make_cubin, make_ptx
from tests.support.wrapping import attached, new_module

N = spec.Var("n", "int64")


def tensor(name: str, *shape: Any, **options: Any) -> spec.Tensor:
    every: dict[str, Any] = {"device_type": "cuda", **options}
    return spec.Tensor(name, list(shape), "float32", **every)


def test_scalars_of_every_width(driver: FakeDriver):
    params = [spec.Var(f"v_{dtype}", dtype) for dtype, *_ in SCALARS]
    values = [value for _, value, _ in passed()]
    launch = launched(driver, KernelImage("k", SIZES), params, *values)
    assert list(launch.arguments) == [bits(*each) for each in passed()]


def test_constants_of_every_width(driver: FakeDriver):
    args = [Scalar(value, dtype) for dtype, value, _ in SCALARS]
    launch = launched(driver, KernelImage("k", SIZES), [], args=args)
    assert list(launch.arguments) == [bits(*each) for each in SCALARS]


def test_data_pointers(driver: FakeDriver):
    kernel = KernelImage("k", (8, 8, 8, 8))
    x, y = DeviceArray(driver, (4,), "float32"), DeviceArray(driver, (2, 4), "float32")
    params = [
        tensor("x", N, data_alignment=4),
        tensor("y", 2, N),
        spec.DataPointer("p"),
        spec.Optional(tensor("z", N)),
    ]
    launch = launched(driver, kernel, params, x.tensor(byte_offset=0), y.tensor(), 0x1234, None)
    assert launch.arguments == tuple(
        struct.pack("<Q", address) for address in (x.address, y.address, 0x1234, 0)
    )


def test_a_byte_offset_is_added(driver: FakeDriver):
    x = DeviceArray(driver, (8,), "float32")
    whole = x.tensor(byte_offset=16)
    launch = launched(driver, KernelImage("k", (8,)), [tensor("x", N, data_alignment=4)], whole)
    assert launch.arguments == (struct.pack("<Q", x.address + 16),)


A8, B16 = spec.Var("a", "int8"), spec.Var("b", "int16")
F32, F64, I32 = spec.Var("f", "float32"), spec.Var("d", "float64"), spec.Var("i", "int32")
NULLS = Struct(Scalar(1, "int8"), None, Struct(None, "n"), None)
PASSED: list[tuple[str, tuple[int, ...], list[spec.Param], tuple[Any, ...], list[Any] | None, bytes]] = [
    # sizes of the kernel's parameters, those of the function, arguments, args=, and what is passed
    ("no parameters", (), [], (), None, b""),
    ("streams and constants are none", (4,), [spec.ConstInt("version", 2), spec.Stream("stream"), I32, spec.ConstNone("nothing")], (2, 0, 7, None), None, struct.pack("<i", 7)),
    ("shapes, tuples and choices", (8, 8, 2, 8, 1), [spec.Shape("s", [N, 3, N * 2]), spec.TupleParam("t", [B16, F64]), spec.Choice("act", {"relu": 1, "gelu": -2}, "int8")], ((5, 3, 10), (-1, 0.5), "gelu"), None, struct.pack("<qqhdb", 5, 10, -1, 0.5, -2)),
    ("NULL in a struct", (40,), [N], (7,), [NULLS], struct.pack("<b7xQQqQ", 1, 0, 0, 7, 0)),
    ("members of a struct", (40,), [spec.Shape("s", [N, 3, spec.Var("m", "int16")]), spec.TupleParam("t", [A8, F32])], ((5, 3, 2), (1, 0.5)), [Struct("s", N * 2, 7, "t")], struct.pack("<qh6xqqb3xf", 5, 2, 10, 7, 1, 0.5)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("sizes", "params", "values", "args", "content"), [e[1:] for e in PASSED], ids=[e[0] for e in PASSED]
)  # fmt: skip
def test_what_is_passed(
    driver: FakeDriver, sizes: Any, params: Any, values: Any, args: Any, content: bytes
):
    launch = launched(driver, KernelImage("k", sizes), params, *values, args=args)
    assert b"".join(launch.arguments) == content


def test_args_choose_and_order(driver: FakeDriver):
    x = DeviceArray(driver, (3, 4), "float32")
    rows, cols = spec.dims("rows cols", "int32")
    kernel = KernelImage("k", (8, 8, 4, 4, 2, 1, 4))
    param = tensor("x", rows, cols)
    args = [rows * cols, param.data, "cols", rows, cols + 1, 7, "x.device_id"]
    launch = launched(driver, kernel, [param], x.tensor(), args=args)
    assert b"".join(launch.arguments) == struct.pack("<qQiihbi", 12, x.address, 4, 3, 5, 7, 0)


def test_structs_by_value_with_padding_of_zeros(driver: FakeDriver):
    x = DeviceArray(driver, (3,), "float32")
    c = spec.Var("c", "int8")
    inner = Struct(c, Scalar(2.5, "float64"), Scalar(True, "bool"))
    entry = Struct("c", tensor("x", N).data, inner, N, Scalar(9, "uint16"))
    kernel = KernelImage("k", (56,))
    launch = launched(driver, kernel, [tensor("x", N), c], x.tensor(), -1, args=[entry])
    assert launch.arguments == (
        struct.pack("<b7xQb7xd?7xqH6x", -1, x.address, -1, 2.5, True, 3, 9),
    )


def test_tensors_packed_and_nested(driver: FakeDriver):
    rows, cols = spec.dims("rows cols", "int32")
    pitch = spec.Var("pitch", "int64")
    x = DeviceArray(driver, (3, 8), "float32")
    params = [tensor("x", rows, cols, strides=[pitch, 1])]
    packed = struct.pack("<Qiiq", x.address, 3, 8, 8)
    launch = launched(
        driver, KernelImage("k", (24, 24)), params, x.tensor(), args=[Packed("x"), Nested("x")]
    )
    assert launch.arguments == (packed, struct.pack("<Qiiq", x.address, 3, 8, 8))


def test_a_nested_tensor_of_one_dimension(driver: FakeDriver):
    n = spec.Var("n", "int32")
    x = DeviceArray(driver, (3,), "float32")
    params = [tensor("x", n)]
    launch = launched(driver, KernelImage("k", (16,)), params, x.tensor(), args=[Nested("x")])
    assert launch.arguments == (struct.pack("<Qi4x", x.address, 3),)


def test_the_layout_hook_of_the_packing_providers(driver: FakeDriver):
    class Sized(CudaLaunchCallProvider):
        """A tensor is {size, data}."""

        def tensor_members(self, context: Any, tensor: spec.Tensor) -> Any:
            return [context.shape(tensor)[0], context.data(tensor)]

    x = DeviceArray(driver, (3,), "float32")
    image = make_cubin([KernelImage("k", (16,))])
    sized = Sized(image, "k", grid=1, block=1)
    runtime.compile(attached([tensor("x", N)], sized))["f"](x.tensor())
    [launch] = driver.launches()
    assert launch.arguments == (struct.pack("<qQ", 3, x.address),)


@pytest.mark.parametrize("shift", [0, 4])
def test_a_tensor_map_is_copied_to_aligned_memory(driver: FakeDriver, shift: int):
    data = bytes(range(128))
    memory = ctypes.create_string_buffer(bytes(shift) + data + bytes(64), 256)
    launch = launched(
        driver,
        KernelImage("k", (128, 4)),
        [spec.DataPointer("map"), spec.Var("i", "int32")],
        ctypes.addressof(memory) + shift,
        3,
        args=[TensorMap("map"), "i"],
    )
    assert launch.arguments == (data, struct.pack("<i", 3))
    assert launch.parameters[0].address % 128 == 0


def test_what_a_pointer_points_to(driver: FakeDriver):
    config = struct.pack("<if8x", 7, 0.5)
    memory = ctypes.create_string_buffer(config, 16)
    params = [spec.Var("config", "handle")]
    function = wrap(KernelImage("k", (12,)), params, args=[Pointee("config", 12, 4)])
    function(ctypes.c_void_p(ctypes.addressof(memory)))
    assert driver.launches()[0].arguments == (config[:12],)
    words = r"\*config cannot be passed by value: the pointer is NULL"
    with pytest.raises(ValueError, match=words):
        function(None)
    assert len(driver.launches()) == 1


def test_numbers_take_the_size_of_the_kernels_parameter_and_must_fit(driver: FakeDriver):
    function = wrap(KernelImage("k", (2,)), [spec.Var("n", "int64")], args=[N * 2])
    function(0x4000)
    assert driver.launches()[0].arguments == (struct.pack("<H", 0x8000),)
    with pytest.raises(ValueError, match=r"n \* 2 is 65536, which does not fit the 2 bytes"):
        function(0x8000)
    assert len(driver.launches()) == 1


def test_scalars_of_a_type_must_fit(driver: FakeDriver):
    for value in (N, "n"):
        function = wrap(KernelImage("k", (1,)), [N], args=[Scalar(value, "int8")])
        function(-128)
        assert driver.launches()[-1].arguments == (b"\x80",)
        with pytest.raises(ValueError, match="n is 128, which is no int8"):
            function(128)


@pytest.mark.parametrize("image", [make_cubin, make_ptx])
def test_too_few_and_too_many_arguments(image: Any):
    kernel = KernelImage("k", (4, 8))
    for params in ([spec.Var("i", "int32")], [spec.Var(name, "int32") for name in "abc"]):
        with pytest.raises(BuildError, match=r"the kernel 'k' takes \(#0 .*, but the arguments"):
            attached(params, provider(kernel, image=image([kernel])))


def test_an_argument_of_another_size_shows_both_sides():
    params = [spec.Var("i", "int32"), tensor("x", N)]
    with pytest.raises(BuildError) as caught:
        attached(params, provider(KernelImage("k", (8, 8))))
    assert str(caught.value) == (
        "CudaLaunchCallProvider: the kernel 'k' takes (#0 8 bytes at 0, #1 8 bytes at 8), but the "
        "arguments of 'f' are passed as (#0 i (int32): 4 bytes, #1 x: 8 bytes) (#0 differs); choose "
        "and order them with args=, give numbers a type with Scalar(value, dtype), or change the "
        "kernel"
    )


@pytest.mark.parametrize(("sizes", "differs"), [((4, 8), True), ((4,), False)])
def test_entries_of_another_size_or_number(sizes: tuple[int, ...], differs: bool):
    args = [Scalar(1, "int32"), Scalar(1, "int32")]
    with pytest.raises(BuildError, match=r"passed as \(#0 1 as int32: 4 bytes, #1 1 as") as caught:
        attached([], provider(KernelImage("k", sizes), args=args))
    assert ("(#1 differs)" in str(caught.value)) is differs


@pytest.mark.parametrize("args", ["x", 5, {"x"}, (each for each in "x")])
def test_args_must_be_a_list(args: Any):
    with pytest.raises(SpecError, match=r"args= is .*; expected a list, such as \['x'\]"):
        provider(KernelImage("k", (8,)), args=args)


@pytest.mark.parametrize(
    ("param", "args", "words"),
    [
        (tensor("x", 3, device_type="cpu"), None, "'x' is on device_type 'cpu'"),
        (spec.String("s"), None, "'s' is a String"),
        (spec.Object("o"), None, "'o' is a Object"),
        (spec.Any("a"), None, "'a' is a Any, which is in host memory"),
        (spec.VarArgs("a"), None, "'a' is a VarArgs, which is in host memory"),
        (spec.VarArgs("a"), ["a.data"], "'a.data', which is in host memory"),
        (spec.Variant([spec.Var("v", "int8"), spec.String("v")]), None, r"'v\.str' is a String"),
        (spec.Variant([spec.Var("v", "int8"), tensor("v", 3)]), None, r"\(#0 v\.which: 4 bytes, #1 v\.int: 1 bytes?, #2 v"),
        (tensor("x", 3), ["x.dltensor"], "'x.dltensor', which is in host memory"),
        (tensor("x", 3), ["y"], "args= has 'y', which names no parameter"),
        (tensor("x", 3), [Pointee("x", 8)], r"\*x: expected a DataPointer"),
        (spec.DataPointer("p"), [Packed("p")], "Packed: expected a Tensor"),
        *((spec.Var("v", "float32"), [Scalar(name, "int32")], f"'{name}'") for name in ("v", "nobody")),
        (tensor("x", N), [Scalar("x", "int32")], "'x'"),
        (N, [Struct("n", Struct(2.5))], r'a Struct has 2\.5, a number without a type: write Scalar\(2\.5, "float32"\), or another'),
        (N, [Struct("n", Struct(b"A"))], "args= has b'A', and the address of bytes is in host memory"),
        (spec.Signature("f", [N], spec.Var("total", "int64")), None, "a kernel returns no numbers"),
    ],
)  # fmt: skip
def test_what_a_kernel_cannot_be_given(param: spec.Param | spec.Signature, args: Any, words: str):
    signature = param if isinstance(param, spec.Signature) else spec.Signature("f", [param])
    with pytest.raises(BuildError, match=words):
        attach(new_module(), signature, provider(KernelImage("k", (8,)), args=args))


def test_a_tensor_of_any_device_must_be_on_one_that_kernels_read(driver: FakeDriver):
    function = wrap(KernelImage("k", (8,)), [tensor("x", N, device_type="any")])
    x = DeviceArray(driver, (3,), "float32")
    function(x.tensor())
    assert driver.launches()[0].arguments == (struct.pack("<Q", x.address),)
    with pytest.raises(ValueError, match=r"x is on a device of type cpu, whose memory a kernel"):
        function(np.zeros(3, "float32"))
    assert len(driver.launches()) == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Scalar(256, "uint8"), "256 does not fit uint8"),
        (lambda: Scalar(0.5, "int32"), "0.5 does not fit int32"),
        (lambda: Scalar(1, "int7"), "dtype: expected one of"),
        (lambda: Scalar(N, "float32"), "n can be an integer, but not a float32"),
        (lambda: Scalar(spec.Var("v", "float32"), "int32"), "is a float32, not an integer"),
        (lambda: Scalar(1e300, "float32"), "too large for a float32"),
        (lambda: Pointee("p", 0), "size: expected a positive int"),
        (lambda: Pointee("p", 8, 3), "align: expected a power of two"),
        (lambda: Pointee(3, 8), "pointer: expected a parameter or its name but got 3"),  # pyright: ignore
        (lambda: Packed(3), "tensor: expected a parameter or its name but got 3"),  # pyright: ignore
        (lambda: Nested(None), "tensor: expected a parameter or its name"),  # pyright: ignore
        (lambda: Scalar("n", "float32"), "n can be an integer, but not a float32"),
        (lambda: Scalar(None, "int32"), "expected a number but got None"),  # pyright: ignore
    ],
)
def test_entries_that_make_no_sense(make: Any, words: str):
    with pytest.raises(SpecError, match=words):
        make()
