"""Tests for a DSL that uses ffi_builder. They need no kernel, no JIT and no accelerator.

FileCheck reads the plan and the IR of a wrapper, ``testing.make_args`` makes valid arguments, and
``testing.check`` raises the errors that callers will see. It needs ``pip install filecheck``. Run
it as it is, or with ``pytest examples/inspect_ir.py``.
"""

import io
from pathlib import Path

import numpy as np
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts

from ffi_builder import explain, providers, spec, testing

# The front end of the DSL makes this from
#
#     @kernel
#     def scale(x: Array[n, float32], factor: float32): ...     # n is a multiple of 4
n = spec.Var("n", "int32", divisibility=4)
factor = spec.Var("factor", "float32")


def scale(device_type: str) -> spec.Signature:
    x = spec.Tensor("x", [n], "float32", device_type=device_type, data_alignment=16)
    return spec.Signature("scale", [x, factor])


def test_plan() -> None:
    # PLAN:      scale(x: Tensor([n], float32), factor: float32)
    # PLAN:      x.device_type  cuda                                           ValueError
    # PLAN:      x.shape[0]     a multiple of 4 (divisibility of n)            ValueError
    # PLAN-NEXT: x.shape[0]     binds n
    # PLAN:      x.data         an address aligned to 16 bytes (data_alignment of x)
    # PLAN-NEXT: type of factor float                                          TypeError
    # PLAN-NEXT: factor         binds factor
    filecheck("PLAN", explain(scale("cuda")))


def test_ir() -> None:
    """The callee gets the data pointer, the factor rounded to a float32, and n as an i32."""
    signature = scale("cuda")
    provider = providers.DirectCallProvider("kernel", args=[*signature.params, n])
    # IR-LABEL: llvm.func @__tvm_ffi_scale(
    # IR-SAME:  %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[COUNT:.*]]: i32, %{{.*}}: !llvm.ptr)
    # IR:       %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
    # IR-NEXT:  llvm.icmp "eq" %[[COUNT]], %[[TWO]]
    # IR:       %[[FACTOR:.*]] = llvm.fptrunc {{.*}} : f64 to f32
    # IR:       llvm.trunc %{{.*}} : i64 to i32
    # IR:       llvm.call @kernel(%{{.*}}, %[[FACTOR]], %{{.*}}) : (!llvm.ptr, f32, i32) -> ()
    filecheck("IR", testing.emit(signature, provider))


def test_accepted() -> None:
    """A valid call binds each symbol to the value that the kernel gets."""
    args = testing.make_args(scale("cpu"), {"n": 8, "factor": 0.1})
    bound = testing.check(scale("cpu"), *args)
    assert bound == {"n": 8, "factor": float(np.float32(0.1))}


def test_errors() -> None:
    """The errors are those of the compiled wrapper."""
    for argument, expected in [
        (np.zeros(8), "Mismatched x.dtype on argument #0"),
        (np.zeros(6, "float32"), "expected a multiple of 4 (divisibility of n) but got 6"),
        ([1.0, 2.0], "Mismatched type of x on argument #0"),
    ]:
        message = error_of(scale("cpu"), argument, 0.1)
        assert expected in message, message


def error_of(signature: spec.Signature, *args: object) -> str:
    try:
        testing.check(signature, *args)
    except (TypeError, ValueError) as error:
        return str(error)
    raise AssertionError(f"no error for {args}")


def filecheck(prefix: str, text: str) -> None:
    """Check a text against the comments of this file that begin with ``prefix``."""
    options = Options(match_filename=__file__, check_prefixes=[prefix])
    checks = io.StringIO(Path(__file__).read_text())
    parser = Parser(options, checks, *pattern_for_opts(options))
    assert Matcher(options, FInput("text", text), parser).run() == 0


if __name__ == "__main__":
    for test in (test_plan, test_ir, test_accepted, test_errors):
        test()
        print(f"{test.__name__}: passed")
