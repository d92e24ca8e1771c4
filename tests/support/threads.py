"""Work in several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

THREADS = 16


def together(work: Callable[[int], None], count: int = THREADS) -> None:
    """Run `work(0)`, `work(1)`, … at once, and raise the first error."""
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def run(index: int) -> None:
        try:
            start.wait()
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
