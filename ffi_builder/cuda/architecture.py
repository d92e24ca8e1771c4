"""Names of architectures, `sm_90a`, checked before a tool sees them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"sm_([1-9][0-9]{1,2})([af]?)")


@dataclass(frozen=True)
class Architecture:
    """One architecture of a GPU."""

    number: int
    """90 for compute capability 9.0."""
    suffix: str
    """``a``: with what only this architecture has; ``f``: only its family; or nothing."""

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"


def architecture(arch: object) -> Architecture:
    """The architecture of that name.

    Raises:
        TypeError: the name is no str.
        ValueError: it is no name of an architecture.
    """
    if not isinstance(arch, str):
        raise TypeError(
            f"arch: expected a str such as 'sm_90a' but got {arch!r} ({type(arch).__name__})"
        )
    found = _NAME.fullmatch(arch)
    if found is None:
        meant = f", did you mean {_meant(arch)!r}?" if _meant(arch) is not None else ""
        raise ValueError(f"arch: expected a name such as 'sm_90a' but got {arch!r}{meant}")
    return Architecture(int(found[1]), found[2])


def _meant(arch: str) -> str | None:
    """``sm_90a`` for ``compute_90a``, ``90a``, ``SM90a`` or ``9.0a``."""
    found = re.fullmatch(
        r"(?:compute|sm|lto)?[_ -]?([1-9]\d?)\.?(\d)([af]?)", arch.strip(), re.IGNORECASE
    )
    return None if found is None else f"sm_{found[1]}{found[2]}{found[3].lower()}"
