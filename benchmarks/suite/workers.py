"""The processes of the peers, as the comparing process sees them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from suite.environments import HERE, MissingPeer, variables


class WorkerError(Exception):
    """A peer failed at a request."""


class EndedError(WorkerError):
    """The process of a peer has ended."""


class Worker:
    """A process with one or more peers."""

    def __init__(
        self, python: Path, folder: Path, peers: Sequence[str], torch: Path | None
    ) -> None:
        self.peers = peers
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed in close()
        self._process = subprocess.Popen(
            [str(python), "-m", "peers.worker", str(folder), *peers],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=HERE,
            env=variables(python, "ours" in peers, torch),
        )
        try:
            self.versions: dict[str, str] = self._answer()
        except BaseException:
            self.close()
            raise

    def ask(self, peer: str, do: str, **options: Any) -> Any:
        """Return the answer, or None if the peer cannot do that. Raises WorkerError."""
        assert self._process.stdin is not None
        request = {"peer": peer, "do": do, "with": options}
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise EndedError(self._last_words()) from None
        return self._answer()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(timeout=20)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise EndedError(self._last_words())
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(answer["error"])
        return answer.get("value")

    def _last_words(self) -> str:
        status = self._process.wait()
        self._log.seek(0)
        words = [line.strip() for line in self._log.read().splitlines() if line.strip()]
        return f"the process ended with {status}: {(words or ['without a word'])[-1]}"


class Team:
    """The workers of a generation, by peer. A peer that fails leaves, and is named in `missing`."""

    def __init__(self, missing: dict[str, str]) -> None:
        self.workers: dict[str, Worker] = {}
        self.missing = missing

    def ask(self, peer: str, do: str, **options: Any) -> Any:
        """Return the answer, or None if the peer cannot do that or is missing."""
        worker = self.workers.get(peer)
        if worker is None:
            return None
        try:
            return worker.ask(peer, do, **options)
        except WorkerError as error:
            print(f"{peer}: {do} {options}: {error}", file=sys.stderr)
            self.missing[peer] = f"{do}: {error}"
            for left in worker.peers if isinstance(error, EndedError) else [peer]:
                self.workers.pop(left, None)
            return None


Crew = tuple[Path, Sequence[str]]
"""An interpreter, and the peers that share a process of it."""


@contextmanager
def team(
    crews: Sequence[Crew], folder: Path, missing: dict[str, str], torch: Path | None = None
) -> Generator[Team]:
    """Start fresh processes for all peers, and end them on leaving."""
    made = Team(missing)
    with ExitStack() as stack:
        for python, peers in crews:
            try:
                worker = Worker(python, folder, peers, torch)
            except WorkerError as error:
                if "ours" in peers:
                    raise MissingPeer(f"ffi_builder itself: {error}") from None
                missing.update(dict.fromkeys(peers, str(error)))
                continue
            stack.callback(worker.close)
            made.workers.update(dict.fromkeys(peers, worker))
        yield made
