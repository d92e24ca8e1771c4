"""What a provider forwards, and calling the callee with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from ffi_builder import spec
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.ir import Attribute, Operation, Type, Value, describe, function_parts
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.results import result_type, take_results
from ffi_builder.suggest import did_you_mean

Item: TypeAlias = "spec.Param | spec.Data | spec.Field | spec.Dim"
"""What can be forwarded: a parameter or a part of one, a symbol, an expression, an int."""
Entry: TypeAlias = "Item | str"
"""An entry of ``args=``: an item, or the name of a parameter or symbol, ``"x.data"``, or the text
of an expression."""

CONSTANTS: Final = (spec.ConstNone, spec.ConstInt, spec.ConstBool, spec.ConstFloat)
_NARROW: Final = {
    **dict.fromkeys(("int8", "int16"), "llvm.signext"),
    **dict.fromkeys(("uint8", "uint16", "bool"), "llvm.zeroext"),
}
"""How integers narrower than a C int are passed: the caller widens them."""


@dataclass(frozen=True)
class Argument:
    """One argument of a callee.

    ``extension`` is an LLVM parameter attribute, or empty. Errors call the argument by ``name``, or
    by the entries of ``args=`` that it is made ``of``.
    """

    value: Value
    extension: str = ""
    name: str = ""
    of: tuple[Item, ...] = ()


def items(provider: str, args: Sequence[Entry] | None, context: CallContext) -> list[Item]:
    """What is forwarded: ``args=``, or every parameter in order; tuples flattened, no constants.

    The tensors that are returned come last, but for those that ``args=`` has.

    Raises:
        BuildError: if an entry of ``args=`` is none of the signature's.
    """
    if args is None:
        return with_result_tensors(context, list(_flat(context.params)))
    found = [item for entry in entries(provider, args, context) for item in flat_item(entry)]
    return with_result_tensors(context, found)


def with_result_tensors(context: CallContext, found: list[Item]) -> list[Item]:
    """The items, and behind them the tensors that are returned, where ``args=`` has none of them.

    A part of one, such as its data pointer, is enough to be there.
    """
    owners = [_owner(item) for item in found]
    return [
        *found,
        *(tensor for tensor in context.signature.result_tensors if tensor not in owners),
    ]


def entries(provider: str, args: Sequence[Entry], context: CallContext) -> list[Item]:
    """The items of ``args=``, with tuples and constants as they are.

    Raises:
        BuildError: if one is none of the signature's.
    """
    if isinstance(args, str) or not isinstance(args, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BuildError(f"{provider}: args= is {args!r}; expected a list, such as [{args!r}]")
    known: dict[str, list[spec.Param]] = {}
    for param in (
        *(param for param, _ in _every(context.params)),
        *context.signature.result_tensors,
    ):
        known.setdefault(param.name, []).append(param)
    paths = dict(spec.with_paths([*context.params, *context.signature.result_tensors]))
    symbols = {var.name: var for var in context.matched_var_binding}
    look_up = partial(_named, provider, context, paths, symbols)
    found: list[Item] = []
    for given in args:
        entry = look_up(given) if isinstance(given, str) else given
        param = _owner(entry)
        equal = [item for item in known.get(getattr(param, "name", ""), ()) if item == param]
        if _is_made_of_others(entry) and equal:
            found.append(equal[0] if len(equal) == 1 else entry)
        elif _is_dim(param) or equal:
            found.append(entry)
        else:
            names = ", ".join(
                item.name for item in (*context.params, *context.signature.result_tensors)
            )
            raise BuildError(
                f"{provider}: args= has {entry!r}, which is no parameter of {context.fn_name!r}; "
                f"it has {names or 'none'}"
            )
    return found


def _named(
    provider: str,
    context: CallContext,
    by_name: Mapping[str, spec.Param],
    symbols: Mapping[str, spec.Var],
    name: str,
) -> Item:
    """The parameter of that name, else the symbol, a part (``x.data``), an expression's value."""
    if name in by_name or name in symbols:
        return by_name[name] if name in by_name else symbols[name]
    base, _, part = name.rpartition(".")
    found = by_name.get(base)
    if found is not None:
        tensor = spec.required(found)
        if part == "data" and isinstance(tensor, spec.Tensor):
            return tensor.data
        if part in spec.parts_of(found):
            return spec.Field(found, part)
    if re.search(r"[-+*/%()]", name) or name.isdecimal():
        try:
            found_value = spec.expression(name, symbols.values())
        except SpecError as error:
            raise BuildError(f"{provider}: args= has {name!r}: {error}") from None
        if isinstance(found_value, int) and not -(2**63) <= found_value < 2**63:
            raise BuildError(f"{provider}: args= has {name!r}, which does not fit int64")
        return found_value
    if found is not None:
        raise BuildError(f"{provider}: args= has {name!r}, {_no_part(found, base, part)}")
    known = list(dict.fromkeys([*by_name, *symbols]))
    raise BuildError(
        f"{provider}: args= has {name!r}, which names no parameter or symbol of "
        f"{context.fn_name!r}; it has {', '.join(known) or 'none'}{did_you_mean(name, known)}"
    )


def _no_part(param: spec.Param, path: str, part: str) -> str:
    """Why a parameter has no such part, and what it has instead."""
    if part == "present":
        return f"but {path} is no Optional, so it is always present"
    tensor = spec.required(param)
    parts = [*spec.parts_of(param), *(["data"] if isinstance(tensor, spec.Tensor) else [])]
    which = re.fullmatch(r"(shape|strides)(\[\d+\])?", part)
    if isinstance(tensor, spec.Tensor) and which is not None and not tensor.any_rank:
        entries = tensor.dims if which[1] == "shape" else tensor.stride_entries or ()
        named = ", ".join(repr(str(e)) for e in entries if isinstance(e, (spec.Var, spec.Expr)))
        if named:
            return f"but what is passed of {path}.{which[1]} are its symbols, such as {named}"
        return f"but what is passed of {path}.{which[1]} are its symbols, and it has none"
    kind = type(tensor).__name__
    inner = [below for below, _ in spec.elements(param, path)]
    if inner:
        return f"but {path} has {', '.join(inner)}{did_you_mean(f'{path}.{part}', inner)}"
    if not parts:
        return f"but {path} is a {kind}, which has no parts"
    meant = did_you_mean(part, parts)
    return f"but the parts of {path}, a {kind}, are {', '.join(parts)}{meant}"


def _owner(entry: object) -> object:
    """The parameter that a part is of."""
    match entry:
        case spec.Data(tensor=tensor):
            return tensor
        case spec.Field(param=param):
            return param
        case _:
            return entry


def _is_made_of_others(entry: object) -> bool:
    return isinstance(entry, (spec.TupleParam, spec.Struct, spec.Optional))


def _is_dim(entry: object) -> bool:
    return isinstance(entry, (int, spec.Var, spec.Expr)) and not isinstance(entry, bool)


def _flat(params: Sequence[spec.Param]) -> Iterator[spec.Param]:
    """An Optional tuple is its elements, each of which may then be absent."""
    for param in params:
        plain = spec.required(param)
        if isinstance(plain, (spec.TupleParam, spec.Struct)):
            yield from _flat(plain.params)
        elif not isinstance(plain, CONSTANTS):
            yield param


def flat_item(entry: Item) -> Iterator[Item]:
    """An entry, or the elements of a tuple or struct; nothing for a constant."""
    if isinstance(entry, (spec.Data, spec.Field, int, spec.Expr)):
        yield entry
    else:
        yield from _flat([entry])


def _every(params: Sequence[spec.Param]) -> Iterator[tuple[spec.Param, str]]:
    """Every parameter, and what an Optional holds."""
    for path, param in spec.with_paths(params):
        yield param, path
        if isinstance(param, spec.Optional):
            yield param.param, path


def plain(item: Item) -> Item:
    """What an Optional holds, or the item itself."""
    return item.param if isinstance(item, spec.Optional) else item


def path_of(context: CallContext, param: spec.Param) -> str:
    """How errors call a parameter, such as ``cfg.A``."""
    known = spec.with_paths([*context.params, *context.signature.result_tensors])
    return next(path for path, item in known if spec.required(item) == param)


def present(context: CallContext, item: Item) -> Value | None:
    """An i1: whether a parameter is there; None if it is for certain, or is none."""
    if isinstance(item, (int, spec.Expr, spec.Data, spec.Field)):
        return None
    return context.present(item) if context.may_be_absent(item) else None


def arguments_of_items(
    found: Sequence[Item],
    context: CallContext,
    convert: Callable[[CallContext, Item], list[Argument]],
) -> list[Argument]:
    """Convert one item after the other; each argument notes of which item it is."""
    arguments: list[Argument] = []
    for item in found:
        of = (item,)
        arguments += [Argument(a.value, a.extension, a.name, of) for a in convert(context, item)]
    return arguments


def scalar_arguments(context: CallContext, item: Item) -> list[Argument]:
    """Anything but a Tensor or Shape as C arguments: one, but for a str or bytes."""
    if isinstance(plain(item), (spec.String, spec.Bytes)):
        assert isinstance(item, (spec.String, spec.Bytes, spec.Optional))
        return [Argument(value) for value in context.text(item)]
    return [scalar_argument(context, item)]


def scalar_argument(context: CallContext, item: Item) -> Argument:
    """A number, pointer, dtype, device or object, or a part of a parameter, as a C argument."""
    match plain(item):
        case spec.Data(tensor=tensor):
            return Argument(context.data(tensor))
        case spec.Field() as part:
            return _part(context, part)
        case spec.Var() as var:
            return Argument(context.value(var), _NARROW.get(var.dtype, ""))
        case int() | spec.Expr() as value:
            return Argument(context.value(value))
        case spec.Choice(dtype=dtype) as choice:
            return Argument(context.scalar(choice), _NARROW.get(dtype, ""))
        case param:
            return Argument(context.scalar(param))


def _part(context: CallContext, part: spec.Field) -> Argument:
    if part.part == "present":
        return Argument(context.present(part.param), _NARROW["bool"])
    return Argument(getattr(context, part.part)(part.param))


def shape_arguments(context: CallContext, shape: spec.Shape) -> list[Argument]:
    """The entries of a Shape that are not ints: symbols in their own type, expressions as i64."""
    return [
        Argument(value, _NARROW.get(entry.dtype, "") if isinstance(entry, spec.Var) else "")
        for entry, value in zip(shape.shape, context.entries(shape), strict=True)
        if not isinstance(entry, int)
    ]


def call(
    provider: str,
    context: CallContext,
    callee: str,
    arguments: Sequence[Argument],
    result: Type | None = None,
    *,
    results: bool = True,
) -> Value | None:
    """Call the callee, and note what it returned on the context.

    If the module has none of that name it is declared, with this result; left out it is void, or an
    i32 where somebody wants a status. Where the signature returns scalars, what the callee returns
    is these (with ``results=False`` it is not), and no status.

    Returns:
        The callee's status, or None if it has none.

    Raises:
        BuildError: if the callee does not take these arguments, or does not return the results; the
            message has both types.
    """
    check_name(provider, callee)
    scalars = [r for r in context.signature.results if isinstance(r, spec.Var)] if results else []
    if not scalars:
        context.returned = _call(provider, context, callee, arguments, result)
        return context.returned
    wanted = result_type(provider, context, callee, scalars)
    value = _call(provider, context, callee, arguments, wanted)
    take_results(provider, context, callee, value, scalars)
    return None


def check_name(provider: str, callee: str) -> str:
    """The name of a callee, which has come from the author of a provider or of a kernel."""
    if not isinstance(callee, str) or not callee or callee.startswith("@"):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BuildError(f"{provider}: expected the callee's name, without '@', but got {callee!r}")
    return callee


def _call(
    provider: str,
    context: CallContext,
    callee: str,
    arguments: Sequence[Argument],
    result: Type | None,
) -> Value | None:
    b = context.builder
    values = [argument.value for argument in arguments]
    attributes = _extensions(context, arguments)
    operation = context.symbols.find(callee)
    if operation is None:
        result = result or (b.types.i32 if context.status_wanted else b.types.void)
        types = [value.type for value in values]
        context.symbols.declare(callee, result, types, attributes)
        return b.call(callee, values, result, attributes)
    result = _check_callee(provider, context, callee, operation, arguments)
    if "CConv" in operation.attributes:
        attributes["CConv"] = operation.attributes["CConv"]
    return b.call(callee, values, result, attributes)


def _extensions(context: CallContext, arguments: Sequence[Argument]) -> dict[str, Attribute]:
    if not any(argument.extension for argument in arguments):
        return {}
    entries = ", ".join(f"{{{argument.extension}}}" for argument in arguments)
    return {"arg_attrs": context.builder.types.attribute(f"[{entries}]")}


def _check_callee(
    provider: str,
    context: CallContext,
    callee: str,
    operation: Operation,
    arguments: Sequence[Argument],
) -> Type:
    """The callee's result type."""
    if operation.name != "llvm.func":
        raise BuildError(
            f"{provider}: the callee @{callee} is {describe(operation)}; it must be an llvm.func, "
            f"so lower the module to the LLVM dialect before attaching; runtime.compile does with "
            f"pipeline=, and calls its hooks with the lowered module"
        )
    result, parameters = function_parts(operation)
    if tuple(str(argument.value.type) for argument in arguments) != parameters:
        # It knows all providers, and is needed for nothing but this.
        from ffi_builder.providers.mismatch import describe_mismatch

        raise describe_mismatch(provider, context, callee, arguments, parameters)
    return context.builder.types.parse(result)


def check_status(context: CallContext, callee: str, status: Value | None) -> None:
    """An i32 that is not 0 is an error of the callee; no result is success.

    Where somebody else wants the status, nothing is checked here.
    """
    if status is None or context.status_wanted:
        return
    b = context.builder
    if status.type != b.types.i32:
        raise BuildError(
            f"the callee @{callee} returns {status.type}; expected nothing or a status of type i32"
        )
    b.check(b.eq(status, b.i32(0)), "RuntimeError", f"{callee} failed with status {{}}", status)
