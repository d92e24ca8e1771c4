"""Where a value stands among the arguments of a call, and errors that say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ffi_builder.records import dataclass
from ffi_builder.runtime.metadata import Info, Parameter

_LONGEST: Final = 400
"""The longest signature that a message shows completely, as in docs/checks.md."""


_ADVICE: Final = {
    **dict.fromkeys("OUf", "convert it, such as by {0}.astype('float64')"),
    "c": "convert it, such as by {0}.astype('complex128')",
    **dict.fromkeys("mM", "pass its numbers, {0}.view('int64')"),
    **dict.fromkeys("SV", "pass its bytes, {0}.view('uint8')"),
}
"""Advice for arrays that NumPy does not export, by the kind of their dtype."""
_OF_OTHERS: Final = 2
"""`isbuiltin` of dtypes that other packages have added to NumPy, such as ml_dtypes."""


def _way_out(dtype: Any, reason: str, path: str) -> tuple[type[TypeError | ValueError], str]:
    """Return the class of the error for an array that is not exported, and what to do."""
    if "strides" in reason:
        return ValueError, f"pass {path}.copy()"
    if not getattr(dtype, "isnative", True):
        return TypeError, f"pass {path}.astype({path}.dtype.newbyteorder('='))"
    if getattr(dtype, "isbuiltin", 1) == _OF_OTHERS:
        return TypeError, "PyTorch and JAX have tensors of such dtypes"
    names: tuple[str, ...] | None = getattr(dtype, "names", None)
    if names:
        return TypeError, f"pass a copy of one field, such as {path}[{names[0]!r}].copy()"
    return TypeError, _ADVICE.get(getattr(dtype, "kind", ""), "").format(path)


@dataclass(frozen=True)
class Position:
    """The place of an array among the arguments, for errors."""

    path: str
    """The name of the argument: `x`, `cfg[1]`."""
    index: int
    """The number of the argument."""
    function: str
    signature: str
    """The signature as messages show it."""
    intent: str
    """`in`, `out`, `inout`, or empty if the signature does not say."""

    @property
    def operator(self) -> str:
        """The advice to make an operator of PyTorch, which sees what the function does."""
        return f"make {self.function} an operator by ffi_builder.frameworks.torch.operator"

    @property
    def writable(self) -> str:
        """The words for an array that a kernel writes."""
        said = f'declared intent="{self.intent}"' if self.intent else 'not declared intent="in"'
        return f"an array that can be written ({self.path} is {said})"

    def mismatch(self, expected: str, got: str) -> ValueError:
        """Make an error with the same words as the wrapper's errors."""
        return ValueError(self._words(self.path, expected, got))

    def mismatched_type(self, expected: str, got: str) -> TypeError:
        """Make an error for a value of a class that is not accepted."""
        return TypeError(self._words(f"type of {self.path}", expected, got))

    def read_only(self, got: str) -> ValueError:
        """Make an error for an array that must not be written."""
        advice = "pass another array" if self.intent == "out" else "pass a copy of it"
        return self.mismatch(self.writable, f"{got}: {advice}")

    def not_exported(self, array: Any, reason: BufferError) -> TypeError | ValueError:
        """Make an error for an array that its framework does not export.

        It is a ValueError if that is for the layout, and a TypeError otherwise.
        """
        strides = getattr(array, "strides", None)
        shown = f" and strides {strides} in bytes" if isinstance(strides, tuple) else ""
        dtype = getattr(array, "dtype", None)
        got = f"one of dtype {dtype}{shown}" if dtype is not None else type(array).__qualname__
        kind, advice = _way_out(dtype, f"{reason}", self.path)
        words = self._words(self.path, "an array that DLPack can describe", got)
        return kind(f"{words}: {f'{reason}'.rstrip('.')}{advice and f'; {advice}'}")

    def _words(self, what: str, expected: str, got: str) -> str:
        return (
            f"Mismatched {what} on argument #{self.index} when calling: `{self.signature}`, "
            f"expected {expected} but got {got}"
        )

    def inside(self, key: object) -> Position:
        """Return the place of an item of a list or dict."""
        return replace(self, path=f"{self.path}[{key!r}]", intent="")

    def item(self, index: int) -> Position:
        """Return the place of an item of a list of tensors, which has the intent of the list."""
        return replace(self, path=f"{self.path}[{index}]")

    def element(self, outer: Parameter, index: int) -> Position:
        """Return the place of an element of a Struct or Tuple."""
        inner = outer.elements[index]
        path = f"{self.path}.{inner.name}" if outer.kind == "Struct" else f"{self.path}[{index}]"
        return replace(self, path=path, intent=inner.intent)


def position_of(param: Parameter, index: int, info: Info) -> Position:
    """Return the place of parameter number `index` of the function."""
    text = info.signature
    if len(text) > _LONGEST:
        before = "..., " if index else ""
        after = ", ..." if index + 1 < len(info.parameters) else ""
        text = f"{info.name}({before}{param}{after})"
    return Position(param.name, index, info.name, text, param.intent)
