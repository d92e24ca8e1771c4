"""torch's own checks of operators, on every form and on signatures that Hypothesis makes."""

from __future__ import annotations

import os
from typing import Any, Literal, cast

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from ffi_builder import SpecError, spec
from ffi_builder.testing import make_args
from tests.frameworks.torch.functions import axpby, in_python, operator, scale

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    pytest.mark.slow,
    # torch's own, while it traces
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),
]
EXAMPLES = int(os.environ.get("FFI_BUILDER_EXAMPLES", "2000")) // 50
DTYPES = ("float32", "float64", "int32", "int64", "uint8", "float16", "bfloat16")


def times(ctx: Any, grad: Any) -> Any:
    return grad * ctx.a, None


def keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.a = inputs[-1]


def check(op: Any, *args: Any, **keywords: Any) -> None:
    torch.library.opcheck(op.overload, args, keywords)


def test_mutating() -> None:
    check(operator(scale()), torch.ones(4), torch.zeros(4), 2.0)
    check(operator(axpby()), torch.ones(4), torch.ones(4), 2.0, 3.0)


def test_functional() -> None:
    check(operator(scale(), form="functional"), torch.ones(4), 2.0)
    check(operator(axpby(), form="functional"), torch.ones(4), torch.ones(4), 2.0, 3.0)


def test_functional_with_a_derivative() -> None:
    op = operator(scale(), form="functional", backward=times, setup_context=keep)
    check(op, torch.ones(4), 2.0)
    check(op, torch.ones(4, requires_grad=True), 2.0)


@pytest.mark.parametrize("form", ["mutating", "functional"])
@pytest.mark.parametrize(
    "returns", ["y: Tensor([n, 2], float32)", "(y: Tensor([n], int64), z: Tensor([3], float32))"]
)
def test_results_that_the_wrapper_allocates(form: Any, returns: str) -> None:
    text = f"f(x: Tensor([n], float32, intent=in), z0: Tensor([n], float32, intent=inout)) -> {returns}"
    op = operator(in_python(spec.Signature.parse(text, device="cpu")), form=form)
    check(op, torch.ones(4), torch.ones(4))


# ---- any signature

n, m = spec.dims("n m")
sizes = st.sampled_from([1, 2, 3, n, m, n * 2, n + 1, spec.ceildiv(m, 2), n * m])
shapes = st.lists(sizes, max_size=3)


@st.composite
def tensors(draw: st.DrawFn, name: str, intent: str) -> spec.Tensor:
    layout = draw(st.sampled_from(["C", "F", "any"] if intent == "in" else ["C", "F"]))
    shape, dtype = draw(shapes), draw(st.sampled_from(DTYPES))
    return spec.Tensor(name, shape, dtype, device_type="cpu", intent=intent, strides=layout)


def parameter(name: str) -> st.SearchStrategy[spec.Param]:
    scalars = st.sampled_from(
        [
            spec.Var(name, "int32"),
            spec.Var(name, "int64", default=3),
            spec.Var(name, "float32"),
            spec.Var(name, "float64", default=0.5, kw_only=True),
            spec.Var(name, "bool", default=True),
            spec.String(name),
            spec.String(name, default="it's"),
            spec.Choice(name, {"relu": 1, "gelu": 2}, default="gelu", kw_only=True),
            spec.Optional(spec.Var(name, "int32"), default=None),
            spec.Shape(name, [n, 2]),
            spec.List(name, "float64"),
        ]
    )
    tensor = st.sampled_from(["in", "in", "out", "inout"]).flatmap(lambda i: tensors(name, i))
    lists = tensors(name, "in").map(spec.TensorList)
    return st.one_of(tensor, tensor, scalars, tensor.map(spec.Optional), lists)


@st.composite
def results(draw: st.DrawFn, name: str) -> spec.Tensor:
    shape = draw(st.lists(st.sampled_from([2, n]), max_size=2))
    return spec.Tensor(name, shape, draw(st.sampled_from(DTYPES)), device_type="cpu")


class Drawn:
    """A signature, or None where what was drawn makes none. Hypothesis shows it by its repr."""

    def __init__(self, signature: spec.Signature | None) -> None:
        self.signature = signature

    def __repr__(self) -> str:
        return repr(self.signature)


@st.composite
def signatures(draw: st.DrawFn) -> Drawn:
    first = spec.Tensor("x", [n, m], "float32", device_type="cpu", intent="in")
    rest = [draw(parameter(f"p{index}")) for index in range(draw(st.integers(1, 4)))]
    rest.sort(key=lambda param: param.default is not spec.MISSING and not param.kw_only)
    returns = [draw(results(f"r{index}")) for index in range(draw(st.integers(0, 2)))]
    made = returns[0] if len(returns) == 1 else returns or None
    try:
        return Drawn(spec.Signature("f", [first, *rest], made))
    except SpecError:
        return Drawn(None)


@settings(
    max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(
    signatures(), st.sampled_from(["mutating", "functional"]), st.booleans(), st.integers(0, 2**31)
)
def test_random_signatures(
    drawn: Drawn,
    form: Literal["mutating", "functional"],
    present: bool,
    seed: int,
) -> None:
    signature = drawn.signature
    if signature is None:
        return
    try:
        op = operator(in_python(signature), form=form)
    except SpecError as error:
        event(f"refused: {str(error).partition(':')[2][:50]}")
        return
    torch.manual_seed(seed)
    absent = (
        {}
        if present
        else dict.fromkeys(p.name for p in signature.params if isinstance(p, spec.Optional))
    )
    args = make_args(signature, {"n": 2, "m": 3}, "torch", absent)
    for arg in args:
        values = cast("list[Any]", arg if isinstance(arg, list) else [arg])
        for each in values:
            if isinstance(each, torch.Tensor):
                each.copy_(torch.randint(0, 5, each.shape))
    given_args, keywords = passed(signature, args, form)
    event(f"checked: {form}")
    check(op, *given_args, **keywords)
    same_as_the_function(op, given_args, keywords)


def passed(
    signature: spec.Signature, args: list[Any], form: str
) -> tuple[list[Any], dict[str, Any]]:
    """Return those of the function's arguments that the operator takes."""
    given_args: list[Any] = []
    keywords: dict[str, Any] = {}
    for param, arg in zip(signature.arguments, args, strict=True):
        inner = spec.required(param)
        if form == "functional" and isinstance(inner, spec.Tensor) and inner.intent == "out":
            continue
        value = list(arg) if isinstance(inner, (spec.Shape, spec.List)) else arg
        if param.kw_only:
            keywords[param.name] = value
        else:
            given_args.append(value)
    return given_args, keywords


def same_as_the_function(op: Any, args: list[Any], keywords: dict[str, Any]) -> None:
    """Eager, by the dispatcher and compiled: the same results, and the same is written."""

    def outcome(call: Any) -> list[Any]:
        own = [arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]
        results = call(*own, **keywords)
        found = [results] if isinstance(results, torch.Tensor) else list(results or ())
        return [*found, *(arg for arg in own if isinstance(arg, torch.Tensor))]

    expected = outcome(op)
    for call in (op.overload, torch.compile(op, fullgraph=True, backend="aot_eager")):
        for left, right in zip(expected, outcome(call), strict=True):
            assert left.shape == right.shape
            assert left.stride() == right.stride()
            assert torch.equal(left, right)
    torch._dynamo.reset()
