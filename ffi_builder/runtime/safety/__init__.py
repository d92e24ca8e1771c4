"""Protects this process from faults of MLIR and LLVM, and from interrupts."""
