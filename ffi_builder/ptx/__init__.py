"""Executes PTX on the CPU: `testing.FakeCuda(execute=True)` runs the kernels that it launches.

PTX text is read into statements (:mod:`~ffi_builder.ptx.text`), each instruction is looked up in the
tables of :mod:`~ffi_builder.ptx.forms` and decoded, or refused (:mod:`~ffi_builder.ptx.decode`), and
an interpreter in C executes warps (the folder ``c``). Nothing is compiled for a kernel.
"""
