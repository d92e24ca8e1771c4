"""Kernels for the tests of wheels."""

from __future__ import annotations

from ffi_builder import spec, wrap
from ffi_builder.runtime import CompiledModule, LoweredModule

SCALE = """
define void @kernel(ptr %x, ptr %y, i64 %n, float %factor) {
entry:
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr float, ptr %x, i64 %i
  %to = getelementptr float, ptr %y, i64 %i
  %old = load float, ptr %from
  %new = fmul float %old, %factor
  store float %new, ptr %to
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""
SIGNATURE = (
    "scale(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out), "
    "factor: float32)"
)
NEGATE = "negate(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out))"


def scale(text: str = SIGNATURE, default: float = 2.0) -> CompiledModule:
    """Multiplies, by `default` unless it is told otherwise."""
    parsed = spec.Signature.parse(text, device="cpu")
    signature = parsed.with_params(factor={"default": default})
    return wrap(SCALE, signature, function="kernel", args=["x", "y", "n", "factor"])


def negate() -> CompiledModule:
    """Another module, whose kernel has the same name."""
    return wrap(SCALE, NEGATE, function="kernel", args=["x", "y", "n", -1.0], device="cpu")


def making() -> LoweredModule:
    """A function that makes its result."""
    signature = "twice(x: Tensor([n], float32, intent=in)) -> y: Tensor([n], float32)"
    return wrap(SCALE, signature, function="kernel", args=["x", "y", "n", 2.0], device="cpu")
