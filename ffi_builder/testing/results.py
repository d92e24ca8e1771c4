"""Checks sizes and device ids of results and workspaces, once all arguments are checked.

Wrappers check these in code that :mod:`ffi_builder.builder.allocation` emits, next to the
allocation that needs the values. Results have no part in the diagnosis, so the rules are here a
second time; tests compare both. Failures of the allocator are not predicted.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from ffi_builder import spec
from ffi_builder.plan.messages import signature_text
from ffi_builder.plan.results import (
    DEVICE_ID,
    MOST_DEVICES,
    OVERFLOW,
    SIZE,
    noun_of,
)
from ffi_builder.testing.evaluate import evaluate


def check_results(signature: spec.Signature, values: Mapping[str, float]) -> None:
    """Check what the results and workspaces would be, with the values of the symbols by name.

    Raises:
        ValueError: exactly the wrapper's error.
    """
    for result in (*signature.results, *signature.workspaces):
        noun = noun_of(result)
        for path, dim in spec.sizes(result):
            if isinstance(dim, (spec.Var, spec.Expr)):
                size = _size(signature, dim, values)
                words = SIZE.format(path=path, dim=dim, noun=noun)
                _require(signature, size >= 0, words.format(size))
        given = result.device_id if isinstance(result, spec.Tensor) else None
        if isinstance(given, spec.Var):
            number = int(values[given.name])
            words = DEVICE_ID.format(given=given, name=result.name, noun=noun)
            _require(signature, 0 <= number < MOST_DEVICES, words.format(_signed(number)))


def _size(signature: spec.Signature, dim: spec.Var | spec.Expr, values: Mapping[str, float]) -> int:
    if isinstance(dim, spec.Var):
        return _signed(int(values[dim.name]))
    size = evaluate(dim, lambda var: values[var.name])
    _require(signature, size is not None, OVERFLOW.format(dim=dim))
    return size or 0


def _signed(value: int) -> int:
    """Return the int64 with the same bits."""
    return ctypes.c_int64(value).value


def _require(signature: spec.Signature, fine: bool, words: str) -> None:
    if not fine:
        shown = signature_text(signature.name, spec.argument_texts(signature), None)
        raise ValueError(f"{words} when calling: `{shown}`")
