"""Writes that autograd is told of, and tensors that are left to the general way."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ffi_builder.entry import layouts
from ffi_builder.spec import Optional, Tensor, TensorList, TupleParam, Var, dims
from tests.entry.functions import Ways, needs_extension, ways

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    needs_extension,
    # torch's own use of it
    pytest.mark.filterwarnings("ignore:.*torch.jit.script"),
]

n, m = dims("n m")


def vectors(count: int) -> Ways:
    """A function of vectors of any length, one after the other."""
    sizes = [Var(f"n{index}", "int64") for index in range(count)]
    return ways([Tensor(f"x{i}", [sizes[i]], "float32", device_type="cpu") for i in range(count)])


def test_each_call_raises_the_version_of_what_may_be_written() -> None:
    f = vectors(2).entry
    x, y = torch.zeros(3), torch.zeros(3)
    for calls in range(1, 4):
        f(x, y)
        assert (x._version, y._version) == (calls, calls)
    f(x, x)
    assert x._version == 5
    assert f._general_calls == 0


def test_what_is_only_read_keeps_its_version() -> None:
    x, y = Tensor("x", [n], "float32", device_type="cpu", intent="in"), Var("y", "int32")
    f = ways([x, y]).entry
    tensor = torch.zeros(3)
    f(tensor, 1)
    assert (tensor._version, f._general_calls) == (0, 0)


def test_versions_of_tensors_in_lists_and_tuples() -> None:
    read = Tensor("x", [n], "float32", device_type="cpu", intent="in")
    written = replace(read, name="y", intent=None)
    f = ways([TensorList(read), TupleParam("t", [written, Optional(replace(written, name="z"))])])
    x, y, z = (torch.zeros(3) for _ in range(3))
    for calls in range(1, 4):
        f.entry([x, x], (y, z))
        assert (x._version, y._version, z._version) == (0, calls, calls)
    assert f.entry._general_calls == 0
    forty = [torch.zeros(3) for _ in range(40)]
    ways([TensorList(written)]).entry(forty)
    assert {each._version for each in forty} == {1}


def test_views_share_a_version() -> None:
    f = vectors(1).entry
    x = torch.zeros(4)
    f(x[1:])
    f(x.detach())
    assert x._version == 2
    f(x.data)
    assert x._version == 2


def test_a_call_that_is_not_read_leaves_versions_alone() -> None:
    both = vectors(2)
    x = torch.zeros(3)
    with pytest.raises(TypeError):
        both.entry(x, "no tensor")
    assert x._version == 0


def test_autograd_sees_that_what_it_saved_was_written() -> None:
    f = vectors(1).entry
    a = torch.ones(3, requires_grad=True)
    b = a * 1.0
    loss = (b * b).sum()
    f(b.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_tensors_of_inference_mode_have_no_version() -> None:
    f = vectors(1).entry
    with torch.inference_mode():
        x = torch.zeros(3)
        f(x)
    f(x)
    assert f._general_calls == 0


def test_parameters_without_grad_mode() -> None:
    f = vectors(2).entry
    weight = torch.nn.Parameter(torch.ones(3))
    with torch.no_grad():
        f(weight, weight * 2)
    assert f._general_calls == 0
    assert weight._version == 1
    f(weight.detach(), weight.detach())
    assert f._general_calls == 0
    with pytest.raises(ValueError, match=r"pass x0\.detach\(\), call f under torch\.no_grad"):
        f(weight, weight.detach())
    assert f._general_calls == 1
    assert weight._version == 3


@pytest.mark.parametrize("mode", ["grad", "no_grad"])
def test_tangents_of_forward_mode_are_not_dropped(mode: str) -> None:
    f = vectors(1).entry
    forward = torch.autograd.forward_ad
    with {"grad": torch.enable_grad, "no_grad": torch.no_grad}[mode](), forward.dual_level():
        dual = forward.make_dual(torch.zeros(3), torch.ones(3))
        with pytest.raises(ValueError, match="pass its primal"):
            f(dual)
        assert f._general_calls == 1
        f(forward.unpack_dual(dual).primal.clone().detach())


@pytest.mark.parametrize("way", ["entry", "entry_callable", "general", "general_callable"])
def test_views_have_the_tangent_of_their_base(way: str) -> None:
    f = getattr(vectors(1), way)
    base = torch.zeros(6)
    view = base[:3]  # made first: it gets its tangent when it is asked for it
    f(view)
    forward = torch.autograd.forward_ad
    with forward.dual_level():
        base.copy_(forward.make_dual(torch.zeros(6), torch.ones(6)))
        with pytest.raises(ValueError, match="a tensor without a tangent"):
            f(view)
        f(torch.zeros(6)[:3])
    f(view)


@pytest.mark.slow
def test_wrappers_of_functorch_are_left_alone() -> None:
    f = vectors(1).entry
    seen: list[Any] = []

    def inner(x: Any) -> Any:
        seen.append(type(x))
        with pytest.raises(ValueError, match=r"or make (it|f) an operator|pass its primal"):
            f(x)
        return x.sum()

    torch.vmap(inner)(torch.ones(2, 3))
    torch.func.grad(inner)(torch.ones(3))
    torch.func.jvp(inner, (torch.ones(3),), (torch.ones(3),))
    assert seen == [torch.Tensor] * 3
    assert f._general_calls == 3


def test_shapes_strides_and_data_of_many_views() -> None:
    s, t = Var("s", "int64"), Var("t", "int64")
    tensor = Tensor("x", [n, m], "float32", device_type="cpu", strides=[s, t])
    both = ways([tensor], ["!llvm.ptr", *["i64"] * 4], [tensor, n, m, s, t])
    random = np.random.default_rng(0)
    whole = torch.arange(24 * 30, dtype=torch.float32).reshape(24, 30)
    for _ in range(200):
        first, last = sorted(random.integers(0, 24, 2))
        view = whole[first : last + 1 : random.integers(1, 4), random.integers(0, 9) :]
        view = (view.T if random.integers(2) else view)[:, :: random.integers(1, 4)]
        both.entry(view)
        recording = both.recording
        assert recording is not None
        assert recording.unsigned(0) == view.data_ptr()
        assert [recording.signed(at) for at in (1, 2)] == list(view.shape)
        assert [recording.signed(at) for at in (3, 4)] == list(view.stride())
    assert both.entry._general_calls == 0


def test_which_keys_tensors_of_a_gpu_may_have() -> None:
    """Seen on an H200, with `torch._C._dispatch_keys`; `torch_read_in_c` of tests/cuda/gpu calls."""
    allowed = layouts._torch_keys(torch)[0]  # pyright: ignore[reportPrivateUsage] # what is tested
    for names, right in (
        ("CUDA ADInplaceOrView AutogradCUDA AutocastCUDA", True),
        ("SparseCUDA ADInplaceOrView AutogradCUDA AutocastCUDA", False),
        ("XPU ADInplaceOrView AutogradXPU AutocastXPU", False),
    ):
        keys = [
            torch._C.DispatchKeySet(torch._C._parse_dispatch_key(name)) for name in names.split()
        ]
        assert all(key.raw_repr() & ~allowed == 0 for key in keys) == right, names


def test_the_tangent_is_found_whatever_was_in_memory_before() -> None:
    found: set[Any] = set()
    for _ in range(30):
        junk = [os.urandom(size) for size in range(16, 400, 8)]
        del junk
        found.add(layouts._torch_offsets(torch))  # pyright: ignore[reportPrivateUsage] # what is tested
    assert len(found) == 1
