"""Calls while PyTorch records a graph, which would lack them, on every way from Python."""

# Functions that torch calls are typed as Any.
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

import pytest

from ffi_builder.runtime.python import torch_rules
from ffi_builder.spec import Array, TensorList
from tests.entry.functions import needs_extension, ways
from tests.entry.rules import WAYS, Call, recorded, tensor
from tests.support.threads import together

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*torch.jit"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # torch's own, while it traces
]
Program = Callable[[Any], Any]
ADVICE: Final = r"make f an operator by ffi_builder\.frameworks\.torch\.operator$"


def made_by(program: Program, **how: Any) -> None:
    import_module("torch.fx.experimental.proxy_tensor").make_fx(program, **how)(torch.ones(3))


def functionalized(program: Program) -> None:
    torch.func.functionalize(program)(torch.ones(3))


def exported(program: Program) -> None:
    class Module(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return program(x)

    torch.export.export(Module(), (torch.ones(3),), strict=False)


def faked(program: Program) -> None:
    with import_module("torch._subclasses.fake_tensor").FakeTensorMode():
        program(torch.ones(3))


RECORDING: Final[dict[str, Callable[[Program], object]]] = {
    "make_fx": made_by,
    "make_fx fake": lambda program: made_by(program, tracing_mode="fake"),
    "make_fx symbolic": lambda program: made_by(program, tracing_mode="symbolic"),
    "make_fx pre_dispatch": lambda program: made_by(program, pre_dispatch=True),
    "make_fx functionalize": lambda program: made_by(torch.func.functionalize(program)),
    "jit": lambda program: torch.jit.trace(program, torch.ones(3)),
    "export": exported,
    "fake": faked,
}
"""What records all that torch does while a program runs."""

TRACES: Final[dict[str, Callable[[Program], object]]] = {
    **RECORDING,
    "fx": torch.fx.symbolic_trace,
    "functionalize": functionalized,
    "vmap": lambda program: torch.vmap(program)(torch.ones(2, 3)),
}
"""What gives a program other tensors than plain ones."""


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("way", WAYS)
def test_arguments_of_a_trace(way: str, trace: str) -> None:
    f = getattr(recorded("in"), way)

    def program(x: Any) -> Any:
        f(x)
        return x + 1

    with pytest.raises(ValueError, match=f"^Mismatched x on argument #0 .*{ADVICE}"):
        TRACES[trace](program)
    f(torch.ones(3))


@pytest.mark.parametrize("trace", RECORDING)
@pytest.mark.parametrize("way", WAYS)
def test_other_tensors_during_a_trace(way: str, trace: str) -> None:
    f, constant = getattr(recorded(None), way), torch.ones(3)

    def program(x: Any) -> Any:
        f(constant)
        return x + 1

    with pytest.raises(ValueError, match=f"^Mismatched x on argument #0 .*{ADVICE}"):
        RECORDING[trace](program)
    assert constant._version == 0


@pytest.mark.parametrize("way", WAYS)
def test_tensors_in_lists(way: str) -> None:
    for param in (TensorList(tensor()), Array("x")):
        f: Call = getattr(ways([param]), way)

        def program(x: Any, f: Call = f) -> Any:
            f([x])
            return x + 1

        with pytest.raises(ValueError, match=rf"^Mismatched x\[0\] on argument #0 .*{ADVICE}"):
            made_by(partial(program, f=f))


@pytest.mark.parametrize("way", WAYS)
def test_modes_that_record_no_graph(way: str) -> None:
    both = recorded(None)
    f, x = getattr(both, way), torch.ones(3)
    counting = import_module("torch.utils.flop_counter").FlopCounterMode(display=False)
    for mode in (counting, torch.device("cpu"), torch.profiler.profile()):
        before = x._version
        assert both.recording is not None
        both.recording.clear()
        with mode:
            f(x)
        assert (both.recording.unsigned(0), x._version) == (x.data_ptr(), before + 1)


@pytest.mark.parametrize("trace", RECORDING)
@pytest.mark.parametrize("way", WAYS)
def test_functions_that_recorded_operators_call(way: str, trace: str) -> None:
    f = getattr(recorded(None), way)
    name = f"ffi_builder_traces::{way}_{trace.replace(' ', '_')}"

    def called(x: Any) -> Any:
        f(x)
        return x + 1

    operator = torch.library.custom_op(name, called, mutates_args=(), schema="(Tensor x) -> Tensor")
    operator.register_fake(torch.empty_like)
    RECORDING[trace](lambda x: operator(x) * 2)


@pytest.mark.parametrize("way", WAYS)
def test_other_threads_record_nothing(way: str) -> None:
    f, x = getattr(recorded(None), way), torch.ones(3)

    def program(y: Any) -> Any:
        together(lambda _: f(x), 2)
        return y + 1

    made_by(program)
    assert x._version == 2


NAMES: Final = (
    *("_parse_dispatch_key", "_dispatch_tls_is_dispatch_key_included", "_get_dispatch_mode"),
    *("_dispatch_tls_is_dispatch_key_excluded", "_len_torch_dispatch_stack"),
    "_TorchDispatchModeKey",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_torch_without_a_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then traces of `torch.jit` alone are seen."""
    f, forgotten = recorded("in").general, vars(torch_rules)["_tracing"]
    forgotten.cache_clear()
    with monkeypatch.context() as patch:
        patch.delattr(torch._C, name)
        f(torch.ones(3))
    with pytest.raises(ValueError, match=ADVICE):
        torch.jit.trace(f, torch.ones(3))
    forgotten.cache_clear()


@needs_extension
def test_a_trace_that_has_ended_is_forgotten() -> None:
    both = recorded(None)
    before = both.entry._general_calls
    with pytest.raises(ValueError, match=ADVICE):
        made_by(both.entry)
    for _ in range(3):
        both.entry(torch.ones(3))
    assert both.entry._general_calls == before + 1


@pytest.mark.parametrize("way", WAYS)
def test_what_may_not_break_its_graph_says_what_to_do(way: str) -> None:
    f = getattr(recorded(None), way)

    def program(x: Any) -> Any:
        f(x)
        return x + 1

    x = torch.ones(3)
    torch.compiler.reset()
    with pytest.raises(RuntimeError, match=r"ffi_builder\.frameworks\.torch\.operator makes one"):
        torch.compile(program, backend="eager", fullgraph=True)(x)
    torch.compiler.reset()
    assert torch.compile(program, backend="eager")(x).tolist() == [2, 2, 2]
    assert x._version == 1
