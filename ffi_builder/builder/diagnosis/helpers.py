"""What wrappers of a module share, added to it as it is needed."""

from __future__ import annotations

from ffi_builder.builder.diagnosis.functions import shared_name
from ffi_builder.builder.diagnosis.machine import define_machine
from ffi_builder.builder.diagnosis.numbers import define_number_helpers
from ffi_builder.builder.diagnosis.tensors import define_tensor_helpers
from ffi_builder.ir import Symbols


def define_helpers(symbols: Symbols, *, tensors: bool, numbers: bool) -> None:
    """Add the diagnosis, and the helpers of wrappers with tensors, or BigInts and 16-bit floats."""
    if shared_name("diagnose") not in symbols:
        define_machine(symbols)
    if tensors and shared_name("tensor_object") not in symbols:
        define_tensor_helpers(symbols)
    if numbers and shared_name("big_uint64") not in symbols:
        define_number_helpers(symbols)
