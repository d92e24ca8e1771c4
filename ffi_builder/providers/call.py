"""Calls a function that is in the module or linked with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ffi_builder.errors import BuildError
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.ir.builder import call_extern
from ffi_builder.ir.protocols import Attribute, Type
from ffi_builder.ir.symbols import describe, function_parts
from ffi_builder.packed.anys import DEC_REF
from ffi_builder.packed.callees import check_name
from ffi_builder.providers.arguments import NARROW, Argument, narrowed
from ffi_builder.providers.by_address import FLOATS
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.errno import clear_errno, raise_errno, read_errno
from ffi_builder.providers.items import Constant, CStruct
from ffi_builder.providers.results import result_type, set_results, take_results, value_results
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Expr


@dataclass(frozen=True)
class Call:
    """A call of a function, and the name that errors have for who makes it."""

    provider: str
    context: CallContext
    callee: str
    arguments: Sequence[Argument]


class MismatchError(BuildError):
    """A callee takes arguments of other LLVM types, ``taken``; `attach` says which, and why."""

    def __init__(self, made: Call, taken: tuple[str, ...]) -> None:
        super().__init__(f"{made.provider}: the callee @{made.callee} takes {', '.join(taken)}")
        self.call, self.taken = made, taken


_NARROW_BITS: Final = {f"i{bits}": bits for bits in (8, 16, 32)}
"""The integer types that an int of ``args=`` can have, besides the default i64."""
_INT: Final = 32
"""The bits of a C int, to which callers extend narrower integers."""
_MOVE_RAISED: Final = "TVMFFIErrorMoveFromRaised"
_SET_RAISED: Final = "TVMFFIErrorSetRaised"


def call(
    provider: str,
    context: CallContext,
    callee: str,
    arguments: Sequence[Argument],
    result: Type | None = None,
    *,
    results: bool = True,
    free: str | None = None,
    errno: bool = False,
    struct: tuple[Value, CStruct] | None = None,
) -> Value | None:
    """Call the callee, and set ``context.returned`` or ``context.results`` to what it returns.

    A callee that the module does not have is declared to return ``result``; by default nothing, or
    an i32 if ``context.status_wanted`` is set. If the signature returns scalars to which no
    pointers are passed, the callee returns these scalars instead of a status. With ``results``
    False, the caller sets the context's results. ``free`` is a function that frees a text which the
    callee returns. With ``errno``, a result of -1 or NULL is an OSError if ``errno`` is set. If
    the callee returns a struct by value, ``struct`` is the memory for it, and what it is.

    Returns:
        The callee's status, or None if it returns none.

    Raises:
        BuildError: if the callee does not take these arguments or return these results; the message
            has both types.
    """
    check_name(provider, callee)
    made = Call(provider, context, callee, arguments)
    scalars = [scalar for scalar in value_results(context) if scalar.name not in context.places]
    if not scalars or not results:
        if free is not None:
            raise BuildError(f"{provider}: free={free!r} goes with a result that @{callee} returns")
        if errno:
            raise BuildError(
                f"{provider}: errno=True goes with a result that @{callee} returns; of a status, "
                f"CheckStatus(…, error='OSError') raises it"
            )
        if struct is not None:
            _call_for_struct(made, *struct)
        else:
            context.returned = _call(made, result)
        if results:
            set_results(context)
        return context.returned
    wanted = result_type(provider, context, callee, scalars)
    if errno:
        clear_errno(context.builder)
    value = _call(made, wanted)
    if errno and value is not None:
        _check_errno(provider, context.builder, callee, value)
    set_results(context, take_results(provider, context, callee, value, scalars, wanted, free))
    return None


def _call_for_struct(made: Call, place: Value, struct: CStruct) -> None:
    """Call a function that returns a struct in registers, or writes it to a place."""
    if made.context.status_wanted:
        raise BuildError(
            f"CheckStatus: the callee @{made.callee} returns a struct, so it cannot return a status"
        )
    b, t = made.context.builder, made.context.builder.types
    types = [t.parse(text) for _, text in struct.pieces]
    if not types:
        address = Argument(place, struct.attribute, name="the returned struct")
        _call(replace(made, arguments=[address, *made.arguments]), t.void)
        return
    value = _call(made, types[0] if len(types) == 1 else t.struct(types))
    assert value is not None, f"@{made.callee} returns nothing"
    b.store(value, place)


def _check_errno(provider: str, b: CheckingBuilder, callee: str, value: Value) -> None:
    """Raise an OSError if a function has returned -1 or NULL, and set ``errno``."""
    number, kind = read_errno(b), str(value.type)
    bits = 64 if value.type == b.types.ptr else int(f"0{kind[1:]}" if kind[0] == "i" else 0)
    if bits < min(_NARROW_BITS.values()):
        raise BuildError(
            f"{provider}: errno=True goes with an integer or pointer, but @{callee} returns {kind}"
        )
    bare = b.to_int(value) if value.type == b.types.ptr else value
    failed = b.eq(bare, b.constant(bits, -1))
    if value.type == b.types.ptr:
        failed = b.or_(failed, b.eq(bare, b.i64(0)))
    with b.when(failed, cold=True):
        raise_errno(b, number)


def _call(made: Call, result: Type | None) -> Value | None:
    context, callee, arguments = made.context, made.callee, made.arguments
    b = context.builder
    operation = context.symbols.find(callee)
    if operation is None:
        attributes = _extensions(context, arguments)
        values = [argument.value for argument in arguments]
        result = result or (b.types.i32 if context.status_wanted else b.types.void)
        context.symbols.declare(callee, result, [value.type for value in values], attributes)
        return b.call(callee, values, result, attributes)
    if operation.name != "llvm.func":
        raise BuildError(
            f"{made.provider}: the callee @{callee} is {describe(operation)}; it must be an "
            f"llvm.func, so lower the module to the LLVM dialect before attaching; runtime.compile "
            f"does with pipeline=, and calls its hooks with the lowered module"
        )
    returned, parameters = function_parts(operation)
    arguments = _fit_constants(made, parameters)
    if tuple(str(argument.value.type) for argument in arguments) != parameters:
        raise MismatchError(replace(made, arguments=arguments), parameters)
    attributes = _extensions(context, arguments)
    if "CConv" in operation.attributes:
        attributes["CConv"] = operation.attributes["CConv"]
    values = [argument.value for argument in arguments]
    return b.call(callee, values, b.types.parse(returned), attributes)


def _extensions(context: CallContext, arguments: Sequence[Argument]) -> dict[str, Attribute]:
    if not any(argument.extension for argument in arguments):
        return {}
    entries = ", ".join(f"{{{argument.extension}}}" for argument in arguments)
    return {"arg_attrs": context.builder.types.attribute(f"[{entries}]")}


def _fit_constants(made: Call, parameters: Sequence[str]) -> Sequence[Argument]:
    """Give each number of ``args=`` the type that the callee takes there.

    Raises:
        BuildError: if it does not fit this type.
    """
    context, callee, arguments = made.context, made.callee, made.arguments
    if len(arguments) != len(parameters):
        return arguments
    fitted: list[Argument] = []
    for index, (argument, type_) in enumerate(zip(arguments, parameters, strict=True)):
        bits = _NARROW_BITS.get(type_)
        match argument.of:
            case (int(number),) if bits is not None or type_ == "i1":
                bits = bits or 1
                low, high = (-(1 << bits - 1) if bits > 1 else 0), (1 << bits) - 1
                if not low <= number <= high:
                    raise BuildError(
                        f"{made.provider}: args= has {number}, but argument #{index} of the callee "
                        f"@{callee} is {type_}, which holds {low} to {high}"
                    )
                extension = NARROW["int8" if number < 0 else "bool"] if bits < _INT else ""
                value = context.builder.constant(bits, number)
                fitted.append(replace(argument, value=value, extension=extension))
            case (Constant(value=float()) as constant,) if type_ in FLOATS:
                try:
                    value = constant.emit(context, type_)
                except OverflowError:
                    raise BuildError(
                        f"{made.provider}: args= has {constant.value}, but argument #{index} of "
                        f"the callee @{callee} is {type_}, which does not hold it"
                    ) from None
                fitted.append(replace(argument, value=value))
            case (Expr() as expression,) if bits is not None:
                what = f"{expression} is {{}}, but argument #{index} of {callee} is {type_}"
                value = narrowed(context, argument.value, f"int{bits}", what)
                extension = NARROW["int8"] if bits < _INT else ""  # whatever sign it has, it fits
                fitted.append(replace(argument, value=value, extension=extension))
            case _:
                fitted.append(argument)
    return fitted


def check_status(context: CallContext, callee: str, status: Value | None) -> None:
    """Emit a check that raises an error if the callee returns an i32 other than 0.

    Emits nothing if the callee returns nothing, or if ``context.status_wanted`` is set.

    Raises:
        BuildError: if the callee returns another type.
    """
    if status is None or context.status_wanted:
        return
    b = context.builder
    if status.type != b.types.i32:
        raise BuildError(
            f"the callee @{callee} returns {status.type}; expected nothing or a status of type i32"
        )
    b.check(b.eq(status, b.i32(0)), "RuntimeError", f"{callee} failed with status {{}}", status)


def pass_on(context: CallContext, status: Value) -> None:
    """Return ``status`` if the callee has set a TVM-FFI error."""
    b, t = context.builder, context.builder.types
    cell = b.alloca(t.ptr)
    call_extern(b, _MOVE_RAISED, [cell], t.void)
    raised = b.load(t.ptr, cell)
    with b.when(b.ne(raised, b.null())):
        call_extern(b, _SET_RAISED, [raised], t.void)
        call_extern(b, DEC_REF, [raised], t.i32)  # raising added a reference
        b.ret(status)
