"""Outcomes of calls of one implementation, which can be compared, printed and sent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ffi_builder.spec import Signature
from tests.differential.signatures import symbols_of


@dataclass(frozen=True)
class Outcome:
    """``kind`` is ``"accepted"``, an error's class, or ``"broken"`` where the ABI itself is."""

    kind: str
    message: str = ""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """Each symbol's value as text, so that NaN is equal to NaN and 0.0 is not -0.0."""
    kernel: Mapping[str, str] | None = None
    """All else that the kernel gets, as text; None where an implementation does not say."""

    def agrees_with(self, other: Outcome) -> bool:
        """Tell whether two implementations did the same, as far as both say."""
        mine, theirs = self.kernel, other.kernel
        return (self.kind, self.message, self.values) == (
            other.kind,
            other.message,
            other.values,
        ) and (mine is None or theirs is None or mine == theirs)

    def without(self, other: Outcome) -> str:
        """Itself as text, of what the kernel gets only that which the other does not say."""
        if self.kind != "accepted":
            return f"{self.kind}: {self.message}"
        theirs = other.kernel or {}
        kernel = {k: v for k, v in (self.kernel or {}).items() if theirs.get(k) != v}
        return f"accepted: symbols={dict(self.values)}, kernel={kernel}"


def show_values(signature: Signature, values: Mapping[str, object]) -> dict[str, str]:
    """Each symbol's value by name; what is there too much or too little is visible."""
    dtypes = {var.name: var.dtype for var in symbols_of(signature.params)}
    return {name: show(values[name], dtypes.get(name, "int64")) for name in sorted(values)}


def show(value: object, dtype: str) -> str:
    """A value of a symbol with that dtype."""
    assert isinstance(value, (int, float))
    if dtype == "bool":
        return str(bool(value))
    if not isinstance(value, float):
        return str(value)
    return "nan" if math.isnan(value) else value.hex()


STREAM_DEVICES = range(20)
STREAM_IDS = range(8)


def stream_of(device_type: int, device_id: int) -> int:
    """The stream that a device of the tests has: 0 where it has none."""
    there = device_type in STREAM_DEVICES and device_id in STREAM_IDS
    return 1 << 32 | device_type << 16 | device_id << 4 if there else 0
