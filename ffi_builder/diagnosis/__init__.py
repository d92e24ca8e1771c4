"""Finds out what is wrong with a call: the table of a wrapper's checks, and what reads it.

Nothing here imports MLIR. :mod:`.encode` makes the table of a wrapper from its plan.
``ffi_builder/support/diagnosis.c`` runs its checks, in wrappers and, by :mod:`.native`, for
Python. :mod:`.header` makes the numbers and words that both share.
"""
