"""Finds out what is wrong with a call: a table of checks, and bytecode that runs them.

Nothing here imports MLIR. :mod:`.encode` makes the table of a wrapper from its plan;
:mod:`.library` has the bytecode, which :mod:`.assembled` makes of :mod:`.routines`;
:mod:`.interpreter` runs it in Python.
:mod:`ffi_builder.builder.helpers.machine` emits the machine that runs it in compiled wrappers.
"""
