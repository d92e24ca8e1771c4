"""Arguments that are made, and what they bind."""

from __future__ import annotations

from typing import Any

from ffi_builder import spec, testing
from ffi_builder.spec import Signature, Tensor


def cpu(name: str, *entries: spec.Dim | None, dtype: str = "float32", **more: Any) -> Tensor:
    return Tensor(name, entries, dtype, device_type="cpu", **more)


def made(*params: spec.Param, framework: str = "numpy", **symbols: float) -> list[Any]:
    return testing.make_args(Signature("f", params), symbols, framework)


def bound(*params: spec.Param, framework: str = "numpy", **symbols: float) -> dict[str, Any]:
    """Return the symbols that made arguments bind; check those that were asked for."""
    signature = Signature("f", params)
    found = testing.check(signature, *testing.make_args(signature, symbols, framework))
    assert {name: found[name] for name in symbols} == symbols
    return found
