"""Entries of ``args=``, and the C arguments that the ready-made providers pass for them.

An entry is a parameter, a part of a parameter, a symbol, an expression, a constant, a result, the
address of a copy of one value, or a struct.
Providers differ in how they pass tensors, but pass all other entries alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias, cast

from ffi_builder import spec
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.ir import Value
from ffi_builder.ir.builder import Builder
from ffi_builder.providers.by_address import (
    address_of,
    check_fits,
    dtype_of,
    extended,
    split_address,
    split_field,
)
from ffi_builder.providers.context import CallContext, path_of
from ffi_builder.providers.items import (
    Address,
    CField,
    Constant,
    Converted,
    CStruct,
    Entry,
    Item,
    ResultPointer,
    owner,
)
from ffi_builder.providers.results import result_pointer, value_results
from ffi_builder.providers.structs import items_in, struct_at, struct_of, struct_pointer
from ffi_builder.records import dataclass
from ffi_builder.spec.composite import elements, parts_of
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.numbers import FLOAT_DTYPES, INT_RANGES
from ffi_builder.spec.places import symbols_of_elements
from ffi_builder.spec.results import HandedOver
from ffi_builder.spec.tensors.tensor import Data
from ffi_builder.suggest import did_you_mean

NARROW: Final = {
    **dict.fromkeys(("int8", "int16"), "llvm.signext"),
    **dict.fromkeys(("uint8", "uint16", "bool"), "llvm.zeroext"),
}
"""Attributes of integers narrower than a C int: callers extend these integers."""


@dataclass(frozen=True)
class Argument:
    """One argument of a callee.

    ``extension`` is an LLVM parameter attribute, or empty. Errors show ``name``, or else the items
    ``of`` which the argument is made.
    """

    value: Value
    extension: str = ""
    name: str = ""
    of: tuple[Item, ...] = ()


Convert: TypeAlias = "Callable[[CallContext, Item], list[Argument]]"
"""Returns the arguments that a provider passes for one item."""


def convert_items(
    provider: str, args: Sequence[Entry] | None, context: CallContext, convert: Convert
) -> list[Argument]:
    """Convert ``args=``, or every parameter; each argument notes the items that it is made of.

    Raises:
        BuildError: if the signature does not have an entry of ``args=``.
    """
    arguments: list[Argument] = []
    for item in items(provider, args, context):
        of = (item,)
        arguments += [replace(argument, of=of) for argument in convert(context, item)]
    return arguments


def c_arguments(
    context: CallContext,
    item: Item,
    convert_tensor: Callable[[CallContext, spec.Tensor], list[Value]],
) -> list[Argument]:
    """Return the C arguments of an item; ``convert_tensor`` returns those of a Tensor."""
    match plain(item):
        case spec.Tensor() as tensor:
            return [Argument(value) for value in convert_tensor(context, tensor)]
        case spec.Shape() as shape:
            return shape_arguments(context, shape)
        case spec.TensorList() | spec.List() | spec.Map(key=str()) | spec.VarArgs() as items:
            return [Argument(value) for value in list_values(context, items)]
        case _:
            return scalar_arguments(context, item)


def scalar_arguments(context: CallContext, item: Item) -> list[Argument]:
    """Return the C argument of any item but a Tensor or Shape.

    They are two for a String or Bytes, and for a struct by value as many as the registers it takes.
    """
    if isinstance(item, CStruct) and item.pieces:
        b, place = context.builder, scalar_argument(context, item).value
        return [Argument(b.field(b.types.parse(t), place, at)) for at, t in item.pieces]
    if isinstance(plain(item), (spec.String, spec.Bytes)):
        assert isinstance(item, (spec.String, spec.Bytes, spec.Optional))
        return [Argument(value) for value in context.text(item)]
    return [scalar_argument(context, item)]


def scalar_argument(context: CallContext, item: Item) -> Argument:
    """Return the C argument of a number, pointer, dtype, device, object or part."""
    match plain(item):
        case Data() as data:
            return Argument(context.matched_var_binding[data])
        case spec.Field(param=param, part="present"):
            return Argument(context.present(param), NARROW["bool"])
        case spec.Field() as field:
            return Argument(context.part(field), NARROW.get(dtype_of(field) or field.dtype, ""))
        case spec.Var() as var:
            return Argument(context.value(var), NARROW.get(var.dtype, ""))
        case int() | Expr() as value:
            return Argument(context.value(value))
        case ResultPointer(result=result, start=start):
            first = None if start is None else scalar_argument(context, start).value
            return Argument(result_pointer(context, result, first))
        case Converted(item=of, dtype=dtype):
            return Argument(_converted(context, of, dtype), NARROW.get(dtype, ""))
        case Address(item=of):
            b, there = context.builder, present(context, of)
            place = address_of(context, scalar_argument(context, of).value)
            return Argument(place if there is None else b.select(there, place, b.null()))
        case CStruct() as struct:
            place = struct_pointer(context, struct, partial(_in_field, context))
            return Argument(place, struct.attribute)
        case Constant() as constant:
            return Argument(constant.emit(context, "f64"))
        case spec.Choice(dtype=dtype) as choice:
            return Argument(context.scalar(choice), NARROW.get(dtype, ""))
        case param:
            return Argument(context.scalar(param))


def _converted(context: CallContext, item: Item, dtype: str) -> Value:
    """Return one value as a dtype: an integer has to fit, a float is rounded as C rounds it."""
    b, own = context.builder, dtype_of(item)
    if isinstance(item, Constant):
        return item.emit(context, b.types.text(b.types.scalar(dtype)))
    if isinstance(item, int) and dtype not in FLOAT_DTYPES:
        return b.constant(1 if dtype == "bool" else parse_dtype(dtype).bits, item)
    if own in (None, dtype):
        return scalar_argument(context, item).value
    if own in FLOAT_DTYPES:
        cast_ = "fptrunc" if dtype == "float32" else "fpext"
        return b.cast(cast_, scalar_argument(context, item).value, b.types.scalar(dtype))
    signed, number = own != "uint64", widened(context, item)
    if dtype in FLOAT_DTYPES:
        return b.cast("sitofp" if signed else "uitofp", number, b.types.scalar(dtype))
    # Errors show an i64 as a signed number.
    what = f"{shown(context, item)} is {'{}' if signed else 'too large'}, but {dtype} is passed"
    return narrowed(context, number, dtype, what, signed=signed)


def data_of(context: CallContext, tensor: spec.Tensor) -> Value:
    """Return the pointer that C gets for a tensor: its data, or the ``DLTensor*`` of any rank."""
    return context.dltensor(tensor) if tensor.any_rank else context.data(tensor)


def _in_field(context: CallContext, field: CField) -> Value:
    """Return the value of a field of a struct."""
    item: Any = field.item
    tensor = plain(item)
    if isinstance(tensor, spec.Tensor):
        return data_of(context, tensor)
    return _converted(context, item, field.dtype)


def narrowed(
    context: CallContext, number: Value, dtype: str, words: str, *, signed: bool = True
) -> Value:
    """Emit a check that an i64 is in the range of an integer dtype, and give it that type."""
    b, (low, high) = context.builder, INT_RANGES[dtype]
    fits = in_range(b, number, low, high, signed=signed)
    if fits is not None:
        values = [number] if signed else []
        b.check(fits, "ValueError", f"{words}, which holds {low} to {high}", *values)
    return number if dtype in ("int64", "uint64") else b.trunc(number, b.types.scalar(dtype))


def list_values(
    context: CallContext, items: spec.TensorList | spec.List | spec.Map | spec.VarArgs
) -> list[Value]:
    """Return the pointers of a list, Map or VarArgs, and the number of its elements."""
    return [context.list_part(items, part) for part in parts_of(items) if part != "c_str"]


def shape_arguments(context: CallContext, shape: spec.Shape) -> list[Argument]:
    """Return the entries of a Shape that are not ints; expressions are i64."""
    return [
        Argument(value, NARROW.get(entry.dtype, "") if isinstance(entry, spec.Var) else "")
        for entry, value in zip(shape.shape, context.entries(shape), strict=True)
        if not isinstance(entry, int)
    ]


def dynamic(entries: Sequence[spec.Dim | None], values: Sequence[Value]) -> list[Value]:
    """Return the values of the entries that are not ints."""
    known = zip(entries, values, strict=True)
    return [value for entry, value in known if not isinstance(entry, int)]


def widened(context: CallContext, item: Item) -> Value:
    """Extend an integer or bool to i64; the bits of a uint64 are kept."""
    value = scalar_argument(context, item).value
    return extended(context.builder, value, f"{dtype_of(item)}")


def in_range(b: Builder, value: Value, low: int, high: int, *, signed: bool) -> Value | None:
    """Compare an i64 with a range; return an i1, or None if every i64 is in the range."""
    inside: Value | None = None
    if low > -(2**63) and (signed or low > 0):
        inside = b.sge(value, b.i64(low)) if signed else b.uge(value, b.i64(low))
    if high < (2**63 - 1 if signed else 2**64 - 1):
        below = b.sle(value, b.i64(high)) if signed else b.ule(value, b.i64(high))
        inside = below if inside is None else b.and_(inside, below)
    return inside


_WHOLE: Final = (Data, spec.Field, int, Expr, ResultPointer, Converted, Address, Constant, CStruct)
"""Items that are no parameters."""
_NAME_ONE: Final = "write the name of one that is passed so"
CONSTANTS: Final = (spec.ConstNone, spec.ConstInt, spec.ConstBool, spec.ConstFloat)


def items(provider: str, args: Sequence[Entry] | None, context: CallContext) -> list[Item]:
    """Return ``args=``, or every parameter in order, with tuples flattened and constants left out.

    Result tensors that ``args=`` does not contain follow.

    Raises:
        BuildError: if the signature does not have an entry of ``args=``.
    """
    if args is None:
        return with_result_tensors(context, list(_flat(context.params)))
    named = entries(provider, args, context, pointers=True)
    return with_result_tensors(context, [item for entry in named for item in flat_item(entry)])


def with_result_tensors(context: CallContext, found: list[Item]) -> list[Item]:
    """Return the items, then each result tensor of which they contain nothing, not even a part."""
    owners = [owner(inner) for item in found for inner in items_in(item)]
    return [
        *found,
        *(tensor for tensor in context.signature.result_tensors if tensor not in owners),
    ]


def entries(
    provider: str, args: Sequence[Entry], context: CallContext, *, pointers: bool = False
) -> list[Item]:
    """Return the items of ``args=``, with tuples and constants as they are.

    ``pointers`` says whether the provider passes pointers to results.

    Raises:
        BuildError: if the signature does not have an entry of ``args``.
    """
    if isinstance(args, str) or not isinstance(args, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BuildError(f"{provider}: args= is {args!r}; expected a list, such as [{args!r}]")
    every = list(spec.with_paths(context.passed))
    known = [param for _, param in every]
    known += [param.param for param in known if isinstance(param, spec.Optional)]
    symbols = {var.name: var for var in context.matched_var_binding}
    results = value_results(context)
    look_up = partial(_named, provider, context, dict(every), symbols)
    resolved: list[Item] = []
    for given in args:
        where = f"{provider}: args= has {given!r}"
        if given is None or isinstance(given, (float, bytes)):
            _check_c(f"{where}, a constant", pointers=pointers)
            resolved.append(Constant(given))
            continue
        if isinstance(given, (CStruct, Mapping)):
            _check_c(f"{where}, an address in memory of the host", pointers=pointers)
            resolved.append(_struct(provider, context, where, given))
            continue
        address = split_address(where, given)
        if address is not None:
            _check_c(f"{where}, an address in memory of the host", pointers=pointers)
            resolved.append(_by_address(where, *address, look_up, results))
            continue
        value, dtype, _ = split_field(where, given) if f"{given}".endswith(")") else (0, None, None)
        if dtype is not None:
            resolved.append(_number(where, value, dtype, look_up))
            continue
        result = next((r for r in results if given in (r, r.name)), None)
        if result is not None:
            resolved.append(_pointer(provider, result, pointers=pointers))
            continue
        entry = look_up(given) if isinstance(given, str) else given
        param = owner(entry)
        equal = [item for item in known if type(item) is type(param) and item == param]
        if equal and isinstance(entry, (spec.TupleParam, spec.Struct, spec.Variant, spec.Optional)):
            resolved.append(equal[0] if len(equal) == 1 else entry)
        elif equal and _has_references(param):
            resolved.append(_of(entry, equal[0]))
        elif _is_dim(param) or equal:
            resolved.append(entry)
        else:
            names = ", ".join(item.name for item in context.passed)
            raise BuildError(
                f"{provider}: args= has {entry!r}, which is not a parameter of "
                f"{context.fn_name!r}; it has {names or 'none'}"
            )
    return resolved


def _struct(
    provider: str, context: CallContext, where: str, given: CStruct | Mapping[str, Entry]
) -> CStruct:
    def resolve(entry: Entry) -> Item:
        [item] = entries(provider, [entry], context, pointers=True)
        return item

    return struct_of(where, given, resolve, value_results(context))


def returned_struct(provider: str, context: CallContext, struct: CStruct) -> tuple[Value, CStruct]:
    """Return memory for a struct that the callee returns, of which fields are results."""
    resolved = _struct(provider, context, f"{provider}: returns=", struct)
    return scalar_argument(context, replace(resolved, pieces=(), attribute="")).value, resolved


def _check_c(what: str, *, pointers: bool) -> None:
    """Raise BuildError for what only C has, unless the provider passes pointers as C does."""
    if not pointers:
        raise BuildError(f"{what}; only providers of C arguments pass those")


def _pointer(provider: str, result: HandedOver, *, pointers: bool) -> ResultPointer:
    if not pointers:
        shown = spec.outline(result)
        cure = f"; write '-> {result.name}: Tensor([], {shown})' if the kernel writes it to memory"
        raise BuildError(
            f"{provider}: args= has {result.name!r}, which is a result: only results that are "
            f"tensors are passed{cure if isinstance(result, spec.Var) else ''}"
        )
    return ResultPointer(result)


def _by_address(
    where: str,
    value: str | float,
    dtype: str | None,
    name: str | None,
    look_up: Callable[[str], Item],
    results: Sequence[HandedOver],
) -> Address | ResultPointer | CStruct:
    """Return what ``&n``, ``&int32(n * 2)``, ``&cfg`` or ``&n -> written`` passes."""
    result = next((each for each in results if each.name == name), None)
    if name is not None:
        if not isinstance(result, spec.Var):
            known = [each.name for each in results if isinstance(each, spec.Var)]
            raise BuildError(
                f"{where}, but no number or handle {name!r} is a result; results that are "
                f"written by address are {', '.join(known) or 'none'}{did_you_mean(name, known)}"
            )
        dtype = result.dtype
    item = look_up(value) if isinstance(value, str) else value
    if not isinstance(item, float) and isinstance(plain(item), (spec.Struct, spec.TupleParam)):
        if dtype is not None:
            raise BuildError(
                f"{where}: what the kernel writes to a struct is a result for each field: write "
                f"{{'field': '{value}.field -> {name or 'result'}', …}}"
            )
        return struct_at(where, cast("spec.Param", item), f"{value}")
    number = _number(where, value, dtype, look_up)
    if result is None:
        return Address(number)
    if isinstance(item, spec.Optional):
        raise BuildError(f"{where}, but {value} may be absent; {_NAME_ONE}")
    return ResultPointer(result, number)


def _number(
    where: str, value: str | float, dtype: str | None, look_up: Callable[[str], Item]
) -> Item:
    """Return one number or handle, as another dtype if one is given."""
    item = look_up(value) if isinstance(value, str) else value
    own = dtype_of(item)
    if own is None:
        raise BuildError(f"{where}, but {value} is not one number or handle; {_NAME_ONE}")
    check_fits(where, value, item, own, dtype or own)
    item = Constant(item) if isinstance(item, float) else item
    return item if dtype is None else Converted(item, dtype)


def _named(
    provider: str,
    context: CallContext,
    by_name: Mapping[str, spec.Param],
    symbols: Mapping[str, spec.Var],
    name: str,
) -> Item:
    """Return the parameter of that name, or else the symbol, part (``x.data``) or expression."""
    if name in by_name or name in symbols:
        return by_name[name] if name in by_name else symbols[name]
    base, _, part = name.rpartition(".")
    param = by_name.get(base)
    if param is not None:
        tensor = spec.required(param)
        if part == "data" and isinstance(tensor, spec.Tensor):
            return tensor.data
        if part in parts_of(param):
            return spec.Field(param, part)
    if re.search(r"[-+*/%()]", name) or name.isdecimal():
        try:
            value = spec.expression(name, symbols.values())
        except SpecError as error:
            raise BuildError(f"{provider}: args= has {name!r}: {error}") from None
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise BuildError(f"{provider}: args= has {name!r}, which does not fit int64")
        return value
    if param is not None:
        raise BuildError(f"{provider}: args= has {name!r}, {_no_part(param, base, part)}")
    lists = {var.name: path for var, path in symbols_of_elements(context.params).items()}
    if name in lists:
        raise BuildError(
            f"{provider}: args= has {name!r}, which has a value for each element of "
            f"{lists[name]}; the kernel finds them in {lists[name]}.shapes"
        )
    known = list(dict.fromkeys([*by_name, *symbols, *(r.name for r in value_results(context))]))
    raise BuildError(
        f"{provider}: args= has {name!r}, which names no parameter or symbol of "
        f"{context.fn_name!r}; it has {', '.join(known) or 'none'}{did_you_mean(name, known)}"
    )


def _no_part(param: spec.Param, path: str, part: str) -> str:
    """Return the words for why a parameter has no such part, and which parts it has."""
    if part == "present":
        return f"but {path} is not an Optional, so it is always present"
    tensor = spec.required(param)
    parts = [*parts_of(param), *(["data"] if isinstance(tensor, spec.Tensor) else [])]
    which = re.fullmatch(r"(shape|strides)(\[\d+\])?", part)
    if isinstance(tensor, spec.Tensor) and which is not None and not tensor.any_rank:
        entries = tensor.dims if which[1] == "shape" else tensor.stride_entries or ()
        named = ", ".join(repr(str(e)) for e in entries if isinstance(e, (spec.Var, Expr)))
        some = f"such as {named}" if named else "and it has none"
        if not named and which[1] == "strides" and tensor.ndim:
            some += f"; name them: strides=[{', '.join(f's{i}' for i in range(tensor.ndim))}]"
            some += ", which other layouts fit too" if tensor.order is not None else ""
        return f"but {path}.{which[1]} is passed by its symbols, {some}"
    kind = type(tensor).__name__
    inner = [below for below, _ in elements(param, path)]
    if inner:
        return f"but {path} has {', '.join(inner)}{did_you_mean(f'{path}.{part}', inner)}"
    if not parts:
        return f"but {path} is a {kind}, which has no parts"
    meant = did_you_mean(part, parts)
    return f"but the parts of {path}, a {kind}, are {', '.join(parts)}{meant}"


def _of(entry: Item, known: spec.Param) -> Item:
    """Return the same entry of the signature's equal tensor, which knows its fields' sources."""
    match entry:
        case Data():
            assert isinstance(known, spec.Tensor)
            return known.data
        case spec.Field():
            return replace(entry, param=known)
        case _:
            return known


def _has_references(param: object) -> bool:
    """Return whether ``param`` is a tensor, maybe Optional, that takes fields from another."""
    tensor = param.param if isinstance(param, spec.Optional) else param
    return isinstance(tensor, spec.Tensor) and bool(tensor.references)


def _is_dim(entry: object) -> bool:
    return isinstance(entry, (int, spec.Var, Expr)) and not isinstance(entry, bool)


def _flat(params: Sequence[spec.Param]) -> Iterator[Item]:
    """Yield the parameters, with (optional) tuples and structs flattened, without constants.

    A Variant yields which of its parameters came, then each.
    """
    for param in params:
        plain = spec.required(param)
        if isinstance(plain, (spec.TupleParam, spec.Struct)):
            yield from _flat(plain.params)
        elif isinstance(plain, spec.Variant):
            yield spec.Field(param, "which")
            for part, each in plain.parts.items():
                yield spec.Field(param, part) if isinstance(each, spec.Var) else each
        elif not isinstance(plain, CONSTANTS):
            yield param


def flat_item(entry: Item) -> Iterator[Item]:
    """Yield an entry, or the elements of a tuple, struct or Variant; nothing for a constant."""
    if isinstance(entry, _WHOLE):
        yield entry
    else:
        yield from _flat([entry])


def plain(item: Item) -> Item:
    """Return the parameter of an Optional, or the item itself."""
    return item.param if isinstance(item, spec.Optional) else item


def shown(context: CallContext, item: Item) -> str:
    """Return the name of an item in errors: ``x``, ``cfg.alpha``, ``x.data``, ``n * 2``."""
    match item:
        case Data(tensor=param):
            return f"{path_of(context, spec.required(param))}.data"
        case spec.Field(param=param, part=part):
            return f"{path_of(context, spec.required(param))}.{part}"
        case ResultPointer(result=result):
            return result.name
        case Converted(item=of, dtype=dtype):
            return f"{dtype}({shown(context, of)})"
        case Address(item=of):
            return f"&{shown(context, of)}"
        case CStruct(fields=fields):
            return f"{{{', '.join(field.name for field in fields)}}}"
        case spec.Var() | Expr() | int():
            return str(item)
        case Constant(value=value):
            return "NULL" if value is None else repr(value)
        case param:
            return path_of(context, spec.required(param))


def present(context: CallContext, item: Item) -> Value | None:
    """Return an i1 that says whether a parameter is present; None if it always is."""
    if isinstance(item, Converted):
        return present(context, item.item)
    if isinstance(item, _WHOLE):
        return None
    return context.present(item) if context.may_be_absent(item) else None
