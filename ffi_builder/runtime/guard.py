"""Translation and code generation in a child process, for input that might end the process.

One child for LLVM and one for each MLIR distribution (some cannot share a process) is started when
first needed and kept: a child takes 0.1 to 0.4 s to start, a request about a millisecond. Messages
are pickles with their length in front; nobody else writes to these pipes.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import Any

from ffi_builder.errors import CompileError

# Translation takes milliseconds, but never ends on some modules, such as one that allocates
# `!llvm.void`.
_TRANSLATION_SECONDS = 60.0

# LLVM's pipelines and MLIR's contexts leave some KB behind with each request.
_MOST_REQUESTS = 10_000

_LENGTH = struct.Struct("<Q")
_START = (
    "import sys; sys.path[:] = {path!r}; "
    "from ffi_builder.runtime._guard_child import serve; serve()"
)


def translate(text: str, root: str, hazard: str | None) -> str:
    """LLVM IR of generic MLIR `text`, by distribution `root`.

    `hazard` is what may fail, if that is known. Raises CompileError with what the translation said.
    """
    where = "" if hazard is None else f" at {hazard}"
    failure = f"Translating the module to LLVM IR failed{where}"
    return _request(root, failure, ("translate", text, root), _TRANSLATION_SECONDS)


def emit_object(
    text: str,
    cpu: str,
    level: int,
    passes: bool,
    jit: bool,
    triple: str | None,
    *,
    hazard: str,
) -> bytes:
    """`llvm.emit_object` in a child.

    Raises CompileError, also for what would have ended the process.
    """
    message = ("emit_object", text, cpu, level, passes, jit, triple)
    return _request("llvm", _codegen(hazard), message)


def emit_assembly(text: str, cpu: str, level: int, *, hazard: str) -> str:
    """`llvm.emit_assembly` in a child.

    Raises CompileError, also for what would have ended the process.
    """
    return _request("llvm", _codegen(hazard), ("emit_assembly", text, cpu, level))


def emit_ptx(text: str, cpu: str, features: str, level: int, libraries: Sequence[bytes]) -> str:
    """`nvptx.emit_ptx` in a child.

    Raises CompileError, also for what would have ended the process.
    """
    message = ("emit_ptx", text, cpu, features, level, tuple(libraries))
    return _request("llvm", f"LLVM makes no PTX of the module for {cpu}", message)


def _codegen(hazard: str) -> str:
    return f"LLVM cannot generate code for {hazard}"


class _Child:
    """A running child process that serves one request at a time."""

    def __init__(self) -> None:
        if not sys.executable:
            raise CompileError(
                "A child process is needed to compile this module, but sys.executable is not set"
            )
        self.lock = threading.Lock()
        self.requests = 0
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the child)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
        )

    def request(self, message: tuple[object, ...], seconds: float | None) -> Any:
        """What the child answers.

        Raises EOFError with its last words if it ends, or takes longer than `seconds`.
        """
        data = pickle.dumps(message)
        start = os.fstat(self.errors.fileno()).st_size
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(_LENGTH.pack(len(data)) + data)
            stdin.flush()
            if not select.select([stdout], [], [], seconds)[0]:
                self.process.kill()
            length = stdout.read(_LENGTH.size)
        except BrokenPipeError:
            length = b""
        if len(length) < _LENGTH.size:
            self.process.wait()
            words = self._last_words(start)
            self.close()
            raise EOFError(words)
        return pickle.loads(stdout.read(_LENGTH.unpack(length)[0]))

    def ended(self) -> bool:
        """Whether the process is gone."""
        return self.process.poll() is not None

    def abandon(self) -> None:
        """In a fork of the process that it belongs to, which alone may talk to it.

        While a copy of its pipe were open here, it would not see that its owner has closed it. What
        another thread was writing at the fork must not be written here as well.
        """
        nowhere = os.open(os.devnull, os.O_RDWR)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            if not pipe.closed:  # it has ended, and nobody has asked for another one yet
                os.dup2(nowhere, pipe.fileno(), inheritable=False)
        os.close(nowhere)
        self.process.returncode = 0

    def _last_words(self, start: int) -> str:
        self.errors.seek(start)
        words = self.errors.read().decode(errors="replace").strip()
        if self.process.returncode == -signal.SIGKILL:
            return f"{words} it did not end within {_TRANSLATION_SECONDS:g} s".strip()
        return words or f"it crashed (status {self.process.returncode}) without a word"

    def close(self) -> None:
        """End the child and wait for it."""
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self.process.wait()
        self.errors.close()


_children: dict[str, _Child] = {}
_children_lock = threading.Lock()
_abandoned: list[
    _Child
] = []  # their pipes may be locked by threads that are not there after a fork


def _child(kind: str) -> _Child:
    with _children_lock:
        child = _children.get(kind)
        if child is None or child.ended():
            child = _children[kind] = _Child()
        return child


def _forked() -> None:
    global _children_lock
    _children_lock = threading.Lock()
    for child in _children.values():
        child.abandon()
    _abandoned.extend(_children.values())
    _children.clear()


os.register_at_fork(after_in_child=_forked)


def _request(
    kind: str, failure: str, message: tuple[object, ...], seconds: float | None = None
) -> Any:
    while True:
        child = _child(kind)
        with child.lock:
            if child.ended():
                continue  # on what another thread asked
            try:
                error, answer = child.request(message, seconds)
            except EOFError as ended:
                raise CompileError(f"{failure}: {ended}") from None
            child.requests += 1
            if child.requests >= _MOST_REQUESTS:
                child.close()
        if error is not None:
            raise CompileError(f"{failure}: {error}")
        return answer


@atexit.register
def _close_all() -> None:
    for child in _children.values():
        child.close()
