"""Makes asserts return statuses, and derives signatures from kernels."""
