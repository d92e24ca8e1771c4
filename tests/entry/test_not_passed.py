"""Values that tvm-ffi does not pass: those nested without end, and those it cannot convert."""

from __future__ import annotations

import ctypes
import enum
import fractions
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import providers, runtime, spec, testing, wrap
from tests.runtime.samples import c_object, needs_cc

NOTHING = "define void @f() {\n ret void\n}"
DEEP = "expected at most 64 levels of lists, tuples and dicts but got more, perhaps of one that con"
KINDS = (
    *("int64", "float32", "bool", "String", "Bytes", "Choice({'a': 1})", "DType", "Device"),
    *("handle", "DataPointer", "Shape([n])", "Tensor([n], float32)", "Tensor(..., float32)"),
    *("TensorList(Tensor([n], float32))", "Array", "Map", "Object", "Function", "Stream"),
    *("Struct(a: int64, b: Array)", "Tuple(a: int64, b: Tensor([n], float32))"),
    *("Optional(int64)", "Optional(Tensor([n], float32))"),
)

Call = Callable[..., object]


@cache
def made(kind: str) -> tuple[spec.Signature, runtime.CompiledModule]:
    """A function of a parameter of this kind, and of another one."""
    signature = spec.Signature.parse(f"f(x: {kind}, y: int64)", device="cpu")
    return signature, wrap(NOTHING, signature, provider=providers.NopCallProvider())


def ways(kind: str) -> list[Call]:
    """Every way to call it."""
    signature, module = made(kind)
    at: dict[str, Any] = {"owner": module, "signature": signature}
    return [
        module,
        module.callable("f"),
        runtime.callable_at(module.address("f"), **at),
        lambda *args: testing.check(signature, *args),
        module["f"],
        runtime.function_at(module.address("f"), **at),
    ]


def itself(make: Callable[[list[Any]], Any]) -> Any:
    value: list[Any] = []
    value.append(make(value))
    return value


def nested(make: Callable[[Any], Any]) -> Any:
    value: Any = 1
    for _ in range(100_000):
        value = make(value)
    return value


class Same:
    """Stands for itself."""

    def __tvm_ffi_value__(self) -> Any:
        return self


class Inside:
    """Stands for a list that has it."""

    def __tvm_ffi_value__(self) -> Any:
        return [self]


class OwnList(list[Any]):
    """A list."""


VALUES: dict[str, Callable[[], Any]] = {
    "a list in itself": lambda: itself(lambda value: value),
    "twice in a tuple": lambda: itself(lambda value: (value, value)),
    "in a dict": lambda: itself(lambda value: {"x": [value]}),
    "a list of one's own": lambda: OwnList(itself(lambda value: value)),
    "lists": lambda: nested(lambda value: [value]),
    "tuples": lambda: nested(lambda value: (value,)),
    "dicts": lambda: nested(lambda value: {"a": value}),
    "stands for itself": Same,
    "stands for a list": Inside,
}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_nested_without_end(name: str) -> None:
    value = VALUES[name]()
    for kind in KINDS:
        for call in ways(kind):
            for given in (value, (1, value)):
                with pytest.raises((TypeError, ValueError)) as caught:
                    call(given, 1)
                assert DEEP in str(caught.value) or "Mismatched" in str(caught.value)
            with pytest.raises(TypeError, match=r"argument"):
                call(value, 1, value)
            with pytest.raises(TypeError, match=r"argument"):
                call(value)


def test_the_error_names_the_argument() -> None:
    value = VALUES["a list in itself"]()
    for call in ways("int64"):
        with pytest.raises(ValueError, match=rf"^Mismatched x on argument #0 .*, {DEEP}"):
            call(value, 1)
        with pytest.raises(ValueError, match=rf"^Mismatched y on argument #1 .*, {DEEP}"):
            call(1, [value])


def test_many_levels_are_passed() -> None:
    value: Any = 1
    for _ in range(60):
        value = [value]
    for call in ways("Array"):
        call(value, 1)


@dataclass
class Pair:
    a: Any
    b: Any


def test_fields_and_enumerators() -> None:
    value = VALUES["a list in itself"]()
    with pytest.raises(ValueError, match=rf"^Mismatched x on argument #0 .*, {DEEP}"):
        made("Struct(a: int64, b: Array)")[1](Pair(value, []), 1)
    odd = enum.Enum("odd", {"a": value})
    with pytest.raises(ValueError, match=rf"^Mismatched x on argument #0 .*, {DEEP}"):
        made("int64")[1](odd["a"], 1)


# ---- what is not converted


class NoInt:
    """Says that it is an int, and is none."""

    def __tvm_ffi_int__(self) -> int:
        raise ValueError("no int")


class NoValue:
    """Stands for nothing."""

    def __tvm_ffi_value__(self) -> Any:
        raise OverflowError("nothing")


class NoArray:
    """Exports no memory."""

    def __dlpack__(self, **_: object) -> Any:
        raise BufferError("no memory")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


@pytest.mark.parametrize("kind", ["int64", "float32", "String", "handle", "Array", "Optional(Map)"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.timedelta64(3, "s"), "a numpy.timedelta64 that is not converted: TypeError: int() arg"),
        (fractions.Fraction(10**400), "a fractions.Fraction that is not converted: OverflowError:"),
        ("\ud800", "a str that is not converted: UnicodeEncodeError: 'utf-8' codec can't encode"),
        (["\ud800"], "a list that is not converted: UnicodeEncodeError: "),
        (NoInt(), "NoInt that is not converted: ValueError: no int"),
        (NoValue(), "NoValue that is not converted: OverflowError: nothing"),
        (NoArray(), "NoArray that is not converted: BufferError: no memory"),
    ],
    ids=["timedelta", "fraction", "str", "list", "int", "value", "array"],
)
def test_the_error_of_a_conversion_names_the_argument(kind: str, value: Any, words: str) -> None:
    for call in ways(kind):
        with pytest.raises(TypeError, match=re.escape(words)) as caught:
            call(value, 1)
        assert str(caught.value).startswith("Mismatched type of x on argument #0 when calling: ")
        assert caught.value.__cause__ is not None


def test_an_object_may_raise_what_it_likes() -> None:
    class Closed:
        def __cuda_stream__(self) -> tuple[int, int]:
            raise RuntimeError("the stream was closed")

    for call in ways("Stream"):
        with pytest.raises(RuntimeError, match=r"^the stream was closed$"):
            call(Closed(), 1)


# ---- callbacks


@needs_cc
def test_a_function_of_ctypes_is_passed_as_its_address(tmp_path: Path) -> None:
    pytest.importorskip("clang.native")
    source = "double apply(double (*g)(double), double x) { return g == 0 ? -1 : g(x); }"
    f = wrap(
        c_object(tmp_path, source),
        "apply(g: handle, x: float64) -> r: float64",
        prototype="double apply(double (*g)(double), double x)",
    )

    def double(value: float) -> float:
        return 2 * value

    twice = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(double)
    calls: list[Call] = [f, f.callable("apply"), f["apply"]]
    for call in calls:
        assert call(twice, 4.0) == 8
        assert call(ctypes.CDLL("libm.so.6").sqrt, 4.0) == 2
        assert call(ctypes.cast(twice, ctypes.c_void_p), 4.0) == 8
        assert call(None, 4.0) == -1
        with pytest.raises(
            TypeError,
            match=r"expected opaque pointer or None but got ffi\.Function: C calls a function of "
            r"Python as ctypes\.CFUNCTYPE\(…\)\(f\)",
        ):
            call(abs, 4.0)
