"""CuTe DSL's host functions on NumPy arrays with ffi_builder's wrappers: `python host.py [folder]`.

Calls them as CuTe DSL returns them, compiled by ffi_builder's JIT, and exported to a shared
library.
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cuda.bindings import driver
from export import exported
from functions import compile_all
from hook import ffi_builder_wrappers

from ffi_builder import runtime

X = np.arange(5, dtype="float32")
IMAGE = np.arange(24, dtype="float32").reshape(4, 6)


def heading(text: str) -> None:
    print(f"\n==== {text}")


def right_calls(f: dict[str, Any]) -> None:
    """Call each function once, and compare with NumPy."""
    y = np.zeros(5, "float32")
    f["scale"](X, y, 2)
    show("scale", y, 2 * X)
    view = IMAGE[1:, ::2]  # strides (6, 2)
    f["row_sums"](view, y[:3])
    show("row_sums", y[:3], view.sum(axis=1))
    fixed = np.arange(15.0).reshape(3, 5)
    transposed = np.zeros((5, 3))
    f["transpose"](fixed, transposed)
    show("transpose", transposed, fixed.T)
    f["combine"](((X, X + 1), 3), y)
    show("combine", y, X + 3 * (X + 1))
    numbers = np.zeros((2, 4), "int32")
    for start, stream in enumerate((None, 0, driver.CUstream(0))):
        f["block"](numbers, (2, 4), start, stream)
        show("block", numbers, start + np.arange(8).reshape(2, 4))


def show(name: str, got: Any, expected: Any) -> None:
    print(f"{name}: largest difference from NumPy: {np.abs(got - expected).max():.1e}")


def wrong_calls(f: dict[str, Any]) -> None:
    numbers = np.zeros((4, 4), "int32")
    calls: list[Callable[[], object]] = [
        lambda: f["scale"](X, X[1:], 2),
        lambda: f["row_sums"](X, X),
        lambda: f["transpose"](np.zeros((5, 3)), np.zeros((5, 3))),
        lambda: f["combine"](((X, "y"), 3), X),
        lambda: f["block"](numbers[:, :2], (2, 4), 0, None),
        lambda: f["block"](numbers[::2], (2, 4), 0, None),
        lambda: f["block"](numbers, (2, 4), 2**31, None),
    ]
    for call in calls:
        print(error_of(call))


def error_of(call: Callable[[], object]) -> str:
    try:
        call()
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def main(folder: Path) -> None:
    with ffi_builder_wrappers():
        functions = compile_all()
    heading("Called")
    right_calls(functions)
    heading("Called wrongly")
    wrong_calls(functions)
    heading("Compiled by ffi_builder")
    right_calls(
        {name: runtime.compile(f.ir_module)[f.function_name] for name, f in functions.items()}
    )
    heading("Exported")
    y = np.zeros(5, "float32")
    exported(functions["scale"], folder, "scale")(X, y, 2)
    show("scale", y, 2 * X)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()))
