"""Arguments of calls as parameters of kernels, byte by byte, where the image says that they are."""

from __future__ import annotations

import ctypes
import struct
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.fakehip.driver import FakeHipDriver
from ffi_builder.providers.cuda import Nested, Packed, Pointee, Scalar, Struct, TensorMap
from tests.cuda.scalars import SCALARS, SIZES, bits, passed
from tests.fakecuda.memory import DeviceArray
from tests.fakehip.code_objects import POINTER, CodeKernel
from tests.rocm.launch.launching import ADD, N, X, compiled, launched, tensor

P = (8, POINTER)


def test_scalars_of_every_width(hip: FakeHipDriver):
    kernel = CodeKernel("k", SIZES)
    params = [spec.Var(f"v_{dtype}", dtype) for dtype, *_ in SCALARS]
    launch = launched(hip, kernel, params, *(value for _, value, _ in passed()))
    assert list(launch.arguments) == [bits(*each) for each in passed()]
    assert [each.offset for each in launch.parameters] == kernel.offsets()


def test_constants_of_every_width(hip: FakeHipDriver):
    args = [Scalar(value, dtype) for dtype, value, _ in SCALARS]
    launch = launched(hip, CodeKernel("k", SIZES), [], args=args)
    assert list(launch.arguments) == [bits(*each) for each in SCALARS]


PARAMS = [
    X,
    N,
    spec.Var("i", "int32"),
    spec.Optional(spec.Tensor("z", [spec.Var("m", "int64")], "float32", device_type="rocm")),
    spec.DataPointer("p"),
    spec.TupleParam("pair", [spec.Var("a", "int16"), spec.Var("b", "float32")]),
    spec.Shape("dims", [spec.Var("d0", "int64"), spec.Var("d1", "int64")]),
    spec.Device("device"),
    spec.DType("dtype"),
    spec.Choice("mode", {"fast": 0, "slow": 1}),
]
_DEVICE, _DTYPE = tvm_ffi.device("rocm", 1), tvm_ffi.dtype("float32")
KINDS: list[tuple[str, list[Any], list[Any], str, list[Any]]] = [
    # name, args, parameters, layout of all the bytes, their values ("x": the address of x)
    ("a tensor", ["x"], [P], "<Q", ["x"]),
    ("its data", ["x.data"], [P], "<Q", ["x"]),
    ("a size", ["n"], [8], "<q", [4]),
    ("an expression", ["n * 2 + 1"], [4], "<i", [9]),
    ("an int", [7], [2], "<h", [7]),
    ("a float", [0.5], [8], "<d", [0.5]),
    ("NULL", [None], [P], "<Q", [0]),
    ("a tensor that is absent", ["z"], [P], "<Q", [0]),
    ("a pointer", ["p"], [P], "<Q", [64]),
    ("a tuple", ["pair"], [2, 4], "<hxxf", [5, 1.5]),
    ("a shape", ["dims"], [8, 8], "<qq", [2, 3]),
    ("a device", ["device"], [8], "<ii", [10, 1]),
    ("a dtype", ["dtype"], [4], "<BBH", [2, 32, 1]),
    ("a choice", ["mode"], [4], "<i", [1]),
    ("a struct", [Struct("x", "i", Scalar(3, "int8"))], [16], "<Qibxxx", ["x", 6, 3]),
    ("a packed tensor", [Packed("x")], [16], "<Qq", ["x", 4]),
    ("a nested tensor", [Nested("x")], [16], "<Qq", ["x", 4]),
]


@pytest.mark.parametrize(
    ("args", "parameters", "layout", "expected"), [k[1:] for k in KINDS], ids=[k[0] for k in KINDS]
)
def test_each_kind(
    hip: FakeHipDriver, args: list[Any], parameters: list[Any], layout: str, expected: list[Any]
):
    array = DeviceArray(hip, (4,), "float32")
    call = (array.tensor(kind="rocm"), 4, 6, None, 64, (5, 1.5), (2, 3), _DEVICE, _DTYPE, "slow")
    launch = launched(hip, CodeKernel("k", parameters), PARAMS, *call, args=args)
    values = [array.address if value == "x" else value for value in expected]
    size = max(each.offset + each.size for each in launch.parameters)
    memory = bytearray(size)
    for each in launch.parameters:
        memory[each.offset : each.offset + each.size] = each.data
    assert bytes(memory).ljust(struct.calcsize(layout), b"\0") == struct.pack(layout, *values)


def test_bytes_behind_a_pointer(hip: FakeHipDriver):
    kernel, content = CodeKernel("k", [24, 4]), (ctypes.c_char * 24)(*range(24))
    params = [spec.DataPointer("p"), spec.Var("i", "int32")]
    launch = launched(
        hip, kernel, params, ctypes.addressof(content), 7, args=[Pointee("p", 24), "i"]
    )
    assert list(launch.arguments) == [bytes(range(24)), struct.pack("<i", 7)]


WRONG: list[tuple[str, CodeKernel, dict[str, Any], type[Exception], str]] = [
    ("one too few", ADD, {"args": ["x"]}, BuildError, r"the kernel 'add' takes \(#0 pointer at 0, #1 4 bytes at 8\), but the arguments of 'f' are passed as \(#0 x: 8 bytes\); choose"),
    ("a number for a pointer", ADD, {"args": ["n", 1]}, BuildError, r"\(#0 differs\).*; a pointer is a Tensor, a DataPointer, a Var of dtype handle, or None"),
    ("a float for a pointer", ADD, {"args": [0.5, 1]}, BuildError, r"\(#0 differs\)"),
    ("another size", ADD, {"args": ["x", Scalar(1, "int64")]}, BuildError, r"\(#1 differs\)"),
    ("a tensor map", ADD, {"args": [Struct(TensorMap("x", box=[4])), 1]}, SpecError, "args= has x as a tensor map, and AMD's GPUs have no tensor maps; pass the tensor"),
    ("LDS by a pointer", CodeKernel("k", [P, (4, "dynamic_shared_pointer")]), {}, SpecError, "parameter #1 of the kernel 'k' is a dynamic_shared_pointer, which HIP cannot pass"),
    ("on the host", ADD, {"args": [b"x", 1]}, BuildError, "the address of bytes is in host memory"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kernel", "options", "kind", "words"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG]
)
def test_what_does_not_fit(
    kernel: CodeKernel, options: dict[str, Any], kind: type[Exception], words: str
):
    with pytest.raises(kind, match=rf"RocmLaunchCallProvider: .*{words}"):
        compiled(kernel, [X], **options)


def test_memory_of_another_vendor():
    other = spec.Tensor("y", [N], "float32", device_type="cuda")
    words = "'y' is on device_type 'cuda', .*; expected one of rocm, rocm_host"
    with pytest.raises(BuildError, match=f"RocmLaunchCallProvider: {words}"):
        compiled(ADD, [other], args=["y", 1])


def test_memory_of_any_device(hip: FakeHipDriver):
    anywhere = spec.Tensor("x", [N], "float32", device_type="any")
    f = compiled(ADD, [anywhere], args=["x", 1])["f"]
    f(tensor(hip))
    words = "x is on a device of type cuda, whose memory a kernel cannot read; expected rocm"
    with pytest.raises(ValueError, match=words):
        f(DeviceArray(hip, (4,), "float32").tensor(kind="cuda"))
