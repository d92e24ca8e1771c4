"""Compiled functions as Python callables: of modules, of libraries and at addresses."""
