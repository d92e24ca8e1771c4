"""Reads PTX: its target, and its kernels with their parameters and bounds.

    .visible .entry saxpy(.param .f32 a, .param .u64 x, .param .align 64 .b8 map[128])
    .maxntid 256, 1, 1
    { … }

The grammar is in the PTX ISA, "Kernel and Function Directives". Bodies are skipped, and some PTX is
accepted that ptxas refuses.
"""

from __future__ import annotations

import math
import re
from typing import Final

from ffi_builder import SpecError
from ffi_builder.cuda.images.image import Image, Kernel, Parameter

# A comment that is not closed extends to the end of the text, so that the search stays linear.
_NOT_CODE = re.compile(r'//[^\n]*|/\*(?:.*?\*/|.*)|"[^"\n]*"', re.DOTALL)
_VERSION = re.compile(r"\s*\.version\s+([0-9]+\.[0-9]+)")
_TARGET = re.compile(r"\.target\s+([\w\s,]*)")
_ENTRY = re.compile(r"\.entry\b")
_NAME = re.compile(r"\s*([\w$%]+)")
_HEAD = re.compile(
    _NAME.pattern + r"\s*(?:\(([^)]*)\))?((?:\.pragma[^;]*;|(?!\.pragma)[^{;])*)([{;])"
)
"""The head of a kernel: name, parameters and directives, and what ends it."""
_DIRECTIVE = re.compile(r"(\.\w+)([^.]*)")
_TOKEN = re.compile(r"\.?[\w$%]+|[^\s\w]")
_ARCHITECTURE = re.compile(r"(?:sm|compute)_([0-9]{1,4}[af]?)(?![0-9])")

_SIZES: Final = {
    **{f"{kind}{bits}": bits // 8 for kind in "bus" for bits in (8, 16, 32, 64)},
    "b128": 16,
    "f16": 2,
    "f16x2": 4,
    "bf16": 2,
    "bf16x2": 4,
    "f32": 4,
    "f64": 8,
    # Launches do not pass textures and surfaces; a cubin says 0 bytes too.
    "texref": 0,
    "surfref": 0,
    "samplerref": 0,
}
_MOST_ALIGNED: Final = 128
_MOST_SHOWN: Final = 40
_BOUNDS: Final = (".maxntid", ".reqntid", ".reqnctapercluster", ".maxclusterrank")


def is_ptx(text: str) -> bool:
    """Return whether the text begins with ``.version``, apart from comments."""
    return _VERSION.match(_NOT_CODE.sub(" ", text)) is not None


def read_ptx(text: str) -> Image:
    """Read text that `is_ptx`; see `ffi_builder.cuda.images.kernels`."""
    code = _NOT_CODE.sub(" ", text)
    target = _TARGET.search(code)
    architecture = _ARCHITECTURE.search(target[1]) if target is not None else None
    if architecture is None:
        shown = "there is no .target" if target is None else f"its .target is {target[1].strip()!r}"
        raise SpecError(f"The PTX names no architecture, such as `.target sm_90`: {shown}")
    kernels = (_kernel(code, entry.end()) for entry in _ENTRY.finditer(code))
    by_name = {kernel.name: kernel for kernel in kernels if kernel is not None}
    return Image("ptx", (f"compute_{architecture[1]}",), by_name)


def _kernel(code: str, at: int) -> Kernel | None:
    """Read what follows an ``.entry``; return None for a declaration, which has no body."""
    head = _HEAD.match(code, at)
    if head is None:
        name = _NAME.match(code, at)
        shown = f" {name[1]!r}" if name is not None else ""
        raise SpecError(f"The PTX ends in the head of kernel{shown}: it is cut off")
    name, given, directives, end = head.groups()
    if end == ";":
        return None
    lists = [_TOKEN.findall(parameter) for parameter in (given or "").split(",")]
    parameters = [_parameter(name, i, tokens) for i, tokens in enumerate(filter(None, lists))]
    known = tuple(parameter for parameter in parameters if parameter is not None)
    bounds = {
        directive: _bound(name, directive, numbers.replace(",", " ").split())
        for directive, numbers in _DIRECTIVE.findall(directives)
        if directive in _BOUNDS
    }
    block = bounds.get(".reqntid")
    most = block or bounds.get(".maxntid")
    rank = bounds.get(".maxclusterrank")
    return Kernel(
        name,
        known if len(known) == len(parameters) else None,
        None if most is None else math.prod(most),
        block,
        cluster=bounds.get(".reqnctapercluster"),
        max_cluster_rank=None if rank is None else rank[0],
    )


def _bound(kernel: str, directive: str, tokens: list[str]) -> tuple[int, int, int]:
    """Parse one to three numbers into a triple; those that are left out are 1."""
    values = list(map(_integer, tokens))
    for token, value in zip(tokens, values, strict=True):
        if not value:
            raise SpecError(
                f"The PTX has {token[:_MOST_SHOWN]!r} after {directive} of {kernel!r}; expected a "
                f"number of at least 1"
            )
    if not 1 <= len(values) <= 3:
        raise SpecError(
            f"The PTX has {len(values)} numbers after {directive} of {kernel!r}; expected 1 to 3"
        )
    x, y, z = (*filter(None, values), 1, 1)[:3]
    return x, y, z


def _parameter(kernel: str, index: int, tokens: list[str]) -> Parameter | None:
    """Parse ``.param .align 8 .b8 name[24]`` or ``.param .u64 .ptr .global .align 4 name``.

    Returns None for a parameter of an unknown type.
    """
    shown = " ".join(tokens)
    if tokens[0] != ".param":
        raise SpecError(
            f"The PTX has a parameter of {kernel!r} that does not begin with .param: {shown!r}"
        )
    type_ = next((each[1:] for each in tokens if each[0] == "." and each[1:] in _SIZES), None)
    if type_ is None:
        return None
    size = _SIZES[type_]
    if "[" in tokens:
        count = _integer(next(iter(tokens[tokens.index("[") + 1 :]), ""))
        if count is None:
            raise SpecError(
                f"The PTX has a parameter of {kernel!r} whose size is not a number: {shown!r}"
            )
        size, type_ = size * count, f"{type_}[{count}]"
    return Parameter(index, None, size, type_, _alignment(tokens))


def _alignment(tokens: list[str]) -> int | None:
    """Return the parameter's alignment; an ``.align`` after ``.ptr`` is that of the pointee."""
    own = tokens[: tokens.index(".ptr")] if ".ptr" in tokens else tokens
    value = _integer(own[own.index(".align") + 1]) if ".align" in own[:-1] else None
    fits = value is not None and 0 < value <= _MOST_ALIGNED and not value & (value - 1)
    return value if fits else None


def _integer(token: str) -> int | None:
    """Parse a decimal, hexadecimal, octal or binary integer, which may end in U."""
    digits = token.removesuffix("U")
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}|0[bB][01]{1,32}|[0-9]{1,10}", digits):
        return None
    if digits[:1] == "0" and digits.isdecimal():
        return int(digits, 8) if not set(digits) & set("89") else None
    return int(digits, 0)
