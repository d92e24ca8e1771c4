"""Keeps this process from faults of MLIR and LLVM, in child processes, and from interrupts."""
