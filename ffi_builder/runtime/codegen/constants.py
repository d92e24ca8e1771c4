"""LLVM IR without the values of its large constants, which stay bytes.

As text, 16 million floats cost LLVM 20 seconds and gigabytes. So the text only declares a large
constant, LLVM compiles the text, and the object gets a section with the bytes::

    @w = internal constant [1048576 x float] [float 1.000000e+00, …], align 4
    ─►  @w = external dso_local constant [1048576 x float], align 64

LLVM does not fold loads from it, and reaches it as it reaches a constant of the same object.

An array, `[N x float] [float 1.0, …]` or `[N x i8] c"…"`, may have millions of elements. To be
fast, Python reads it in pieces of many elements, with a few calls for each piece.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ffi_builder.runtime.codegen import floats
from ffi_builder.runtime.files.object_files import Constant

SMALLEST: Final = 4096
"""The least size in bytes of a constant that stays bytes. LLVM folds loads from smaller ones."""
ALIGN: Final = 64
"""The least alignment in bytes, with which vector code loads whole cache lines."""
NAME: Final = r"[A-Za-z$._-][\w$.-]*"
"""A name that has the same form in LLVM IR, assembly and objects."""

_DECLARED: Final = (
    rf"(?am)^@({NAME}) = external (?:dso_local )?((?:local_)?(?:unnamed_addr )?)"
    r"(?:constant|global) [^\n]*, align \d+([^\n]*)$"
)
_DEFINED: Final = (
    rf"(?a)@({NAME}) = (private |internal )?(dso_local )?((?:local_)?unnamed_addr )?"
    r"(constant|global) (\[[^\"]*?\]) (?=\[|c\")"
)
_AFTER: Final = r"(?:, align (\d+))?((?:, ![^\n]*)?)\s*"
_LONGEST_END: Final = 1000
_PER_LINE: Final = 1024


class LlvmIr(NamedTuple):
    """LLVM IR text, and the constants that it only declares."""

    text: str
    constants: Mapping[str, Constant] = MappingProxyType({})

    def complete(self) -> str:
        """Return the text with all values. Constants are strings of bytes."""
        # LLVM removes unused declarations, but other modules may use those constants.
        unused = {name: each for name, each in self.constants.items() if not each.local}

        def defined(match: re.Match[str]) -> str:
            name, address, rest = match.groups()
            unused.pop(name, None)
            constant = self.constants.get(name)
            return match[0] if constant is None else _definition(name, constant, address, rest)

        text = re.sub(_DECLARED, defined, self.text) if self.constants else self.text
        more = [f"\n{_definition(name, constant)}\n" for name, constant in unused.items()]
        return "".join([text, *more]) if more else text

    def only_visible(self, text: str, visible: frozenset[str]) -> LlvmIr:
        """Return other text with the constants. All are local but those in `visible`."""
        constants = {
            name: constant._replace(local=constant.local or name not in visible)
            for name, constant in self.constants.items()
        }
        return LlvmIr(text, constants)

    def in_assembly(self, assembly: str) -> str:
        """Add all constants to the assembly that was made of the text."""
        if not self.constants:
            return assembly
        return "".join([assembly, *self._directives(assembly)])

    def _directives(self, assembly: str) -> Iterator[str]:
        for name, constant in self.constants.items():
            used = re.search(rf"(?<![\w$.-]){re.escape(name)}(?![\w$.-])", assembly)
            if constant.local and used is None:
                continue
            section = '.data.variable,"aw"' if constant.writable else '.rodata.constant,"a"'
            yield f"\t.section\t{section},@progbits\n"
            yield "" if constant.local else f"\t.globl\t{name}\n"
            yield f"\t.balign\t{constant.align}\n\t.type\t{name},@object\n{name}:\n"
            for at in range(0, len(constant.data), _PER_LINE):
                escaped = constant.data[at : at + _PER_LINE].hex("\\").replace("\\", "\\x")
                yield f'\t.ascii\t"\\x{escaped}"\n'
            yield f"\t.size\t{name}, {len(constant.data)}\n"


def _definition(name: str, constant: Constant, address: str = "", rest: str = "") -> str:
    linkage = "internal " if constant.local else ""
    kind = "global" if constant.writable else "constant"
    escaped = "\\" + constant.data.hex("\\")
    value = f'[{len(constant.data)} x i8] c"{escaped}"'
    return f"@{name} = {linkage}{address}{kind} {value}, align {constant.align}{rest}"


def read(text: str) -> LlvmIr:
    """Read LLVM IR: large arrays become bytes, and the rest text that LLVM 22 reads."""
    constants: dict[str, Constant] = {}
    pieces: list[str] = []
    last = 0
    for start, end in _long_lines(text):
        declared = _defined(text, start, end)
        if declared is not None and " alias " not in text:  # declarations cannot have aliases
            name, line, constants[name] = declared
            pieces += text[last:start], line
            last = end
    rest = "".join([*pieces, text[last:]]) if pieces else text
    return LlvmIr(floats.readable(rest), constants)


def _long_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each long line that may define a variable."""
    start = 0 if text.startswith("@") else text.find("\n@") + 1
    while start or text.startswith("@"):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end - start >= SMALLEST:
            yield start, end
        start = text.find("\n@", end) + 1
        if not start:
            return


def _defined(text: str, start: int, end: int) -> tuple[str, str, Constant] | None:
    """Return the name, declaration and value of a large constant; None for any other line."""
    match = re.compile(_DEFINED).match(text, start, end)
    if match is None:
        return None
    name, linkage, own, address, kind, written = match.groups()
    type_ = _array_type(written)
    quoted = text[match.end()] == "c"
    close = text.rfind('"' if quoted else "]", start, end)
    after = re.fullmatch(_AFTER, text[close + 1 : end]) if end - close < _LONGEST_END else None
    if type_ is None or after is None or type_.size < SMALLEST:
        return None
    try:
        data = (
            string_bytes(text, match.end() + 2, close)
            if quoted
            else _array_bytes(text, match.end() + 1, close, type_)
        )
    except ValueError:
        return None
    if len(data) != type_.size:
        return None
    constant = Constant(data, max(ALIGN, int(after[1] or 1)), linkage is not None, kind == "global")
    place = "external dso_local" if linkage or own else "external"
    line = f"@{name} = {place} {address or ''}{kind} {written}, align {constant.align}{after[2]}"
    return name, line, constant


# ---- arrays

_PIECE: Final = 1 << 18
"""The number of characters to read at once."""

_ARRAY: Final = (
    r"((?:\[\d+ x )+)(\{ (half|bfloat|float|double), \3 \}|half|bfloat|float|double|i\d+)(\]+)"
)
_CODES: Final = {
    **dict.fromkeys(("i1", "i4", "i8"), "B"),
    **dict.fromkeys(("half", "bfloat", "i16"), "H"),
    **dict.fromkeys(("float", "i32"), "I"),
    **dict.fromkeys(("double", "i64"), "Q"),
}
"""The code of Python's array of unsigned integers with the bits of each type."""
_BOOLS: Final = {"true": "1", "false": "0"}
_FLOATS: Final = {"float": "f", "double": "d"}
_PREFIXES: Final = {"half": "0xH", "bfloat": "0xR"}
_NO_BRACKETS: Final = str.maketrans("", "", "[]{} ")
_NO_BACKSLASH: Final = str.maketrans("", "", "\\")


class _Array(NamedTuple):
    """`[2 x [3 x float]]`."""

    text: str
    lengths: tuple[int, ...]
    scalar: str
    """`float`, also if the elements are `{ float, float }`."""
    is_pair: bool

    @property
    def size(self) -> int:
        """The number of bytes."""
        scalars = math.prod(self.lengths) * (1 + self.is_pair)
        return scalars * array(_CODES[self.scalar]).itemsize

    @property
    def inner(self) -> Iterator[str]:
        """The array types in this one, the outermost first."""
        parts = re.findall(r"\[\d+ x ", self.text)
        for level in range(1, len(parts)):
            yield self.text[sum(map(len, parts[:level])) : -level]


def _array_type(text: str) -> _Array | None:
    """Read an array type; None if the layout of its elements is unknown."""
    match = re.fullmatch(_ARRAY, text)
    if match is None:
        return None
    lengths = tuple(map(int, re.findall(r"\d+", match[1])))
    scalar = match[3] or match[2]
    if scalar not in _CODES or len(match[4]) != len(lengths):
        return None
    return _Array(text, lengths, scalar, match[3] is not None)


def string_bytes(text: str, start: int, end: int) -> bytes:
    """Return the bytes of a string of LLVM IR, without its quotes."""
    return b"".join(map(_unescaped, _pieces(text, start, end, "\\")))


def _unescaped(text: str) -> bytes:
    if "\\\\" not in text and len(text) == 3 * text.count("\\"):
        return bytes.fromhex(text.translate(_NO_BACKSLASH))
    data = text.encode().replace(rb"\\", rb"\5c").replace(b"\\", rb"\x")
    return data.decode("unicode_escape").encode("latin-1")


def _array_bytes(text: str, start: int, end: int, type_: _Array) -> bytes:
    """Return the bytes of an array's elements, given without the outer brackets.

    Raises ValueError for elements that LLVM refuses, and for some rare ones.
    """
    separator = "}, " if type_.is_pair else ", "
    return b"".join(_elements(piece, type_) for piece in _pieces(text, start, end, separator))


def _elements(text: str, type_: _Array) -> bytes:
    scalar, lengths = type_.scalar, type_.lengths
    for level, inner in enumerate(type_.inner, 1):
        if "zero" in text:
            zeros = math.prod(lengths[level:]) * (1 + type_.is_pair)
            zero = f"{scalar} 0" if scalar[0] == "i" else f"{scalar} 0.0"
            text = text.replace(f"{inner} zeroinitializer", ", ".join([zero] * zeros))
        text = text.replace(f"{inner} [", "")
    if type_.is_pair:
        text = text.replace(f"{{ {scalar}, {scalar} }} {{", "")
    text = f",{text.translate(_NO_BRACKETS).strip(',')}"
    return (_integers if scalar[0] == "i" else _floats)(text, scalar).tobytes()


def _integers(text: str, scalar: str) -> array[int]:
    """Return the integers in `,i32-1,i322`."""
    values = text.split(f",{scalar}")[1:]
    mask = (1 << int(scalar[1:])) - 1
    if mask == 1:
        values = [_BOOLS.get(value, value) for value in values]
    numbers = list(map(int, values))
    if max(numbers) > mask or min(numbers) < -mask // 2:
        raise ValueError
    if min(numbers) < 0:
        numbers = [number & mask for number in numbers]
    return array(_CODES[scalar], numbers)


def _floats(text: str, scalar: str) -> array[int]:
    """Return the bits of the floats in `,float1.0,float0x3FB99999A0000000`."""
    try:
        if "x" not in text:
            return _decimals(text, scalar)
        if "f0x" not in text:
            return _in_one_form(text, scalar, _PREFIXES.get(scalar, "0x"))
    except ValueError:  # not exact, as LLVM 24 writes decimals, or NaNs
        pass
    return _in_one_form(text, scalar, "f0x")


def _decimals(text: str, scalar: str) -> array[int]:
    """Return the bits of decimals. Raises ValueError if an element is not an exact decimal."""
    code = _FLOATS.get(scalar)
    if code is None or re.fullmatch(r"[-+.,eE0-9]*", text.replace(scalar, "")) is None:
        raise ValueError
    if text.count(".") < text.count(","):
        raise ValueError
    return _narrowed(array("d", map(float, text.split(f",{scalar}")[1:])), code)


def _in_one_form(text: str, scalar: str, form: str) -> array[int]:
    """Return the bits of floats in hexadecimal after `form`; rewrite others in this form first."""
    widened = scalar == "float" and form == "0x"  # written as a double of the same value
    bits = array("Q" if widened else _CODES[scalar], [0][:0])
    digits, start, count = 2 * bits.itemsize, f",{scalar}{form}", text.count(",")

    def written(match: re.Match[str]) -> str:
        number = floats.bits(scalar, match[1])
        return f"{start}{floats.widened(number) if widened else number:0{digits}X}"

    joined = text.replace(start, "")
    if len(joined) != digits * count:
        joined = re.sub(rf",{scalar}(?!{form})([^,]*)", written, text).replace(start, "")
    if len(joined) != digits * count:
        raise ValueError
    bits.frombytes(bytes.fromhex(joined))
    bits.byteswap()
    return _narrowed(array("d", bits.tobytes()), "f") if widened else bits


def _narrowed(numbers: array[float], code: str) -> array[int]:
    """Return the bits of these numbers in another format. Raises ValueError if one does not fit."""
    narrow = array(code, numbers.tolist())  # a list is faster
    if narrow != numbers:  # also if one is a NaN
        raise ValueError
    return array("I" if code == "f" else "Q", narrow.tobytes())


def _pieces(text: str, start: int, end: int, separator: str) -> Iterator[str]:
    """Cut text into pieces. Each but the first begins with a separator."""
    while start < end:
        cut = text.find(separator, start + _PIECE, end)
        while cut >= 0 and text[cut - 1] == "\\":  # two backslashes are one character
            cut = text.find(separator, cut + 1, end)
        cut = end if cut < 0 else cut
        yield text[start:cut]
        start = cut
