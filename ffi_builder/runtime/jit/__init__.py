"""Loads objects into this process, with LLVM's ORC JIT."""
