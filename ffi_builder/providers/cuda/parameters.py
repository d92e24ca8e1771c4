"""Compares arguments with the kernel's parameters in the image, and writes their addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ffi_builder.errors import BuildError
from ffi_builder.ir import Builder, Value
from ffi_builder.kernel_image import Kernel, Parameter
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.cuda.arguments import PROVIDER, KernelArgument, in_range
from ffi_builder.providers.cuda.layout import in_memory, layout

_NUMBER_SIZES: Final = (1, 2, 4, 8)
_FLOAT: Final = re.compile(r"b?f\d+")
_INTEGER: Final = re.compile(r"[su]\d+")
"""Types of PTX."""
_OFFSET_ALIGN: Final = 16
"""The largest alignment of an offset: the first parameter's address has no larger one."""


def fitted(
    context: CallContext, kernel: Kernel, arguments: Sequence[KernelArgument]
) -> list[KernelArgument]:
    """Return the arguments, with numbers in the sizes of the kernel's parameters.

    If the image does not describe the parameters, nothing is checked and numbers have 8 bytes.

    Raises:
        BuildError: if the kernel takes other parameters; the message shows both sides.
    """
    if kernel.parameters is None:
        return [_sized(context, kernel, argument, 8) for argument in arguments]
    # Texture and surface references have size 0, and a launch does not pass them.
    wanted = [parameter for parameter in kernel.parameters if parameter.size]
    count = len(wanted) == len(arguments)
    wrong = [
        index
        for index, (parameter, argument) in enumerate(zip(wanted, arguments, strict=False))
        if not _fits(parameter, argument)
    ]
    if not count or wrong:
        raise BuildError(_mismatch(context, kernel, wanted, arguments, wrong if count else []))
    sized = [
        _sized(context, kernel, argument, parameter.size)
        for parameter, argument in zip(wanted, arguments, strict=True)
    ]
    return [
        replace(argument, align=max(argument.align, parameter.align or 1))
        for parameter, argument in zip(wanted, sized, strict=True)
    ]


def addresses(b: Builder, arguments: Sequence[KernelArgument]) -> Value:
    """Write the arguments, and return the array of their addresses for the driver, or NULL."""
    if not arguments:
        return b.null()
    array = b.alloca(b.types.ptr, len(arguments))
    for index, argument in enumerate(arguments):
        if argument.layout is not None:
            address = in_memory(b, argument.layout, argument.align)
        else:
            address = _copied(b, argument)
        b.store(address, b.offset(array, 8 * index))
    return array


def _copied(b: Builder, argument: KernelArgument) -> Value:
    """Copy the caller's bytes, which may be unaligned, to aligned stack space."""
    assert argument.address is not None
    assert argument.size is not None
    space = b.alloca(b.types.i8, argument.size, align=argument.align)
    operands = (space, argument.address, b.i64(argument.size))
    b.op("llvm.intr.memcpy", operands, attributes={"isVolatile": b.types.attribute("false")})
    return space


def _fits(parameter: Parameter, argument: KernelArgument) -> bool:
    if argument.size is None:
        return parameter.size in _NUMBER_SIZES and not _FLOAT.fullmatch(parameter.type or "")
    if argument.size != parameter.size:
        return False
    align = min(argument.align, _OFFSET_ALIGN)
    if parameter.offset is not None and parameter.offset % align:
        return False
    return _same_kind(parameter, argument)


def _same_kind(parameter: Parameter, argument: KernelArgument) -> bool:
    """Return whether PTX and argument do not contradict each other about integer or float.

    ``b32`` may be either, and so may a struct or bytes that the caller has laid out.
    """
    kind = parameter.type or ""
    wrong = _INTEGER if argument.is_float else _FLOAT
    return argument.is_float is None or not wrong.fullmatch(kind)


def _sized(
    context: CallContext, kernel: Kernel, argument: KernelArgument, size: int
) -> KernelArgument:
    """Convert a number to an integer of this size; it may fit as signed or as unsigned."""
    number = argument.number
    if number is None:
        return argument
    b, low, high = context.builder, -(1 << (8 * size - 1)), (1 << 8 * size) - 1
    where = f"the {size} byte{'' if size == 1 else 's'} that kernel {kernel.name!r} has for it"
    if isinstance(number, int):
        if not low <= number <= high:
            raise BuildError(f"{PROVIDER}: args= has {number}, which does not fit {where}")
        value = b.constant(8 * size, number)
    elif size == _NUMBER_SIZES[-1]:
        value = number
    else:
        fits = in_range(b, number, low, high, signed=True)
        assert fits is not None
        where = where.replace("{}", "{ }")  # since {} in the kernel's name stands for a value
        b.check(fits, "ValueError", f"{argument.text} is {{}}, which does not fit {where}", number)
        value = b.trunc(number, b.types.integer(8 * size))
    found = layout(value)
    return KernelArgument(argument.text, found.size, found.align, layout=found)


def _mismatch(
    context: CallContext,
    kernel: Kernel,
    wanted: Sequence[Parameter],
    arguments: Sequence[KernelArgument],
    wrong: Sequence[int],
) -> str:
    """Return the message of the error, which shows parameters and arguments."""
    takes = ", ".join(
        f"#{parameter.index} {parameter}"
        f"{'' if parameter.offset is None else f' at {parameter.offset}'}"
        for parameter in wanted
    )
    given = ", ".join(f"#{index} {argument}" for index, argument in enumerate(arguments))
    first = f" (#{', #'.join(map(str, wrong))} differ{'s' if len(wrong) == 1 else ''})"
    return (
        f"{PROVIDER}: the kernel {kernel.name!r} takes ({takes}), but the arguments of "
        f"{context.fn_name!r} are passed as ({given}){first if wrong else ''}; choose and order "
        f"them with args=, give numbers a type with Scalar(value, dtype), or change the kernel"
    )
