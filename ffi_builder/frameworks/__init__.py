"""Compiled functions as functions of frameworks, which differentiate, trace and compile them."""
