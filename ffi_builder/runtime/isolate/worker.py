"""Translates and generates code in child processes, for input that might end the process.

A child is started on first use, and kept: it takes 0.1 to 0.4 s to start, and about a millisecond
per request. LLVM and each MLIR distribution have separate children, since some distributions cannot
share a process. A child serves one request at a time; there are at most as many children of a kind
as this process has cores. `crew` keeps several children busy from one thread.

Each answer repeats the identity of its request. If a request ends early, for example by an
interrupt, its child is killed, so that the answer cannot be taken for the answer to a later
request.
"""

from __future__ import annotations

import atexit
import hashlib
import itertools
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, Final

from ffi_builder import importing
from ffi_builder.errors import CompileError

SECONDS_VARIABLE: Final = "FFI_BUILDER_CHILD_SECONDS"
"""The environment variable that says how many seconds a request may take."""

DEFAULT_SECONDS: Final = 120.0
"""The default limit. Code generation takes seconds at most, but never ends for some modules."""

# A child is replaced after so many requests, since each leaks memory: LLVM's pipelines, MLIR's
# contexts and the texts of translations.
_MOST_REQUESTS = 1_000

# The interval at which a thread looks for a free child, if no more can be started.
_WAIT_SECONDS: Final = 0.002

_NO_CODE: Final = "LLVM cannot generate code for {}"
NOT_PARSED: Final = "The LLVM IR does not parse"
"""The beginning of an error that has nothing to do with what else the module has."""

IDENTITY: Final = struct.Struct("<Q32s")
"""The start of a request and of its answer: a serial number, and the request's SHA-256."""

_START = (
    "import sys; sys.path[:] = {path!r}; "
    "from ffi_builder.runtime._worker_child import serve; serve({connection}, {life})"
)


def translate(module: str | bytes, root: str, hazard: str | None) -> str:
    """Translate generic MLIR text, or bytecode, to LLVM IR with distribution `root`.

    `hazard` names what may fail, if that is known. Raises CompileError with MLIR's words.
    """
    where = "" if hazard is None else f" at {hazard}"
    failure = f"Translating the module to LLVM IR failed{where}"
    return _request(root, failure, ("translate", module, root))


def generate(function: str, hazard: str, *arguments: object) -> Any:
    """Call a function of `codegen.llvm`, by its name.

    `hazard` names what may fail. Raises CompileError, also for what would have ended the process.
    """
    try:
        return _request("llvm", "", (function, *arguments))
    except CompileError as error:
        raise CompileError(cannot_generate(hazard, f"{error}")) from None


def cannot_generate(hazard: str, words: str) -> str:
    """Return the text of the error that `generate` raises, from the words of the child."""
    return words if words.startswith(NOT_PARSED) else f"{_NO_CODE.format(hazard)}: {words}"


def disassemble(bitcode: bytes) -> str:
    """Return the LLVM IR of bitcode. Raises CompileError, also for what would end the process."""
    failure = "Expected LLVM bitcode of LLVM 22 or earlier; it is not read"
    return _request("llvm", failure, ("disassemble", bitcode))


def emit_ptx(text: str, cpu: str, features: str, level: int, libraries: Sequence[bytes]) -> str:
    """Call `codegen.targets.emit_ptx` in a child.

    Raises CompileError, also for what would have ended the process.
    """
    message = ("emit_ptx", text, cpu, features, level, tuple(libraries))
    return _request("llvm", f"LLVM makes no PTX of the module for {cpu}", message)


def time_limit() -> float:
    """Return how many seconds a request may take. Raises ValueError for an invalid setting."""
    text = os.environ.get(SECONDS_VARIABLE, "").strip()
    try:
        seconds = float(text or DEFAULT_SECONDS)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < threading.TIMEOUT_MAX:
        raise ValueError(f"Expected a number of seconds in {SECONDS_VARIABLE}, but it is `{text}`")
    return seconds


class RequestError(Exception):
    """A child did not answer. The text is the reason."""


class Lease:
    """A request, or a crew. Its children refer to it weakly: if it is gone, it was interrupted."""


class Child:
    """A running child process."""

    def __init__(self) -> None:
        if not sys.executable:
            raise CompileError(
                "A child process is needed to compile this module, but sys.executable is not set"
            )
        # This takes 8 ms, and most processes need no child.
        pipe = importing.load("multiprocessing.connection").Pipe

        self.owner: weakref.ref[Lease] | None = None
        self.requests = 0
        self.deadline = 0.0
        self._serial = itertools.count()
        self._identity, self._start, self._seconds = b"", 0, 0.0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the child)
        self.connection, theirs = pipe()
        # Nothing is ever written to this pipe. The kernel tells the child when this process, the
        # last writer, is gone.
        watched, life = os.pipe()
        self._life = open(life, "wb", buffering=0)  # noqa: SIM115, PTH123
        try:
            self.process = self._started(theirs.fileno(), watched)
        except BaseException:
            self.disconnect()
            raise
        finally:
            theirs.close()
            os.close(watched)

    def _started(self, connection: int, life: int) -> subprocess.Popen[bytes]:
        code = _START.format(path=sys.path, connection=connection, life=life)
        return subprocess.Popen(
            [sys.executable, "-I", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=self._errors,
            stderr=self._errors,
            pass_fds=(connection, life),
            start_new_session=True,  # Ctrl-C in a terminal is for the owner to handle
        )

    def ask(self, message: tuple[object, ...], seconds: float) -> None:
        """Send a request that may take so many seconds. Raises RequestError if the child ends."""
        data = pickle.dumps(message)
        self._identity = IDENTITY.pack(next(self._serial), hashlib.sha256(data).digest())
        self._start = os.fstat(self._errors.fileno()).st_size
        self._seconds, self.deadline = seconds, time.monotonic() + seconds
        try:
            self.connection.send_bytes(self._identity + data)
        except OSError:
            raise self._crash() from None

    def answer(self) -> tuple[str | None, Any]:
        """Wait for the answer to the last request: an error or None, and the result.

        Raises RequestError if the child ends, or takes too long.
        """
        left = max(0.0, self.deadline - time.monotonic())
        try:
            answer = self.connection.recv_bytes() if self.connection.poll(left) else None
        except (EOFError, OSError):
            raise self._crash() from None
        if answer is None:
            limit = f"{self._seconds:g} s ({SECONDS_VARIABLE} sets this limit)"
            raise RequestError(f"{self._last_words()} it did not end within {limit}".lstrip())
        if not answer.startswith(self._identity):
            raise RequestError("the child process answered another request")
        self.requests += 1
        return pickle.loads(memoryview(answer)[IDENTITY.size :])

    def is_usable(self) -> bool:
        """Tell whether the process runs, and has not served so many requests that leaks matter."""
        return not self.ended() and self.requests < _MOST_REQUESTS

    def _crash(self) -> RequestError:
        self._reap(0)
        status = self.process.returncode
        return RequestError(self._last_words() or f"it crashed (status {status}) without a word")

    def ended(self) -> bool:
        """Tell whether the process is gone."""
        self._reap(os.WNOHANG)
        return self.process.returncode is not None

    def _reap(self, options: int) -> None:
        """Do what Popen's `wait` and `poll` do, without locks that an interrupt can leave held."""
        if self.process.returncode is not None:
            return
        try:
            pid, status = os.waitpid(self.process.pid, options)
        except ChildProcessError:  # other code has waited for it
            self.process.returncode = 0
        else:
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)

    def is_lost(self) -> bool:
        """Tell whether its request is gone, as an interrupt kept `give_back` from being called."""
        return self.owner is not None and self.owner() is None

    def _last_words(self) -> str:
        self._errors.seek(self._start)
        return self._errors.read().decode(errors="replace").strip()

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        if not self.ended():
            os.kill(self.process.pid, signal.SIGKILL)
            self._reap(0)
        self.disconnect()

    def disconnect(self) -> None:
        """Close the pipes, or after a fork this process's copies of them."""
        self.connection.close()
        self._life.close()
        self._errors.close()

    def abandon(self) -> None:
        """In a fork of the owner, leave the process to the owner: only that may talk to it."""
        self.disconnect()
        self.process.returncode = 0


running: dict[str, list[Child]] = {}
"""The children by kind: `llvm`, or the root package of an MLIR distribution."""

_lock = threading.Lock()  # not a Condition: an interrupt may leave that locked


def most_children() -> int:
    """Return the most children of a kind: the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def kill_children() -> None:
    """End every child, whatever it is doing."""
    for child in itertools.chain.from_iterable(running.values()):
        child.kill()
    running.clear()


atexit.register(kill_children)


def _take(kind: str, lease: Lease) -> Child:
    """Give a free child of `kind` to `lease`. If none is free, start one, or wait at the limit."""
    while (child := hire(kind, lease, most_children())) is None:
        time.sleep(_WAIT_SECONDS)
    return child


def hire(kind: str, lease: Lease, most: float) -> Child | None:
    """Give a free or new child of `kind` to `lease`; None if none is free and there are `most`."""
    with _lock:
        children = running[kind] = _usable(running.get(kind, ()))
        child = next((child for child in children if child.owner is None), None)
        if child is None and len(children) < most:
            child = Child()
            children.append(child)
        if child is not None:
            child.owner = weakref.ref(lease)
        return child


def _usable(children: Iterable[Child]) -> list[Child]:
    """Return the children that serve a request or can serve the next one; kill the others."""
    usable: list[Child] = []
    for child in children:
        if child.is_lost() or (child.owner is None and child.ended()):
            child.kill()
        else:
            usable.append(child)
    return usable


def give_back(kind: str, lease: Lease, *, served: bool) -> None:
    """Free the children of `lease`; kill them if they have not `served` their requests."""
    with _lock:
        for child in list(running.get(kind, ())):
            if child.owner is not None and child.owner() is lease:
                if not served or not child.is_usable():
                    running[kind].remove(child)
                    child.kill()
                child.owner = None


def _request(kind: str, failure: str, message: tuple[object, ...]) -> Any:
    seconds = time_limit()
    lease, served = Lease(), False
    prefix = failure and f"{failure}: "
    try:
        child = _take(kind, lease)
        child.ask(message, seconds)
        error, answer = child.answer()
        served = True
    except RequestError as failed:
        raise CompileError(f"{prefix}{failed}") from None
    finally:
        give_back(kind, lease, served=served)
    if error is not None:
        raise CompileError(f"{prefix}{error}")
    return answer


def _forked() -> None:
    """After a fork, leave the children to their owner, and start without any."""
    global _lock
    _lock = threading.Lock()
    for child in itertools.chain.from_iterable(running.values()):
        child.abandon()
    running.clear()


os.register_at_fork(after_in_child=_forked)
