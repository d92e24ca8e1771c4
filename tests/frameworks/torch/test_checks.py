"""The checks of tracing against those of the wrapper: the same errors, in the same words."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from ffi_builder import SpecError, spec
from ffi_builder.providers import NopCallProvider
from ffi_builder.testing import make_args
from tests.frameworks.torch.functions import compiled, operator

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    pytest.mark.slow,
    # torch's own use of it
    pytest.mark.filterwarnings("ignore:.*torch.jit.script"),
]
EXAMPLES = int(os.environ.get("FFI_BUILDER_EXAMPLES", "2000")) // 10

n = spec.Var("n", "int64", min=2)
m = spec.Var("m", "int32", divisibility=2)
k = spec.Var("k", "int8", max=20)
s, t = spec.dims("s t")
DIMS = [1, 2, 3, None, n, m, k, n * 2, n + m, m - 1, spec.ceildiv(n, 2), n % 3, n * m // 2]
STRIDES = ["C", "F", "any", "entries"]
PARAMS: list[spec.Param] = [
    spec.Var("a", "int8", min=-3),
    spec.Var("b", "int32", divisibility=3),
    k,
    spec.Var("e", "float32"),
    spec.Choice("c", {"relu": 1, "gelu": 2}),
    spec.Shape("d", [n, 3, m]),
    spec.ConstInt("f", 5),
    spec.ConstBool("g", True),
    spec.ConstFloat("h", 0.5),
]


@st.composite
def tensors(draw: st.DrawFn, name: str) -> spec.Param:
    shape: Any = draw(st.lists(st.sampled_from(DIMS), max_size=3))
    if draw(st.integers(0, 9)) == 0:
        shape = ...
    layout = draw(st.sampled_from(STRIDES))
    strides: Any = layout
    if layout == "entries":
        strides = (
            [draw(st.sampled_from([1, None, n, s, t, s * 2, n * 3])) for _ in shape or ()]
            if shape is not ...
            else "any"
        )
    dtype: Any = draw(st.sampled_from(["float32", "int64", ("float16", "bfloat16")]))
    if name != "x0" and draw(st.booleans()):
        dtype = "x0.dtype"
    made = spec.Tensor(name, shape, dtype, device_type="cpu", strides=strides, intent="inout")
    return spec.Optional(made) if draw(st.integers(0, 3)) == 0 else made


@st.composite
def signatures(draw: st.DrawFn) -> spec.Signature | None:
    params = [draw(tensors(f"x{index}")) for index in range(draw(st.integers(1, 3)))]
    params += draw(st.lists(st.sampled_from(PARAMS), max_size=2, unique_by=id))
    first = spec.Tensor("x", [n, m, k], "float32", device_type="cpu", intent="in")
    try:
        return spec.Signature("f", draw(st.permutations([first, *params])))
    except SpecError:
        return None


def larger(draw: st.DrawFn, x: Any) -> Any:
    axis = draw(st.integers(0, x.dim() - 1))
    return torch.cat([x, x], axis) if x.dim() else x


def transposed(draw: st.DrawFn, x: Any) -> Any:
    return x.transpose(0, -1) if x.dim() else x


CHANGES: list[Callable[[st.DrawFn, Any], Any]] = [
    lambda draw, x: larger(draw, x) if x.dim() else x,
    transposed,
    lambda draw, x: x[::2] if x.dim() else x,
    lambda draw, x: x[:1] if x.dim() else x,
    lambda draw, x: x[:0] if x.dim() else x,
    lambda draw, x: x.unsqueeze(0),
    lambda draw, x: x.flatten(),
    lambda draw, x: x.to(torch.float64),
    lambda draw, x: x.contiguous(),
]


@st.composite
def calls(draw: st.DrawFn) -> Any:
    """The text of a signature, and arguments of which some may be wrong."""
    signature = draw(signatures())
    if signature is None:
        return None
    absent = [
        p.name for p in signature.params if isinstance(p, spec.Optional) and draw(st.booleans())
    ]
    try:
        args = make_args(signature, framework="torch", values=dict.fromkeys(absent))
    except ValueError:
        return None
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(args) - 1))
        args[at] = changed(draw, args[at])
    return str(signature), args


def changed(draw: st.DrawFn, arg: Any) -> Any:
    match arg:
        case None:
            return None
        case torch.Tensor():
            return draw(st.sampled_from(CHANGES))(draw, arg)
        case bool():
            return not arg
        case int():
            return arg + draw(st.sampled_from([-200, -1, 1, 200]))
        case float():
            return arg + 1
        case str():
            return "gelo"
        case _:
            entries = list(arg)
            return [*entries[:-1], entries[-1] + 2] if draw(st.booleans()) else entries[1:]


@settings(max_examples=EXAMPLES)
@given(calls())
def test_tracing_says_what_the_wrapper_says(call: Any) -> None:
    if call is None:
        return
    text, args = call
    function = compiled(spec.Signature.parse(text), NopCallProvider())["f"]
    op = operator(function)
    expected = outcome(op, args)
    traced = outcome(op, [without_data(arg) for arg in args])
    event("passes" if expected is None else f"{expected[1].partition(' on argument')[0][:30]}")
    assert traced == expected


def without_data(arg: Any) -> Any:
    """The same tensor without memory; `.to` would make other strides of some."""
    if not isinstance(arg, torch.Tensor):
        return arg
    return torch.empty_strided(arg.shape, arg.stride(), dtype=arg.dtype, device="meta")


def outcome(op: Any, args: list[Any]) -> tuple[type, str] | None:
    """The error of a call."""
    try:
        op(*[list(arg) if type(arg).__name__ == "Shape" else arg for arg in args])
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    return None


RELATIONS = (
    "f(x: Tensor([n], float32, intent=in), y: Tensor([m], float32, intent=inout), k: int32) "
    "where {}"
)


@pytest.mark.parametrize("where", ["n <= m", "n * m != 6", "m in {1, 2}", "n == max(m, k)"])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 3, 1), (3, 2, 1), (3, 2, 3)])
def test_relations_while_tracing(where: str, sizes: tuple[int, int, int]) -> None:
    text = RELATIONS.format(where)
    function = compiled(spec.Signature.parse(text, device="cpu"), NopCallProvider())["f"]
    op = operator(function)
    n, m, k = sizes
    args = [torch.zeros(n), torch.zeros(m), k]
    assert outcome(op, [without_data(arg) for arg in args]) == outcome(op, args)


CONDITIONS = (
    "f(x: Tensor([n], float16 | float32, strides=any, intent=in), "
    "m: Optional(Tensor([n], float32, intent=in)), y: Tensor([n], float32, intent=inout)) where {}"
)


@pytest.mark.parametrize(
    "where",
    [
        "x.dtype == float16 or n > 3",
        "m.present and n >= 2 or x.contiguous",
        "not m.present or x.dtype != float16",
    ],
)
def test_conditions_while_tracing(where: str) -> None:
    signature = spec.Signature.parse(CONDITIONS.format(where), device="cpu")
    op = operator(compiled(signature, NopCallProvider())["f"])
    refused = 0
    for n, dtype, there, step in product((1, 4), ("float16", "float32"), (0, 1), (1, 2)):
        x = torch.zeros(n * step, dtype=getattr(torch, dtype))[::step]
        args = [x, torch.zeros(n) if there else None, torch.zeros(n)]
        expected = outcome(op, args)
        refused += expected is not None
        assert outcome(op, [arg if arg is None else without_data(arg) for arg in args]) == expected
    assert 0 < refused < 16


def test_conditions_of_addresses_wait_for_the_call() -> None:
    text = "f(x: Tensor([n], float32, intent=inout)) where not x.data % 4096 == 0"
    op = operator(compiled(spec.Signature.parse(text, device="cpu"), NopCallProvider())["f"])
    x = torch.zeros(2048)
    at = (-x.data_ptr() % 4096) // 4
    assert outcome(op, [without_data(x)]) is None
    assert outcome(op, [x[at + 1 :]]) is None
    found = outcome(op, [x[at:]])
    assert found is not None
    assert "expected not x.data % 4096 == 0 but got x.data = 0x" in found[1]


def test_relations_between_what_the_functional_form_is_given() -> None:
    text = (
        "f(x: Tensor([n], float32, intent=in), m: int64, y: Tensor([n, m], float32, intent=out)) "
        "where n * 2 <= m, no_overlap(y)"
    )
    function = compiled(spec.Signature.parse(text, device="cpu"), NopCallProvider())["f"]
    op = operator(function, form="functional")
    x = torch.zeros(3)
    assert outcome(op, [without_data(x), 6]) is None
    expected = outcome(op, [x, 5])
    assert expected is not None
    assert "expected n * 2 <= m" in expected[1]
    assert outcome(op, [without_data(x), 5]) == expected


def test_overflow_of_a_relation_while_tracing() -> None:
    text = "f(x: Tensor([n], float32, intent=inout), k: int64) where n * k <= 9"
    op = operator(compiled(spec.Signature.parse(text, device="cpu"), NopCallProvider())["f"])
    args = [torch.zeros(4), 2**62]
    expected = outcome(op, args)
    assert expected is not None
    assert "beyond int64" in expected[1]
    assert outcome(op, [without_data(arg) for arg in args]) == expected


def test_the_larger_size_of_a_result() -> None:
    text = (
        "f(x: Tensor([n], float32, intent=in), y: Tensor([m], float32, intent=in), "
        "z: Tensor([max(n, m)], float32, intent=out))"
    )
    function = compiled(spec.Signature.parse(text, device="cpu"), NopCallProvider())["f"]
    op = operator(function, form="functional")
    assert op(torch.zeros(2), torch.zeros(5)).shape == (5,)
    graph = torch.compile(op, fullgraph=True, backend="aot_eager")
    assert graph(torch.zeros(4), torch.zeros(3)).shape == (4,)
