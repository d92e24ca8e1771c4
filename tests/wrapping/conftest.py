"""The fake driver, for images."""

from __future__ import annotations

from ffi_builder import addons

if addons.absent("fakecuda") is None:
    from tests.fakecuda.fixtures import driver as driver
