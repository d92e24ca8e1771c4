"""Checks what kernels do: tensors are read and written as declared, and hold the right values."""
