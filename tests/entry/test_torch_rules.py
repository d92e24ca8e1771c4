"""Rules of PyTorch that DLPack does not carry, on every way from Python to a function."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from ffi_builder.spec import Array, Map, Tensor, TupleParam, Var
from tests.entry.functions import ways
from tests.entry.rules import WAYS, Call, n, recorded, tensor

np: Any = numpy
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script")


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")


def _complex(way: str) -> Call:
    return getattr(ways([Tensor("x", [n], "complex64", device_type="cpu", intent="in")]), way)


@pytest.mark.parametrize("way", WAYS)
def test_conjugate_and_negative_views(torch: Any, way: str) -> None:
    numbers = torch.ones(3, dtype=torch.complex64)
    f, real = _complex(way), getattr(recorded("in", "any"), way)
    with pytest.raises(ValueError, match=r"a conjugate view, .*: pass x\.resolve_conj\(\)"):
        f(numbers.conj())
    with pytest.raises(ValueError, match=r"a negative view, .*: pass x\.resolve_neg\(\)"):
        real(numbers.conj().imag)
    f(numbers.conj().resolve_conj())
    real(numbers.conj().imag.resolve_neg())


@pytest.mark.parametrize("way", WAYS)
def test_gradients_that_would_be_lost(torch: Any, way: str) -> None:
    f = getattr(recorded("in"), way)
    for lost in (torch.ones(3, requires_grad=True), torch.nn.Parameter(torch.ones(3))):
        with pytest.raises(ValueError, match=r"autograd does not see .* pass x\.detach\(\)"):
            f(lost)
        with pytest.raises(ValueError, match="requires grad"):
            f(lost * 2)
        f(lost.detach())
        with torch.no_grad():
            f(lost)
            f(lost * 2)
        with torch.inference_mode():
            f(lost * 2)


@pytest.mark.parametrize("way", WAYS)
def test_tensors_without_memory(torch: Any, way: str) -> None:
    f = getattr(recorded(None), way)
    fake_tensor = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake_tensor.FakeTensorMode():
        fake = torch.ones(3)
    for odd, layout in (
        (torch.ones(3).to_sparse(), "torch.sparse_coo"),
        (torch.ones(3).to_mkldnn(), "torch._mkldnn"),
    ):
        words = rf"but got a tensor of the layout {layout}, which has none .*: pass x\.to_dense\(\)"
        with pytest.raises(ValueError, match=words):
            f(odd)
        f(odd.to_dense())
    for odd, kind in (
        (torch.ones(3, device="meta"), "a meta tensor"),
        (fake, "a FakeTensor"),
    ):
        words = f"expected a tensor with memory but got {kind}, which has none: pass a dense"
        with pytest.raises(ValueError, match=words):
            f(odd)
    with pytest.raises(ValueError, match="got a tensor that torch traces or maps over, which has"):
        torch.vmap(f)(torch.ones(2, 3))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_nested_tensors(torch: Any, way: str, layout: str) -> None:
    f = getattr(recorded(None), way)
    x = torch.nested.nested_tensor([torch.ones(3), torch.ones(2)], layout=getattr(torch, layout))
    words = (
        r"of one shape but got a nested tensor, .*: pass each of x\.unbind\(\), or torch\.nested"
    )
    with pytest.raises(ValueError, match=words):
        f(x)
    for each in x.unbind():
        f(each)
    f(torch.nested.to_padded_tensor(x, 0.0)[0])


@pytest.mark.filterwarnings("ignore:.*quantized tensor creation functions")
@pytest.mark.parametrize("way", WAYS)
def test_quantised_tensors(torch: Any, way: str) -> None:
    f = getattr(recorded(None), way)
    x = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
    words = r"memory has its values but got a quantised tensor, .*: pass x\.dequantize\(\)"
    with pytest.raises(ValueError, match=words):
        f(x)
    f(x.dequantize())


@pytest.mark.parametrize("way", WAYS)
def test_versions_are_raised_once_a_call_has_succeeded(torch: Any, way: str) -> None:
    params = [tensor("x", "in"), tensor("y"), tensor("z", "out"), TupleParam("t", [tensor("w")])]
    f = getattr(ways([*params, Var("k", "int32")]), way)
    x, y, z, w = (torch.zeros(3) for _ in range(4))
    f(x, y, z, (w,), 1)
    assert [each._version for each in (x, y, z, w)] == [0, 1, 1, 1]
    for wrong in ((x, y, z, (w,), "k"), (x, y, torch.zeros(4), (w,), 1)):
        with pytest.raises((TypeError, ValueError)):
            f(*wrong)
    assert [each._version for each in (x, y, z, w)] == [0, 1, 1, 1]


@pytest.mark.parametrize("way", WAYS)
def test_versions_of_tensors_in_lists(torch: Any, way: str) -> None:
    f = getattr(ways([Array("xs"), Map("named")]), way)
    x, y = torch.zeros(3), torch.zeros(3)
    f([x], {"y": [y]})
    assert (x._version, y._version) == (1, 1)


@pytest.mark.parametrize("way", WAYS)
def test_autograd_sees_what_was_written(torch: Any, way: str) -> None:
    f = getattr(ways([TupleParam("t", [tensor()])]), way)
    a = torch.ones(3, requires_grad=True)
    b = a * 1.0
    loss = (b * b).sum()
    f((b.detach(),))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
