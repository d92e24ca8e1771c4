"""Float constants: whatever LLVM 24 prints, the compiled code has the same bits."""

from __future__ import annotations

import ctypes
import math
import re
import struct
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ffi_builder import runtime
from ffi_builder.runtime.codegen import floats, llvm

_WIDTHS: Final = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
_GETTER: Final = """
llvm.mlir.global internal constant @values({value} : {type}) : {type}
llvm.func @__tvm_ffi_get(%h: !llvm.ptr, %a: !llvm.ptr, %n: i32, %r: !llvm.ptr) -> i32 {{
  %address = llvm.mlir.addressof @values : !llvm.ptr
  %bits = llvm.load %address : !llvm.ptr -> i{width}
  %wide = llvm.{widen} %bits : i{width} to i64
  %int = llvm.mlir.constant(1 : i64) : i64
  llvm.store %int, %r : i64, !llvm.ptr
  %payload = llvm.getelementptr %r[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %wide, %payload : i64, !llvm.ptr
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}}
"""


def bits_of(type_: str, value: str) -> int:
    """The bits that compiled code has for an MLIR float constant."""
    width = _WIDTHS[type_]
    text = _GETTER.format(value=value, type=type_, width=width, widen="zext")
    if width == 64:
        text = re.sub(r"  %wide = .*\n", "", text).replace("%wide", "%bits")
    compiled = runtime.compile(text)
    return compiled["get"]() & (2**width - 1)


@pytest.mark.parametrize(
    ("type_", "value", "bits"),
    [
        ("f64", "0.1", 0x3FB999999999999A),
        ("f64", "0x7FF0000000000000", 0x7FF0000000000000),
        ("f64", "0xFFF0000000000000", 0xFFF0000000000000),
        ("f64", "0x7FF8000000000000", 0x7FF8000000000000),
        ("f64", "0xFFF8000000000001", 0xFFF8000000000001),
        ("f64", "0x3FC999999CCCCCCD", 0x3FC999999CCCCCCD),
        ("f64", "-0.0", 0x8000000000000000),
        ("f32", "0.1", 0x3DCCCCCD),
        ("f32", "16777217.0", 0x4B800000),
        ("f32", "1.0e-45", 0x00000001),
        ("f32", "0xFF800000", 0xFF800000),
        ("f32", "0x7FC00000", 0x7FC00000),
        ("f32", "0x7FC00001", 0x7FC00001),
        ("f16", "0.1", 0x2E66),
        ("f16", "6.0e-8", 0x0001),
        ("f16", "0xFC00", 0xFC00),
        ("f16", "0x7E00", 0x7E00),
        ("bf16", "0.1", 0x3DCD),
        ("bf16", "0x7F80", 0x7F80),
        ("bf16", "0x7FC0", 0x7FC0),
    ],
)
def test_compiled_constants(type_: str, value: str, bits: int) -> None:
    assert bits_of(type_, value) == bits


def test_constants_within_instructions() -> None:
    """Softmax starts from minus infinity, and scales by what is no short decimal."""
    text = """
    llvm.func @scaled(%x: f32) -> f32 attributes {passthrough = ["noinline"]} {
      %low = llvm.mlir.constant(0xFF800000 : f32) : f32
      %scale = llvm.mlir.constant(0.1 : f32) : f32
      %larger = llvm.intr.maxnum(%x, %low) : (f32, f32) -> f32
      %result = llvm.fmul %larger, %scale : f32
      llvm.return %result : f32
    }
    llvm.func @scaled_address() -> !llvm.ptr {
      %address = llvm.mlir.addressof @scaled : !llvm.ptr
      llvm.return %address : !llvm.ptr
    }
    llvm.func @__tvm_ffi_scaled_address(%h: !llvm.ptr, %a: !llvm.ptr, %n: i32, %r: !llvm.ptr) -> i32 {
      %address = llvm.call @scaled_address() : () -> !llvm.ptr
      %pointer = llvm.mlir.constant(4 : i64) : i64
      llvm.store %pointer, %r : i64, !llvm.ptr
      %payload = llvm.getelementptr %r[8] : (!llvm.ptr) -> !llvm.ptr, i8
      llvm.store %address, %payload : !llvm.ptr, !llvm.ptr
      %ok = llvm.mlir.constant(0 : i32) : i32
      llvm.return %ok : i32
    }
    """
    compiled = runtime.compile(text)
    pointer = compiled["scaled_address"]()
    scaled = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(pointer.value)
    assert scaled(5.0) == struct.unpack("f", struct.pack("f", 0.5))[0]


@pytest.mark.parametrize(
    ("line", "readable"),
    [
        ("ret x86_fp80 1.500000e+00", "ret x86_fp80 0xK3FFFC000000000000000"),
        ("ret x86_fp80 0.000000e+00", "ret x86_fp80 0xK00000000000000000000"),
        ("ret x86_fp80 -3.000000e+05", "ret x86_fp80 0xKC011927C000000000000"),
        ("ret x86_fp80 +inf", "ret x86_fp80 0xK7FFF8000000000000000"),
        ("ret fp128 1.500000e+00", "ret fp128 0xL00000000000000003FFF800000000000"),
        ("ret float 1.0e400000", "ret float 0x7FF0000000000000"),
        ("ret float -1.0e-400000", "ret float 0x8000000000000000"),
        ("ret half 6.554000e+04", "ret half 0xH7C00"),
        ("ret float 1.000000e-01", "ret float 0x3FB99999A0000000"),
        ("ret float -1.000000e-01", "ret float 0xBFB99999A0000000"),
    ],
)
def test_constants_of_every_type(line: str, readable: str) -> None:
    assert floats.readable(line) == readable
    text = f"define {line.split()[1]} @f() {{\n  {readable}\n}}\n"
    runtime.compile(text)


def test_llvm_ir_text_in_the_newer_form() -> None:
    text = "define float @f() {\n  ret float f0x4B800000\n}\n"
    assert "0x4170000000000000" in str(runtime.compile(text).llvm_ir)


@given(st.integers(0, 2**32 - 1))
@example(0x7F800001)
@example(0x80000001)
def test_every_float(bits: int) -> None:
    (shown,) = re.findall(r"0x(\w{16})$", floats.readable(f"  ret float f0x{bits:08X}"))
    (double,) = struct.unpack("<d", int(shown, 16).to_bytes(8, "little"))
    if bits & 0x7FFFFFFF > 0x7F800000:
        assert int(shown, 16) >> 29 & 0x7FFFFF == bits & 0x7FFFFF
    else:
        assert struct.pack("<f", double) == bits.to_bytes(4, "little")


@given(st.floats(width=16, allow_nan=False, allow_infinity=False))
def test_every_half_as_a_decimal(value: float) -> None:
    given = f"  %1 = fadd half %0, {value:.17e}"
    line = floats.readable(given)
    if line == given:  # LLVM reads it, as it is exact in all types
        assert struct.pack("<f", value)[:2] == b"\0\0"
    else:
        bits = int(line.rpartition("0xH")[2], 16)
        assert bits == int.from_bytes(struct.pack("<e", value), "little")


@given(
    st.sampled_from(["half", "bfloat", "float", "double"]),
    st.one_of(st.floats(width=16), st.sampled_from([1.0, -2.0, 0.1, 65504.0, 65536.0, 1e-30, 1e30]))
    .filter(math.isfinite)
    .map("{:.6e}".format),
)
def test_llvm_reads_every_decimal(type_: str, decimal: str) -> None:
    """Also those that stay as they are."""
    text = f"define {type_} @f() {{\n  ret {type_} {decimal}\n}}\n"
    llvm.parse_unverified(floats.readable(text))


def test_a_line_of_many_numbers_takes_as_long_as_many_lines() -> None:
    """A search of the whole line is made once, not for each number."""
    numbers = ", ".join(["float 1.000000e-01"] * 100_000)
    shown = floats.readable(f"@c = constant [100000 x float] [{numbers}]")
    assert shown.count("0x3FB99999A0000000") == 100_000


@pytest.mark.parametrize(
    "line",
    [
        '@s = constant [4 x i8] c"+inf"',
        "@name = external global float ; was float +inf",
        '@"double 1.5" = global i32 1',
        "%1 = fadd double %x.1.0, %y",
        "%1 = fadd double 1.500000e+00, %0",
        "call void @float(i32 1)",
        "%r = fmul double %float, 1.500000e+00",
        "%r = fadd double %half, 1.5",
        "%r = phi double [ %x.float, %bfloat ], [ 1.5, %b ]",
    ],
)
def test_everything_else_is_left_alone(line: str) -> None:
    assert floats.readable(line) == line
