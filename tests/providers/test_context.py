"""The context of providers, and its uses."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from ffi_builder import attach_ffi_func, spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.providers import CallContext, ModuleContext
from ffi_builder.spec import Tensor, TupleParam, Var, dims
from tests.differential.description import DLTensor, array, of_bool, of_int, tensor
from tests.providers.arriving import recorded
from tests.providers.values import ERRORS
from tests.support.recording import Recording
from tests.support.wrapping import RawWrapper, current_stream, new_module, wrap

n, m = dims("n m")
flag, half = Var("flag", "bool"), Var("half", "float16")
X = Tensor("x", [n, 4, None], "float32", device_type="cuda", strides=[None, None, 1])


class Provider:
    """Calls @callee with the values that a function asks the context for."""

    def __init__(self, values: Callable[[CallContext], list[Value]]) -> None:
        self.values = values

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        b.call("callee", self.values(context), b.types.void)
        return b.block


class Checks:
    """Raises an error of its own where the argument is not 0."""

    def __init__(self, kind: str, words: str, shown: int) -> None:
        self.kind, self.words, self.shown = kind, words, shown

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        values = list(context.matched_var_binding.values())
        first = values[0]
        zero = b.constant({"i8": 8, "i64": 64, "i1": 1}[str(first.type)], 0)
        b.check(b.eq(first, zero), self.kind, self.words, *values[: self.shown])
        return b.block


def asked(
    params: Sequence[spec.Param], types: str, values: Callable[[CallContext], list[Value]]
) -> tuple[RawWrapper, Recording]:
    """A wrapper that passes these values to a callee of these types."""
    return recorded(params, types, Provider(values))


def test_values_of_tensors() -> None:
    def values(context: CallContext) -> list[Value]:
        assert context.params[1] is X
        found = [context.data(X), *context.shape(X), *context.strides(X), context.device_id(X)]
        expressions = [context.value(dim) for dim in (n, n * 3 + 1, 12)]
        return [*found, *expressions, context.matched_var_binding[n]]

    call, recording = asked([n, X], "ptr i64 i64 i64 i64 i64 i64 i32 i64 i64 i64 i64", values)
    body = DLTensor((2, 4, 5), (40, 9, 1), 0x100, device_type=2, device_id=6, byte_offset=4)
    assert call(of_int(2), tensor(body)) is None
    assert recording.values == [0x104, 2, 4, 5, 40, 9, 1, 6, 2, 7, 12, 2]


def test_parts_of_parameters_are_found_by_the_binding() -> None:
    device = Var("device", "int32")
    x = Tensor("x", [n], "float32", device_type="cuda", device_id=device)

    def values(context: CallContext) -> list[Value]:
        binding = context.matched_var_binding
        assert list(binding) == [device, n]
        assert x.data not in list(binding)
        assert isinstance(x.device_id, Var)
        fields = [binding[spec.Field(x, part)] for part in ("device_id", "ndim")]
        return [binding[x.data], binding[x.device_id], *fields]

    call, recording = asked([x], "ptr i32 i32 i32", values)
    body = DLTensor((2,), data=0x100, device_type=2, device_id=6, byte_offset=4)
    assert call(tensor(body)) is None
    assert recording.values == [0x104, 6, 6, 1]


def test_what_the_binding_does_not_have() -> None:
    x = Tensor("x", [n], "float32", device_type="cuda")
    lost: list[str] = []

    def values(context: CallContext) -> list[Value]:
        binding: Any = context.matched_var_binding
        assert binding.get(m) is None
        for key in (m, x.device_id, 3):
            with pytest.raises(KeyError) as raised:
                binding[key]
            lost.append(str(raised.value.args[0]))
        return []

    asked([x], "", values)
    words = "which is not a symbol; context.device_id(x) has a device id"
    assert lost == [str(m), f"None, {words}", f"3, {words}"]


class OneAtATime(Provider):
    """Asks for a stride in a branch that is not gone through, and again behind it."""

    one_at_a_time = True

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        with b.when(b.eq(context.value(n), b.i64(-1))):
            b.store(self.values(context)[-1], b.alloca(b.types.i64))
        return super().__call__(b.block, context)


@pytest.mark.parametrize("given", [None, (12, -3)])
def test_strides_that_are_read_when_they_are_asked_for(given: tuple[int, int] | None) -> None:
    s, small = Var("s", "int64"), Var("small", "int32")
    x = Tensor("x", [n, 4], "float32", device_type="cpu", strides=[s, small])

    def values(context: CallContext) -> list[Value]:
        both = context.matched_var_binding
        assert list(both) == [n, s, small]
        assert repr(both) == "<the values of n, s, small>"
        assert len(both) == 3
        assert m not in both
        return [context.value(small), context.value(s - n), *context.strides(x, wide=True), both[s]]

    call, recording = recorded([x], "i32 i64 i64 i64 i64", OneAtATime(values))
    assert call(tensor(DLTensor((2, 4), given))) is None
    first, second = given or (4, 1)
    assert recording.values == [second, first - 2, first, second, first]


def test_wide_dimensions_and_strides() -> None:
    u, i = Var("u", "uint8"), Var("i", "int16")
    x = Tensor("x", [u, None], "float32", device_type="cpu", strides=[i, 1])

    def values(context: CallContext) -> list[Value]:
        wide = [*context.shape(x, wide=True), *context.strides(x, wide=True)]
        return [*context.shape(x), *context.strides(x), *wide]

    call, recording = asked([x], "i8 i64 i16 i64 i64 i64 i64 i64", values)
    assert call(tensor(DLTensor((200, 3), (-5, 1)))) is None
    assert recording.values == [200 - 256, 3, -5, 1, 200, 3, -5, 1]


@pytest.mark.parametrize(("given", "right"), [(None, 1), ((3, 1), 1), ((4, 1), 0), ((1, 2), 0)])
def test_whether_a_tensor_is_contiguous(given: tuple[int, int] | None, right: int) -> None:
    x = Tensor("x", [n, m], "float32", device_type="cpu", strides="any")
    call, recording = asked([x], "i1", lambda context: [context.is_contiguous(x)])
    assert call(tensor(DLTensor((2, 3), given))) is None
    assert recording.values == [right]


def test_tensors_are_found_by_value_and_in_tuples() -> None:
    same, other = (Tensor("y", [m], "int8", device_type="cpu") for _ in range(2))
    call, recording = asked(
        [TupleParam("t", [other]), m],
        "ptr i64",
        lambda context: [context.data(same), *context.strides(same)],
    )
    body = DLTensor((3,), data=0x40, dtype=(0, 8, 1))
    assert call(array(tensor(body)), of_int(3)) is None
    assert recording.values == [0x40, 1]


def test_the_raw_arguments() -> None:
    def values(context: CallContext) -> list[Value]:
        assert context.fn_name == "f"
        assert context.env_stream is None
        b = context.builder
        payload = b.field(b.types.i64, context.raw_args, 8)
        return [payload, context.raw_num_args]

    call, recording = asked([n, flag], "i64 i32", values)
    assert call(of_int(-9), of_bool(True)) is None
    assert recording.values == [-9, 2]


def test_the_environments_stream() -> None:
    def values(context: CallContext) -> list[Value]:
        assert context.env_stream is not None
        assert context.scalar(spec.EnvStream("s")) is context.env_stream
        return [context.env_stream]

    y = Tensor("y", [], "float32", device_type="cuda")
    call, recording = asked([y, spec.EnvStream("s")], "ptr", values)
    with current_stream(0x5678, 3):
        assert call(tensor(DLTensor((), device_type=2, device_id=3))) is None
    assert recording.values == [0x5678]


def test_a_result_of_the_providers_own() -> None:
    class Returns:
        def __call__(self, current_block: Block, context: CallContext) -> Block:
            b = context.builder
            b.store(b.i32(1), context.raw_result)
            b.store(context.value(n * 2), b.offset(context.raw_result, 8))
            return b.block

    assert wrap([n], Returns())(21) == 42


@pytest.mark.parametrize(
    ("param", "words", "shown", "given", "message"),
    [
        (n, "100% of {}", 1, -5, "100% of -5"),
        (n, "{} and {}", 2, 2**62, "4611686018427387904 and 7"),
        (Var("n", "int8"), "{}", 1, -128, "-128"),
        (n, "%s%d %n", 0, 1, "%s%d %n"),
        (n, "Ünïcode {}", 1, -(2**63), "Ünïcode -9223372036854775808"),
    ],
)
def test_checks_show_values(param: Var, words: str, shown: int, given: int, message: str) -> None:
    call = wrap([param, m], Checks("ValueError", words, shown))
    assert call(0, 7) is None
    with pytest.raises(ValueError, match="when calling") as raised:
        call(given, 7)
    text = f"{message} when calling: `f(n: {param.dtype}, m: int64)`"
    assert str(raised.value) == text


@pytest.mark.parametrize("kind", ERRORS)
def test_checks_raise_every_kind(kind: type[Exception]) -> None:
    with pytest.raises(kind, match="mine"):
        wrap([n], Checks(kind.__name__, "mine", 0))(1)


class Fails:
    """Raises an error that shows a text of the callee, where the argument is not 0."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        status = context.value(n)
        with b.when(b.ne(status, b.i64(0)), cold=True):
            text = b.text_constant(self.text + b"\0")
            b.fail("ValueError", "{}%: {} ({})", text, status, text)
        return b.block


@pytest.mark.parametrize("text", [b"", b"cudaErrorInvalidValue", b"100%s", b"x" * 64, b"x" * 65])
def test_errors_show_c_strings(text: bytes) -> None:
    call = wrap([n, spec.Choice("c", {"{}": 1})], Fails(text))
    assert call(0, "{}") is None
    with pytest.raises(ValueError, match="when calling") as raised:
        call(-3, "{}")
    shown = text[:64].decode()
    assert str(raised.value) == (
        f"{shown}%: -3 ({shown}) when calling: `f(n: int64, c: Choice({{'{{}}': 1}}))`"
    )


def test_a_long_signature_is_not_shown_whole() -> None:
    params = [n, Var("a" * 500, "int8")]
    with pytest.raises(ValueError, match="no") as raised:
        wrap(params, Checks("ValueError", "no", 0))(1, 1)
    assert str(raised.value) == "no when calling: `f(...)`"


def test_what_is_no_parameter() -> None:
    x, z = (Tensor(name, [n], "float32", device_type="cpu") for name in "xz")
    asked: list[Callable[[CallContext], list[Value]]] = [
        lambda context: [context.data(z)],
        lambda context: context.strides(x),
        lambda context: [context.scalar(spec.Stream("z"))],
    ]
    for ask in asked:
        with pytest.raises(BuildError, match="is not a parameter of this signature"):
            attach_ffi_func(new_module(), "f", [n, X], Provider(ask))


def test_prepare_comes_first_and_sees_the_signature() -> None:
    seen: list[str] = []

    class Prepared:
        def prepare(self, context: ModuleContext) -> None:
            t = context.symbols.types
            seen.append(f"{context.signature} in {type(context.module).__name__}")
            context.symbols.constant("table", struct.pack("<2q", 11, 22), align=8)
            context.symbols.declare("callee", t.void, [t.i64])

        def __call__(self, current_block: Block, context: CallContext) -> Block:
            b = context.builder
            at = b.element(b.address_of("table"), context.value(n), "i64")
            b.call("callee", [b.load(b.types.i64, at)], b.types.void)
            return b.block

    call, recording = recorded([n], "i64", Prepared())
    assert seen == ["f(n: int64) in Module"]
    assert call(of_int(1)) is None
    assert recording.values == [22]


def test_branches_of_the_providers_own() -> None:
    class Branches:
        """Calls only where n is positive, and evaluates an expression only there."""

        def __call__(self, current_block: Block, context: CallContext) -> Block:
            b = context.builder
            with b.when(b.sgt(context.value(n), b.i64(0))):
                b.call("callee", [context.value(n * 2)], b.types.void)
            return b.block

    call, recording = recorded([n], "i64", Branches())
    assert call(of_int(-(2**63))) is None
    assert recording.read(0, 0) == b""
    assert call(of_int(4)) is None
    assert recording.values == [8]
    error = call(of_int(2**62))
    assert error is not None
    assert error[1].startswith("The value of n * 2 does not fit int64")
