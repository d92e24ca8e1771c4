"""Structs of C in memory: ``{"size": "n", "data": "x.data"}`` and ``"&cfg"`` in ``args=``.

Without a header, a struct has the fields of the dict, in this order, each at its natural alignment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Value
from ffi_builder.ir.builder import call_extern
from ffi_builder.providers.by_address import check_fits, dtype_of, split_field, stored
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.items import (
    Address,
    CField,
    Constant,
    CStruct,
    Entry,
    Item,
    ResultPointer,
)
from ffi_builder.spec.composite import elements
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.results import HandedOver
from ffi_builder.spec.tensors.tensor import Data
from ffi_builder.suggest import did_you_mean

_WORD: Final = 8
_ALIGN: Final = 16
"""The bytes to which structs are aligned, which is the most of a type of C without attributes."""
_STORED: Final = 256
"""The most bytes that are set to 0 by stores."""
_POINTERS: Final = (
    *(Data, Address, ResultPointer, CStruct),
    *(spec.Tensor, spec.Object, spec.Function, spec.Array, spec.Map),
)
"""Items that are one pointer, beside parts and constants."""


def struct_of(
    where: str,
    given: CStruct | Mapping[str, Entry],
    resolve: Callable[[Entry], Item],
    results: Sequence[HandedOver],
) -> CStruct:
    """Return a struct of which each field has an item.

    Args:
        where: the words that errors begin with.
        given: the fields and what they get; of a dict, they get a dtype and an offset each.
        resolve: returns the item of an entry.
        results: those that the callee may write.

    Raises:
        BuildError: a field is not one number or pointer, or of another dtype; no such result.
    """
    if isinstance(given, CStruct):
        fields = [_field(where, each, resolve, results) for each in given.fields]
        whole = given.whole if given.whole is None else resolve(given.whole)
        return replace(given, fields=tuple(fields), whole=whole)
    if not given:
        raise BuildError(f"{where}, a struct without fields; write {{'field': entry, …}}")
    fields = [CField(f"{name}", entry, "", 0) for name, entry in given.items()]
    return _laid_out([_field(where, each, resolve, results) for each in fields])


def struct_at(where: str, param: spec.Param, path: str) -> CStruct:
    """Return the struct that ``"&cfg"`` passes: the elements of a parameter, in order.

    Raises:
        BuildError: an element is not one number or pointer.
    """
    fields = list[CField]()
    for name, element in elements(param, path):
        dtype = _dtype_of(element)
        if dtype is None:
            raise BuildError(
                f"{where}, but {name} is not one number or pointer: pass a dict with an entry for "
                f"each field, as in {{{name.removeprefix(path).strip('.[]')!r}: …}}"
            )
        fields.append(CField(name, element, dtype, 0))
    return replace(_laid_out(fields), whole=param if isinstance(param, spec.Optional) else None)


def struct_pointer(
    context: CallContext, struct: CStruct, value_of: Callable[[CField], Value]
) -> Value:
    """Write a struct to the stack, note where the callee writes results, return the address."""
    b = context.builder
    words = -(-struct.size // _WORD)
    type_ = b.types.array(words, b.types.i64)
    place = b.alloca(type_, align=_ALIGN)
    written = {at + field.offset for field in struct.fields for at in range(_size(field.dtype))}
    if len(written) < struct.size:
        if struct.size <= _STORED:
            b.store(b.zero(type_), place)
        else:
            call_extern(b, "memset", [place, b.i32(0), b.i64(_WORD * words)], b.types.ptr)
    for field in struct.fields:
        value, at = value_of(field), b.offset(place, field.offset)
        b.store(stored(b, value), at)
        if isinstance(field.result, spec.Var):
            context.places[field.result.name] = at
    if struct.whole is None or isinstance(struct.whole, str):
        return place
    return b.select(context.present(struct.whole), place, b.null())


def items_in(item: object) -> Iterator[object]:
    """Yield what the fields of a struct get, those in its structs too; any other item itself."""
    if isinstance(item, CStruct):
        for field in item.fields:
            yield from items_in(field.item)
    else:
        yield item


def _field(
    where: str, field: CField, resolve: Callable[[Entry], Item], results: Sequence[HandedOver]
) -> CField:
    what = f"{where}: field {field.name!r}"
    entry: Any = field.item
    value, dtype, name = split_field(what, entry)
    name, dtype = name or field.result, field.dtype or dtype
    scalars = [each for each in results if isinstance(each, spec.Var)]
    result = next((each for each in scalars if each.name == name), None)
    if name is not None:
        if result is None:
            known = [each.name for each in scalars]
            raise BuildError(
                f"{what}: no number or handle {name!r} is a result; results that are written to a "
                f"field are {', '.join(known) or 'none'}{did_you_mean(f'{name}', known)}"
            )
        dtype = result.dtype
        if value is None:
            value = None if dtype == "handle" else 0.0 if "float" in dtype else 0
    item = Constant(value) if isinstance(value, float) else resolve(value)
    own = _dtype_of(item)
    if own is None:
        plain = item.param if isinstance(item, spec.Optional) else item
        text = isinstance(plain, (spec.String, spec.Bytes))
        cure = f": write '{value}.c_str', '{value}.data' or '{value}.length'" if text else ""
        raise BuildError(f"{what} gets {value!r}, which is not one number or pointer{cure}")
    raw: object = item.value if isinstance(item, Constant) else item
    check_fits(what, f"{value}", raw, own, dtype or own)
    return replace(field, item=item, dtype=dtype or own, result=result)


def _dtype_of(item: object) -> str | None:
    """Return the dtype of one value, ``handle`` for a pointer; None for anything else."""
    raw: object = item.value if isinstance(item, Constant) else item
    if raw is None or isinstance(raw, bytes):
        return "handle"
    plain = raw.param if isinstance(raw, spec.Optional) else raw
    if isinstance(plain, _POINTERS) or (isinstance(raw, spec.Field) and dtype_of(raw) is None):
        return "handle"
    return dtype_of(raw)


def _size(dtype: str) -> int:
    return _WORD if dtype == "handle" else parse_dtype(dtype).total_bits // 8


def _laid_out(fields: Sequence[CField]) -> CStruct:
    """Return a struct of fields with natural alignment, which is their size."""
    end, align, placed = 0, 1, list[CField]()
    for field in fields:
        size = _size(field.dtype)
        offset = -(-end // size) * size
        end, align = offset + size, max(align, size)
        placed.append(replace(field, offset=offset))
    return CStruct(tuple(placed), -(-end // align) * align)
