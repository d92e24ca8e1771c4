"""Objects to code of this process, with LLVM's ORC JIT."""
