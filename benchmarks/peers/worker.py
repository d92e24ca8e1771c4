"""The process of a peer: requests and answers are lines of JSON.

    python -m peers.worker FOLDER PEER…     # in benchmarks/

FOLDER has what `native.build` makes; each PEER is a module here with a class `Peer`. A request is
`{"peer": "nvidia", "do": "call_c", "with": {…}}`. The answer has one of `value`, `unsupported`
(why this peer cannot do that) and `error`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any

if "BENCHMARK_TORCH" in os.environ:  # before tvm_ffi, which looks for torch when it is imported
    sys.path.append(os.environ["BENCHMARK_TORCH"])
else:  # tvm_ffi would import it wherever it is installed
    sys.modules["torch"] = None  # pyright: ignore[reportArgumentType]

from native import Native
from peers.base import Peer, Unsupported


def first_line(error: BaseException) -> str:
    """Return the class of an error and the first line of its message."""
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"[
        :300
    ]


def answer(peers: dict[str, Peer], request: dict[str, Any]) -> dict[str, Any]:
    """Carry out a request."""
    try:
        work = getattr(peers[request["peer"]], request["do"], None)
        if work is None:
            raise Unsupported(f"{request['peer']} has no {request['do']}")
        return {"value": work(**request.get("with", {}))}
    except Unsupported as why:
        return {"unsupported": str(why)}
    except Exception as error:
        traceback.print_exc()
        return {"error": first_line(error)}


def imported(name: str, native: Native) -> Peer:
    """Import a peer's module and make the peer, which knows how long the import took."""
    start = time.perf_counter()
    module = import_module(f"peers.{name}")
    took = 1e3 * (time.perf_counter() - start)
    peer: Peer = module.Peer(native)
    peer.import_ms = took
    return peer


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is not an answer
    folder, *names = sys.argv[1:]
    try:
        native = Native(Path(folder))
        peers = {name: imported(name, native) for name in names}
        ready: dict[str, Any] = {"value": {name: peer.versions() for name, peer in peers.items()}}
    except Exception as error:
        traceback.print_exc()
        print(json.dumps({"error": first_line(error)}), file=answers)
        sys.exit(1)
    gc.freeze()  # collections skip what has been imported
    print(json.dumps(ready), file=answers)
    for line in sys.stdin:
        print(json.dumps(answer(peers, json.loads(line))), file=answers)


if __name__ == "__main__":
    main()
