"""The cold half of a wrapper: finding out what is wrong, and saying it."""

from ffi_builder.builder.diagnosis.encode import encode, symbols_of
from ffi_builder.builder.diagnosis.functions import PREFIX, call_shared, shared_name
from ffi_builder.builder.diagnosis.helpers import define_helpers
from ffi_builder.builder.diagnosis.table import Table

__all__ = [
    "PREFIX",
    "Table",
    "call_shared",
    "define_helpers",
    "encode",
    "shared_name",
    "symbols_of",
]
