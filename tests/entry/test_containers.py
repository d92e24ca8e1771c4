"""Values of classes that derive from Python's own arrive as tvm-ffi passes them, on every way."""

from __future__ import annotations

import collections
import enum
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final, NamedTuple, cast

import numpy
import pytest
import tvm_ffi

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import PackedCallProvider
from ffi_builder.spec import (
    Array,
    Function,
    Map,
    Object,
    Optional,
    Shape,
    Signature,
    String,
    Struct,
    Tensor,
    TensorList,
    TupleParam,
    Var,
    dims,
)
from tests.entry import functions
from tests.entry.rules import WAYS
from tests.support.wrapping import new_module

np: Any = numpy


class Pair(NamedTuple):
    first: Any
    second: Any


class OddTuple(tuple[Any, ...]):
    """What tvm-ffi passes of it is what it holds."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(["other"])


class OddList(list[Any]):
    """What tvm-ffi passes of it is what it yields."""

    def __iter__(self) -> Iterator[Any]:
        return iter(["yielded"])

    def __len__(self) -> int:
        return 7


class OddDict(dict[Any, Any]):
    def items(self) -> Any:
        return [("other", 1)]


class ArrayTuple(tuple[Any, ...]):
    __slots__ = ()

    def __dlpack__(self, **_: Any) -> Any:
        return np.ones(2, "float32").__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class StreamTuple(tuple[Any, ...]):
    __slots__ = ()

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 5


class ValueList(list[Any]):
    """A list, whatever else it offers."""

    def __tvm_ffi_value__(self) -> object:
        return 5

    def __call__(self) -> int:
        return 5

    def __tvm_ffi_int__(self) -> int:
        return 5


class Value:
    def __tvm_ffi_value__(self) -> object:
        return tvm_ffi.Shape((1, 2))


class CallableValue(Value):
    def __call__(self) -> int:
        return 5


class IntValue(Value):
    def __tvm_ffi_int__(self) -> int:
        return 6


class PointerValue(Value):
    def __tvm_ffi_opaque_ptr__(self) -> int:
        return 64


class DeviceValue(Value):
    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class ErrorValue(Value, Exception): ...


class MyBytes(bytes): ...


class MyStr(str):
    __slots__ = ()


class MyInt(int): ...


class Level(enum.IntEnum):
    LOW = 1


class Word(str, enum.Enum):
    RELU = "relu"


class Corner(tuple[int, int], enum.Enum):
    ORIGIN = (0, 0)


def _moved() -> dict[str, int]:
    made: collections.OrderedDict[str, int] = collections.OrderedDict(a=1, b=2)
    made.move_to_end("a")
    return made


VALUES: Final[dict[str, Callable[[], Any]]] = {
    "shape": lambda: tvm_ffi.Shape((1, 2)),
    "empty shape": lambda: tvm_ffi.Shape(()),
    "ffi array": lambda: tvm_ffi.Array([1, 2]),
    "ffi list": lambda: tvm_ffi.List([1, 2]),
    "ffi map": lambda: tvm_ffi.Map({"a": 1}),
    "ffi dict": lambda: tvm_ffi.Dict({"a": 1}),
    "ffi string": lambda: tvm_ffi.convert("relu" * 4),
    "ffi bytes": lambda: tvm_ffi.convert(b"relu" * 4),
    "ffi tensor": lambda: tvm_ffi.from_dlpack(np.ones(2, "float32")),
    "tuple": lambda: (1, 2),
    "list": lambda: [1, 2],
    "dict": lambda: {"a": 1},
    "named tuple": lambda: Pair(1, 2),
    "odd tuple": lambda: OddTuple((1, 2)),
    "odd list": lambda: OddList([1, 2]),
    "odd dict": lambda: OddDict(a=1),
    "ordered dict": _moved,
    "default dict": lambda: collections.defaultdict(int, a=1),
    "counter": lambda: collections.Counter("aab"),
    "array tuple": lambda: ArrayTuple((1, 2)),
    "stream tuple": lambda: StreamTuple((1, 2)),
    "value list": lambda: ValueList([1, 2]),
    "value": Value,
    "callable value": CallableValue,
    "int value": IntValue,
    "pointer value": PointerValue,
    "device value": DeviceValue,
    "error value": ErrorValue,
    "UserList": lambda: collections.UserList([1]),
    "deque": lambda: collections.deque([1]),
    "set": lambda: {1},
    "MyStr": lambda: MyStr("relu"),
    "MyBytes": lambda: MyBytes(b"relu"),
    "MyInt": lambda: MyInt(3),
    "bytearray": lambda: bytearray(b"relu"),
    "IntEnum": lambda: Level.LOW,
    "str Enum": lambda: Word.RELU,
    "tuple Enum": lambda: Corner.ORIGIN,
    "np.int8": lambda: np.int8(3),
    "np.float32": lambda: np.float32(1.5),
    "np.str_": lambda: np.str_("relu"),
    "np.bytes_": lambda: np.bytes_(b"relu"),
    "array": lambda: np.ones(2, "float32"),
    "range": lambda: range(3),
}

AROUND: Final[dict[str, Callable[[Any], Any]]] = {
    "alone": lambda value: value,
    "in a list": lambda value: [0, value],
    "in a tuple in a list": lambda value: [(value,)],
    "in a dict": lambda value: {"k": value},
    "in a dict in a tuple": lambda value: ({"k": [value]}, 1),
}

(n,) = dims("n")
PARAMS: Final[dict[str, Any]] = {
    "Object": Object("x"),
    "Object Shape": Object("x", "ffi.Shape"),
    "Object Array": Object("x", "ffi.Array"),
    "Array": Array("x"),
    "Map": Map("x"),
    "Any": spec.Any("x"),
    "Shape": Shape("x", [1, 2]),
    "TensorList": TensorList(Tensor("x", [n], "float32", device_type="cpu")),
    "Optional": Optional(Array("x")),
    "String": String("x"),
    "Function": Function("x"),
    "int": Var("x", "int64"),
    "Tensor": Tensor("x", [n], "float32", device_type="cpu"),
    "Tuple": TupleParam("x", [Object("a"), Object("b")]),
    "Struct": Struct("x", [Object("first"), Array("second")]),
    "numbers": TupleParam("x", [Var("a", "int64"), Var("b", "int64")]),
}


class Ways(NamedTuple):
    """A function of one parameter, called in each way, and what its callee gets."""

    both: functions.Ways
    seen: list[object]

    def outcome(self, way: str, value: object) -> list[object]:
        """Return what the callee got, or the error."""
        self.seen.clear()
        try:
            getattr(self.both, way)(value)
        except Exception as error:
            return [type(error), str(error), *self.seen]
        return self.seen[:]


def _ways(param: str) -> Ways:
    seen: list[object] = []

    def note(value: Any) -> None:
        seen.append(_shown(value))

    name = f"tests.entry.containers.{param}"
    tvm_ffi.register_global_func(name, note, override=True)
    module = new_module()
    attach(module, Signature("f", [PARAMS[param]]), PackedCallProvider(global_function=name))
    return Ways(functions.both_ways(runtime.compile(module, opt_level=0)), seen)


SEQUENCES: Final[Any] = (tvm_ffi.Array, tvm_ffi.List)
MAPPINGS: Final[Any] = (tvm_ffi.Map, tvm_ffi.Dict)
SHOWN: Final[Any] = (int, float, str, bytes, tuple)


def _shown(value: Any) -> object:
    """Return the class and the contents of what the callee got."""
    kind: object = type(cast("object", value))
    if isinstance(value, SEQUENCES):
        return kind, [_shown(item) for item in value]
    if isinstance(value, MAPPINGS):
        return kind, [(_shown(key), _shown(item)) for key, item in value.items()]
    return kind, repr(value) if isinstance(value, SHOWN) else None


@pytest.mark.parametrize("param", PARAMS)
def test_a_value_arrives_as_by_tvm_ffi(param: str) -> None:
    ways, wrong = _ways(param), list[str]()
    for around, make in AROUND.items():
        for name, value in VALUES.items():
            expected = ways.outcome("plain", make(value()))
            if isinstance(value(), (bytes, bytearray)) and param in ("Tensor", "TensorList"):
                continue  # they are buffers there
            for way in WAYS:
                got = ways.outcome(way, make(value()))
                if got != expected:
                    wrong.append(f"{way}, {name} {around}: {expected} but {got}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("way", WAYS)
def test_a_shape_is_no_array(way: str) -> None:
    shape = tvm_ffi.Shape((1, 2))
    assert _ways("Object Shape").outcome(way, shape) == [(tvm_ffi.Shape, "(1, 2)")]
    (error, words) = _ways("Array").outcome(way, shape)
    assert error is TypeError
    assert "expected Array but got ffi.Shape" in str(words)


def test_no_python_runs_for_a_shape() -> None:
    """It is a tuple of ints, so no array is in it that would have to be converted."""
    entry, shape = functions.ways([PARAMS["Shape"]]).entry, tvm_ffi.Shape((1, 2))
    names: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            names.append(frame.f_code.co_name)

    entry(shape)
    sys.setprofile(note)
    try:
        entry(shape)
    finally:
        sys.setprofile(None)
    assert not names
