"""A call provider that records: what a kernel would get, each value to a slot of a buffer.

The address of the buffer is a constant of the code. Everything that a context can be asked for is
asked for.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ffi_builder import abi
from ffi_builder.ir import Block, Value
from ffi_builder.providers import CallContext
from ffi_builder.spec import Any as AnyValue
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    DataPointer,
    Device,
    Dim,
    DType,
    EnvStream,
    Field,
    Function,
    List,
    Map,
    Object,
    Param,
    Signature,
    Stream,
    String,
    Tensor,
    TensorList,
    Var,
    VarArgs,
    Variant,
    required,
    with_paths,
)
from tests.differential.memory import Memory
from tests.differential.outcome import Outcome, show
from tests.differential.signatures import symbols_of

SLOT: Final = 8
SLOTS: Final = 4096
ELEMENTS: Final = 8
"""The most elements of a list that are recorded."""
IN_ROW: Final = 3
"""The most numbers of a list in a list that are recorded."""
FORMATS: Final = {
    "bool": "?",
    **{f"int{bits}": letter for bits, letter in zip((8, 16, 32, 64), "bhiq", strict=True)},
    **{f"uint{bits}": letter for bits, letter in zip((8, 16, 32, 64), "BHIQ", strict=True)},
    "float16": "e",
    "bfloat16": "H",
    "float32": "f",
    "float64": "d",
    "handle": "Q",
}
"""How :mod:`struct` reads a value of each dtype; bfloat16 is the upper half of a float32."""

Show: TypeAlias = Callable[[bytes, Memory], str]


@dataclass(frozen=True)
class Item:
    """Some slots, and what the value in them is called and how it is shown."""

    name: str
    first: int
    count: int
    show: Show


class Recorder:
    """The provider, and the values that the last call recorded."""

    def __init__(self, signature: Signature) -> None:
        self.symbols = symbols_of(signature.params)
        self.buffer = ctypes.create_string_buffer(SLOT * SLOTS)
        self._values: list[Item] = []
        self._kernel: list[Item] = []
        self._next = 0

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit a store of every value, each into a slot of its own."""
        self._next, self._values, self._kernel = 0, [], []
        for var in self.symbols:
            value = context.matched_var_binding[var]
            self._values.append(self._item(context, var.name, [value], number(var.dtype)))
        for path, param in with_paths(context.params):
            if isinstance(param, EnvStream):
                assert context.env_stream is not None
                self._record(context, path, number("handle", hex), context.env_stream)
                continue
            present = context.present(param)
            self._record(context, f"{path} present", number("bool"), present)
            self._record_param(context, path, param)
        return context.builder.block

    def _record_param(self, context: CallContext, path: str, param: Param) -> None:
        match required(param):
            case Tensor() as tensor:
                self._record_tensor(context, path, param, tensor)
            case TensorList(tensor=tensor):
                self._record_list(context, path, param, tensor)
            case List(dtype="String" | "Bytes"):
                self._record_texts(context, path, param)
            case List(element=List() as row):
                self._record_rows(context, path, param, f"{row.dtype}")
            case List(dtype=dtype):
                self._record_numbers(context, path, param, f"{dtype}")
            case String() | Bytes():
                pointer, length = context.text(param)
                self._record(context, path, text, context.present(param), pointer, length)
            case Var(dtype=dtype) | Choice(dtype=dtype):
                self._record(context, path, number(dtype), context.scalar(param))
            case DType():
                self._record(context, path, number("int32"), context.scalar(param))
            case Device():
                self._record(context, path, device, context.scalar(param))
            case Variant(parts=parts):
                dtypes = {p: each.dtype for p, each in parts.items() if isinstance(each, Var)}
                for part, dtype in {"which": "int32", **dtypes}.items():
                    value = context.part(Field(param, part))
                    self._record(context, f"{path}.{part}", number(dtype), value)
            case AnyValue():
                b, at = context.builder, context.scalar(param)
                words = b.load(b.types.i64, at), b.field(b.types.i64, at, abi.ANY_PAYLOAD)
                self._record(context, path, words_of_any, *words)
            case VarArgs():
                length = context.list_part(param, "length")
                self._record(context, f"{path}.length", number("int64"), length)
            case Stream() | DataPointer():
                self._record(context, path, number("handle", hex), context.scalar(param))
            case Object() | Function() | Array() | Map():
                self._record(context, path, address, context.scalar(param))
            case _:
                pass

    def _record_tensor(self, context: CallContext, path: str, param: Param, tensor: Tensor) -> None:
        parts = {
            "data": (number("handle", hex), context.data(param)),
            "dltensor": (address, context.dltensor(param)),
            "ndim": (number("int32"), context.ndim(param)),
            "dtype": (number("int32"), context.dtype(param)),
            "device_type": (number("int32"), context.device_type(param)),
            "device_id": (number("int32"), context.device_id(param)),
        }
        for part, (shown, value) in parts.items():
            self._record(context, f"{path}.{part}", shown, value)
        if tensor.any_rank:
            return
        # The parameter that an Optional holds stands for the same place.
        entries = tensor.stride_entries
        for what, values, dims in (
            ("strides", context.strides, entries or (None,) * tensor.ndim),
            ("shape", context.shape, tensor.dims),
        ):
            narrow = ints([dtype_of(entry) for entry in dims])
            self._record(context, f"{path}.{what}", narrow, *values(tensor))
            wide = ints(["int64"] * len(dims))
            self._record(context, f"{path}.wide {what}", wide, *values(param, wide=True))

    def _record_list(self, context: CallContext, path: str, param: Param, tensor: Tensor) -> None:
        """Copy the arrays, as far as there is room."""
        first, count = self._record_length(context, path, param)
        for part, width in (("pointers", 1), ("shapes", tensor.ndim), ("strides", tensor.ndim)):
            start = SLOT * (self._next - first)
            shown = array(width, start, "Q" if part == "pointers" else "q")
            self._copy(context, path, param, part, (first, count, SLOT * width), shown)

    def _record_numbers(self, context: CallContext, path: str, param: Param, dtype: str) -> None:
        """Copy the numbers, as far as there is room."""
        first, count = self._record_length(context, path, param)
        size = struct.calcsize(FORMATS[dtype])
        shown = numbers(dtype, size, SLOT * (self._next - first))
        self._copy(context, path, param, "data", (first, count, size), shown)

    def _record_texts(self, context: CallContext, path: str, param: Param) -> None:
        """Copy the addresses and sizes of texts, as far as there is room."""
        first, count = self._record_length(context, path, param)
        shown = texts(SLOT * (self._next - first))
        self._copy(context, path, param, "data", (first, count, 2 * SLOT), shown)

    def _record_rows(self, context: CallContext, path: str, param: Param, dtype: str) -> None:
        """Copy the lengths and the first numbers of rows, as far as there is room."""
        b, t = context.builder, context.builder.types
        first, count = self._record_length(context, path, param)
        size = struct.calcsize(FORMATS[dtype])
        shown = rows(dtype, size, SLOT * (self._next - first))
        self._copy(context, path, param, "lengths", (first, count, SLOT), shown)
        to = b.to_pointer(b.i64(ctypes.addressof(self.buffer) + SLOT * self._next))
        pointers, lengths = (context.list_part(param, part) for part in ("pointers", "lengths"))
        with b.loop(count) as index:
            length = b.load(t.i64, b.element(lengths, index, "i64"))
            most = b.select(b.slt(length, b.i64(IN_ROW)), length, b.i64(IN_ROW))
            row = b.load(t.ptr, b.element(pointers, index, "i64"))
            at = b.element(to, b.mul(index, b.i64(IN_ROW * SLOT)))
            b.call("memcpy", [at, row, b.mul(most, b.i64(size))], t.ptr)
        self._next += ELEMENTS * IN_ROW
        self._kernel[-1] = Item(f"{path}.rows", first, self._next - first, shown)
        assert self._next <= SLOTS, "too many values"

    def _record_length(self, context: CallContext, path: str, param: Param) -> tuple[int, Value]:
        """Record the length; return its slot, and how many elements to copy."""
        b, first = context.builder, self._next
        length = context.list_part(param, "length")
        self._record(context, f"{path}.length", number("int64"), length)
        most = b.i64(ELEMENTS)
        return first, b.select(b.slt(length, most), length, most)

    def _copy(
        self,
        context: CallContext,
        path: str,
        param: Param,
        part: str,
        elements: tuple[int, Value, int],
        shown: Show,
    ) -> None:
        """Copy elements: the slot of the length, the number of elements, the bytes of each."""
        b, (first, count, size) = context.builder, elements
        b.symbols.declare("memcpy", b.types.ptr, [b.types.ptr, b.types.ptr, b.types.i64])
        to = b.to_pointer(b.i64(ctypes.addressof(self.buffer) + SLOT * self._next))
        self._next += -(-ELEMENTS * size // SLOT)
        pointer = context.list_part(param, part)
        b.call("memcpy", [to, pointer, b.mul(count, b.i64(size))], b.types.ptr)
        # The length comes with it, which says how much of it was written.
        self._kernel.append(Item(f"{path}.{part}", first, self._next - first, shown))
        assert self._next <= SLOTS, "too many values"

    def _record(self, context: CallContext, name: str, shown: Show, *values: Value) -> None:
        self._kernel.append(self._item(context, name, values, shown))

    def _item(self, context: CallContext, name: str, values: Sequence[Value], shown: Show) -> Item:
        b, first = context.builder, self._next
        for value in values:
            at = ctypes.addressof(self.buffer) + SLOT * self._next
            b.store(value, b.to_pointer(b.i64(at)))
            self._next += 1
        assert self._next <= SLOTS, "too many values"
        return Item(name, first, len(values), shown)

    def outcome(self, memory: Memory) -> Outcome:
        """Return what the last call, with arguments in this memory, recorded."""
        content = self.buffer.raw

        def read(items: Sequence[Item]) -> dict[str, str]:
            return {
                item.name: item.show(content[SLOT * item.first :][: SLOT * item.count], memory)
                for item in items
            }

        return Outcome("accepted", "", read(self._values), read(self._kernel))


def dtype_of(entry: Dim | None) -> str:
    """The type that a dimension or stride is given to a provider in."""
    return entry.dtype if isinstance(entry, Var) else "int64"


def unpack(content: bytes, dtype: str) -> int | float:
    value = struct.unpack_from(f"<{FORMATS[dtype]}", content)[0]
    if dtype == "bfloat16":
        return struct.unpack("<f", struct.pack("<I", value << 16))[0]
    return value


def number(dtype: str, shown: Callable[[int], str] | None = None) -> Show:
    """One value of that dtype."""

    def show_number(content: bytes, _: Memory) -> str:
        value = unpack(content, dtype)
        return show(value, dtype) if shown is None else shown(int(value))

    return show_number


def ints(dtypes: Sequence[str]) -> Show:
    """As many values, each of its own dtype."""

    def show_ints(content: bytes, _: Memory) -> str:
        slots = [content[SLOT * index :] for index in range(len(dtypes))]
        return str([unpack(slot, dtype) for slot, dtype in zip(slots, dtypes, strict=True)])

    return show_ints


def array(width: int, start: int, letter: str) -> Show:
    """Rows of as many numbers, that many bytes behind the number of rows."""

    def show_array(content: bytes, _: Memory) -> str:
        count = min(int(unpack(content, "int64")), ELEMENTS)
        values = struct.unpack_from(f"<{count * width}{letter}", content, start)
        return str([list(values[row * width :][:width]) for row in range(count)])

    return show_array


def numbers(dtype: str, size: int, start: int) -> Show:
    """Numbers of that dtype, that many bytes behind their number."""

    def show_numbers(content: bytes, _: Memory) -> str:
        count = min(int(unpack(content, "int64")), ELEMENTS)
        found = (unpack(content[start + size * at :], dtype) for at in range(count))
        return str([show(value, dtype) for value in found])

    return show_numbers


def rows(dtype: str, size: int, start: int) -> Show:
    """The length of each row, that many bytes behind their number, and its first numbers."""

    def show_rows(content: bytes, _: Memory) -> str:
        count = min(int(unpack(content, "int64")), ELEMENTS)
        lengths = struct.unpack_from(f"<{count}q", content, start)
        found: list[tuple[int, list[str]]] = []
        for row, length in enumerate(lengths):
            at = start + SLOT * (ELEMENTS + IN_ROW * row)
            many = range(min(length, IN_ROW))
            values = (unpack(content[at + size * each :], dtype) for each in many)
            found.append((length, [show(value, dtype) for value in values]))
        return str(found)

    return show_rows


def text(content: bytes, _: Memory) -> str:
    """Bytes, from whether they are there, pointer and length."""
    there, pointer, length = struct.unpack("<?7xQq", content)
    if not there:
        return "NULL" if (pointer, length) == (0, 0) else f"absent, but {pointer:#x}, {length}"
    return repr(ctypes.string_at(pointer, length) if length else b"")


def words_of_any(content: bytes, memory: Memory) -> str:
    head, payload = struct.unpack("<qQ", content)
    return f"{head}, {memory.name_of(payload)}"


def texts(start: int) -> Show:
    """Bytes, from addresses and sizes, that many bytes behind their number."""

    def show_texts(content: bytes, memory: Memory) -> str:
        count = min(int(unpack(content, "int64")), ELEMENTS)
        pairs = (content[start + 2 * SLOT * at :][: 2 * SLOT] for at in range(count))
        return str([text(struct.pack("<?7x", True) + pair, memory) for pair in pairs])

    return show_texts


def device(content: bytes, _: Memory) -> str:
    return str(struct.unpack("<ii", content))


def address(content: bytes, memory: Memory) -> str:
    return memory.name_of(int(unpack(content, "handle")))
