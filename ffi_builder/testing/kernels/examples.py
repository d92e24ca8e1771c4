"""Makes examples: random valid arguments for a signature, and simpler ones of the same kind.

Whatever a signature leaves open is a *choice* between candidates, which are ordered from the
simplest on. A *draw* has the number of the chosen candidate for each choice. Smaller numbers make
simpler arguments, so shrinking an example only has to reduce numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, replace
from typing import Any, Final, TypeAlias

from ffi_builder import spec
from ffi_builder.extending import FLOAT_DTYPES, INT_RANGES, contiguous, dataclass
from ffi_builder.testing.kernels.elements import CONTENTS
from ffi_builder.testing.kernels.frame import Frame
from ffi_builder.testing.make.arguments import LIMIT, Dims, make
from ffi_builder.testing.make.arrays import Array, numpy
from ffi_builder.testing.make.symbols import Symbol

np: Final = numpy()

Key: TypeAlias = tuple[str, str]
"""The kind of choice, such as ``"dtype"``, and its path or symbol."""
Draw: TypeAlias = Mapping[Key, int]

EDGES: Final = (
    *(0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129),
    *(255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025),
)
"""Sizes at which kernels tend to go wrong, in multiples of the divisibility."""
_LAYOUTS: Final = ("plain", "padded", "transposed", "reversed", "broadcast")
"""Strides where any are allowed. Padding leaves gaps between elements. Broadcast elements share one
place in memory, which only inputs may do."""
_PLACES: Final = ("aligned", "least aligned")
"""Whether the address is aligned better than ``data_alignment`` and the element require."""
_LARGEST: Final = {0: 1030, 1: 1030, 2: 130, 3: 34}
"""Greatest size by the rank of the tensor."""
_LARGEST_OF_MORE: Final = 10
_LENGTHS: Final = range(5)
"""The lengths of lists, unless the signature requires more."""
_PADS: Final = (0, 1, 2, 5, 16)
"""Amounts to add to strides that are symbols, in multiples of the divisibility."""
_SHAPES: Final = (
    *((), (0,), (1,), (2,), (3,), (5,), (17,), (64,), (1000,)),
    *((1, 1), (2, 3), (0, 3), (3, 0), (16, 17), (1, 2, 3), (4, 3, 2), (2, 1, 3, 2)),
)
"""Shapes of tensors of any rank."""
_FLOATS: Final = (0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, 1.25, -2.75)
_FINE: Final = (1 + 2**-24,)
"""Numbers of float64 that float32 does not hold; a kernel of float32 gets 1."""
_LIMITS: Final = (float("nan"), float("inf"), float("-inf"), -0.0)
_FARTHEST: Final = 64
"""The largest magnitude of an int that is not a size, unless its bounds are declared."""
_ROOM: Final = 2**22
"""Greatest size of a tensor in an example, in bytes, unless the signature requires more."""
_SIMPLEST: Final = 3
"""The first so many examples are not random: example i takes candidate i of each choice."""
_ALL_BELOW: Final = 18
"""Shrinking an example tries all candidates with numbers below this."""


@dataclass(frozen=True)
class Examples:
    """Makes the arguments of examples; see :func:`~ffi_builder.testing.check_kernel`."""

    signature: spec.Signature
    framework: str
    seed: int
    dims: Dims
    values: Mapping[str, object]
    _: KW_ONLY
    limits: bool
    prepare: Callable[..., object] | None

    def example(self, number: int, draw: Draw | None = None) -> tuple[Draw, Frame | None]:
        """Make an example: a random one, or one from a draw. Equal numbers give equal examples.

        The frame is None if ``prepare`` leaves the example out.

        Raises:
            ValueError: no arguments fit.
        """
        choices, arguments = self._arguments(number, draw)
        return choices.drawn, self._filled(arguments, choices, number)

    def _arguments(self, number: int, draw: Draw | None) -> tuple[_Choices, list[Any]]:
        """Make arguments: small ones if possible, and with absent Optionals if that is possible."""
        attempts = [(_ROOM, True), (LIMIT, True), (LIMIT, False)]
        while True:
            room, optional = attempts.pop(0)
            choices = _Choices(self, number, draw, optional=optional)
            given = self.dims, self.framework, self.values
            try:
                return choices, make(self.signature, *given, choices.pick, room)
            except ValueError:
                if not attempts:
                    raise

    def _filled(self, arguments: list[Any], choices: _Choices, number: int) -> Frame | None:
        frame = Frame(self.signature, arguments, self.framework, choices.relayout)
        kind = choices.pick("contents", "", None, CONTENTS[-1])
        random = np.random.default_rng([self.seed, number])
        frame.randomize(kind, random, limits=self.limits, kept=self.values.keys())
        if self.prepare is None:
            return frame
        frame.write_given()
        kept = self.prepare(*frame.arguments)
        if kept is not None and not kept:
            return None
        frame.read_given()
        return frame


def simpler(draw: Draw) -> Iterator[Draw]:
    """Yield draws in which one choice has a lower number, the lowest first."""
    for key, choice in draw.items():
        nearer = (choice - 2**power for power in reversed(range(choice.bit_length())))
        for lower in dict.fromkeys((*range(min(choice, _ALL_BELOW)), *nearer)):
            yield {**draw, key: lower}


class _Choices:
    """Makes the choices of one example, and records them.

    Args:
        examples: the examples that it belongs to.
        number: the number of the example.
        draw: the choices to make; any other choice is the simplest. None makes random choices.
        optional: whether Optionals may be absent.
    """

    def __init__(
        self, examples: Examples, number: int, draw: Draw | None, *, optional: bool
    ) -> None:
        self.drawn: dict[Key, int] = {}
        self._examples, self._number, self._draw = examples, number, draw
        self._optional = optional
        self._random = np.random.default_rng([examples.seed, number])

    def pick(self, kind: str, name: str, subject: Any, usual: Any) -> Any:
        """Choose one of the candidates; the usual one if there is only one."""
        candidates, edges = self._candidates(kind, subject)
        if len(candidates) < 2 or (kind == "present" and not self._optional):
            return usual
        if self._draw is not None:
            choice = min(self._draw.get((kind, name), 0), len(candidates) - 1)
        elif self._number < _SIMPLEST:
            choice = min(self._number, len(candidates) - 1)
        elif kind == "contents":
            choice = len(candidates) - 1
        else:
            choice = self._any(len(candidates), edges)
        self.drawn[kind, name] = choice
        return candidates[choice]

    def relayout(self, path: str, tensor: spec.Tensor, array: Array) -> Array:
        """Choose the strides that the signature leaves open, and the alignment."""
        if path in self._examples.values:
            return array
        layout = self.pick("layout", path, tensor, "plain")
        place = self.pick("place", path, tensor, _PLACES[0])
        strides = array.strides
        if layout == "transposed":
            strides = contiguous(array.shape, "F")
        elif tensor.order is None:
            factor = {"plain": 1, "padded": 2, "reversed": -1, "broadcast": 0}[layout]
            entries = tensor.stride_entries or (None,) * len(strides)
            pairs = zip(entries, strides, strict=True)
            strides = tuple(step * factor if entry is None else step for entry, step in pairs)
        return replace(array, strides=strides, least_aligned=place == "least aligned")

    def _any(self, count: int, edges: Sequence[int]) -> int:
        """Return a random number below ``count``. In half of all cases it is an edge."""
        among: list[Sequence[int]] = [range(count)]
        if edges:
            among += [range(min(count, 3)), edges, edges]
        chosen = among[int(self._random.integers(len(among)))]
        return chosen[int(self._random.integers(len(chosen)))]

    def _candidates(self, kind: str, subject: Any) -> tuple[Sequence[Any], Sequence[int]]:
        """Return the candidates, the simplest first, and the numbers of those to prefer."""
        limits = self._examples.limits
        match kind:
            case "symbol":
                return _values(subject, limits=limits)
            case "contents":
                return [each for each in CONTENTS if limits or each != "limits"], ()
            case "layout":
                return self._layouts(subject), ()
            case _:
                return {
                    "length": _LENGTHS,
                    "present": (False, True),
                    "choice": tuple(getattr(subject, "choices", ())),
                    "dtype": getattr(subject, "dtypes", ()),
                    "part": tuple(getattr(subject, "parts", ())),
                    "shape": _SHAPES,
                    "place": _PLACES,
                    "pointer": (),
                }[kind], ()

    def _layouts(self, tensor: spec.Tensor) -> list[str]:
        left_out = set[str]() if tensor.strides == "any" else {"transposed"}
        if tensor.packing > 1 or (left_out and None not in (tensor.stride_entries or ())):
            left_out = {*_LAYOUTS}
        if tensor.intent != "in":
            left_out.add("broadcast")
        if self._examples.framework == "torch":
            left_out.add("reversed")
        return [layout for layout in _LAYOUTS if layout not in left_out]


def _values(symbol: Symbol, *, limits: bool) -> tuple[Sequence[Any], Sequence[int]]:
    """Return the values that a symbol may have, and the numbers of those to prefer."""
    low, high, step = symbol.low, symbol.high, symbol.step
    match symbol.role:
        case _ if symbol.var.dtype == "bool":
            return (False, True), ()
        case _ if symbol.var.dtype in FLOAT_DTYPES:
            fine = _FINE if symbol.var.dtype == "float64" else ()
            return (*_FLOATS, *fine, *(_LIMITS if limits else ())), ()
        case "length":
            return sorted({min(max(low, number), high) for number in _LENGTHS}), ()
        case "stride":
            return _PADS, ()
        case "size":
            first = -(-max(low, 0) // step) * step
            last = max(_LARGEST.get(symbol.rank, _LARGEST_OF_MORE), first + 4 * step)
            sizes = range(first, min(last, high) + 1, step)
            return sizes, [*(edge for edge in EDGES if edge < len(sizes)), len(sizes) - 1]
        case "scalar" if symbol.var.is_integer:
            middle = min(max(0, low), high) // step
            near = range(middle - _FARTHEST, middle + _FARTHEST + 1)
            bounds = {low, high} - {*INT_RANGES[symbol.var.dtype]}
            steps = (*near, *(bound // step for bound in bounds))
            numbers = {number * step for number in steps if low <= number * step <= high}
            ordered = sorted(numbers, key=lambda value: (abs(value), value < 0))
            return ordered, [*range(min(5, len(ordered))), len(ordered) - 1]
        case _:
            return (), ()
