"""Signatures as error messages show them."""

from __future__ import annotations

from collections.abc import Sequence

from ffi_builder.spec.canonical import outline
from ffi_builder.spec.composite import Param
from ffi_builder.spec.signature import Signature


def signature(name: str, params: Sequence[Param]) -> str:
    """Return the short form that error messages show: ``add_one(x: Tensor([n], float32), …)``.

    Raises:
        SpecError: the parameters do not make a valid :class:`Signature`.

    Examples:
        >>> from ffi_builder import spec
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n], "float32", device_type="cpu")
        >>> spec.signature("scale", [x, spec.Var("factor", "float32")])
        'scale(x: Tensor([n], float32), factor: float32)'
    """
    return short_text(Signature(name, params))


def short_text(signature: Signature) -> str:
    """Return a signature as error messages show it: arguments, shapes and dtypes.

    Examples:
        >>> from ffi_builder import spec
        >>> text = "scale(x: Tensor([n], float32), factor: float32) where n % 4 == 0"
        >>> spec.short_text(spec.Signature.parse(text, device="cuda"))
        'scale(x: Tensor([n], float32), factor: float32)'
    """
    return f"{signature.name}({', '.join(argument_texts(signature))})"


def argument_texts(signature: Signature) -> list[str]:
    """Return ``name: type`` of every argument, in order.

    Examples:
        >>> from ffi_builder import spec
        >>> text = "scale(x: Tensor([n], float32), factor: float32)"
        >>> scale = spec.Signature.parse(text, device="cpu")
        >>> spec.argument_texts(scale)
        ['x: Tensor([n], float32)', 'factor: float32']
    """
    return [f"{param.name}: {outline(param)}" for param in signature.arguments]
