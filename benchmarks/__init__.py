"""Measurements: each script prints ratios of one run (README.md)."""
