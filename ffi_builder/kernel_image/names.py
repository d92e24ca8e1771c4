"""Demangles C++ names of kernels."""

from __future__ import annotations

import re

_LENGTH = re.compile(r"[1-9][0-9]{0,4}")


def plain_name(mangled: str) -> str | None:
    """Return the qualified name without template arguments: ``ns::kernel``.

    Returns None for a name that is not mangled by the Itanium C++ ABI (section 5.1, as is
    ``_ZN2ns6kernelEPf``), or that no kernel can have, such as that of an operator.
    """
    if not mangled.startswith("_Z"):
        return None
    at, nested = 2, False
    if mangled.startswith("N", at):
        at, nested = at + 1, True
        at += len(mangled[at:]) - len(mangled[at:].lstrip("rVK"))  # qualifiers
    elif mangled.startswith("L", at):  # internal linkage
        at += 1
    parts: list[str] = []
    while length := _LENGTH.match(mangled, at):
        end = length.end() + int(length[0])
        if end > len(mangled):
            return None
        part = mangled[length.end() : end]
        parts.append("(anonymous namespace)" if part.startswith("_GLOBAL__N_") else part)
        at = end
        if not nested:
            break
    return "::".join(parts) or None
