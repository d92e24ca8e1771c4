"""Finds out what is wrong with a call: makes and reads the table of a wrapper's checks.

Nothing here imports MLIR. :mod:`.encode` makes the table of a wrapper from its plan.
``ffi_builder/support/diagnosis.c`` runs the checks of the table, in wrappers and, by
:mod:`.native`, for Python. :mod:`.header` makes the numbers and words that C and Python share.
"""
