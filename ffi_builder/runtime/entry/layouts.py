"""Offsets that the extension reads at, found or verified on objects of known contents.

Each function returns a layout, or raises LayoutError with the reason why there is none that can
be relied upon. None of them writes to memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from ffi_builder.records import dataclass


class LayoutError(Exception):
    """An object is not laid out as expected; the text is a reason to show."""


def words(address: int, count: int) -> list[int]:
    """Read 64-bit words at an address."""
    return list((ctypes.c_uint64 * count).from_address(address))


def expect(right: bool, reason: str) -> None:
    """Raise LayoutError unless `right`."""
    if not right:
        raise LayoutError(reason)


def only(offsets: Iterable[int], what: str) -> int:
    """Return the only one of `offsets`. Raises LayoutError if there are none, or several."""
    found = list(offsets)
    expect(len(found) == 1, f"{what} is at {found or 'no offset'}")
    return found[0]


def address_of(library: ctypes.CDLL, symbol: str) -> int:
    """Return the address of a function. Raises LayoutError if the library lacks it."""
    try:
        found = ctypes.cast(library[symbol], ctypes.c_void_p).value
    except AttributeError:
        found = None
    if found is None:
        raise LayoutError(f"{symbol} is not in {Path(str(library._name)).name}")
    return found


# ---- tvm-ffi


@dataclass(frozen=True)
class FunctionLayout:
    """Offsets of `handle` and `release_gil` in a `tvm_ffi.Function`, and the size of one."""

    size: int
    handle: int
    release_gil: int


def function_layout(functions: Sequence[Any]) -> FunctionLayout:
    """Find the layout of `tvm_ffi.Function`s; their `release_gil` is switched on and off."""
    size: int = type(functions[0]).__basicsize__
    handle = only(_handles(functions), "the handle of a tvm_ffi.Function")
    function = functions[0]
    before = function.release_gil
    numbers = (ctypes.c_int32 * (size // 4)).from_address(id(function))
    function.release_gil = True
    on = list(numbers)
    function.release_gil = False
    off = list(numbers)
    function.release_gil = before
    changed = [4 * at for at in range(size // 4) if on[at] != off[at]]
    release_gil = only(changed, "release_gil of a tvm_ffi.Function")
    expect((on[release_gil // 4], off[release_gil // 4]) == (1, 0), "release_gil is no int")
    return FunctionLayout(size, handle, release_gil)


def _handles(objects: Sequence[Any]) -> Iterator[int]:
    """Offsets at which each object has its handle."""
    expect(all(item.__chandle__() for item in objects), "a handle is NULL")
    size: int = type(objects[0]).__basicsize__
    for at in range(16, size, 8):
        if all(words(id(item) + at, 1) == [item.__chandle__()] for item in objects):
            yield at


# ---- NumPy

DTypes = dict[int, tuple[int, int]]
"""DLPack's code and bits, by a framework's number for the type."""

_NUMPY_CODES: Final = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}


def numpy_dtypes(np: Any) -> DTypes:
    """Return the NumPy types that DLPack has, after comparing the layout of arrays with C's."""
    found: DTypes = {}
    for letter in "?bBhHiIlLqQefdFD":
        dtype = np.dtype(letter)
        number: int = dtype.num
        expect(0 <= number < 64, f"dtype {dtype} has the number {number}")
        _check_dtype(dtype)
        found[number] = (_NUMPY_CODES[dtype.kind], 8 * dtype.itemsize)
    _check_dtype(np.dtype(">f4"))
    for array in _numpy_samples(np):
        _check_array(np, array)
    return found


def _numpy_samples(np: Any) -> Iterator[Any]:
    whole = np.zeros((5, 7, 3), "float64")
    frozen = np.zeros(3, "uint8")
    frozen.flags.writeable = False
    yield from (np.zeros((), "int32"), whole, whole[1::2, ::-1], whole.T, whole[:0], frozen)
    yield np.frombuffer(bytes(9), "int8")[1:9].view("int64")


def _check_array(np: Any, array: Any) -> None:
    at = id(array)
    ndim: int = array.ndim
    expect(words(at + 16, 1) == [array.__array_interface__["data"][0]], "ndarray: data")
    expect(ctypes.c_int32.from_address(at + 24).value == ndim, "ndarray: number of dimensions")
    for offset, numbers in ((32, array.shape), (40, array.strides)):
        if ndim:
            read = (ctypes.c_int64 * ndim).from_address(words(at + offset, 1)[0])
            expect(tuple(read) == numbers, "ndarray: shape and strides")
    expect(words(at + 56, 1) == [id(array.dtype)], "ndarray: dtype")
    flags = ctypes.c_uint32.from_address(at + 64).value
    aligned, writeable = array.flags.aligned, array.flags.writeable
    expect((bool(flags & 0x100), bool(flags & 0x400)) == (aligned, writeable), "ndarray: flags")


def _check_dtype(dtype: Any) -> None:
    order = ctypes.c_char.from_address(id(dtype) + 26).value
    number = ctypes.c_int32.from_address(id(dtype) + 28).value
    expect((order.decode("latin-1"), number) == (dtype.byteorder, dtype.num), f"dtype {dtype}")


# ---- PyTorch


class ExchangeApi(ctypes.Structure):
    """DLPackExchangeAPI: its functions as addresses."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("older", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("to_managed", ctypes.c_void_p),
        ("from_managed", ctypes.c_void_p),
        ("borrow", ctypes.c_void_p),
        ("current_stream", ctypes.c_void_p),
    )


def exchange_api(cls: Any) -> int:
    """The address of the exchange API of a class. Raises LayoutError if it is of no use."""
    capsule: Any = getattr(cls, "__dlpack_c_exchange_api__", None)
    expect(capsule is not None, f"{cls.__name__} has no exchange API")
    address: int = capsule
    if not isinstance(capsule, int):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        try:
            address = pointer(capsule, b"dlpack_exchange_api")
        except ValueError as error:
            raise LayoutError(f"the exchange API of {cls.__name__}: {error}") from None
    api = ExchangeApi.from_address(address)
    expect(api.major == 1, f"the exchange API of {cls.__name__} has version {api.major}")
    expect(api.borrow is not None, f"the exchange API of {cls.__name__} borrows nothing")
    return address
