"""Build the extension that reads the arguments of calls in C, where that can be done.

It is optional: without a compiler the package is installed without it, and works.
"""

import platform
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

# One binary for CPython 3.12 and later. What it needs of calls is not in older limited APIs, and
# free-threaded builds, where it was not tried, have none.
LIMITED = sys.version_info >= (3, 12)
EXTENSION = Extension(
    "ffi_builder.runtime.entry._entry",
    ["ffi_builder/runtime/entry/_entry.c"],
    depends=sorted(map(str, Path("ffi_builder/runtime/entry").glob("*.h"))),
    define_macros=[("Py_LIMITED_API", "0x030C0000")] if LIMITED else [],
    extra_compile_args=["-O2", "-std=c11"],
    py_limited_api=LIMITED,
    optional=True,
)
HERE = platform.python_implementation() == "CPython" and not sysconfig.get_config_var(
    "Py_GIL_DISABLED"
)

setup(
    ext_modules=[EXTENSION] if HERE else [],
    options={"bdist_wheel": {"py_limited_api": "cp312"}} if HERE and LIMITED else {},
)
