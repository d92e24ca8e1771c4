"""The checks of results, which come behind those of all arguments."""

from __future__ import annotations

from ffi_builder import spec
from ffi_builder.plan import Plan
from ffi_builder.plan.messages import signature_text
from ffi_builder.plan.results import DEVICE_ID, MOST_DEVICES, OVERFLOW, SIZE
from ffi_builder.testing.evaluate import evaluate
from ffi_builder.testing.memory import wrap_i64
from ffi_builder.testing.symbols import Symbols


def check_results(plan: Plan, symbols: Symbols) -> None:
    """Check what can be known without an allocator: sizes and device ids.

    Raises:
        ValueError: exactly the wrapper's error.
    """
    for tensor in plan.signature.result_tensors:
        for axis, dim in enumerate(tensor.dims):
            if isinstance(dim, (spec.Var, spec.Expr)):
                _check_size(plan, f"{tensor.name}.shape[{axis}]", dim, symbols)
        given = tensor.device_id
        if isinstance(given, spec.Var):
            number = int(symbols.value(given))
            words = DEVICE_ID.format(given=given, name=tensor.name)
            _require(plan, 0 <= number < MOST_DEVICES, words.format(wrap_i64(number)))


def _check_size(plan: Plan, path: str, dim: spec.Dim, symbols: Symbols) -> None:
    if isinstance(dim, spec.Var):
        size = wrap_i64(int(symbols.value(dim)))
    else:
        value = evaluate(dim, symbols.value)
        _require(plan, value is not None, OVERFLOW.format(dim=dim))
        size = value or 0
    _require(plan, size >= 0, SIZE.format(path=path, dim=dim).format(size))


def _require(plan: Plan, fine: bool, words: str) -> None:
    if not fine:
        signature = plan.signature
        shown = signature_text(signature.name, spec.argument_texts(signature), None)
        raise ValueError(f"{words} when calling: `{shown}`")
