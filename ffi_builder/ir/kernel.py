"""A kernel as its module describes it: the names and types of its arguments and results.

:func:`read_kernel` reads a ``func.func``, or an ``llvm.func`` whose types were recorded before it
was lowered (:mod:`ffi_builder.protocol`). Front ends leave names in two places::

    func.func @f(%0: memref<?xf32> loc("x"),                                   // a NameLoc
                 %1: memref<?xf32> {ml_program.identifier = "serving_y:0"})    // an attribute

MLIR's parser drops ``%x``, but keeps its position in the text, where the name can be read.

:func:`read_function` reads a function type of any distribution's bindings::

    (memref<?x4xf32, strided<[?, 1], offset: ?>>, index) -> f32

    inputs:  MemRef(element="f32", sizes=(None, 4), strides=(None, 1), offset=None, …), "index"
    results: "f32"

:func:`lowered` returns the parameters and the result after the conversion to the LLVM dialect (see
https://mlir.llvm.org/docs/TargetLLVMIR/), and :func:`dtypes_of` the dtypes of an element type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

from ffi_builder import abi
from ffi_builder.errors import BuildError
from ffi_builder.ir.distribution import named, of_module
from ffi_builder.ir.protocols import Module, Operation, Type
from ffi_builder.ir.symbols import FUNCTIONS, describe, function_names, function_parts
from ffi_builder.ir.types import Types
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.records import dataclass
from ffi_builder.suggest import did_you_mean


@dataclass(frozen=True)
class MemRef:
    """A ranked memref type. None stands for ``?``, a value known only at run time.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.kernel import read_type
        >>> with mlir.Context():
        ...     type_ = mlir.Type.parse("memref<4x?xf16, strided<[?, 1]>>")
        >>> memref = read_type(mlir, type_)
        >>> memref.element, memref.sizes, memref.strides, memref.rank
        ('f16', (4, None), (None, 1), 2)
    """

    text: str
    """The type as MLIR prints it."""
    element: str
    """The text of the element type."""
    sizes: tuple[int | None, ...]
    strides: tuple[int | None, ...] | None
    """Strides in elements; None if the type has no layout, and so is row-major."""
    offset: int | None
    """The offset in elements."""
    address_space: int = 0
    """The memory space, if it is an int; 0 is the default."""

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)


KernelType: TypeAlias = "MemRef | str"
"""A memref type, or the text of any other type.

Examples:
    >>> from torch_mlir import ir as mlir
    >>> from ffi_builder.ir.kernel import KernelType, MemRef, read_type
    >>> with mlir.Context():
    ...     types = [mlir.Type.parse(text) for text in ("memref<4x?xf16>", "!llvm.ptr")]
    >>> read: list[KernelType] = [read_type(mlir, type_) for type_ in types]
    >>> [isinstance(type_, MemRef) for type_ in read]
    [True, False]
"""


@dataclass(frozen=True)
class FunctionTypes:
    """The types of a function before lowering.

    Examples:
        >>> from ffi_builder.ir.kernel import FunctionTypes, lowered
        >>> types = FunctionTypes(inputs=("i64", "f32"), results=("f32",))
        >>> lowered(types)
        ('f32', ('i64', 'f32'))
    """

    inputs: tuple[KernelType, ...]
    results: tuple[KernelType, ...]


def read_function(ir: Any, function_type: Any) -> FunctionTypes:
    """Read the inputs and results of an ``ir.FunctionType``.

    Args:
        ir: the ``ir`` module of the type's distribution.
        function_type: the ``function_type`` of a ``func.func``.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.kernel import read_function
        >>> with mlir.Context():
        ...     type_ = mlir.Type.parse("(memref<?xf32>, i64) -> f32")
        >>> types = read_function(mlir, type_)
        >>> types.inputs[1], types.results
        ('i64', ('f32',))
    """
    inputs, results = list(function_type.inputs), list(function_type.results)
    # Reading a memref type takes 15 µs, and most kernels have several of the same type.
    known = {type_: read_type(ir, type_) for type_ in {*inputs, *results}}
    return FunctionTypes(
        tuple(known[type_] for type_ in inputs), tuple(known[type_] for type_ in results)
    )


def read_type(ir: Any, type_: Type) -> KernelType:
    """Read a type: a :class:`MemRef`, or text.

    The result is text also for a memref of unknown rank, with a layout that is not strided, or in a
    memory space that is not an int.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.kernel import read_type
        >>> with mlir.Context():
        ...     read_type(mlir, mlir.Type.parse("memref<4x?xf16>")).sizes
        ...     read_type(mlir, mlir.Type.parse("memref<*xf16>"))
        (4, None)
        'memref<*xf16>'
    """
    text = str(type_)
    if not text.startswith("memref<") or text.startswith("memref<*x"):
        return text
    memref: Any = type_
    if not isinstance(
        type_, ir.MemRefType
    ):  # old bindings do not downcast the types inside another one
        memref = ir.MemRefType(type_)
    layout, space = _read_layout(memref), _read_space(memref.memory_space)
    if layout is None or space is None:
        return text
    sizes = tuple(None if size < 0 else size for size in memref.shape)
    return MemRef(text, str(memref.element_type), sizes, *layout, space)


_DYNAMIC: Final = -(2**63)


def _read_layout(memref: Any) -> tuple[tuple[int | None, ...] | None, int | None] | None:
    """Return the strides and the offset; None for a layout that is not strided."""
    text, rank = str(memref.layout), memref.rank
    dims = ", ".join(f"d{axis}" for axis in range(rank))
    if text == f"affine_map<({dims}) -> ({dims})>":
        return None, 0
    match = re.fullmatch(r"strided<\[(.*)\](?:, offset: (.*))?>", text)
    if match is not None:
        strides = tuple(map(_entry, match[1].split(", "))) if match[1] else ()
        return strides, _entry(match[2] or "0")
    try:
        strides, offset = memref.get_strides_and_offset()
    except Exception:  # AttributeError in old bindings, other errors in newer ones
        return None
    known = tuple(None if stride == _DYNAMIC else stride for stride in strides)
    return known, None if offset == _DYNAMIC else offset


def _entry(text: str) -> int | None:
    return None if text == "?" else int(text)


def _read_space(space: object) -> int | None:
    """Return the number of a memory space; None for an attribute, which each target lowers."""
    if space is None:
        return 0
    match = re.match(r"(\d+) : i", str(space))
    return None if match is None else int(match[1])


# ---- lowering

_POINTER: Final = "!llvm.ptr"
_NUMBER: Final = r"(?:[su]?i(?P<int>\d+)|(?P<float>bf16|f16|f32|f64|f80|f128)|f\d+E.*)"
_VECTOR: Final = r"vector<(\d+)x(index|[^x<>\[\]]+)>"


def lowered(
    types: FunctionTypes, *, c_interface: bool = False
) -> tuple[str, tuple[str, ...]] | None:
    """Return the result and the parameters of the lowered ``llvm.func``, as text.

    Args:
        types: the function before lowering.
        c_interface: describe the function's C interface, in which a memref is a pointer to its
            descriptor.

    Returns:
        The result and the parameters; None if the function returns a memref, or if the lowering of
        a type is unknown: a tensor's, for example, depends on its bufferization.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.kernel import lowered, read_function
        >>> with mlir.Context():
        ...     type_ = mlir.Type.parse("(memref<?xf32>, i64) -> f32")
        >>> lowered(read_function(mlir, type_))
        ('f32', ('!llvm.ptr', '!llvm.ptr', 'i64', 'i64', 'i64', 'i64'))
    """
    parameters: list[str] = []
    for type_ in types.inputs:
        words = lowered_words(type_, c_interface=c_interface)
        if words is None:
            return None
        parameters += words
    results = [_scalar(result) if isinstance(result, str) else None for result in types.results]
    if None in results or (c_interface and len(results) > 1):
        return None
    if len(results) > 1:
        return _struct([result for result in results if result is not None]), tuple(parameters)
    return (results[0] if results else None) or "!llvm.void", tuple(parameters)


def lowered_words(type_: KernelType, *, c_interface: bool) -> list[str] | None:
    """Return the parameters for one input, as text; None if its lowering is unknown.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder.ir.kernel import lowered_words, read_type
        >>> with mlir.Context():
        ...     memref = read_type(mlir, mlir.Type.parse("memref<?xf32>"))
        >>> lowered_words(memref, c_interface=False)
        ['!llvm.ptr', '!llvm.ptr', 'i64', 'i64', 'i64']
        >>> lowered_words(memref, c_interface=True)
        ['!llvm.ptr']
    """
    if isinstance(type_, str):
        scalar = _scalar(type_)
        return None if scalar is None else [scalar]
    if c_interface:
        return [_POINTER]
    space = type_.address_space
    pointer = f"{_POINTER}<{space}>" if space else _POINTER
    return [pointer, pointer, *["i64"] * (1 + 2 * type_.rank)]


def _scalar(text: str) -> str | None:
    if text == "index":
        return "i64"
    if text.startswith("!llvm."):
        return text
    number = re.fullmatch(_NUMBER, text)
    if number is not None:
        # Float types that LLVM lacks are passed as integers of the same width.
        bits = number["int"] or re.sub(r"\D.*", "", text[1:])
        return number["float"] or f"i{bits}"
    parts = re.fullmatch(r"complex<(.*)>", text)
    if parts is not None:
        part = _scalar(parts[1])
        return None if part is None else _struct([part, part])
    vector = re.fullmatch(_VECTOR, text)
    element = None if vector is None else _scalar(vector[2])
    return None if vector is None or element is None else f"vector<{vector[1]}x{element}>"


def _struct(members: Sequence[str]) -> str:
    return f"!llvm.struct<({', '.join(member.removeprefix('!llvm.') for member in members)})>"


# ---- dtypes

_DTYPES: Final[dict[str, tuple[str, ...]]] = {
    "f16": ("float16",),
    "bf16": ("bfloat16",),
    "f32": ("float32",),
    "f64": ("float64",),
    # f8E4M3FN is float8_e4m3fn.
    **{
        f"f{bits}{name.partition('_')[2].upper()}": (name,) for name, bits in abi.FIXED_BITS.items()
    },
    "complex<f16>": ("complex32",),
    "complex<f32>": ("complex64",),
    "complex<f64>": ("complex128",),
    "index": ("int64", "uint64"),
    _POINTER: ("handle64",),
}
"""The dtypes of element types that are neither integers nor vectors."""
_OTHER_NUMBERS: Final = r"tf32|f\d+\w*|[su]?i\d+|complex<[^!]*>|vector<[^!]*>"
"""Number types; types that the functions below do not handle have no dtype."""
_INTEGER_BITS: Final = (1, 2, 4, 8, 16, 32, 64)


@cache
def dtypes_of(element: str) -> tuple[str, ...] | None:
    """Return the possible dtypes of a memref's element type, the most likely one first.

    ``i32`` has no sign, so it may be int32 or uint32. ``i8`` may also be bool, a byte in memory.
    Those of fewer bits than a byte are packed in a tensor, and not in a memref.

    Returns:
        The dtypes; none for a number without a dtype, such as ``f80``. None for a dialect's type,
        whose dtype is unknown.

    Examples:
        >>> from ffi_builder.ir.kernel import dtypes_of
        >>> dtypes_of("i32"), dtypes_of("f80"), dtypes_of("!torch.int")
        (('int32', 'uint32'), (), None)
    """
    known = _DTYPES.get(element)
    if known is not None:
        return known
    integer = re.fullmatch(r"([su]?)i(\d+)", element)
    if integer is not None:
        return _integer_dtypes(integer[1], int(integer[2]))
    vector = re.fullmatch(_VECTOR, element)
    if vector is not None:
        return _vector_dtypes(int(vector[1]), vector[2])
    return () if re.fullmatch(_OTHER_NUMBERS, element) else None


def _integer_dtypes(sign: str, bits: int) -> tuple[str, ...]:
    if bits not in _INTEGER_BITS:
        return ()
    signed = [] if sign == "u" else [f"int{bits}"]
    unsigned = [] if sign == "s" else [f"uint{bits}"]
    # DLPack's bool is a byte, and so is an i1 in memory.
    if not sign and bits == 1:
        return "bool", *signed, *unsigned
    return *signed, *unsigned, *(["bool"] if not sign and bits == 8 else [])


def _vector_dtypes(lanes: int, element: str) -> tuple[str, ...] | None:
    """Return the dtypes of a vector.

    LLVM pads vectors to a power of two and packs the bits of i1; DLPack does neither.
    """
    dtypes = dtypes_of(element)
    if dtypes is None or element == "i1" or lanes & (lanes - 1):
        return () if dtypes is not None else None
    return tuple(dtype if lanes == 1 else f"{dtype}x{lanes}" for dtype in dtypes)


_PARSER: Final = "torch_mlir"
"""The distribution that parses a module given as text."""
_NAME_LOCATION: Final = re.compile(r'loc\("((?:[^"\\]|\\.)*)"(?:\(.*\))?\)', re.DOTALL)
_PLACE: Final = re.compile(r'loc\("-":(\d+):(\d+)')
"""A position in a parsed text, which MLIR calls ``-``."""
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
    """The name that the front end left, unchanged; None if there is no name."""
    alignment: int | None = None
    """The alignment in bytes that ``memref.assume_alignment`` promises; None: no promise."""


@dataclass(frozen=True)
class Kernel:
    """The arguments and results of a function, in order.

    Examples:
        >>> from ffi_builder.ir.kernel import read_kernel
        >>> KERNEL = "func.func @fill(%x: memref<?xf32>, %value: f32) { return }"
        >>> kernel = read_kernel(KERNEL, "fill")
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
        >>> from ffi_builder.ir.kernel import read_kernel
        >>> kernel = read_kernel("func.func @relu(%x: memref<?x4xf32>) { return }", "relu")
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
    arguments: list[KernelValue] = []
    for position, type_ in zip(positions, read.inputs, strict=True):
        argument = None if entry is None else entry.arguments[position]
        known = None if argument is None else _name_of(argument, text)
        alignment = None if argument is None else _alignment(entry, argument)
        known = known or _attribute_name(function, "arg_attrs", position)
        arguments.append(KernelValue(type_, known, alignment))
    names = (_attribute_name(function, "res_attrs", at) for at in range(len(read.results)))
    return Kernel(tuple(arguments), tuple(map(KernelValue, read.results, names)))


def recorded_types(types: Types, function: Operation) -> FunctionTypes | None:
    """Read the types that a function had before lowering; None if it has no valid record.

    Examples:
        >>> from torch_mlir import ir as mlir
        >>> from ffi_builder import ir, record_memref_types
        >>> from ffi_builder.ir.distribution import of_module
        >>> from ffi_builder.ir.kernel import recorded_types
        >>> KERNEL = "func.func @relu(%x: memref<?x4xf32>) { return }"
        >>> module = mlir.Module.parse(KERNEL, mlir.Context())
        >>> record_memref_types(module)
        >>> types = ir.Types(of_module(module).ir, module.context)
        >>> recorded_types(types, module.body.operations[0]).inputs[0].sizes
        (None, 4)
    """
    if MEMREF_TYPES not in function.attributes:
        return None
    text = getattr(function.attributes[MEMREF_TYPES], "value", None)
    if not isinstance(text, str):
        return None
    try:
        function_type = types.parse(text)
    except BuildError:  # a type of a dialect that this context does not have
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
        names = function_names(module)
        raise BuildError(
            f"the module has no function {name!r}; it has {', '.join(names) or 'none'}"
            f"{did_you_mean(name, names)}"
        )
    function = table[name].operation
    if function.name not in FUNCTIONS:
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
    """Return the name in an argument's location, or in the text at that position."""
    location = str(argument.location)
    match = _NAME_LOCATION.fullmatch(location)
    if match is not None:
        return match[1]
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
    entries = function.attributes[attributes][position]
    return entries[_NAME_ATTRIBUTE].value if _NAME_ATTRIBUTE in entries else None


def _alignment(entry: Any, argument: Any) -> int | None:
    """Return the greatest alignment that the entry block assumes of an argument."""
    alignments = (
        operation.operation.attributes["alignment"].value
        for operation in entry.operations
        if operation.operation.name == "memref.assume_alignment"
        and operation.operation.operands[0] == argument
    )
    return max(alignments, default=None)
