"""Lists of tensors in ``make_args``, ``check``, ``check_intents`` and ``check_kernel``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach, runtime, spec, testing
from ffi_builder.providers import DirectCallProvider, NopCallProvider
from ffi_builder.testing import KernelError
from tests.support.wrapping import new_module

GROUPED: Final = spec.Signature.parse(
    "f(As: TensorList(Tensor([m, k], float32), length=g, each=[m]), "
    "Bs: TensorList(Tensor([k, n], float32), length=g, each=[n]), "
    "Cs: TensorList(Tensor([m, n], float32), length=g, each=[m, n]))",
    device="cpu",
)


def shapes(lists: list[Any]) -> list[list[tuple[int, ...]]]:
    return [[tuple(array.shape) for array in given] for given in lists]


def test_elements_differ() -> None:
    made = testing.make_args(GROUPED)
    assert shapes(made) == [[(2, 3), (4, 3)], [(3, 5), (3, 6)], [(2, 5), (4, 6)]]
    assert testing.check(GROUPED, *made) == {"g": 2, "k": 3}


@pytest.mark.parametrize("framework", ["numpy", "torch", "tvm_ffi"])
def test_sizes_are_given(framework: str) -> None:
    if framework == "torch":
        pytest.importorskip("torch")
    made = testing.make_args(GROUPED, {"m": [1, 0, 7], "n": 9, "k": 4}, framework)
    assert shapes(made)[2] == [(1, 9), (0, 9), (7, 9)]
    assert testing.check(GROUPED, *made) == {"g": 3, "k": 4}
    assert shapes(testing.make_args(GROUPED, {"g": 0})) == [[], [], []]


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ({"m": [1, 2], "n": [1]}, r"n = \[1\]: expected 2 values, one for each element, but got 1"),
        ({"g": 3, "m": [1, 2]}, r"m = \[1, 2\]: expected 3 values"),
        ({"k": [1]}, r"k = \[1\]: expected int but got list"),
        ({"g": -1}, "length of As = g with g = -1 is -1, and must not be negative"),
        ({"g": 0.5}, "g = 0.5: expected int but got float"),
        ({"m": [-1]}, "As.0..shape.0. = m_0 with m_0 = -1"),
    ],
)
def test_sizes_that_do_not_fit(dims: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        testing.make_args(GROUPED, dims)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("f(xs: TensorList(Tensor([n], int8)))", 2),
        ("f(xs: TensorList(Tensor([n], int8), length=5), m_0: int32)", 5),
        ("f(xs: TensorList(Tensor([n], int8), length=g), g: int32) where g % 3 == 0, 4 <= g", 6),
        ("f(xs: TensorList(Tensor([n], int8), length=g)) where g <= 1, n <= g * 4", 1),
        ("f(xs: Optional(TensorList(Tensor([m], int8), each=[m])), m_0: int32)", 2),
        ("f(xs: TensorList(Tensor([], int8), length=g), w: Workspace([g + 1], int8))", 2),
    ],
)
def test_what_is_made_is_accepted(text: str, count: int) -> None:
    signature = spec.Signature.parse(text, device="cpu")
    made = testing.make_args(signature)
    assert len(made[0]) == count
    testing.check(signature, *made)


def test_given_values() -> None:
    mine = np.zeros((2, 3), "float32")
    made = testing.make_args(GROUPED, {"m": [2, 5], "k": 3}, values={"As[0]": mine})
    assert made[0][0] is mine
    signature = spec.Signature.parse("f(xs: Optional(TensorList(Tensor([n], int8))))", device="cpu")
    assert testing.make_args(signature, values={"xs": None}) == [None]


# ---- kernels

NEGATE: Final = """
llvm.func @negate(%xs: !llvm.ptr, %shapes: !llvm.ptr, %ys: !llvm.ptr, %n: i64) {{
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %none = llvm.mlir.constant(0 : i32) : i32
  %first = llvm.mlir.constant({first} : i64) : i64
  llvm.br ^lists({start} : i64)
^lists(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^list, ^end
^list:
  %at_x = llvm.getelementptr %xs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %at_y = llvm.getelementptr %ys[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %at_n = llvm.getelementptr %shapes[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %x = llvm.load %at_x : !llvm.ptr -> !llvm.ptr
  %y = llvm.load %at_y : !llvm.ptr -> !llvm.ptr
  %size = llvm.load %at_n : !llvm.ptr -> i64
  llvm.br ^elements(%zero : i64)
^elements(%j: i64):
  %inside = llvm.icmp "slt" %j, %size : i64
  llvm.cond_br %inside, ^element, ^next
^element:
  %from = llvm.getelementptr %x[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %to = llvm.getelementptr %y[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %old = llvm.load %from : !llvm.ptr -> i32
  %new = llvm.sub %none, %old : i32
  llvm.store %new, %to : i32, !llvm.ptr
  %following = llvm.add %j, %one : i64
  llvm.br ^elements(%following : i64)
^next:
  %after = llvm.add %i, %one : i64
  llvm.br ^lists(%after : i64)
^end:
  llvm.return
}}
"""
NEGATED: Final = spec.Signature.parse(
    "negate(xs: TensorList(Tensor([n], int32, intent=in), length=g, each=[n]), "
    "ys: TensorList(Tensor([n], int32, intent=out), length=g, each=[n]))",
    device="cpu",
)


def negated(xs: list[Any], ys: list[Any]) -> list[Any]:
    return [-x for x in xs]


def negate(start: str = "%zero", first: int = 1) -> Any:
    module = new_module(NEGATE.format(start=start, first=first))
    args = ["xs.pointers", "xs.shapes", "ys.pointers", "xs.length"]
    attach(module, NEGATED, DirectCallProvider("negate", args=args))
    return runtime.compile(module)


def test_a_right_kernel() -> None:
    compiled = negate()
    testing.check_kernel(compiled, NEGATED, negated, examples=40)
    testing.check_intents(compiled, NEGATED)
    testing.check_intents(compiled, NEGATED, testing.make_args(NEGATED, {"n": [3, 0, 1]}))


def test_a_wrong_kernel() -> None:
    """It leaves out the first list."""
    compiled = negate(start="%first")
    with pytest.raises(KernelError, match=r"ys\[0\]"):
        testing.check_kernel(compiled, NEGATED, negated)
    with pytest.raises(KernelError, match=r"ys\[0\]"):
        testing.check_intents(compiled, NEGATED)


def test_lengths_are_tried() -> None:
    seen: set[int] = set()

    def note(xs: Any, ys: Any) -> None:
        seen.add(len(xs))

    testing.check_kernel(negate(), NEGATED, negated, examples=60, prepare=note)
    assert seen == {0, 1, 2, 3, 4}


def test_a_wrapper_that_only_checks() -> None:
    module = new_module()
    attach(module, GROUPED, NopCallProvider())
    function = runtime.compile(module)["f"]
    for dims in ({}, {"g": 0}, {"m": [0, 1, 2]}, {"g": 60}):
        function(*testing.make_args(GROUPED, dims))


@pytest.mark.parametrize(
    "text",
    [
        "f(C: TensorList(Tensor([], float32), length=n), A: Tuple(a: Tensor([n * n, k], float32)))",
        "f(B: TensorList(Tensor([i, n * n], float32), length=n, each=[i]))",
        "f(B: TensorList(Tensor([], float32), length=n), s: Shape([n * n])) where n <= 3",
        "f(B: TensorList(Tensor([], float32), length=n), "
        "o: Optional(Tensor([k], float32, strides=[n * n])))",
        "f(B: TensorList(Tensor([], float32), length=n), "
        "c: Struct(x: Tensor([k], int8 | int16), y: Tensor([n * n], c.x.dtype)))",
    ],
)
def test_a_length_that_expressions_need(text: str) -> None:
    """Only the list binds it."""
    signature = spec.Signature.parse(text, device="cpu")
    for dims, n in (({}, 2), ({"n": 3}, 3)):
        args = testing.make_args(signature, dims)
        assert testing.check(signature, *args)["n"] == n


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (", length=g)) where g % 2000000000 == 0, 1 <= g", "no values of g that fit f: xs"),
        (", length=2000000000))", "make_args: xs"),
    ],
)
def test_more_tensors_than_memory_holds(more: str, words: str) -> None:
    signature = spec.Signature.parse(f"f(xs: TensorList(Tensor([], int8){more}", device="cpu")
    with pytest.raises(ValueError, match=words + " needs 4096000000000 bytes"):
        testing.make_args(signature)


@pytest.mark.parametrize(
    "other",
    [
        "C: Tensor([n * n], float32)",
        "C: Tensor([n * n, 3], float32, strides=[n + m, 1])",
        "s: Shape([n * n, g])",
    ],
)
def test_a_symbol_of_an_empty_list_that_expressions_need(other: str) -> None:
    """Nothing binds it then, and the wrapper checks none of them."""
    text = f"f(g: int64, m: int64, {other}, E: TensorList(Tensor([n], float32), length=g))"
    signature = spec.Signature.parse(text, device="cpu")
    args = testing.make_args(signature, {"g": 0})
    assert testing.check(signature, *args) == {"g": 0, "m": args[1], "n": 0}
    args = testing.make_args(signature, {"n": 4})
    assert testing.check(signature, *args)["n"] == 4
