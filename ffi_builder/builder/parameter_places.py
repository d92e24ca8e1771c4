"""The places of parameters: one object, and one place, for each argument and element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ffi_builder import spec
from ffi_builder.plan import Place


def distinct(params: Sequence[spec.Param]) -> tuple[spec.Param, ...]:
    """Copy parameters that occur twice, so that each object stands for one place."""
    counts = Counter(id(param) for param in _every(params))

    def own(param: spec.Param) -> spec.Param:
        match param:
            case spec.TupleParam(params=inner):
                return replace(param, params=tuple(map(own, inner)))
            case spec.Struct(fields=inner):
                return replace(param, fields=tuple(map(own, inner)))
            case spec.Optional(param=inner):
                return replace(param, param=own(inner))
            case _:
                return replace(param) if counts[id(param)] > 1 else param

    return tuple(own(param) for param in params)


def _every(params: Sequence[spec.Param]) -> Iterator[spec.Param]:
    for _, param in spec.with_paths(params):
        yield param
        if isinstance(param, spec.Optional):
            yield param.param


def argument_places(params: Sequence[spec.Param]) -> list[tuple[spec.Param, Place]]:
    """Return every argument with its place, including those in tuples."""
    arguments = [param for param in params if not isinstance(param, spec.HIDDEN)]
    found: list[tuple[spec.Param, Place]] = []
    for index, param in enumerate(arguments):
        found += _places(param, Place((index,), param.name))
    return found


def _places(param: spec.Param, place: Place) -> Iterator[tuple[spec.Param, Place]]:
    yield param, place
    if isinstance(param, spec.Optional):
        yield param.param, place
    for index, (path, element) in enumerate(spec.elements(param, place.path)):
        yield from _places(element, Place((*place.position, index), path))
