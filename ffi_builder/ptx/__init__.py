"""Executes PTX on the CPU: `testing.FakeCuda(execute=True)` runs the kernels that it launches.

PTX text is read into statements (``text``), each instruction is looked up in the tables of
``forms`` and decoded (``decode``), or refused, and an interpreter in C executes warps (``c``).
Nothing is compiled for a kernel.
"""
