"""Arguments that callables take beside what tvm-ffi converts by itself."""

from __future__ import annotations

import ctypes
import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

from ffi_builder.spec import (
    Choice,
    ConstInt,
    Optional,
    Stream,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
)
from tests.runtime.callables import checking, float32, recorded
from tests.runtime.samples import run_child


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 10
    HIGH = 20


class Flags(enum.IntFlag):
    A = 1
    B = 2


class Half(enum.Enum):
    HALF = 0.5


class Act(enum.Enum):
    relu = 1
    gelu = 2


class Word(str, enum.Enum):
    RELU = "relu"
    GELU = "gelu"


ACT = Choice("act", {"relu": 5, "gelu": 6})


# ---- enumerators


@pytest.mark.parametrize(
    ("given", "value"),
    [(Color.BLUE, 2), (Level.HIGH, 20), (Flags.A | Flags.B, 3), (True, 1), (np.int8(4), 4)],
)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64"])
def test_enumerators_are_ints(given: Any, value: int, dtype: str) -> None:
    bits = int(dtype.lstrip("uint"))
    compiled, recording = recorded([Var("a", dtype)], [f"i{bits}"])
    compiled.callable("f")(a=given)
    assert recording.signed(0, bits // 8) == value


def test_enumerators_are_floats_strs_and_constants() -> None:
    compiled, recording = recorded([Var("a", "float32")], ["f32"])
    compiled.callable("f")(Half.HALF)
    assert float32(recording, 0) == 0.5
    checking(String("s")).callable("f")(Word.RELU)
    checking(ConstInt("c", 2)).callable("f")(Color.BLUE)
    with pytest.raises(ValueError, match=r"expected 2 but got 1"):
        checking(ConstInt("c", 2)).callable("f")(Color.RED)


def test_a_wrong_enumerator() -> None:
    with pytest.raises(TypeError, match=r"Mismatched type of a .* expected int"):
        checking(Var("a", "int32")).callable("f")(Half.HALF)
    with pytest.raises(ValueError, match="expected one of 'relu', 'gelu'"):
        checking(ACT).callable("f")(Color.RED)


@pytest.mark.parametrize(
    ("given", "value"), [("relu", 5), (Act.gelu, 6), (Word.RELU, 5), (Word.GELU, 6)]
)
@pytest.mark.parametrize("optional", [False, True])
def test_enumerators_are_choices(given: Any, value: int, optional: bool) -> None:
    compiled, recording = recorded([Optional(ACT) if optional else ACT], ["i32"])
    compiled.callable("f")(given)
    assert recording.signed(0, 4) == value


def test_an_optional_choice_is_none() -> None:
    compiled, recording = recorded([Optional(ACT)], ["i32"])
    compiled.callable("f")(None)
    assert recording.signed(0, 4) == 0


# ---- structs


@dataclass
class Config:
    alpha: float
    number: int
    act: Any = "relu"


class Triple(NamedTuple):
    alpha: float
    number: int
    act: Any


@dataclass
class Swapped:
    number: int
    alpha: float
    act: Any


class SwappedTuple(NamedTuple):
    number: int
    alpha: float
    act: Any


FIELDS = [Var("alpha", "float32"), Var("number", "int32"), ACT]


def received(param: Any, given: Any) -> list[float]:
    compiled, recording = recorded([param], ["f32", "i32", "i32"])
    compiled.callable("f")(given)
    return [float32(recording, 0), recording.signed(1, 4), recording.signed(2, 4)]


@pytest.mark.parametrize(
    "given",
    [
        Config(0.5, 3, "gelu"),
        Config(Half.HALF, 3, Act.gelu),  # pyright: ignore[reportArgumentType]
        Triple(0.5, 3, Word.GELU),
        (0.5, 3, "gelu"),
        [0.5, 3, Act.gelu],
    ],
)
@pytest.mark.parametrize(
    "param",
    [Struct("cfg", FIELDS), TupleParam("cfg", FIELDS), Optional(Struct("cfg", FIELDS))],
    ids=["Struct", "TupleParam", "Optional"],
)
def test_records(given: Any, param: Any) -> None:
    assert received(param, given) == [0.5, 3, 6]


def test_an_enumerator_in_a_struct_is_what_its_field_takes() -> None:
    """Not a name for all of them because one of them is a Choice."""
    assert received(Struct("cfg", FIELDS), Config(0.5, Level.LOW, Act.relu)) == [0.5, 10, 5]
    assert received(Struct("cfg", FIELDS), Config(0.5, Color.BLUE, Act.relu)) == [0.5, 2, 5]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("given", [Swapped(1, 2.0, "relu"), SwappedTuple(1, 2.0, "relu")])
def test_fields_of_other_names(given: Any) -> None:
    """By position they would be taken for each other."""
    call = checking(Struct("cfg", FIELDS)).callable("f")
    words = (
        r"Mismatched cfg, expected the fields alpha, number, act but got Swapped\w* with number, "
    )
    for _ in range(2):
        with pytest.raises(TypeError, match=words):
            call(given)
    checking(TupleParam("t", [Var("x", "int32"), Var("y", "float32"), ACT])).callable("f")(given)


def test_what_is_no_record() -> None:
    call = checking(Struct("cfg", FIELDS)).callable("f")
    with pytest.raises(TypeError, match="Mismatched type of cfg"):
        call(5)
    with pytest.raises((TypeError, ValueError), match=r"Mismatched len\w* of cfg"):
        call((0.5, 3))
    with pytest.raises(ValueError, match=r"Mismatched cfg.act"):
        call((0.5, 3, "tanh"))
    checking(Optional(Struct("cfg", FIELDS))).callable("f")(None)


@dataclass
class Inner:
    a: int
    b: int


@dataclass
class Outer:
    name: str
    inner: Inner
    maybe: Inner | None = None
    pair: Any = (1, 2)


class InnerOther(NamedTuple):
    b: int
    a: int


NESTED = Struct(
    "cfg",
    [
        String("name"),
        Struct("inner", [Var("a", "int32"), Var("b", "int32")]),
        Optional(Struct("maybe", [Var("c", "int32"), Var("d", "int32")])),
        TupleParam("pair", [Var("e", "int32"), Var("g", "int32")]),
    ],
)


@dataclass
class CD:
    c: Any
    d: Any


def test_records_in_records() -> None:
    compiled, recording = recorded([NESTED], ["!llvm.ptr", "i64", *["i32"] * 6])
    call = compiled.callable("f")

    def got() -> list[int]:
        return [recording.signed(index, 4) for index in range(2, 8)]

    call(Outer("abc", Inner(1, 2)))
    assert recording.unsigned(1) == 3
    assert got() == [1, 2, 0, 0, 1, 2]
    call(Outer("abc", Inner(1, 2), CD(Color.BLUE, 4), [Color.RED, Level.LOW]))  # pyright: ignore[reportArgumentType]
    assert got() == [1, 2, 2, 4, 1, 10]
    call(("abc", Inner(1, 2), None, CD(5, 6)))
    assert got() == [1, 2, 0, 0, 5, 6]


def test_fields_of_other_names_in_records() -> None:
    call = checking(NESTED).callable("f")
    with pytest.raises(TypeError, match=r"Mismatched cfg.inner, expected the fields a, b but got "):
        call(Outer("abc", InnerOther(1, 2)))  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"Mismatched cfg.inner, .* got InnerOther with b, a"):
        call(("abc", InnerOther(1, 2), None, (1, 2)))


def test_a_tensor_in_a_record_is_the_same_tensor() -> None:
    @dataclass
    class Arrays:
        x: np.ndarray[Any, Any]
        scale: float = field(default=1.0)

    params = [Tensor("x", [2], "float32", device_type="cpu"), Var("scale", "float32")]
    compiled, recording = recorded([Struct("cfg", params)], ["!llvm.ptr", "f32"])
    x = np.zeros(2, "float32")
    compiled.callable("f")(Arrays(x))
    assert recording.unsigned(0) == x.ctypes.data


# ---- streams: frameworks' protocols, without the frameworks


class TorchStream:
    """As `torch.cuda.Stream` of before `__cuda_stream__`."""

    cuda_stream = 0x1234


class DriverStream:
    """As `cuda.bindings.driver.CUstream`: its number by int()."""

    def __int__(self) -> int:
        return 0x1234


class ProtocolStream:
    """As of cuda.core: the protocol's version, and the handle."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, 0x1234)


class BothStream(ProtocolStream):
    cuda_stream = 0x999


class HoldingStream:
    """As frameworks that wrap the driver's."""

    cuda_stream = DriverStream()


@pytest.mark.parametrize(
    "given",
    [
        0x1234,
        np.int64(0x1234),
        ctypes.c_void_p(0x1234),
        TorchStream(),
        DriverStream(),
        ProtocolStream(),
        BothStream(),
        HoldingStream(),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("nested", [False, True])
def test_streams(given: Any, nested: bool) -> None:
    param = TupleParam("t", [Stream("s")]) if nested else Stream("s")
    compiled, recording = recorded([param], ["!llvm.ptr"])
    compiled.callable("f")([given] if nested else given)
    assert recording.unsigned(0) == 0x1234


def test_no_stream_is_the_default_one() -> None:
    compiled, recording = recorded([Stream("s", default=None)], ["!llvm.ptr"])
    compiled.callable("f")()
    assert recording.unsigned(0) == 0


@pytest.mark.parametrize("given", [1.5, np.float32(1.5), np.array(5), "5", True, object(), [1]])
def test_what_is_no_stream(given: Any) -> None:
    """Numbers and arrays have an `__int__` too."""
    with pytest.raises(TypeError, match=r"Mismatched type of s "):
        checking(Stream("s")).callable("f")(given)


def test_a_stream_that_fails_says_why() -> None:
    class Closed:
        def __cuda_stream__(self) -> tuple[int, int]:
            raise RuntimeError("the stream was closed")

    with pytest.raises(RuntimeError, match="the stream was closed"):
        checking(Stream("s")).callable("f")(Closed())


DRIVER = """
import sys, types, enum
bindings = types.ModuleType("cuda.bindings"); driver = types.ModuleType("cuda.bindings.driver")
class CUstream:
    def __init__(self, value): self.value = value
    def __int__(self): return self.value
driver.CUstream = CUstream; bindings.driver = driver
cuda = types.ModuleType("cuda"); cuda.bindings = bindings; cuda.__path__ = []; bindings.__path__ = []
sys.modules.update({"cuda": cuda, "cuda.bindings": bindings, "cuda.bindings.driver": driver})
from ffi_builder.spec import Stream
from tests.runtime.callables import recorded
compiled, recording = recorded([Stream("s")], ["!llvm.ptr"])
for call in (compiled["f"], compiled.callable("f")):
    recording.clear()
    call(CUstream(0x1234))
    assert recording.unsigned(0) == 0x1234
print("right")
"""


@pytest.mark.slow
def test_a_custream_of_cuda_python() -> None:
    """tvm-ffi looks for cuda-python when it is imported, so: in a process of its own."""
    done = run_child(DRIVER)
    assert (done.stdout, done.stderr) == ("right\n", "")
