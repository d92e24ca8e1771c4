"""Calls that are read in C end as calls by the general way do: results, data, errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, Final

import pytest

from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    DataPointer,
    Map,
    Object,
    Optional,
    Stream,
    String,
    Struct,
    Tensor,
    TensorList,
    TupleParam,
    Var,
    dims,
)
from tests.entry.functions import Ways, needs_extension, ways
from tests.entry.values import HELD, NUMPY, PLAIN, jax_values, torch_values

pytestmark = [
    needs_extension,
    # Frameworks warn of odd values, in both ways alike.
    pytest.mark.filterwarnings("ignore"),
]
np = pytest.importorskip("numpy")

n, m = dims("n m")
s, t = Var("s", "int64"), Var("t", "int64")
VECTOR = Tensor("x", [n], "float32", device_type="cpu", strides=[s])
MATRIX = Tensor("x", [n, m], "float32", device_type="cpu", strides=[s, t])
ROWS = Tensor("x", [n, m], "float32", device_type="cpu")


RULED: Final = {
    *("read only", "broadcast", "masked", "array", "memoryview"),
    *("b''", "b'bytes'", "bytearray(b'bytes')", "pointer", "c_int"),
    *("swapped", "longdouble", "objects", "texts", "dates", "records", "uneven"),
    *("recarray", "durations", "nothing masked", "np.ma.masked", "masked, read only"),
    *(f"{what}, read only" for what in ("subclass", "swapped", "objects", "misaligned", "uneven")),
    *("diagonal", "warns when written", "exporting, read only", "raising BufferError", "void"),
    *("'\\ud800'", "duration", "exporting no capsule"),
    *(f"raising {name}Error" for name in ("Type", "Value", "Runtime", "ZeroDivision")),
    *("conjugate", "negative", "leaf", "graph", "parameter", "sparse", "mkldnn", "meta"),
    *("quantized", "nested", "sparse rows", "functional", "wrapper", "proxy", "uninitialised"),
    *("list of graph", "tuple of graph", "zeros without memory"),
}
"""Values that frameworks' rules refuse, and tvm-ffi does not, or in other words."""


def _one(param: Any, type_: str, args: list[Any] | None = None) -> tuple[Any, ...]:
    return ([param, Var("last", "int32")], [type_, "i32"], args)


SIGNATURES: Final[dict[str, tuple[Any, ...]]] = {
    "vector": (
        [VECTOR, Var("last", "int32")],
        ["!llvm.ptr", "i64", "i64", "i32"],
        ["x", "n", "s", "last"],
    ),
    "matrix": (
        [MATRIX, Var("last", "int32")],
        ["!llvm.ptr", "i64", "i64", "i64", "i64", "i32"],
        ["x", "n", "m", "s", "t", "last"],
    ),
    "rows": (
        [ROWS, Var("last", "int32")],
        ["!llvm.ptr", "i64", "i64", "i32"],
        ["x", "n", "m", "last"],
    ),
    "int64 tensor": _one(Tensor("x", [n], "int64", device_type="cpu"), "!llvm.ptr"),
    "complex tensor": _one(Tensor("x", [n], "complex64", device_type="cpu"), "!llvm.ptr"),
    "optional tensor": _one(Optional(Tensor("x", [n], "float32", device_type="cpu")), "!llvm.ptr"),
    "int32": _one(Var("x", "int32"), "i32"),
    "int64": _one(Var("x", "int64"), "i64"),
    "uint64": _one(Var("x", "uint64"), "i64"),
    "uint8": _one(Var("x", "uint8"), "i8"),
    "float32": _one(Var("x", "float32"), "f32"),
    "float64": _one(Var("x", "float64"), "f64"),
    "bool": _one(Var("x", "bool"), "i1"),
    "optional int": _one(Optional(Var("x", "int32")), "i32"),
    "choice": _one(Choice("x", {"relu": 5, "gelu": 6}), "i32"),
    "string": ([String("x"), Var("last", "int32")], [], None),
    "bytes": ([Bytes("x"), Var("last", "int32")], [], None),
    "pointer": _one(DataPointer("x"), "!llvm.ptr"),
    "stream": _one(Stream("x"), "!llvm.ptr"),
    "struct": _one(Struct("x", [Var("a", "int32")]), "i32"),
    "tuple": _one(TupleParam("x", [Var("a", "int32")]), "i32"),
    **{
        f"tensor that is {intent}": _one(
            Tensor("x", [n], "float32", device_type="cpu", intent=intent), "!llvm.ptr"
        )
        for intent in ("in", "out", "inout")
    },
    **{
        f"{name} of tensors": ([param, Var("last", "int32")], [], None)
        for name, param in {
            "list": TensorList(replace(VECTOR, strides=None)),
            "list to read": TensorList(replace(VECTOR, strides=None, intent="in")),
            "struct": Struct("x", [replace(VECTOR, strides=None, name="a"), Var("b", "int32")]),
            "tuple": TupleParam("x", [replace(VECTOR, strides=None), replace(ROWS, name="y")]),
            "array": Array("x"),
            "map": Map("x"),
            "object": Object("x"),
        }.items()
    },
}


@cache
def _ways(signature: str) -> Ways:
    params, types, args = SIGNATURES[signature]
    if args is not None:
        named = {param.name: param for param in (*params, n, m, s, t)}
        args = [named[name] for name in args]
    return ways(params, types, args)


def _same(signature: str, makers: dict[str, Callable[[], Any]], *, ruled: bool = False) -> None:
    """Compare the ways, and tvm-ffi's own function where no rules are `ruled` or in `RULED`."""
    both = _ways(signature)
    wrong: list[str] = []
    for name, make in makers.items():
        value = make()
        for args in ((value, 7), (value, "x"), (value,), (value, 7, 7)):
            calls = [(both.general, both.entry)]
            if not (ruled or name in RULED):
                calls.append((both.plain, both.general))
            if len(args) == 2:
                calls.append((both.general_callable, both.entry_callable))
            for general, entry in calls:
                expected, got = both.outcome(general, *args), both.outcome(entry, *args)
                if expected != got:
                    wrong.append(f"{name}, {args[1:]}: {expected[:2]} but {got[:2]}")
    assert not wrong, "\n".join(wrong)


READ: Final = {
    "vector": [
        *("np contiguous", "np skipped", "np empty vector", "reversed", "unpickled", "metadata"),
        *("np float32", "np float64", "tvm_ffi", "tvm_ffi int32", "np matrix", "np scalar"),
    ],
    "matrix": ["np matrix", "np transposed", "np column", "np empty", "tvm_ffi matrix"],
    "optional tensor": ["None", "np contiguous"],
    "int32": ["3", "-1", str(2**31), "True", "1.5", "None", "'relu'"],
    "uint64": ["3", str(2**63 - 1)],
    "float32": ["1.5", "inf", "3"],
    "bool": ["True", "0"],
    "choice": ["'relu'", "'eight888'"],
    "bytes": ["b''", "b'bytes'", "None"],
    "string": ["''", "'seven77'", "'eight888'", "'é漢🙂'", "'a\\x00b'"],
    "struct": ["None"],
}


@pytest.mark.parametrize("signature", READ)
def test_what_is_read_in_c(signature: str) -> None:
    both, makers = _ways(signature), PLAIN | NUMPY
    for name in READ[signature]:
        for call in (both.entry, both.entry_callable):
            before = call._general_calls
            both.outcome(call, makers[name](), 7)
            assert call._general_calls == before, name


def test_which_tensors_of_torch_are_read_in_c() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
    both, values = _ways("vector"), torch_values(torch)
    names = ["contiguous", "skipped", "matrix", "scalar", "float64", "bfloat16", "complex64"]
    plain = [f"torch {name}" for name in names]
    plain += ["detached", "view", "frozen parameter", "buffer", "inference", "expanded"]
    graph = ["leaf", "graph", "parameter"]
    never = ["conjugate", "negative", "meta", "sparse", "mkldnn", "emptied", "subclass"]

    def read(names: list[str]) -> list[str]:
        found: list[str] = []
        for name in names:
            before = both.entry._general_calls
            both.outcome(both.entry, values[name](), 7)
            found += [name] if both.entry._general_calls == before else []
        return found

    assert read([*plain, *graph, *never]) == plain
    with torch.no_grad():
        assert read([*plain, "leaf", "parameter", *never]) == [*plain, "leaf", "parameter"]


@pytest.mark.parametrize("signature", SIGNATURES)
def test_numbers_texts_and_objects(signature: str) -> None:
    _same(signature, PLAIN)


@pytest.mark.parametrize("signature", SIGNATURES)
def test_what_holds_arrays(signature: str) -> None:
    _same(signature, HELD, ruled=True)


@pytest.mark.parametrize("signature", SIGNATURES)
def test_arrays_of_jax(signature: str) -> None:
    jax = pytest.importorskip("jax", reason="needs jax: `make test-frameworks` installs it")
    _same(signature, jax_values(jax), ruled=True)


@pytest.mark.parametrize("signature", SIGNATURES)
def test_arrays_of_numpy_and_of_tvm_ffi(signature: str) -> None:
    _same(signature, NUMPY)


@pytest.mark.parametrize("mode", ["grad", "no_grad", "inference"])
@pytest.mark.parametrize("signature", SIGNATURES)
def test_tensors_of_torch(signature: str, mode: str) -> None:
    torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
    modes = {"grad": torch.enable_grad, "no_grad": torch.no_grad, "inference": torch.inference_mode}
    values = torch_values(torch)
    with modes[mode]():
        _same(signature, values)
