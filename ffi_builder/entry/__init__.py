"""The fast entry: calls from Python whose arguments are read in C (`_entry.c`).

    available   tells whether the fast entry is in use, and for which frameworks, or why not
    layouts     finds the offsets of fields in objects of CPython, NumPy, PyTorch and tvm-ffi

`runtime.python.functions` makes entries of functions. The extension is optional: without it, Python
code reads the arguments, by the same rules.
"""
