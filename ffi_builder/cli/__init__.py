"""The command line: ``ffi-builder``, or ``python -m ffi_builder``."""
