"""Functions that take lists or maps, and kernels that copy what they get of them."""

from __future__ import annotations

from typing import Any, Final

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import CallProvider
from tests.support.wrapping import new_module

ABSENT: Final = """
llvm.func @absent(%there: i1, %data: !llvm.ptr, %n: i64, %out: !llvm.ptr) {
  %a = llvm.zext %there : i1 to i64
  %b = llvm.ptrtoint %data : !llvm.ptr to i64
  %second = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
  %third = llvm.getelementptr %out[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %a, %out : i64, !llvm.ptr
  llvm.store %b, %second : i64, !llvm.ptr
  llvm.store %n, %third : i64, !llvm.ptr
  llvm.return
}
"""
"""Writes whether a list is there, its address and its length."""


def compiled(text: str, *functions: tuple[str, CallProvider]) -> Any:
    module = new_module(text)
    for signature, provider in functions:
        attach(module, spec.Signature.parse(signature, device="cpu"), provider)
    return runtime.compile(module)


def packing(callee: str, pointers: int, size: int | None = None) -> str:
    """A kernel ``pack`` for packed parameters: what the struct of a list has goes to the callee.

    These are pointers and a length, then a size if there is one, and the data of a tensor.
    """
    struct = f"!llvm.struct<({'ptr, ' * pointers}i64)>"
    parts = "".join(
        f"  %p{i} = llvm.extractvalue %all[{i}] : {struct}\n" for i in range(pointers + 1)
    )
    more = f"  %size = llvm.mlir.constant({size} : i64) : i64\n" if size else ""
    values = ", ".join([*(f"%p{i}" for i in range(pointers + 1)), *["%size"][: bool(size)], "%out"])
    types = ", ".join([*["!llvm.ptr"] * pointers, "i64", *["i64"][: bool(size)], "!llvm.ptr"])
    return f"""
llvm.func @pack(%params: !llvm.ptr) {{
  %list = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %at = llvm.getelementptr %params[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %tensor = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %tensor : !llvm.ptr -> !llvm.ptr
  %all = llvm.load %list : !llvm.ptr -> {struct}
{parts}{more}  llvm.call @{callee}({values}) : ({types}) -> ()
  llvm.return
}}
"""
