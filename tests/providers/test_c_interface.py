"""MemRefCallProvider with c_interface: pointers to descriptors, and code that MLIR lowered."""

from __future__ import annotations

import ctypes
import struct
from functools import cache
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach_ffi_func, runtime, spec
from ffi_builder.errors import BuildError
from ffi_builder.providers import CheckStatus, MemRefCallProvider
from ffi_builder.spec import Optional, Shape, Tensor, Var, dims
from tests.differential.description import NONE, DLTensor, of_bool, of_int, shape, tensor
from tests.support.native import loaded
from tests.support.wrapping import attached, refused, wrap_raw

n, m, k = dims("n m k")
s, t = dims("s t")
PROVIDER: Final = MemRefCallProvider("ffib_test", c_interface=True)

C_SOURCE: Final = """
#include <stdint.h>
#include <string.h>
uint8_t ffib_ciface_bytes[512];
typedef struct { float *allocated, *aligned; int64_t offset; } Rank0;
typedef struct { float *allocated, *aligned; int64_t offset, sizes[1], strides[1]; } Rank1;
typedef struct { float *allocated, *aligned; int64_t offset, sizes[3], strides[3]; } Rank3;

void _mlir_ciface_ffib_test(Rank3 *x, int8_t narrow, Rank0 *scalar, Rank1 *y, _Bool flag,
                            int64_t entry, uint16_t last) {
  int32_t rest[] = {narrow, flag, entry, last};
  memcpy(ffib_ciface_bytes, x, sizeof *x);
  memcpy(ffib_ciface_bytes + 128, scalar, sizeof *scalar);
  memcpy(ffib_ciface_bytes + 192, y, sizeof *y);
  memcpy(ffib_ciface_bytes + 256, rest, sizeof rest);
}
int32_t _mlir_ciface_ffib_test_status(Rank1 *y) { return y->sizes[0] > 4 ? 7 : 0; }
"""


@cache
def seen() -> Any:
    """Load the C function, which records its arguments."""
    return (ctypes.c_uint8 * 512).in_dll(loaded(C_SOURCE), "ffib_ciface_bytes")


def words(offset: int, count: int) -> list[int]:
    return list(struct.unpack_from(f"<{count}q", bytes(seen()), offset))


def cpu(name: str, entries: Any, strides: Any = None) -> Tensor:
    return Tensor(name, entries, "float32", device_type="cpu", strides=strides)


def test_every_field_in_c() -> None:
    seen()
    params: list[spec.Param] = [
        Optional(cpu("x", [n, 4, None], [None, s, 2])),
        Var("narrow", "int8"),
        cpu("scalar", []),
        cpu("y", [m]),
        Var("flag", "bool"),
        Shape("entries", [3, k]),
        Var("last", "uint16"),
    ]
    call = wrap_raw(params, PROVIDER)
    x = tensor(DLTensor((5, 4, 6), (-100, 13, 2), 0x1000, byte_offset=12))
    scalar, y = tensor(DLTensor((), None, 0x2000)), tensor(DLTensor((9,), None, 0x3000))
    rest = (scalar, y, of_bool(True), shape(3, 70), of_int(65535))
    assert call(x, of_int(-128), *rest) is None
    assert words(0, 9) == [0x100C, 0x100C, 0, 5, 4, 6, -100, 13, 2]
    assert words(128, 3) == [0x2000, 0x2000, 0]
    assert words(192, 5) == [0x3000, 0x3000, 0, 9, 1]
    assert struct.unpack_from("<4i", bytes(seen()), 256) == (-128, 1, 70, 65535)
    assert call(NONE, of_int(1), *rest) is None
    assert words(0, 9) == [0, 0, 0, 0, 4, 0, 0, 0, 2]
    assert words(192, 5) == [0x3000, 0x3000, 0, 9, 1]


def test_a_status() -> None:
    seen()
    provider = CheckStatus(MemRefCallProvider("ffib_test_status", c_interface=True))
    call = wrap_raw([cpu("y", [m])], provider)
    assert call(tensor(DLTensor((4,)))) is None
    error = call(tensor(DLTensor((5,))))
    assert error is not None
    assert error[1].startswith("ffib_test_status failed with status 7 when calling: `f(y: Tensor(")


LAST: Final = """
func.func @{name}(%x: {memref}, %out: memref<f32>) attributes {{llvm.emit_c_interface}} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = memref.dim %x, %zero : {memref}
  %cols = memref.dim %x, %one : {memref}
  %last_row = arith.subi %rows, %one : index
  %last_col = arith.subi %cols, %one : index
  %value = memref.load %x[%last_row, %last_col] : {memref}
  memref.store %value, %out[] : memref<f32>
  return
}}
"""
LOWERING: Final = (
    "builtin.module(expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-to-llvm,"
    "reconcile-unrealized-casts)"
)
OUT: Final = Tensor("out", [], "float32", device_type="cpu")
LAYOUTS: Final[dict[str, tuple[str, list[Any], Any]]] = {
    "row_major": ("memref<?x?xf32>", [n, m], None),
    "static": ("memref<3x4xf32>", [3, 4], None),
    "strided": ("memref<?x4xf32, strided<[?, ?], offset: ?>>", [n, 4], [s, t]),
    "static_strides": ("memref<3x4xf32, strided<[12, 2]>>", [3, 4], [12, 2]),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("c_interface", [True, False])
def test_code_that_mlir_lowered(name: str, c_interface: bool) -> None:
    memref, entries, strides = LAYOUTS[name]

    def hook(module: Any) -> None:
        provider = MemRefCallProvider(name, c_interface=c_interface)
        attach_ffi_func(module, name, [cpu("x", entries, strides), OUT], provider)

    text = LAST.format(name=name, memref=memref)
    compiled = runtime.compile(text, pipeline=LOWERING, post_compile_hooks=[hook])
    base: Any = np.arange(48, dtype="float32").reshape(4, 12)  # pyright: ignore[reportUnknownMemberType]
    x: Any = np.ascontiguousarray(base[:3, :4]) if strides is None else base[1:, 3:10:2]
    out = np.zeros((), "float32")
    if strides is None or name == "static_strides":
        compiled[name](x, out)
        assert out == x[-1, -1]
        return
    for view in (x, base[::-1][:3, 11:3:-2], base[:, :3].T[:, :4]):
        compiled[name](view, out)
        assert out == view[-1, -1]


OUT_PARAMETERS: Final = (
    "lower it so that it writes to out-parameters (buffer-results-to-out-params with "
    "modify-public-functions=1)"
)


@pytest.mark.parametrize("given", ["k", "_mlir_ciface_k"])
def test_the_callee_with_and_without_its_prefix(given: str) -> None:
    text = "llvm.func @_mlir_ciface_k(!llvm.ptr)"
    provider = MemRefCallProvider(given, c_interface=True)
    module = attached([cpu("x", [n])], provider, text)
    assert str(module).count("llvm.func @_mlir_ciface_k(!llvm.ptr)") == 1
    assert "llvm.func @_mlir_ciface_k(!llvm.ptr)" in str(attached([cpu("x", [n])], provider))


DESCRIPTOR: Final = "!llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>"
RETURNED: Final = {
    DESCRIPTOR: f"a memref ({DESCRIPTOR}); {OUT_PARAMETERS}",
    "!llvm.struct<(i32, i32)>": f"!llvm.struct<(i32, i32)>; {OUT_PARAMETERS}",
    "f32": "f32; if that is the result, say so: returns=spec.Var('y', 'float32')",
    "i32": "i32; if that is the result, say so: returns=spec.Var('y', 'int32'); or if it is a status, wrap the provider in CheckStatus",
}  # fmt: skip
MISTAKES: Final[list[tuple[bool, str, str]]] = [
    (True, "llvm.func @k(!llvm.ptr)", "the module has @k (llvm.func of type !llvm.func<void (ptr)>), but no @_mlir_ciface_k; lower it with the attribute llvm.emit_c_interface, or leave c_interface=True out"),
    (True, "func.func private @_mlir_ciface_k(memref<?xf32>)", "the callee @_mlir_ciface_k is func.func of type (memref<?xf32>) -> (); it must be an llvm.func, so lower the module to the LLVM dialect before attaching; runtime.compile does with pipeline=, and calls its hooks with the lowered module"),
    (True, "llvm.func @_mlir_ciface_k(!llvm.ptr, !llvm.ptr)", f"the callee @_mlir_ciface_k takes one pointer more in front, (!llvm.ptr, !llvm.ptr): the C interface writes a memref (or several values) that the function returns there; {OUT_PARAMETERS}"),
    *(
        (c_interface, f"llvm.func {name}({takes}) -> {result}", f"the callee {name} returns {words}")
        for c_interface, name, takes in ((False, "@k", "!llvm.ptr, !llvm.ptr, i64, i64, i64"), (True, "@_mlir_ciface_k", "!llvm.ptr"))
        for result, words in RETURNED.items()
    ),
]  # fmt: skip


@pytest.mark.parametrize(("c_interface", "text", "words"), MISTAKES)
def test_what_is_refused(c_interface: bool, text: str, words: str) -> None:
    provider = MemRefCallProvider("k", c_interface=c_interface)
    assert refused("f(x: Tensor([n], float32))", provider, text) == (f"MemRefCallProvider: {words}")


def test_lowered_code_that_returns_a_memref() -> None:
    text = """
    func.func @make(%x: memref<?xf32>) -> memref<?xf32> attributes {llvm.emit_c_interface} {
      return %x : memref<?xf32>
    }
    """
    told: list[str] = []

    def hook(module: Any) -> None:
        for c_interface in (False, True):
            provider = MemRefCallProvider("make", c_interface=c_interface)
            with pytest.raises(BuildError) as raised:
                attach_ffi_func(module, "f", [cpu("x", [n])], provider)
            told.append(str(raised.value))

    runtime.compile(text, pipeline=LOWERING, post_compile_hooks=[hook])
    assert "the callee @make returns a memref (!llvm.struct<(ptr, ptr, i64, " in told[0]
    assert "takes one pointer more in front, (!llvm.ptr, !llvm.ptr): " in told[1]
