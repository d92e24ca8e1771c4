r"""Reads what ``export_to_c`` of FlyDSL has written: an object with functions that launch kernels.

For each function ``int32_t add(void **args)`` the object has three more, and a constant:

    int32_t add__module_init(void), add__module_load(int32_t device), add__module_unload(void)
    const char add__metadata[] = "{\"abi\": […], \"symbol\": \"add\", …}"

``args`` has a pointer for each slot of the ABI: the data of a tensor, the sizes and strides of it
that the compiler did not know (a packed struct), a number, a pointer, or the stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final, cast

from ffi_builder import CompileError
from ffi_builder.extending import FLOAT_DTYPES, INT_RANGES, dataclass, elf

_METADATA: Final = "__metadata"
_VERSION: Final = 2
_NUMBERS: Final = frozenset({*INT_RANGES, *FLOAT_DTYPES, "bool"})
_FLOATS: Final = {"float": "float32", "double": "float64"}
_ENCODED: Final = {"float16_bits": "float16", "bfloat16_bits": "bfloat16"}
DATA, LAYOUT, SCALAR, POINTER, STREAM = (
    *("tensor_data", "tensor_layout", "scalar", "pointer", "stream"),
)
"""The kinds of slots."""


@dataclass(frozen=True)
class Slot:
    """What one pointer in ``args`` points to."""

    argument: str
    """The name of FlyDSL's argument; that of a struct's field has an underscore: ``p_x``."""
    kind: str
    dtype: str | None = None
    """Of a number."""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    """The axes whose sizes and strides are in a layout, in this order."""
    shape_bits: int = 32
    strides_bits: int = 64


@dataclass(frozen=True)
class Export:
    """A function that FlyDSL has exported."""

    symbol: str
    architecture: str
    slots: tuple[Slot, ...]

    @property
    def arguments(self) -> dict[str, Slot]:
        """The first slot of each argument, but for the stream."""
        by_argument: dict[str, Slot] = {}
        for slot in self.slots:
            if slot.kind != STREAM:
                by_argument.setdefault(slot.argument, slot)
        return by_argument

    def layout(self, argument: str) -> Slot | None:
        """Return the slot with the sizes and strides of a tensor."""
        named = (s for s in self.slots if s.argument == argument and s.kind == LAYOUT)
        return next(named, None)


def exports(data: bytes) -> dict[str, Export]:
    """Return the functions that FlyDSL has exported to an object, by name; none of another's.

    Raises:
        CompileError: the object is damaged, or of a version of FlyDSL that is not known.
    """
    file = elf.Elf(data, "object file", CompileError)
    if not file.header.is_64_little or file.header.type != elf.ET_REL:
        return {}
    return {name: _export(name, text) for name, text in _constants(file)}


def _constants(file: elf.Elf) -> Iterator[tuple[str, str]]:
    """Yield the names of the functions, with their metadata."""
    names, symbols = file.symbol_table(elf.SHT_SYMTAB)
    for name_at, info, _, number, value, size in symbols:
        name = file.text(names, name_at)
        is_constant = info & 15 == elf.STT_OBJECT and 0 < number < elf.SHN_ABS
        if is_constant and name.endswith(_METADATA):
            section = file.content(file.section(number, name))
            text = section[value : value + size].rstrip(b"\0")
            yield name.removesuffix(_METADATA), text.decode(errors="backslashreplace")


def _export(name: str, text: str) -> Export:
    what = f"wrap: the metadata of FlyDSL's function {name!r}"
    try:
        metadata = json.loads(text)
        version = metadata["schema_version"]
        if version == _VERSION:
            return Export(name, f"{metadata['arch']}", tuple(map(_slot, metadata["abi"])))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CompileError(f"{what} are damaged: {type(error).__name__}: {error}") from None
    raise CompileError(
        f"{what} have version {version!r}; expected {_VERSION}, which FlyDSL 0.5 writes"
    )


def _slot(given: Any) -> Slot:
    kind, argument, part = given["kind"], given.get("arg_name"), given.get("field")
    if kind not in (DATA, LAYOUT, SCALAR, POINTER, STREAM):
        raise ValueError(f"{kind!r} is no kind of a slot")
    name = argument if part is None else f"{argument}_{f'{part}'.replace('.', '_')}"
    ctype = f"{given['ctype']}"
    dtype = _ENCODED.get(given.get("encoding")) or _FLOATS.get(ctype, ctype)
    if kind == SCALAR and dtype not in _NUMBERS:
        raise ValueError(f"{ctype!r} is no type of a number")
    return Slot(
        f"{name or STREAM}",
        kind,
        dtype if kind == SCALAR else None,
        _axes(given, "shape"),
        _axes(given, "stride"),
        _bits(given, "shape", 32),
        _bits(given, "stride", 64),
    )


def _axes(given: Any, what: str) -> tuple[int, ...]:
    axes = cast("Sequence[Any]", given.get(f"{what}_dims", ()))
    if not all(isinstance(axis, int) and 0 <= axis < 64 for axis in axes):
        raise ValueError(f"{axes!r} are no axes")
    return tuple(axes)


def _bits(given: Any, what: str, default: int) -> int:
    bits = given.get(f"{what}_bits")
    if bits not in (None, 32, 64):
        raise ValueError(f"{what}s have {bits!r} bits")
    return bits or default
