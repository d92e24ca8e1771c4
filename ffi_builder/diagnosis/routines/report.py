"""Writing the message of an error from its templates, and raising it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ffi_builder.diagnosis.assembler import Label, Reg
from ffi_builder.diagnosis.constants import KINDS
from ffi_builder.diagnosis.instructions import Instruction
from ffi_builder.diagnosis.program import (
    NO_INDEX_BITS,
    SHAPE,
    SLOT_ELEMENT,
    SLOT_PLACE,
    STRIDES,
    Program,
)
from ffi_builder.diagnosis.routines.strings import define_strings
from ffi_builder.diagnosis.routines.texts import define_texts
from ffi_builder.diagnosis.table import Head
from ffi_builder.plan.messages import OR_NONE, PLACEHOLDERS, SIGNATURE_LIMIT, UNDECIDED


def define_report(p: Program) -> None:
    """Assemble the functions."""
    define_texts(p)
    define_strings(p)
    p.define("put_signature", 0, _put_signature)
    p.define("put_words", 1, _put_words)
    p.define("report", 1, _report)
    p.define("undecided", 0, _undecided)


def _put_words(p: Program, template: Reg) -> None:
    """Append a template: runs of text, each followed by a placeholder, of which 0 ends it."""
    head = Label()
    p.place(head)
    length = p.unsigned(template, 8)
    text = p.add(template, 1)
    p.append(text, length)
    after = p.add(text, length)
    number = p.load(8, after)
    p.add(after, 1, template)
    bodies: list[Callable[[], None]] = [p.ret]
    bodies += [lambda name=name: _BODIES[name](p) for name in PLACEHOLDERS]
    # Templates nest, so that each placeholder's registers must be its own.
    p.cases(number, bodies, share_registers=False)
    p.jump(head)


def _inner(p: Program, template: Reg) -> None:
    """Call put_words from within itself; save its link register and position."""
    function = p.current
    link, outer = p.new(), p.new()
    p.set(link, function.link)
    p.set(outer, function.parameters[0])
    p.call(function, template)
    p.set(function.link, link)
    p.set(function.parameters[0], outer)


def _report(p: Program, words: Reg) -> None:
    rows = p.constant("words")
    row = p.add(rows, p.load(16, p.add(rows, p.shl(words, 1))))
    p.add(row, 1, p.row)
    frame = p.choose(p.parameter(), p.constant("frame"), p.constant("frame without argument"))
    p.run("put_words", frame)
    is_type = p.load(8, row)
    kind, length = p.new(), p.new()
    p.set(kind, p.constant("kinds"))
    p.set(length, len(KINDS[0]))
    with p.when(is_type):
        p.add(kind, len(KINDS[0]), kind)
        p.set(length, len(KINDS[1]))
    _raise(p, kind, length, p.start, p.sub(p.cursor, p.start))


def _raise(p: Program, kind: Reg, length: Reg, message: Reg, size: Reg) -> None:
    """Raise an error: the machine takes six registers in a row, and overwrites the next."""
    backtrace, extent = _behind_name(p), p.head(Head.BACKTRACE)
    values = (kind, length, message, size, backtrace, extent)
    row = [p.new() for _ in (*values, None)]
    for register, value in zip(row, values, strict=False):
        p.set(register, value)
    p.effect(Instruction.RAISE, row[0])


def _undecided(p: Program) -> None:
    """Report that the diagnosis found nothing wrong, although the fast path did."""
    kind = p.add(p.constant("kinds"), sum(map(len, KINDS)))
    length, size = p.register(len("RuntimeError")), p.register(len(UNDECIDED))
    _raise(p, kind, length, p.constant("undecided"), size)


# ---- placeholders


def _argument(p: Program) -> Reg:
    """Load the index of the argument, which follows the path in the PARAM record."""
    return p.unsigned(p.table_at(p.parameter()), 16, 6)


def _behind_name(p: Program) -> Reg:
    return p.add(p.table_at(p.head(Head.NAME)), p.head(Head.NAME_LENGTH))


def _put_signature(p: Program) -> None:
    own, length = p.head(Head.NAME_LENGTH), p.head(Head.LENGTH)
    p.append(p.table_at(p.head(Head.NAME)), own)
    with p.when(p.sle(p.add(own, length), SIGNATURE_LIMIT)):
        p.append(p.table_at(p.head(Head.TEXT)), length)
        p.ret()
    with p.when(p.not_(p.parameter())):
        p.put("...")
        p.put(")")
        p.ret()
    index = _argument(p)
    with p.when(index):
        p.put("..., ")
    entry = p.add(p.add(_behind_name(p), p.head(Head.BACKTRACE)), p.shl(index, 3))
    p.append(p.table_at(p.unsigned(entry, 32)), p.unsigned(entry, 32, 4))
    with p.when(p.ne(p.add(index, 1), p.head(Head.ARGUMENTS))):
        p.put(", ...")
    p.put(")")


def _expected(p: Program) -> None:
    p.run("put_value", p.expected, 0)


def _got(p: Program) -> None:
    p.run("put_value", p.value, p.big)


def _bound(p: Program) -> None:
    p.run("put_value", p.load(64, p.slot_of(p.symbol)), 0)


def _origin(p: Program) -> None:
    slot = p.slot_of(p.symbol)
    p.run("put_place", p.load(64, slot, SLOT_PLACE), p.symbol, p.load(32, slot, SLOT_ELEMENT))


def _text(p: Program) -> None:
    p.append(p.table_at(p.unsigned(p.text, 32)), p.unsigned(p.text, 16, 4))
    p.run("put_element", p.other)


def _or_none(p: Program) -> None:
    with p.when(p.optional):
        p.put(OR_NONE)


def _bindings(p: Program) -> None:
    style = p.new()
    p.set(style, p.style)
    with p.loop(p.unsigned(p.bindings, 16)) as index:
        with p.when(index):
            p.put(", ")
        entry = p.add(p.bindings, p.shl(index, 1))
        p.unsigned(entry, 16, 2, p.symbol)
        p.unsigned(p.symbol_record(p.symbol), 16, 6, p.style)
        _inner(p, p.constant("binding"))
    p.set(p.style, style)


def _path(p: Program) -> None:
    p.run("put_place", p.or_(p.parameter(), NO_INDEX_BITS), 0, p.element)


def _subject(p: Program) -> None:
    _inner(p, p.row)
    p.run("put_place", p.place_, p.symbol, p.element)


def _dtype(register: Reg) -> Callable[[Program], None]:
    return lambda p: p.run("put_dtype", register)


def _named(names: str, other: str, register: Reg) -> Callable[[Program], None]:
    return lambda p: p.run("put_name", p.constant(names), register, p.constant(other))


def _number(format_: str, value: Callable[[Program], Reg]) -> Callable[[Program], None]:
    return lambda p: p.run("put_number", p.constant(format_), value(p))


def _lowest_bit(p: Program) -> Reg:
    return p.and_(p.value, p.sub(0, p.value))


def _range(p: Program) -> None:
    """Append the range of the dtype in ``expected``, of code 0 (signed) or 1 (unsigned)."""
    bits = p.and_(p.lshr(p.expected, 8), 0xFF)
    high = p.lshr(p.register(-1), p.sub(64, bits))
    low = p.new()
    p.set(low, 0)
    with p.when(p.not_(p.and_(p.expected, 0xFF))):
        p.lshr(high, 1, high)
        p.sub(-1, high, low)
    p.run("put_number", p.constant("%lld"), low)
    p.put(" to ")
    p.run("put_number", p.constant("%llu"), high)


def _list(offset: int) -> Callable[[Program], None]:
    return lambda p: p.run("put_list", p.load(64, p.object, offset))


def _template(part: int) -> Callable[[Program], None]:
    """Append the part-th template after the prefix, which has no placeholders."""

    def body(p: Program) -> None:
        at = p.new()
        p.set(at, p.row)
        for _ in range(part):
            head = Label()
            p.place(head)
            p.add(p.add(at, p.load(8, at)), 2, at)
            # The byte before is the placeholder of the last run.
            past = Label()
            p.jump_if_zero(p.load(8, at, -1), past)
            p.jump(head)
            p.place(past)
        _inner(p, at)

    return body


_BODIES: Final[dict[str, Callable[[Program], None]]] = {
    "expected": _expected,
    "got": _got,
    "symbol": lambda p: p.run("put_symbol", p.symbol),
    "origin": _origin,
    "text": _text,
    "bindings": _bindings,
    "path": _path,
    "type": lambda p: p.run("put_type"),
    "dtype": _dtype(Program.value),
    "device": _named("devices", "device type %lld", Program.value),
    "expected_dtype": _dtype(Program.expected),
    "expected_device": _named("devices", "device type %lld", Program.expected),
    "range": _range,
    "shape": _list(SHAPE),
    "strides": _list(STRIDES),
    "address": _number("0x%llx", lambda p: p.value),
    "offset": _number("0x%llx", lambda p: p.expected),
    "alignment": _number("%llu", _lowest_bit),
    "subject": _subject,
    "argument": lambda p: p.run("put_int", _argument(p)),
    "signature": lambda p: p.run("put_signature"),
    "wanted": _template(1),
    "came": _template(2),
    "bound": _bound,
    "or_none": _or_none,
    "string": lambda p: p.run("put_string"),
    "nearest": lambda p: p.run("put_nearest"),
    "bytes": lambda p: p.run("put_addresses", p.value, p.expected),
    "other_bytes": lambda p: p.run("put_addresses", p.data, p.size),
}
"""Bodies by placeholder; :data:`ffi_builder.plan.messages.PLACEHOLDERS` numbers them."""
