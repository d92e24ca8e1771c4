"""Lines of LLVM IR that differ in numbers of values alone are looked at once, and nothing odd is missed."""

from __future__ import annotations

import pytest

from ffi_builder.runtime.codegen import allowlist_llvm


@pytest.mark.parametrize(
    ("line", "hazard"),
    [
        ("  %7 = add i64 %3, %4", None),
        ("  %7 = add i65 %3, %4", "i65"),
        ("  %7 = add <1000 x i64> %3, %4", "a vector in"),
        ("  store i64 %3, ptr %4, align 4294967296", "align 4294967296"),
        ("  store i64 %3, ptr addrspace(270) %4", "addrspace(270)"),
        ("  %7 = alloca i8, i64 %3", "alloca i8, i64 %3"),
        ("  %7 = load atomic i128, ptr %3 seq_cst, align 8", "atomic i128"),
        ('  %7 = call i64 asm "x", "=r"()', "asm"),
        ("  %7abc = add i64 %3, %4", "%7abc"),
        ("  %4294967295 = add i64 %3, %4", "%4294967295"),
        ("  br label %4294967294", "%4294967294"),
        ("4294967295:", "4294967295:"),
        ("  ret void, !dbg !4294967295", "!4294967295"),
        ("  %7 = add i64 %3, %4 module asm x", "asm"),
        ("  %7asm = add i64 %3, %4", "%7asm"),
        ('  call void %7"asm"()', '%7"'),
        ("  %1 = add i64 %1asm, %4", "%1asm"),
        (f"  call void @f({', '.join(['i64 %1'] * 20_000)})", "  call void @f("),
    ],
)
def test_an_odd_line_among_many(line: str, hazard: str | None) -> None:
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


def test_what_a_count_is_counts() -> None:
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
