"""Wrappers that check what their kernel does to its tensors: ``sanitize=``."""
