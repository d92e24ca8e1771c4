"""What a provider forwards, and calling the callee with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Attribute, Operation, Type, Value, describe, function_parts
from ffi_builder.providers.context import CallContext

Item: TypeAlias = "spec.Param | spec.Data | spec.Dim"
"""What can be forwarded: a parameter, ``x.data``, a symbol, an expression, an int."""
Entry: TypeAlias = "Item | str"
"""An entry of ``args=``: an item, or the name of a parameter or symbol, or ``"x.data"``."""

CONSTANTS: Final = (spec.ConstNone, spec.ConstInt, spec.ConstBool, spec.ConstFloat)
_NARROW: Final = {
    **dict.fromkeys(("int8", "int16"), "llvm.signext"),
    **dict.fromkeys(("uint8", "uint16", "bool"), "llvm.zeroext"),
}
"""How integers narrower than a C int are passed: the caller widens them."""


@dataclass(frozen=True)
class Argument:
    """One argument of a callee; ``extension`` is an LLVM parameter attribute, or empty."""

    value: Value
    extension: str = ""


def items(provider: str, args: Sequence[Entry] | None, context: CallContext) -> list[Item]:
    """What is forwarded: ``args=``, or every parameter in order; tuples flattened, no constants.

    Raises:
        BuildError: if an entry of ``args=`` is none of the signature's.
    """
    if args is None:
        return list(_flat(context.params))
    if isinstance(args, str) or not isinstance(args, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BuildError(f"{provider}: args= is {args!r}; expected a list, such as [{args!r}]")
    known = list(_flat_with_tuples(context.params))
    found: list[Item] = []
    for given in args:
        entry = _named(provider, given, context) if isinstance(given, str) else given
        param = entry.tensor if isinstance(entry, spec.Data) else entry
        equal = [item for item in known if item == param]
        if isinstance(entry, spec.TupleParam) and equal:
            found += _flat_item(equal[0] if len(equal) == 1 else entry)
        elif _is_dim(param) or equal:
            found += _flat_item(entry)
        else:
            names = ", ".join(item.name for item in context.params)
            raise BuildError(
                f"{provider}: args= has {entry!r}, which is no parameter of {context.fn_name!r}; "
                f"it has {names or 'none'}"
            )
    return found


def _named(provider: str, name: str, context: CallContext) -> Item:
    """The parameter of that name, else the symbol; ``x.data`` is a tensor's pointer."""
    base, dot, part = name.partition(".")
    by_name = dict(_by_path(context.params, ""))
    found = by_name.get(base)
    if dot and part == "data" and isinstance(found, spec.Tensor):
        return found.data
    symbols = {var.name: var for var in context.matched_var_binding}
    if not dot and (found is not None or base in symbols):
        return found if found is not None else symbols[base]
    known = ", ".join(dict.fromkeys([*by_name, *symbols])) or "none"
    raise BuildError(
        f"{provider}: args= has {name!r}, which names no parameter or symbol of "
        f"{context.fn_name!r}; it has {known}"
    )


def _by_path(params: Sequence[spec.Param], prefix: str) -> Iterator[tuple[str, spec.Param]]:
    """``("cfg[0]", parameter)``, as errors name elements of tuples."""
    for index, param in enumerate(params):
        path = f"{prefix}[{index}]" if prefix else param.name
        yield path, param
        if isinstance(param, spec.TupleParam):
            yield from _by_path(param.params, path)


def _is_dim(entry: object) -> bool:
    return isinstance(entry, (int, spec.Var, spec.Expr)) and not isinstance(entry, bool)


def _flat(params: Sequence[spec.Param]) -> Iterator[spec.Param]:
    for param in params:
        if isinstance(param, spec.TupleParam):
            yield from _flat(param.params)
        elif not isinstance(param, CONSTANTS):
            yield param


def _flat_item(entry: Item) -> Iterator[Item]:
    if isinstance(entry, spec.TupleParam):
        yield from _flat(entry.params)
    elif not isinstance(entry, CONSTANTS):
        yield entry


def _flat_with_tuples(params: Sequence[spec.Param]) -> Iterator[spec.Param]:
    for param in params:
        yield param
        if isinstance(param, spec.TupleParam):
            yield from _flat_with_tuples(param.params)


def scalar_argument(context: CallContext, item: Item) -> Argument:
    """A Var, expression, int, stream or pointer as a C argument."""
    if isinstance(item, spec.Data):
        return Argument(context.data(item.tensor))
    if isinstance(item, spec.Var):
        return Argument(context.value(item), _NARROW.get(item.dtype, ""))
    if isinstance(item, (int, spec.Expr)):
        return Argument(context.value(item))
    return Argument(context.scalar(item))


def shape_arguments(context: CallContext, shape: spec.Shape) -> list[Argument]:
    """The entries of a Shape that are not ints: symbols in their own type, expressions as i64."""
    return [scalar_argument(context, e) for e in shape.shape if not isinstance(e, int)]


def call(
    provider: str,
    context: CallContext,
    callee: str,
    arguments: Sequence[Argument],
    result: Type | None = None,
) -> Value | None:
    """Call the callee; if the module has none of that name it is declared, with this result.

    Returns:
        The callee's result, or None if it is void.

    Raises:
        BuildError: if the callee does not take these arguments; the message has both types.
    """
    if not isinstance(callee, str) or not callee or callee.startswith("@"):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise BuildError(f"{provider}: expected the callee's name, without '@', but got {callee!r}")
    b = context.builder
    values = [argument.value for argument in arguments]
    types = [value.type for value in values]
    attributes = _extensions(context, arguments)
    operation = context.symbols.find(callee)
    if operation is None:
        result = result or b.types.void
        context.symbols.declare(callee, result, types, attributes)
        return b.call(callee, values, result, attributes)
    result = _check_callee(provider, context, callee, operation, types)
    if "CConv" in operation.attributes:
        attributes["CConv"] = operation.attributes["CConv"]
    return b.call(callee, values, result, attributes)


def _extensions(context: CallContext, arguments: Sequence[Argument]) -> dict[str, Attribute]:
    if not any(argument.extension for argument in arguments):
        return {}
    entries = ", ".join(f"{{{argument.extension}}}" for argument in arguments)
    return {"arg_attrs": context.builder.types.attribute(f"[{entries}]")}


def _check_callee(
    provider: str, context: CallContext, callee: str, operation: Operation, types: list[Type]
) -> Type:
    """The callee's result type."""
    if operation.name != "llvm.func":
        raise BuildError(
            f"{provider}: the callee @{callee} is {describe(operation)}; it must be an llvm.func, "
            f"so lower the module to the LLVM dialect before attaching"
        )
    result, parameters = function_parts(operation)
    given = tuple(str(type_) for type_ in types)
    if given != parameters:
        raise BuildError(
            f"{provider}: the callee @{callee} takes ({', '.join(parameters)}), but the arguments "
            f"of {context.fn_name!r} are passed as ({', '.join(given)}); choose and order them "
            f"with args=, or change the callee"
        )
    return context.builder.types.parse(result)


def check_status(context: CallContext, callee: str, status: Value | None) -> None:
    """An i32 that is not 0 is an error of the callee; no result is success."""
    if status is None:
        return
    b = context.builder
    if status.type != b.types.i32:
        raise BuildError(
            f"the callee @{callee} returns {status.type}; expected nothing or a status of type i32"
        )
    b.check(b.eq(status, b.i32(0)), "RuntimeError", f"{callee} failed with status {{}}", status)
