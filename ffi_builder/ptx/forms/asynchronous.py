"""cp.async, mbarrier, bulk copies and tensor maps."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

FORMS: Final[tuple[Form, ...]] = (
)
