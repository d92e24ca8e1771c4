"""The fast entry: calls from Python whose arguments are read in C (`_entry.c`).

    available   tells whether it is used here, and for which frameworks; if not, why
    layouts     finds where objects of CPython, NumPy, PyTorch and tvm-ffi have what is read

`runtime.python.functions` makes entries of functions. The extension is optional: without it,
functions are tvm-ffi's, and `callable` is Python.
"""
