"""Keep faults of MLIR and LLVM, and interrupts, from harming this process."""
