"""Emits the checks and loads of a wrapper that every valid call runs."""
