"""Values of all kinds, right, odd and wrong, to call functions with."""

from __future__ import annotations

import array
import ctypes
import dataclasses
import datetime
import decimal
import enum
import fractions
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy
import tvm_ffi

np: Any = numpy


class Level(enum.IntEnum):
    LOW = 1


class Word(str, enum.Enum):
    RELU = "relu"


class MyInt(int): ...


class MyFloat(float): ...


class MyStr(str): ...


class MyArray(numpy.ndarray[Any, Any]): ...


class Indexable:
    def __index__(self) -> int:
        return 3


class Exporting:
    """An object that knows nothing but DLPack; it exports an array, or raises an error."""

    def __init__(self, exported: Any) -> None:
        self.exported = exported

    def __dlpack__(self, **keywords: Any) -> Any:
        if isinstance(self.exported, Exception):
            raise self.exported
        return 5 if self.exported is None else self.exported.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class Interface:
    """An object that only NumPy makes an array of."""

    __array_interface__ = numpy.ones(3, "float32").__array_interface__


class Holding:
    """An object that tvm-ffi passes another value for."""

    def __init__(self, held: object) -> None:
        self.held = held

    def __tvm_ffi_value__(self) -> object:
        return self.held


class Hue(enum.Enum):
    GELU = 1.5
    B = "gelu"


@dataclasses.dataclass
class Pair:
    a: object
    b: int = 3


class MyList(list[object]): ...


class MyDict(dict[str, object]): ...


class Named(NamedTuple):
    a: object
    b: int


class Raising:
    """Every conversion of it raises."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__class__", "__dict__", "__doc__"):
            raise ZeroDivisionError(name)
        return object.__getattribute__(self, name)


def _read_only() -> Any:
    frozen = np.ones(3, "float32")
    frozen.flags.writeable = False
    return frozen


def _misaligned() -> Any:
    return np.frombuffer(bytearray(13), "uint8")[1:].view("float32")


def _metadata() -> Any:
    return np.ones(3, np.dtype("float32", metadata={"a": 1}))


PLAIN: dict[str, Callable[[], Any]] = {
    **{
        repr(value): lambda value=value: value
        for value in (
            *(0, 1, -1, 3, 127, 128, 255, 256, 2**31 - 1, 2**31, -(2**31), 2**62),
            *(2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64 - 1, 2**64, 10**40),
            *(True, False, None, 0.0, -0.0, 1.5, 1e300, 5e-324, float("inf"), float("nan")),
            *("", "relu", "gelu", "seven77", "eight888", "a\0b", "é漢🙂", "\ud800", "x" * 1000),
            *(b"", b"bytes", bytearray(b"bytes"), (), (1,), [1, 2], {}, {1: 2}, ..., 1j),
            *(Level.LOW, Word.RELU, object, len),
            *(decimal.Decimal("1.5"), fractions.Fraction(1, 2), range(3), Indexable()),
        )
    },
    "Raising": Raising,
    "MyInt": lambda: MyInt(3),
    "MyFloat": lambda: MyFloat(1.5),
    "MyStr": lambda: MyStr("relu"),
    "enum": lambda: Hue.GELU,
    "enum of str": lambda: Hue.B,
    "timedelta": lambda: datetime.timedelta(1),
    "generator": lambda: (each for each in [1]),
    "module": lambda: enum,
    "holding int": lambda: Holding(1),
    "pointer": lambda: ctypes.pointer(ctypes.c_int(1)),
    "c_void_p": lambda: ctypes.c_void_p(64),
    "c_int": lambda: ctypes.c_int(3),
    "array": lambda: array.array("f", [1, 2, 3]),
    "memoryview": lambda: memoryview(b"abc"),
    "device": lambda: tvm_ffi.device("cpu", 0),
    "dtype": lambda: tvm_ffi.dtype("float32"),
    "ffi array": lambda: tvm_ffi.convert([1, 2]),
    "ffi function": lambda: tvm_ffi.convert(len),
    "ffi string": lambda: tvm_ffi.convert("relu"),
    "ffi long string": lambda: tvm_ffi.convert("relu" * 100),
    "ffi shape": lambda: tvm_ffi.Shape((1, 2)),
}

_SHAPES: dict[str, Callable[[Any], Any]] = {
    "vector": lambda whole: whole[:3, 0, 0],
    "contiguous": lambda whole: whole.reshape(-1)[:3],
    "matrix": lambda whole: whole[0],
    "cube": lambda whole: whole,
    "skipped": lambda whole: whole[0, 0, ::2],
    "transposed": lambda whole: whole[0].T,
    "one": lambda whole: whole[:1, :1, 0],
    "column": lambda whole: whole[0, :, 1:2],
    "row": lambda whole: whole[0, 1:2, :],
    "empty": lambda whole: whole[0, :0, :],
    "no columns": lambda whole: whole[0, :, :0],
    "empty vector": lambda whole: whole[0, 0, :0],
    "scalar": lambda whole: whole[1, 2, 3],
}
_DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def _numpy(dtype: str, shape: str) -> Any:
    return np.asarray(_SHAPES[shape](np.arange(60).reshape(3, 4, 5).astype(dtype)))


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array


def _ones() -> Any:
    return np.ones(3, "float32")


_CONTAINERS: Final[dict[str, Callable[[Any], object]]] = {
    "list": lambda value: [value],
    "MyList": lambda value: MyList([value]),
    "tuple": lambda value: (value, 1),
    "pair": lambda value: (value, value),
    "dict": lambda value: {"a": value},
    "MyDict": lambda value: MyDict(a=value),
    "deep": lambda value: [{"a": (value,)}],
    "Pair": Pair,
    "Named": lambda value: Named(value, 1),
    "Holding": Holding,
    "Holding twice": lambda value: Holding([Holding(value)]),
}
_CONTENTS: Final[dict[str, Callable[[], Any]]] = {
    "ones": _ones,
    "read only": _read_only,
    "masked": lambda: np.ma.masked_array(_ones(), [0, 1, 0]),
    "int": lambda: 1,
    "swapped": lambda: np.ones(3, ">f4"),
}


def _held(container: str, content: str) -> object:
    return _CONTAINERS[container](_CONTENTS[content]())


HELD: dict[str, Callable[[], Any]] = {
    f"{container} of {content}": partial(_held, container, content)
    for container in _CONTAINERS
    for content in _CONTENTS
}
"""Containers of arrays, and objects that stand for arrays."""

NUMPY: dict[str, Callable[[], Any]] = {
    **{f"np {shape}": lambda shape=shape: _numpy("float32", shape) for shape in _SHAPES},
    **{f"np {dtype}": lambda dtype=dtype: _numpy(dtype, "contiguous") for dtype in _DTYPES},
    **{f"np.{dtype}()": lambda dtype=dtype: np.dtype(dtype).type(1) for dtype in _DTYPES},
    "reversed": lambda: np.ones(3, "float32")[::-1],
    "read only": _read_only,
    "misaligned": _misaligned,
    "swapped": lambda: np.ones(3, ">f4"),
    "metadata": _metadata,
    "unpickled": lambda: pickle.loads(pickle.dumps(np.ones(3, "float32"))),
    "longlong": lambda: np.ones(3, np.longlong),
    "longdouble": lambda: np.ones(3, np.longdouble),
    "objects": lambda: np.array([1, None]),
    "texts": lambda: np.array(["a", "b"]),
    "dates": lambda: np.array(["2020-01-01"], "datetime64[D]"),
    "records": lambda: np.zeros(3, [("a", "f4")]),
    "subclass": lambda: np.ones(3, "float32").view(MyArray),
    "masked": lambda: np.ma.masked_array(np.ones(3, "float32"), [0, 1, 0]),
    "matrix": lambda: np.asmatrix(np.ones((2, 2), "float32")),
    "broadcast": lambda: np.broadcast_to(np.float32(1), (3,)),
    "uneven": lambda: np.zeros(3, [("a", "f4"), ("b", "i1")])["a"],
    "deep": lambda: np.ones((1,) * 40, "float32"),
    "recarray": lambda: np.rec.array([(1.0, 2)], dtype=[("a", "f4"), ("b", "i4")]),
    "recarray of floats": lambda: _ones().view(np.recarray),
    "void": lambda: np.zeros(1, [("a", "f4")])[0],
    "durations": lambda: np.array([1], "m8[s]"),
    "duration": lambda: np.timedelta64(1, "s"),
    "np.str_": lambda: np.str_("relu"),
    "nothing masked": lambda: np.ma.masked_array(_ones()),
    "np.ma.masked": lambda: np.ma.masked,
    "masked, read only": lambda: np.ma.masked_array(_read_only()),
    "subclass, read only": lambda: _read_only().view(MyArray),
    "swapped, read only": lambda: np.frombuffer(bytes(12), ">f4"),
    "objects, read only": lambda: _frozen(np.array([1, None])),
    "misaligned, read only": lambda: np.frombuffer(bytes(13), "uint8")[1:].view("float32"),
    "uneven, read only": lambda: _frozen(np.zeros(3, [("a", "f4"), ("b", "i1")])["a"]),
    "diagonal": lambda: np.diagonal(np.ones((3, 3), "float32")),
    "warns when written": lambda: np.broadcast_arrays(np.ones(1, "float32"), np.ones(3))[0],
    "exporting": lambda: Exporting(_ones()),
    "exporting, read only": lambda: Exporting(_read_only()),
    "exporting no capsule": lambda: Exporting(None),
    **{
        f"raising {kind.__name__}": lambda kind=kind: Exporting(kind("told"))
        for kind in (BufferError, TypeError, ValueError, RuntimeError, ZeroDivisionError)
    },
    "interface": Interface,
    "tvm_ffi": lambda: tvm_ffi.from_dlpack(np.ones(3, "float32")),
    "tvm_ffi matrix": lambda: tvm_ffi.from_dlpack(np.ones((3, 4), "float32").T),
    "tvm_ffi int32": lambda: tvm_ffi.from_dlpack(np.ones(3, "int32")),
}


def torch_values(torch: Any) -> dict[str, Callable[[], Any]]:
    """Tensors of PyTorch."""

    def shaped(shape: str, dtype: str = "float32") -> Any:
        whole = torch.arange(60).reshape(3, 4, 5).to(getattr(torch, dtype))
        return _SHAPES[shape](whole)

    def graph() -> Any:
        return torch.ones(3, requires_grad=True) * 2

    def inference() -> Any:
        with torch.inference_mode():
            return torch.ones(3)

    return {
        **{f"torch {shape}": lambda shape=shape: shaped(shape) for shape in _SHAPES},
        **{
            f"torch {dtype}": lambda dtype=dtype: shaped("contiguous", dtype)
            for dtype in (*_DTYPES, "bfloat16", "float8_e4m3fn")
        },
        "leaf": lambda: torch.ones(3, requires_grad=True),
        "graph": graph,
        "detached": lambda: graph().detach(),
        "view": lambda: torch.ones(4)[1:],
        "parameter": lambda: torch.nn.Parameter(torch.ones(3)),
        "frozen parameter": lambda: torch.nn.Parameter(torch.ones(3), requires_grad=False),
        "buffer": lambda: torch.nn.Buffer(torch.ones(3)),
        "subclass": lambda: torch.ones(3).as_subclass(type("Mine", (torch.Tensor,), {})),
        "inference": inference,
        "conjugate": lambda: torch.ones(3, dtype=torch.complex64).conj(),
        "negative": lambda: torch.ones(3, dtype=torch.complex64).conj().imag,
        "meta": lambda: torch.ones(3, device="meta"),
        "sparse": lambda: torch.ones(3).to_sparse(),
        "mkldnn": lambda: torch.ones(3).to_mkldnn(),
        "quantized": lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
        "nested": lambda: torch.nested.nested_tensor([torch.ones(3), torch.ones(2)]),
        "sparse rows": lambda: torch.eye(3).to_sparse_csr(),
        "functional": lambda: torch._to_functional_tensor(torch.ones(3)),
        "wrapper": lambda: _wrapper(torch),
        "watching": lambda: torch.ones(3).as_subclass(_watching(torch)),
        "proxy": lambda: torch.fx.Proxy(torch.fx.Graph().placeholder("x")),
        "size": lambda: torch.Size([3]),
        "uninitialised": torch.nn.UninitializedParameter,
        "zeros without memory": lambda: torch._efficientzerotensor(3),
        "list": lambda: [torch.ones(3), torch.ones(3)],
        "list of graph": lambda: [graph()],
        "tuple of graph": lambda: (graph(), 1),
        "mixed": lambda: (torch.ones(3), np.ones(3, "float32")),
        "dict": lambda: {"a": torch.ones(3)},
        "expanded": lambda: torch.ones(1).expand(3),
        "wrapped number": lambda: torch.tensor(3.0),
        "device": lambda: torch.device("cpu"),
        "dtype": lambda: torch.float32,
        "emptied": lambda: torch.ones(3).resize_(0),
        "deep": lambda: torch.ones((1,) * 40),
    }


def _wrapper(torch: Any) -> Any:
    """A tensor without memory, of a subclass."""

    def dispatch(cls: object, *_: object) -> Any:
        raise ZeroDivisionError(f"{cls}")

    members: dict[str, Any] = {"__torch_dispatch__": classmethod(dispatch)}
    cls: Any = type("Wrapper", (torch.Tensor,), members)
    return torch.Tensor._make_wrapper_subclass(cls, (3,), dtype=torch.float32)


def _watching(torch: Any) -> Any:
    """A subclass that sees all that is done with its tensors."""

    def function(cls: Any, *args: Any, **keywords: Any) -> Any:
        return torch.Tensor.__torch_function__.__func__(cls, *args, **keywords)

    members: dict[str, Any] = {"__torch_function__": classmethod(function)}
    return type("Watching", (torch.Tensor,), members)


def jax_values(jax: Any) -> dict[str, Callable[[], Any]]:
    """Arrays of JAX, and what stands for some."""
    jnp = jax.numpy

    def deleted() -> Any:
        array = jnp.ones(3)
        array.delete()
        return array

    def traced(transform: Callable[..., Any], *args: Any) -> Any:
        seen: list[Any] = []

        def see(x: Any) -> Any:
            seen.append(x)
            return x

        transform(see)(*args)
        return seen[0]

    return {
        **{
            f"jax {dtype}": lambda dtype=dtype: jnp.ones(3, dtype)
            for dtype in ("bool", "int4", "int32", "float32", "bfloat16", "complex64")
        },
        "jax scalar": lambda: jnp.float32(1),
        "deleted": deleted,
        "tracer": lambda: traced(jax.jit, jnp.ones(3)),
        "mapped": lambda: traced(jax.vmap, jnp.ones((2, 3))),
        "key": lambda: jax.random.key(0),
        "keys": lambda: jax.random.split(jax.random.key(0), 3),
        "float0": lambda: np.zeros(3, jax.dtypes.float0),
        "bfloat16 of NumPy": lambda: np.ones(3, jnp.bfloat16),
        "described": lambda: jax.ShapeDtypeStruct((3,), "float32"),
        "list": lambda: [jnp.ones(3), jnp.ones(3)],
        "tuple": lambda: (jnp.ones(3), 1),
    }
