"""Kernels on tensors and of other dialects, lowered by the passes that `wrap` chooses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, runtime, wrap
from tests.support.wrapping import new_module

INSERT = """
func.func @insert(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %nine = arith.constant 9.0 : f32
  %y = tensor.insert %nine into %x[%zero] : tensor<?xf32>
  return %y : tensor<?xf32>
}
"""


@pytest.mark.parametrize("intent", ["", ", intent=in"])
@pytest.mark.parametrize("bindings", [False, True])
def test_arguments_are_kept(intent: str, bindings: bool) -> None:
    source: Any = new_module(INSERT) if bindings else INSERT
    before = str(source)
    signature = f"insert(x: Tensor([n], float32{intent})) -> y: Tensor([n], float32)"
    insert = wrap(source, signature, device="cpu")
    assert str(source) == before
    x = np.zeros(2, "float32")
    x.flags.writeable = not intent
    with runtime.install_allocator():
        assert insert(x).tolist() == [9, 0]
    assert x.tolist() == [0, 0]


@pytest.mark.parametrize("args", [None, ["x", "y"]])
def test_arguments_that_are_written(args: list[str] | None) -> None:
    """The signature says which, and the result is in them."""
    source = """
    func.func @fill(%x: tensor<?xf32>, %y: tensor<?xf32>) {
      %zero = arith.constant 0 : index
      %v = tensor.extract %x[%zero] : tensor<?xf32>
      %z = tensor.insert %v into %y[%zero] : tensor<?xf32>
      bufferization.materialize_in_destination %z in %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return
    }
    """
    signature = "fill(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=inout))"
    fill = wrap(source, signature, device="cpu", args=args)
    x, y = np.full(2, 3, "float32"), np.zeros(2, "float32")
    fill(x, y)
    assert y.tolist() == [3, 0]


def test_intermediate_tensors_are_freed() -> None:
    source = """
    func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
      %zero = arith.constant 0 : index
      %n = tensor.dim %x, %zero : tensor<?xf32>
      %empty = tensor.empty(%n) : tensor<?xf32>
      %a = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>)
        outs(%empty : tensor<?xf32>) -> tensor<?xf32>
      %b = linalg.add ins(%a, %a : tensor<?xf32>, tensor<?xf32>)
        outs(%empty : tensor<?xf32>) -> tensor<?xf32>
      %c = linalg.mul ins(%a, %b : tensor<?xf32>, tensor<?xf32>)
        outs(%empty : tensor<?xf32>) -> tensor<?xf32>
      return %c : tensor<?xf32>
    }
    """
    signature = "twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
    twice = wrap(source, signature, device="cpu")
    x = np.ones(1 << 20, "float32")

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    with runtime.install_allocator():
        assert twice(x)[-1] == 8
        before = resident()
        for _ in range(50):
            twice(x)
        assert resident() - before < 10 * x.nbytes


def test_slices_are_copied() -> None:
    source = """
    func.func @tiled(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> {
      %zero = arith.constant 0 : index
      %four = arith.constant 4 : index
      %n = tensor.dim %x, %zero : tensor<?x8xf32>
      %r = scf.for %i = %zero to %n step %four iter_args(%all = %y) -> tensor<?x8xf32> {
        %a = tensor.extract_slice %x[%i, 0] [4, 5] [1, 1] : tensor<?x8xf32> to tensor<4x5xf32>
        %b = tensor.extract_slice %all[%i, 0] [4, 5] [1, 1] : tensor<?x8xf32> to tensor<4x5xf32>
        %c = linalg.add ins(%a, %a : tensor<4x5xf32>, tensor<4x5xf32>)
          outs(%b : tensor<4x5xf32>) -> tensor<4x5xf32>
        %d = tensor.insert_slice %c into %all[%i, 0] [4, 5] [1, 1]
          : tensor<4x5xf32> into tensor<?x8xf32>
        scf.yield %d : tensor<?x8xf32>
      }
      return %r : tensor<?x8xf32>
    }
    """
    size = "[n, 8], float32"
    signature = f"tiled(x: Tensor({size}), y: Tensor({size})) -> z: Tensor({size}) where n % 4 == 0"
    tiled = wrap(source, signature, device="cpu")
    x, y = np.ones((8, 8), "float32"), np.zeros((8, 8), "float32")
    with runtime.install_allocator():
        found = tiled(x, y)
    assert (found[:, :5] == 2).all()
    assert (found[:, 5:] == 0).all()
    assert (y == 0).all()


def test_math_and_vectors() -> None:
    source = """
    func.func @f(%x: memref<?xf32>) {
      %zero = arith.constant 0 : index
      %pad = arith.constant 0.0 : f32
      %v = vector.transfer_read %x[%zero], %pad : memref<?xf32>, vector<4xf32>
      %w = arith.addf %v, %v : vector<4xf32>
      vector.transfer_write %w, %x[%zero] : vector<4xf32>, memref<?xf32>
      %a = memref.load %x[%zero] : memref<?xf32>
      %b = math.erf %a : f32
      %c = math.exp %b : f32
      memref.store %c, %x[%zero] : memref<?xf32>
      return
    }
    """
    f = wrap(source, "f(x: Tensor([n], float32)) where n >= 1", device="cpu")
    x = np.full(3, 0.25, "float32")
    f(x)
    np.testing.assert_allclose(x, [1.682869, 0.5, 0.5], rtol=1e-5)


@pytest.mark.parametrize("kind", ["func", "llvm"])
def test_a_number_that_nobody_takes(kind: str) -> None:
    source = f"{kind}.func @k(%v: f32) -> f32 {{ {kind}.return %v : f32 }}"
    with pytest.raises(BuildError, match="k returns f32, which the signature lacks: add a result"):
        wrap(source, "k(v: float32)")
    assert wrap(source, "k(v: float32) -> r: float32")(2) == 2


def test_a_tensor_that_nobody_takes() -> None:
    words = (
        r"insert returns tensor<\?xf32>, which the signature lacks: add a result, as in `-> y: T"
    )
    with pytest.raises(BuildError, match=words):
        wrap(INSERT, "insert(x: Tensor([n], float32))", device="cpu")


PROMISES = """
define void @k(ptr noalias readonly align 64 %x, ptr noalias align 16 %y, ptr %z) {
  %v = load <16 x float>, ptr %x, align 64
  store <16 x float> %v, ptr %y, align 16
  ret void
}
"""


@pytest.mark.parametrize("prototype", [None, "void k(const float *x, float *y, float *z)"])
def test_promises_of_llvm_ir(prototype: str | None) -> None:
    """Vector code crashes at other addresses."""
    if prototype:
        pytest.importorskip("clang.native")
    signature = ", ".join(f"{name}: Tensor([16], float32)" for name in "xyz")
    k = wrap(PROMISES, f"k({signature})", device="cpu", prototype=prototype)
    info = k.info("k")
    assert info is not None
    assert info.where == "x.data % 64 == 0, y.data % 16 == 0, no_overlap(y)"
    memory = np.zeros(512, "float32")
    start = -memory.ctypes.data % 64 // 4
    x, y, z = (memory[start + at :][:16] for at in (0, 100, 201))
    k(x, y, z)
    with pytest.raises(ValueError, match=r"x\.data % 64 == 0 but got x\.data = 0x"):
        k(y, x, z)
    with pytest.raises(ValueError, match="memory apart from that of z"):
        k(x, y, y)
    text = signature.replace("float32", "float32, data_alignment=64")
    aligned = wrap(PROMISES, f"k({text})", device="cpu", prototype=prototype).info("k")
    assert aligned is not None
    assert aligned.where == "no_overlap(y)"
