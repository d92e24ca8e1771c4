"""An allocator for the tensors that functions return."""
