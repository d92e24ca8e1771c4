"""Every exception class of ffi_builder; what a wrapper raises when called are Python's own."""

from __future__ import annotations


class SpecError(ValueError):
    """A description of parameters contradicts itself or names something that does not exist."""


class BuildError(RuntimeError):
    """A wrapper could not be attached: the module, the provider or the callee does not fit."""


class CompileError(RuntimeError):
    """A module could not be lowered, verified or compiled."""


class LinkError(CompileError):
    """Compiled code could not be linked: a symbol is missing or defined twice."""
