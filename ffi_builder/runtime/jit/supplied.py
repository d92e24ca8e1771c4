"""Supplies objects to link with the given ones, which define functions that these call.

Support functions of wrappers are in a library that is loaded once, unless the package was installed
without a C compiler.

By default (-moutline-atomics) gcc's code for AArch64 calls functions such as
`__aarch64_ldadd8_acq_rel`, which only libgcc.a has. They find out at run time whether the CPU has
atomic instructions (LSE). LLVM knows the CPU, so functions with one operation suffice:

    define zeroext i8 @__aarch64_ldadd1_acq(i8 %value, ptr %at) {
      %old = atomicrmw add ptr %at, i8 %value acquire
      ret i8 %old
    }
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import platform
import re
from collections.abc import Iterable
from typing import Final

from ffi_builder import support
from ffi_builder.errors import BuildError
from ffi_builder.protocol import SHARED
from ffi_builder.runtime import bindings
from ffi_builder.runtime.codegen import llvm


def support_object(undefined: Iterable[str]) -> bytes | None:
    """Return the object with support functions; None if it need not be linked.

    That is so if no symbol needs it, or if the library with the same code is loaded.
    """
    own = _own_support(undefined)
    if not own or _in_library(own[0]):
        return None
    return support.object_code()


def missing_support(names: Iterable[str]) -> str:
    """Say what to do about support functions that nothing defines; empty if `names` has none."""
    found = [name for name in names if name.startswith(SHARED)]
    if not found:
        return ""
    if _own_support(found):
        return (
            "they are support functions of ffi_builder: load support.library() with "
            "ctypes.RTLD_GLOBAL, link support.object_code(), or attach(…, self_contained=True)"
        )
    return (
        "they are support functions of another version of ffi_builder: compile the module again, "
        "or attach(…, self_contained=True)"
    )


def _own_support(names: Iterable[str]) -> list[str]:
    """Return the names of support functions of this version."""
    ending = f"_{support.digest()}"
    return [name for name in names if name.startswith(SHARED) and name.endswith(ending)]


@functools.cache
def _in_library(symbol: str) -> bool:
    bindings.load("tvm_ffi")  # loads its library with global symbols, which this library needs
    with contextlib.suppress(BuildError, OSError):
        return hasattr(ctypes.CDLL(str(support.library()), ctypes.RTLD_GLOBAL), symbol)
    return False


# ---- atomic operations

_ATOMIC: Final = (
    r"__aarch64_(?:(cas)(1|2|4|8|16)|(swp|ldadd|ldclr|ldeor|ldset)(1|2|4|8))"
    r"_(relax|acq|rel|acq_rel|sync)"
)
_OPERATIONS: Final = {
    "swp": "xchg",
    "ldadd": "add",
    "ldclr": "and",
    "ldeor": "xor",
    "ldset": "or",
}
_ORDERINGS: Final = {
    "relax": "monotonic",
    "acq": "acquire",
    "rel": "release",
    "acq_rel": "acq_rel",
    "sync": "seq_cst",
}
_FAILURES: Final = {"release": "monotonic", "acq_rel": "acquire"}
"""The ordering of a failing compare-and-exchange, where it differs from the other ordering."""


def outline_atomics(undefined: Iterable[str]) -> bytes | None:
    """Make an object that defines the `undefined` symbols that libgcc.a has.

    Returns None if it has none of them, or if this machine is not AArch64.
    """
    if platform.machine() != "aarch64":
        return None
    text = definitions(undefined)
    return llvm.emit_object(text, "host", 2, passes=False) if text else None


def definitions(names: Iterable[str]) -> str:
    """Return LLVM IR that defines the functions among `names` that libgcc.a has."""
    matches = (re.fullmatch(_ATOMIC, name) for name in names)
    return "".join(_definition(found) for found in matches if found is not None)


def _definition(name: re.Match[str]) -> str:
    _, cas_size, operation, size, order = name.groups()
    type_ = f"i{8 * int(cas_size or size)}"
    ordering = _ORDERINGS[order]
    # The `__sync` builtins are full barriers, which keep later accesses behind them too.
    fence = "fence seq_cst" if order == "sync" else ""
    # Narrow results are extended, as by libgcc.
    extension = "zeroext " if type_ in ("i8", "i16", "i32") else ""
    if operation is None:
        parameters = f"{type_} %expected, {type_} %value, ptr %at"
        failure = _FAILURES.get(ordering, ordering)
        body = f"""
  %pair = cmpxchg ptr %at, {type_} %expected, {type_} %value {ordering} {failure}
  %old = extractvalue {{ {type_}, i1 }} %pair, 0"""
    else:
        parameters = f"{type_} %value, ptr %at"
        given = "%kept" if operation == "ldclr" else "%value"
        body = f"""
  %kept = xor {type_} %value, -1
  %old = atomicrmw {_OPERATIONS[operation]} ptr %at, {type_} {given} {ordering}"""
    return f"""
define {extension}{type_} @{name[0]}({parameters}) nounwind {{{body}
  {fence}
  ret {type_} %old
}}
"""
