"""Kernels in C with a signature that fits or is one step wrong, and a call.

A kernel writes all that it gets to memory at a fixed address, and reads and writes the elements
that its types have: what it got is compared with what was passed.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, TypeAlias

CHAR: Final = "uint8" if platform.machine() == "aarch64" else "int8"
NUMBERS: Final = {
    "char": CHAR,
    "signed char": "int8",
    "unsigned char": "uint8",
    "int8_t": "int8",
    "uint8_t": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "uint32_t": "uint32",
    "enum small": "uint32",
    "enum negative": "int32",
    "enum large": "uint64",
    "long": "int64",
    "long long": "int64",
    "int64_t": "int64",
    "unsigned long": "uint64",
    "size_t": "uint64",
    "_Bool": "bool",
    "float": "float32",
    "double": "float64",
    "_Float16": "float16",
}
"""Types of C, and their dtypes."""
COMPLEX: Final = {"float _Complex": "complex64", "double _Complex": "complex128"}
ENUMS: Final = (
    "enum small { SMALL_A }; enum negative { NEGATIVE_A = -1 }; "
    "enum large { LARGE_A = 0x100000000LL };\n"
)
DTYPES: Final = (*dict.fromkeys((*NUMBERS.values(), *COMPLEX.values())), "bfloat16")
BYTES: Final = ("int8", "uint8")
RANGES: Final = {
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    "bool": (0, 1),
}
DOORS: Final = ("prototype", "header", "LLVM IR", "both", "direct", "ctypes")
"""What says the types; ``both`` is LLVM IR with a prototype, ``direct`` LLVM IR with a provider."""


@dataclass(frozen=True)
class Param:
    """A parameter of a kernel, or its result."""

    name: str
    type: str
    """The number, or what it points to: ``float``, ``void``, ``DLTensor``."""
    kind: str = "number"
    """A ``number``, a ``pointer``, a ``list`` of pointers, ``void`` of a result."""
    is_const: bool = False
    is_restrict: bool = False
    first: int = 0
    row: tuple[str, ...] = ()
    """Sizes of rows as C has them."""
    align: int = 1
    """What LLVM IR says."""
    is_signless: bool = False

    @property
    def dtype(self) -> str | None:
        """The dtype of a number or an element."""
        return {**NUMBERS, **COMPLEX}.get(self.type)

    @property
    def c(self) -> str:
        """The declaration."""
        const = "const " * self.is_const
        match self.kind:
            case "number":
                return f"{self.type} {self.name}"
            case "list":
                return f"{const}{self.type} **{self.name}"
            case _ if self.first:
                rows = "".join(f"[{size}]" for size in self.row)
                restrict = "restrict " * self.is_restrict
                return f"{const}{self.type} {self.name}[{restrict}{self.first}]{rows}"
            case _:
                restrict = "restrict " * self.is_restrict
                rows = "".join(f"[{size}]" for size in self.row)
                name = f"*{restrict}{self.name}"
                return f"{const}{self.type} {f'({name})' if rows else name}{rows}"


@dataclass(frozen=True)
class Array:
    """A tensor that is passed."""

    dtype: str
    shape: tuple[int, ...]
    steps: tuple[int, ...] | None = None
    """Strides in elements, of arrays that are not contiguous."""
    writeable: bool = True
    shift: int = 0
    """Bytes by which the address is not aligned."""
    overlaps: str = ""
    """The tensor of which this one has the memory."""


@dataclass(frozen=True)
class Sizes:
    """A shape that is passed."""

    sizes: tuple[int, ...]


Value: TypeAlias = "Array | Sizes | tuple[Array, ...] | Mapping[str, object] | float | str | None"


@dataclass(frozen=True)
class Tensor:
    """A tensor of the signature."""

    dtype: str
    dims: tuple[str, ...] | None
    """None for any rank."""
    strides: str = ""
    intent: str = ""
    optional: bool = False

    def __str__(self) -> str:
        dims = "..." if self.dims is None else f"[{', '.join(self.dims)}]"
        strides = self.strides and f", strides={self.strides}"
        intent = self.intent and f", intent={self.intent}"
        text = f"Tensor({dims}, {self.dtype}{strides}{intent})"
        return f"Optional({text})" if self.optional else text


@dataclass(frozen=True)
class Case:
    """A kernel, how it is wrapped, and how it is called."""

    name: str
    door: str
    step: str
    """What is wrong, or nothing."""
    params: tuple[Param, ...]
    result: Param
    types: Mapping[str, Tensor | str]
    """The parameters of the signature."""
    results: Mapping[str, str]
    args: tuple[object, ...] | Mapping[str, object] | None
    values: Mapping[str, Value]
    sizes: Mapping[str, int]
    returned: float
    """What the kernel returns, or writes for a result."""

    @property
    def signature(self) -> str:
        """The signature as text."""
        params = ", ".join(f"{name}: {type_}" for name, type_ in self.types.items())
        results = ", ".join(f"{name}: {type_}" for name, type_ in self.results.items())
        results = f"({results})" if len(self.results) > 1 else results
        return f"{self.name}({params}){results and ' -> '}{results}"

    @property
    def prototype(self) -> str:
        """The declaration in C."""
        result = {"void": "void", "pointer": f"{self.result.type} *"}
        params = ", ".join(param.c for param in self.params) or "void"
        return f"{result.get(self.result.kind, self.result.type)} {self.name}({params})"


@dataclass
class Draft:
    """A case that is being drawn."""

    rng: Random
    door: str
    params: list[tuple[Param, object]] = field(default_factory=list[tuple[Param, object]])
    """Parameters of C, each with its entry of ``args=``; the second of a text has none."""
    types: dict[str, Tensor | str] = field(default_factory=dict[str, "Tensor | str"])
    results: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, Value] = field(default_factory=dict[str, Any])
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    result: Param = Param("", "void", "void")
    returned: float = 0
    inner: tuple[int, ...] = ()

    def add(self, entry: object, type_: str, **how: Any) -> None:
        self.params.append((Param(f"p{len(self.params)}", type_, **how), entry))

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    @property
    def is_exact(self) -> bool:
        """Whether numbers have the kernel's types."""
        return self.door == "direct"


REST: Final = "the rest of an entry"


def described(case: Case) -> str:
    """Return a case as lines."""
    lines: Sequence[object] = (
        f"{case.door}: {case.step or 'right'}",
        case.signature,
        case.prototype,
        f"args={case.args!r}",
        f"values={dict(case.values)!r} sizes={dict(case.sizes)!r} returned={case.returned!r}",
    )
    return "\n  ".join(map(str, lines))
