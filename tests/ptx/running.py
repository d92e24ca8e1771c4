"""Runs PTX in the interpreter without a driver: instructions on drawn operands, and kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy
import pytest

from ffi_builder.ptx import text
from ffi_builder.ptx.decode import decode
from ffi_builder.ptx.machine import Code, Memory, Shape

np: Any = numpy

COUNT: Final = 512
"""How many operands are drawn: as many threads run."""
TESTED: Final[list[str]] = []
"""The opcodes that tests have executed, or are going to."""

Meaning = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
)
"""A function of the operands' arrays."""

DTYPES: Final = {
    **{f"{kind}{bits}": f"uint{bits}" for kind in "bu" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    "f16": "float16",
    "bf16": "uint16",
    "f32": "float32",
    "f64": "float64",
    "pred": "bool",
    "f16x2": "uint32",
    "bf16x2": "uint32",
    "s16x2": "uint32",
    "u16x2": "uint32",
}
"""What NumPy calls a type; those that it lacks are their bits."""
_HEAD: Final = ".version 8.8\n.target sm_100a\n.address_size 64\n"
_BITS: Final = {1: "b8", 2: "b16", 4: "b32", 8: "b64"}


def tested(ptx: str) -> str:
    """Return a PTX text, whose instructions have a test now."""
    for function in text.read(_HEAD + ptx if ".version" not in ptx else ptx).functions.values():
        for each in function.body or ():
            words = each.text.split()
            opcode = words[1] if words[0].startswith("@") else words[0]
            TESTED.append(opcode)
    return ptx


tested.__test__ = False  # type: ignore[attr-defined] # pytest would collect it


def run(
    ptx: str,
    kernel: str,
    arguments: Sequence[Any],
    shape: Shape = Shape(),  # noqa: B008 # it is frozen
    *,
    patience: int | None = None,
    map: int | None = None,
) -> int:
    """Run a kernel; arrays are passed as pointers to their memory, and other NumPy values as such.

    Return the steps of all warps.
    """
    module = text.read(ptx if ".version" in ptx else _HEAD + ptx)
    memory = sorted(
        {(each.ctypes.data, each.nbytes, each.ctypes.data) for each in arguments if np.ndim(each)}
    )
    given = [
        each.ctypes.data.to_bytes(8, "little") if np.ndim(each) else each.tobytes()
        for each in arguments
    ]
    return Code(decode(module, kernel), {}).run(
        given, shape, Memory(given=memory, map=map or 0), patience=patience
    )


def draw(kind: str, generator: Any, count: int = COUNT) -> Any:
    """Return drawn values of a type: a third are special ones, and the others random bits."""
    if kind == "pred":
        return generator.integers(0, 2, count).astype(bool)
    dtype = np.dtype(DTYPES[kind])
    bits = np.frombuffer(generator.bytes(count * dtype.itemsize), f"uint{8 * dtype.itemsize}")
    found = bits.copy()
    special = _special(kind)
    at = generator.random(count) < 1 / 3
    found[at] = generator.choice(special, int(at.sum()))
    return found.view(dtype)


def _special(kind: str) -> Any:
    dtype = np.dtype(DTYPES[kind])
    size = 8 * dtype.itemsize
    top = 1 << size - 1
    integers = [0, 1, 2, 3, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, 31, 32, 63, 64]
    floats = {
        "f16": [0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x03FF, 0x8000, 0x7BFF, 0x3800],
        "bf16": [0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x0001, 0x007F, 0x8000, 0x7F7F, 0x3F00],
        "f32": [
            *(0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 1),
            *(0x007FFFFF, 0x80000001, 0x00800000, 0x80000000, 0x7F7FFFFF, 0x3F000000, 0x4B000000),
        ],
        "f64": [
            *(0x3FF0 << 48, 0xBFF0 << 48, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, 1),
            *((1 << 52) - 1, 1 << 52, 1 << 63, (0x7FF0 << 48) - 1, 0x3FE0 << 48),
        ],
    }
    for name in ("f16", "bf16"):
        floats[f"{name}x2"] = [low | high << 16 for low in floats[name] for high in floats[name]]
    values = floats.get(kind, integers)
    return np.array([value % (1 << size) for value in values], f"uint{size}")


def evaluate(body: str, results: Sequence[str], operands: Sequence[tuple[str, Any]]) -> list[Any]:
    """Run instructions for each thread; return an array for each result.

    Args:
        body: the instructions. ``%d0``, ``%d1`` … are the results, ``%s0`` … the operands.
        results: the types of the results.
        operands: the types and the values of the operands, one for each thread.
    """
    count = len(operands[0][1]) if operands else COUNT
    kinds = [*results, *(kind for kind, _ in operands)]
    arrays = [np.zeros(count, DTYPES[kind]) for kind in results]
    arrays += [np.ascontiguousarray(values) for _, values in operands]
    params = ", ".join(f".param .u64 p{at}" for at in range(len(kinds)))
    lines = [
        f".visible .entry k({params})\n{{",
        ".reg .b32 %t, %n; .reg .b64 %a, %o; .reg .pred %q; .reg .b16 %h;",
        "mov.u32 %t, %ctaid.x; mov.u32 %n, %ntid.x; mul.lo.u32 %t, %t, %n; mov.u32 %n, %tid.x;",
        "add.u32 %t, %t, %n;",
    ]
    for at, kind in enumerate(kinds):
        name = f"%d{at}" if at < len(results) else f"%s{at - len(results)}"
        size = text.SIZES[kind]
        lines.append(f".reg .{'pred' if kind == 'pred' else _register(size)} {name};")
        if at < len(results):
            continue
        lines.append(f"ld.param.u64 %a, [p{at}]; mul.wide.u32 %o, %t, {size}; add.u64 %a, %a, %o;")
        lines.append(_load(kind, name, size))
    lines.append(body)
    for at, kind in enumerate(results):
        size = text.SIZES[kind]
        lines.append(f"ld.param.u64 %a, [p{at}]; mul.wide.u32 %o, %t, {size}; add.u64 %a, %a, %o;")
        if kind == "pred":
            lines.append(f"selp.b16 %h, 1, 0, %d{at}; st.global.b8 [%a], %h;")
        else:
            lines.append(f"st.global.{_BITS[size]} [%a], %d{at};")
    lines.append("ret;\n}")
    run("\n".join(lines), "k", arrays, Shape((1, 1, 1), (count, 1, 1)))
    return arrays[: len(results)]


def _register(size: int) -> str:
    return f"b{8 * size}"


def _load(kind: str, name: str, size: int) -> str:
    if kind == "pred":
        return f"ld.global.u8 %h, [%a]; setp.ne.u16 {name}, %h, 0;"
    return f"ld.global.{_BITS[size]} {name}, [%a];"


@dataclass(frozen=True)
class Case:
    """An instruction and its meaning: ``Case("add.s32", "s32: s32 s32", lambda a, b: a + b)``.

    ``meaning`` gets the arrays of the operands, as :data:`DTYPES` says, and returns that of the
    result, or a tuple of several. NaNs are compared by their bits too. ``operands`` may say what the
    drawn arrays become before they are used.
    """

    opcode: str
    types: str
    meaning: Meaning
    arguments: str = ""
    """What the instruction gets instead of ``%d0, %s0, %s1``."""
    prepare: Meaning | None = None
    ulps: int = 0
    """How far a float may be away, in units of the last place."""

    def __post_init__(self) -> None:
        TESTED.append(self.opcode)

    @property
    def parts(self) -> tuple[list[str], list[str]]:
        """The types of results and operands."""
        results, operands = self.types.split(":")
        return results.split(), operands.split()

    def check(self) -> None:
        """Compare what is computed with the meaning."""
        results, operands = self.parts
        generator = np.random.default_rng(len(self.opcode) + sum(map(ord, self.opcode)))
        drawn: Any = [draw(kind, generator) for kind in operands]
        if self.prepare is not None:
            drawn = cast("Callable[..., Any]", self.prepare)(*drawn)
        names = [f"%d{at}" for at in range(len(results))]
        names += [f"%s{at}" for at in range(len(operands))]
        body = f"{self.opcode} {self.arguments or ', '.join(names)};"
        found = evaluate(body, results, list(zip(operands, drawn, strict=True)))
        with np.errstate(all="ignore"):
            meant = cast("Callable[..., Any]", self.meaning)(*drawn)
        expected = cast("tuple[Any, ...]", meant if isinstance(meant, tuple) else (meant,))
        for kind, one, other in zip(results, found, expected, strict=True):
            self._compare(kind, one, np.asarray(other).astype(DTYPES[kind]), drawn)

    def _compare(self, kind: str, found: Any, expected: Any, drawn: Sequence[Any]) -> None:
        one, other = _as_bits(found), _as_bits(expected)
        wrong = one != other
        if self.ulps:
            near = np.abs(_ordered(one) - _ordered(other)) <= self.ulps
            wrong &= ~near & ~(np.isnan(found) & np.isnan(expected))
        if wrong.any():
            at = int(np.argmax(wrong))
            values = ", ".join(f"{each[at]!r} ({_as_bits(each)[at]:#x})" for each in drawn)
            raise AssertionError(
                f"{self.opcode} of {values}: {found[at]!r} ({one[at]:#x}) instead of "
                f"{expected[at]!r} ({other[at]:#x}); {int(wrong.sum())} of {len(wrong)} differ"
            )


def checks(cases: Iterable[Case]) -> Callable[[str], None]:
    """Return a test, by the first words of opcodes: thousands of tests would take long."""
    by_word: dict[str, list[Case]] = {}
    for case in cases:
        by_word.setdefault(case.opcode.partition(".")[0], []).append(case)

    @pytest.mark.parametrize("word", by_word)
    def test_as_it_means(word: str) -> None:
        for case in by_word[word]:
            case.check()

    return test_as_it_means


def _as_bits(values: Any) -> Any:
    return values.view(f"uint{8 * values.dtype.itemsize}")


def _ordered(bits: Any) -> Any:
    """The place of a float among all floats, as Python ints."""
    size = 8 * bits.dtype.itemsize
    signed = bits.astype(object)
    return np.where(bits >> np.array(size - 1, bits.dtype) != 0, (1 << size - 1) - signed, signed)
