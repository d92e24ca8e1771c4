"""A `.pyi` of exported functions, as `callable` gives them."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ffi_builder.runtime.bound import documentation, python_signature
from ffi_builder.runtime.described import Described, Schema
from ffi_builder.runtime.metadata import Info, Parameter

_ARRAY: Final = '''
class _Array(Protocol):
    """An array of NumPy, PyTorch or another framework with DLPack."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
'''
_IMPORTS: Final[Mapping[str, Sequence[str]]] = {
    "collections.abc": ("Callable", "Mapping", "Sequence"),
    "ctypes": ("c_void_p",),
    "enum": ("Enum",),
    "typing": ("Any", "Literal", "Protocol"),
}
_WIDTH: Final = 100

_RETURNED: Final[Mapping[str, str]] = {
    "None": "None",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "void*": "c_void_p",
}
"""By the name of tvm-ffi's schema; all else is `Any`."""

_TYPES: Final[Mapping[str, str]] = {
    "Tensor": "_Array",
    "bool": "bool",
    "handle": "c_void_p | None",
    "DataPointer": "c_void_p | int | None",
    "Shape": "Sequence[int]",
    "None": "None",
    "String": "str",
    "Bytes": "bytes",
    "Function": "Callable[..., Any]",
    "Array": "Sequence[Any]",
    "Map": "Mapping[Any, Any]",
    **dict.fromkeys(("float16", "bfloat16", "float32", "float64"), "float"),
    **{f"{sign}int{bits}": "int" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""By the kind of the parameter; all else is `Any`."""


def text(functions: Sequence[Described], library: str) -> str:
    """The stub of the functions in the file `library`. Names that Python has not are left out."""
    parts: list[str] = []
    used: set[str] = set()
    for function in functions:
        if function.name.isidentifier() and not keyword.iskeyword(function.name):
            head, *doc = _definition(function)
            used.update(re.findall(r"\w+", head))
            parts.append("\n".join(["", head, *doc, ""]))
    if "_Array" in used:
        parts.insert(0, _ARRAY)
        used.update(("Any", "Protocol"))
    named = library.replace("\\", "/").replace('"', "'")
    head = [f'"""Functions of {named}. Written by ffi_builder."""', "", *_imports(used)]
    return "\n".join(head) + "".join(parts)


def _imports(used: set[str]) -> Iterator[str]:
    for module, names in _IMPORTS.items():
        found = [name for name in names if name in used]
        if found:
            yield f"from {module} import {', '.join(found)}"
    yield ""


def _definition(function: Described) -> Iterator[str]:
    if function.info is None:
        yield f"def {function.name}(*args: Any) -> Any: ..."
        return
    returned = _returned(function.returns)
    params = _parameters(function.info)
    line = f"def {function.name}({', '.join(params)}) -> {returned}:"
    if len(line) > _WIDTH:
        line = "\n".join(
            [f"def {function.name}(", *(f"    {p}," for p in params), f") -> {returned}:"]
        )
    yield line
    yield f"    {_literal(documentation(function.info))}"


def _returned(schema: Schema | None) -> str:
    """tvm-ffi gives tensors back as what came: a `tvm_ffi.Tensor`, or the framework's own."""
    if schema is None:
        return "Any"
    if schema["type"] == "Tuple":
        return f"Sequence[{' | '.join(dict.fromkeys(_returned(s) for s in schema['args']))}]"
    return _RETURNED.get(schema["type"], "Any")


def _parameters(info: Info) -> list[str]:
    by_name = {param.name: param for param in info.parameters}
    shown: list[str] = []
    for param in python_signature(info).parameters.values():
        if param.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        own = by_name.get(param.name) or by_name[param.name.removesuffix("_")]
        empty = param.default is inspect.Parameter.empty
        default = "" if empty else f" = {_default(param.default)}"
        shown.append(f"{param.name}: {_type(own)}{default}")
    return shown


def _type(param: Parameter) -> str:
    none = " | None" if param.type.startswith("Optional(") else ""
    literal = re.search(r"Literal\[(.*)\]", param.type)
    if param.kind == "Choice":
        choices = re.findall(r"'([^']*)': -?\d+", param.type)
        return f"Literal[{', '.join(map(repr, choices))}] | Enum{none}"
    if param.kind == "Literal" and literal is not None:
        # A type has ints and bools, but no floats.
        known = re.fullmatch(r"True|False|-?\d+", literal[1])
        return f"Literal[{literal[1]}]{none}" if known else f"float{none}"
    return f"{_TYPES.get(param.kind, 'Any')}{none}"


def _default(value: object) -> str:
    shown = repr(value)
    try:
        ast.literal_eval(shown)
    except (ValueError, SyntaxError):
        return "..."
    return shown


def _literal(words: str) -> str:
    """A docstring."""
    escaped = words.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if escaped.endswith('"'):
        escaped = f'{escaped[:-1]}\\"'
    if "\n" not in escaped:
        return f'"""{escaped}"""'
    lines = "\n".join(f"    {line}".rstrip() for line in escaped.splitlines())
    return f'"""{lines.lstrip()}\n    """'
