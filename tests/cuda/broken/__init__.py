"""Providers that are broken on purpose, each in one rule of the driver, and what shows it.

A broken provider is the real one, of which one function has been replaced: see ``breakages``. What
is done with it is a scenario: an ordinary use, that works with the real one.
"""
