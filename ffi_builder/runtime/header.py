"""A header for C and C++: the functions as they are, and for C++ typed ones that call them.

#ifdef __cplusplus
#include <tvm/ffi/tvm_ffi.h>
extern "C" {
…
int __tvm_ffi_scale(void *handle, const TVMFFIAny *args, int32_t num_args, TVMFFIAny *result);
#ifdef __cplusplus
}
namespace kernels {
inline void scale(::tvm::ffi::TensorView x, double factor) {
  ::tvm::ffi::Function::InvokeExternC(nullptr, __tvm_ffi_scale, x, factor);
}
…
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ffi_builder.runtime.bound import documentation
from ffi_builder.runtime.cxx import identifier, includes, inline_function
from ffi_builder.runtime.described import Described
from ffi_builder.runtime.metadata import PREFIX


def text(functions: Sequence[Described], library: str, name: str) -> str:
    """The header `name` of the functions in the file `library`.

    Its namespace is called as the header is, without the suffix.
    """
    guard = f"FFI_BUILDER_{re.sub(r'[^A-Z0-9]', '_', name.upper())}_"
    namespace = identifier(Path(name).stem)
    lines = [
        f"/* Functions of {_harmless(library)}. Written by ffi_builder.",
        " *",
        " * They need libtvm_ffi. C calls __tvm_ffi_<name>: 0 is success, -1 an error that",
        f" * TVMFFIErrorMoveFromRaised takes. C++ calls {namespace}::<name>, which throws",
        " * tvm::ffi::Error.",
        " */",
        *(f"#ifndef {guard}", f"#define {guard}", ""),
        *("#ifdef __cplusplus", *includes(functions), "", 'extern "C" {'),
        *("#else", "#include <tvm/ffi/c_api.h>", "#endif", ""),
        *(line for function in functions for line in _declaration(function)),
        *("#ifdef __cplusplus", '}  /* extern "C" */', "", f"namespace {namespace} {{", ""),
        *(line for function in functions for line in _inline(function)),
        *(f"}}  // namespace {namespace}", "#endif", "", f"#endif  /* {guard} */", ""),
    ]
    return "\n".join(lines)


def _declaration(function: Described) -> Iterator[str]:
    if not function.name.isidentifier() or not function.name.isascii():
        yield f"/* {_harmless(function.name)}: no name of C; look it up with dlsym. */"
    else:
        yield from _comment(function)
        yield f"int {PREFIX}{function.name}(void *handle, const TVMFFIAny *args, int32_t num_args,"
        yield f"{' ' * len(f'int {PREFIX}{function.name}(')}TVMFFIAny *result);"
    yield ""


def _inline(function: Described) -> Iterator[str]:
    if function.name.isidentifier() and function.name.isascii():
        yield from _comment(function)
        yield from inline_function(function)
        yield ""


def _comment(function: Described) -> Iterator[str]:
    if function.info is None:
        yield f"/* {function.name}: nothing is known of its parameters. */"
        return
    first, *rest = _harmless(documentation(function.info)).splitlines()
    yield f"/* {first}" if rest else f"/* {first} */"
    for line in rest:
        yield f" * {line}".rstrip()
    if rest:
        yield " */"


def _harmless(words: str) -> str:
    """Without what begins or ends a comment."""
    return words.replace("*/", "* /").replace("/*", "/ *")
