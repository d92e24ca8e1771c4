"""Functions of TVM-FFI as sources of `wrap`."""

from __future__ import annotations

import gc
import operator
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import CompileError, wrap

SIGNATURE = "add(x: Tensor([n], float32), scale: float64) -> total: float64"


def add(x: Any, scale: float) -> float:
    return float(np.from_dlpack(x).sum()) * scale


def test_it_is_called_with_arguments_that_were_checked() -> None:
    compiled = wrap(tvm_ffi.convert(add), SIGNATURE, device="cpu")
    assert compiled["add"](np.ones(3, "float32"), 2.0) == 6.0
    with pytest.raises(TypeError, match=r"Mismatched x\.dtype on argument #0 .* got float64"):
        compiled["add"](np.ones(3), 2.0)
    assert "compared with nothing, as functions of TVM-FFI have no types" in repr(compiled)


def test_a_result_of_another_kind_is_an_error() -> None:
    compiled = wrap(tvm_ffi.convert(hex), "f(x: int64) -> y: int64")
    with pytest.raises(TypeError, match="int"):
        compiled["f"](1)


def test_an_error_of_it_reaches_the_caller() -> None:
    def fails(x: int) -> None:
        raise IndexError(f"{x} is too large")

    compiled = wrap(tvm_ffi.convert(fails), "fails(x: int64)")
    with pytest.raises(IndexError, match="7 is too large"):
        compiled["fails"](7)


def test_args_choose_what_it_gets() -> None:
    compiled = wrap(tvm_ffi.convert(pow), "power(x: int64, y: int64) -> z: int64", args=["y", 3])
    assert compiled["power"](9, 2) == 8


def test_each_signature_of_a_list_is_a_function() -> None:
    power = "(x: int64, y: int64) -> z: int64"
    compiled = wrap(tvm_ffi.convert(pow), [f"any_power{power}", f"root{power} where y > 0"])
    assert compiled["any_power"](3, 2) == compiled["root"](3, 2) == 9
    with pytest.raises(ValueError, match=r"expected at least 1 .* got -2"):
        compiled["root"](3, -2)


def test_two_of_one_name_are_told_apart(tmp_path: Path) -> None:
    text = "f(x: int64) -> y: int64"
    first = wrap(tvm_ffi.convert(operator.neg), text, cache_dir=tmp_path)
    second = wrap(tvm_ffi.convert(operator.invert), text, cache_dir=tmp_path)
    assert (first["f"](1), second["f"](1)) == (-1, -2)


def test_it_lives_as_long_as_the_wrapper() -> None:
    class Kernel:
        def __call__(self, x: int) -> int:
            return x

    kernel = Kernel()
    alive = weakref.ref(kernel)
    compiled = wrap(tvm_ffi.convert(kernel), "f(x: int64) -> y: int64")
    function = compiled["f"]
    del kernel, compiled
    gc.collect()
    assert function(5) == 5
    assert alive() is not None
    del function
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    ("option", "value"),
    [("prototype", "int f(int)"), ("errors", {1: ("ValueError", "no")}), ("function", "f")],
)
def test_options_that_go_with_kernels_alone(option: str, value: object) -> None:
    options: dict[str, Any] = {option: value}
    with pytest.raises(TypeError, match=f"{option}= goes with .* is a function of TVM-FFI"):
        wrap(tvm_ffi.convert(add), SIGNATURE, device="cpu", **options)


def test_no_file_can_contain_it(tmp_path: Path) -> None:
    compiled = wrap(tvm_ffi.convert(add), SIGNATURE, device="cpu")
    with pytest.raises(CompileError, match="`add of TVM-FFI` is at an address of this process"):
        compiled.export_library(tmp_path / "f.so")
