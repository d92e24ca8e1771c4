"""Conditions of calls: the ``where`` of a signature, and the ``when`` of a variant.

Each function takes parameters or symbols of the signature. "If a then b" is ``~a | b``.

A mistake that does not depend on the signature raises a SpecError here. That the signature has the
parameters is checked when it is made, or by attaching. docs/variants.md explains all conditions.

Examples:
    >>> from ffi_builder import addons, spec
    >>> from ffi_builder.providers import when
    >>> n = spec.Var("n", "int64")
    >>> x = spec.Tensor("x", [n], ("float16", "float32"), device_type="cuda")
    >>> print((when.dtype(x) == "float16") & when.divisible(n, 8) & when.aligned(x, 16))
    x.dtype == float16 and n % 8 == 0 and x.data % 16 == 0
    >>> is_float16 = when.dtype(x) == "float16"
    >>> spec.Signature("f", [x], where=[~is_float16 | when.divisible(n, 8)]).where
    (<not x.dtype == float16 or n % 8 == 0>,)
"""

from __future__ import annotations

from ffi_builder import addons, spec
from ffi_builder.errors import SpecError
from ffi_builder.lazy import lazy
from ffi_builder.plan import check_signature
from ffi_builder.spec.expr import Condition, Expr, combined
from ffi_builder.spec.parsing.parse_conditions import condition as parse_condition
from ffi_builder.spec.places import symbols_in
from ffi_builder.spec.properties import (
    Comparable,
    Comparison,
    Property,
    compared,
    is_pointer,
    properties,
)

__all__ = [
    "aligned",
    "all_of",
    "any_of",
    "contiguous",
    "divisible",
    "dtype",
    "ndim",
    "parse",
    "present",
    "value",
]

__getattr__, __dir__ = lazy(__name__, {}, __all__)


def dtype(tensor: spec.Param) -> Comparable:
    """Compare a tensor's dtype, by ``==`` or ``!=``, to one of the dtypes that it declares.

    An absent tensor has no dtype: ``==`` does not hold, ``!=`` does.

    Raises:
        SpecError: if the parameter is not a Tensor, or an Optional Tensor.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> x = spec.Tensor("x", [64], ("float16", "float32"), device_type="cuda")
        >>> print(when.dtype(x) == "float16")
        x.dtype == float16
    """
    return Comparable(Property(_tensor("dtype", tensor), "dtype"))


def ndim(tensor: spec.Param) -> Comparable:
    """Compare the number of dimensions of a tensor with an int; an absent tensor has -1.

    Raises:
        SpecError: if the parameter is not a Tensor, or an Optional Tensor.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> x = spec.Tensor("x", ..., "float32", device_type="cuda")
        >>> print(when.ndim(x) <= 2)
        x.ndim <= 2
    """
    return Comparable(Property(_tensor("ndim", tensor), "ndim"))


def value(item: spec.Param | Expr) -> Comparable:
    """Compare an integer symbol or an expression with an int, a symbol or an expression.

    A Choice is compared with one of its strs, and a bool symbol with True or False. If a call
    compares an expression that does not fit int64, it raises a ValueError. An unbound symbol is 0;
    an absent Choice is not equal to any str.

    Raises:
        SpecError: if the item is of another kind, such as a float symbol.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> n, act = spec.Var("n", "int64"), spec.Choice("act", {"relu": 0, "gelu": 1})
        >>> print((when.value(n * 2) >= 128) & (when.value(act) == "relu"))
        n * 2 >= 128 and act == 'relu'
    """
    given = _required(item)
    if isinstance(given, spec.Choice):
        return Comparable(Property(given))
    if isinstance(given, Expr):
        return Comparable(given)
    if not isinstance(given, spec.Var):
        raise SpecError(
            f"value: expected a Var, an expression or a Choice but got {given!r}; dtype, ndim, "
            f"aligned, contiguous and present are about other parameters"
        )
    if not given.is_integer and given.dtype != "bool":
        raise SpecError(
            f"value: expected an integer or bool symbol but {given.name!r} is a {given.dtype}"
        )
    return Comparable(given)


def divisible(item: spec.Param | Expr, divisor: int) -> Condition:
    """Require that an integer symbol or an expression is a multiple of a positive int.

    Raises:
        SpecError: if the item is not an integer, or the divisor is not a positive int.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> print(when.divisible(spec.Var("n", "int64"), 16))
        n % 16 == 0
    """
    given = _required(item)
    if not isinstance(given, (spec.Var, Expr)):
        hint = f": spec.Var({given!r}, 'int64') is a symbol of that name"
        raise SpecError(
            f"divisible: expected a Var or an expression but got {given!r}"
            f"{hint if isinstance(given, str) else ''}"
        )
    return compared("==", given % divisor, 0)


def aligned(param: spec.Param, alignment: int) -> Condition:
    """Require that the address of a tensor's first element, or a DataPointer, is aligned.

    NULL is aligned, and so is an absent parameter. The address of an empty tensor is checked too.

    Raises:
        SpecError: if the parameter is neither a tensor nor a DataPointer, or the alignment (in
            bytes) is not a power of two.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> print(when.aligned(spec.Tensor("x", [64], "float32", device_type="cuda"), 16))
        x.data % 16 == 0
    """
    given = _required(param)
    if not isinstance(given, (spec.Tensor, spec.DataPointer)):
        raise SpecError(f"aligned: expected a Tensor or a DataPointer but got {given!r}")
    field = "data" if isinstance(given, spec.Tensor) else ""
    return Comparison(Property(given, field, alignment), "==", 0)


def contiguous(tensor: spec.Param) -> Condition:
    """Require that a tensor is row-major contiguous.

    As for a Tensor without ``strides=``, strides of dimensions of size 1 and of empty tensors do
    not count. For a tensor with a ``storage_dtype``, the shape and strides are those that the
    kernel gets. An absent tensor is not contiguous.

    If a variant requires this condition, its kernel's types are checked as if the Tensor had been
    declared without ``strides=``.

    Raises:
        SpecError: if the parameter is not a Tensor, or an Optional Tensor.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> x = spec.Tensor("x", [None, 64], "float32", device_type="cuda", strides="any")
        >>> print(when.contiguous(x))
        x.contiguous
    """
    return Comparison(Property(_tensor("contiguous", tensor), "contiguous"), "==", True)


def present(param: spec.Optional | spec.Var | spec.DataPointer) -> Condition:
    """Require that an Optional is not None, or that a handle or a DataPointer is not NULL.

    Raises:
        SpecError: if the parameter is none of these.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> mask = spec.Optional(spec.Tensor("mask", [64], "bool", device_type="cuda"))
        >>> print(~when.present(mask))
        not mask.present
        >>> print(when.present(spec.Var("context", "handle")))
        context.present
    """
    if not (isinstance(param, spec.Optional) or is_pointer(param)):
        hint = (
            f"; when.parse('{param}.present', signature) takes a name"
            if isinstance(param, str)
            else ""
        )
        raise SpecError(
            f"present: expected an Optional, a handle or a DataPointer, which may be None, but got "
            f"{param!r}{hint}"
        )
    return Comparison(Property(param, "present"), "==", True)


def all_of(*conditions: Condition) -> Condition:
    """Require each of several conditions: ``a & b & c``.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> n, k = spec.dims("n k")
        >>> print(when.all_of(*(when.divisible(size, 8) for size in (n, k))))
        n % 8 == 0 and k % 8 == 0
    """
    return _combined("all_of", "and", conditions)


def any_of(*conditions: Condition) -> Condition:
    """Require one of several conditions: ``a | b | c``.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> n, k = spec.dims("n k")
        >>> print(when.any_of(when.value(n) == 1, when.value(k) == 1))
        n == 1 or k == 1
    """
    return _combined("any_of", "or", conditions)


def parse(text: str, signature: spec.Signature) -> Condition:
    """Parse the text of a condition, in the form that ``str()`` of a condition shows.

    ``parse("x.dtype == float16 and n % 16 == 0", signature)`` is
    ``(dtype(x) == "float16") & divisible(n, 16)`` with the ``x`` and ``n`` of the signature.

    Raises:
        SpecError: if the text is not a condition, or has a name that the signature does not have;
            or if ``signature`` is not a Signature.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import when
        >>> n = spec.Var("n", "int64")
        >>> condition = when.parse("n % 16 == 0", spec.Signature("scan", [n]))
        >>> condition == when.divisible(n, 16)
        True
    """
    check_signature("when.parse: ", signature)
    known = properties(signature.params)
    for word in addons.places("condition"):
        if word in str(text):
            known[word] = addons.find("condition", word)
    return parse_condition(text, symbols_in(signature.params), known)


def _combined(what: str, op: str, conditions: tuple[Condition, ...]) -> Condition:
    if not conditions:
        raise SpecError(f"{what}: expected at least one condition")
    return combined(op, *conditions)


def _tensor(what: str, param: object) -> spec.Tensor:
    given = _required(param)
    if not isinstance(given, spec.Tensor):
        raise SpecError(f"{what}: expected a Tensor but got {given!r}")
    return given


def _required(given: object) -> object:
    """Return the parameter of an Optional, or the item itself."""
    return given.param if isinstance(given, spec.Optional) else given
