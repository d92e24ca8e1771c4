"""``testing.check``: the symbols that are bound, or exactly the wrapper's error."""

from __future__ import annotations

import ctypes
import gc
import math
from functools import partial
from importlib import import_module
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import BuildError, attach, runtime, spec, testing
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Shape, Signature, Tensor, TupleParam, Var, ceildiv, dims
from tests.support.wrapping import new_module

np = pytest.importorskip("numpy", reason="needs NumPy")
n, m, k = dims("n m k")


def tensor(name: str, shape: Any, dtype: Any = "float32", **more: Any) -> Tensor:
    return Tensor(name, shape, dtype, device_type="cpu", **more)


def cpu(name: str, *entries: spec.Dim | None, **more: Any) -> Tensor:
    return tensor(name, entries, **more)


class Opaque:
    """An opaque pointer, as tvm_ffi takes it from objects."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __tvm_ffi_opaque_ptr__(self) -> int:
        return self.address


def zeros(*shape: int, dtype: str = "float32") -> Any:
    return np.zeros(shape, dtype)


FITTING: dict[str, tuple[list[spec.Param], list[Any], dict[str, Any]]] = {
    # What is bound from memory is in tests/rules; these are values of Python.
    "nothing": ([], [], {}),
    "tensors": ([cpu("A", n, 4, strides=[m, k]), cpu("B", n, 2)], [zeros(3, 8)[:, ::2], zeros(3, 2)], {"n": 3, "m": 8, "k": 2}),
    "ints": ([n, Var("u", "uint64"), Var("i", "int8")], [-(2**63), 2**64 - 1, np.int8(-7)], {"n": -(2**63), "u": 2**64 - 1, "i": -7}),
    "bools": ([Var("a", "bool"), Var("b", "bool"), n], [True, 0, True], {"a": True, "b": False, "n": 1}),
    "floats": (
        [Var("a", "float64"), Var("b", "float32"), Var("c", "float16"), Var("d", "bfloat16")],
        [0.1, 0.1, 65520, np.float32(1.00390625)],
        {"a": 0.1, "b": 0.10000000149011612, "c": math.inf, "d": 1.0},
    ),
    "pointers": ([Var("h", "handle"), spec.Stream("s"), spec.DataPointer("p")], [Opaque(0x70), None, 2**64 - 1], {"h": 0x70}),
    "a ctypes pointer": ([Var("h", "handle")], [ctypes.c_void_p(0x80)], {"h": 0x80}),
    "a list for a shape": ([Shape("s", [n, 4, n * 2])], [[3, 4, 6]], {"n": 3}),
    "a shape": ([Shape("s", [n])], [tvm_ffi.Shape((7,))], {"n": 7}),
    "tuples": ([TupleParam("t", [n, TupleParam("u", [cpu("A", n), spec.ConstNone("none")])])], [(3, [zeros(3), None])], {"n": 3}),
    "constants": ([spec.ConstInt("i", 3), spec.ConstBool("b", False), spec.ConstFloat("f", math.nan)], [3, False, math.nan], {}),
    "zeros of both signs": ([spec.ConstFloat("z", 0.0), Var("a", "float64"), TupleParam("t", [Var("a", "float64")])], [-0.0, 0.0, (-0.0,)], {"a": 0.0}),
    "an expression that waits": ([cpu("A", ceildiv(n, 4)), n], [zeros(2), 5], {"n": 5}),
}  # fmt: skip


@pytest.mark.parametrize("name", FITTING)
def test_what_fits(name: str) -> None:
    params, args, expected = FITTING[name]
    found = testing.check(Signature("f", params), *args)
    assert found == expected
    assert [type(value) for value in found.values()] == [type(v) for v in expected.values()]


def test_nan_is_bound_as_nan() -> None:
    found = testing.check(Signature("f", [Var("a", "bfloat16")]), math.nan)
    assert math.isnan(found["a"])


MOVED = object()
"""Stands for an Array that is moved into the call."""
FAILING: dict[str, tuple[list[spec.Param], list[Any]]] = {
    # What the checks say of memory is in tests/rules; these are values of Python, one of each kind.
    "count": ([n], []),
    "a name beyond int16": ([Var("n" * 40_000, "int64")], ["x"]),
    "kind": ([cpu("A", n)], [3]),
    "a str": ([cpu("A", n)], ["a long piece of text"]),
    "an object": ([cpu("A", n)], [object()]),
    "a function": ([n], [print]),
    "a dict": ([TupleParam("t", [n])], [{"n": 1}]),
    "a dtype": ([n], [tvm_ffi.dtype("float32")]),
    "a device": ([n], [tvm_ffi.device("cuda", 1)]),
    "a complex": ([Var("a", "float32")], [1j]),
    "np.bool_": ([Var("a", "bool")], [np.bool_(True)]),
    "symbol": ([cpu("A", n), cpu("B", n)], [zeros(2), zeros(3)]),
    "stride": ([cpu("A", n, m)], [zeros(2, 6)[:, ::2]]),
    "alignment": ([cpu("A", n, data_alignment=4096)], [np.zeros(4097, "float32")[1:]]),
    "BigInt": ([n], [2**63]),
    "shape": ([Shape("s", [n, 3])], [[1, 4]]),
    "overflow": ([n, Shape("s", [n * 4])], [2**62, [1]]),
    "constant": ([spec.ConstFloat("a", 0.1)], [0.2]),
    "a moved array": ([cpu("A", n)], [MOVED]),
    "a moved int": ([n], [MOVED]),
    "no object": ([spec.Object("o")], ["abc"]),
    "a field": ([spec.Struct("c", [n, spec.Optional(spec.DType("d"))])], [(1, "int8")]),
    "an absent symbol": ([spec.Optional(cpu("A", n)), n, Shape("s", [n])], [None, 3, [4]]),
}


@pytest.fixture(scope="module")
def compiled() -> runtime.CompiledModule:
    module = new_module()
    for number, (params, _) in enumerate(FAILING.values()):
        attach(module, Signature("f", params), NopCallProvider(), symbol_name=f"f{number}")
    return runtime.compile(module)


def raised(call: Any, args: list[Any]) -> tuple[type[Exception], str]:
    given = [tvm_ffi.Array([1])._move() if arg is MOVED else arg for arg in args]  # pyright: ignore[reportPrivateUsage]
    with pytest.raises((TypeError, ValueError)) as error:
        call(*given)
    return error.type, str(error.value)


@pytest.mark.parametrize("name", FAILING)
def test_what_does_not_fit_fails_as_the_wrapper_does(
    name: str, compiled: runtime.CompiledModule
) -> None:
    params, args = FAILING[name]
    function = compiled[f"f{list(FAILING).index(name)}"]
    signature = Signature("f", params)
    assert raised(partial(testing.check, signature), args) == raised(function, args)


def test_the_error_is_the_only_one_shown() -> None:
    with pytest.raises(TypeError) as error:
        testing.check(Signature("f", [n]))
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__


def test_what_tvm_ffi_does_not_take_is_its_own_error() -> None:
    class Odd:
        def __dlpack__(self, **_: object) -> object:
            raise ZeroDivisionError("mine")

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    with pytest.raises(ZeroDivisionError, match="mine"):
        testing.check(Signature("f", [n]), Odd())


@pytest.mark.slow
def test_no_mlir_is_needed() -> None:
    code = """
        import sys
        sys.modules.update(dict.fromkeys(("torch_mlir", "jaxlib", "llvmlite", "tvm_ffi_orcjit")))
        from ffi_builder import spec, testing
        n = spec.Var("n", "int64")
        assert testing.check(spec.Signature("f", [n]), 3) == {"n": 3}
    """
    ran = import_module("tests.runtime.samples").run_child(code)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_rounding_agrees_with_numpy(dtype: str) -> None:
    values = [1.1, -65519.9, 65520.0, 6e-8, 2.0**-25, 2.0**-25 * 1.0001, 1e300, 2.0**-149, 1e-45]
    values += [-0.0, 0.0, math.inf, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 2.0**-150]
    with np.errstate(over="ignore", under="ignore"):
        expected = [float(np.dtype(dtype).type(value)) for value in values]
    signature = Signature("f", [Var("a", dtype)])
    found = [testing.check(signature, value)["a"] for value in values]
    assert found == expected
    assert [math.copysign(1, v) for v in found] == [math.copysign(1, v) for v in expected]


def test_a_signature_too_large_for_a_wrapper_is_refused_as_by_attach() -> None:
    signature = Signature("f" * 70_000, [n])
    with pytest.raises(BuildError, match="is too long for a wrapper"):
        testing.check(signature, 3)


def test_a_refused_call_leaves_nothing_behind() -> None:
    """The error, with the frames in its traceback, is not kept by the callback that raised it."""
    signature = Signature("f", [Var("n", "int32", max=8)])

    def errors() -> int:
        gc.collect()
        return sum(type(each) is ValueError for each in gc.get_objects())

    before = errors()
    for _ in range(10):
        with pytest.raises(ValueError, match="at most 8"):
            testing.check(signature, 9)
    assert errors() == before
