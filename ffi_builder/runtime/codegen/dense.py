"""Reads large constants of MLIR modules as bytes, so that no value becomes text.

    llvm.mlir.global private constant @w(dense<"0x…"> : tensor<1024x1024xf32>) : !llvm.array<…>
    ─►  llvm.mlir.global external constant @w() {alignment = 64, dso_local} : !llvm.array<…>

MLIR's C API gives the address of the bytes of `dense`. It has no function for the bytes of
`dense_resource`. To get them, the constant is copied into a module of its own: its bytes are at the
end of that module's bytecode.
"""

from __future__ import annotations

import ctypes
import functools
import io
import math
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ffi_builder.runtime import bindings
from ffi_builder.runtime.codegen import bytecode
from ffi_builder.runtime.codegen.constants import ALIGN, NAME, SMALLEST
from ffi_builder.runtime.files.object_files import Constant
from ffi_builder.runtime.protocols import Operation, named_attributes

_EXTERNAL: Final = "#llvm.linkage<external>"
_PRIVATE: Final = ("#llvm.linkage<private>", "#llvm.linkage<internal>")
_ATTRIBUTES: Final = frozenset(
    {
        *("sym_name", "global_type", "linkage", "value", "constant", "alignment", "dso_local"),
        *("addr_space", "visibility_", "unnamed_addr", "tls_mode", "sym_visibility"),
    }
)
"""A constant with any other attribute, such as a section, goes to LLVM with its value."""
# A declaration keeps everything else, such as calling convention and argument attributes.
_ONLY_ON_DEFINITIONS: Final = frozenset(
    {"linkage", "visibility_", "dso_local", "comdat", "section", "personality", "value", "tls_mode"}
)
_ZERO: Final = ("addr_space", "visibility_")

_ARRAY: Final = r"!llvm\.array<((?:\d+ x array<)*\d+ x )(struct<\((\w+), \3\)|\w+)>+"
_ELEMENTS: Final = r"(?:tensor|vector)<((?:\d+x)*)(complex<(\w+)|\w+)>+"
_SIZES: Final = {
    **dict.fromkeys(("i1", "i4", "i8"), 1),
    **dict.fromkeys(("f16", "bf16", "i16"), 2),
    **dict.fromkeys(("f32", "i32"), 4),
    **dict.fromkeys(("f64", "i64"), 8),
}
"""The bytes of an element, in an array of LLVM and in an attribute of MLIR."""
_BYTES: Final = ("i1", "i4")
"""Types of elements that a resource may pack in a way that only MLIR knows."""


def constants(module: Operation) -> dict[str, Constant]:
    """Return the large constants of `module` by name, if its bindings give access to the bytes."""
    result: dict[str, Constant] = {}
    api = _api(bindings.root_of(module))
    if api is None:
        return result
    for view in module.regions[0].blocks[0].operations:
        operation = view.operation
        if operation.name == "llvm.mlir.alias":  # declarations cannot have aliases
            return {}
        if operation.name == "llvm.mlir.global":
            constant = _constant(operation, api)
            if constant is not None:
                result[operation.attributes["sym_name"].value] = constant
    return result


def declaration_of(definition: Operation, constant: Constant) -> Operation:
    """Return a declaration of the variable that `definition` defines, whose value is `constant`."""
    attributes = {
        named.name: named.attr
        for named in named_attributes(definition)
        if named.name not in _ONLY_ON_DEFINITIONS
    }
    changed = {"linkage": _EXTERNAL, "alignment": f"{constant.align} : i64"}
    if constant.local or "dso_local" in definition.attributes:
        changed["dso_local"] = "unit"
    ir = bindings.ir_of(definition)
    for name, text in changed.items():
        attributes[name] = ir.Attribute.parse(text, definition.context)
    unknown = ir.Location.unknown(definition.context)
    return ir.Operation.create(definition.name, attributes=attributes, regions=1, loc=unknown)


def _constant(variable: Operation, api: _Api) -> Constant | None:
    """Return the value of a variable; None if it is small, or its bytes cannot be read."""
    place = bindings.address(variable)
    value = None if place is None else api.attribute(place, _String(b"value", len(b"value")))
    if not value or not (api.is_dense(value) or api.is_resource(value)):
        return None
    if not {named.name for named in named_attributes(variable)} <= _ATTRIBUTES:
        return None
    attributes = variable.attributes
    linkage = str(attributes["linkage"])
    if (
        linkage not in (_EXTERNAL, *_PRIVATE)
        or any(name in attributes and attributes[name].value for name in _ZERO)
        or re.fullmatch(NAME, attributes["sym_name"].value, re.ASCII) is None
    ):
        return None
    data = _data(variable, value, api)
    if data is None:
        return None
    align = attributes["alignment"].value if "alignment" in attributes else 1
    local, writable = linkage in _PRIVATE, "constant" not in attributes
    return Constant(data, max(ALIGN, align), local, writable)


def _data(variable: Operation, value: int, api: _Api) -> bytes | memoryview | None:
    array = re.fullmatch(_ARRAY, str(variable.attributes["global_type"]))
    if array is None:
        return None
    lengths, element, pair = array.groups()
    size = _SIZES.get(pair or element, 0) * (2 if pair else 1)
    count = math.prod(map(int, re.findall(r"\d+", lengths)))
    if not count * size:
        return None
    # Leave out small constants, except resources, which would need a child process, and complex
    # values: torch-mlir's bindings end the process when they print one.
    if count * size < SMALLEST and api.is_dense(value) and not pair:
        return None
    type_ = bindings.type_at(api.type_of(value), variable)
    given = re.fullmatch(_ELEMENTS, str(type_))
    if given is None or not _same(given, element, pair, count):
        return None
    if api.is_resource(value):
        return None if element in _BYTES else _resource(variable, count * size)
    if element == "i1" and not _are_bools_bytes(variable, api):
        return None
    address = api.raw_data(value)
    if api.is_splat(value):
        one = ctypes.string_at(address, size)
        return one * count if any(one) or pair else None
    data: Any = (ctypes.c_char * (count * size)).from_address(address)
    data.owner = variable.context  # keeps the attribute alive
    return memoryview(data).cast("B")


def _are_bools_bytes(variable: Operation, api: _Api) -> bool:
    """Tell whether a bool is a byte, as in new versions of MLIR, rather than a bit."""
    bools = bindings.ir_of(variable).Attribute.parse(
        "dense<[false, true]> : tensor<2xi1>", variable.context
    )
    place = bindings.address(bools)
    return place is not None and ctypes.string_at(api.raw_data(place), 1) == b"\0"


def _same(given: re.Match[str], element: str, pair: str | None, count: int) -> bool:
    """Tell whether an attribute has as many elements as an LLVM array, in the same layout."""
    sizes, kind, part = given.groups()
    if math.prod(map(int, re.findall(r"\d+", sizes))) != count or (part is None) != (pair is None):
        return False
    kind = part or kind
    if kind == "index":
        return element == "i64"
    return kind == (pair or element) or (kind.startswith("f8") and element == "i8")


def _resource(variable: Operation, size: int) -> memoryview | None:
    """Return the bytes of a variable's `dense_resource`; None if there are not `size` of them."""
    ir = bindings.ir_of(variable)
    alone = ir.Module.create(ir.Location.unknown(variable.context))
    alone.body.append(variable.clone())
    buffer = io.BytesIO()
    try:
        alone.operation.write_bytecode(buffer)
    except (AttributeError, ValueError):  # old bindings
        return None
    return _last_blob(buffer.getbuffer(), size)


def _last_blob(data: memoryview, size: int) -> memoryview | None:
    """Return the blob at the end of the resource section, if it has exactly `size` bytes."""
    for kind, at, end in bytecode.sections(data):
        if kind == bytecode.RESOURCES:
            align, start = bytecode.number(data, at)
            given, start = bytecode.number(data, start)
            if given != size:
                return None
            start += -start % align
            return data[start:end] if end - start == size else None
    return None


# ---- MLIR's C API


class _String(ctypes.Structure):
    """`MlirStringRef`."""

    _fields_ = (("data", ctypes.c_char_p), ("length", ctypes.c_size_t))


class _Api(NamedTuple):
    """Functions of MLIR's C API. Operations, attributes and types are addresses."""

    attribute: Callable[[int, _String], int | None]
    is_dense: Callable[[int], bool]
    is_resource: Callable[[int], bool]
    is_splat: Callable[[int], bool]
    raw_data: Callable[[int], int]
    type_of: Callable[[int], int]


@functools.cache
def _api(root: str) -> _Api | None:
    """Return the functions, if the library of distribution `root` exports them."""
    names = (
        "mlirOperationGetAttributeByName",
        "mlirAttributeIsADenseElements",
        "mlirAttributeIsADenseResourceElements",
        "mlirDenseElementsAttrIsSplat",
        "mlirDenseElementsAttrGetRawData",
        "mlirAttributeGetType",
    )
    library = bindings.library(root, *names)
    if library is None:
        return None
    functions: list[Any] = [library[name] for name in names]
    for name, function in zip(names, functions, strict=True):
        function.argtypes = [ctypes.c_void_p]
        function.restype = ctypes.c_bool if "Is" in name else ctypes.c_void_p
    functions[0].argtypes = [ctypes.c_void_p, _String]
    return _Api(*functions)
