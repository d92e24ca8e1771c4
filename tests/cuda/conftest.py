"""The fake driver and its allocator, for the tests of this folder."""

from __future__ import annotations

from ffi_builder import addons

if addons.absent("fakecuda") is None:
    from tests.fakecuda.fixtures import allocator as allocator
    from tests.fakecuda.fixtures import driver as driver
