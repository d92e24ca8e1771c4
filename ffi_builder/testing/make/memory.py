"""The memory that arrays may take, as far as the system says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")


def free_memory() -> int | None:
    """Return the bytes that can be used without swapping or being killed; None if unknown.

    It is the least of what Linux calls available, and what the control group of a container has
    left.
    """
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _read(_MEMINFO), re.MULTILINE)
    free = [int(found[1]) * 1024] if found else []
    limit, used = (_read(_CGROUP / name).strip() for name in ("memory.max", "memory.current"))
    if limit.isdecimal() and used.isdecimal():
        free.append(max(int(limit) - int(used), 0))
    return min(free, default=None)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
