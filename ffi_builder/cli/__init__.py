"""The command line: ``python -m ffi_builder``, or ``ffi-builder``."""
