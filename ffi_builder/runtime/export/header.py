"""A header for C and C++: the functions as they are, and for C++ typed ones that call them.

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

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ffi_builder.runtime.export.cxx import identifier, identifiers, includes, inline_function
from ffi_builder.runtime.export.function_info import Described
from ffi_builder.runtime.metadata import PREFIX

_OUTER: Final = "ffi_builder"
"""The outer namespace of all headers: in the global one, `div` is a C function."""


def text(functions: Sequence[Described], library: str, name: str) -> str:
    """The header `name` of the functions in the file `library`.

    Its inner namespace is named after the header, without the suffix.
    """
    namespace = identifier(Path(name).stem)
    names = identifiers([function.name for function in functions if _is_name_of_c(function.name)])
    lines = [
        *("#ifdef __cplusplus", *includes(functions), "", 'extern "C" {'),
        *("#else", "#include <tvm/ffi/c_api.h>", "#endif", ""),
        *(line for function in functions for line in _declaration(function)),
        *("#ifdef __cplusplus", '}  /* extern "C" */', ""),
        *(f"namespace {_OUTER} {{", f"namespace {namespace} {{", ""),
        *(
            line
            for function in functions
            if function.name in names
            for line in (*_comment(function), *inline_function(function, names[function.name]), "")
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
    """A unique macro: `a-b.h` and `A_B.h`, or two `kernels.h`, may be included."""
    digest = hashlib.sha256("\n".join([name, *lines]).encode()).hexdigest()[:8].upper()
    return f"FFI_BUILDER_{re.sub(r'[^A-Z0-9]', '_', name.upper())}_{digest}_"


def _is_name_of_c(name: str) -> bool:
    return name.isidentifier() and name.isascii()


def _declaration(function: Described) -> Iterator[str]:
    if not _is_name_of_c(function.name):
        yield f"/* {_line(function.name)}: no name of C; look it up with dlsym. */"
    else:
        yield from _comment(function)
        yield f"int {PREFIX}{function.name}(void *handle, const TVMFFIAny *args, int32_t num_args,"
        yield f"{' ' * len(f'int {PREFIX}{function.name}(')}TVMFFIAny *result);"
    yield ""


def _comment(function: Described) -> Iterator[str]:
    if function.info is None:
        yield f"/* {function.name}: nothing is known of its parameters. */"
        return
    first, *rest = map(_line, function.info.documentation.splitlines())
    yield f"/* {first}" if rest else f"/* {first} */"
    for line in rest:
        yield f" * {line}".rstrip()
    if rest:
        yield " */"


def _line(words: str) -> str:
    """A line of a comment, without comment marks, trigraphs and unprintable letters."""
    visible = "".join(
        letter if letter.isprintable() or letter == "\t" else repr(letter)[1:-1] for letter in words
    )
    plain = re.sub(r"\?(?=\?[=/'()!<>-])", "? ", visible)
    return plain.replace("*/", "* /").replace("/*", "/ *")
