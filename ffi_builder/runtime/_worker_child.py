"""The child process of `isolate.worker`, which serves requests until its owner ends."""

from __future__ import annotations

import fcntl
import hashlib
import math
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import llvm, mlir, targets
from ffi_builder.runtime.isolate.worker import IDENTITY


def serve(connection: int, life: int) -> None:
    """Answer each request on file descriptor `connection` with its identity and (error, result).

    `life` is the reading end of a pipe that the owner of this process holds open.
    """
    _end_with(life)
    llvm.most_pipelines = math.inf  # the owner replaces this process before leaks matter
    requests = Connection(connection)
    while True:
        try:
            request = memoryview(requests.recv_bytes())
        except EOFError:
            return
        serial, _ = IDENTITY.unpack_from(request)
        data = request[IDENTITY.size :]
        name, *arguments = pickle.loads(data)
        try:
            answer = (None, _SERVICES[name](*arguments))
        except CompileError as error:
            answer = (str(error), None)
        # The digest is computed from the request that was served, not copied from its header.
        identity = IDENTITY.pack(serial, hashlib.sha256(data).digest())
        requests.send_bytes(identity + pickle.dumps(answer))


def _end_with(life: int) -> None:
    """End this process as soon as the other end of the pipe `life` is closed.

    The kernel then sends SIGIO, which ends the process by default. No thread has to run for that,
    so it works while MLIR or LLVM holds the interpreter's lock. (PR_SET_PDEATHSIG would fire when
    the *thread* that started this process ends.)
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGIO])
    fcntl.fcntl(life, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(life, 0)
    if poll.poll(0):  # the pipe was closed before
        sys.exit()


def _translate(module: str | bytes, root: str) -> str:
    parsed = mlir.parse(module, root)
    # A failing translation may end this process at once, so messages are written to stderr as they
    # arise.
    handler = parsed.context.attach_diagnostic_handler(_print_diagnostic)
    try:
        return mlir.translate(parsed)
    except mlir.Refused:
        sys.exit()  # the owner reads the reason from stderr
    finally:
        handler.detach()


def _print_diagnostic(diagnostic: Any) -> bool:
    print(f"{diagnostic.location}: {diagnostic.message}", file=sys.stderr, flush=True)
    return True


_SERVICES: dict[str, Callable[..., object]] = {
    "translate": _translate,
    "emit_ptx": targets.emit_ptx,
    **{
        function.__name__: function
        for function in (
            *(llvm.disassemble, llvm.emit_object, llvm.emit_assembly, llvm.internalised),
            *(llvm.optimised, llvm.headers, llvm.function_types),
        )
    },
}
