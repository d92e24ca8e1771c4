"""The fake HIP library, for the tests of this folder."""

from __future__ import annotations

from ffi_builder import addons

if addons.absent("fakehip") is None:
    from tests.fakehip.fixtures import hip as hip
