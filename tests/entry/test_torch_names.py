"""A torch that lacks something undocumented, by which its tensors are read in C, is read by Python."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from typing import Any, Final

import pytest

from ffi_builder.entry import available, layouts
from ffi_builder.runtime.python import functions
from ffi_builder.spec import Tensor, dims
from tests.entry.functions import needs_extension, ways

torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
pytestmark = needs_extension
(n,) = dims("n")
OF_MODES: Final = "operators of torch"
NAMES: Final = {
    "torch": (
        "_C.DispatchKey",
        "_C.DispatchKeySet",
        "_C._IncludeDispatchKeyGuard",
        "_C._dispatch_keys",
        "_C._dispatch_tls_is_dispatch_key_included",
        "_C._enter_dual_level",
        "_C._exit_dual_level",
        "_C._parse_dispatch_key",
        "_VF",
    ),
    OF_MODES: (
        "_C._ExcludeDispatchKeyGuard",
        "_C._is_torch_function_mode_enabled",
    ),
}
"""What is looked up in torch, by the part that needs it."""
SYMBOLS: Final = (
    *layouts.SHIM,
    layouts.REQUIRES_GRAD,
    layouts.FORWARD_GRADIENT,
    layouts.FUNCTION_MODE,
)


@pytest.fixture
def again() -> Iterator[None]:
    """Torch is set up anew, and once more afterwards."""
    functions.extension()
    kept = {name: available.tried.pop(name, None) for name in NAMES}
    operators = list(vars(available)["_operators"])
    vars(available)["_operators"].clear()
    yield
    for name in kept:
        available.tried.pop(name, None)
    vars(available)["_operators"][:] = operators
    available.use_frameworks(extension())
    available.watcher()


def extension() -> Any:
    return import_module("ffi_builder.entry._entry")


def check(part: str) -> None:
    """Set torch up without something that this part needs, and call functions with its tensors."""
    both = ways([Tensor("x", [n], "float32", device_type="cpu")])
    if part == "torch":
        extension().use_torch(None, None, {}, (0,) * 6, (0,) * 4, 0, 0, (0,) * 11)
    available.use_frameworks(extension())
    assert available.watcher() is None
    assert available.tried[part].reason
    both.entry(torch.ones(3))
    assert both.entry._general_calls == (part == "torch")
    with pytest.raises(TypeError, match=r"Mismatched x\.dtype .* got int64"):
        both.entry(torch.ones(3, dtype=torch.int64))
    with pytest.raises(ValueError, match="one that requires grad"):
        both.entry_callable(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize(("part", "name"), [(p, n) for p, names in NAMES.items() for n in names])
def test_without_a_name(again: None, monkeypatch: pytest.MonkeyPatch, part: str, name: str) -> None:
    owner, _, last = name.rpartition(".")
    with monkeypatch.context() as patch:
        patch.delattr(attrgetter(owner)(torch) if owner else torch, last)
        check(part)


@pytest.mark.parametrize("name", ["_cdata", "_version"])
def test_without_an_attribute_of_tensors(
    again: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    found = {"_cdata": "_impl_of", "_version": "_version_of"}[name]
    x = torch.ones(1)
    assert vars(layouts)[found](x) == getattr(x, name)
    monkeypatch.setattr(layouts, found, attrgetter(f"{name}_is_gone"))
    check("torch")


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_without_a_symbol(again: None, monkeypatch: pytest.MonkeyPatch, symbol: str) -> None:
    address_of = layouts.address_of

    def address(library: Any, name: str) -> int:
        return address_of(library, "no_such_symbol" if name == symbol else name)

    monkeypatch.setattr(layouts, "address_of", address)
    check(OF_MODES if symbol == layouts.FUNCTION_MODE else "torch")
    assert any("no_such_symbol is not in" in part.reason for part in available.readings())


def test_without_the_dispatch_keys_of_threads(again: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "LOCAL_KEYS", "no_such_symbol")
    check("torch")
    assert "no_such_symbol is not in libc10.so" in available.tried["torch"].reason


def test_a_variable_that_no_thread_has(again: None, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layouts.torch_layout(torch)
    elsewhere = layout._replace(local_keys=id(layout))

    def torch_layout(_: object) -> layouts.TorchLayout:
        return elsewhere

    monkeypatch.setattr(available, "torch_layout", torch_layout)
    check("torch")
    assert available.tried["torch"].reason == "no thread-local variable is at this address"


def test_without_the_exchange_api(again: None, monkeypatch: pytest.MonkeyPatch) -> None:
    layouts = import_module("ffi_builder.entry.layouts")

    def exchange_api(cls: Any) -> int:
        raise layouts.LayoutError(f"{cls.__name__} has no exchange API")

    monkeypatch.setattr(layouts, "exchange_api", exchange_api)
    check("torch")
