"""Compiled modules to files: objects, libraries, headers and stubs.

Its modules are loaded when something is exported, since most modules are not.
"""
