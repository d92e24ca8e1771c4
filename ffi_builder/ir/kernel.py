"""A kernel as its module describes it: the names and types of its arguments and results.

:func:`read_kernel` reads a ``func.func``, or an ``llvm.func`` whose types were recorded before it
was lowered (:mod:`ffi_builder.protocol`). Front ends leave names in two places::

    func.func @f(%0: memref<?xf32> loc("x"),                                   // a NameLoc
                 %1: memref<?xf32> {ml_program.identifier = "serving_y:0"})    // an attribute

MLIR's parser drops ``%x``. It keeps the place, at which the text has the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ffi_builder.errors import BuildError
from ffi_builder.ir.distribution import named, of_module
from ffi_builder.ir.kernel_types import (
    FunctionTypes,
    KernelType,
    lowered,
    lowered_words,
    read_function,
)
from ffi_builder.ir.protocols import Module, Operation
from ffi_builder.ir.symbols import describe, function_parts
from ffi_builder.ir.types import Types
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.records import dataclass
from ffi_builder.suggest import did_you_mean

_PARSER: Final = "torch_mlir"
"""The distribution that parses a module given as text."""
_FUNCTIONS: Final = ("func.func", "llvm.func")
_NAME_LOCATION: Final = re.compile(r'loc\("((?:[^"\\]|\\.)*)"(?:\(.*\))?\)', re.DOTALL)
_PLACE: Final = re.compile(r'loc\("-":(\d+):(\d+)')
"""A place in the text that was parsed, which MLIR calls ``-``."""
_WRITTEN: Final = re.compile(rb"%([A-Za-z_$.][\w$.-]*)")
_NAME_ATTRIBUTE: Final = "ml_program.identifier"


@dataclass(frozen=True)
class KernelValue:
    """An argument or a result of a kernel.

    Example: see :func:`read_kernel`.
    """

    type: KernelType
    """The type before lowering."""
    name: str | None = None
    """The name that the front end left, as it is; None if it left none."""
    alignment: int | None = None
    """The bytes that ``memref.assume_alignment`` promises of an argument; None: no promise."""


@dataclass(frozen=True)
class Kernel:
    """The arguments and results of a function, in order.

    Examples:
        >>> from ffi_builder import ir
        >>> KERNEL = "func.func @fill(%x: memref<?xf32>, %value: f32) { return }"
        >>> kernel = ir.read_kernel(KERNEL, "fill")
        >>> [argument.name for argument in kernel.arguments], kernel.results
        (['x', 'value'], ())
    """

    arguments: tuple[KernelValue, ...]
    results: tuple[KernelValue, ...]


def read_kernel(module: Module | str, name: str) -> Kernel:
    """Read a function of a module.

    Args:
        module: an ``ir.Module`` of any distribution, or MLIR text, which torch-mlir parses.
        name: the symbol of a ``func.func`` or ``llvm.func``.

    Raises:
        BuildError: the text is not a module; there is no such function; or passes have changed the
            arguments or results of an ``llvm.func`` since its types were recorded.

    Examples:
        >>> from ffi_builder import ir
        >>> kernel = ir.read_kernel("func.func @relu(%x: memref<?x4xf32>) { return }", "relu")
        >>> [argument] = kernel.arguments
        >>> argument.name, argument.type.text, argument.type.sizes
        ('x', 'memref<?x4xf32>', (None, 4))
    """
    text = module if isinstance(module, str) else None
    if isinstance(module, str):
        module = _parsed(module)
    types = Types(of_module(module).ir, module.context)
    function = _find(types, module, name)
    read, positions = _types(types, function, name)
    blocks = function.regions[0].blocks
    entry = blocks[0] if len(blocks) else None
    found: list[KernelValue] = []
    for position, type_ in zip(positions, read.inputs, strict=True):
        argument = None if entry is None else entry.arguments[position]
        known = None if argument is None else _name_of(argument, text)
        alignment = None if argument is None else _alignment(entry, argument)
        known = known or _attribute_name(function, "arg_attrs", position)
        found.append(KernelValue(type_, known, alignment))
    names = (_attribute_name(function, "res_attrs", at) for at in range(len(read.results)))
    return Kernel(tuple(found), tuple(map(KernelValue, read.results, names)))


def recorded_types(types: Types, function: Operation) -> FunctionTypes | None:
    """Read the types that a function had before lowering; None if it has no valid record.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir, record_memref_types
        >>> KERNEL = "func.func @relu(%x: memref<?x4xf32>) { return }"
        >>> module = mlir.Module.parse(KERNEL, mlir.Context())
        >>> record_memref_types(module)
        >>> types = ir.Types(ir.of_module(module).ir, module.context)
        >>> ir.recorded_types(types, module.body.operations[0]).inputs[0].sizes
        (None, 4)
    """
    if MEMREF_TYPES not in function.attributes:
        return None
    text = getattr(function.attributes[MEMREF_TYPES], "value", None)
    if not isinstance(text, str):
        return None
    try:
        function_type = types.parse(text)
    except BuildError:  # of a dialect that this context does not have
        return None
    return read_function(types.ir, function_type) if hasattr(function_type, "inputs") else None


def _parsed(text: str) -> Module:
    distribution = named(_PARSER)
    context = distribution.ir.Context()
    distribution.load_llvm(context)
    try:
        return distribution.ir.Module.parse(text, context)
    except Exception as error:  # MLIRError, which old bindings do not have
        raise BuildError(f"the text is not an MLIR module: {error}") from None


def _find(types: Types, module: Module, name: str) -> Operation:
    table = types.ir.SymbolTable(module.operation)
    if name not in table:
        names = [
            operation.operation.attributes["sym_name"].value
            for operation in module.body.operations
            if operation.operation.name in _FUNCTIONS
        ]
        raise BuildError(
            f"the module has no function {name!r}; it has {', '.join(names) or 'none'}"
            f"{did_you_mean(name, names)}"
        )
    function = table[name].operation
    if function.name not in _FUNCTIONS:
        raise BuildError(f"@{name} is {describe(function)}; expected a func.func or an llvm.func")
    return function


def _types(types: Types, function: Operation, name: str) -> tuple[FunctionTypes, Sequence[int]]:
    """Return the types, and for each input the position of its first argument in the function."""
    if function.name == "func.func":
        read = read_function(types.ir, types.parse(str(function.attributes["function_type"])))
        return read, range(len(read.inputs))
    result, parameters = function_parts(function)
    read = recorded_types(types, function)
    if read is None:
        results = () if result == "!llvm.void" else (result,)
        return FunctionTypes(parameters, results), range(len(parameters))
    for c_interface in (False, True):
        if lowered(read, c_interface=c_interface) == (result, parameters):
            return read, list(_positions(read, c_interface=c_interface))
    raise BuildError(
        f"@{name} was {function.attributes[MEMREF_TYPES]} when its types were recorded, and passes "
        f"have changed its arguments or results since; take the signature from the module before "
        f"these passes, or record the types behind them"
    )


def _positions(read: FunctionTypes, *, c_interface: bool) -> Iterator[int]:
    position = 0
    for type_ in read.inputs:
        yield position
        position += len(lowered_words(type_, c_interface=c_interface) or ())


def _name_of(argument: Any, text: str | None) -> str | None:
    """Return the name in an argument's location, or in the text at that place."""
    location = str(argument.location)
    found = _NAME_LOCATION.fullmatch(location)
    if found is not None:
        return found[1]
    place = _PLACE.match(location)
    if place is None or text is None:
        return None
    line, column = int(place[1]), int(place[2])
    lines = text.encode().split(b"\n")
    written = _WRITTEN.match(lines[line - 1], column - 1) if line <= len(lines) else None
    return None if written is None else written[1].decode()


def _attribute_name(function: Operation, attributes: str, position: int) -> str | None:
    if attributes not in function.attributes:
        return None
    found = function.attributes[attributes][position]
    return found[_NAME_ATTRIBUTE].value if _NAME_ATTRIBUTE in found else None


def _alignment(entry: Any, argument: Any) -> int | None:
    """Return the greatest alignment that the entry block assumes of an argument."""
    found = [
        operation.operation.attributes["alignment"].value
        for operation in entry.operations
        if operation.operation.name == "memref.assume_alignment"
        and operation.operation.operands[0] == argument
    ]
    return max(found, default=None)
