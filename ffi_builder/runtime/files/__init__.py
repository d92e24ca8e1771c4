"""Reads and edits object files, archives and libraries."""
