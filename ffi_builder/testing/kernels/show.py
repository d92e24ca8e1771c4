"""Shows the arguments of a call in errors."""

from __future__ import annotations

from typing import Any, Final

from ffi_builder.testing.kernels.frame import Frame
from ffi_builder.testing.kernels.guarded import Guarded
from ffi_builder.testing.make.arrays import numpy
from ffi_builder.testing.make.layout import contiguous

_MOST: Final = 16
"""Greatest number of elements that are shown whole."""


def shown_arguments(frame: Frame) -> str:
    """Return a line for each argument: its name, and its value or its layout and elements."""
    texts = frame.with_tensors(lambda tensor: _Text(_shown(tensor)))
    pairs = zip(frame.signature.arguments, texts, strict=True)
    return "\n".join(f"  {param.name} = {text!r}" for param, text in pairs) or "  none"


class _Text(str):
    """A text that is its own repr, also within a tuple."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _shown(tensor: Guarded) -> str:
    array = tensor.array
    text = f"{array.dtype}{list(array.shape)}"
    if array.strides != contiguous(array.shape, "C"):
        text += f" with strides {list(array.strides)}"
    if array.least_aligned:
        text += f" aligned to {array.least} bytes alone"
    if tensor.intent == "out":
        return text
    return f"{text}: {shown_values(tensor.values(tensor.given))}"


def shown_values(array: Any) -> str:
    """Return the values of an array in one line, shortened if there are many."""
    np = numpy()
    text = np.array2string(array, threshold=_MOST, edgeitems=3, separator=", ")
    return " ".join(text.split()).replace("[ ", "[")
