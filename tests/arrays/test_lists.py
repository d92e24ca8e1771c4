"""Lists of tensors from Python: of any framework, under the rules that arrays have elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import DirectCallProvider
from tests.support.loops import loop
from tests.support.wrapping import new_module

TEXT: Final = "f(xs: TensorList(Tensor([n], float32{})), k: float32)"
ADD: Final = loop(
    "add",
    "%xs: !llvm.ptr, %shapes: !llvm.ptr, %strides: !llvm.ptr, %n: i64, %k: f32",
    """
  %at = llvm.getelementptr %xs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.ptr
  %x = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %old = llvm.load %x : !llvm.ptr -> f32
  %new = llvm.fadd %old, %k : f32
  llvm.store %new, %x : f32, !llvm.ptr""",
)
"""Adds k to the first element of each."""


def made(intent: str = "") -> Any:
    text = TEXT.format(f", intent={intent}" if intent else "")
    module = new_module(ADD)
    attach(module, spec.Signature.parse(text, device="cpu"), DirectCallProvider("add"))
    return runtime.compile(module)


MODULES: Final = {intent: made(intent) for intent in ("", "in", "inout")}
WAYS: Final[dict[str, Callable[[Any], Any]]] = {
    "by position": lambda module: module["f"],
    "callable": lambda module: module.callable("f"),
}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    return WAYS[request.param]


def arrays(count: int = 2) -> list[Any]:
    return [np.zeros(3, "float32") for _ in range(count)]


@pytest.mark.parametrize("intent", MODULES)
@pytest.mark.parametrize("container", [list, tuple, tvm_ffi.convert])
def test_a_list_of_arrays(way: Callable[[Any], Any], intent: str, container: Any) -> None:
    xs = arrays(3)
    way(MODULES[intent])(container(xs), 2.5)
    assert [x[0] for x in xs] == [2.5] * 3


def test_an_empty_list(way: Callable[[Any], Any]) -> None:
    way(MODULES[""])([], 1.0)


def test_an_array_may_come_twice(way: Callable[[Any], Any]) -> None:
    x = np.zeros(3, "float32")
    way(MODULES["inout"])([x, x], 1.0)
    assert x[0] == 2.0


def test_several_frameworks_in_one_list(way: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    x, y = np.zeros(3, "float32"), torch.zeros(3)
    z = np.zeros(3, "float32")
    way(MODULES["inout"])([x, y, tvm_ffi.from_dlpack(z)], 1.5)
    assert [x[0], y[0].item(), z[0]] == [1.5] * 3


def test_read_only_arrays_are_for_inputs(way: Callable[[Any], Any]) -> None:
    first, x = arrays()
    x.flags.writeable = False
    way(MODULES["in"])([first, x], 0.0)
    for intent, said in (("inout", 'declared intent="inout"'), ("", 'not declared intent="in"')):
        with pytest.raises(
            ValueError, match=rf"^Mismatched xs\[1\] on argument #0 .*\(xs\[1\] is {said}\)"
        ):
            way(MODULES[intent])([first, x], 0.0)


def test_masked_arrays_are_refused(way: Callable[[Any], Any]) -> None:
    masked = np.ma.masked_array(np.zeros(3, "float32"))
    with pytest.raises(ValueError, match=r"^Mismatched xs\[1\] .*expected an array without a mask"):
        way(MODULES["inout"])([*arrays(1), masked], 0.0)


@pytest.mark.parametrize("intent", MODULES)
def test_rules_of_autograd(way: Callable[[Any], Any], intent: str) -> None:
    torch = pytest.importorskip("torch")
    x, y = torch.zeros(3), torch.zeros(3, requires_grad=True)
    function = way(MODULES[intent])
    with pytest.raises(ValueError, match=r"^Mismatched xs\[1\] .*expected a tensor that needs no"):
        function([x, y], 1.0)
    version = x._version
    with torch.no_grad():
        function([x, y], 1.0)
    assert (x._version > version) == (intent != "in")


def test_conjugate_views_are_refused(way: Callable[[Any], Any]) -> None:
    torch = pytest.importorskip("torch")
    negative = torch.zeros(3, dtype=torch.complex64).conj().imag
    with pytest.raises(ValueError, match=r"^Mismatched xs\[0\] .*a negative view"):
        way(MODULES["inout"])([negative], 1.0)


def test_arrays_of_jax_are_for_inputs(way: Callable[[Any], Any]) -> None:
    jax = pytest.importorskip("jax")
    x = jax.numpy.zeros(3, "float32")
    way(MODULES["in"])([x], 0.0)
    with pytest.raises(ValueError, match=r"^Mismatched xs\[0\] .*an array of JAX"):
        way(MODULES["inout"])([x], 0.0)


@pytest.mark.parametrize("given", [np.zeros(3, "float32"), 3, None, [3.0], [[1.0]]])
def test_what_is_no_list_of_tensors(way: Callable[[Any], Any], given: Any) -> None:
    with pytest.raises(TypeError, match=r"^Mismatched type of xs(\[0\])? on argument #0"):
        way(MODULES[""])(given, 0.0)


def test_what_callers_see() -> None:
    module = MODULES["in"]
    info = module.info("f")
    assert info is not None
    param = info.parameters[0]
    assert (param.kind, param.intent) == ("TensorList", "in")
    text = "TensorList(Tensor([n], float32, device_type=cpu, intent=in))"
    assert f"xs: {text}" in str(module["f"].__signature__)


def test_exports_have_typed_lists(tmp_path: Any) -> None:
    MODULES["in"].export_library(tmp_path / "lib.so", header=tmp_path / "lib.h")
    header = (tmp_path / "lib.h").read_text()
    assert "const ::tvm::ffi::Array<::tvm::ffi::Tensor> &xs" in header
    library = runtime.load(tmp_path / "lib.so")
    x = np.zeros(3, "float32")
    library["f"]([x, x], 1.0)
    assert x[0] == 2.0
