"""Checks of big kernels look at one of each kind and miss nothing odd, in C and in Python."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffi_builder.runtime import mlir
from ffi_builder.runtime.safety import allowlist_llvm, allowlist_mlir, distinct
from tests.runtime.samples import parse_with_jaxlib

needs_extension = pytest.mark.skipif(
    distinct.extension is None, reason="the extension was not built"
)


@pytest.fixture(params=[pytest.param("C", marks=needs_extension), "Python"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "Python":
        monkeypatch.setattr(distinct, "extension", None)
    return request.param


# ---- lines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ""),
        ("\n", ""),
        ("a\n\n\na", "a\n"),
        ("%1 = x %2\n%33 = x %4\n", "%1 = x %2\n"),
        ("%1 = x %2\n%33 = y %4", "%1 = x %2\n%33 = y %4"),
        ("x i64\nx i65", "x i64\nx i65"),
        ("x %1, align 4\nx %2, align 8", "x %1, align 4\nx %2, align 8"),
        ("x, !dbg !1\nx, !dbg !22", "x, !dbg !1"),
        ("x %a1\nx %a2", "x %a1\nx %a2"),
        ("x @1\nx @2", "x @1\nx @2"),
        ("%1abc\n%2abc\n%1abd", "%1abc\n%1abd"),
        ("%\n%1\n%2", "%\n%1"),
        ("%1\n%123456789\n%1234567890\n%1234567891", "%1\n%1234567890\n%1234567891"),
        ("%1\n%\u0661", "%1\n%\u0661"),  # a digit of another script
        ("é %1\né %2\r\ne %3", "é %1\né %2\r\ne %3"),
        ("a\0%1\na\0%2\na\0b", "a\0%1\na\0b"),
    ],
)
def test_lines(text: str, found: str, way: str) -> None:
    assert distinct.lines(text).removesuffix("\n") == found.removesuffix("\n")


@needs_extension
@given(st.text("%!019ai é\u0661\n", max_size=40))
def test_lines_are_the_same_in_python(text: str) -> None:
    extension, distinct.extension = distinct.extension, None
    try:
        expected = distinct.lines(text)
    finally:
        distinct.extension = extension
    assert distinct.lines(text) == expected


@pytest.mark.parametrize(
    ("line", "hazard"),
    [
        ("  %7 = add i64 %3, %4", None),
        ("  %7 = add i65 %3, %4", "i65"),
        ("  %7 = add <1000 x i64> %3, %4", "a vector in"),
        ("  store i64 %3, ptr %4, align 4294967296", "align 4294967296"),
        ("  store i64 %3, ptr addrspace(270) %4", "addrspace 270"),
        ("  %7 = alloca i8, i64 %3", "alloca i8, i64 %3"),
        ("  %7 = load atomic i128, ptr %3 seq_cst, align 8", "an atomic operation"),
        ('  %7 = call i64 asm "x", "=r"()', "asm"),
        ("  %7abc = add i64 %3, %4", "%7abc"),
        ("  %4294967295 = add i64 %3, %4", "%4294967295"),
        ("  br label %4294967294", "%4294967294"),
        ("4294967295:", "4294967295:"),
        ("  ret void, !dbg !4294967295", "!4294967295"),
        ("  %7 = add i64 %3, %4 module asm x", "asm"),
        (f"  call void @f({', '.join(['i64 %1'] * 20_000)})", "  call void @f("),
    ],
)
def test_an_odd_line_among_many(line: str, hazard: str | None, way: str) -> None:
    usual = [
        "%{} = add i64 %{}, %{}",
        "%{} = load atomic i64, ptr %{} seq_cst, align 8",
        "store i64 %{}, ptr %{}, align 4",
        "store i64 %{}, ptr addrspace(1) %{}, align 4",
        "%{} = add <8 x i64> %{}, %{}",
    ]
    lines = [f"  {usual[i % 5].format(i, i + 1, i + 2)}" for i in range(2000)]
    lines.insert(1500, line)
    text = "define void @f() {\n" + "\n".join(lines) + "\n}\n"
    found = allowlist_llvm.codegen_hazard(text, "ours", "+sse2")
    assert found == hazard or (hazard is not None and found is not None and hazard in found)


def test_what_a_count_is_counts(way: str) -> None:
    """How often something is allocated is found by the names of values."""
    text = """define void @f() {{
  %1 = zext i32 %m to i64
  %2 = {} i32 %m to i64
  %3 = alloca i8, i64 %1
  %4 = alloca i8, i64 %2
}}
"""
    assert allowlist_llvm.codegen_hazard(text.format("zext"), "ours", "") is None
    assert allowlist_llvm.codegen_hazard(text.format("sext"), "ours", "") == "alloca i8, i64 %2"


# ---- operations

USUAL = """
  %t{0} = llvm.trunc %a : i64 to i32
  %u{0} = llvm.load %p {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %v{0} = llvm.add %t{0}, %u{0} : i32
  llvm.store %v{0}, %p {{alignment = 4 : i64}} : i32, !llvm.ptr
  %w{0} = llvm.load %p atomic seq_cst {{alignment = 4 : i64}} : !llvm.ptr -> i32
  %q{0} = llvm.getelementptr %p[{0}] : (!llvm.ptr) -> !llvm.ptr, i32
  %c{0} = llvm.icmp "eq" %a, %a : i64
  %s{0} = llvm.select %c{0}, %a, %a : i1, i64
  %x{0} = llvm.atomicrmw add %p, %t{0} seq_cst : !llvm.ptr, i32
"""


ROOT = '<id = "t", members = {<#llvm.tbaa_root<id = "r">, 0>}>'
TAG = f"#llvm.tbaa_tag<base_type = {ROOT}, access_type = {ROOT}, offset = 8>"
"""LLVM's verifier refuses the offset."""
COPY = '"llvm.intr.memcpy"(%p, %p, %a)'


@pytest.mark.parametrize(
    ("operation", "is_safe"),
    [
        ("%r = llvm.trunc %a : i64 to i16", True),
        ("%r = llvm.trunc %t0 : i32 to i64", False),
        ("%r = llvm.load %p : !llvm.ptr -> i24", False),
        ("%r = llvm.atomicrmw add %p, %u0 acquire : !llvm.ptr, i32", True),
        ('%r = llvm.atomicrmw add %p, %u0 syncscope("x") seq_cst : !llvm.ptr, i32', False),
        ("%r = llvm.load %p {alignment = 8 : i64} : !llvm.ptr -> i32", True),
        ("%r = llvm.load %p {alignment = 4294967296 : i64} : !llvm.ptr -> i32", False),
        ("%r = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, vector<[4]xi32>", False),
        ('%r = llvm.inline_asm has_side_effects "nop", "" : () -> i32', False),
        ("%r = llvm.add %a, %a {llvm.mmra = 1 : i64} : i64", False),
        ("%r = llvm.add %a, %a {nvvm.unknown} : i64", False),
        ("%r = llvm.add %a, %a {own.name = 1 : i64} : i64", True),
        ("llvm.call @g(%a) : (i64) -> ()", True),
        ("llvm.call @g(%a) {no_unwind, own.name} : (i64) -> ()", True),
        ("llvm.call @g(%a) {no_inline, always_inline} : (i64) -> ()", False),
        ('llvm.call @g(%a) ["funclet"(%a : i64)] : (i64) -> ()', False),
        (f"llvm.call @g(%a) {{tbaa = [{TAG}]}} : (i64) -> ()", False),
        (f"{COPY} <{{isVolatile = false}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()", True),
        (
            f"{COPY} <{{isVolatile = false, tbaa = [{TAG}]}}> : (!llvm.ptr, !llvm.ptr, i64) -> ()",
            False,
        ),
        ("llvm.br ^next\n^unreached:\nllvm.br ^next\n^next:", False),
        ("llvm.br ^next\n^next:\n%r = llvm.trunc %t0 : i32 to i64", False),
    ],
)
def test_an_odd_operation_among_many(operation: str, is_safe: bool, way: str) -> None:
    lines = [USUAL.format(i) for i in range(50)]
    lines.insert(40, operation)
    body = "\n".join(lines)
    text = f"llvm.func @f(%p: !llvm.ptr, %a: i64) {{\n{body}\nllvm.return\n}}\nllvm.func @g(i64)"
    found = allowlist_mlir.translation_hazard(mlir.parse(text).operation)
    assert found == (None if is_safe else "llvm.func @f")


@needs_extension
def test_one_operation_of_each_kind() -> None:
    lines = "\n".join(USUAL.format(i) for i in range(50))
    module: Any = mlir.parse(f"llvm.func @f(%p: !llvm.ptr, %a: i64) {{\n{lines}\nllvm.return\n}}")
    (function,) = module.body.operations
    found = [op.name for op in distinct.operations(function.operation, {"llvm.add"})]
    assert found.count("llvm.getelementptr") == 50
    others = {name: found.count(name) for name in found if name != "llvm.getelementptr"}
    assert others.pop("llvm.load") == 2
    assert set(others.values()) == {1}


def test_operations_of_a_module_of_jaxlib(way: str) -> None:
    """Its library may give out other functions of MLIR."""
    text = "llvm.func @f(%a: i64) {{\n%t = llvm.trunc %a : i64 to i32\n{}\nllvm.return\n}}"
    for line, hazard in (
        ("%u = llvm.trunc %a : i64 to i8", None),
        ("%u = llvm.trunc %t : i32 to i64", "llvm.func @f"),
    ):
        module = parse_with_jaxlib(text.format(line))
        assert allowlist_mlir.translation_hazard(module.operation) == hazard
