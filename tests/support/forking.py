"""Children that start with what they need imported: forks of a process that has only imported.

A new process takes half a second to import NumPy, tvm-ffi and MLIR. A fork ends as any process
does, so what is about the end of the interpreter is the same in it. What is about imports needs a
new process.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Final

import pytest

from tests.support.absent import needed

ROOT: Final = Path(__file__).parents[2]

# A child leaves the loop, and the last line of the program runs its code in `__main__`, as -c does.
_SERVER: Final = """
{imports}
def _next_code():
    import json, os
    if "{threads}":
        os.environ.pop("{threads}", None)
    requests, answers = os.fdopen(os.dup(0), "rb", buffering=0), os.dup(1)
    while line := requests.readline():
        given = json.loads(line)
        pid = os.fork()
        if not pid:
            requests.close()
            os.close(answers)
            for number, path in enumerate((os.devnull, *given["output"])):
                file = os.open(path, os.O_RDWR)
                os.dup2(file, number)
                os.close(file)
            return given["code"]
        os.write(answers, b"%d\\n" % pid)
        os.write(answers, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    return ""
exec(compile(_next_code(), "<string>", "exec"))
"""
_THREADS: Final = "OPENBLAS_NUM_THREADS"

OTHERS: Final = "import numpy, tvm_ffi, tvm_ffi_orcjit, llvmlite.binding, torch_mlir.ir"
"""Imports of the packages of others; they take half a second."""
COMPILING: Final = f"""
{OTHERS}
import torch_mlir.dialects.llvm
from ffi_builder import entry, runtime, spec, wrap
from ffi_builder.runtime.codegen import emit, mlir
from ffi_builder.runtime.compiler import compile
from ffi_builder.runtime.jit import link
from ffi_builder.runtime.python import arguments, functions, loaded
from tests.runtime import callables, samples
del entry, runtime, spec, wrap, emit, mlir, compile, link, arguments, functions, loaded
del callables, samples
"""
"""Imports of a first compile; they take another second."""


class Forking:
    """Runs code in forks of one process, which starts with the first and ends with `close`."""

    def __init__(self, imports: str) -> None:
        """Say what the process imports; nothing of that may start threads."""
        self._imports = imports
        self._server: subprocess.Popen[bytes] | None = None

    def run(self, code: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
        """Run code from the repository root. Skips the test if an add-on is missing there."""
        with tempfile.TemporaryDirectory() as folder:
            output = [Path(folder, name) for name in ("out", "err")]
            for path in output:
                path.touch()
            request = {"code": textwrap.dedent(code), "output": [*map(str, output)]}
            os.write(self._ends()[0], json.dumps(request).encode() + b"\n")
            pid = self._answer(60)
            try:
                status = self._answer(seconds)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._answer(60)
                raise
            done = subprocess.CompletedProcess(code, status, *(p.read_text() for p in output))
        if words := needed(done.stderr):
            pytest.skip(words)
        return done

    def close(self) -> None:
        """End the process."""
        if self._server is not None:
            self._server.communicate(timeout=60)
            assert self._server.returncode == 0
            self._server = None

    def _ends(self) -> tuple[int, int]:
        if self._server is None:
            # NumPy's BLAS would start threads.
            threads = "" if _THREADS in os.environ else _THREADS
            self._server = subprocess.Popen(
                [
                    *(sys.executable, "-W", "error", "-c"),
                    _SERVER.format(imports=self._imports, threads=threads),
                ],
                cwd=ROOT,
                env={_THREADS: "1", **os.environ},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        return self._server.stdin.fileno(), self._server.stdout.fileno()

    def _answer(self, seconds: float) -> int:
        """Read a line with a number."""
        text, file = b"", self._ends()[1]
        while not text.endswith(b"\n"):
            if not select.select([file], [], [], seconds)[0]:
                raise TimeoutError(f"no answer within {seconds} s")
            more = os.read(file, 1)
            assert more, "the process that forks has ended"
            text += more
        return int(text)
