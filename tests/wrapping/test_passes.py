"""Operations that ``wrap`` lowers without ``pipeline=``."""

from __future__ import annotations

import numpy as np
import pytest

from ffi_builder import wrap
from tests.runtime.samples import parse

ROWS = "memref<?x?xf32, strided<[?, 1]>>"
COLUMNS = "memref<?x?xf32, strided<[1, ?]>>"
ANY = "memref<?x?xf32>"
SIZES = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : {ANY}
  %m = memref.dim %x, %c1 : {ANY}
"""


def each(body: str) -> str:
    """The body of a loop that makes %r of %v, for all elements."""
    return f"""
  scf.for %i = %c0 to %n step %c1 {{
    scf.for %j = %c0 to %m step %c1 {{
      %v = memref.load %x[%i, %j] : {ANY}
      {body}
      memref.store %r, %y[%i, %j] : {ANY}
    }}
  }}"""


BODIES = {
    "copy of a transposed memref": f"""
  %t = memref.transpose %x (i, j) -> (j, i) : {ANY} to {COLUMNS}
  %b = memref.alloc(%m, %n) : {ANY}
  memref.copy %t, %b : {COLUMNS} to {ANY}
  %u = memref.transpose %b (i, j) -> (j, i) : {ANY} to {COLUMNS}
  memref.copy %u, %y : {COLUMNS} to {ANY}
  memref.dealloc %b : {ANY}""",
    "copy of a part, in a branch": f"""
  %some = arith.cmpi sgt, %n, %c0 : index
  scf.if %some {{
    %s = memref.subview %x[0, 0][%n, %m][1, 1] : {ANY} to {ROWS}
    memref.copy %s,
      %y : {ROWS} to {ANY}
  }}""",
    "bufferization.clone": f"""
  %b = bufferization.clone %x : {ANY} to {ANY}
  memref.copy %b, %y : {ANY} to {ANY}
  memref.dealloc %b : {ANY}""",
    "memref.realloc": f"""
  %f = memref.alloc(%c1) : memref<?xf32>
  %b = memref.realloc %f(%m) : memref<?xf32> to memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  memref.copy %x, %y : {ANY} to {ANY}""",
    "vector.mask": f"""
  %z = arith.constant 0.0 : f32
  %some = vector.create_mask %m : vector<4xi1>
  scf.for %i = %c0 to %n step %c1 {{
    %v = vector.mask %some {{
      vector.transfer_read %x[%i, %c0], %z : {ANY}, vector<4xf32>
    }} : vector<4xi1> -> vector<4xf32>
    vector.mask %some {{
      vector.transfer_write %v, %y[%i, %c0] : vector<4xf32>, {ANY}
    }} : vector<4xi1>
  }}""",
    "vector.multi_reduction": each("""
      %z = arith.constant 0.0 : f32
      %e = arith.constant 0.25 : f32
      %b = vector.broadcast %v : f32 to vector<2x2xf32>
      %four = vector.multi_reduction <add>, %b, %z [0, 1] : vector<2x2xf32> to f32
      %r = arith.mulf %four, %e : f32"""),
    "math.clampf": each("%r = math.clampf %v to [%v, %v] : f32"),
    "math.ipowi": each("""
      %i0 = arith.fptosi %v : f32 to i32
      %one = math.ipowi %i0, %i0 : i32
      %f = arith.sitofp %one : i32 to f32
      %r = arith.mulf %v, %f : f32"""),
    "complex": each("""
      %c = complex.create %v, %v : complex<f32>
      %root = complex.sqrt %c : complex<f32>
      %square = complex.mul %root, %root : complex<f32>
      %r = complex.re %square : complex<f32>"""),
    "floats of 4 bits": each("""
      %four = arith.truncf %v : f32 to f4E2M1FN
      %f = arith.extf %four : f4E2M1FN to f32
      %z = arith.subf %f, %f : f32
      %r = arith.addf %v, %z : f32"""),
}
SIGNATURE = "f(x: Tensor([n, m], float32), y: Tensor([n, m], float32))"


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("generic", [False, True])
def test_operations_that_few_modules_have(what: str, generic: bool) -> None:
    """Each kernel copies x to y, in a way of its own."""
    text = f"func.func @f(%x: {ANY}, %y: {ANY}) {{{SIZES}{BODIES[what]}\n  return\n}}"
    if generic:
        text = parse(text).operation.get_asm(print_generic_op_form=True)
    f = wrap(text, SIGNATURE, device="cpu")
    x = np.array([[1.1, 1.2, 1.3], [1.4, 1.5, 1.6]], "float32")
    y = np.zeros_like(x)
    f(x, y)
    np.testing.assert_allclose(y, x, rtol=1e-6)


def test_a_copy_of_rows_with_gaps() -> None:
    text = f"""func.func @f(%x: {ROWS}, %y: {ROWS}) {{
      memref.copy %x, %y : {ROWS} to {ROWS}
      return
    }}"""
    rows = "Tensor([n, m], float32, strides=[{}, 1])"
    f = wrap(text, f"f(x: {rows.format('s')}, y: {rows.format('t')})", device="cpu")
    x = np.array([[1, 2, 3, 9, 9], [4, 5, 6, 9, 9], [7, 8, 0, 9, 9]], "float32")
    y = np.zeros((3, 9), "float32")
    f(x[:, :3], y[:, 2:5])
    np.testing.assert_array_equal(y[:, 2:5], x[:, :3])
    assert y.sum() == x[:, :3].sum()
