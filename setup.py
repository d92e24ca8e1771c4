"""Build the extensions where that can be done: calls read in C, and code for gdb.

They are optional: without a compiler the package is installed without them, and works.
"""

import platform
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

# One binary for CPython 3.12 and later. What it needs of calls is not in older limited APIs, and
# free-threaded builds, where it was not tried, have none.
LIMITED = sys.version_info >= (3, 12)

# Debug information has relative paths: the same sources become the same files in every folder, and
# name none of the machine that they were built on.
RELATIVE_PATHS = [
    f"-ffile-prefix-map={Path.cwd()}=.",
    f"-ffile-prefix-map={sysconfig.get_path('include')}=python",
]


def extension(
    name: str, source: str, depends: tuple[str, ...] = (), libraries: tuple[str, ...] = ()
) -> Extension:
    """Describe an extension of the package."""
    return Extension(
        f"ffi_builder.{name}",
        [f"ffi_builder/{source}"],
        define_macros=[("Py_LIMITED_API", "0x030C0000")] if LIMITED else [],
        extra_compile_args=["-O2", "-std=c11", *RELATIVE_PATHS],
        py_limited_api=LIMITED,
        optional=True,
        depends=list(depends),
        libraries=list(libraries),
    )


# A build for another machine says so by _PYTHON_HOST_PLATFORM, as CPython's own cross builds do.
MACHINE = sysconfig.get_platform().rpartition("-")[2] if sys.platform == "linux" else ""
HEADERS = tuple(sorted(map(str, Path("ffi_builder/entry").glob("*.h"))))
EXTENSIONS = [
    # An add-on, which may be absent.
    *([extension("entry._entry", "entry/_entry.c", depends=HEADERS)] if HEADERS else []),
    extension("runtime.jit._gdb", "runtime/jit/_gdb.c", libraries=("pthread",)),
]
# The functions that wrappers call, the core's and those of add-ons, as libraries that JITs find in
# the process. clang has compiled them: `make support`.
EXTENSIONS += [
    Extension(
        ".".join([*code.parent.parts, "_library"]),
        [],
        extra_objects=[str(code)],
        # What it calls of libc has no version then, so that the oldest glibc will do.
        extra_link_args=["-nodefaultlibs"],
        py_limited_api=LIMITED,
        optional=True,
        depends=[str(code)],
    )
    for code in sorted(Path("ffi_builder").glob(f"**/support/{MACHINE}.o"))
]
HERE = (
    sys.platform == "linux"  # as the runtime, which they are of
    and platform.python_implementation() == "CPython"
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
)

# On macOS its compiler makes one for `testing.check`, which is all that works there.
if sys.platform == "darwin":
    from tvm_ffi.libinfo import include_paths

    SOURCES = sorted(map(str, Path("ffi_builder/support").glob("*.[ch]")))
    LIBRARY = Extension(
        "ffi_builder.support._library",
        ["ffi_builder/support/support.c"],
        include_dirs=list(map(str, include_paths())),
        extra_compile_args=["-std=c11", "-O2", "-fwrapv", "-ffp-contract=off"],  # as make support
        extra_link_args=["-undefined", "dynamic_lookup"],
        optional=True,
        depends=SOURCES,
    )

setup(
    ext_modules=EXTENSIONS if HERE else [LIBRARY] if sys.platform == "darwin" else [],
    options={"bdist_wheel": {"py_limited_api": "cp312"}} if HERE and LIMITED else {},
)
