"""What wrappers say of themselves: the JSON in the LLVM attribute `ffi-builder-metadata`.

It is there in MLIR and in LLVM IR; a compiled library has a function for it instead. Its form is
that of tvm-ffi's function metadata, with one member of our own:

    {"type_schema": …, "ffi_builder": {"signature": "f(x: Tensor([n], float32), …)", "doc": "…",
     "params": [{"name": "x", "default": …, "kw_only": true, "doc": "…"}, …]}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from ffi_builder.abi import PREFIX
from ffi_builder.protocol import METADATA as ATTRIBUTE
from ffi_builder.runtime.protocols import Module, Operation

EMPTY: Final[Any] = object()
"""What `default` is where there is none."""

_VALUE = re.compile(rf'"{ATTRIBUTE}"="([^"]*)"')
_GROUP = re.compile(r"^attributes (#\d+) = \{(.*)", re.MULTILINE)
_DEFINITION = re.compile(rf'^define\b[^@]*@"?({PREFIX}[^"(]+)"?\((.*)', re.MULTILINE)
_ESCAPE = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")
_OPTIONAL: Final = "Optional("


@dataclass(frozen=True)
class Unwritable:
    """A default that could not be written; `shown` is its `repr`."""

    shown: str


@dataclass(frozen=True)
class Parameter:
    """An argument. `type` is as the signature's text writes it: `Tensor([n], float32)`."""

    name: str
    type: str
    default: object = EMPTY
    kw_only: bool = False
    doc: str = ""

    @property
    def has_default(self) -> bool:
        """Whether callers may leave it out."""
        return self.default is not EMPTY

    @property
    def kind(self) -> str:
        """`Tensor`, `Struct`, `float32`: also of what an Optional holds."""
        return re.split(r"[(\[)]", self.type.removeprefix(_OPTIONAL), maxsplit=1)[0]

    @property
    def elements(self) -> list[Parameter]:
        """Of a Struct or Tuple."""
        return [Parameter(*field) for field in fields(self.type.removeprefix(_OPTIONAL))[0]]


@dataclass(frozen=True)
class Info:
    """What is known of a function; `name` is that in the module, not the one that errors show."""

    name: str
    signature: str
    """The canonical text, which `Signature.parse` reads."""
    doc: str = ""
    parameters: tuple[Parameter, ...] = ()

    @property
    def text(self) -> str:
        """The signature for people: only what callers pass."""
        params = ", ".join(f"{param.name}: {param.type}" for param in self.parameters)
        return f"{self.name}({params}){fields(self.signature)[1]}"

    @property
    def returns(self) -> str:
        """What stands behind the arrow: `y: Tensor([n], float32)`; empty where nothing does."""
        found = re.match(r" -> (.*?)(?: where |$)", fields(self.signature)[1])
        return found[1] if found else ""


def of_module(module: Module) -> dict[str, str]:
    """The JSON of every wrapper in an MLIR module, by names without the prefix."""
    found: dict[str, str] = {}
    for item in module.body.operations:
        operation = item.operation
        if operation.name != "llvm.func":
            continue
        name = operation.attributes["sym_name"].value
        text = _attribute(operation) if name.startswith(PREFIX) else None
        if text is not None:
            found[name.removeprefix(PREFIX)] = text
    return found


def _attribute(operation: Operation) -> str | None:
    if "passthrough" not in operation.attributes:
        return None
    for entry in operation.attributes["passthrough"]:
        # A name alone is a string, with a value it is an array of two.
        if hasattr(entry, "value"):
            continue
        name, value = (part.value for part in entry)
        if name == ATTRIBUTE:
            return value
    return None


def of_llvm_ir(text: str) -> dict[str, str]:
    """The same of LLVM IR text."""
    groups = {group: _of_attributes(listed) for group, listed in _GROUP.findall(text)}
    found: dict[str, str] = {}
    for name, rest in _DEFINITION.findall(text):
        named = (groups.get(group) for group in re.findall(r"#\d+", rest))
        value = _of_attributes(rest) or next(filter(None, named), None)
        if value is not None:
            found[_unescaped(name).removeprefix(PREFIX)] = value
    return found


def _of_attributes(text: str) -> str | None:
    found = _VALUE.search(text)
    return None if found is None else _unescaped(found[1])


def _unescaped(text: str) -> str:
    """As LLVM writes strings: bytes that it does not print, and quotes, as two hex digits."""
    data = _ESCAPE.sub(
        lambda found: b"\\" if found[1] == b"\\" else bytes.fromhex(found[1].decode()),
        text.encode(),
    )
    return data.decode(errors="replace")


def read(name: str, text: str) -> Info | None:
    """The JSON text, or None if it is not of our form: it may come from anywhere."""
    try:
        return _info(name, json.loads(text)["ffi_builder"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _info(name: str, own: Mapping[str, Any]) -> Info:
    signature = _text(own["signature"])
    types = {field: type_ for field, type_ in fields(signature)[0] if type_ != "EnvStream"}
    params = [_parameter(types, param) for param in own["params"]]
    positional = [param.default is EMPTY for param in params if not param.kw_only]
    if list(types) != [param.name for param in params] or positional != sorted(positional)[::-1]:
        raise ValueError(signature)
    return Info(name, signature, _text(own.get("doc", "")), tuple(params))


def _parameter(types: Mapping[str, str], param: Mapping[str, Any]) -> Parameter:
    name = _text(param["name"])
    if not name.isidentifier():
        raise ValueError(name)
    default = _default(param["default"]) if "default" in param else EMPTY
    doc = _text(param.get("doc", ""))
    return Parameter(name, types[name], default, param.get("kw_only") is True, doc)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _default(value: object) -> object:
    if isinstance(value, list):
        return [_default(item) for item in cast("list[object]", value)]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = cast("dict[str, Any]", value).items()
    match kind:
        case "tuple":
            return tuple(map(_default, content))
        case "dict":
            return {_default(key): _default(item) for key, item in content}
        case "float":
            return float(content)
        case "bytes":
            return bytes.fromhex(content)
        case "repr":
            return Unwritable(_text(content))
        case _:
            raise ValueError(kind)


def fields(text: str) -> tuple[list[tuple[str, str]], str]:
    """What stands in the first parentheses, as names and types, and the text behind them.

    ValueError if there are none.
    """
    found: list[tuple[str, str]] = []
    depth, quoted, start = 0, False, text.index("(") + 1
    for at in range(start, len(text)):
        letter = text[at]
        quoted ^= letter == "'"
        if quoted:
            continue
        depth += (letter in "([{") - (letter in ")]}")
        if (letter == "," and depth == 0) or depth < 0:
            name, colon, type_ = text[start:at].partition(": ")
            if colon:
                found.append((name.strip(), type_))
            start = at + 1
        if depth < 0:
            return found, text[start:]
    raise ValueError(text)


def exported(text: str) -> str:
    """The JSON as tvm-ffi's tools read it from a library: the schema is a text in it."""
    data = json.loads(text)
    data["type_schema"] = json.dumps(data["type_schema"], separators=(",", ":"))
    return json.dumps(data, separators=(",", ":"))
