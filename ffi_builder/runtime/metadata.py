"""The metadata of wrappers: the JSON in the LLVM attribute `ffi-builder-metadata`.

MLIR and LLVM IR carry the attribute; a compiled library has a function that returns the JSON.
`ffi_builder.spec.metadata` writes it, and documents its form.
"""

from __future__ import annotations

import inspect
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ffi_builder.abi import PREFIX
from ffi_builder.protocol import METADATA as ATTRIBUTE
from ffi_builder.protocol import METADATA_FORMAT, unescaped
from ffi_builder.records import dataclass
from ffi_builder.runtime.protocols import Module, Operation

EMPTY: Final[Any] = object()
"""Marks a missing default or constant; None is a value like any other."""

_GROUP = r"(?m)^attributes (#\d+) = \{(.*)"
_DEFINITION = rf'(?m)^define\b[^@]*@"?({PREFIX}[^"(]+)"?\((.*)'


@dataclass(frozen=True)
class Unwritable:
    """A default that could not be written; `shown` is its `repr`."""

    shown: str


@dataclass(frozen=True)
class Parameter:
    """An argument, a result, or an element of a Struct or Tuple."""

    name: str
    kind: str
    """`Tensor`, `Struct`, `float32`; for an Optional, the kind of its value."""
    type: str = ""
    """The signature's text, `Tensor([n], float32)`; elements have none."""
    optional: bool = False
    value: object = EMPTY
    """The only value that a Literal or None accepts."""
    choices: tuple[str, ...] = ()
    elements: tuple[Parameter, ...] = ()
    """The elements of a Struct or Tuple."""
    hidden: bool = False
    """Whether callers do not pass it."""
    default: object = EMPTY
    kw_only: bool = False
    doc: str = ""
    intent: str = ""
    """`in`, `out` or `inout` of a Tensor or TensorList; empty if the signature does not say."""
    dtype: str = ""
    """The dtype of the elements of a List, `String`, `Bytes` or `List(int64)`."""
    kinds: tuple[str, ...] = ()
    """The kinds of a Variant."""
    destroy: str = ""
    """The function that destroys what a handle points to: a result, or its own argument."""
    pointee: str = ""
    """What a handle points to in C, such as `struct sqlite3`; empty if not known."""

    @property
    def has_kind(self) -> bool:
        """Whether a result is an object that is destroyed, or that is told from other handles."""
        return bool(self.destroy or self.pointee)

    @property
    def has_default(self) -> bool:
        """Whether callers may leave it out."""
        return self.default is not EMPTY

    @property
    def is_varargs(self) -> bool:
        """Whether it stands for any number of further arguments."""
        return self.kind == "VarArgs"

    def __str__(self) -> str:
        return f"{'*' if self.is_varargs else ''}{self.name}: {self.type}"


@dataclass(frozen=True)
class Info:
    """The metadata of a function. `name` is its name in the module; errors show `signature`'s."""

    name: str
    signature: str
    """The canonical text, which `Signature.parse` reads."""
    doc: str = ""
    parameters: tuple[Parameter, ...] = ()
    """The parameters that callers pass."""
    results: tuple[Parameter, ...] = ()
    returns: str = ""
    """The results as text, `y: Tensor([n], float32)`; empty if nothing is returned."""
    where: str = ""
    """The constraints as text: `n % 2 == 0, no_overlap(y)`."""
    borrows: bool = False
    """Whether the kernel uses tensors only during the call, so that it needs no reference."""
    allocates: bool = False
    """Whether the wrapper allocates tensors, with the allocator of the arguments' framework."""
    holds_gil: bool = False
    """Whether the wrapper takes Python's GIL for the kernel."""

    @property
    def handles(self) -> bool:
        """Whether a result is an object for a handle, or an argument is destroyed."""
        destroys = any(each.destroy for each in self.parameters)
        return destroys or any(each.has_kind for each in self.results)

    @property
    def takes_more(self) -> bool:
        """Whether it takes any number of further arguments."""
        return bool(self.parameters) and self.parameters[-1].is_varargs

    @property
    def text(self) -> str:
        """The signature for readers, with only the parameters that callers pass."""
        return _signature(self.name, self.parameters, self.returns, self.where)

    @property
    def python_names(self) -> list[str]:
        """The parameters' names in Python. Invalid ones get an underscore: `from_`."""
        taken = {param.name for param in self.parameters}
        names: list[str] = []
        for param in self.parameters:
            name = param.name
            if keyword.iskeyword(name) or name == "__debug__" or name.startswith("__i_"):
                name = f"{name.removeprefix('__')}_"
                while name in taken:
                    name += "_"
                taken.add(name)
            names.append(name)
        return names

    @property
    def python_signature(self) -> inspect.Signature:
        """The signature for `inspect`, with the types' texts as annotations."""
        params: list[_PythonParameter] = []
        for name, param in zip(self.python_names, self.parameters, strict=True):
            default = param.default if param.has_default else _PythonParameter.empty
            kind = _PythonParameter.POSITIONAL_OR_KEYWORD
            if param.kw_only:
                kind = _PythonParameter.KEYWORD_ONLY
            elif param.is_varargs:
                kind = _PythonParameter.VAR_POSITIONAL
            params.append(
                _PythonParameter(name, kind, default=default, annotation=_TypeText(param.type))
            )
        # In Python keyword-only parameters come last, whatever the order of the arguments.
        ordered = sorted(params, key=lambda param: param.kind)
        returns = self.returns
        empty = inspect.Signature.empty
        return inspect.Signature(
            ordered, return_annotation=_TypeText(returns) if returns else empty
        )

    @property
    def documentation(self) -> str:
        """The text for `help`: the author's text, the documented parameters, and the signature."""
        parts = [self.doc] if self.doc else []
        documented = [f"    {param.name}: {param.doc}" for param in self.parameters if param.doc]
        if documented:
            parts.append("\n".join(["Args:", *documented]))
        return "\n\n".join([*parts, self.text])


def of_module(module: Module) -> dict[str, str]:
    """Return the JSON of every wrapper in an MLIR module, by names without the prefix."""
    texts: dict[str, str] = {}
    for item in module.body.operations:
        operation = item.operation
        if operation.name != "llvm.func":
            continue
        name = operation.attributes["sym_name"].value
        text = _attribute(operation) if name.startswith(PREFIX) else None
        if text is not None:
            texts[name.removeprefix(PREFIX)] = text
    return texts


def _attribute(operation: Operation) -> str | None:
    if "passthrough" not in operation.attributes:
        return None
    for entry in operation.attributes["passthrough"]:
        # A name alone is a string; a name with a value is an array of two strings.
        if hasattr(entry, "value"):
            continue
        name, value = (part.value for part in entry)
        if name == ATTRIBUTE:
            return value
    return None


def of_llvm_ir(text: str) -> dict[str, str]:
    """Return the JSON of every wrapper in LLVM IR text, by names without the prefix."""
    groups = {group: _of_attributes(listed) for group, listed in re.findall(_GROUP, text)}
    texts: dict[str, str] = {}
    for name, rest in re.findall(_DEFINITION, text):
        named = (groups.get(group) for group in re.findall(r"#\d+", rest))
        value = _of_attributes(rest) or next(filter(None, named), None)
        if value is not None:
            texts[_unescaped(name).removeprefix(PREFIX)] = value
    return texts


def _of_attributes(text: str) -> str | None:
    match = re.search(rf'"{ATTRIBUTE}"="([^"]*)"', text)
    return None if match is None else _unescaped(match[1])


def _unescaped(text: str) -> str:
    return unescaped(text).decode(errors="replace")


def read(name: str, text: str) -> Info | None:
    """Read the JSON text, which may come from anywhere; None if it is not valid metadata."""
    try:
        return _info(name, json.loads(text)["ffi_builder"])
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return None


def is_of_another_format(text: str | None) -> bool:
    """Tell whether a version of ffi_builder with another metadata format wrote the JSON."""
    try:
        own = json.loads(text or "")["ffi_builder"]
        return own.get("format") != METADATA_FORMAT and "params" in own
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False


def _info(name: str, own: Mapping[str, Any]) -> Info:
    if own["format"] != METADATA_FORMAT:
        raise ValueError(own["format"])
    params = _parameters(own["params"])
    passed = tuple(param for param in params if not param.hidden)
    if any(param.is_varargs for param in passed[:-1]):
        raise ValueError(passed)
    ordinary = [param for param in passed if not param.kw_only and not param.is_varargs]
    without_default = [not param.has_default for param in ordinary]
    if without_default != sorted(without_default, reverse=True):
        raise ValueError(without_default)
    returns_tuple = isinstance(own.get("returns"), list)
    given = [own["returns"]] if "returns" in own and not returns_tuple else own.get("returns", [])
    results = _parameters(given)
    returns = ", ".join(map(str, results))
    if returns_tuple:
        returns = f"({returns})"
    where = _text(own.get("where", ""))
    signature = _signature(_text(own["name"]), params, returns, where)
    doc, borrows = _text(own.get("doc", "")), own.get("borrows") is True
    allocated = [*results, *(param for param in params if param.hidden)]
    allocates = any(param.kind in ("Tensor", "Workspace") for param in allocated)
    gil = own.get("holds_gil") is True
    return Info(name, signature, doc, passed, results, returns, where, borrows, allocates, gil)


def _signature(name: str, params: Sequence[Parameter], returns: str, where: str) -> str:
    arrow = f" -> {returns}" if returns else ""
    constraints = f" where {where}" if where else ""
    return f"{name}({', '.join(map(str, params))}){arrow}{constraints}"


def _parameters(given: Sequence[Mapping[str, Any]]) -> tuple[Parameter, ...]:
    params = tuple(map(_parameter, given))
    if len({param.name for param in params}) < len(params):
        raise ValueError(params)
    return params


def _parameter(given: Mapping[str, Any]) -> Parameter:
    name = _text(given["name"])
    if not name.isidentifier():
        raise ValueError(name)
    return Parameter(
        name,
        _text(given["kind"]),
        _text(given.get("type", "")),
        given.get("optional") is True,
        _read_value(given["value"]) if "value" in given else EMPTY,
        tuple(map(_text, given.get("choices", ()))),
        _parameters(given.get("elements", ())),
        given.get("hidden") is True,
        _read_value(given["default"]) if "default" in given else EMPTY,
        given.get("kw_only") is True,
        _text(given.get("doc", "")),
        _text(given.get("intent", "")),
        _text(given.get("dtype", "")),
        tuple(map(_text, given.get("kinds", ()))),
        _text(given.get("destroy", "")),
        _text(given.get("pointee", "")),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _read_value(value: object) -> object:
    if isinstance(value, list):
        return [_read_value(item) for item in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = cast("dict[str, Any]", value).items()
    match kind:
        case "tuple":
            return tuple(map(_read_value, content))
        case "dict":
            return {_read_value(key): _read_value(item) for key, item in content}
        case "float":
            return float(content)
        case "bytes":
            return bytes.fromhex(content)
        case "repr":
            return Unwritable(_text(content))
        case _:
            raise ValueError(kind)


def exported(text: str) -> str:
    """Return the JSON in the form that tvm-ffi's tools read: the schema is a string of JSON."""
    data = json.loads(text)
    data["type_schema"] = json.dumps(data["type_schema"], separators=(",", ":"))
    return json.dumps(data, separators=(",", ":"))


# ---- signatures of Python

_PythonParameter = inspect.Parameter


class _TypeText(str):
    """An annotation that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def documentation(info: Info) -> str:
    """Return the documentation with Python's signature, which has defaults.

    `help` takes an entry for data, so it shows no other signature.
    """
    where = f" where {info.where}" if info.where else ""
    before = info.documentation.removesuffix(info.text)
    return f"{before}{info.name}{info.python_signature}{where}"
