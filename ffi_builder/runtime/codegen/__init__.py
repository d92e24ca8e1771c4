"""MLIR and LLVM IR to objects, assembly and PTX."""
