"""The target of the device of a call, such as gfx942, as a condition of variants."""

from __future__ import annotations

import re
from typing import Any, ClassVar, Final

from typing_extensions import override

from ffi_builder import SpecError
from ffi_builder.cuda.launch.capability import Capability
from ffi_builder.cuda.launch.vendor import Vendor
from ffi_builder.extending import dataclass
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.rocm.launch.vendor import ROCM

_NAME: Final = re.compile(r"gfx(\d{1,2})([\da-f])([\da-f])")
_BYTE: Final = 255


@dataclass(frozen=True)
class Target(Capability):
    """``major << 16 | minor << 8 | stepping``: gfx90a is 9.0.10."""

    field: str = "target"
    vendor: ClassVar[Vendor] = ROCM

    @override
    def checked(self, op: str, value: object) -> object:
        if op not in ("==", "!="):
            raise SpecError(f"target has no order: expected == or != but got {op!r}")
        if not isinstance(value, str) or _NAME.fullmatch(value) is None:
            raise SpecError(f"target: expected a name such as gfx942 but got {value!r}")
        return value

    @override
    def number(self, value: Any) -> int:
        match = _NAME.fullmatch(value)
        assert match is not None
        return int(match[1]) << 16 | int(match[2], 16) << 8 | int(match[3], 16)

    @override
    def described(self, b: CheckingBuilder, value: Value) -> tuple[str, list[Value]]:
        parts = [b.and_(b.lshr(value, b.i32(shift)), b.i32(_BYTE)) for shift in (16, 8, 0)]
        return "target = gfx, version {}.{}.{}", parts
