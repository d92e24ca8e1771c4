"""Writes compiled modules to files: objects, libraries, headers and stubs.

It is loaded on the first export, since most compiled modules are never exported.
"""
