"""The process that wraps and calls drawn kernels, so that a crash is one case's result.

``python -m tests.wrapping.drawn.worker`` reads a pickled list of cases at a time from standard
input. For each it writes a pickled pair: what became of the case, and what is wrong, or nothing.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import pickle
import re
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any, Final

from tvm_ffi.libinfo import include_paths

from ffi_builder import BuildError, CompileError, SpecError, providers, wrap
from tests.wrapping.drawn.cases import ENUMS, Array, Case, Tensor
from tests.wrapping.drawn.checks import Checked, check_type, knows_elements
from tests.wrapping.drawn.code import Record, c_source, ctypes_function, llvm_ir
from tests.wrapping.drawn.memory import Given, Memory, Wrong, entries_of

TIMEOUT: Final = 60
UNCALLED: Final = ("bfloat16", "int4x2", "float32x2", "float8_e4m3fn")
"""Dtypes that NumPy lacks."""
REFUSED: Final = (BuildError, CompileError, SpecError, TypeError, ValueError)


class Batch:
    """Compiled cases."""

    def __init__(self, cases: list[Case], folder: Path) -> None:
        source, flags = folder / "k.c", [f"-I{path}" for path in include_paths()]
        source.write_text(c_source(cases))
        # optimised, as the code then relies on the types
        command = ["gcc", "-O1", "-w", "-fPIC", *flags, "-c", source, "-o", folder / "k.o"]
        subprocess.run([*map(str, command)], check=True, capture_output=True, text=True)
        self.data = (folder / "k.o").read_bytes()
        self.header = folder / "k.h"
        head = "#include <stdint.h>\n#include <stddef.h>\n#include <dlpack/dlpack.h>\n"
        lines = "".join(f"{case.prototype};\n" for case in cases)
        self.header.write_text(f"{head}{ENUMS}{lines}")
        self.library = None
        if any(case.door == "ctypes" for case in cases):
            subprocess.run(["ld", "-shared", folder / "k.o", "-o", folder / "k.so"], check=True)
            self.library = ctypes.CDLL(str(folder / "k.so"))

    def wrapped(self, case: Case) -> Any:
        args: Any = case.args
        args = [*args] if isinstance(args, tuple) else args
        how: dict[str, Any] = {"device": "cpu", "args": args}
        text = f"{ENUMS if 'enum' in case.prototype else ''}{case.prototype}"
        match case.door:
            case "prototype":
                return wrap(self.data, case.signature, prototype=text, **how)
            case "header":
                return wrap(self.data, case.signature, prototype=self.header, **how)
            case "LLVM IR":
                return wrap(llvm_ir(case), case.signature, **how)
            case "both":
                return wrap(llvm_ir(case), case.signature, prototype=text, **how)
            case "direct":
                direct = providers.DirectCallProvider
                return wrap(llvm_ir(case), case.signature, provider=direct, **how)
            case _:
                assert self.library is not None
                return wrap(ctypes_function(case, self.library), case.signature, **how)


def is_callable(case: Case) -> bool:
    arrays = [a for v in case.values.values() for a in (v if isinstance(v, tuple) else [v])]
    names = [a.dtype for a in arrays if isinstance(a, Array)]
    return not any(name in UNCALLED for name in names)


def check_uncalled(case: Case) -> None:
    """Check what no array of NumPy is passed for."""
    if case.args is None or not knows_elements(case):
        return
    entries = [entry for entry in entries_of(case) if entry is not None]
    for param, entry in zip(case.params, entries, strict=False):
        type_ = case.types.get(f"{entry}".removesuffix(".data"))
        if isinstance(type_, Tensor) and type_.dims is None and ".data" not in f"{entry}":
            continue
        if isinstance(type_, Tensor) and len(entries) == len(case.params):
            check_type(case, param, type_.dtype.split(" | "))


def run(case: Case, batch: Batch, record: Record, memory: Memory) -> tuple[str, str]:
    """Return what became of a case, and what is wrong."""
    must = "" if case.step else "refused, but right: "
    is_aligned = all(param.align == 1 for param in case.params)
    try:
        compiled = batch.wrapped(case)
    except REFUSED as error:
        words = f"{type(error).__name__}: {error}"
        if not is_aligned and re.search(r"aligned to \d+ bytes, but", words):
            must = ""
        return f"refused: {type(error).__name__}", f"{must}{words}" if must else ""
    if not is_callable(case):
        check_uncalled(case)
        return "not called", ""
    memory.clear()
    record.clear()
    given = Given(case, memory)
    checked = Checked(case, given, record)
    checked.check_types()
    checked.tell()
    try:
        returned = compiled(*given.passed())
    except (TypeError, ValueError, OverflowError) as error:
        if record.called:
            raise Wrong(f"an error after the call: {error}") from None
        if must and (is_aligned or " == 0 but got" not in f"{error}"):
            return "refused", f"{must}{error}"
        return f"error: {type(error).__name__}", ""
    except RuntimeError as error:
        own = case.result.kind == "number" and (not case.results or checked.by_pointer)
        if not own or not record.called:
            raise Wrong(f"{error}") from None
        if not checked.value or f"status {checked.value} " not in f"{error}":
            raise Wrong(f"the status {checked.value} raised: {error}") from None
        checked.check()
        memory.check()
        return "status", ""
    checked.check()
    checked.check_after(returned)
    memory.check()
    return "accepted" if not case.step else "accepted: a step", ""


def serve(requests: Any, replies: Any) -> None:
    """Answer requests until there are no more."""
    record, memory = Record(), Memory()
    while True:
        try:
            cases = pickle.load(requests)
        except EOFError:
            return
        with tempfile.TemporaryDirectory() as folder:
            try:
                batch = Batch(cases, Path(folder))
            except subprocess.CalledProcessError as error:
                for at, _ in enumerate(cases):
                    pickle.dump(("broken", f"{error.stderr}" * (at == 0)), replies)
                replies.flush()
                continue
            for case in cases:
                faulthandler.dump_traceback_later(TIMEOUT, exit=True)
                try:
                    reply = run(case, batch, record, memory)
                except Wrong as error:
                    reply = "wrong", f"{error}"
                except Exception:
                    reply = "broken", traceback.format_exc()
                pickle.dump(reply, replies)
                replies.flush()
                faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    faulthandler.enable()
    warnings.simplefilter("ignore")
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, channel)
