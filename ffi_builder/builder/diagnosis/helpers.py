"""What wrappers of a module share, added to it as it is needed."""

from __future__ import annotations

from dataclasses import dataclass

from ffi_builder.builder.diagnosis.machine import define_machine
from ffi_builder.builder.diagnosis.numbers import define_number_helpers
from ffi_builder.builder.diagnosis.objects import define_object_helpers
from ffi_builder.builder.diagnosis.tensors import define_tensor_helpers
from ffi_builder.ir import Symbols, define_kept


@dataclass(frozen=True)
class Helpers:
    """What a wrapper needs besides the diagnosis.

    ``numbers``: BigInts and 16-bit floats; ``objects``: moved objects, strs, bytes, type keys.
    """

    tensors: bool
    numbers: bool
    objects: bool


def define_helpers(symbols: Symbols, helpers: Helpers) -> None:
    """Add the diagnosis, and the helpers of wrappers that have what they are for."""
    define_kept(symbols, "diagnose", define_machine)
    if helpers.tensors:
        define_kept(symbols, "tensors", define_tensor_helpers)
    if helpers.numbers:
        define_kept(symbols, "numbers", define_number_helpers)
    if helpers.objects:
        define_kept(symbols, "objects", define_object_helpers)
