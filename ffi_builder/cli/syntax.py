"""Rewrites errors of the library for the command line: options instead of Python.

The library's errors name Python arguments: `args=['x', 'n']`, `MemRefCallProvider`. On the command
line these are `--args 'x, n'` and `--convention memref`. Each rule is a pattern and what replaces
it. tests/cli/test_mistakes.py runs many wrong commands and looks for Python in their errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

_Rule: TypeAlias = tuple[str, "str | Callable[[re.Match[str]], str]"]

_CONVENTIONS: Final = {
    "MemRefCallProvider": "memref",
    "DirectCallProvider": "direct",
    "DynamicParamPackCallProvider": "pack",
}


def _listed(match: re.Match[str]) -> str:
    entries = ", ".join(re.findall("'([^']*)'", match[2]))
    return f"--{match[1]} '{entries}'"


_RULES: Final[tuple[_Rule, ...]] = (
    (r"^Signature\.parse: device: ", "--device: "),
    (r"^Signature\.parse: ", "--signature: "),
    (r"device='cpu' for all", "--device cpu for all"),
    # These have no --convention.
    (
        r"(?:(?:Packed|NestedTensor)CallProvider|\w+CallProvider with \w+=True) "
        r"passes what it takes(?:, with args=\[[^]]*\])?",
        "No --convention calls such a function",
    ),
    (r"say so: returns=spec\.Var\('y', '(\w+)'\)", r"say so in --signature: -> y: \1"),
    (r"; or if it is a status, put CheckStatus around the provider", ""),
    (r"\bCheckStatus\b", "a check of the status"),
    (
        r"; runtime\.compile does with pipeline=, and calls its hooks with the lowered module",
        " (by --pipeline)",
    ),
    (r", or leave c_interface=True out", ""),
    (r"; export_object needs none", "; an output .o needs none"),
    (r"\buse export_library\b", "write a .so"),
    (r"\b(args)=\[([^]]*)\]", _listed),
    (r"(?<![\w-])(args|link|pipeline|stream)=(?=[\s.,;)]|$)", r"--\1"),
    (rf"\b({'|'.join(_CONVENTIONS)})\b", lambda m: f"--convention {_CONVENTIONS[m[1]]}"),
    (r"^CudaLaunchCallProvider: (?=grid|block|cluster)", "--"),
    (r"^CudaLaunchCallProvider: ", ""),
    (r"\bdynamic_smem_bytes\b", "--shared-memory"),
)


def as_options(words: str) -> str:
    """Return the message of an error with options instead of Python."""
    for pattern, instead in _RULES:
        words = re.sub(pattern, instead, words)
    return words
