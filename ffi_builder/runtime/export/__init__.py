"""Compiled modules to files: objects, libraries, headers and stubs."""
