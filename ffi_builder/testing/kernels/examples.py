"""Makes examples: random right arguments for a signature, and simpler ones of the same kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.testing.check import check
from ffi_builder.testing.kernels.elements import CONTENTS
from ffi_builder.testing.kernels.frame import Frame, map_tensors, unfolded
from ffi_builder.testing.kernels.guarded import describe
from ffi_builder.testing.kernels.sites import Draw, Key, Site, find_sites
from ffi_builder.testing.make.arguments import make_args
from ffi_builder.testing.make.arrays import Array, numpy
from ffi_builder.testing.make.layout import reach
from ffi_builder.testing.make.unfold import (
    Dims,
    Unfolded,
    fitting,
    given_lengths,
    lengths,
    lists_of,
    unfold,
)

_ROOM: Final = 2**22
"""Greatest size of a tensor in an example, in bytes, if a smaller one can be made."""
_SIMPLEST: Final = 3
"""The number of examples with the first candidate of each site, then the second, and so on."""
_ALL_BELOW: Final = 18
"""Choices below this are all tried when an example is shrunk."""
_LONGEST: Final = 4
"""The most elements of a list, unless it needs more."""
_SIZES: Final = ("length", "symbol", "size", "shape", "pad")
"""Kinds of sites whose candidates may contradict each other."""


class Examples:
    """Makes the arguments of examples; see :func:`~ffi_builder.testing.check_kernel`."""

    def __init__(
        self,
        signature: spec.Signature,
        framework: str,
        seed: int,
        *,
        dims: Dims,
        values: Mapping[str, object],
        limits: bool,
        prepare: Callable[..., object] | None,
    ) -> None:
        self._signature, self._framework, self._seed = signature, framework, seed
        self._dims, self._values = dims, values
        self._limits, self._prepare = limits, prepare
        self._lengths = lengths(signature, dims)
        found = list(_length_sites(signature, dims))
        most = unfold(signature, self._lengths_of({key: max(s.candidates) for key, s in found}))
        fixed = {*most.dims(dims), *most.lengths, *values}
        self._widest = most.signature
        """The signature with tuples in place of lists, as long as they may be."""
        sites = find_sites(self._widest, framework, fixed, limits=limits)
        self._sites = {**{("length", key): site for key, site in found}, **sites}

    def example(self, number: int) -> tuple[Draw, Frame | None]:
        """Draw an example and make its arguments; the same number gives the same ones.

        The frame is None if ``prepare`` leaves the example out.

        Raises:
            ValueError: no arguments can be made at all.
        """
        draw = self._drawn(number)
        arguments = self._tried(draw)
        if arguments is None:
            draw = self._agreeing(draw)
            arguments = self._arguments(draw)
        return draw, self._filled(arguments, draw, number)

    def simpler(self, draw: Draw) -> Iterator[Draw]:
        """Yield draws with a lower choice at one site, the lowest first."""
        for key, choice in draw.items():
            nearer = (choice - 2**power for power in reversed(range(choice.bit_length())))
            for lower in dict.fromkeys((*range(min(choice, _ALL_BELOW)), *nearer)):
                yield {**draw, key: lower}

    def frame(self, draw: Draw, number: int) -> Frame | None:
        """Make the arguments of a draw; None if there are none, or ``prepare`` leaves them out."""
        arguments = self._tried(draw)
        return None if arguments is None else self._filled(arguments, draw, number)

    def _filled(self, arguments: list[Any], draw: Draw, number: int) -> Frame | None:
        frame = Frame(self._signature, arguments, self._framework, self._relayout(draw))
        kind = self._chosen(draw, "contents", "") or CONTENTS[-1]
        random = numpy().random.default_rng([self._seed, number])
        frame.randomize(kind, random, limits=self._limits, kept=self._values.keys())
        if self._prepare is None:
            return frame
        frame.write_given()
        kept = self._prepare(*frame.arguments)
        if kept is not None and not kept:
            return None
        frame.read_given()
        return frame

    def _drawn(self, number: int) -> dict[Key, int]:
        random = numpy().random.default_rng([self._seed, number])
        drawn: dict[Key, int] = {}
        for key, site in self._sites.items():
            last = len(site.candidates) - 1
            if number < _SIMPLEST:
                drawn[key] = min(number, last)
            elif key[0] == "contents":
                drawn[key] = last
            else:
                drawn[key] = _pick(site, random)
        return drawn

    def _agreeing(self, draw: Draw) -> Draw:
        """Leave out the sizes that contradict those before them."""
        kept = {key: choice for key, choice in draw.items() if key[0] not in _SIZES}
        for key in [key for key in draw if key not in kept]:
            more = {**kept, key: draw[key]}
            kept = kept if self._tried(more) is None else more
        return kept

    def _tried(self, draw: Draw) -> list[Any] | None:
        """Make arguments; None if there are no such arguments, or they are too large."""
        try:
            made = self._arguments(draw)
        except ValueError:
            return None
        sizes: list[int] = []

        def measure(path: str, _tensor: spec.Tensor, value: Any) -> None:
            array, _ = describe(path, value)
            sizes.append(sum(reach(array.shape, array.strides)) * array.dtype.total_bits // 8)

        map_tensors(unfolded(self._signature, made), made, measure)
        return made if max(sizes, default=0) <= _ROOM else None

    def _arguments(self, draw: Draw) -> list[Any]:
        """Make arguments, whose free strides are plain still."""
        lists = unfold(self._signature, self._lengths_of(self._numbers(draw, "length")))
        narrowed = self._narrowed(draw, lists.signature)
        dims = {**_known(lists, self._numbers(draw, "symbol")), **lists.dims(self._dims)}
        values = {
            **{path: None for path, there in self._numbers(draw, "present").items() if not there},
            **self._numbers(draw, "choice"),
            **self._values,
        }
        made = make_args(narrowed, dims, self._framework, values)
        # The last symbol of the strides is of the innermost dimension; what it adds moves the rest.
        for name, pad in reversed(_known(lists, self._numbers(draw, "pad")).items()):
            if pad:
                found = check(narrowed, *made)
                step = self._symbol(name).divisibility or 1
                dims[name] = found[name] + pad * step
                made = make_args(narrowed, dims, self._framework, values)
        if self._signature.results:
            check(narrowed, *made)
        if self._signature.where:  # of lengths, too
            check(self._signature, *made)
        return made

    def _numbers(self, draw: Draw, kind: str) -> dict[str, Any]:
        return {
            key[1]: self._sites[key].candidates[choice]
            for key, choice in draw.items()
            if key[0] == kind
        }

    def _chosen(self, draw: Draw, kind: str, name: str) -> Any:
        key = (kind, name)
        return self._sites[key].candidates[draw[key]] if key in draw else None

    def _symbol(self, name: str) -> spec.Var:
        entries = (entry for _, entry in spec.occurrences(self._widest.params))
        return next(v for entry in entries for v in spec.variables(entry) if v.name == name)

    def _lengths_of(self, chosen: Mapping[str, int]) -> dict[str, int]:
        """Return the length of each list, where some have been chosen by symbol or by path."""
        return {
            path: chosen.get(_key(path, tensors), self._lengths[path])
            for path, tensors in lists_of(self._signature).items()
        }

    def _narrowed(self, draw: Draw, signature: spec.Signature) -> spec.Signature:
        """Return a signature of the chosen dtypes and sizes; it accepts less than the given one."""

        def narrow(path: str, param: spec.Param) -> Any:
            match param:
                case spec.Optional():
                    return replace(param, param=narrow(path, param.param))
                case spec.TupleParam():
                    inner = [narrow(*element) for element in spec.elements(param, path)]
                    return replace(param, params=inner)
                case spec.Struct():
                    inner = [narrow(*element) for element in spec.elements(param, path)]
                    return replace(param, fields=inner)
                case spec.Tensor() if not isinstance(param, spec.Workspace):
                    return self._narrowed_tensor(path, param, draw)
                case _:
                    return param

        params = [narrow(param.name, param) for param in signature.params]
        return replace(signature, params=params)

    def _narrowed_tensor(self, path: str, tensor: spec.Tensor, draw: Draw) -> spec.Tensor:
        if path in self._values:
            return tensor
        dtype: Any = self._chosen(draw, "dtype", path) or tensor.dtypes[0]
        if "dtype" in tensor.references:
            dtype = tensor.dtype  # the one that is chosen for the other tensor
        if tensor.any_rank:
            shape = self._chosen(draw, "shape", path)
            return replace(tensor, dtype=dtype, shape=tensor.shape if shape is None else shape)
        sizes = [
            self._chosen(draw, "size", f"{path}.shape[{axis}]") if entry is None else entry
            for axis, entry in enumerate(tensor.dims)
        ]
        return replace(tensor, dtype=dtype, shape=sizes)

    def _relayout(self, draw: Draw) -> Callable[[str, spec.Tensor, Array], Array]:
        def relayout(path: str, tensor: spec.Tensor, array: Array) -> Array:
            layout = self._chosen(draw, "layout", path)
            least = self._chosen(draw, "place", path) == "least aligned"
            return replace(array, strides=_strides(layout, tensor, array), least_aligned=least)

        return relayout


def _key(path: str, tensors: spec.TensorList) -> str:
    """Return what the length of a list is chosen for: its symbol, or the list."""
    return tensors.length.name if isinstance(tensors.length, spec.Var) else path


def _length_sites(signature: spec.Signature, dims: Dims) -> Iterator[tuple[str, Site]]:
    """Yield the lengths that may be chosen."""
    given = given_lengths(signature, dims)
    for path, tensors in lists_of(signature).items():
        if path in given:
            continue
        found: Sequence[int] = range(_LONGEST + 1)
        if isinstance(length := tensors.length, spec.Var):
            found = sorted({fitting(length, number) for number in found})
        yield _key(path, tensors), Site(found)


def _known(lists: Unfolded, numbers: dict[str, Any]) -> dict[str, Any]:
    """Return the values of symbols that the signature has."""
    entries = [entry for _, entry in spec.occurrences(lists.signature.params)]
    names = {var.name for entry in entries for var in spec.variables(entry)}
    return {name: value for name, value in numbers.items() if name in names}


def _pick(site: Site, random: Any) -> int:
    """Return the number of a candidate: in half of all cases that of an edge, if there are any."""
    every: Sequence[int] = range(len(site.candidates))
    among: list[Sequence[int]] = [every]
    if site.edges:
        among += [every[:3], site.edges, site.edges]
    chosen = among[int(random.integers(len(among)))]
    return chosen[int(random.integers(len(chosen)))]


def _strides(layout: str | None, tensor: spec.Tensor, array: Array) -> tuple[int, ...]:
    """Return the strides of a layout; those that the signature gives stay as they are."""
    entries = tensor.stride_entries or (None,) * len(array.shape)
    if tensor.order is not None or layout is None:
        return array.strides
    if layout == "transposed":
        axes = range(len(array.shape))
        return tuple(numpy().prod(array.shape[:axis], dtype="int64").item() for axis in axes)
    factor = {"plain": 1, "padded": 2, "reversed": -1, "broadcast": 0}[layout]
    pairs = zip(entries, array.strides, strict=True)
    return tuple(stride * factor if entry is None else stride for entry, stride in pairs)
