"""Arrays of classes that have DLPack's exchange API, on any device, with its stream."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, cast

import numpy as np
import pytest

from ffi_builder.entry.layouts import DLTensor, ExchangeApi, LayoutError, exchange_api
from ffi_builder.spec import EnvStream, Tensor, Var, dims
from tests.entry.functions import needs_extension, ways

pytestmark = needs_extension

(n,) = dims("n")
STREAM = 0xABC0


class Managed(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


ToManaged = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
Borrow = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
Stream = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)
_python: Any = ctypes.pythonapi
# Prototypes of their own: whoever else is in the process may set those of `ctypes.pythonapi`.
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", _python)
)
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _python)
)
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_SetName", _python)
)
_USED = b"used_dltensor_versioned"
_forever: list[object] = []


def array_class(
    device: int = 1, *, strides: bool = True, major: int = 1, fails: bool = False
) -> Any:
    """A new class of arrays on a device of this type; NumPy has the memory.

    Its objects may say something else of the fields of their DLTensor.
    """

    class Array:
        def __init__(self, array: Any, **fields: Any) -> None:
            self.array, self.fields = array, fields
            self.borrowed = 0

    def describe(tensor: DLTensor, item: Any) -> None:
        tensor.device_type = device
        tensor.device_id = 3 if device != 1 else 0
        if not strides:
            tensor.strides = None
        for name, value in item.fields.items():
            setattr(tensor, name, value)

    @ToManaged
    def to_managed(item: Any, out: Any) -> int:
        capsule = item.array.__dlpack__(max_version=(1, 0))
        address = _pointer(capsule, b"dltensor_versioned")
        _rename(capsule, _USED)
        describe(Managed.from_address(address).tensor, item)
        out[0] = address
        return 0

    @Borrow
    def borrow(item: Any, out: Any) -> int:
        if fails:
            return -1
        capsule = item.array.__dlpack__(max_version=(1, 0))
        item.kept = capsule
        item.borrowed += 1
        out[0] = Managed.from_address(_pointer(capsule, b"dltensor_versioned")).tensor
        describe(out[0], item)
        return 0

    @Stream
    def stream(device_type: int, device_id: int, out: Any) -> int:
        out[0] = STREAM if (device_type, device_id) == (device, 3) else None
        return 0

    def address(function: Any) -> Any:
        return ctypes.cast(function, ctypes.c_void_p).value

    api = ExchangeApi(
        major, 0, None, None, address(to_managed), None, address(borrow), address(stream)
    )
    _forever.extend([api, to_managed, borrow, stream])
    capsule = _new(ctypes.addressof(api), b"dlpack_exchange_api", None)
    Array.__dlpack_c_exchange_api__ = capsule  # type: ignore[attr-defined]
    return Array


@pytest.mark.parametrize("strides", [True, False])
def test_an_array_is_read_once_its_class_is_known(strides: bool) -> None:
    x = Tensor("x", [n], "float32", device_type="cpu")
    both = ways([x, Var("a", "int32")], ["!llvm.ptr", "i64", "i32"], [x, n, Var("a", "int32")])
    make = array_class(strides=strides)
    item = make(np.ones(5, "float32"))
    expected = both.outcome(both.general, item, 3)
    for call in range(3):
        assert both.outcome(both.entry, item, 3) == expected
        assert (both.entry._general_calls, item.borrowed) == (1, call)
    assert both.outcome(both.entry, item, "x") == both.outcome(both.general, item, "x")


def test_a_device_and_its_stream() -> None:
    x, stream = Tensor("x", [n], "float32", device_type="cuda"), EnvStream("stream")
    both = ways([stream, x], ["!llvm.ptr", "!llvm.ptr"], [x, stream])
    make = array_class(device=2)
    item = make(np.ones(5, "float32"))
    for _ in range(3):
        assert both.outcome(both.entry, item) == both.outcome(both.general, item)
        both.entry(item)
        assert both.recording is not None
        assert [both.recording.unsigned(at) for at in (0, 1)] == [item.array.ctypes.data, STREAM]
    assert both.entry._general_calls == 1


@pytest.mark.parametrize("wrong", [{"fails": True}, {"major": 2}])
def test_an_api_of_no_use(wrong: dict[str, Any]) -> None:
    both = ways([Tensor("x", [n], "float32", device_type="cpu")])
    item = array_class(**wrong)(np.ones(5, "float32"))
    for calls in range(1, 4):
        assert both.outcome(both.entry, item) == both.outcome(both.general, item)
        assert both.entry._general_calls == calls


def test_a_tensor_that_cannot_be() -> None:
    both = ways([Tensor("x", [n], "float32", device_type="cpu")])
    make = array_class()
    fields: list[dict[str, Any]] = [{"device_type": -1}, {"device_type": 0}]
    if sys.version_info >= (3, 11):  # tvm-ffi's build for Python 3.10 reads the shape itself
        fields.append({"shape": None})
    for wrong in fields:
        general = both.outcome(both.general, make(np.ones(5, "float32"), **wrong))
        assert issubclass(cast("type", general[0]), Exception)
        for _ in range(3):
            assert both.outcome(both.entry, make(np.ones(5, "float32"), **wrong)) == general


def test_a_class_that_is_learnt_again_takes_no_other_place() -> None:
    from ffi_builder.entry import _entry  # needs the extension

    make = array_class()
    for _ in range(9):  # one more than there are places
        assert _entry.use_exchange(make, exchange_api(make))


def test_reasons() -> None:
    with pytest.raises(LayoutError, match="has version 2"):
        exchange_api(array_class(major=2))
    with pytest.raises(LayoutError, match="int has no exchange API"):
        exchange_api(int)
    wrong = type("Wrong", (), {"__dlpack_c_exchange_api__": object()})
    with pytest.raises(LayoutError, match="exchange API of Wrong"):
        exchange_api(wrong)


def test_a_subclass_is_not_read_as_its_base() -> None:
    both = ways([Tensor("x", [n], "float32", device_type="cpu")])
    base = array_class()
    item = type("Mine", (base,), {})(np.ones(5, "float32"))
    for calls in range(1, 4):
        assert both.outcome(both.entry, item) == both.outcome(both.general, item)
        assert (both.entry._general_calls, item.borrowed) == (calls, 0)
