"""The exception classes of ffi_builder. Calls of wrappers raise Python's built-in exceptions."""

from __future__ import annotations


class SpecError(ValueError):
    """A specification contradicts itself, or names something that does not exist."""


class BuildError(RuntimeError):
    """A wrapper could not be attached: the module, the provider or the callee does not fit."""


class CompileError(RuntimeError):
    """A module could not be lowered, verified or compiled."""


class LinkError(CompileError):
    """Compiled code could not be linked: a symbol is missing or defined twice."""
