"""Operators of PyTorch in eager mode: their schema, their calls, and what is refused."""

from __future__ import annotations

import copy
import inspect
import pickle
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import SpecError, runtime, spec
from ffi_builder.providers import NopCallProvider
from tests.entry.functions import needs_extension
from tests.frameworks.torch.functions import (
    NAMESPACE,
    axpby,
    compiled,
    in_python,
    nop,
    operator,
    parsed,
    scale,
    unique,
)
from tests.runtime.samples import needs_cc

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
# torch's own use of it
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script")


def words(op: Any) -> str:
    """The schema without the name."""
    return op.schema.partition("(")[2].join(["(", ""])


def test_the_schema_is_that_of_the_signature() -> None:
    op = operator(scale())
    assert words(op) == "(Tensor x, Tensor(a1!) y, float a) -> ()"
    assert words(operator(axpby())) == "(Tensor x, Tensor(a1!) y, float a, float b) -> ()"
    assert words(operator(scale(), form="functional")) == "(Tensor x, float a) -> Tensor"
    functional = operator(axpby(), form="functional")
    assert words(functional) == "(Tensor x, Tensor y, float a, float b) -> Tensor"


def test_the_schema_has_kinds_defaults_and_keywords() -> None:
    signature = spec.Signature(
        "f",
        [
            spec.Tensor("x", [spec.Var("n", "int64")], "float32", device_type="cpu", intent="out"),
            spec.Optional(
                spec.Tensor("mask", [3], "bool", device_type="cpu", intent="in"), default=None
            ),
            spec.Var("count", "int8", default=3),
            spec.Optional(spec.Var("rate", "float64"), default=None),
            spec.Var("flag", "bool", default=True, kw_only=True),
            spec.Choice("mode", {"up": 1, "down": 2}, default="up", kw_only=True),
            spec.Shape("sizes", [2, 3], default=(2, 3), kw_only=True),
        ],
    )
    op = operator(compiled(signature, NopCallProvider())["f"])
    assert words(op) == (
        "(Tensor(a0!) x, Tensor? mask=None, SymInt count=3, float? rate=None, *, bool flag=True, "
        'str mode="up", SymInt[] sizes=[2, 3]) -> ()'
    )
    assert [(param.default, param.kw_only) for param in op.signature.params] == [
        (param.default, param.kw_only) for param in signature.params
    ]
    x = torch.zeros(4)
    for call in (op, op.overload):
        call(x)
        call(x, torch.ones(3, dtype=torch.bool), 5, 1.5, mode="down", sizes=[2, 3], flag=False)
        call(x, count=7)
        with pytest.raises(ValueError, match=r"Mismatched mode .*'up', 'down' but got 'left'"):
            call(x, mode="left")


def test_the_mutating_form_is_the_function() -> None:
    op = operator(scale())
    x, y = torch.arange(4.0), torch.zeros(4)
    assert op(x, y, 3) is None
    assert y.tolist() == [0, 3, 6, 9]
    op.overload(x, y, 2.0)
    assert y.tolist() == [0, 2, 4, 6]
    assert op(np.ones(2, "float32"), np.zeros(2, "float32"), 1) is None


def test_the_functional_form_allocates_outputs_and_copies_what_changes() -> None:
    op, update = operator(scale(), form="functional"), operator(axpby(), form="functional")
    x, y = torch.arange(4.0), torch.ones(4)
    for call in (op, op.overload):
        assert call(x, 3.0).tolist() == [0, 3, 6, 9]
    for call in (update, update.overload):
        assert call(x, y, 3.0, 2.0).tolist() == [2, 5, 8, 11]
    assert y.tolist() == [1] * 4


def test_results_of_the_wrapper_come_behind_outputs() -> None:
    text = "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out)) -> {}"
    one = in_python(parsed(text.format("z: Tensor([n, 2], int64)")))
    z = operator(one)(torch.ones(3), torch.zeros(3))
    assert (z.shape, z.dtype) == ((3, 2), torch.int64)
    y, z = operator(one, form="functional")(torch.ones(3))
    assert (y.tolist(), z.tolist()) == ([4] * 3, [[5, 5]] * 3)
    two = in_python(parsed(text.format("(z: Tensor([n], float32), w: Tensor([2], int32))")))
    op = operator(two, form="functional")
    for call in (op, op.overload):
        y, z, w = call(torch.ones(3))
        assert (y.tolist(), z.tolist(), w.tolist()) == ([4] * 3, [5] * 3, [6] * 2)


@pytest.mark.parametrize("name", ["result", "empty", "call", "checks"])
def test_any_name_of_an_output(name: str) -> None:
    """Functions of operators are generated, and have names of their own."""
    text = f"f(x: Tensor([n], float32, intent=in), {name}: Tensor([n * 2], int32, intent=out))"
    op = operator(in_python(parsed(text)), form="functional")
    for call in (op, op.overload):
        assert call(torch.ones(2)).tolist() == [3] * 4


@pytest.mark.parametrize("form", ["mutating", "functional"])
def test_results_like_an_argument_and_workspaces(form: str) -> None:
    text = (
        "f(x: Tensor(..., float32 | float64, intent=in), w: Workspace(x.shape, x.dtype)) -> "
        "(y: Tensor(x.shape, x.dtype, device_type=x.device_type), z: Tensor(x.shape, int8))"
    )
    op = operator(in_python(parsed(text)), form=form)
    assert words(op) == "(Tensor x) -> (Tensor, Tensor)"
    for dtype in (torch.float32, torch.float64):
        x = torch.ones(2, 3, dtype=dtype)
        for call in (op, op.overload):
            y, z = call(x)
            assert (y.tolist(), z.tolist()) == ([[8] * 3] * 2, [[9] * 3] * 2)  # w is 7
            assert (y.dtype, z.dtype) == (dtype, torch.int8)
        meta, small = op(x.to("meta"))
        assert (meta.shape, meta.dtype, meta.device.type) == ((2, 3), dtype, "meta")
        assert (small.shape, small.dtype) == ((2, 3), torch.int8)


@pytest.mark.parametrize(
    ("params", "shape", "strides"),
    [
        ("x: Tensor([n, m], float32, intent=in), y: Tensor([m, n], float32, intent=out)", (3, 2), (2, 1)),
        ("x: Tensor([n * 2, m], float32, intent=in), y: Tensor([n, 4], float32, intent=out)", (1, 4), (4, 1)),
        ("x: Tensor([n, m], float32, intent=in), y: Tensor([ceildiv(n, 4), m % 2 + 3], float32, intent=out)", (1, 4), (4, 1)),
        ("x: Tensor([n, m], float32, intent=in), y: Tensor([n, m], float32, strides=F, intent=out)", (2, 3), (1, 2)),
        ("x: Tensor([n, m], float32, intent=in), y: Tensor([n, m], float32, strides=[p, 1], intent=out)", (2, 3), (3, 1)),
        ("x: Tensor([n, m], float32, intent=in), y: Tensor([n, m], float32, strides=[8, 2], intent=out)", (2, 3), (8, 2)),
        ("x: Tensor([n, m], float32, strides=[p, 1], intent=in), y: Tensor([p], float32, intent=out)", (3,), (1,)),
        ("x: Tensor([n, m], float32, intent=in), y: Tensor([n - m + 1], float32 | float64, intent=out), z: Tensor([1], float32 | float64, intent=in)", (0,), (1,)),
    ],
)  # fmt: skip
def test_what_is_allocated(params: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    function = nop(f"f({params})")
    op = operator(function, form="functional")
    rest = [torch.zeros(1, dtype=torch.float64)] if "z:" in params else []
    y = op(torch.zeros(2, 3), *rest)
    assert (y.shape, y.stride()) == (shape, strides)
    assert y.dtype == (torch.float64 if rest else torch.float32)
    meta = op(torch.zeros(2, 3, device="meta"), *[z.to("meta") for z in rest])
    assert (meta.shape, meta.stride(), meta.device.type) == (shape, strides, "meta")


def test_tensors_that_take_their_dtype_from_another() -> None:
    text = (
        "f(w: Tensor([n], float32 | float64, intent=in), x: Tensor([n], float32 | float64, "
        "intent=in), y: Tensor([n], x.dtype, intent=in), z: Tensor([n], y.dtype, intent=out), "
        "last: Tensor([n], z.dtype, intent=out)) -> u: Tensor([n], y.dtype)"
    )
    mutating = operator(nop(text.partition(" ->")[0]))
    function = nop(text)
    op = operator(function, form="functional")
    single, double = torch.zeros(3), torch.zeros(3, dtype=torch.float64)
    for device in ("cpu", "meta"):
        for w, x in ((double, single), (single, double)):
            made = op(w.to(device), x.to(device), x.to(device))
            assert [each.dtype for each in made] == [x.dtype] * 3
    mutating(single, double, double, double, double)
    words = r"Mismatched y\.dtype on argument #2 .* expected float64 \(dtype of x\) but got float32"
    for call in (op, op.overload):
        with pytest.raises(TypeError, match=words):
            call(double, double, single)
        with pytest.raises(TypeError, match=words):
            call(double.to("meta"), double.to("meta"), single.to("meta"))


def test_the_object_says_what_it_is() -> None:
    op = operator(scale(), name=(name := unique("named")))
    assert op.__name__ == name
    assert op.overload is getattr(getattr(torch.ops, NAMESPACE), name).default
    assert repr(op) == f"<operator {NAMESPACE}::{name}(Tensor x, Tensor(a1!) y, float a) -> ()>"
    assert str(op.signature).startswith("scale(x: Tensor([n], float32, device_type=cpu, intent=in)")
    assert op.__doc__.startswith("scale(x: Tensor([n], float32")
    assert list(inspect.signature(op).parameters) == ["x", "y", "a"]
    functional = operator(scale(), form="functional")
    assert list(inspect.signature(functional).parameters) == ["x", "a"]
    assert functional.__doc__.startswith("scale(x: Tensor([n], float32")
    assert copy.deepcopy(op) is op
    with pytest.raises(TypeError, match=r"cannot pickle <operator .*module\.state_dict\(\)"):
        pickle.dumps(op)


def test_a_signature_may_be_given() -> None:
    unsaid = nop("f(x: Tensor([n], float32), y: Tensor([n], float32))")
    said = parsed("f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out))")
    assert words(operator(unsaid, signature=said)) == "(Tensor x, Tensor(a1!) y) -> ()"
    other = parsed("f(x: Tensor([n], float32, intent=in), y: Tensor([m], float32, intent=out))")
    with pytest.raises(
        SpecError, match=r"the function has another one: f.* differ in intent alone"
    ):
        operator(unsaid, signature=other)


def test_what_is_given_may_be_a_callable_of_a_module() -> None:
    text = "f(x: Tensor([n], float32, intent=inout), times: int32)"
    module = compiled(parsed(text), NopCallProvider())
    operator(module.callable("f"))(torch.ones(2), times=3)
    operator(module["f"])(torch.ones(2), 3)


def test_versions_are_raised_however_it_is_called() -> None:
    text = "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=inout){})"
    for rest, args in (("", ()), (", s: Shape([2])", ([2],))):  # a Shape is not read in C
        op = operator(nop(text.format(rest)))
        for call in (op, op.overload):
            x, y = torch.ones(3), torch.ones(3)
            call(x, y, *args)
            assert x._version == 0
            assert y._version == 1


def test_dispatch_follows_the_device_of_the_signature() -> None:
    cuda = nop("f(x: Tensor([n], float32, device_type=cuda, intent=inout), s: EnvStream)")
    op = operator(cuda)
    with pytest.raises(ValueError, match=r"Mismatched x\.device_type .* expected cuda but got cpu"):
        op(torch.ones(3))
    with torch.inference_mode(), pytest.raises(NotImplementedError, match="'CPU' backend"):
        op.overload(torch.ones(3))
    assert op(torch.ones(3, device="meta")) is None
    either = operator(nop("f(x: Tensor([n], float32, device_type=any, intent=inout))"))
    either.overload(torch.ones(3))


@needs_extension
def test_calls_are_read_in_c_unless_a_mode_is_on() -> None:
    op = operator(scale())
    x, y = torch.ones(3), torch.zeros(3)
    for _ in range(5):
        op(x, y, a=2.0)
    assert op._general_calls == 0
    with import_module("torch.utils.flop_counter").FlopCounterMode(display=False):
        op(x, y, 2.0)
    with torch.overrides.BaseTorchFunctionMode():
        op(x, y, 2.0)
    assert op._general_calls == 2
    for device in ("cpu", "cuda"):
        torch.set_autocast_enabled(device, True)
        try:
            op(x, y, 2.0)
        finally:
            torch.set_autocast_enabled(device, False)
    assert op._general_calls == 4
    with torch.no_grad():
        op(torch.nn.Parameter(x), y, 2.0)
    assert op._general_calls == 4
    assert op.__call__(x, y, 3.0) is None
    assert y.tolist() == [3] * 3


def test_whether_the_gil_is_released_is_as_it_was() -> None:
    f = scale()
    f.release_gil = False
    op = operator(f)
    assert getattr(op, "release_gil", False) is False


@needs_cc
def test_an_operator_of_a_loaded_library(tmp_path: Path) -> None:
    text = "f(x: Tensor([n], float32, intent=inout), times: int32)"
    path = tmp_path / "library.so"
    compiled(parsed(text), NopCallProvider()).export_library(path)
    op = operator(runtime.load(path)["f"])
    assert words(op) == "(Tensor(a0!) x, SymInt times) -> ()"
    x = torch.ones(2)
    op(x, 3)
    assert x._version == 1
