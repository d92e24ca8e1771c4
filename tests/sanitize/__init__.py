"""``attach(…, sanitize=…)``: mistakes of kernels that a wrapper finds, and right kernels."""
