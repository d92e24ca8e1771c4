"""Writes a header for C and C++: the exported functions, and for C++ typed functions to call them.

#ifdef __cplusplus
#include <tvm/ffi/tvm_ffi.h>
extern "C" {
…
int __tvm_ffi_scale(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
#ifdef __cplusplus
}
namespace ffi_builder {
namespace kernels {
inline void scale(::tvm::ffi::TensorView x, double factor) {
  ::tvm::ffi::Function::InvokeExternC(nullptr, ::__tvm_ffi_scale, x, factor);
}
…
"""

from __future__ import annotations

import errno
import hashlib
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ffi_builder.protocol import helper_doc
from ffi_builder.runtime.codegen.allowlist_llvm import words
from ffi_builder.runtime.export.function_info import Argument, Described, Schema, visible
from ffi_builder.runtime.metadata import PREFIX

_OUTER: Final = "ffi_builder"
"""The outer namespace of all headers: in the global one, `div` is a C function."""


def text(functions: Sequence[Described], library: str, name: str) -> str:
    """Return the header `name` for the functions in the file `library`.

    Its inner namespace has the name of the header, without the suffix.
    """
    namespace = identifier(Path(name).stem)
    names = identifiers([function.name for function in functions if _is_name_of_c(function.name)])
    known = {function.name for function in functions}
    lines = [
        *("#ifdef __cplusplus", *includes(functions), "", 'extern "C" {'),
        *("#else", "#include <tvm/ffi/c_api.h>", "#endif", ""),
        *(line for function in functions for line in _declaration(function, known)),
        *("#ifdef __cplusplus", '}  /* extern "C" */', ""),
        *(f"namespace {_OUTER} {{", f"namespace {namespace} {{", ""),
        *(
            line
            for function in functions
            if function.name in names
            for line in (
                *_comment(function, known),
                *inline_function(function, names[function.name]),
                "",
            )
        ),
        *(f"}}  // namespace {namespace}", f"}}  // namespace {_OUTER}", "#endif", ""),
    ]
    guard = _guard(name, lines)
    head = [
        f"/* Functions of {_line(library)}. Written by ffi_builder.",
        " *",
        " * They need libtvm_ffi. C calls __tvm_ffi_<name>: 0 is success, -1 an error that",
        " * TVMFFIErrorMoveFromRaised takes. C++ calls",
        f" * {_OUTER}::{namespace}::<name>, which throws tvm::ffi::Error.",
        " */",
        *(f"#ifndef {guard}", f"#define {guard}", ""),
    ]
    return "\n".join([*head, *lines, f"#endif  /* {guard} */", ""])


def _guard(name: str, lines: Sequence[str]) -> str:
    """Return a unique macro, so that `a-b.h` and `A_B.h`, or two `kernels.h`, can be included."""
    digest = hashlib.sha256("\n".join([name, *lines]).encode()).hexdigest()[:8].upper()
    return f"FFI_BUILDER_{re.sub(r'[^A-Z0-9]', '_', name.upper())}_{digest}_"


def _is_name_of_c(name: str) -> bool:
    return name.isidentifier() and name.isascii()


def _declaration(function: Described, known: Collection[str]) -> Iterator[str]:
    if not _is_name_of_c(function.name):
        yield f"/* {_line(function.name)}: no name of C; look it up with dlsym. */"
    else:
        yield from _comment(function, known)
        yield f"int {PREFIX}{function.name}(void *handle, const TVMFFIAny *args, int32_t num_args,"
        yield f"{' ' * len(f'int {PREFIX}{function.name}(')}TVMFFIAny *result);"
    yield ""


def _comment(function: Described, known: Collection[str]) -> Iterator[str]:
    if function.info is None:
        words = helper_doc(function.name, known) or "nothing is known of its parameters"
        yield f"/* {function.name}: {words}. */"
        return
    first, *rest = map(_line, function.info.documentation.splitlines())
    yield f"/* {first}" if rest else f"/* {first} */"
    for line in rest:
        yield f" * {line}".rstrip()
    if rest:
        yield " */"


def _line(words: str) -> str:
    """Return a line of a comment, without comment marks, trigraphs and unprintable letters."""
    plain = re.sub(r"\?(?=\?[=/'()!<>-])", "? ", visible(words))
    return plain.replace("*/", "* /").replace("/*", "/ *")


# ---- C++

_FFI: Final = "::tvm::ffi::"
_WIDTH: Final = 100

_VALUES: Final[Mapping[str, str]] = {
    "int": "::std::int64_t",
    "float": "double",
    "bool": "bool",
    "void*": "void *",
    "DataType": "::DLDataType",
    "Device": "::DLDevice",
}
_CLASSES: Final[Mapping[str, str]] = {
    "ffi.Tensor": "Tensor",
    "ffi.Shape": "Shape",
    "ffi.String": "String",
    "ffi.Bytes": "Bytes",
    "ffi.Function": "Function",
    "ffi.Array": "Array",
    "ffi.Map": "Map",
    "Optional": "Optional",
    "Tuple": "Tuple",
    "Variant": "Variant",
    "None": "Any",
    "Any": "Any",
}
"""C++ types by the type in tvm-ffi's schema; any other type is an ObjectRef."""

# Keywords, alternative tokens, macros of the included headers, and names that this header uses.
# Every other name is written with its namespace, so that nothing can hide it.
_RESERVED = words(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t
    while xor xor_eq
    NULL NAN INFINITY I EOF WEOF BUFSIZ MAXFLOAT NFDBITS CSIGNAL NZERO WCONTINUED WEXITED
    WEXITSTATUS WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WNOHANG WNOWAIT WSTOPPED WSTOPSIG
    WTERMSIG WUNTRACED L_ctermid L_cuserid L_tmpnam P_tmpdir
    alloca assert be16toh be32toh be64toh errno htobe16 htobe32 htobe64 htole16 htole32 htole64
    issubnormal le16toh le32toh le64toh linux math_errhandling offsetof pthread_cleanup_pop
    pthread_cleanup_pop_restore_np pthread_cleanup_push pthread_cleanup_push_defer_np sched_priority
    stderr stdin stdout strdupa strndupa unix
    Args std tvm
    """
)
_ERRORS = frozenset(name for name in dir(errno) if name.startswith("E")) | {"EHWPOISON"}
# Names reserved for compilers, and names in the style of macros: INT_MAX, M_PIf, SYS_read.
_MACRO_LIKE = re.compile(r"_[_A-Z]\w*|[A-Z][A-Z0-9]*_[A-Z0-9_]*|SNAN[A-Z0-9]*|(M_[A-Z0-9]|SYS_)\w*")


def includes(functions: Iterable[Described]) -> list[str]:
    """Return the headers that the definitions need."""
    arguments = [argument for function in functions for argument in function.arguments]
    wide = any(argument.is_uint64 for argument in arguments)
    names = ["tvm/ffi/big_int.h"] if wide else []
    return [f"#include <{name}>" for name in [*names, "tvm/ffi/tvm_ffi.h"]] + [
        f"#include <{name}>" for name in ("cstdint", "limits", "utility")
    ]


def identifier(name: str) -> str:
    """Return the C++ name that is closest to `name`, such as `new_` for `new`."""
    letters = re.sub(r"\W", "_", name, flags=re.ASCII) or "_"
    if letters[0].isdigit():
        letters = f"_{letters}"
    taken = letters in _RESERVED or letters in _ERRORS or _MACRO_LIKE.fullmatch(letters)
    return f"{letters}_" if taken else letters


def identifiers(names: Collection[str]) -> dict[str, str]:
    """Return a different C++ name for each of `names`.

    Names that are valid in C++ never change, whatever the order of the names: if there is a `new_`,
    `new` becomes `new__`.
    """
    result = {name: name for name in names if identifier(name) == name}
    taken = set(result)
    for name in sorted(set(names) - taken):
        own = identifier(name)
        while own in taken:
            own += "_"
        taken.add(own)
        result[name] = own
    return result


def inline_function(function: Described, name: str) -> Iterator[str]:
    """Yield the lines that define `name`, which calls the function."""
    symbol = f"::{PREFIX}{function.name}"
    invoke = f"{_FFI}Function::InvokeExternC("
    if function.info is None or function.info.takes_more:
        yield "template <typename... Args>"
        yield f"inline {_FFI}Any {name}(Args &&...args) {{"
        yield f"  return {invoke}nullptr, {symbol}, ::std::forward<Args>(args)...);"
        yield "}"
        return
    names = identifiers([argument.parameter.name for argument in function.arguments])
    declared: list[str] = []
    passed: list[str] = []
    for argument in function.arguments:
        own = names[argument.parameter.name]
        if argument.is_constant:
            passed.append(_constant(argument.parameter.value))
        else:
            type_ = _parameter_type(argument)
            declared.append(f"{type_}{'' if type_.endswith(('*', '&')) else ' '}{own}")
            # An AnyView would wrap numbers that do not fit int64_t.
            passed.append(f"{_FFI}BigInt({own})" if argument.is_uint64 else own)
    returned = _returned(function)
    yield from _wrapped(f"inline {returned} {name}(", declared, ") {")
    invoke = f"  {'' if returned == 'void' else 'return '}{invoke}"
    cast = "" if returned in ("void", f"{_FFI}Any") else f".cast<{returned}>()"
    yield from _wrapped(invoke, ["nullptr", symbol, *passed], f"){cast};")
    yield "}"


def _returned(function: Described) -> str:
    """Return the C++ type of the result. It is Any for a uint64, which may not fit int64_t."""
    assert function.info is not None
    schema = function.returns
    if schema is None or any(result.kind == "uint64" for result in function.info.results):
        return f"{_FFI}Any"
    return "void" if schema["type"] == "None" else _type(schema)


def _wrapped(start: str, items: Sequence[str], end: str) -> Iterator[str]:
    """Yield a call or declaration, wrapped to the width of lines."""
    line = start
    for index, item in enumerate(items):
        piece = item + (end if index == len(items) - 1 else ",")
        if len(line) + len(piece) > _WIDTH - 1:
            yield line.rstrip()
            line = "      "
        line += f"{piece} "
    yield line.rstrip() if items else start + end


def _parameter_type(argument: Argument) -> str:
    schema = argument.schema
    match schema["type"]:
        case "ffi.Tensor":
            return f"{_FFI}TensorView"
        case "Optional" if schema["args"][0]["type"] == "ffi.Tensor":
            return f"{_FFI}Optional<{_FFI}TensorView>"
        case "int" if argument.is_uint64:
            return "::std::uint64_t"
        case kind if kind in _VALUES:
            return _VALUES[kind]
        case _:
            return f"const {_type(schema)} &"


def _type(schema: Schema) -> str:
    """Return the C++ type of a value that may be in a container."""
    kind: str = schema["type"]
    if kind == "Optional" and schema["args"][0]["type"] == "Any":
        return f"{_FFI}Any"  # it may be None, and tvm-ffi has no Optional<Any>
    if kind in _VALUES:
        return _VALUES[kind]
    if kind not in _CLASSES:
        return f"{_FFI}ObjectRef"
    arguments = ", ".join(_type(inner) for inner in schema.get("args", ()))
    return f"{_FFI}{_CLASSES[kind]}{f'<{arguments}>' if 'args' in schema else ''}"


def _constant(value: object) -> str:
    limits = "::std::numeric_limits<double>::"
    match value:
        case None:
            return "nullptr"
        case bool():
            return "true" if value else "false"
        case int():
            # C++ reads -9223372036854775808 as minus a number that is too large.
            shown = "-9223372036854775807 - 1" if value == -(1 << 63) else value
            return f"::std::int64_t{{{shown}}}"
        case float() if math.isnan(value):
            return f"{limits}quiet_NaN()"
        case float() if math.isinf(value):
            return f"{'-' * (value < 0)}{limits}infinity()"
        case _:
            return repr(value)
