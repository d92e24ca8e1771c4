"""PackedCallProvider: what functions of the TVM-FFI C ABI are called with, and what they return."""

from __future__ import annotations

import ctypes
import struct
from typing import Any, Final

import pytest

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.ir import Block
from ffi_builder.providers import CallContext
from ffi_builder.providers import PackedCallProvider as Packed
from ffi_builder.providers.arguments import Entry
from ffi_builder.spec import EnvStream, Field, Optional, Shape, String, Struct, Tensor, Var, dims
from tests.differential.description import (
    NONE,
    DLTensor,
    Plain,
    Pointer,
    array,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.differential.description import Value as Given
from tests.support.packed import packed_callee
from tests.support.raw import byte_array, bytes_, char_pointer, moved, object_, small, str_
from tests.support.wrapping import RawWrapper, current_stream, wrap_raw

n, m = dims("n m")
i16, u8, u32 = Var("i16", "int16"), Var("u8", "uint8"), Var("u32", "uint32")
NOTHING: Final = (TypeIndex.NONE, 0, 0)
GLOBAL: Final = "ffib.tests.packed"


def matrix(name: str, *entries: spec.Dim | None, **more: Any) -> Tensor:
    return Tensor(name, entries, "float32", device_type="cpu", **more)


def packed(params: list[spec.Param], args: list[Entry] | None = None) -> RawWrapper:
    packed_callee().expect()
    return wrap_raw(params, Packed("ffib_packed", args=args))


def plain(value: Given) -> tuple[int, int, int]:
    assert isinstance(value, Plain)
    return value.type_index, value.padding, value.payload % 2**64


def an_int(value: int) -> tuple[int, int, int]:
    return TypeIndex.INT, 0, value % 2**64


# ---- args=None


def test_the_very_arguments_are_forwarded() -> None:
    x = Tensor("x", [n], "float32", device_type="cuda")
    params: list[spec.Param] = [n, EnvStream("e"), spec.ConstInt("two", 2), x]
    call, callee = packed(params), packed_callee()
    for size in (3, 4):
        given = tensor(DLTensor((size,), device_type=2))
        assert call(of_int(size), of_int(2), given) is None
        assert (callee.count, callee.handle) == (3, 0)
        assert callee.args[:2] == [an_int(size), an_int(2)]
        assert callee.args[2][:2] == (TypeIndex.TENSOR, 0)
    assert callee.calls == 2
    assert call(of_int(3), of_int(3), tensor(DLTensor((3,), device_type=2))) is not None
    assert callee.calls == 2
    none = packed([])
    assert none() is None
    assert callee.count == 0


# ---- args=[…]

AS_THEY_COME: Final[dict[str, tuple[spec.Param, Given]]] = {
    "int": (Var("a", "int8"), of_int(-128)),
    "bool for an int": (Var("a", "int32"), of_bool(True)),
    "uint64": (Var("a", "uint64"), of_int(5)),
    "bool": (Var("a", "bool"), of_bool(True)),
    "float": (Var("a", "float16"), of_float(0.1)),
    "int for a float": (Var("a", "float32"), of_int(3)),
    "handle": (Var("a", "handle"), of_pointer(2**64 - 1)),
    "None for a handle": (Var("a", "handle"), Plain(0)),
    "stream": (spec.Stream("a"), of_pointer(0x70)),
    "stream, an int": (spec.Stream("a"), of_int(0x70)),
    "pointer": (spec.DataPointer("a", address_space=1), of_pointer(0x70)),
    "small str": (String("a"), small(b"abc")),
    "str": (String("a"), str_(b"a longer one")),
    "char*": (String("a"), char_pointer(b"abc")),
    "small bytes": (spec.Bytes("a"), small(b"a\0c", TypeIndex.SMALL_BYTES)),
    "bytes": (spec.Bytes("a"), bytes_(b"\xff" * 9)),
    "byte array": (spec.Bytes("a"), byte_array(b"\0\1")),
    "choice": (spec.Choice("a", {"on": 1}), small(b"on")),
    "dtype": (spec.DType("a"), Plain(5, 0x00012002)),
    "device": (spec.Device("a"), Plain(6, 7 << 32 | 2)),
    "object": (spec.Object("a"), object_(73)),
    "function": (spec.Function("a"), object_(68)),
    "array": (spec.Array("a"), object_(71)),
    "map": (spec.Map("a"), object_(72)),
    "any": (spec.Any("a"), of_float(0.5)),
    "any, None": (spec.Any("a"), Plain(0)),
    "any, moved": (spec.Any("a"), moved(object_(73))),
    "moved": (spec.Object("a"), moved(object_(73))),
    "None": (spec.ConstNone("a"), Plain(0)),
    "constant": (spec.ConstFloat("a", 0.5), of_float(0.5)),
}


@pytest.mark.parametrize("case", AS_THEY_COME)
def test_parameters_are_copied_as_they_came(case: str) -> None:
    param, given = AS_THEY_COME[case]
    call, callee = packed([n, param], [param, "a", "n", param]), packed_callee()
    assert call(of_int(9), given) is None
    assert callee.args == [plain(given), plain(given), an_int(9), plain(given)]
    if not isinstance(param, (spec.Any, spec.ConstNone, spec.DataPointer, spec.Stream)) and not (
        isinstance(param, Var) and param.dtype == "handle"
    ):
        maybe = Optional(param)
        call = packed([n, maybe], [maybe, param, "a.present", n])
        assert call(of_int(9), given) is None
        there = (TypeIndex.BOOL, 0, 1)
        assert callee.args == [plain(given), plain(given), there, an_int(9)]
        assert call(of_int(9), NONE) is None
        assert callee.args == [NOTHING, NOTHING, (TypeIndex.BOOL, 0, 0), an_int(9)]


def test_tensors_and_shapes() -> None:
    x, y, s = matrix("x", n), matrix("y", n), Shape("s", [n, 3])
    call, callee = packed([x, y, s], ["s", y, x]), packed_callee()
    assert call(tensor(DLTensor((4,))), Pointer(DLTensor((4,))), shape(4, 3)) is None
    indices = (TypeIndex.SHAPE, TypeIndex.DL_TENSOR_PTR, TypeIndex.TENSOR)
    assert [head for head, _, _ in callee.args] == list(indices)
    data = struct.unpack("<Q", ctypes.string_at(callee.args[1][2], 8))
    assert data == (0x1000,)


def test_elements_and_whole_tuples() -> None:
    text = String("s")
    cfg = Struct("cfg", [Var("alpha", "float32"), spec.TupleParam("t", [Optional(u8), text])])
    args: list[Entry] = ["cfg.t[1]", "cfg", "cfg.alpha", "cfg.t", u8, "cfg.t[0].present", text]
    call, callee = packed([n, cfg], args), packed_callee()
    for given in (of_int(200), NONE):
        inner = array(given, small(b"abc"))
        assert call(of_int(1), array(of_float(0.25), inner)) is None
        seen = callee.args
        assert seen[0] == seen[6] == plain(small(b"abc"))
        assert seen[1][0] == seen[3][0] == TypeIndex.ARRAY
        assert seen[2] == plain(of_float(0.25))
        assert seen[4] == plain(given)
        assert seen[5] == (TypeIndex.BOOL, 0, int(given is not NONE))


def test_elements_of_absent_tuples_are_none() -> None:
    inner = [Var(f"v{i}", "int64") for i in range(20)]
    pair = Optional(spec.TupleParam("pair", [Optional(spec.TupleParam("t", inner)), String("s")]))
    args: list[Entry] = ["pair", "pair[0]", "pair[0][19]", "pair[1]", inner[0], "pair[0].present"]
    call, callee = packed([pair], args), packed_callee()
    numbers = array(*(of_int(i + 1) for i in range(20)))
    text = small(b"abc")
    assert call(array(numbers, text)) is None
    assert callee.args[2:] == [an_int(20), plain(text), an_int(1), (TypeIndex.BOOL, 0, 1)]
    assert call(array(NONE, text)) is None
    absent = (TypeIndex.BOOL, 0, 0)
    assert callee.args[1:] == [NOTHING, NOTHING, plain(text), NOTHING, absent]
    assert call(NONE) is None
    assert callee.args == [*[NOTHING] * 5, absent]


def test_elements_of_a_list_that_was_moved() -> None:
    elements = object_(71, 0, 0)
    content = struct.pack("<iiqiiq", 1, 0, 7, 1, 0, -8)
    kept = ctypes.create_string_buffer(content)
    struct.pack_into(
        "<QQ",
        (ctypes.c_char * 16).from_address(elements.payload + 24),
        0,
        ctypes.addressof(kept),
        2,
    )
    pair = spec.TupleParam("pair", [Var("a", "int64"), Var("b", "int64")])
    call, callee = packed([pair], ["pair[1]", "pair[0]", "pair"]), packed_callee()
    reference = moved(elements)
    assert call(reference) is None
    assert callee.args == [an_int(-8), an_int(7), plain(reference)]


def test_symbols_expressions_and_ints() -> None:
    dim = Var("d", "int32")
    x = matrix("x", i16, u8, u32, dim, None, strides=[n, None, None, None, None])
    args: list[Entry] = [i16, "u8", u32, "d", n, n * 2, n - 10, 7, -(2**63), dim // 2]
    call, callee = packed([x], args), packed_callee()
    sizes, strides = (32767, 255, 3_000_000_000, 9, 0), (-5, 1, 1, 1, 1)
    expected = [32767, 255, 3_000_000_000, 9, -5, -10, -15, 7, -(2**63), 4]
    # No stride of an empty tensor is looked at, so n is what stands there.
    assert call(tensor(DLTensor(sizes, strides, 0))) is None
    assert callee.args == [an_int(value) for value in expected]


def test_an_expression_that_overflows() -> None:
    call = packed([Optional(n), Optional(m)], [n * m])
    assert call(of_int(2**62), of_int(1)) is None
    error = call(of_int(2**62), of_int(2))
    assert error is not None
    assert error[1].startswith("The value of n * m does not fit int64")


def test_a_symbol_that_is_several_parameters_is_the_first_that_is_there() -> None:
    both: list[spec.Param] = [Optional(n), spec.TupleParam("t", [Optional(n)]), matrix("x", n)]
    call, callee = packed(both, [n]), packed_callee()
    x = tensor(DLTensor((1,)))
    for first, second, expected in (
        (of_bool(True), of_int(1), of_bool(True)),
        (NONE, of_bool(True), of_bool(True)),
        (of_int(1), NONE, of_int(1)),
        (NONE, NONE, NONE),
    ):
        assert call(first, array(second), x) is None
        assert callee.args == [plain(expected)]
    certain: list[spec.Param] = [Optional(n), spec.TupleParam("t", [n])]
    call = packed(certain, ["n"])
    assert call(NONE, array(of_int(6))) is None
    assert callee.args == [NOTHING]  # by its name it is that parameter
    call = packed(certain, [n])
    assert call(NONE, array(of_int(6))) is None
    assert callee.args == [an_int(6)]


@pytest.mark.parametrize("optional", [False, True])
def test_parts_of_a_tensor(optional: bool) -> None:
    tensor_ = Tensor("x", ..., ("float32", "int8"), device_type="any")
    x: spec.Param = Optional(tensor_) if optional else tensor_
    args: list[Entry] = ["x.data", "x.dltensor", "x.dtype", "x.device_type", Field(x, "device_id")]
    args += ["x.ndim", tensor_.data]
    call, callee = packed([x], args), packed_callee()
    body = DLTensor((2, 3, 4), None, 2**63 + 0x40, (0, 8, 1), 2, 5, byte_offset=2)
    for given in (tensor(body), Pointer(body)):
        assert call(given) is None
        seen = callee.args
        assert seen[0] == seen[6] == (TypeIndex.OPAQUE_PTR, 0, 2**63 + 0x42)
        assert seen[1][:2] == (TypeIndex.DL_TENSOR_PTR, 0)
        assert ctypes.c_uint64.from_address(seen[1][2]).value == 2**63 + 0x40
        assert seen[2] == (TypeIndex.DATA_TYPE, 0, 0x00010800)
        assert seen[3:6] == [an_int(2), an_int(5), an_int(3)]
    if optional:
        assert call(NONE) is None
        assert callee.args == [NOTHING] * 7


def test_the_environments_stream() -> None:
    stream = EnvStream("e")
    x = Tensor("x", [n], "float32", device_type="cuda")
    call, callee = packed([x, stream], [stream, "e"]), packed_callee()
    with current_stream(0x5678, 3):
        assert call(tensor(DLTensor((2,), device_type=2, device_id=3))) is None
    assert callee.args == [(TypeIndex.OPAQUE_PTR, 0, 0x5678)] * 2


def test_no_arguments_at_all() -> None:
    call, callee = packed([n], []), packed_callee()
    assert call(of_int(1)) is None
    assert callee.count == 0
    assert callee.address != 0


def test_asked_from_within_a_branch() -> None:
    """Values that are emitted in a branch are not used after it."""
    pair = Optional(spec.TupleParam("t", [n, m]))

    def provider(current_block: Block, context: CallContext) -> Block:
        b = context.builder
        inner = Packed("ffib_packed", args=["t[1]"])
        with b.when(context.present(pair)):
            inner(b.block, context)
        return inner(b.block, context)

    packed_callee().expect()
    call = wrap_raw([pair], provider)
    assert call(array(of_int(1), of_int(2))) is None
    assert (packed_callee().calls, packed_callee().args) == (2, [an_int(2)])
    assert call(NONE) is None
    assert (packed_callee().calls, packed_callee().args) == (3, [NOTHING])
