"""Attaching with the bindings of the module itself: it verifies, prints, and is parsed again."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from ffi_builder import (
    BuildError,
    attach,
    attach_ffi_func,
    explain,
    providers,
    record_memref_types,
    signature_of,
    spec,
    testing,
)
from ffi_builder.ir import Block
from ffi_builder.ir.distribution import OPERATIONS, Distribution
from ffi_builder.protocol import MEMREF_TYPES
from tests.distributions.suite import kernels
from tests.distributions.suite.cases import CASES, DIRECT, Case
from tests.distributions.suite.conftest import Note
from tests.support.printed import operations, symbol_names

Parse = Callable[[str], Any]
CODE = spec.Var("code", "int32")
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def generic(module: Any) -> str:
    return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


def custom(module: Any) -> str:
    return module.operation.get_asm(enable_debug_info=True)


@each_case
def test_it_verifies_and_is_of_the_modules_own_bindings(
    case: Case, parse: Parse, root: str
) -> None:
    module = parse(case.kernel)
    before = [str(operation) for operation in operations(module)]
    case.attach(module)
    assert module.operation.verify()
    assert type(module).__module__.startswith(f"{root}._mlir_libs.")
    assert [str(operation) for operation in operations(module)][: len(before)] == before
    assert "__tvm_ffi_f" in symbol_names(module)


@each_case
def test_what_is_printed_is_parsed_again(
    case: Case, parse: Parse, distribution: Distribution
) -> None:
    module = case.attach(parse(case.kernel))
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    wanted = custom(module)
    for written in (wanted, generic(module), bytecode.getvalue()):
        again = distribution.ir.Module.parse(written, module.context)
        assert again.operation.verify()
        assert custom(again) == wanted


def test_what_a_kernel_takes_is_recorded_and_compared(parse: Parse) -> None:
    memref = "memref<?x4xf32, strided<[?, 1], offset: ?>>"
    module = parse(f"func.func private @kernel({memref}, index)")
    known = signature_of(module, "kernel", names=["x", "n"], device_type="cpu")
    assert str(known) == (
        "kernel(x: Tensor([x_0, 4], float32, strides=[None, 1], device_type=cpu), n: int64)"
    )
    record_memref_types(module)
    assert module.operation.verify()
    record = module.body.operations[0].operation.attributes[MEMREF_TYPES]
    assert record.value == f"({memref}, index) -> ()"
    words = ", ".join(["!llvm.ptr"] * 2 + ["i64"] * 6)
    lowered = f"llvm.func @kernel({words}) attributes {{{MEMREF_TYPES} = {record}}}"
    assert signature_of(parse(lowered), "kernel", names=["x", "n"], device_type="cpu") == known
    rows, pitch = spec.dims("rows pitch")
    for dtype, size, error in (
        ("float32", 4, None),
        ("float64", 4, "elements are f32, not float64"),
        ("float32", 5, "size 1 is 4, but shape"),
    ):
        x = spec.Tensor("x", [rows, size], dtype, device_type="cpu", strides=[pitch, 1])
        provider = providers.MemRefCallProvider("kernel")
        expected = nullcontext() if error is None else pytest.raises(BuildError, match=error)
        with expected:
            attach_ffi_func(parse(lowered), "f", [x, spec.Var("n", "int64")], provider)


def test_a_kernels_arguments_have_the_names_of_their_locations(parse: Parse) -> None:
    body = '(%0: i64 loc("n"), %1: f32 loc("x"("k.py":1:2)), %2: i1) { llvm.return }'
    module = parse(f"llvm.func @kernel{body}")
    assert str(signature_of(module, "kernel")) == "kernel(n: int64, x: float32, arg2: bool)"


def test_wrappers_are_made_of_operations_that_are_looked_for(parse: Parse) -> None:
    """Attaching says so where the LLVM dialect at hand lacks one of them, by this list."""
    made: set[str] = set()
    for case in CASES.values():
        module = parse(case.kernel)
        before = len(operations(module))
        for operation in operations(case.attach(module))[before:]:
            made.add(operation.name)
            blocks = (block for region in operation.regions for block in region.blocks)
            made |= {inner.operation.name for block in blocks for inner in block.operations}
    assert made - set(OPERATIONS) == set()
    assert len(made) > len(OPERATIONS) / 2


def test_a_callee_that_takes_something_else(parse: Parse) -> None:
    module = parse(kernels.STATUS)
    attach_ffi_func(module, "first", [CODE], DIRECT)
    before = generic(module)
    wide = spec.Signature("f", [spec.Var("code", "int64"), spec.DataPointer("p")])
    with pytest.raises(BuildError) as raised:
        attach(module, wide, DIRECT)
    assert str(raised.value) == (
        "DirectCallProvider: the callee @kernel takes 1 argument, but 2 are passed for 'f':\n"
        "       expected  passed\n"
        ">  #0  i32       i64 (code): declare `code: int32`, or pass 'int32(code)'\n"
        ">      nothing   ptr (p)\n"
        "Choose and order them with args=, or change the signature or the callee"
    )
    assert generic(module) == before
    assert module.operation.verify()


def test_what_a_provider_left_behind_is_taken_out(parse: Parse) -> None:
    def failing(current_block: Block, context: providers.CallContext) -> Block:
        b = context.builder
        context.symbols.constant("left_behind", b"text")
        b.when(b.eq(context.value(CODE), b.i32(0))).__enter__()
        raise KeyError("mine")

    module = parse("")
    before = generic(module)
    with pytest.raises(KeyError, match="mine"):
        attach_ffi_func(module, "f", [CODE], failing)
    assert generic(module) == before


def test_two_wrappers_share_their_helpers(parse: Parse) -> None:
    module = parse(kernels.STATUS)
    attach_ffi_func(module, "first", [CODE], DIRECT)
    helpers = [name for name in symbol_names(module) if "_shared_" in name]
    attach_ffi_func(module, "second", [CODE], providers.PackedCallProvider("first"))
    assert module.operation.verify()
    assert helpers
    assert [name for name in symbol_names(module) if "_shared_" in name] == helpers
    with pytest.raises(BuildError, match="the module has a symbol @__tvm_ffi_first already"):
        attach_ffi_func(module, "first", [CODE], DIRECT)


def test_text_for_tests(distribution: Distribution, root: str) -> None:
    signature = spec.Signature("scale", [spec.Tensor("x", [2], "float32", device_type="cuda")])
    text = testing.emit(signature, providers.DirectCallProvider("kernel"), mlir=root)
    assert re.match(r"llvm\.func @__tvm_ffi_scale\(", text)
    assert "llvm.call @kernel(" in text
    whole = testing.emit(signature, mlir=root, whole=True)
    context = distribution.ir.Context()
    distribution.load_llvm(context)
    assert distribution.ir.Module.parse(whole, context).operation.verify()
    assert "device_type" in explain(signature)


VALUES = """
import sys
from ffi_builder.ir.distribution import named
from tests.distributions.suite.cases import CASES
from tests.support.own_values import register
from tests.support.wrapping import new_module

root = sys.argv[1]
distribution = named(root)
register(distribution)
for case in CASES.values():
    case.attach(new_module(case.kernel, root))
"""


def test_values_that_mean_something_else(root: str) -> None:
    """Bindings may make objects of their own of values, as CUTLASS does: there `==` emits an op."""
    done = subprocess.run(
        [sys.executable, "-c", VALUES, root],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_columns(
    note: Note, distribution: Distribution, parse: Parse, request: pytest.FixtureRequest
) -> None:
    """Behind the others: what the matrix says of them, which is only written if all have passed."""
    bytecode = io.BytesIO()
    parse("").operation.write_bytecode(bytecode)
    producer = re.search(rb"MLIR(\d+\.\d+\.\d+\w*)", bytecode.getvalue())
    assert producer is not None
    note("LLVM", producer[1].decode())
    note("attach, verify, print", "yes")
