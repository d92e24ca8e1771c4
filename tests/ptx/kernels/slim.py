"""Makes PTX of NVRTC's shorter."""

from __future__ import annotations

import re


def slim(ptx: str) -> str:
    """Leave out comments, and the hundreds of variables of headers that nothing uses.

    The version becomes one that the drivers of CUDA 12 take, since nothing newer is used.
    """
    ptx = re.sub(r"(?m)^\.version .*", ".version 8.0", ptx)
    lines = (re.sub(r"\s*//.*", "", line) for line in ptx.splitlines())
    return "".join(f"{line}\n" for line in lines if line and _is_used(line, ptx))


def _is_used(line: str, ptx: str) -> bool:
    name = re.match(r"\.global .*?([\w$]+)(?:\[\d*\])?(?: =.*)?;$", line)
    return name is None or len(re.findall(rf"(?<![\w$]){re.escape(name[1])}(?![\w$])", ptx)) > 1
