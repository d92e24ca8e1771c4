"""Signatures, each with a provider, a kernel, a call with its result, and a call with its error."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import tvm_ffi

from ffi_builder import attach_ffi_func, providers, runtime, spec
from ffi_builder.providers import CallProvider
from ffi_builder.spec.results import Result
from tests.distributions.suite import kernels

n, m, k, pitch = spec.dims("n m k pitch")
COUNT: Final = spec.Var("n", "int32")
DIRECT: Final = providers.DirectCallProvider("kernel")


@dataclass(frozen=True)
class Case:
    """``right`` calls the function and returns what is ``expected``; ``wrong`` raises ``error``."""

    params: Sequence[spec.Param]
    provider: CallProvider
    kernel: str
    right: Callable[[Any], object]
    expected: object
    wrong: Callable[[Any], object]
    error: str
    """As Python shows it: the class, and the message."""
    returns: Result | Sequence[Result] | None = None

    def attach(self, module: Any) -> Any:
        """Add the wrapper ``f`` to a module, and return that."""
        attach_ffi_func(module, "f", self.params, self.provider, returns=self.returns)
        return module


def cpu(name: str, shape: Sequence[Any], dtype: str = "float32", **more: Any) -> spec.Tensor:
    return spec.Tensor(name, shape, dtype, device_type="cpu", **more)


def zeros(count: int, dtype: str = "int64") -> np.ndarray[Any, Any]:
    return np.zeros(count, dtype)


def table(rows: int, columns: int, dtype: str = "float32") -> Any:
    """An array of this shape, of 0, 1, 2 and so on."""
    counted: Any = np.arange(rows * columns, dtype=dtype)
    return counted.reshape(rows, columns)


def axpb(f: Any, *values: object) -> float:
    out = zeros(1, "float64")
    f(*values, out)
    return out[0]


def matmul(f: Any, inner: int = 3) -> object:
    c = np.zeros((2, 2), "float32")
    f(table(2, 4)[:, :3], table(inner, 2), c)
    return c.tolist()


def scale_last(f: Any, *more: object) -> object:
    x = np.ones(3, "float32")
    f(x, *more)
    return x.tolist()


def of_kinds(f: Any, mask: object, cfg: object) -> object:
    out = zeros(4)
    f(mask, cfg, "hello", out)
    return out.tolist()


def nested(f: Any, *pair: object) -> int:
    out = zeros(1, "int32")
    f(pair, out)
    return int(out[0])


def pointers(f: Any, shape: Sequence[int]) -> object:
    out = zeros(3)
    f(shape, ctypes.c_void_p(0x1230), ctypes.c_void_p(0x4560), out)
    return out.tolist()


def store(f: Any, rows: int = 2) -> object:
    x = np.zeros((rows, 3), "float32")
    f(x, 7)
    return x.tolist()


def numbers(f: Any, big: int) -> object:
    out = zeros(3)
    f(big, 1.5, -2.0, out)
    return [int(value) & (2**64 - 1) for value in out]


def vectors(f: Any, size: int = 4) -> object:
    y = np.zeros(4, "float32")
    f(np.arange(size, dtype="float32"), y)
    return y.tolist()


def spread(f: Any) -> object:
    with runtime.install_allocator():
        y, size, first = f(np.full(3, 1.5, "float32"))
    made = np.from_dlpack(y)
    return made.shape, float(made[0]), size, first


CASES: Final = {
    "scalars, Direct": Case(
        [spec.Var(*v) for v in (("a", "int32"), ("x", "float64"), ("negate", "bool"))]
        + [cpu("out", [1], "float64")],
        DIRECT,
        kernels.AXPB,
        lambda f: (axpb(f, 3, 2.5, False), axpb(f, 3, 2.5, True)),
        (7.5, -7.5),
        lambda f: axpb(f, 2**40, 2.5, False),
        "ValueError: Mismatched a on argument #0 "
        "when calling: `f(a: int32, x: float64, negate: bool, out: Tensor([1], float64))`, "
        "expected a value that fits int32 (-2147483648 to 2147483647) but got 1099511627776",
    ),
    "matmul with strides, DynamicParamPack": Case(
        [cpu("A", [n, k], strides=[pitch, 1]), cpu("B", [k, m]), cpu("C", [n, m])],
        providers.DynamicParamPackCallProvider("kernel"),
        kernels.MATMUL,
        matmul,
        [[10.0, 13.0], [34.0, 49.0]],
        lambda f: matmul(f, 4),
        "ValueError: Mismatched B.shape[0] on argument #1 "
        "when calling: `f(A: Tensor([n, k], float32, strides=[pitch, 1]), B: Tensor([k, m], float32), C: Tensor([n, m], float32))`, "
        "expected 3 (k = A.shape[1]) but got 4",
    ),
    "a struct by value, DynamicParamPack": Case(
        [cpu("x", [n]), spec.Var("factor", "float32")],
        providers.DynamicParamPackCallProvider("kernel", struct_call=True),
        kernels.SCALE_LAST,
        lambda f: scale_last(f, 5),
        [1.0, 1.0, 5.0],
        lambda f: scale_last(f),
        "TypeError: Mismatched number of arguments "
        "when calling: `f(x: Tensor([n], float32), factor: float32)`, "
        "expected 2 but got 1",
    ),
    "Optional, Struct, Choice, String, Direct": Case(
        [
            spec.Optional(cpu("mask", [n], "int8")),
            spec.Struct(
                "cfg",
                [
                    spec.Optional(spec.Var("alpha", "float32")),
                    spec.Choice("act", {"relu": 1, "gelu": -2}, "int8"),
                ],
            ),
            spec.String("label"),
            cpu("out", [4], "int64"),
        ],
        DIRECT,
        kernels.KINDS,
        lambda f: (
            of_kinds(f, None, (None, "gelu")),
            of_kinds(f, np.full(2, 9, "int8"), (3.5, "relu")),
        ),
        ([-1, 0, -2, 109], [9, 3, 1, 109]),
        lambda f: of_kinds(f, None, (1.0, "rleu")),
        "ValueError: Mismatched cfg.act on argument #1 "
        "when calling: `f(mask: Optional(Tensor([n], int8)), cfg: Struct(alpha: Optional(float32), act: Choice({'relu': 1, 'gelu': -2}, int8)), label: String, out: Tensor([4], int64))`, "
        "expected one of 'relu', 'gelu' but got 'rleu' (did you mean 'relu'?)",
    ),
    "a tuple, NestedTensor": Case(
        [
            spec.TupleParam("pair", [cpu("a", [n, m], "int32"), spec.Var("factor", "int32")]),
            cpu("out", [1], "int32"),
        ],
        providers.NestedTensorCallProvider("kernel", args=["pair", "out.data"]),
        kernels.NESTED,
        lambda f: nested(f, table(2, 3, "int32"), 7),
        21,
        lambda f: nested(f, np.zeros((2, 3), "int64"), 7),
        "TypeError: Mismatched pair[0].dtype on argument #0 "
        "when calling: `f(pair: Tuple(a: Tensor([n, m], int32), factor: int32), out: Tensor([1], int32))`, "
        "expected int32 but got int64",
    ),
    "Shape, DataPointer, Stream, Direct": Case(
        [
            spec.Shape("dims", [n, 3]),
            spec.DataPointer("p"),
            spec.Stream("s"),
            cpu("out", [3], "int64"),
        ],
        DIRECT,
        kernels.POINTERS,
        lambda f: pointers(f, (5, 3)),
        [5, 0x1230, 0x4560],
        lambda f: pointers(f, (5, 4)),
        "ValueError: Mismatched dims[1] on argument #0 "
        "when calling: `f(dims: Shape([n, 3]), p: DataPointer, s: Stream, out: Tensor([3], int64))`, "
        "expected 3 but got 4",
    ),
    "MemRef": Case(
        [cpu("x", [n, 3]), spec.Var("value", "float32")],
        providers.MemRefCallProvider("kernel"),
        kernels.MEMREF,
        store,
        [[0.0, 0.0, 0.0], [0.0, 7.0, 0.0]],
        lambda f: f(table(3, 2).T, 7),
        "ValueError: Mismatched x.strides[0] on argument #0 "
        "when calling: `f(x: Tensor([n, 3], float32), value: float32)`, "
        "expected 3 (row-major contiguous) but got 1 (shape=[2, 3], strides=[1, 2])",
    ),
    "MemRef by the C interface": Case(
        [cpu("x", [n, 3]), spec.Var("value", "float32")],
        providers.MemRefCallProvider("kernel", c_interface=True),
        kernels.DESCRIPTOR,
        store,
        [[0.0, 0.0, 0.0], [7.0, 0.0, 0.0]],
        lambda f: f(np.zeros((2, 4), "float32"), 7),
        "ValueError: Mismatched x.shape[1] on argument #0 "
        "when calling: `f(x: Tensor([n, 3], float32), value: float32)`, "
        "expected 3 but got 4",
    ),
    "CheckStatus": Case(
        [spec.Var("code", "int32")],
        providers.CheckStatus(DIRECT, error="ValueError", message="{callee} said {status}"),
        kernels.STATUS,
        lambda f: f(0),
        None,
        lambda f: f(3),
        "ValueError: kernel said 3 when calling: `f(code: int32)`",
    ),
    "Nop": Case(
        [spec.DType("dtype"), spec.Device("device"), spec.Bytes("raw"), spec.ConstInt("one", 1)],
        providers.NopCallProvider(),
        "",
        lambda f: f(tvm_ffi.dtype("float32"), tvm_ffi.device("cpu"), b"x", 1),
        None,
        lambda f: f(tvm_ffi.dtype("float32"), tvm_ffi.device("cpu"), b"x", 2),
        "ValueError: Mismatched one on argument #3 "
        "when calling: `f(dtype: DType, device: Device, raw: Bytes, one: Literal[1])`, "
        "expected 1 but got 2",
    ),
    "uint64 and 16-bit floats, Direct": Case(
        [spec.Var(*v) for v in (("big", "uint64"), ("half", "float16"), ("brain", "bfloat16"))]
        + [cpu("out", [3], "int64")],
        DIRECT,
        kernels.NUMBERS,
        lambda f: numbers(f, 2**64 - 2),
        [2**64 - 2, 0x3E00, 0xC000],
        lambda f: numbers(f, 2**64),
        "ValueError: Mismatched big on argument #0 "
        "when calling: `f(big: uint64, half: float16, brain: bfloat16, out: Tensor([3], int64))`, "
        "expected a value that fits uint64 (0 to 18446744073709551615) but got an int beyond 64 bits",
    ),
    "a kernel of vectors": Case(
        [cpu("x", [4]), cpu("y", [4])],
        DIRECT,
        kernels.VECTORS,
        vectors,
        [6.0, 4.0, 2.0, 0.0],
        lambda f: vectors(f, 5),
        "ValueError: Mismatched x.shape[0] on argument #0 "
        "when calling: `f(x: Tensor([4], float32), y: Tensor([4], float32))`, "
        "expected 4 but got 5",
    ),
    "results, Direct": Case(
        [cpu("x", [n])],
        providers.DirectCallProvider("kernel", args=["x", "y", n]),
        kernels.SPREAD,
        spread,
        ((6,), 3.0, 3, 1.5),
        lambda f: f(np.zeros(3, "float32")),
        "RuntimeError: There is no allocator for the result y (pass a PyTorch tensor, whose "
        "allocator then serves, or call ffi_builder.runtime.install_allocator(every_thread="
        "True) before; C and C++ "
        "set one by TVMFFIEnvSetDLPackManagedTensorAllocator) when calling: `f(x: Tensor([n], float32))`",
        [cpu("y", [n * 2]), spec.Var("size", "int64"), spec.Var("first", "float32")],
    ),
    "CudaLaunch": Case(  # of no blocks, which needs no driver
        [COUNT, spec.Var("ratio", "float64"), spec.Stream("s")],
        providers.CudaLaunchCallProvider(
            kernels.PTX.encode(),
            "kernel",
            grid=(COUNT, 2, COUNT * 2),
            block=(32, COUNT + 1),
            cluster=(COUNT + 1, 2),
            dynamic_smem_bytes=COUNT * 64,
        ),
        "",
        lambda f: f(0, 0.5, None),
        None,
        lambda f: f(-1, 0.5, None),
        "ValueError: grid.x = n is -1 for kernel 'kernel'; expected 0 to 2147483647 "
        "when calling: `f(n: int32, ratio: float64, s: Stream)`",
    ),
}
