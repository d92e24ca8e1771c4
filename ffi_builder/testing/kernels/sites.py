"""Lists what can be chosen in the arguments of a signature: sizes, dtypes, strides and others.

Each choice is a *site*, whose candidates are ordered from the simplest on. A *draw* has the number
of a candidate for some sites, and the rest is left to :func:`~ffi_builder.testing.make_args`. So
smaller numbers make simpler arguments, and shrinking an example needs to know nothing else of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ffi_builder import spec
from ffi_builder.records import dataclass
from ffi_builder.testing.kernels.elements import CONTENTS

Key: TypeAlias = tuple[str, str]
"""The kind of choice, such as ``"dtype"``, and the path or symbol that it is chosen for."""
Draw: TypeAlias = Mapping[Key, int]

EDGES: Final = (
    *(0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129),
    *(255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025),
)
"""Sizes at which kernels go wrong, in multiples of the divisibility."""
LAYOUTS: Final = ("plain", "padded", "transposed", "reversed", "broadcast")
"""Strides where any are allowed. Padded elements have others between them; broadcast ones are the
same element, which only inputs may have."""

_PLACES: Final = ("aligned", "least aligned")
"""Whether the address is a multiple of more than ``data_alignment`` or an element asks for."""
_LARGEST: Final = {0: 1030, 1: 1030, 2: 130, 3: 34}
"""Greatest size by the rank of the tensor."""
_LARGEST_OF_MORE: Final = 10
_PADS: Final = (0, 1, 2, 5, 16)
"""Amounts that are added to strides that are symbols, in multiples of the divisibility."""
_SHAPES: Final = (
    *((), (0,), (1,), (2,), (3,), (5,), (17,), (64,), (1000,)),
    *((1, 1), (2, 3), (0, 3), (3, 0), (16, 17), (1, 2, 3), (4, 3, 2), (2, 1, 3, 2)),
)
"""Shapes of tensors of any rank."""
_FLOATS: Final = (0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, 1.25, -2.75)
_LIMITS: Final = (float("nan"), float("inf"), float("-inf"), -0.0)
_FARTHEST: Final = 64
"""The most distance from 0 of an int that is not a size, unless its bounds are declared."""


@dataclass(frozen=True)
class Site:
    """Candidates, the simplest first, and the numbers of those that are worth more tries."""

    candidates: Sequence[Any]
    edges: Sequence[int] = ()


def find_sites(
    signature: spec.Signature, framework: str, fixed: set[str], *, limits: bool
) -> dict[Key, Site]:
    """Return what can be chosen, but for symbols and arguments in ``fixed``."""
    contents = [kind for kind in CONTENTS if limits or kind != "limits"]
    found: dict[Key, Site] = {("contents", ""): Site(contents)}
    for path, param in spec.with_paths(signature.arguments):
        if path not in fixed:
            found.update(_argument_sites(path, param, framework))
    for name, site in _symbol_sites(signature, limits=limits):
        if name not in fixed:
            found[("pad" if site.candidates is _PADS else "symbol", name)] = site
    for path, param in spec.with_paths(signature.arguments):
        if path not in fixed and isinstance(spec.required(param), spec.Tensor):
            found[("place", path)] = Site(_PLACES)
    return {key: site for key, site in found.items() if len(site.candidates) > 1}


def _argument_sites(path: str, param: spec.Param, framework: str) -> Iterator[tuple[Key, Site]]:
    plain = spec.required(param)
    if plain is not param:
        yield ("present", path), Site((False, True))
    match plain:
        case spec.Choice():
            yield ("choice", path), Site(tuple(plain.choices))
        case spec.Tensor():
            if "dtype" not in plain.references:
                yield ("dtype", path), Site(plain.dtypes)
            if plain.any_rank:
                yield ("shape", path), Site(_SHAPES)
            for axis, entry in enumerate(plain.dims):
                if entry is None:
                    step = plain.packing if axis == plain.packed_axis else 1
                    yield ("size", f"{path}.shape[{axis}]"), _sizes(0, None, step, plain.ndim)
            if plain.packing == 1 and (
                plain.strides == "any" or None in (plain.stride_entries or ())
            ):
                yield ("layout", path), Site(_layouts(plain, framework))
        case _:
            pass


def _layouts(tensor: spec.Tensor, framework: str) -> list[str]:
    left_out = set[str]() if tensor.strides == "any" else {"transposed"}
    if tensor.intent != "in":
        left_out.add("broadcast")
    if framework == "torch":
        left_out.add("reversed")
    return [layout for layout in LAYOUTS if layout not in left_out]


# ---- symbols


def _symbol_sites(signature: spec.Signature, *, limits: bool) -> Iterator[tuple[str, Site]]:
    ranks: dict[spec.Var, int] = {}
    strides: set[spec.Var] = set()
    devices: set[spec.Var] = set()
    for _, param in spec.with_paths(signature.arguments):
        match spec.required(param):
            case spec.Tensor() as tensor:
                for var in _variables(tensor.dims):
                    ranks[var] = max(ranks.get(var, 0), tensor.ndim)
                strides.update(_variables(tensor.stride_entries or ()))
                devices.update(spec.variables(tensor.device_id))
            case spec.Shape() as shape:
                for var in _variables(shape.shape):
                    ranks.setdefault(var, 2)
            case _:
                pass
    entries = (entry for _, entry in spec.occurrences(signature.params))
    for var in dict.fromkeys(_variables(entries)):
        if var.dtype == "bool":
            yield var.name, Site((False, True))
        elif var.dtype in spec.FLOAT_DTYPES:
            yield var.name, Site((*_FLOATS, *_LIMITS) if limits else _FLOATS)
        elif var in ranks:
            low = max(var.min or 0, 0)
            yield var.name, _sizes(low, var.max, var.divisibility or 1, ranks[var])
        elif var in strides:
            yield var.name, Site(_PADS)
        elif var.is_integer and var not in devices:
            yield var.name, _ints(var)


def _variables(entries: Any) -> list[spec.Var]:
    return [var for entry in entries for var in spec.variables(entry)]


def _sizes(low: int, high: int | None, step: int, rank: int) -> Site:
    """List sizes from ``low`` to ``high``, a few at least, and no more than fit a small tensor."""
    first = -(-low // step) * step
    last = max(_LARGEST.get(rank, _LARGEST_OF_MORE), first + 4 * step)
    found = range(first, last + 1 if high is None else min(last, high) + 1, step)
    return Site(found, [*(edge for edge in EDGES if edge < len(found)), len(found) - 1])


def _ints(var: spec.Var) -> Site:
    """List ints around 0, or around the bound that is nearest to it."""
    step = var.divisibility or 1
    low, high = spec.INT_RANGES[var.dtype]
    low, high = (low if var.min is None else var.min), (high if var.max is None else var.max)
    middle = min(max(0, low), high) // step
    near = range(middle - _FARTHEST, middle + _FARTHEST + 1)
    bounds = [bound // step for bound in (var.min, var.max) if bound is not None]
    found = {steps * step for steps in (*near, *bounds) if low <= steps * step <= high}
    ordered = sorted(found, key=lambda value: (abs(value), value < 0))
    return Site(ordered, [*range(min(5, len(ordered))), len(ordered) - 1])
