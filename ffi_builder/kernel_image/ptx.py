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
from collections.abc import Iterator
from typing import Final

from ffi_builder.errors import SpecError
from ffi_builder.kernel_image.image import Image, Kernel, Parameter

# A comment that is not closed takes the rest of the text, so that the search stays linear.
_NOT_CODE = re.compile(r'//[^\n]*|/\*(?:.*?\*/|.*)|"[^"\n]*"', re.DOTALL)
_VERSION = re.compile(r"\s*\.version\s+([0-9]+\.[0-9]+)")
_TARGET = re.compile(r"\.target\s+([\w\s,]*)")
_ENTRY = re.compile(r"\.entry\b")
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
    # Textures and surfaces are not passed by launches; a cubin says 0 bytes too.
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
    """Read text that `is_ptx`; see `ffi_builder.kernel_image.read_image`."""
    code = _NOT_CODE.sub(" ", text)
    target = _TARGET.search(code)
    found = _ARCHITECTURE.search(target[1]) if target is not None else None
    if found is None:
        shown = "there is no .target" if target is None else f"its .target is {target[1].strip()!r}"
        raise SpecError(f"The PTX names no architecture, such as `.target sm_90`: {shown}")
    kernels: dict[str, Kernel] = {}
    for entry in _ENTRY.finditer(code):
        kernel = _Entry(code, entry.end()).read()
        if kernel is not None:
            kernels[kernel.name] = kernel
    return Image("ptx", (f"compute_{found[1]}",), kernels)


class _Entry:
    """Parses the text after one ``.entry``."""

    def __init__(self, code: str, at: int) -> None:
        self._tokens: Iterator[str] = (found[0] for found in _TOKEN.finditer(code, at))
        self._name = ""

    def read(self) -> Kernel | None:
        """Return the kernel, or None for a declaration, which has no body."""
        self._name = self._next()
        parameters: list[Parameter | None] = []
        token = self._next()
        if token == "(":
            parameters = list(self._parameters())
            token = self._next()
        known = tuple(parameter for parameter in parameters if parameter is not None)
        bounds: dict[str, list[int]] = {}
        directive = ""
        while token != "{":
            if token == ";" and directive != ".pragma":
                return None
            if token.startswith(".") or token == ";":
                directive = token
                if directive in _BOUNDS:
                    bounds.setdefault(directive, [])
            elif directive in _BOUNDS and token != ",":
                bounds[directive].append(self._bound(directive, token))
            token = self._next()
        return self._kernel(known if len(known) == len(parameters) else None, bounds)

    def _bound(self, directive: str, token: str) -> int:
        value = _integer(token)
        if value is None or value < 1:
            raise SpecError(
                f"The PTX has {token[:_MOST_SHOWN]!r} after {directive} of {self._name!r}; "
                "expected a number of at least 1"
            )
        return value

    def _kernel(
        self, parameters: tuple[Parameter, ...] | None, bounds: dict[str, list[int]]
    ) -> Kernel:
        for name, values in bounds.items():
            if not 1 <= len(values) <= 3:
                raise SpecError(
                    f"The PTX has {len(values)} numbers after {name} of {self._name!r}; expected "
                    f"1 to 3"
                )
        block = _triple(bounds.get(".reqntid"))
        most = block or _triple(bounds.get(".maxntid"))
        rank = bounds.get(".maxclusterrank")
        return Kernel(
            self._name,
            parameters,
            None if most is None else math.prod(most),
            block,
            cluster=_triple(bounds.get(".reqnctapercluster")),
            max_cluster_rank=None if rank is None else rank[0],
        )

    def _parameters(self) -> Iterator[Parameter | None]:
        """Yield the parameters up to the closing parenthesis; None for one of unknown type."""
        tokens: list[str] = []
        index = 0
        while True:
            token = self._next()
            if token not in (",", ")"):
                tokens.append(token)
                continue
            if tokens:
                yield self._parameter(index, tokens)
                tokens = []
                index += 1
            if token == ")":
                return

    def _parameter(self, index: int, tokens: list[str]) -> Parameter | None:
        """Parse ``.param .align 8 .b8 name[24]`` or ``.param .u64 .ptr .global .align 4 name``."""
        if tokens[0] != ".param":
            raise SpecError(
                f"The PTX has a parameter of {self._name!r} that does not begin with .param: "
                f"{' '.join(tokens)!r}"
            )
        type_ = next((each[1:] for each in tokens if each[0] == "." and each[1:] in _SIZES), None)
        if type_ is None:
            return None
        size = _SIZES[type_]
        if "[" in tokens:
            length = tokens[tokens.index("[") + 1 :][:1]
            count = _integer(length[0]) if length else None
            if count is None:
                raise SpecError(
                    f"The PTX has a parameter of {self._name!r} whose size is not a number: "
                    f"{' '.join(tokens)!r}"
                )
            size, type_ = size * count, f"{type_}[{count}]"
        return Parameter(index, None, size, type_, _alignment(tokens))

    def _next(self) -> str:
        token = next(self._tokens, None)
        if token is None:
            name = f" {self._name!r}" if self._name else ""
            raise SpecError(f"The PTX ends in the head of kernel{name}: it is cut off")
        return token


def _alignment(tokens: list[str]) -> int | None:
    """Return the parameter's own alignment; an ``.align`` after ``.ptr`` is of the pointee."""
    own = tokens[: tokens.index(".ptr")] if ".ptr" in tokens else tokens
    value = _integer(own[own.index(".align") + 1]) if ".align" in own[:-1] else None
    fits = value is not None and 0 < value <= _MOST_ALIGNED and not value & (value - 1)
    return value if fits else None


def _triple(values: list[int] | None) -> tuple[int, int, int] | None:
    if values is None:
        return None
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _integer(token: str) -> int | None:
    """Parse a decimal, hexadecimal, octal or binary integer, which may end in U."""
    digits = token.removesuffix("U")
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}|0[bB][01]{1,32}|[0-9]{1,10}", digits):
        return None
    if digits[:1] == "0" and digits.isdecimal():
        return int(digits, 8) if not set(digits) & set("89") else None
    return int(digits, 0)
