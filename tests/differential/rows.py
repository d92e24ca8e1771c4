"""Which row of docs/checks.md a message comes from, to see that every row is met."""

from __future__ import annotations

import re
from typing import Final

_PATTERNS: Final = {
    "number of arguments": r"number of arguments: \d+ \| .*",
    "argument array": r"argument array: a non-NULL pointer \| NULL",
    "tensor: type": r"type of .*: Tensor \| .*",
    "tensor: moved object": r"type of .*: Tensor \| moved object",
    "object": r".*: a non-NULL object \| NULL",
    "tensor: ndim": r".*\.ndim: \d+ \| .*",
    "tensor: dtype": r".*\.dtype: .*",
    "tensor: device type": r".*\.device_type: .*",
    "tensor: device id, int": r".*\.device_id: \d+ \| .*",
    "tensor: device id, symbol": r".*\.device_id: -?\d+ \(\w+ = .*",
    "tensor: device of another": r".*\.device_id: \S+ \(the device of .*",
    "tensor: shape pointer": r".*\.shape: a non-NULL pointer \| NULL",
    "tensor: negative dimension": r".*\.shape\[\d\]: a non-negative value \| -\d+",
    "tensor: product": r".*\.shape: a product of .* \| \[.*",
    "tensor: byte_offset": r".*\.byte_offset: .*",
    "tensor: NULL data": r".*\.data: a non-NULL pointer, as .* has elements \| NULL",
    "tensor: alignment": r".*\.data: an address aligned .*",
    "packed: dimension": r".*\.shape\[\d\]: at most \d+ in magnitude, .*",
    "packed: stride": r".*\.strides\[\d\]: at most \d+ in magnitude, .*",
    "strides: row-major": r".*\.strides\[\d\]: -?\d+ \(row-major contiguous\) \| .*shape=.*",
    "strides: int": r".*\.strides\[\d\]: -?\d+ \| -?\d+ \(shape=.*",
    "strides: symbol": r".*\.strides\[\d\]: -?\d+ \(\w+ = [^)]*\) \| -?\d+ \(shape=.*",
    "strides: expression": r".*\.strides\[\d\]: -?\d+ \(.* with .* \| -?\d+ \(shape=.*",
    "strides: fits": r"[^ ]*\.strides\[\d\]: a value that fits .*",
    "strides: bounds": r"[^ ]*\.strides\[\d\]: (at least|at most|a multiple of) .* of .*",
    "strides: NULL": r".*strides=NULL\)",
    "dimension: int": r".*\.shape\[\d\]: \d+ \| .*",
    "dimension: symbol": r".*\.shape\[\d\]: \d+ \(\w+ = .*",
    "dimension: expression": r".*\.shape\[\d\]: -?\d+ \(.* with .*",
    "symbol: equal": r".*: \S+ \(\w+ = .*\) \| .*",
    "expression: equal": r".*: -?\d+ \(.* with \w+ = .*\) \| .*",
    "symbol: fits": r".*: a value that fits .*",
    "symbol: min": r".*: at least .* \(min of .*",
    "symbol: max": r".*: at most .* \(max of .*",
    "symbol: divisibility": r".*: a multiple of .* \(divisibility of .*",
    "expression: overflow": r".*: .* within int64, with .*",
    "expression: no solution": r".*: a value of .* for an integer .*",
    "expression: of a solved symbol": r".*: .* with .* = .* from \w+ in .*",
    "solved: fits": r"\w+ in .*: a value that fits .*",
    "solved: min": r"\w+ in .*: at least .*",
    "solved: max": r"\w+ in .*: at most .*",
    "solved: divisibility": r"\w+ in .*: a multiple of .*",
    "solved: equal": r"\w+ in .*: -?\d+ \(\w+ = \w+ in .*",
    "shape: type": r"type of .*: Shape or list of ints .*",
    "length": r"length of .*: .*",
    "elements": r".*: non-NULL elements .*",
    "shape: type of an entry": r"type of .*\[\d\]: int \| .*",
    "shape: negative": r"[\w\[\]]*\[\d\]: a non-negative value .*",
    "tuple: type": r"type of .*: tuple .*",
    "scalar: int": r"type of .*: int \| .*",
    "scalar: bool": r"type of .*: bool \| .*",
    "scalar: bool value": r".*: True, False, 0 or 1 \| .*",
    "scalar: bool equal": r".*: (True|False) \(\w+ = .*",
    "scalar: float": r"type of .*: float \| .*",
    "scalar: float equal": r".*: \S+ \([ab] = .*",
    "scalar: handle": r"type of .*: opaque pointer or None \| .*",
    "scalar: handle equal": r".*: 0x\w+ \([ab] = .*",
    "stream or pointer: type": r"type of .*: opaque pointer, None or int \| .*",
    "pointer: negative": r"[^.]*: a non-negative value .*",
    "pointer: fits uint64": r"\w+: a value that fits uint64 .* \| an int beyond 64 bits",
    "const: None": r"type of .*: None \| .*",
    "const: int or float": r"\S*: \S+ \| \S+",
    "const: bool": r".*: (True|False) \| .*",
    "beyond 64 bits": r".* \| an int beyond 64 bits",
}
ROWS: Final = {name: re.compile(pattern) for name, pattern in _PATTERNS.items()}
MESSAGE: Final = re.compile(
    r"Mismatched (.*?)(?: on argument #\d+)? when calling: `.*`, expected (.*) but got (.*)"
)


def rows_of(message: str) -> list[str]:
    """The names of the rows, from general to special; never empty."""
    parts = MESSAGE.fullmatch(message)
    assert parts is not None, message
    short = f"{parts[1]}: {parts[2]} | {parts[3]}"
    found = [name for name, pattern in ROWS.items() if pattern.fullmatch(short)]
    assert found, f"no row for {short!r}"
    return found
