"""Parses names of architectures, such as `sm_90a`."""

from __future__ import annotations

import re

from ffi_builder.records import dataclass

_NAME = re.compile(r"sm_([1-9][0-9]{1,2})([af]?)")


@dataclass(frozen=True)
class Architecture:
    """One architecture of a GPU."""

    number: int
    """90 for compute capability 9.0."""
    suffix: str
    """``a`` with features of only this architecture, ``f`` of only its family; or empty."""

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"


def architecture(arch: object) -> Architecture:
    """Parse the name of an architecture.

    Raises:
        TypeError: if it is not a str.
        ValueError: if it is not such a name.
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
    """Return ``sm_90a`` for ``compute_90a``, ``90a``, ``SM90a`` or ``9.0a``, else None."""
    found = re.fullmatch(
        r"(?:compute|sm|lto)?[_ -]?([1-9]\d?)\.?(\d)([af]?)", arch.strip(), re.IGNORECASE
    )
    return None if found is None else f"sm_{found[1]}{found[2]}{found[3].lower()}"
