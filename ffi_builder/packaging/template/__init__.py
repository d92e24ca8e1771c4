"""Modules that are copied into each wheel. They need neither `ffi_builder` nor each other."""
