"""Strs and bytes, on every way from Python to a function; which of them are read in C."""

from __future__ import annotations

import gc
import sys
from functools import cache
from typing import Any, Final

import numpy
import pytest

from ffi_builder import attach, runtime
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Bytes, Choice, Param, Signature, String, Tensor, Var, dims
from tests.entry.functions import Ways, both_ways, calling, read_in_c
from tests.entry.rules import WAYS
from tests.support.wrapping import new_module

np: Any = numpy
(n,) = dims("n")
OUT: Final = Tensor("out", [n], "uint8", device_type="cpu")

TEXTS: Final = (
    *("", "a", "seven77", "eight888", "é漢🙂", "é" * 3, "é" * 4, "x" * 33, "x" * 100_000),
    *("a\0b", "a\0b and more of it", "\0" * 7, "\0" * 8, "ends in \0"),
)


@cache
def copying(of_bytes: bool) -> Ways:
    """A function that copies a str, or bytes, to a tensor."""
    text = Bytes("s") if of_bytes else String("s")
    module = new_module()
    signature = Signature("f", [text, OUT])
    attach(module, signature, DirectCallProvider("memcpy", args=[OUT, text]))
    return both_ways(runtime.compile(module))


def copied(call: Any, given: Any) -> bytes:
    out = np.full(100_008, 255, "uint8")
    call(given, out)
    data = out.tobytes()
    assert data.endswith(b"\xff" * 8)
    return data.rstrip(b"\xff")


@pytest.mark.parametrize("way", WAYS)
def test_the_kernel_gets_the_bytes(way: str) -> None:
    of_str, of_bytes = (getattr(copying(of_bytes=of_bytes), way) for of_bytes in (False, True))
    with read_in_c(of_str, of_bytes):
        for text in TEXTS:
            data = text.encode()
            assert copied(of_str, text) == data
            assert copied(of_bytes, data) == data
            assert copied(of_bytes, bytearray(data)) == data


@pytest.mark.parametrize("way", ["entry_callable", "general_callable"])
def test_a_callable_takes_the_bytes_of_a_memoryview(way: str) -> None:
    call = getattr(copying(of_bytes=True), way)
    assert copied(call, memoryview(b"1234567890")) == b"1234567890"
    assert copied(call, memoryview(b"1234567890")[::-2]) == b"08642"


@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_str_and_no_bytes(way: str) -> None:
    out = np.zeros(8, "uint8")
    for of_bytes, expected, wrong, name in (
        (False, "str", b"bytes", "bytes"),
        (False, "str", b"bytes that are long", "bytes"),
        (False, "str", bytearray(9), "bytes"),
        (True, "bytes", "str", "str"),
        (True, "bytes", "a str that is long", "str"),
        (True, "bytes", 3, "int"),
        (True, "bytes", None, "None"),
    ):
        words = f"^Mismatched type of s on argument #0 .* expected {expected} but got {name}$"
        with pytest.raises(TypeError, match=words):
            getattr(copying(of_bytes), way)(wrong, out)
    with pytest.raises(TypeError, match="surrogates not allowed"):
        getattr(copying(of_bytes=False), way)("\ud800", out)


@pytest.mark.parametrize("way", WAYS)
def test_errors_show_a_long_choice(way: str) -> None:
    module = new_module()
    attach(
        module,
        Signature("f", [Choice("a", {"relu": 1, "eight888": 2})]),
        DirectCallProvider("getpid", args=[]),
    )
    call = getattr(both_ways(runtime.compile(module)), way)
    for right in ("relu", "eight888"):
        call(right)
    for wrong, shown in (
        ("eight889", r"'eight889' \(did you mean 'eight888'\?\)"),
        ("a\0b is longer", r"'a\\x00b is longer'"),
        ("x" * 100, f"'{'x' * 64}'\\.\\.\\."),
    ):
        with pytest.raises(ValueError, match=f"one of 'relu', 'eight888' but got {shown}$"):
            call(wrong)


def test_what_a_callee_keeps_is_an_object_of_its_own() -> None:
    kept: list[Any] = []

    def keep(*values: Any) -> None:
        kept.extend(values)

    params: list[Param] = [String("a"), Bytes("b"), Bytes("c")]
    call = calling(keep, params)
    text, data = "a str that is long"[:], bytes(range(40))
    counts = sys.getrefcount(text), sys.getrefcount(data)
    with read_in_c(call):
        call(text, data, b"short")
    assert (sys.getrefcount(text), sys.getrefcount(data)) == counts
    del text, data
    gc.collect()
    assert kept == ["a str that is long", bytes(range(40)), b"short"]


@pytest.mark.parametrize("value", [0, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**63)])
def test_results_beyond_int64(value: int) -> None:
    dtype = "uint64" if value >= 0 else "int64"
    module = new_module("llvm.func @same(%x: i64) -> i64 { llvm.return %x : i64 }")
    x = Var("x", dtype)
    signature = Signature("f", [x], returns=Var("y", dtype))
    attach(module, signature, DirectCallProvider("same", args=[x]))
    both = both_ways(runtime.compile(module))
    for way in WAYS:
        for _ in range(100):
            assert getattr(both, way)(value) == value


def test_results_of_more_words_stay_what_they_are() -> None:
    for value in (2**64, -(2**63) - 1, 10**40, -(10**40)):

        def given(*_: object, value: int = value) -> int:
            return value

        assert calling(given, [Var("a", "int32")])(1) == value
