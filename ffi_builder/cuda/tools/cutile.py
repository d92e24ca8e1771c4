"""Makes the signature of a kernel of cuTile, which NVIDIA calls CUDA Tile.

It reads public attributes of the constraints of a ``KernelSignature``, so it does not import
cuTile::

    signature.symbol == "add_Kt2_A1f32…"
    signature.parameters == (ArrayConstraint(float32, 1, …), ScalarConstraint(int32))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ffi_builder import BuildError, spec

_BOOL: Final = "bool_"
"""The dtype of cuTile 1.7 that has another name here."""


def cutile_signature(
    signature: Any, names: Iterable[str], *, name: str | None = None
) -> spec.Signature:
    """Return what a kernel of cuTile was compiled for, as checks.

    An array becomes a Tensor on a CUDA device with the symbols ``x_0``, ``x_1``, … for its sizes
    and ``x_stride_0``, … for its strides, but for constants. Alignment, divisibilities, bounds and
    an empty ``alias_groups`` are checked. Constants are part of the kernel, and left out.

    ``wrap`` launches the cubin: a tile kernel gets the pointer, the sizes and the strides of each
    array.

    Args:
        signature: the ``KernelSignature`` that was given to ``export_kernel``.
        names: the names of the kernel's parameters, those of constants included, in order.
        name: the name of the signature; by default the kernel's symbol.

    Raises:
        BuildError: ``signature`` is none, has no symbol, or has a constraint that wrappers cannot
            check; the names are too few or too many.
        SpecError: a name is not an identifier, or a dtype has no parameter here.

    Examples:
        Needs cuTile:

        >>> import cuda.tile as ct
        >>> from cuda.tile.compilation import *
        >>> from ffi_builder import cuda
        >>> array = ArrayConstraint(
        ...     ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
        ...     may_alias_internally=False, stride_constant=(1,), base_addr_divisible_by=16
        ... )
        >>> convention = CallingConvention.cutile_python_v2()
        >>> given = KernelSignature([array, ScalarConstraint(ct.int32), 128], convention, "fill")
        >>> print(cuda.cutile_signature(given, ["x", "value", "SIZE"]))
        fill(x: Tensor([x_0], float32, strides=[1], device_type=cuda, data_alignment=16),
            value: int32) where x_0: int32
    """
    constraints: Sequence[Any] | None = getattr(signature, "parameters", None)
    if constraints is None or not hasattr(signature, "calling_convention"):
        raise BuildError(
            f"cutile_signature: expected a KernelSignature of cuTile but got {signature!r}"
        )
    known = name or signature.symbol
    if known is None:
        raise BuildError(
            "cutile_signature: the KernelSignature has no symbol: give it the kernel's by "
            "with_mangled_symbol, or pass name="
        )
    given = [*names]
    if len(given) != len(constraints):
        raise BuildError(
            f"cutile_signature: the KernelSignature has {len(constraints)} parameters, but names= "
            f"has {len(given)}: {', '.join(given)}"
        )
    pairs = zip(given, constraints, strict=True)
    params = [param for each, constraint in pairs for param in _params(each, constraint)]
    return spec.Signature(known, params, no_overlap=_alone(params, constraints))


def _params(name: str, constraint: Any) -> list[spec.Param]:
    """Return the parameter of a constraint, and none for a constant."""
    match type(constraint).__name__:
        case "ConstantConstraint":
            return []
        case "ScalarConstraint":
            return [spec.Var(name, _dtype(constraint.dtype))]
        case "ArrayConstraint":
            return [_tensor(name, constraint)]
        case "TupleConstraint":
            items = [
                param
                for index, item in enumerate(constraint.items)
                for param in _params(f"{name}_{index}", item)
            ]
            return [spec.TupleParam(name, items)] if items else []
        case kind:
            raise BuildError(
                f"cutile_signature: {name!r} is a {kind}, which has no parameter here; write the "
                f"signature by hand"
            )


def _tensor(name: str, array: Any) -> spec.Tensor:
    sizes, strides = (
        [
            _entry(f"{name}_{word}{axis}", array.index_dtype.name, *facts)
            for axis, facts in enumerate(zip(*columns, strict=True))
        ]
        for word, columns in (
            ("", (array.shape_constant, array.shape_divisible_by, [None] * array.ndim)),
            (
                "stride_",
                (array.stride_constant, array.stride_divisible_by, array.stride_lower_bound_incl),
            ),
        )
    )
    alignment = array.base_addr_divisible_by
    if alignment & (alignment - 1):
        raise BuildError(
            f"cutile_signature: {name!r} has base_addr_divisible_by={alignment}, but wrappers "
            f"check powers of two"
        )
    dtype, given = _dtype(array.dtype), alignment if alignment > 1 else None
    return spec.Tensor(
        name, sizes, dtype, strides=strides, device_type="cuda", data_alignment=given
    )


def _entry(
    name: str, dtype: str, constant: int | None, divisor: int, least: int | None
) -> spec.Dim:
    if constant is not None:
        return constant
    return spec.Var(name, dtype, divisibility=divisor if divisor > 1 else None, min=least)


def _dtype(dtype: Any) -> str:
    return "bool" if dtype.name == _BOOL else dtype.name


def _alone(params: Sequence[spec.Param], constraints: Iterable[Any]) -> list[str]:
    """Return the paths of the arrays that may share memory with no other.

    Raises:
        BuildError: one may share memory with some of the others.
    """
    groups = [{*array.alias_groups} for array in _arrays(constraints)]
    shared = [each for each in groups if each]
    if any(one.isdisjoint(other) for one in shared for other in shared):
        raise BuildError(
            "cutile_signature: arrays have alias_groups in common with some arrays, but not with "
            "all that have any: wrappers check arrays without alias_groups; put the others into "
            "one group"
        )
    paths = [path for path, param in spec.with_paths(params) if isinstance(param, spec.Tensor)]
    alone = [path for path, each in zip(paths, groups, strict=True) if not each]
    return alone if len(paths) > 1 else []


def _arrays(constraints: Iterable[Any]) -> Iterator[Any]:
    for constraint in constraints:
        kind = type(constraint).__name__
        if kind == "ArrayConstraint":
            yield constraint
        elif kind == "TupleConstraint":
            yield from _arrays(constraint.items)
