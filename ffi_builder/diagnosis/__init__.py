"""Finds out what is wrong with a call: a table of checks, and the bytecode that interprets it.

Bytes only: nothing here imports MLIR.
"""
