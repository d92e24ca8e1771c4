"""The fake HIP library of ``ffi_builder.testing``."""
