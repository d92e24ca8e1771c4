"""Signatures and parameters as error messages show them."""

from __future__ import annotations

from collections.abc import Sequence

from ffi_builder.spec.composite import Param, param_text
from ffi_builder.spec.signature import Signature


def outline(item: Signature | Param) -> str:
    """Return the text that errors show of a signature, or of the type of a parameter.

    The outline of a signature has its arguments only; ``str(signature)`` has the results and
    constraints too. The outline of a tensor has its shape, dtypes and strides.

    Examples:
        >>> from ffi_builder import spec
        >>> n = spec.Var("n", "int64", divisibility=4)
        >>> x = spec.Tensor("x", [n, 4], "float32", device_type="cuda")
        >>> spec.outline(x)
        'Tensor([n, 4], float32)'
        >>> spec.outline(spec.Signature("scale", [x, spec.Var("factor", "float32")]))
        'scale(x: Tensor([n, 4], float32), factor: float32)'
    """
    if isinstance(item, Signature):
        return f"{item.name}({', '.join(argument_texts(item))})"
    return item.type_text(outline=True)


def signature(name: str, params: Sequence[Param] | None = None) -> str:
    """Return the outline of a signature; CUTLASS has this function under the same name.

    To make a signature, use :class:`Signature`, or :meth:`Signature.parse` for a text.

    Raises:
        TypeError: there are no parameters.
        SpecError: the parameters do not make a valid :class:`Signature`.

    Examples:
        >>> from ffi_builder import spec
        >>> spec.signature("scale", [spec.Var("factor", "float32")])
        'scale(factor: float32)'
    """
    if params is None:
        raise TypeError(
            f"spec.signature prints the outline of a signature: to make one, write "
            f"spec.Signature.parse({name!r}) of a text, or spec.Signature(name, params)"
        )
    return outline(Signature(name, params))


def argument_texts(signature: Signature) -> list[str]:
    """Return ``name: type`` of every argument, in order."""
    return [param_text(param, outline=True) for param in signature.arguments]
