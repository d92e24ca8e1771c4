"""mma, ldmatrix, stmatrix and movmatrix."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form

FORMS: Final[tuple[Form, ...]] = ()
