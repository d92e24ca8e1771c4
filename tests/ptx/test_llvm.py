"""LLVM IR, compiled for this machine and to PTX that is executed: the results are the same."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder.ptx.machine import Shape
from tests.ptx.running import draw, run

llvm = pytest.importorskip("llvmlite.binding", reason="needs llvmlite, of the extra jit")

TYPES: Final = {"i16": "u16", "i32": "u32", "i64": "u64", "float": "f32", "double": "f64"}
DTYPES: Final = {
    "i8": "uint8",
    "i16": "uint16",
    "i32": "uint32",
    "i64": "uint64",
    "float": "float32",
    "double": "float64",
}
NAMES: Final = {"float": "f32", "double": "f64"}


def _calls(kind: str, names: str, operands: int) -> dict[tuple[str, str, str], str]:
    """Return calls of intrinsics: of a, of a and b, or of a, b and a."""
    given = {1: f"{kind} %a", 2: f"{kind} %a, {kind} %b", 3: f"{kind} %a, {kind} %b, {kind} %a"}
    named = NAMES.get(kind, kind)
    return {
        (name, kind, kind): f"%r = call {kind} @llvm.{name}.{named}({given[operands]})"
        for name in names.split()
    }


def _counted(kind: str) -> dict[tuple[str, str, str], str]:
    return {
        (name, kind, kind): f"%r = call {kind} @llvm.{name}.{kind}({kind} %a, i1 false)"
        for name in ("ctlz", "cttz", "abs")
    }


def _integers(kind: str) -> dict[tuple[str, str, str], str]:
    wide = f"i{2 * int(kind[1:])}"
    return {
        **{
            (name, kind, kind): f"%r = {name} {kind} %a, {operand}"
            for name, operand in (
                *(("add", "%b"), ("sub", "%b"), ("mul", "%b"), ("and", "%b"), ("xor", "%b")),
                *(("sdiv", "7"), ("srem", "10"), ("udiv", "7"), ("urem", "10"), ("ashr", "3")),
            )
        },
        **_calls(kind, "bswap bitreverse ctpop", 1),
        **_counted(kind),
        **_calls(kind, "smin umax sadd.sat uadd.sat ssub.sat usub.sat", 2),
        **_calls(kind, "fshl fshr", 3),
        **{
            (f"high half by {extend}", kind, kind): f"""
              %x = {extend} {kind} %a to {wide}
              %y = {extend} {kind} %b to {wide}
              %z = mul {wide} %x, %y
              %h = lshr {wide} %z, {kind[1:]}
              %r = trunc {wide} %h to {kind}"""
            for extend in ("sext", "zext")
        },
        **{
            (f"{name} overflows", kind, "i8"): f"""
              %x = call {{{kind}, i1}} @llvm.{name}.with.overflow.{kind}({kind} %a, {kind} %b)
              %y = extractvalue {{{kind}, i1}} %x, 1
              %r = zext i1 %y to i8"""
            for name in ("sadd", "usub", "smul", "umul")
        },
    }


def _floats(kind: str) -> dict[tuple[str, str, str], str]:
    named = NAMES[kind]
    return {
        **{
            (name, kind, kind): f"%r = {name} {kind} %a, %b"
            for name in ("fadd", "fsub", "fmul", "fdiv")
        },
        **_calls(kind, "floor ceil trunc rint sqrt fabs", 1),
        **_calls(kind, "minnum maxnum copysign", 2),
        **_calls(kind, "fma", 3),
        **{
            (f"select {how}", kind, kind): f"""
              %x = fcmp {how} {kind} %a, %b
              %r = select i1 %x, {kind} %a, {kind} %b"""
            for how in [
                "oeq",
                "one",
                "olt",
                "ole",
                "ogt",
                "oge",
                "ueq",
                "une",
                "ult",
                "ule",
                "ugt",
                "uge",
                "ord",
                "uno",
            ]
        },
        **{
            (f"{name}.sat", kind, to): (f"%r = call {to} @llvm.{name}.sat.{to}.{named}({kind} %a)")
            for name in ("fptosi", "fptoui")
            for to in ("i8", "i16", "i32", "i64")
        },
    }


KERNELS: Final = {
    **{key: body for kind in ("i16", "i32", "i64") for key, body in _integers(kind).items()},
    **{key: body for kind in NAMES for key, body in _floats(kind).items()},
    **{
        (name, kind, to): f"%r = {name} {kind} %a to {to}"
        for name in ("sitofp", "uitofp")
        for kind in ("i16", "i32", "i64")
        for to in NAMES
    },
    ("fpext", "float", "double"): "%r = fpext float %a to double",
    ("fptrunc", "double", "float"): "%r = fptrunc double %a to float",
}


def _module(triple: str, pointer: str, kernel: str, thread: str, more: str) -> str:
    """Return the IR of all kernels: of an element, which the thread or the caller says."""
    functions: list[str] = []
    for at, ((_, kind, to), body) in enumerate(KERNELS.items()):
        functions.append(f"""
define {kernel} void @k{at}({pointer} %pa, {pointer} %pb, {pointer} %pr{more}) {{
  {thread}
  %qa = getelementptr {kind}, {pointer} %pa, i32 %i
  %qb = getelementptr {kind}, {pointer} %pb, i32 %i
  %qr = getelementptr {to}, {pointer} %pr, i32 %i
  %a = load {kind}, {pointer} %qa
  %b = load {kind}, {pointer} %qb
  {body}
  store {to} %r, {pointer} %qr
  ret void
}}""")
    return f'target triple = "{triple}"\n' + "\n".join(functions)


def _target(triple: str, **options: str) -> Any:
    return llvm.Target.from_triple(triple).create_target_machine(**options)


@cache
def native() -> Any:
    """Return the kernels, compiled for this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    parsed = llvm.parse_assembly(_module(triple, "ptr", "", "", ", i32 %i"))
    engine = llvm.create_mcjit_compiler(parsed, _target(triple))
    engine.finalize_object()
    return engine


@cache
def ptx(arch: str) -> str:
    """Return the kernels as PTX."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple, global_ = "nvptx64-nvidia-cuda", "ptr addrspace(1)"
    thread = "%i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()"
    text = _module(triple, global_, "ptx_kernel", thread, "")
    text += "\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()"
    return _target(triple, cpu=arch).emit_assembly(llvm.parse_assembly(text))


def _drawn(kind: str, name: str, generator: np.random.Generator) -> Any:
    found = draw(TYPES[kind], generator)
    if kind in NAMES and name.endswith("sat"):  # half of them as small as integers are
        found = found.copy()
        found[::2] = (generator.integers(-(2**18), 2**18, len(found)) / 8)[::2]
    return found


@pytest.mark.parametrize("arch", ["sm_70", "sm_90"])
def test_the_same_results(arch: str) -> None:
    text, engine = ptx(arch), native()
    generator = np.random.default_rng(11)
    for at, (name, kind, to) in enumerate(KERNELS):
        a, b = (_drawn(kind, name, generator) for _ in range(2))
        b[::3] = a[::3]
        found, expected = (np.zeros(len(a), DTYPES[to]) for _ in range(2))
        run(text, f"k{at}", [a, b, found], Shape(block=(len(a), 1, 1)))
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int)(
            engine.get_function_address(f"k{at}")
        )
        for element in range(len(a)):
            function(a.ctypes.data, b.ctypes.data, expected.ctypes.data, element)
        np.testing.assert_array_equal(found, expected, f"{name} of {kind} to {to}")
