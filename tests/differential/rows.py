"""Finds the row of docs/checks.md that a message comes from, to see that every row is met."""

from __future__ import annotations

import re
from typing import Final

_PATTERNS: Final = {
    "number of arguments": r"number of arguments: \d+ \| .*",
    "argument array": r"argument array: a non-NULL pointer \| NULL",
    "tensor: type": r"type of .*: Tensor( or None)? \| .*",
    "optional: type": r"type of .*: .* or None \| .*",
    "type key": r"type of .*: .* \| test\..*",
    "unknown type": r"type of .*: .* \| type index -?\d+",
    "object": r".*: a non-NULL object \| NULL",
    "tensor: ndim": r".*\.ndim: \d+ \| .*",
    "tensor: negative ndim": r".*\.ndim: a non-negative value \| .*",
    "tensor: dtype": r".*\.dtype: .*",
    "tensor: one of several dtypes": r".*\.dtype: one of .*",
    "tensor: device type": r".*\.device_type: .*",
    "tensor: device id, int": r".*\.device_id: \d+ \| .*",
    "tensor: device id, symbol": r".*\.device_id: -?\d+ \(\w+ = .*",
    "tensor: device of another": r".*\.device_id: \S+ \(the device of .*",
    "tensor: shape pointer": r".*\.shape: a non-NULL pointer \| NULL",
    "tensor: negative dimension": r".*\.shape\[\d+\]: a non-negative value \| -\d+",
    "tensor: product": r".*\.shape: a product of .* \| \[.*",
    "tensor: byte_offset": r".*\.byte_offset: .*",
    "tensor: NULL data": r".*\.data: a non-NULL pointer, as .* has elements \| NULL",
    "tensor: alignment": r".*\.data: an address aligned .*",
    "overlap": r".*: memory apart from that of .* \(no_overlap\) \| 0x\w+ to 0x\w+, where .* to 0x.*",
    "relation": r".*: .* (<=|<|>=|>|==|!=) .* with \w+ = .* \| -?\d+ and -?\d+",
    "relation: with an int": r".*: .* (<=|<|>=|>|==|!=) -?\d+ with \w+ = .* \| -?\d+",
    "relation: set": r".*: .* in \{.*\} with \w+ = .* \| -?\d+",
    "relation: overflow": r".*: .* with \w+ = .* \| a value beyond int64",
    "packed: dimension": r".*\.shape\[\d+\]: at most \d+ in magnitude, .*",
    "packed: stride": r".*\.strides\[\d+\]: at most \d+ in magnitude, .*",
    "strides: column-major": r".*\.strides\[\d+\]: -?\d+ \(column-major contiguous\) \| .*shape=.*",
    "cut list": r".*\[(-?\d+, ){64}\.\.\.\].*",
    "strides: row-major": r".*\.strides\[\d+\]: -?\d+ \(row-major contiguous\) \| .*shape=.*",
    "strides: int": r".*\.strides\[\d+\]: -?\d+ \| -?\d+ \(shape=.*",
    "strides: symbol": r".*\.strides\[\d+\]: -?\d+ \(\w+ = [^)]*\) \| -?\d+ \(shape=.*",
    "strides: expression": r".*\.strides\[\d+\]: -?\d+ \(.* with .* \| -?\d+ \(shape=.*",
    "strides: fits": r"[^ ]*\.strides\[\d+\]: a value that fits .*",
    "strides: bounds": r"[^ ]*\.strides\[\d+\]: (at least|at most|a multiple of) .* of .*",
    "strides: NULL": r".*strides=NULL\)",
    "dimension: int": r".*\.shape\[\d+\]: \d+ \| .*",
    "dimension: symbol": r".*\.shape\[\d+\]: \d+ \(\w+ = .*",
    "dimension: expression": r".*\.shape\[\d+\]: -?\d+ \(.* with .*",
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
    "str": r"type of .*: str( or None)? \| .*",
    "bytes": r"type of .*: bytes( or None)? \| .*",
    "str: in place": r"length of .*: at most 7, as it is held in place \| \d+",
    "choice": r".*: one of '.*' \| '.*'",
    "choice: hint": r".*: one of '.*' \| '.*'(\.\.\.)? \(did you mean '.*'\?\)",
    "choice: cut": r".*: one of '.*' \| '.*'\.\.\.",
    "choice: escapes": r".*: one of '.*' \| '.*\\x[0-9a-f]{2}.*'",
    "object: any": r"type of .*: Object( or None)? \| .*",
    "object: of a type": r"type of .*: (ffi|test)\.\S+( or None)? \| .*",
    "object: function": r"type of .*: Function( or None)? \| .*",
    "object: array": r"type of .*: Array( or None)? \| .*",
    "object: map": r"type of .*: Map( or None)? \| .*",
    "dtype": r"type of .*: dtype( or None)? \| .*",
    "device": r"type of .*: device( or None)? \| .*",
    "length": r"length of .*: .*",
    "elements": r".*: non-NULL elements .*",
    "shape: type of an entry": r"type of .*\[\d+\]: int( or None)? \| .*",
    "shape: negative": r"[\w.\[\]]*\[\d+\]: a non-negative value .*",
    "list: type": r"type of .*: list of tensors( or None)? \| .*",
    "list: negative length": r"length of .*: a non-negative value \| -\d+",
    "list: length beyond int32": r"length of .*: a value that fits int32 .*",
    "list: length, symbol": r"length of .*: \d+ \(\w+ = length of .*",
    "list: a symbol of each element": r".*\[\d+\]\.shape\[\d+\]: \d+ \(m = \w+\[\d+\]\.shape.*",
    "list: a shared symbol": r"\w+\[\d+\]\.\S+: -?\d+ \([kns] = \w+\[\d+\]\..*",
    "list: device of the first": r".*\.device_id: \S+ \(the device of \w+\[0\]\) .*",
    "tuple: type": r"type of .*: tuple .*",
    "scalar: int": r"type of .*: int( or None)? \| .*",
    "scalar: bool": r"type of .*: bool( or None)? \| .*",
    "scalar: bool value": r".*: True, False, 0 or 1 \| .*",
    "scalar: bool equal": r".*: (True|False) \(\w+ = .*",
    "scalar: float": r"type of .*: float( or None)? \| .*",
    "scalar: float equal": r".*: \S+ \([ab] = .*",
    "scalar: handle": r"type of .*: opaque pointer or None \| .*",
    "scalar: handle equal": r".*: 0x\w+ \([abh] = .*",
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
