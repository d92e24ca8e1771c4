# Functions that torch calls are typed as Any.
# pyright: reportUnknownLambdaType=false
"""Operators of PyTorch with lists of numbers and tensors: schemas, calls, graphs, what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from ffi_builder import SpecError, wrap
from tests.frameworks.torch.functions import in_python, operator, parsed
from tests.runtime.samples import c_object, needs_cc

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [needs_cc, pytest.mark.filterwarnings("ignore:.*torch.jit.script")]

GATHER: Final = """
#include <stdbool.h>
#include <stdint.h>
void gather(const float *x, const int64_t *at, int64_t m, const double *w, int64_t k,
            const bool *flags, int64_t j, float *y) {
  for (int64_t i = 0; i < m; ++i) y[i] = x[at[i]] * (k ? w[0] : 1) + (j && flags[0]);
}
"""
PARAMS: Final = (
    "x: Tensor([n], float32, intent=in), at: List(int64, m), w: List(float64), "
    "flags: Optional(List(bool))"
)
FORMS: Final = {
    "result": (f"gather({PARAMS}) -> y: Tensor([m], float32)", "mutating"),
    "functional": (f"gather({PARAMS}, y: Tensor([m], float32, intent=out))", "functional"),
}


@pytest.fixture(params=FORMS)
def gather(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    signature, form = FORMS[request.param]
    made = wrap(
        c_object(tmp_path, GATHER),
        signature,
        device="cpu",
        prototype="void gather(const float *, const int64_t *, int64_t, const double *, int64_t, "
        "const bool *, int64_t, float *)",
        args=["x", "at", "w", "flags", "y"],
    )
    return operator(made["gather"], form=form)


def test_the_schema(gather: Any) -> None:
    assert gather.schema.endswith("(Tensor x, SymInt[] at, float[] w, bool[]? flags) -> Tensor")


def test_eager_calls(gather: Any) -> None:
    x = torch.arange(5.0)
    assert gather(x, [1, 2, 4], [2.0], None).tolist() == [2, 4, 8]
    assert gather(x, (0,), [], [True]).tolist() == [1]
    assert gather.overload(x, [], [3], None).shape == (0,)


@pytest.mark.parametrize("dynamic", [None, True])
def test_graphs(gather: Any, dynamic: bool | None) -> None:
    torch._dynamo.reset()

    def doubled(x: Any, at: list[int]) -> Any:
        return gather(x, at, [2.0], None)

    graph = torch.compile(doubled, fullgraph=True, dynamic=dynamic, backend="eager")
    for size, at in ((5, [1, 2, 4]), (7, [6, 5]), (9, [8])):
        assert graph(torch.arange(float(size)), at).tolist() == [2 * each for each in at]


def test_opcheck(gather: Any) -> None:
    x = torch.arange(5.0)
    torch.library.opcheck(gather.overload, (x, [1, 2], [1.5], [True]))
    torch.library.opcheck(gather.overload, (x, [], [], None))


JOIN: Final = """
#include <stddef.h>
#include <stdint.h>
#include <string.h>
struct text { const char *data; size_t size; };
void join(const struct text *names, int64_t n, uint8_t *out) {
  for (int64_t i = 0; i < n; out += names[i++].size) memcpy(out, names[i].data, names[i].size);
}
"""


def test_strs(tmp_path: Path) -> None:
    made = wrap(
        c_object(tmp_path, JOIN),
        "join(names: List(String, n), out: Tensor([16], uint8, intent=out))",
        device="cpu",
        prototype="struct text; void join(const struct text *names, int64_t n, uint8_t *out)",
    )
    join = operator(made["join"], form="mutating")
    assert "(str[] names, Tensor(a1!) out) -> ()" in join.schema
    out = torch.zeros(16, dtype=torch.uint8)
    for function in (join, torch.compile(join, fullgraph=True, backend="eager")):
        function(["ab", "a long name"], out.zero_())
        assert bytes(out.tolist()) == b"aba long name\0\0\0"
    with pytest.raises(TypeError, match=r"Mismatched type of names\[1\] .*, expected str but got"):
        join(["ab", 3], out)


def test_bytes_are_refused(tmp_path: Path) -> None:
    made = wrap(
        c_object(tmp_path, JOIN),
        "join(names: List(Bytes, n), out: Tensor([16], uint8, intent=out))",
        device="cpu",
        prototype="struct text; void join(const struct text *names, int64_t n, uint8_t *out)",
    )
    with pytest.raises(
        SpecError, match="'names' is a List\\(Bytes, n\\), which operators of torch"
    ):
        operator(made["join"], form="mutating")


@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        (([1, 2.5], [1.0], None), TypeError, r"type of at\[1\] .*, expected int but got float"),
        (([1], ["a"], None), TypeError, r"type of w\[0\] .*, expected float but got str"),
        (([1], [1.0], [2]), ValueError, r"flags\[0\] .*, expected True, False, 0 or 1 but got 2"),
        ((3, [1.0], None), TypeError, "type of at .*, expected list of ints but got int"),
    ],
)
def test_what_is_wrong(gather: Any, args: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=f"Mismatched {words}"):
        gather(torch.arange(5.0), *args)


# ---- lists of tensors

SCALE_ALL: Final = """
#include <stdint.h>
void scale_all(float **xs, const int64_t *shapes, int64_t length, float by) {
  for (int64_t j = 0; j < length; ++j)
    for (int64_t i = 0; i < shapes[j]; ++i) xs[j][i] *= by;
}
void add_up(const float **xs, int64_t length, float *y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = 0;
    for (int64_t j = 0; j < length; ++j) y[i] += xs[j][i];
  }
}
"""


@pytest.fixture
def scale_all(tmp_path: Path) -> Any:
    """An operator that writes to the tensors of a list."""
    made = wrap(
        c_object(tmp_path, SCALE_ALL),
        "scale_all(xs: TensorList(Tensor([n], float32, intent=inout), each=[n]), by: float32)",
        device="cpu",
        prototype="void scale_all(float **, const int64_t *, int64_t, float)",
        args=["xs.pointers", "xs.shapes", "xs.length", "by"],
    )
    return operator(made["scale_all"])


@pytest.fixture
def add_up(tmp_path: Path) -> Any:
    """An operator that reads the tensors of a list, which tell the size of its output."""
    made = wrap(
        c_object(tmp_path, SCALE_ALL),
        "add_up(xs: TensorList(Tensor([n], float32, intent=in), length=g), "
        "y: Tensor([n], float32, intent=out))",
        device="cpu",
        prototype="void add_up(const float **, int64_t, float *, int64_t)",
        args=["xs.pointers", "xs.length", "y", "n"],
    )
    return operator(made["add_up"], form="functional")


def test_a_list_that_is_written(scale_all: Any) -> None:
    assert scale_all.schema.endswith("(Tensor(a0!)[] xs, float by) -> ()")

    def step(x: Any, y: Any) -> Any:
        z = x + 1
        scale_all([y, z], 2.0)
        return y + 1, z

    graph = torch.compile(step, fullgraph=True, dynamic=True, backend="aot_eager")
    for call in (step, graph):
        for size in (2, 3):
            y = torch.ones(size)
            result, z = call(torch.arange(3.0), y)
            assert (y.tolist(), result.tolist(), z.tolist()) == ([2] * size, [3] * size, [2, 4, 6])
    for call in (scale_all, scale_all.overload):
        y = torch.ones(2)
        call([y, torch.ones(1)], 3.0)
        assert (y.tolist(), y._version) == ([3, 3], 1)
        call([], 3.0)
    torch.library.opcheck(scale_all.overload, ([torch.ones(2), torch.ones(3)], 2.0))


def test_a_list_that_is_read(add_up: Any) -> None:
    assert add_up.schema.endswith("(Tensor[] xs) -> Tensor")
    x = torch.arange(3.0)
    assert add_up([x, x]).tolist() == [0, 2, 4]
    assert add_up([x.to("meta")]).is_meta
    rows = torch.stack([x, x + 1])
    batch = torch.vmap(lambda row, column: add_up([row, x, column]), in_dims=(0, 1))(rows, rows.T)
    assert batch.tolist() == (2 * rows + x).tolist()
    traced = torch.fx.symbolic_trace(lambda x: add_up([x, x]))
    assert traced(x + 1).tolist() == [2, 4, 6]
    torch.library.opcheck(add_up.overload, ([x, x],))


def test_what_is_wrong_with_a_list(add_up: Any, scale_all: Any) -> None:
    x = torch.arange(3.0)
    for device in ("cpu", "meta"):
        with pytest.raises(
            ValueError, match=r"Mismatched xs\[1\]\.shape\[0\] .*expected 3 .*got 2"
        ):
            add_up([x.to(device), x[:2].to(device)])
    with pytest.raises(
        TypeError, match=r"Mismatched type of xs\[1\] .*expected Tensor but got int"
    ):
        add_up([x, 3])
    with pytest.raises(
        TypeError, match=r"Mismatched type of xs .*expected list of tensors but got"
    ):
        add_up(x)
    with pytest.raises(
        ValueError, match=r"^xs is empty, and nothing else tells the size of an out"
    ):
        add_up([])
    with pytest.raises(ValueError, match=r"xs\[1\] is a meta tensor, .* but xs\[0\] is on cpu"):
        add_up([x, x.to("meta")])
    with pytest.raises(RuntimeError, match="has no derivative, but xs requires a gradient"):
        add_up([x, x.clone().requires_grad_()])
    with pytest.raises(
        RuntimeError, match="writes xs, which requires a gradient, and has no deriv"
    ):
        scale_all([x, x.clone().requires_grad_()], 2.0)
    with torch.no_grad():
        assert add_up([x.clone().requires_grad_()]).tolist() == x.tolist()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        with pytest.raises(RuntimeError, match="has no derivative in forward mode"):
            add_up([dual])


@pytest.mark.parametrize("kind", ["List(bool)", "TensorList(Tensor([n], float32, intent=in))"])
def test_defaults_that_schemas_do_not_have(kind: str) -> None:
    signature = parsed(f"f(y: Tensor([2], float32, intent=out), xs: {kind})")
    given = signature.with_params(xs={"default": ()})
    with pytest.raises(
        SpecError, match="the list 'xs' has a default, but schemas of torch have def"
    ):
        operator(in_python(given))
    numbers = parsed("f(y: Tensor([2], float32, intent=out), xs: List(int64))")
    op = operator(in_python(numbers.with_params(xs={"default": (1, 2)})))
    assert op.schema.endswith("(Tensor(a0!) y, SymInt[] xs=[1, 2]) -> ()")


def test_outputs_beside_a_list() -> None:
    """What tells the device of an output, if nothing but a list can."""
    for device, words in (
        ("cpu", None),
        ("any", "xs has no tensor, and nothing else tells the de"),
    ):
        text = f"f(xs: TensorList(Tensor([n], float32, device_type={device}, intent=in)), "
        text += f"y: Tensor([2], float32, device_type={device}, intent=out))"
        op = operator(in_python(parsed(text)), form="functional")
        assert op([torch.ones(2)]).tolist() == [3, 3]
        assert op([torch.ones(2, device="meta")]).is_meta
        if words is None:
            assert op([]).tolist() == [1, 1]
        else:
            with pytest.raises(ValueError, match=words):
                op([])


def test_derivatives_of_a_list(tmp_path: Path) -> None:
    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.count = len(inputs[0])

    def backward(ctx: Any, grad: Any) -> Any:
        assert ctx.needs_input_grad == ([True, False, True],)
        return ([grad * (at + 1) for at in range(ctx.count)],)  # whose it is can be told

    made = wrap(
        c_object(tmp_path, SCALE_ALL),
        "add_up(xs: TensorList(Tensor([n], float32, intent=in)), "
        "y: Tensor([n], float32, intent=out))",
        device="cpu",
        prototype="void add_up(const float **, int64_t, float *, int64_t)",
        args=["xs.pointers", "xs.length", "y", "n"],
    )["add_up"]
    op = operator(made, form="functional", backward=backward, setup_context=keep)
    x = torch.arange(3.0)
    for call in (op, op.overload, torch.compile(op, fullgraph=True, backend="aot_eager")):
        first, last = x.clone().requires_grad_(), x.clone().requires_grad_()
        result = call([first, x, last])
        assert result.tolist() == [0, 3, 6]
        result.sum().backward()
        assert (first.grad.tolist(), last.grad.tolist()) == ([1] * 3, [3] * 3)

    def total(first: Any, last: Any) -> Any:
        return op([first, x, last]).sum()

    gradients = torch.func.grad(total, argnums=(0, 1))
    assert [each.tolist() for each in gradients(x, x)] == [[1] * 3, [3] * 3]
    rows = torch.stack([x, x])
    batch = torch.vmap(gradients, in_dims=(0, None))(rows, x)
    assert [each.tolist() for each in batch] == [[[1] * 3] * 2, [[3] * 3] * 2]
