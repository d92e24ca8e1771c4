"""Wrappers that are compiled apart, in modules with something unusual beside them.

Modules are compiled several times: from the second time on wrappers are taken out of them.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.ir.distribution import named
from ffi_builder.providers import DirectCallProvider
from tests.support.printed import name_of, operations
from tests.support.wrapping import SafeCall, new_module

n = spec.Var("n", "int64")
X = spec.Tensor("x", [n], "int64", device_type="cpu")
ENTRY = "(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32"
KERNEL = """
llvm.func @kernel(%p: !llvm.ptr, %n: i64) {
  llvm.store %n, %p : i64, !llvm.ptr
  llvm.return
}"""
BESIDE = {
    "a function that calls a wrapper": f"""
      llvm.func @__tvm_ffi_f{ENTRY}
      llvm.func @beside(%a: !llvm.ptr, %b: !llvm.ptr, %c: i32, %d: !llvm.ptr) -> i32 {{
        %r = llvm.call @__tvm_ffi_f(%a, %b, %c, %d) : {ENTRY}
        llvm.return %r : i32
      }}""",
    "a global with the address of one": f"""
      llvm.func @__tvm_ffi_f{ENTRY}
      llvm.mlir.global external constant @beside() : !llvm.ptr {{
        %f = llvm.mlir.addressof @__tvm_ffi_f : !llvm.ptr
        llvm.return %f : !llvm.ptr
      }}""",
    "a function that looks at a table": """
      llvm.mlir.global external @__ffi_builder_table_f() : i8
      llvm.func @beside() -> !llvm.ptr {
        %t = llvm.mlir.addressof @__ffi_builder_table_f : !llvm.ptr
        llvm.return %t : !llvm.ptr
      }""",
}


def called(compiled: runtime.CompiledModule, name: str = "f") -> int:
    data = np.zeros(3, "int64")
    compiled[name](data)
    with pytest.raises(ValueError, match=r"Mismatched x.ndim"):
        compiled[name](np.zeros((1, 1), "int64"))
    return int(data[0])


def wrapped(text: str, callee: str = "kernel", name: str = "f", **options: Any) -> Any:
    module = new_module(text)
    provider = DirectCallProvider(callee, args=["x", "n"])
    attach(module, spec.Signature(name, [X]), provider, **options)
    return module


@pytest.mark.parametrize("beside", BESIDE)
def test_what_refers_to_a_wrapper(beside: str) -> None:
    for _ in range(4):
        module = wrapped(KERNEL)
        ir: Any = __import__("torch_mlir.ir").ir
        source = ir.Module.parse(BESIDE[beside], module.context)
        for operation in source.body.operations:
            if operation.operation.attributes["sym_name"].value == "beside":
                module.body.append(operation)
                break
        assert module.operation.verify()
        assert called(runtime.compile(module)) == 3


def test_a_reserved_function_that_shares_a_table() -> None:
    for _ in range(4):
        module = wrapped(KERNEL)
        provider = DirectCallProvider("kernel", args=["x", "n"])
        attach(module, spec.Signature("f", [X]), provider, symbol_name="g")
        # `attach` refuses the name, but a module may come with it.
        [g] = [op for op in operations(module) if name_of(op) == "__tvm_ffi_g"]
        g.attributes["sym_name"] = named("torch_mlir").ir.StringAttr.get(
            "__tvm_ffi__metadata_g", module.context
        )
        assert called(runtime.compile(module)) == 3


@pytest.mark.parametrize(
    "callee",
    [
        *("__ffi_builder_table", "__ffi_builder_table_x", "__ffi_builder_text_x"),
        *("__ffi_builder_wrapper", "__ffi_builder_unit_1", "__tvm_ffi__unit"),
    ],
)
def test_kernels_with_names_of_ours(callee: str) -> None:
    for _ in range(4):
        module = wrapped(KERNEL.replace("@kernel", f"@{callee}"), callee)
        assert called(runtime.compile(module)) == 3


DEBUG = """
#file = #llvm.di_file<"a.c" in "/tmp">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C, file = #file,
                              producer = "x", isOptimized = false, emissionKind = Full>
#type = #llvm.di_subroutine_type<types = #llvm.di_null_type>
#kernel = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file, name = "k",
                              file = #file, line = 3, subprogramFlags = Definition, type = #type>
#own = #llvm.di_subprogram<id = distinct[2]<>, compileUnit = #unit, scope = #file, name = "f",
                           file = #file, line = 9, subprogramFlags = Definition, type = #type>
module {
  llvm.func @kernel(%p: !llvm.ptr, %n: i64) {
    llvm.store %n, %p : i64, !llvm.ptr loc("a.c":4:1)
    llvm.return loc("a.c":5:1)
  } loc(fused<#kernel>["a.c":3:1])
  llvm.func @other() loc(fused<#own>["a.c":9:1])
}"""


@pytest.mark.parametrize("mlir", ["torch_mlir", "jaxlib.mlir"])
@pytest.mark.parametrize("own", [False, True], ids=["the kernel's", "its own"])
def test_debug_information(own: bool, mlir: str) -> None:
    """A kernel's debug information is not the wrapper's, which may be given its own."""
    pytest.importorskip(f"{mlir}.ir", reason=f"needs the bindings {mlir}")
    distribution = named(mlir)
    for _ in range(3):
        context = distribution.ir.Context()
        distribution.load_llvm(context)
        module = distribution.ir.Module.parse(DEBUG, context)
        other = next(op for op in operations(module) if name_of(op) == "other")
        location = other.location if own else None
        other.erase()
        provider = DirectCallProvider("kernel", args=["x", "n"])
        attach(module, spec.Signature("f", [X]), provider, location=location)
        compiled = runtime.compile(module)
        assert called(compiled) == 3
        assert ('"f"' in str(compiled.llvm_ir)) == own
        with pytest.raises(ValueError, match="ndim") as raised:
            compiled["f"](np.zeros((1, 1), "int64"))
        assert [frame.lineno for frame in raised.traceback if str(frame.path) == "a.c"] == [
            8 if own else 2  # counted from 0
        ]


def test_a_result_in_the_place_of_an_argument() -> None:
    """It is not written before the arguments have been read."""
    module = new_module("llvm.func @k(%n: i64) { llvm.return }")
    attach(module, spec.Signature("f", [n]), DirectCallProvider("k"))
    compiled = runtime.compile(module)
    place = (ctypes.c_int64 * 2)(1, 42)
    address = ctypes.addressof(place)
    assert SafeCall(compiled.address("f"))(None, address, 1, address) == 0
    assert list(place) == [0, 0]
