"""The steps of DynamicParamPackCallProvider that a subclass may override."""

from __future__ import annotations

import re
import struct
from importlib import import_module
from typing import Any, Final

import pytest

from ffi_builder import attach_ffi_func, spec
from ffi_builder.ir import Block, Value
from ffi_builder.ir.protocols import Type
from ffi_builder.providers import (
    CallContext,
    CallProvider,
    DynamicParamPackCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)
from ffi_builder.spec import Signature, Tensor, Var
from tests.differential.description import DLTensor, Plain, tensor
from tests.support.recording import Recording, c_callees
from tests.support.wrapping import new_module, refused, wrap_raw

IR: Final[Any] = import_module("torch_mlir.ir")
K: Final = Var("k", "int32")
N: Final = Var("n", "int64")
X: Final = Tensor("x", [K, 4, None], "float32", device_type="cpu", strides=[N, 4, 1])
GIVEN: Final = DLTensor((2, 4, 3), (40, 4, 1), data=0x100, byte_offset=16)


class Struct(DynamicParamPackCallProvider):
    """Tensors are passed as another struct; ``given`` is what the step was called with."""

    struct = "!llvm.struct<(ptr<1>, struct<(i32, struct<(i64, i64)>)>)>"
    given: tuple[Any, ...] = ()

    def get_callee_struct_for_param_tensor(
        self,
        param: Tensor,
        current_block: Block,
        data: Value,
        shape: list[Value],
        strides: list[Value],
        flatten_struct: Type,
    ) -> Type:
        assert current_block.arguments is not None
        values = [[str(value.type) for value in values] for values in ([data], shape, strides)]
        type(self).given = (param, *values, str(flatten_struct))
        return IR.Type.parse(self.struct, data.type.context)


def test_a_tensor_is_passed_as_the_struct_that_the_step_returns() -> None:
    recording = Recording("callee", [Struct.struct])
    call = wrap_raw([X], Struct("callee", struct_call=True), recording.text)
    assert call(tensor(GIVEN)) is None
    assert struct.unpack("<Qi4x2q", recording.read(0, 32)) == (0x110, 2, 3, 40)
    flat = "!llvm.struct<(ptr, i32, i64, i64)>"
    assert Struct.given == (X, ["!llvm.ptr"], ["i32", "i64"], ["i64"], flat)


def test_a_pointer_points_to_the_struct() -> None:
    callees = c_callees()
    callees.expect(32, 32)
    there, absent = (
        spec.Optional(X),
        spec.Optional(Tensor("y", X.shape, "int8", device_type="cpu", strides=X.strides)),
    )
    call = wrap_raw([there, absent], Struct("ffib_test_pack"))
    assert call(tensor(GIVEN), Plain(0)) is None
    assert struct.unpack("<Qi4x2q", callees.read(0, 32)) == (0x110, 2, 3, 40)
    assert callees.nulls == [1]


class Array(Struct):
    struct = '!llvm.struct<"tensor_of_a_test", packed (ptr, i32, array<2 x i64>)>'


def test_a_struct_may_have_a_name_be_packed_and_hold_arrays() -> None:
    recording = Recording("callee", [Array.struct])
    call = wrap_raw([X], Array("callee", struct_call=True), recording.text)
    assert call(tensor(GIVEN)) is None
    assert struct.unpack("<Qi2q", recording.read(0, 28)) == (0x110, 2, 3, 40)


@pytest.mark.parametrize(
    ("type_", "words"),
    [
        ("i64", "expected the type of an LLVM struct but got i64"),
        (
            "!llvm.struct<(ptr, struct<(i64, i64)>)>",
            "!llvm.struct<(ptr, struct<(i64, i64)>)> has the members !llvm.ptr, i64, i64, but the "
            "values are !llvm.ptr, i32, i64, i64",
        ),
        ("!llvm.struct<()>", "!llvm.struct<()> has the members none, but the values are !llvm.ptr, i32, i64, i64"),
    ],
)  # fmt: skip
def test_a_struct_that_the_values_do_not_fit(type_: str, words: str) -> None:
    class Wrong(Struct):
        struct = type_

    told = refused(Signature("f", [X]), Wrong("callee", struct_call=True))
    assert told == f"Wrong: the struct of 'x': {words}"


LIBRARY: Final = """
llvm.mlir.global internal @state(0 : i32) : i32
llvm.mlir.global internal @device(-1 : i32) : i32
llvm.func @init_cuda(%state: !llvm.ptr) -> i32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %before = llvm.load %state : !llvm.ptr -> i32
  %now = llvm.add %before, %one : i32
  llvm.store %now, %state : i32, !llvm.ptr
  llvm.return %before : i32
}
llvm.func @set_device(%id: i32) {
  %at = llvm.mlir.addressof @device : !llvm.ptr
  llvm.store %id, %at : i32, !llvm.ptr
  llvm.return
}
llvm.func @kernel(%params: !llvm.ptr) -> i32 {
  %first = llvm.mlir.addressof @state : !llvm.ptr
  %second = llvm.mlir.addressof @device : !llvm.ptr
  %state = llvm.load %first : !llvm.ptr -> i32
  %device = llvm.load %second : !llvm.ptr -> i32
  %ten = llvm.mlir.constant(10 : i32) : i32
  %tens = llvm.mul %state, %ten : i32
  %sum = llvm.add %tens, %device : i32
  llvm.return %sum : i32
}
"""


class Gpu(DynamicParamPackCallProvider):
    """Initialises before the first call, and chooses the tensor's device before each."""

    def declare_extern_funcs(self, current_block: Block, context: CallContext) -> Block:
        t = context.builder.types
        context.symbols.declare("init_cuda", t.i32, [t.ptr])
        context.symbols.declare("set_device", t.void, [t.i32])
        return current_block

    def insert_lazy_init_cuda(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        assert b.block is current_block
        state = b.address_of("state")
        with b.when(b.eq(b.load(b.types.i32, state), b.i32(0)), cold=True):
            status = b.call_value("init_cuda", [state], b.types.i32)
            b.check(b.eq(status, b.i32(0)), "RuntimeError", "no CUDA: {}", status)
        return b.block

    def insert_set_cuda_device(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        assert b.block is current_block
        device = context.matched_var_binding[spec.Field(context.params[0], "device_id")]
        b.call("set_device", [device], b.types.void)
        return b.block


def test_steps_come_before_the_call_in_their_order() -> None:
    call = wrap_raw([X], Gpu("kernel"), LIBRARY)
    for device in (0, 3, 5):
        body = DLTensor((2, 4, 3), (40, 4, 1), data=0x100, device_id=device)
        kind, message = call(tensor(body)) or ("", "")
        assert kind == "RuntimeError"
        # Initialised once, and the device is that of this call's tensor.
        assert message.startswith(f"kernel failed with status {10 + device} when calling")


STEPS: Final = ("declare_extern_funcs", "insert_lazy_init_cuda", "insert_set_cuda_device")


class InPorted(Gpu):
    """Runs the steps itself, as providers for CUTLASS's builder do."""

    by_itself = STEPS

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        for step in self.by_itself:
            current_block = getattr(self, step)(current_block, context)
        return super().__call__(current_block, context)


def calls_of_steps(provider: CallProvider) -> list[str]:
    """Return the calls that steps have put into the wrapper, by name."""
    module = new_module(LIBRARY)
    attach_ffi_func(module, "f", [X], provider)
    return sorted(re.findall(r"call @(init_cuda|set_device)\(", str(module)))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_a_step_runs_once_whoever_calls_it(count: int) -> None:
    provider = type("Some", (InPorted,), {"by_itself": STEPS[:count]})("kernel")
    assert calls_of_steps(provider) == ["init_cuda", "set_device"]
    call = wrap_raw([X], provider, LIBRARY)
    for device in (0, 3):
        body = DLTensor((2, 4, 3), (40, 4, 1), data=0x100, device_id=device)
        _, message = call(tensor(body)) or ("", "")
        assert message.startswith(f"kernel failed with status {10 + device} when calling")


def test_a_step_may_call_that_of_its_base_class() -> None:
    class Twice(InPorted):
        def insert_set_cuda_device(self, current_block: Block, context: CallContext) -> Block:
            b = context.builder
            current_block = super().insert_set_cuda_device(current_block, context)
            b.call("set_device", [b.i32(7)], b.types.void)
            return b.block

    assert calls_of_steps(Twice("kernel")) == ["init_cuda", "set_device", "set_device"]


def test_a_step_may_come_from_another_class() -> None:
    class Chosen:
        def insert_set_cuda_device(self, current_block: Block, context: CallContext) -> Block:
            context.builder.call("set_device", [context.builder.i32(7)], context.builder.types.void)
            return current_block

    assert calls_of_steps(type("Mixed", (Chosen, InPorted), {})("kernel")) == [
        *("init_cuda", "set_device")
    ]


@pytest.mark.parametrize("cls", [Gpu, InPorted])
def test_steps_run_for_each_branch_of_a_wrapper(cls: type[Gpu]) -> None:
    provider = cls("kernel")
    variants = [Variant(provider, when=when.value(N) > 5), Variant(provider)]
    calls = calls_of_steps(VariantsCallProvider(variants))
    assert calls == ["init_cuda", "init_cuda", "set_device", "set_device"]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_returns_no_block(step: str) -> None:
    def nothing(self: object, current_block: Block, context: CallContext) -> None:
        del self, current_block, context

    provider: Any = type("Forgetful", (DynamicParamPackCallProvider,), {step: nothing})("kernel")
    assert refused(Signature("f", [X]), provider) == (
        f"Forgetful: {step} returned None; it returns the block in which the wrapper continues"
    )


def test_a_subclass_is_called_for_each_wrapper() -> None:
    """It may emit something else each time, so that nothing of it is reused."""
    calls: list[str] = []

    class Counted(DynamicParamPackCallProvider):
        def insert_lazy_init_cuda(self, current_block: Block, context: CallContext) -> Block:
            calls.append(context.fn_name)
            return current_block

    for _ in range(4):
        attach_ffi_func(new_module(), "f", [X], Counted("callee"))
    assert calls == ["f"] * 4
