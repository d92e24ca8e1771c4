"""Write a `.pyi` of exported functions, as `callable` returns them."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from ffi_builder.runtime.export.function_info import Described, Schema, visible
from ffi_builder.runtime.metadata import Info, Parameter

_ARRAY: Final = '''
class {_Array}({Protocol}):
    """An array of NumPy, PyTorch or another framework with DLPack."""

    def __dlpack__(self, *args: {Any}, **kwargs: {Any}) -> {Any}: ...
'''
_IMPORTS: Final[Mapping[str, Sequence[str]]] = {
    "builtins": ("bool", "bytes", "float", "int", "str"),
    "collections.abc": ("Callable", "Mapping", "Sequence"),
    "ctypes": ("c_void_p",),
    "enum": ("Enum",),
    "typing": ("Any", "Literal", "Protocol"),
}
"""The modules that the names in types are imported from. Builtins need no import."""
_NAMES: Final = frozenset({"_Array", *(name for names in _IMPORTS.values() for name in names)})
_WIDTH: Final = 100

_RETURNED: Final[Mapping[str, str]] = {
    "None": "None",
    "int": "{int}",
    "float": "{float}",
    "bool": "{bool}",
    "void*": "{c_void_p}",
    "ffi.String": "{str}",
    "ffi.Bytes": "{bytes}",
}
"""Python types by the type in tvm-ffi's schema; any other type is `Any`."""

_TYPES: Final[Mapping[str, str]] = {
    "Tensor": "{_Array}",
    "TensorList": "{Sequence}[{_Array}]",
    "bool": "{bool}",
    "handle": "{c_void_p} | None",
    "DataPointer": "{c_void_p} | {int} | None",
    "Shape": "{Sequence}[{int}]",
    "None": "None",
    "String": "{str}",
    "Bytes": "{bytes}",
    "Function": "{Callable}[..., {Any}]",
    "Array": "{Sequence}[{Any}]",
    "Map": "{Mapping}[{Any}, {Any}]",
    **dict.fromkeys(("float16", "bfloat16", "float32", "float64"), "{float}"),
    **{f"{sign}int{bits}": "{int}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
"""Python types by the kind of the parameter; any other kind is `Any`."""


class _Names(dict[str, str]):
    """The names of the types that a stub uses.

    If a function has the name of a type, the type is renamed: to `int_` beside a function `int`.
    """

    def __init__(self, functions: Collection[str]) -> None:
        super().__init__()
        self._functions = functions

    def __missing__(self, name: str) -> str:
        own = name
        while own in self._functions or (own != name and own in _NAMES):
            own += "_"
        return self.setdefault(name, own)

    def within(self, text: str) -> str:
        """Replace the names in braces in a type by those that the stub uses."""
        return text.format_map(self)

    def imports(self) -> Iterator[str]:
        """Yield the lines that import the names that were used."""
        for module, names in _IMPORTS.items():
            imported = [
                name if self[name] == name else f"{name} as {self[name]}"
                for name in names
                if name in self and (module != "builtins" or self[name] != name)
            ]
            if imported:
                yield f"from {module} import {', '.join(imported)}"


def text(functions: Sequence[Described], library: str) -> str:
    """Return the stub of the functions in `library` whose names are valid in Python."""
    shown = [f for f in functions if f.name.isidentifier() and not keyword.iskeyword(f.name)]
    names = _Names({function.name for function in shown})
    parts = ["\n".join(["", *_definition(function, names), ""]) for function in shown]
    if "_Array" in names:
        parts.insert(0, names.within(_ARRAY))
    head = f"Functions of {library}. Written by ffi_builder."
    return "\n".join([docstring(head), "", *names.imports(), ""]) + "".join(parts)


def _definition(function: Described, names: _Names) -> Iterator[str]:
    if function.info is None:
        yield names.within(f"def {function.name}(*args: {{Any}}) -> {{Any}}: ...")
        return
    params = [names.within(param) for param in _parameters(function.info)]
    is_handle = any(each.has_kind for each in function.info.results)
    returned = names.within("{Any}" if is_handle else _returned(function.returns))
    line = f"def {function.name}({', '.join(params)}) -> {returned}:"
    if len(line) > _WIDTH:
        line = "\n".join(
            [f"def {function.name}(", *(f"    {p}," for p in params), f") -> {returned}:"]
        )
    yield line
    yield f"    {docstring(function.info.documentation)}"


def _returned(schema: Schema | None) -> str:
    """Return the type of the result. It is Any for tensors, whose framework is the caller's."""
    if schema is None:
        return "{Any}"
    if schema["type"] in ("Tuple", "ffi.Array"):
        kinds = dict.fromkeys(_returned(s) for s in schema["args"])
        return f"{{Sequence}}[{' | '.join(kinds)}]"
    if schema["type"] == "Optional":
        return f"{_returned(schema['args'][0])} | None"
    return _RETURNED.get(schema["type"], "{Any}")


def _parameters(info: Info) -> list[str]:
    by_name = dict(zip(info.python_names, info.parameters, strict=True))
    shown: list[str] = []
    for param in info.python_signature.parameters.values():
        if param.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        empty = param.default is inspect.Parameter.empty
        default = "" if empty else f" = {_default(param.default)}"
        own = by_name[param.name]
        type_ = _type(own)
        if f"{own.name}.present" in (info.where or "").split(", "):
            type_ = type_.removesuffix(" | None")
        star = "*" if own.is_varargs else ""
        shown.append(f"{star}{param.name}: {type_}{_plain(default)}")
    return shown


def _type(param: Parameter) -> str:
    none = " | None" if param.optional else ""
    if param.choices:
        choices = ", ".join(map(repr, param.choices))
        return f"{{Literal}}[{_plain(choices)}] | {{Enum}}{none}"
    if param.kind == "Literal":
        # Python's Literal does not allow floats, and mypy does not read the least int64.
        if isinstance(param.value, int) and param.value != -(1 << 63):
            return f"{{Literal}}[{param.value}]{none}"
        return f"{{{type(param.value).__name__}}}{none}"
    if param.kind == "List":
        dtype = param.dtype.removeprefix("List(").rstrip(")").partition(",")[0]
        inner = _TYPES.get(dtype, "{Any}")
        inner = inner if dtype == param.dtype else f"{{Sequence}}[{inner}]"
        return f"{{Sequence}}[{inner}]{none}"
    types = dict.fromkeys(_TYPES.get(kind, "{Any}") for kind in param.kinds or (param.kind,))
    return f"{' | '.join(types)}{none}"


def _plain(text: str) -> str:
    """Escape the braces in text that has no names to replace."""
    return text.replace("{", "{{").replace("}", "}}")


def _default(value: object) -> str:
    shown = repr(value)
    try:
        ast.literal_eval(shown)
    except (ValueError, SyntaxError):
        return "..."
    return shown


def docstring(words: str) -> str:
    """Write text as the docstring of a function."""
    escaped = words.strip().replace("\\", "\\\\")
    escaped = re.sub(r'""+|"$', lambda match: match[0].replace('"', '\\"'), escaped)
    first, *rest = map(visible, escaped.splitlines())
    if not rest:
        return f'"""{first}"""'
    return "\n".join([f'"""{first}', *(f"    {line}".rstrip() for line in rest), '    """'])
