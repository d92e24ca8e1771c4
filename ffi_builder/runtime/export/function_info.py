"""Describes functions with their types, for headers and stubs, and adds functions with metadata.

For each function that has metadata, an export adds to its LLVM IR

    define i32 @__tvm_ffi__metadata_f(ptr %handle, ptr %args, i32 %num_args, ptr %result)
    define i32 @__tvm_ffi__doc_f(ptr %handle, ptr %args, i32 %num_args, ptr %result)

which return strings: the JSON of `metadata.exported`, and the documentation.
`tvm_ffi.Module.get_function_metadata` and `get_function_doc` call them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ffi_builder.protocol import escaped
from ffi_builder.records import dataclass
from ffi_builder.runtime import metadata
from ffi_builder.runtime.metadata import EMPTY, PREFIX, Info, Parameter

Schema: TypeAlias = Mapping[str, Any]
"""A type in tvm-ffi's schema: `{"type": "Optional", "args": [{"type": "int"}]}`."""

DESCRIPTIONS: Final = ("_metadata_", "_doc_")
"""The parts between PREFIX and the name of a function, in the functions that describe it."""

_MAKE_STRING: Final = "TVMFFIStringFromByteArray"


@dataclass(frozen=True)
class Argument:
    """A parameter with its type in tvm-ffi's schema."""

    parameter: Parameter
    schema: Schema

    @property
    def is_constant(self) -> bool:
        """Whether the parameter accepts only one value, `parameter.value`."""
        return self.parameter.value is not EMPTY and not self.parameter.optional

    @property
    def is_uint64(self) -> bool:
        """Whether the parameter accepts numbers that do not fit int64_t."""
        return self.parameter.kind == "uint64" and not self.parameter.optional


@dataclass(frozen=True)
class Described:
    """A function. Without `info`, only its name is known."""

    name: str
    info: Info | None = None
    arguments: Sequence[Argument] = ()
    returns: Schema | None = None


def described(name: str, text: str | None) -> Described:
    """Read the metadata of the function `name`, from an attribute or a library."""
    info = None if text is None else metadata.read(name, text)
    if info is None or text is None:
        return Described(name)
    schema: Any = json.loads(text)["type_schema"]
    if isinstance(schema, str):
        schema = json.loads(schema)
    named: dict[str, list[Schema]] | None = schema.get("named_args")
    if named is None:  # of a function with any number of arguments, it says no more
        return Described(name, info)
    arguments = [Argument(*pair) for pair in zip(info.parameters, named["params"], strict=True)]
    return Described(name, info, tuple(arguments), named["return"][0])


def symbols(names: Iterable[str]) -> list[str]:
    """Return the symbols of functions, and of the functions that describe them."""
    return [f"{PREFIX}{kind}{name}" for name in names for kind in ("", *DESCRIPTIONS)]


def with_descriptions(text: str, texts: Mapping[str, str]) -> str:
    """Add functions to LLVM IR that return `texts`, the metadata by name of the function."""
    parts = [text]
    for name, data in texts.items():
        info = metadata.read(name, data)
        if info is None:
            continue
        answers = dict(
            zip(DESCRIPTIONS, (metadata.exported(data), info.documentation), strict=True)
        )
        parts += [
            _returning(f"{PREFIX}{kind}{name}", answer)
            for kind, answer in answers.items()
            if not re.search(rf'@"?{PREFIX}{kind}{re.escape(name)}"?\(', text)
        ]
    if len(parts) > 1 and f"@{_MAKE_STRING}(" not in text:
        parts.append(f"declare i32 @{_MAKE_STRING}(ptr, ptr)\n")
    return "\n".join(parts)


def visible(line: str) -> str:
    """Return a line without unprintable letters."""
    return "".join(c if c.isprintable() or c == "\t" else repr(c)[1:-1] for c in line)


def _returning(symbol: str, answer: str) -> str:
    data = answer.encode()
    return f"""
@"{symbol}.text" = private unnamed_addr constant [{len(data)} x i8] c"{escaped(data)}"
@"{symbol}.array" = private constant {{ ptr, i64 }} {{ ptr @"{symbol}.text", i64 {len(data)} }}
define i32 @"{symbol}"(ptr %handle, ptr %args, i32 %num_args, ptr %result) nounwind {{
  %status = call i32 @{_MAKE_STRING}(ptr @"{symbol}.array", ptr %result)
  ret i32 %status
}}
"""
