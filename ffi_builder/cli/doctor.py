"""``doctor``: print what is installed, what works, and what to install."""

from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from ffi_builder import __version__
from ffi_builder.cli.output import coloured
from ffi_builder.extending import PIP_NAMES, dataclass, install

HELP = "print what is installed, what works, and what to install"
DESCRIPTION = """\
Look for everything that ffi_builder works with, try it, and print how to install what is missing.
The exit status is 0 if wrappers can be compiled and run here, else 1.
"""
EXAMPLES = """\
example:
  ffi-builder doctor
"""

_DISTRIBUTIONS: Final = {**PIP_NAMES, "mlir": "mlir"}


@dataclass(frozen=True)
class Finding:
    """A line of the output."""

    what: str
    works: bool | None
    """None if the thing is missing and nothing needs it."""
    words: str
    needed: bool = False
    """Whether compiling or calling wrappers needs the thing."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add no options; this command has none."""
    del parser


def run(given: argparse.Namespace) -> int:
    """Run the command: print a line for each finding. Returns the exit status."""
    del given
    failed = False
    for finding in _findings():
        mark, colour = {True: ("ok", "green"), False: ("no", "red"), None: ("--", "yellow")}[
            finding.works
        ]
        shown = coloured(f"{mark:>2}", colour, sys.stdout)
        print(f"{shown}  {finding.what:<22} {finding.words}", flush=True)
        failed |= finding.needed and not finding.works
    return int(failed)


def _findings() -> Iterator[Finding]:
    version = platform.python_version()
    yield Finding("ffi_builder", True, f"{__version__}, Python {version}")
    system = _system()
    yield system
    yield _package("apache-tvm-ffi", "tvm_ffi", "it comes with ffi_builder")
    distributions = [_distribution(root, package) for root, package in _DISTRIBUTIONS.items()]
    if not system.works:
        yield from (finding for finding in distributions if finding.works is not None)
        return
    yield _package("llvmlite", "llvmlite.binding", install("jit"))
    yield _package("apache-tvm-ffi-orcjit", "tvm_ffi_orcjit", install("jit"))
    yield from (finding for finding in distributions if finding.works is not None)
    if not any(finding.works for finding in distributions):
        yield Finding("MLIR", False, f"none found: {install('mlir', 'torch-mlir')}", needed=True)
    yield from _entry()
    yield _compiling([finding.what for finding in distributions if finding.works])
    yield _reader()
    yield _linker()
    yield _cuda()


def _system() -> Finding:
    try:
        importlib.import_module("ffi_builder.runtime")
    except ImportError as error:
        return Finding("system", False, str(error), needed=True)
    machine = platform.machine()
    tested = "" if machine in _TESTED else f", which is not tested ({' and '.join(_TESTED)} are)"
    return Finding("system", True, f"{platform.system()} on {machine}{tested}")


_TESTED: Final = ("x86_64", "aarch64")


def _entry() -> Iterator[Finding]:
    """Report whether calls from Python are read in C, and for which frameworks' arrays."""
    code = """
from ffi_builder.extending import addons
from ffi_builder.runtime.extending import Reading, extension
reading = extension()
off = isinstance(reading, Reading)
parts = [reading] if off else [Reading("calls"), *addons.find("calls", "c").readings()]
for part in parts: print(part.name, part.reason, sep="\\t")
"""
    for line in _tried(code).output.splitlines():
        name, _, reason = line.partition("\t")
        what = "calls read in C" if name == "calls" else f"  arrays of {name}"
        if name == "calls":
            hint = f"; {_HOW_TO_BUILD}" if "not built" in reason else ""
            words = f"no, tvm-ffi converts arguments: {reason}{hint}" if reason else _HOW_TO_SWITCH
            yield Finding(what, None if reason else True, words)
        elif not reason:
            yield Finding(what, True, "read in C")
        else:
            yield Finding(what, None, f"converted by tvm-ffi: {reason}")


_HOW_TO_SWITCH: Final = "in use (FFI_BUILDER_ENTRY=python turns it off)"
_HOW_TO_BUILD: Final = (
    "install ffi_builder again with a C compiler and Python's headers: "
    "pip install --force-reinstall --no-deps . in a clone"
)


def _package(package: str, module: str, hint: str) -> Finding:
    try:
        version = importlib.metadata.version(package)
        importlib.import_module(module)
    except importlib.metadata.PackageNotFoundError:
        return Finding(package, False, f"not installed: {hint}", needed=True)
    except Exception as error:
        return Finding(package, False, f"does not import ({error}): {hint}", needed=True)
    return Finding(package, True, version, needed=True)


def _distribution(root: str, package: str) -> Finding:
    """Try a distribution in a separate process: some cannot share one, and some crash."""
    try:
        is_installed = importlib.util.find_spec(root.partition(".")[0]) is not None
        version = importlib.metadata.version(package) if is_installed else ""
    except (ImportError, ValueError, importlib.metadata.PackageNotFoundError):
        is_installed, version = False, ""
    if not is_installed:
        return Finding(root, None, "not installed")
    code = (
        f"from ffi_builder.extending import named; d = named({root!r}); "
        f"c = d.ir.Context(); d.load_llvm(c)"
    )
    if failure := _tried(code, "it crashed").failure:
        return Finding(root, False, f"{version}, but: {failure}")
    return Finding(root, True, f"{version}, MLIR with the LLVM dialect")


def _compiling(roots: Sequence[str]) -> Finding:
    """Compile with the first distribution that works.

    Some can neither translate to LLVM IR nor leave that to torch-mlir.
    """
    what, words = "compiling and calling", "no MLIR distribution to try it with"
    for root in roots:
        code = f"""
from ffi_builder import attach, providers, runtime, spec
from ffi_builder.extending import named
d = named({root!r}); c = d.ir.Context(); d.load_llvm(c); m = d.ir.Module.parse("", c)
attach(m, spec.Signature("f", [spec.Var("a", "int32")]), providers.NopCallProvider())
runtime.compile(m)["f"](1)
"""
        words = _tried(code, "the process crashed").failure
        if not words:
            words = f"a wrapper in a module of {root} was compiled and called"
            return Finding(what, True, words, needed=True)
    return Finding(what, False, words, needed=True)


class _Tried(NamedTuple):
    """The output of a process, and the last line of its error; empty if there was none."""

    output: str
    failure: str


def _tried(code: str, crashed: str = "") -> _Tried:
    """Run code in a process of its own; ``crashed`` is the failure of one that says nothing."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    lines = done.stderr.strip().splitlines() or [crashed]
    return _Tried(done.stdout, lines[-1] if done.returncode else "")


def _reader() -> Finding:
    """Read a prototype, in a separate process."""
    code = """
from ffi_builder.wrapping.libclang import bindings
from ffi_builder.wrapping.prototype import Header
Header("void f(long n);").read(None, "f")
print(bindings().package)
"""
    output, words = _tried(code, "libclang crashed")
    if not words:
        return Finding("prototypes in C", True, f"{output.strip()} reads them")
    return Finding("prototypes in C", None, words.partition("CompileError: ")[2] or words)


def _linker() -> Finding:
    command = shlex.split(os.environ.get("CC", "")) or ["cc"]
    linker = next((name for name in (command[0], "gcc", "clang") if shutil.which(name)), None)
    if linker is None:
        words = "no cc, gcc or clang: only export_library needs one (apt install gcc)"
        return Finding("linker", None, words)
    return Finding("linker", True, f"{shutil.which(linker)} (for export_library)")


def _cuda() -> Finding:
    """Check that the driver can be loaded, and count the devices."""
    what, none = "CUDA driver", "no libcuda.so.1 (needed to run CUDA kernels, not to wrap them)"
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return Finding(what, None, none)
    version, count = ctypes.c_int(), ctypes.c_int()
    steps: list[Callable[[], int]] = [
        lambda: driver.cuInit(0),
        lambda: driver.cuDriverGetVersion(ctypes.byref(version)),
        lambda: driver.cuDeviceGetCount(ctypes.byref(count)),
    ]
    for step in steps:
        status = step()
        if status:
            return Finding(what, False, f"found, but it returns error {status}")
    major, minor = version.value // 1000, version.value % 1000 // 10
    return Finding(what, True, f"CUDA {major}.{minor}, {count.value} device(s)")
