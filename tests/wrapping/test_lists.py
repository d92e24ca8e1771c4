"""Lists of numbers for functions in C."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, runtime, spec, wrap
from tests.runtime.samples import c_object, needs_cc

pytestmark = needs_cc

TOTAL: Final = """
#include <stdint.h>
int64_t total(const int64_t *pages, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += pages[i];
  return sum;
}
"""
PROTOTYPE: Final = "int64_t total(const int64_t *pages, int64_t n)"


def total(tmp_path: Path, signature: str | spec.Signature, **options: Any) -> Any:
    return wrap(c_object(tmp_path, TOTAL), signature, prototype=PROTOTYPE, **options)["total"]


@pytest.mark.parametrize(
    ("signature", "options"),
    [
        ("total(pages: List(int64, n)) -> sum: int64", {}),
        ("total(pages: List(int64)) -> sum: int64", {"args": ["pages"]}),
        ("total(xs: List(int64)) -> sum: int64", {"args": ["xs.data", "xs.length"]}),
        ("total(pages: List(int64, n)) -> sum: int64", {"args": {"n": "n"}}),
        ("total(xs: List(int64)) -> sum: int64", {}),
    ],
)
def test_ways_to_pass_a_list(signature: str, options: Any, tmp_path: Path) -> None:
    function = total(tmp_path, signature, **options)
    for given in ([3, 4, -2], (3, 4, -2), tvm_ffi.Shape((3, 4, -2)), [np.int32(4), True]):
        assert function(given) == 5
    assert function([]) == 0
    assert function([*range(1000)]) == 499500
    with pytest.raises(TypeError, match=r"Mismatched type of (pages|xs)\[1\] .* but got float"):
        function([1, 2.5])


def test_an_array_is_no_list(tmp_path: Path) -> None:
    function = total(tmp_path, "total(pages: List(int64, n)) -> sum: int64")
    with pytest.raises(TypeError, match="expected list of ints but got ffi"):
        function(np.array([1, 2]))
    with pytest.raises(TypeError, match="expected list of ints but got str"):
        function("12")


def test_a_length_that_is_lacking(tmp_path: Path) -> None:
    words = "parameters that the signature lacks: n; add them to the signature, or to args="
    with pytest.raises(BuildError, match=words):
        total(tmp_path, "total(pages: List(int64)) -> sum: int64")


def test_an_int_as_length(tmp_path: Path) -> None:
    source = "int k(const double *w, int n) { return n ? (int)w[n - 1] : -1; }"
    prototype = "int k(const double *w, int n)"
    k = wrap(c_object(tmp_path, source), "k(w: List(float64, n)) -> r: int32", prototype=prototype)
    assert k([1, 2.5, 7]) == 7
    assert "n: int32" in str(k["k"].__doc__)


def test_lists_in_others(tmp_path: Path) -> None:
    signature = "total(cfg: Struct(name: String, pages: Optional(List(int64)))) -> sum: int64"
    function = total(tmp_path, signature, args=["cfg.pages"])
    assert [function(("a", [1, 2])), function(("b", None))] == [3, 0]
    with pytest.raises(TypeError, match=r"type of cfg.pages\[0\] on argument #0 .* but got None"):
        function(("a", [None]))


def test_a_default(tmp_path: Path) -> None:

    signature = spec.Signature.parse("total(pages: List(int64, n)) -> sum: int64")
    function = total(tmp_path, signature.with_params(pages={"default": [1, 2]}))
    assert [function(), function([5])] == [3, 5]


def test_headers_and_stubs(tmp_path: Path) -> None:
    signature = (
        "total(pages: List(int64, n), w: Optional(List(float32)), b: List(bool), "
        "names: List(String), rows: List(List(float64, 2))) -> s: int64"
    )
    data = c_object(tmp_path, TOTAL)
    made = wrap(data, signature, prototype=PROTOTYPE, args=["pages"])
    made.export_library(tmp_path / "k.so", stub=tmp_path / "k.pyi", header=tmp_path / "k.h")
    stub = (tmp_path / "k.pyi").read_text()
    for param in (
        "pages: Sequence[int]",
        "w: Sequence[float] | None",
        "b: Sequence[bool]",
        "names: Sequence[str]",
        "rows: Sequence[Sequence[float]]",
    ):
        assert f"    {param},\n" in stub
    header = (tmp_path / "k.h").read_text()
    assert "::tvm::ffi::Array<::std::int64_t>" in header
    assert "::tvm::ffi::Optional<::tvm::ffi::Array<double>>" in header
    assert "::tvm::ffi::Array<::tvm::ffi::Array<double>>" in header
    assert runtime.load(tmp_path / "k.so")["total"]([1, 2], None, [], ["a"], [[1, 2]]) == 3
