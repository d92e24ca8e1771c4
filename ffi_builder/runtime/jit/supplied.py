"""Supplies objects to link with the given ones, which define functions that these call.

Support functions of wrappers are in libraries, which are loaded once, unless the package was
installed without a C compiler.

By default (-moutline-atomics) gcc's code for AArch64 calls functions such as
`__aarch64_ldadd8_acq_rel`, which only libgcc.a has. They find out at run time whether the CPU has
atomic instructions (LSE). LLVM knows the CPU, so functions with one operation suffice:

    define zeroext i8 @__aarch64_ldadd1_acq(i8 %value, ptr %at) {
      %old = atomicrmw add ptr %at, i8 %value acquire
      ret i8 %old
    }

A shared library has an `atexit` of its own, which tells libc to whom the function belongs, and says
when it is unloaded. The JIT's `atexit` would forget the function. The same object serves C++'s
static variables, since all run in the reverse order in which they were registered:

    define hidden i32 @atexit(ptr %f) {
      %status = call i32 @__cxa_atexit(ptr %f, ptr null, ptr @__dso_handle)
      ret i32 %status
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
from ffi_builder.support import Bundle


def support_objects(undefined: Iterable[str]) -> list[bytes]:
    """Return the objects with support functions that have to be linked.

    These are the ones that a symbol needs, unless the library with the same code is loaded.
    """
    needed = _bundles(undefined)
    return [bundle.object_code() for bundle in needed if not _in_library(bundle)]


def missing_support(names: Iterable[str]) -> str:
    """Say what to do about support functions that nothing defines; empty if `names` has none."""
    shared = [name for name in names if name.startswith(SHARED)]
    if not shared:
        return ""
    own = _bundles(shared)
    if own:
        libraries, objects = (
            " and ".join(bundle.call(function) for bundle in own)
            for function in ("library", "object_code")
        )
        return (
            f"they are support functions of ffi_builder: load {libraries} with "
            f"ctypes.RTLD_GLOBAL, link {objects}, or attach(…, self_contained=True)"
        )
    return (
        "they are support functions of another version of ffi_builder: compile the module again, "
        "or attach(…, self_contained=True)"
    )


def _bundles(names: Iterable[str]) -> list[Bundle]:
    """Return the bundles of this version whose support functions are among the names."""
    digests = {name.rpartition("_")[2] for name in names if name.startswith(SHARED)}
    return [bundle for bundle in support.bundles() if bundle.digest in digests]


@functools.cache
def _in_library(bundle: Bundle) -> bool:
    """Return whether the process has the functions, from the library of this version."""
    bindings.load("tvm_ffi")  # loads its library with global symbols, which this library needs
    with contextlib.suppress(BuildError, OSError):
        library = ctypes.CDLL(str(bundle.library()), ctypes.RTLD_GLOBAL)
        return hasattr(library, bundle.symbol(next(iter(bundle.functions))))
    return False


# ---- what runs at the end

_ENDINGS: Final = (
    ("atexit", 1, "__cxa_atexit", 3),
    ("at_quick_exit", 1, "__cxa_at_quick_exit", 2),
    ("pthread_atfork", 3, "__register_atfork", 4),
)
"""Functions that libraries have of their own, and those of libc that also get the library.

With the numbers of their parameters. All are pointers, and the last one is the library.
"""
ENDINGS: Final = frozenset(name for own, _, libc, _ in _ENDINGS for name in (own, libc))
"""Functions that each module has of its own, if it calls one of them."""
JIT_ATEXIT: Final = "__orc_rt_elfnix_cxa_atexit"
_KEPT: Final = frozenset({"on_exit", "__cxa_thread_atexit", "__cxa_thread_atexit_impl"})


def endings(undefined: Iterable[str]) -> bytes | None:
    """Make an object that defines `ENDINGS`, and runs what they got when the module is unloaded.

    Returns None if no symbol needs it.
    """
    return None if ENDINGS.isdisjoint(undefined) else _endings()


def may_run_later(undefined: Iterable[str]) -> bool:
    """Return whether code may run after nothing refers to its module any more."""
    return not _KEPT.isdisjoint(undefined)


@functools.cache
def _endings() -> bytes:
    text = f"""
@__dso_handle = external global ptr
@is_known = internal global i8 0
declare extern_weak i32 @{JIT_ATEXIT}(ptr, ptr, ptr)
define internal i32 @make_known() {{
  %is_missing = icmp eq ptr @{JIT_ATEXIT}, null
  br i1 %is_missing, label %fail, label %ask
ask:
  %was = atomicrmw xchg ptr @is_known, i8 1 acq_rel
  %is_first = icmp eq i8 %was, 0
  br i1 %is_first, label %first, label %end
first:
  %status = call i32 @{JIT_ATEXIT}(
    ptr {_libc("__cxa_finalize")}, ptr @__dso_handle, ptr @__dso_handle)
  ret i32 %status
end:
  ret i32 0
fail:
  ret i32 -1
}}
"""
    text += "".join(_ending(*names_and_counts) for names_and_counts in _ENDINGS)
    return llvm.emit_object(text, "host", 0, passes=False)


def _ending(own: str, own_count: int, libc: str, count: int) -> str:
    """Return a function, and one without the library, which calls it."""
    given = [f"ptr %p{at}" for at in range(count)]
    without = given[:own_count] + ["ptr null"] * (count - own_count)
    return f"""
define weak hidden i32 @{libc}({", ".join(given)}) {{
  %status = call i32 @make_known()
  %is_known = icmp eq i32 %status, 0
  br i1 %is_known, label %call, label %fail
call:
  %is_none = icmp eq {given[-1]}, null
  %own = select i1 %is_none, ptr @__dso_handle, {given[-1]}
  %result = call i32 {_libc(libc)}({", ".join([*given[:-1], "ptr %own"])})
  ret i32 %result
fail:
  ret i32 %status
}}
define weak hidden i32 @{own}({", ".join(given[:own_count])}) {{
  %status = call i32 @{libc}({", ".join(without)})
  ret i32 %status
}}
"""


def _libc(name: str) -> str:
    """Return the address of a function of libc: the JIT has others of these names."""
    address = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    return f"inttoptr (i64 {address} to ptr)"


# ---- atomic operations

_ATOMIC: Final = (
    r"__aarch64_(?:(cas)(1|2|4|8|16)|(swp|ldadd|ldclr|ldeor|ldset)(1|2|4|8))"
    r"_(relax|acq|rel|acq_rel|sync)"
)
_OPERATIONS: Final = {"swp": "xchg", "ldadd": "add", "ldclr": "and", "ldeor": "xor", "ldset": "or"}
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
    return "".join(_definition(match) for match in matches if match is not None)


def _definition(match: re.Match[str]) -> str:
    _, cas_size, operation, size, order = match.groups()
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
define {extension}{type_} @{match[0]}({parameters}) nounwind {{{body}
  {fence}
  ret {type_} %old
}}
"""
