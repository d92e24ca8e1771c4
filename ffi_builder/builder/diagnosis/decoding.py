"""Instructions that look at arguments and read their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder import abi
from ffi_builder.abi import TypeIndex
from ffi_builder.builder.diagnosis.functions import call_shared, shared_name
from ffi_builder.builder.diagnosis.machine import (
    BIG_UNSIGNED,
    PLACE_INDEX,
    PLACE_PART,
    SLOT_PLACE,
    Machine,
    Reg,
)
from ffi_builder.builder.diagnosis.table import WORDS, Op, Rounding, Source, Style
from ffi_builder.builder.diagnosis.tensors import SHAPE, STRIDES
from ffi_builder.ir import Block, Value
from ffi_builder.plan import Part, Words

_FLOAT_TYPES: Final = {Rounding.FLOAT16: "float16", Rounding.BFLOAT16: "bfloat16"}


def fail(m: Machine, condition: Value, words: Words | Value) -> None:
    """Report and return where the condition holds; go on where it does not."""
    b = m.b
    with b.when(condition):
        number = b.i64(WORDS.index(words)) if isinstance(words, Words) else words
        b.ret(call_shared(b, "report", [m.registers, number], b.types.i32))


def not_free(m: Machine) -> Value:
    """Whether checks apply to the value that was read."""
    return m.b.eq(m.get(Reg.FREE), m.b.i64(0))


def _param(m: Machine) -> None:
    """The place is the position of this record's operands in the table."""
    b = m.b
    pc = m.pointer(Reg.PC)
    position = b.sub(b.to_int(pc), m.get(Reg.TABLE))
    m.set(Reg.PLACE, b.or_(position, b.i64(0xFFFF << PLACE_INDEX)))
    m.set(Reg.PC, b.offset(pc, 8))


def _arg(m: Machine) -> None:
    b = m.b
    m.set(Reg.ANY, _any_at(m, m.pointer(Reg.ARGS), m.operand(16)))
    m.set(Reg.STYLE, b.i64(Style.INT))


def _elem(m: Machine) -> None:
    cells = m.b.field(m.b.types.ptr, m.pointer(Reg.OBJECT), abi.CELL_DATA)
    m.set(Reg.ANY, _any_at(m, cells, m.operand(16)))
    m.set(Reg.STYLE, m.b.i64(Style.INT))


def _any_at(m: Machine, anys: Value, index: Value) -> Value:
    return m.b.element(anys, m.b.mul(index, m.b.i64(abi.ANY_SIZE)))


def _any(m: Machine) -> tuple[Value, Value]:
    """The type index (i64, also kept for messages) and the payload of what is looked at."""
    b, t = m.b, m.b.types
    any_ = m.pointer(Reg.ANY)
    index = b.sext(b.load(t.i32, any_), t.i64)
    m.set(Reg.TYPE, index)
    return index, b.field(t.i64, any_, abi.ANY_PAYLOAD)


def _is(m: Machine, index: Value, *types: TypeIndex) -> Value:
    b = m.b
    found = b.eq(index, b.i64(types[0]))
    for type_index in types[1:]:
        found = b.or_(found, b.eq(index, b.i64(type_index)))
    return found


def _tensor(m: Machine) -> None:
    b, t = m.b, m.b.types
    index, payload = _any(m)
    moved = _is(m, index, TypeIndex.OBJECT_RVALUE_REF)
    kind = b.or_(moved, _is(m, index, TypeIndex.TENSOR, TypeIndex.DL_TENSOR_PTR))
    fail(m, b.eq(kind, b.i1(False)), Words.KIND_TENSOR)
    object_ = call_shared(
        b, "tensor_object", [m.pointer(Reg.ANY)], t.ptr, keeps_registers=True
    )
    # A moved object may be no tensor; NULL there is reported as NULL.
    with b.when(b.and_(moved, b.and_(b.is_null(object_), b.ne(payload, b.i64(0))))):
        inner = b.load(t.i64, b.to_pointer(payload))
        fail(m, b.ne(inner, b.i64(0)), Words.KIND_TENSOR)
    m.set(Reg.OBJECT, object_)


def _container(m: Machine) -> None:
    b = m.b
    words = m.operand(8)
    index, payload = _any(m)
    list_ = _is(m, index, TypeIndex.ARRAY, TypeIndex.LIST)
    wants_shape = b.eq(words, b.i64(WORDS.index(Words.KIND_SHAPE)))
    shape = b.and_(wants_shape, _is(m, index, TypeIndex.SHAPE))
    fail(m, b.eq(b.or_(list_, shape), b.i1(False)), words)
    m.set(Reg.OBJECT, payload)
    m.set(Reg.OBJECT_TYPE, index)


def _save(m: Machine) -> None:
    slot = m.slot(m.operand(16))
    m.b.store(m.get(Reg.OBJECT), slot)
    m.b.store(m.get(Reg.OBJECT_TYPE), m.b.offset(slot, SLOT_PLACE))


def _restore(m: Machine) -> None:
    slot = m.slot(m.operand(16))
    m.set(Reg.OBJECT, m.b.load(m.b.types.i64, slot))
    m.set(Reg.OBJECT_TYPE, m.b.field(m.b.types.i64, slot, SLOT_PLACE))


def _scalar(m: Machine) -> None:
    b, t = m.b, m.b.types
    mask, words, style = m.operand(8), m.operand(8), m.operand(8)
    index, payload = _any(m)
    m.set(Reg.FREE, b.i64(0))
    m.set(Reg.BIG, b.i64(0))
    m.set(Reg.STYLE, style)
    # Bits 0 to 4 are type indices; bit 5 stands for BigInt.
    bit = b.select(_is(m, index, TypeIndex.BIG_INT), b.i64(5), index)
    plain = b.or_(b.ult(index, b.i64(5)), b.eq(bit, b.i64(5)))
    real = b.and_(plain, b.ne(index, b.i64(5)))
    accepted = b.and_(b.lshr(mask, b.and_(bit, b.i64(7))), b.i64(1))
    fail(m, b.or_(b.eq(real, b.i1(False)), b.eq(accepted, b.i64(0))), words)
    m.set(Reg.VALUE, b.select(_is(m, index, TypeIndex.NONE), b.i64(0), payload))
    with b.when(_is(m, index, TypeIndex.BIG_INT)):
        word = b.alloca(t.i64)
        state = b.call_value(
            shared_name("big_uint64"),
            [b.to_pointer(payload), word],
            t.i32,
            {"CConv": t.attribute("#llvm.cconv<preserve_mostcc>")},
        )
        low = b.load(t.i64, word)
        m.set(Reg.VALUE, low)
        top = b.zext(b.slt(low, b.i64(0)), t.i64)
        big = b.zext(state, t.i64)
        m.set(Reg.BIG, b.select(b.eq(big, b.i64(0)), top, big))
    # An address is unsigned.
    with b.when(_is(m, index, TypeIndex.OPAQUE_PTR)):
        top = b.zext(b.slt(payload, b.i64(0)), t.i64)
        m.set(Reg.BIG, b.mul(top, b.i64(BIG_UNSIGNED)))


def _float(m: Machine) -> None:
    b, t = m.b, m.b.types
    rounding = m.operand(8)
    value = m.get(Reg.VALUE)
    is_float = b.eq(m.get(Reg.TYPE), b.i64(TypeIndex.FLOAT))
    real = b.select(is_float, b.bitcast(value, t.f64), b.cast("sitofp", value, t.f64))
    out = b.alloca(t.f64)
    b.store(real, out)
    with b.when(b.eq(rounding, b.i64(Rounding.FLOAT32))):
        single = b.cast("fptrunc", real, t.parse("f32"))
        b.store(b.cast("fpext", single, t.f64), out)
    for code, name in _FLOAT_TYPES.items():
        with b.when(b.eq(rounding, b.i64(code))):
            bits = call_shared(b, f"round_{name}", [real], t.i16, keeps_registers=True)
            b.store(widen_16(m, bits, name), out)
    m.set(Reg.VALUE, b.load(t.i64, out))
    m.set(Reg.BIG, b.i64(0))


def widen_16(m: Machine, bits: Value, name: str) -> Value:
    """The bits of a 16-bit float as a float64, by integer arithmetic."""
    b, t = m.b, m.b.types
    if name == "bfloat16":
        wide = b.shl(b.zext(bits, t.i32), b.i32(16))
        return b.cast("fpext", b.bitcast(wide, t.parse("f32")), t.f64)
    wide = b.zext(bits, t.i64)
    sign = b.shl(b.lshr(wide, b.i64(15)), b.i64(63))
    magnitude = b.and_(wide, b.i64(0x7FFF))
    # Below the first normal a float16 is so many 2^-24: 24 less in the exponent. (Not a product:
    # LLVM 24 prints float constants in a form that older ones, such as llvmlite's, do not read.)
    count = b.bitcast(b.cast("sitofp", magnitude, t.f64), t.i64)
    small = b.select(b.eq(magnitude, b.i64(0)), b.i64(0), b.sub(count, b.i64(24 << 52)))
    exponent = b.select(
        b.uge(magnitude, b.i64(0x7C00)), b.i64((0x7FF - 0x1F) << 52), b.i64((1023 - 15) << 52)
    )
    normal = b.add(b.shl(magnitude, b.i64(42)), exponent)
    chosen = b.select(b.ult(magnitude, b.i64(0x400)), small, normal)
    return b.bitcast(b.or_(chosen, sign), t.f64)


def _read(m: Machine) -> None:
    """By source; each body leaves the value, and says whether checks on it apply."""
    b = m.b
    source, index = m.operand(8), m.operand(16)
    for register in (Reg.FREE, Reg.BIG, Reg.STYLE):
        m.set(register, b.i64(0))
    printed = b.select(b.ule(source, b.i64(Source.ARGUMENTS)), source, b.i64(0))
    is_shape = b.eq(source, b.i64(Source.SHAPE_POINTER))
    printed = b.select(is_shape, b.i64(Part.SHAPE), printed)
    parameter = b.and_(m.get(Reg.PLACE), b.i64(0xFFFFFFFF))
    place = b.or_(parameter, b.shl(printed, b.i64(PLACE_PART)))
    m.set(Reg.PLACE, b.or_(place, b.shl(index, b.i64(PLACE_INDEX))))
    done = b.new_block()
    cases: dict[int, Block] = {int(item): b.new_block() for item in _SOURCES}
    b.switch(b.trunc(source, b.types.i32), done, cases)
    for item, body in _SOURCES.items():
        b.block = cases[int(item)]
        body(m, index)
        b.br(done)
    b.block = done


def _field32(offset: int) -> Callable[[Machine, Value], None]:
    def body(m: Machine, _: Value) -> None:
        b = m.b
        value = b.field(b.types.i32, m.pointer(Reg.OBJECT), abi.OBJECT_SIZE + offset)
        m.set(Reg.VALUE, b.sext(value, b.types.i64))

    return body


def _field64(offset: int) -> Callable[[Machine, Value], None]:
    def body(m: Machine, _: Value) -> None:
        m.set(Reg.VALUE, m.b.field(m.b.types.i64, m.pointer(Reg.OBJECT), offset))

    return body


def _register(register: Reg) -> Callable[[Machine, Value], None]:
    return lambda m, _: m.set(Reg.VALUE, m.get(register))


def _dim(m: Machine, index: Value) -> None:
    """An index past every axis means the shape as a whole: there is nothing to read."""
    b, t = m.b, m.b.types
    with b.when(b.ne(index, b.i64(0xFFFF))):
        shape = b.field(t.ptr, m.pointer(Reg.OBJECT), SHAPE)
        m.set(Reg.VALUE, b.load(t.i64, b.element(shape, index, "i64")))


def _stride(m: Machine, index: Value) -> None:
    b, t = m.b, m.b.types
    tensor = m.pointer(Reg.OBJECT)
    strides = b.field(t.ptr, tensor, STRIDES)
    value = call_shared(b, "row_major", [tensor, index], t.i64, keeps_registers=True)
    m.set(Reg.VALUE, value)
    with b.when(b.ne(strides, b.null())):
        m.set(Reg.VALUE, b.load(t.i64, b.element(strides, index, "i64")))
    free = call_shared(b, "free_stride", [tensor, index], t.i1, keeps_registers=True)
    m.set(Reg.FREE, b.zext(free, t.i64))


def _data(m: Machine, _: Value) -> None:
    """Checks on data do not apply to empty tensors."""
    b, t = m.b, m.b.types
    tensor = m.pointer(Reg.OBJECT)
    m.set(Reg.VALUE, b.field(t.i64, tensor, abi.OBJECT_SIZE + abi.DLTENSOR_DATA))
    empty = call_shared(b, "is_empty", [tensor], t.i1, keeps_registers=True)
    m.set(Reg.FREE, b.zext(empty, t.i64))


def _byte_offset(m: Machine, _: Value) -> None:
    b, t = m.b, m.b.types
    tensor = m.pointer(Reg.OBJECT)
    m.set(Reg.VALUE, b.field(t.i64, tensor, abi.OBJECT_SIZE + abi.DLTENSOR_DATA))
    m.set(Reg.EXPECTED, b.field(t.i64, tensor, abi.OBJECT_SIZE + abi.DLTENSOR_BYTE_OFFSET))


def _entry(m: Machine, index: Value) -> None:
    """Of a Shape an int64; of an Array or List an int or bool."""
    b, t = m.b, m.b.types
    cells = b.field(t.ptr, m.pointer(Reg.OBJECT), abi.CELL_DATA)
    done = b.new_block()
    with b.when(b.eq(m.get(Reg.OBJECT_TYPE), b.i64(TypeIndex.SHAPE))):
        m.set(Reg.VALUE, b.load(t.i64, b.element(cells, index, "i64")))
        b.br(done)
    m.set(Reg.ANY, _any_at(m, cells, index))
    type_index, payload = _any(m)
    int_like = _is(m, type_index, TypeIndex.INT, TypeIndex.BOOL)
    fail(m, b.eq(int_like, b.i1(False)), Words.KIND_INT)
    m.set(Reg.VALUE, payload)
    b.br(done)
    b.block = done


_SOURCES: Final[dict[Source, Callable[[Machine, Value], None]]] = {
    Source.NDIM: _field32(abi.DLTENSOR_NDIM),
    Source.DTYPE: _field32(abi.DLTENSOR_DTYPE),
    Source.DEVICE_TYPE: _field32(abi.DLTENSOR_DEVICE_TYPE),
    Source.DEVICE_ID: _field32(abi.DLTENSOR_DEVICE_ID),
    Source.SHAPE: _dim,
    Source.STRIDES: _stride,
    Source.BYTE_OFFSET: _byte_offset,
    Source.DATA: _data,
    Source.ENTRY: _entry,
    Source.COUNT: _register(Reg.COUNT),
    Source.ARGUMENTS: _register(Reg.ARGS),
    Source.OBJECT: _register(Reg.OBJECT),
    Source.LENGTH: _field64(abi.CELL_SIZE),
    Source.CELLS: _field64(abi.CELL_DATA),
    Source.SHAPE_POINTER: _field64(SHAPE),
}

DECODING: Final[dict[Op, Callable[[Machine], None]]] = {
    Op.PARAM: _param,
    Op.ARG: _arg,
    Op.ELEM: _elem,
    Op.TENSOR: _tensor,
    Op.CONTAINER: _container,
    Op.SAVE: _save,
    Op.RESTORE: _restore,
    Op.SCALAR: _scalar,
    Op.FLOAT: _float,
    Op.READ: _read,
}
