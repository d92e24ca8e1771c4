"""Translation and code generation in a child process, for input that might end the process it is in.

One child for LLVM and one for each MLIR distribution (some cannot share a process) is started when first needed and kept: a
child takes 0.1 to 0.4 s to start, a request about a millisecond. Messages are pickles with their length in front; nobody else
writes to these pipes.
"""

from __future__ import annotations

import atexit
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import threading
from typing import Any

from ffi_builder.errors import CompileError

_LENGTH = struct.Struct("<Q")
_START = (
    "import sys; sys.path[:] = {path!r}; "
    "from ffi_builder.runtime._guard_child import serve; serve()"
)


def translate(text: str, root: str, hazard: str) -> str:
    """LLVM IR of generic MLIR `text`, by distribution `root`. Raises CompileError with what the translation said."""
    return _request(root, f"Translating the module to LLVM IR failed at {hazard}", "translate", text, root)


def emit_object(text: str, cpu: str, level: int, passes: bool, jit: bool, *, hazard: str) -> bytes:
    """`llvm.emit_object` in a child. Raises CompileError, also for what would have ended the process."""
    return _request("llvm", _codegen(hazard), "emit_object", text, cpu, level, passes, jit)


def emit_assembly(text: str, cpu: str, level: int, *, hazard: str) -> str:
    """`llvm.emit_assembly` in a child. Raises CompileError, also for what would have ended the process."""
    return _request("llvm", _codegen(hazard), "emit_assembly", text, cpu, level)


def _codegen(hazard: str) -> str:
    return f"LLVM cannot generate code for the module, which has `{hazard}`"


class _Child:
    """A running child process that serves one request at a time."""

    def __init__(self) -> None:
        if not sys.executable:
            raise CompileError("A child process is needed to compile this module, but sys.executable is not set")
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )

    def request(self, message: tuple[object, ...]) -> Any:
        """What the child answers. Raises EOFError with its last words if it ends instead."""
        data = pickle.dumps(message)
        start = os.fstat(self.errors.fileno()).st_size
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(_LENGTH.pack(len(data)) + data)
            stdin.flush()
            length = stdout.read(_LENGTH.size)
        except BrokenPipeError:
            length = b""
        if len(length) < _LENGTH.size:
            self.close()
            self.errors.seek(start)
            words = self.errors.read().decode(errors="replace").strip()
            raise EOFError(words or f"the child process ended with {self.process.returncode}")
        return pickle.loads(stdout.read(_LENGTH.unpack(length)[0]))

    def close(self) -> None:
        """End the child and wait for it."""
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        self.process.wait()


_children: dict[str, _Child] = {}
_children_lock = threading.Lock()


def _child(kind: str) -> _Child:
    with _children_lock:
        child = _children.get(kind)
        # After a fork the pipes belong to the parent.
        if child is None or child.pid != os.getpid() or child.process.poll() is not None:
            child = _children[kind] = _Child()
        return child


def _request(kind: str, failure: str, *message: object) -> Any:
    child = _child(kind)
    with child.lock:
        try:
            error, answer = child.request(message)
        except EOFError as ended:
            raise CompileError(f"{failure}: {ended}") from None
    if error is not None:
        raise CompileError(f"{failure}: {error}")
    return answer


@atexit.register
def _close_all() -> None:
    for child in _children.values():
        if child.pid == os.getpid():
            child.close()
            child.errors.close()


