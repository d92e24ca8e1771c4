"""The child process of `guard`: serves requests on stdin and stdout until stdin ends."""

from __future__ import annotations

import math
import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any

from ffi_builder.errors import CompileError
from ffi_builder.runtime import llvm, nvptx

_LENGTH = struct.Struct("<Q")


def serve() -> None:
    """Answer each request with (error, result)."""
    llvm.most_pipelines = math.inf  # it is replaced in time
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not print into an answer
    while length := requests.read(_LENGTH.size):
        name, *arguments = pickle.loads(requests.read(_LENGTH.unpack(length)[0]))
        try:
            answer = (None, _SERVICES[name](*arguments))
        except CompileError as error:
            answer = (str(error), None)
        data = pickle.dumps(answer)
        answers.write(_LENGTH.pack(len(data)) + data)
        answers.flush()


def _translate(text: str, root: str) -> str:
    from ffi_builder.runtime import mlir

    module = mlir.parse(text, root)
    # If the translation fails this process ends, so its words have to be on stderr before that.
    handler = module.context.attach_diagnostic_handler(_print_diagnostic)
    try:
        return mlir.translate(module)
    finally:
        handler.detach()


def _print_diagnostic(diagnostic: Any) -> bool:
    print(f"{diagnostic.location}: {diagnostic.message}", file=sys.stderr, flush=True)
    return True


_SERVICES: dict[str, Callable[..., object]] = {
    "translate": _translate,
    "emit_object": llvm.emit_object,
    "emit_assembly": llvm.emit_assembly,
    "emit_ptx": nvptx.emit_ptx,
}
