"""What a module calls is compared with the LLVM IR in ``link=`` that defines it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import CompileError, attach, runtime
from ffi_builder.ir import PlainModule
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Signature
from tests.support.wrapping import new_module

# llvmlite writes pointers so; the attributes and the named type are as clang's.
KERNELS: Final = """
%struct.pair = type { float, float }
define i32 @scale(float* %x, float %a, i64 %n) #0 {
  store float %a, float* %x
  ret i32 0
}
define void @pair(%struct.pair %p, i64 %n) { ret void }
define void @"odd name"(ptr %x) { ret void }
define void @many(ptr %x, ...) { ret void }
attributes #0 = { nounwind }
"""
SCALE: Final = "f(x: Tensor([n], float32), a: {})"
DOORS: Final = [runtime.compile, runtime.lower]
MODULES: Final = [pytest.param(new_module, id="MLIR"), pytest.param(PlainModule, id="plain")]


def linked(
    make: Callable[[], Any],
    signature: str,
    callee: str,
    args: list[str],
    door: Callable[..., Any] = runtime.compile,
    kernels: str = KERNELS,
) -> Any:
    module = make()
    parsed = Signature.parse(signature, device="cpu")
    attach(module, parsed, DirectCallProvider(callee, args=args))
    return door(module, link=[kernels])


@pytest.mark.parametrize("make", MODULES)
def test_what_fits(make: Callable[[], Any]) -> None:
    scale = linked(make, SCALE.format("float32"), "scale", ["x", "a", "n"])["f"]
    scale(x := np.zeros(2, "float32"), 3)
    assert x.tolist() == [3, 0]
    with_status = SCALE.format("float32") + " -> r: int32"
    assert linked(make, with_status, "scale", ["x", "a", "n"])["f"](x, 3) == 0


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("make", MODULES)
@pytest.mark.parametrize(
    ("signature", "callee", "args", "words"),
    [
        (SCALE.format("float64"), "scale", ["x", "a", "n"], r"`scale` takes \(ptr, float, i64\) in the LLVM IR of link=, but the module passes \(ptr, double, i64\) in `f`"),
        (SCALE.format("float32"), "scale", ["x", "a"], r"the module passes \(ptr, float\)"),
        (SCALE.format("float32"), "scale", ["a", "x", "n"], r"passes \(float, ptr, i64\)"),
        (SCALE.format("float32") + " -> r: int64", "scale", ["x", "a", "n"], "`scale` returns i32 .* but the module expects i64 in `f`"),
        (SCALE.format("float32"), "odd name", ["x", "a"], r"`odd name` takes \(ptr\)"),
    ],
)  # fmt: skip
def test_what_differs(
    signature: str, callee: str, args: list[str], words: str, make: Any, door: Any
) -> None:
    with pytest.raises(CompileError, match=words):
        linked(make, signature, callee, args, door)


@pytest.mark.parametrize("callee", ["pair", "many", "elsewhere"])
def test_what_is_not_compared(callee: str) -> None:
    """Structs by value, variable arguments, and what other items may define."""
    linked(PlainModule, SCALE.format("float32"), callee, ["x"], runtime.lower)


def test_llvm_ir_that_does_not_parse() -> None:
    """The error is that of compiling it."""
    lowered = linked(PlainModule, SCALE.format("int8"), "scale", ["x"], runtime.lower, "; @scale(")
    with pytest.raises(CompileError, match="parse"):
        linked(PlainModule, SCALE.format("int8"), "scale", ["x"], kernels="define @scale(")
    assert lowered
