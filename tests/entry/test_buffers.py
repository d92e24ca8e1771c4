"""Objects with the buffer protocol for tensors, on every way from Python to a function."""

from __future__ import annotations

import array
import ctypes
import gc
import mmap
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import numpy
import pytest

from ffi_builder import attach, runtime
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Signature, Struct, Tensor, TensorList, Var
from tests.entry.functions import Ways, both_ways, calling, read_in_c, ways
from tests.entry.rules import WAYS, recorded, tensor
from tests.runtime.samples import run_child
from tests.support.wrapping import new_module

np: Any = numpy

_INTS: Final = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
DTYPES: Final[dict[str, str]] = dict(
    zip((*_INTS, "bool", "float32", "float64"), "bBhHiIqQ?fd", strict=True)
)


@cache
def of(dtype: str, ndim: int = 1, intent: str | None = "in") -> Ways:
    """A function whose kernel notes the address of `x`, its dimensions, and its strides."""
    shape = [Var(f"n{at}", "int64") for at in range(ndim)]
    strides = [Var(f"s{at}", "int64") for at in range(ndim)]
    x = Tensor("x", shape, dtype, device_type="cpu", strides=strides, intent=intent)
    return ways([x], ["!llvm.ptr", *["i64"] * (2 * ndim)], [x, *shape, *strides])


def got(both: Ways, way: str, value: Any, ndim: int = 1) -> list[int]:
    """Return the address, and the dimensions and strides, that the kernel gets."""
    assert both.recording is not None
    both.recording.clear()
    getattr(both, way)(value)
    return [both.recording.unsigned(0), *(both.recording.signed(1 + at) for at in range(2 * ndim))]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_each_format_is_a_dtype(way: str, dtype: str) -> None:
    size = np.dtype(dtype).itemsize
    whole, cast_to = bytearray(6 * size), cast("Any", memoryview).cast
    at = ctypes.addressof(ctypes.c_char.from_buffer(whole))
    view = cast_to(memoryview(whole), DTYPES[dtype])
    assert got(of(dtype), way, view) == [at, 6, 1]
    assert got(of(dtype), way, view[1::2]) == [at + size, 3, 2]
    assert got(of(dtype), way, view[::-1]) == [at + 5 * size, 6, -1]
    assert got(of(dtype), way, view[:0])[1] == 0
    rows = cast_to(memoryview(whole), DTYPES[dtype], [2, 3])
    assert got(of(dtype, 2), way, rows, 2) == [at, 2, 3, 3, 1]
    with pytest.raises(TypeError, match=rf"Mismatched x.dtype .*complex64 but got {dtype}"):
        getattr(of("complex64"), way)(view)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float16", "complex64", "complex128", "int64"])
def test_formats_of_numpy_arrays(way: str, dtype: str) -> None:
    given = np.zeros((4, 3), dtype)[::2]
    expected = [given.ctypes.data, 2, 3, 6, 1]
    assert got(of(dtype, 2), way, memoryview(given), 2) == expected


def _array_at(given: Any) -> int:
    return given.buffer_info()[0]


BUFFERS: Final[dict[str, tuple[str, Callable[[], Any], Callable[[Any], int]]]] = {
    "bytearray": (
        "uint8",
        lambda: bytearray(3),
        lambda x: ctypes.addressof(ctypes.c_char.from_buffer(x)),
    ),
    "array": ("float64", lambda: array.array("d", [1, 2, 3]), _array_at),
    "long": ("int64", lambda: array.array("l", [1, 2, 3]), _array_at),
    "ctypes": ("int16", lambda: (ctypes.c_int16 * 3)(), ctypes.addressof),
    "c_long": ("int64", lambda: (ctypes.c_long * 3)(), ctypes.addressof),
    "c_ubyte": ("uint8", lambda: (ctypes.c_ubyte * 3)(), ctypes.addressof),
    "mmap": (
        "uint8",
        lambda: mmap.mmap(-1, 3),
        lambda x: ctypes.addressof(ctypes.c_char.from_buffer(x)),
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", BUFFERS)
def test_buffers_are_written_where_they_are(way: str, kind: str) -> None:
    dtype, make, address = BUFFERS[kind]
    given = make()
    assert got(of(dtype, intent="inout"), way, given) == [address(given), 3, 1]
    call = getattr(of(dtype, intent="inout"), way)
    with read_in_c(*[call] * (dtype == "uint8")):  # C knows the class since the first call
        call(given)
    view = memoryview(given)
    assert got(of(dtype, intent="out"), way, view) == [address(given), 3, 1]
    with pytest.raises(ValueError, match=r'\(x is declared intent="out"\) but got a read-only buf'):
        getattr(of(dtype, intent="out"), way)(view.toreadonly())


@pytest.mark.parametrize("way", WAYS)
def test_arrays_of_ctypes_have_dimensions(way: str) -> None:
    rows = (ctypes.c_float * 4 * 3)()
    assert got(of("float32", 2), way, rows, 2) == [ctypes.addressof(rows), 3, 4, 4, 1]
    number = ctypes.c_float()
    assert got(of("float32", 0), way, number, 0) == [ctypes.addressof(number)]


@pytest.mark.parametrize("way", WAYS)
def test_bytes_are_only_read(way: str, tmp_path: Path) -> None:
    given = b"1234"
    at = ctypes.cast(ctypes.c_char_p(given), ctypes.c_void_p).value
    assert got(of("uint8"), way, given) == [at, 4, 1]
    with read_in_c(getattr(of("uint8"), way)):
        assert got(of("uint8"), way, given) == [at, 4, 1]
    file = tmp_path / "x"
    file.write_bytes(given)
    with (
        file.open("rb") as opened,
        mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
    ):
        assert got(of("uint8"), way, mapped)[1:] == [4, 1]
        for wrong, name in ((given, "bytes"), (mapped, "mmap.mmap"), (memoryview(given), "memory")):
            for intent in (None, "inout"):
                with pytest.raises(ValueError, match=rf"a read-only buffer \({name}.*pass a copy"):
                    getattr(of("uint8", intent=intent), way)(wrong)


TEXT: Final = cast("Any", array.array)("u", "abc")  # it is deprecated


class Pair(ctypes.Structure):
    _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_float))


NO_NUMBERS: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "struct": (lambda: (Pair * 3)(), r"T\{.*\}', which is no dtype: pass a buffer of ints"),
    "pointers": (lambda: (ctypes.c_void_p * 3)(), "<P', which is no dtype"),
    "long double": (lambda: (ctypes.c_longdouble * 3)(), "<g', which is no dtype"),
    "swapped": (lambda: memoryview(np.zeros(3, ">i4")), ">i', which is of swapped bytes: copy its"),
    "swapped ctypes": (
        lambda: (ctypes.c_float.__ctype_be__ * 3)(),  # pyright: ignore[reportAttributeAccessIssue]
        ">f', which is of swapped bytes",
    ),
    "objects": (lambda: memoryview(np.array([1, None])), "O', which is no dtype"),
    "records": (lambda: memoryview(np.zeros(3, [("a", "i4")])), r"T\{i:a:\}', which is no dtype"),
    "chars": (lambda: ctypes.create_string_buffer(3), "<c', which is text: np.frombuffer"),
    "wide chars": (lambda: (ctypes.c_wchar * 3)(), "<u', which is text"),
    "texts": (lambda: memoryview(np.array([b"ab"])), "2s', which is text"),
    "unicode": (lambda: TEXT, "[uw]', which is text"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_formats_that_are_no_dtypes(way: str, kind: str) -> None:
    make, words = NO_NUMBERS[kind]
    f = getattr(ways([Var("a", "int32"), tensor(intent="in")]), way)
    expected = (
        rf"^Mismatched type of x on argument #1 .* expected Tensor but got .* of format '.*{words}"
    )
    with pytest.raises(TypeError, match=expected):
        f(1, make())


@pytest.mark.parametrize("way", WAYS)
def test_items_that_are_not_whole_strides_apart(way: str) -> None:
    field = memoryview(np.zeros(3, [("a", "f4"), ("b", "i1")])["a"])
    with pytest.raises(
        ValueError, match=r"^Mismatched x on .* strides \(5,\) in bytes, of items o"
    ):
        getattr(recorded("in"), way)(field)


@pytest.mark.parametrize("way", WAYS)
def test_buffers_that_are_gone(way: str) -> None:
    released, closed = memoryview(bytearray(4)), mmap.mmap(-1, 4)
    released.release()
    closed.close()
    for gone, words in ((released, "memoryview: .*released"), (closed, "mmap.mmap: .*closed")):
        with pytest.raises(ValueError, match=f"^Mismatched x on argument #0 .* but got {words}"):
            getattr(of("uint8"), way)(gone)


@pytest.mark.parametrize("way", WAYS)
def test_buffers_within_arguments(way: str) -> None:
    f = getattr(ways([Struct("c", [tensor()]), TensorList(tensor("xs"))]), way)
    given = array.array("f", [1, 2, 3])
    f((given,), [given, np.ones(3, "float32")])
    with pytest.raises(ValueError, match=r"^Mismatched c\.x on argument #0 .* a read-only buffer"):
        f((b"1",), [])
    with pytest.raises(TypeError, match=r"^Mismatched type of xs\[1\] on .* of format 'u|w'"):
        f((given,), [given, TEXT])


@pytest.mark.parametrize("way", WAYS)
def test_memory_is_held_for_a_call_and_no_longer(way: str) -> None:
    f = getattr(ways([tensor(), Var("a", "int32", max=3)]), way)
    items = array.array("f", [1, 2, 3])
    before = sys.getrefcount(items)
    for _ in range(100):
        f(items, 1)
        with pytest.raises(ValueError, match="at most 3"):
            f(items, 4)
        with pytest.raises(TypeError, match="type of a"):
            f(items, "x")
    gc.collect()
    assert sys.getrefcount(items) == before
    items.append(4)  # a BufferError while its memory is held


@pytest.mark.parametrize("count", [1, 8, 9, 32])
@pytest.mark.parametrize("way", WAYS)
def test_many_buffers(way: str, count: int) -> None:
    f = getattr(ways([tensor(f"x{at}") for at in range(count)]), way)
    given = [array.array("f", [1, 2]) for _ in range(count)]
    for _ in range(3):
        f(*given)
    for item in given:
        item.append(3)


SLEEPS: Final = """
llvm.func @usleep(i32) -> i32
llvm.func @kernel(%x: !llvm.ptr) {
  %time = llvm.mlir.constant(200000 : i32) : i32
  %0 = llvm.call @usleep(%time) : (i32) -> i32
  llvm.return
}"""


@pytest.mark.parametrize("way", WAYS)
def test_another_thread_cannot_free_the_memory(way: str) -> None:
    module = new_module(SLEEPS)
    attach(module, Signature("f", [tensor()]), DirectCallProvider("kernel", args=["x"]))
    f, items = getattr(both_ways(runtime.compile(module)), way), array.array("f", [1, 2, 3])
    f(items)
    thread = threading.Thread(target=f, args=(items,))
    thread.start()
    time.sleep(0.1)
    with pytest.raises(BufferError, match="exporting buffers"):
        items.append(4)
    thread.join()
    items.append(4)


def test_memory_is_held_while_a_callee_has_it() -> None:
    """A callee that Python calls meanwhile cannot change its size."""
    items = array.array("f", [1, 2, 3])

    def grow(_: int, x: Any) -> None:
        items.append(4)

    # tvm-ffi makes a RuntimeError of it.
    with pytest.raises(RuntimeError, match="exporting buffers"):
        calling(grow)(1, items)


def test_what_a_callee_keeps_holds_the_memory() -> None:
    kept: list[Any] = []

    def keep(_: int, x: Any) -> None:
        kept.append(x)

    items = array.array("f", [1, 2, 3])
    calling(keep)(1, items)
    assert np.from_dlpack(kept[0]).tolist() == [1, 2, 3]
    with pytest.raises(BufferError, match="exporting buffers"):
        items.append(4)
    kept.clear()
    items.append(4)


@pytest.mark.slow
def test_a_tensor_that_outlives_python() -> None:
    done = run_child("""
        import array, ctypes
        from tvm_ffi import LIB
        from tests.entry.functions import calling

        def keep(_, x):
            LIB.TVMFFIObjectIncRef(ctypes.c_void_p(x.__chandle__()))
            libc = ctypes.CDLL(None)
            libc.__cxa_atexit(LIB.TVMFFIObjectDecRef, ctypes.c_void_p(x.__chandle__()), None)

        calling(keep)(1, array.array("f", [1, 2, 3]))
        """)
    assert (done.returncode, done.stderr) == (0, "")


def test_bytes_stay_bytes_where_no_tensor_is_expected() -> None:
    both = ways(Signature.parse("f(s: Bytes, o: Object, xs: Array)").params)
    for way in WAYS:
        getattr(both, way)(b"bytes", b"long enough", [b"bytes", memoryview(b"x")])


class Exporting(cast("Any", ctypes.Array)):
    """An array of ctypes that exports another array by DLPack."""

    _length_: int = 3
    _type_: Any = ctypes.c_float
    exported: Any = np.ones(2, "float32")

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.exported.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


@pytest.mark.parametrize("way", WAYS)
def test_dlpack_comes_before_the_buffer_protocol(way: str) -> None:
    for _ in range(3):
        expected = [Exporting.exported.ctypes.data, 2, 1]
        assert got(of("float32", intent="inout"), way, Exporting()) == expected
