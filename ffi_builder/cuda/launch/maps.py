"""``TensorMap``: the entry of ``args=`` that is a CUtensorMap, and what it says of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, fields, replace
from typing import Any, Final, Literal, cast, get_args

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.cuda.launch import driver, map_rules
from ffi_builder.cuda.launch.map_rules import Setting, Subject
from ffi_builder.extending import Expr, dataclass, parse_dtype

_SPATIAL: Final = 2
"""A tensor of im2col has this many dimensions that are not spatial: images and channels."""


@dataclass(frozen=True)
class TensorMap:
    """A CUtensorMap (``const __grid_constant__``), by value.

    The wrapper encodes it by the driver's cuTensorMapEncode functions for the tensor of each call,
    and keeps the last ones. Everything is in the order of the tensor's own dimensions, of which the
    last one is the innermost; the driver gets it reversed. Each call checks the tensor by the rules
    of the driver, before the driver is asked.

    Args:
        tensor: a Tensor, or its name. Without ``box`` and ``corners``: a DataPointer or ``handle``
            Var to the 128 bytes of a map in host memory that the caller has encoded.
        box: the elements of a tile in each dimension: ints, integer Vars, expressions or their
            texts.
        swizzle: ``"none"``, ``"32B"``, ``"64B"``, ``"128B"``, ``"128B_ATOM_32B"``,
            ``"128B_ATOM_32B_FLIP_8B"`` or ``"128B_ATOM_64B"``. For this and the other names, also
            the number in the driver's enumeration; for this one, also an integer Var or expression
            of that number.
        interleave: ``"none"``, ``"16B"`` or ``"32B"``.
        element_strides: the step in each dimension: ints from 1 to 8. Left out, all are 1.
        l2_promotion: ``"none"``, ``"64B"``, ``"128B"`` or ``"256B"``.
        oob_fill: what stands for elements outside of the tensor: ``"none"`` for zeros, or
            ``"nan"``.
        dtype: the driver's type, in small letters, such as ``"tfloat32"`` or ``"16u4_align8b"``.
            Left out, it is that of the tensor; its bytes, for types without one. Sizes and boxes of
            a packed type count values of 4 or 6 bits.
        order: ``"F"`` if the first dimension is the innermost, as in a column-major tensor. Not for
            im2col.
        corners: for im2col, instead of ``box``: the lower and the upper corner, ints for each
            dimension between the images and the channels.
        channels: for im2col, the channels of a pixel: an int or expression.
        pixels: for im2col, the pixels of a column: an int or expression.
        wide: for the wide im2col, ``"w"`` or ``"w128"``; each corner is a single int.

    Raises:
        SpecError: if the driver refuses such maps of every tensor.

    Examples:
        >>> from ffi_builder.providers import cuda
        >>> print(cuda.TensorMap("x", box=(64, 64), swizzle="128B"))
        x as a tensor map
        >>> cuda.TensorMap("x", box=(64, 512))
        Traceback (most recent call last):
        ...
        ffi_builder.errors.SpecError: TensorMap: box[1]: expected a multiple of 16 from 16 to 256: a
            box has 1 to 256 elements in each dimension, its rows are multiples of 16 bytes; but got
            512
    """

    tensor: spec.Param | str
    box: Sequence[spec.Dim | str] | None = None
    _: KW_ONLY
    swizzle: str | spec.Dim = "none"
    interleave: str | int = "none"
    element_strides: Sequence[int] | None = None
    l2_promotion: str | int = "none"
    oob_fill: str | int = "none"
    dtype: str | int | None = None
    order: Literal["C", "F"] = "C"
    corners: tuple[Sequence[int], Sequence[int]] | None = None
    channels: spec.Dim | str | None = None
    pixels: spec.Dim | str | None = None
    wide: str | None = None

    def __post_init__(self) -> None:
        check_param("TensorMap: tensor", self.tensor)
        for name, known in _NAMES.items():
            if name != "swizzle" or not self.swizzle_is_brought:
                object.__setattr__(self, name, _named(name, getattr(self, name), known))
        if self.order not in ("C", "F") or (self.order == "F" and self.corners is not None):
            allowed = "'C' or 'F'" if self.corners is None else "'C', since this is im2col,"
            raise SpecError(f"TensorMap: order: expected {allowed} but got {self.order!r}")
        if self.dtype is not None:
            object.__setattr__(self, "dtype", _named("dtype", self.dtype, tuple(map_rules.TYPES)))
        self._check_form()
        if self.encodes:
            self._check_numbers()

    @property
    def encodes(self) -> bool:
        """Whether the wrapper makes the map."""
        return self.box is not None or self.corners is not None

    @property
    def function(self) -> str:
        """The driver's function that encodes the map."""
        if self.box is not None:
            return "cuTensorMapEncodeTiled"
        return "cuTensorMapEncodeIm2col" + ("" if self.wide is None else "Wide")

    @property
    def size(self) -> int:
        """The size of a map in bytes."""
        return driver.TENSOR_MAP_SIZE

    @property
    def align(self) -> int:
        """The alignment of a map in bytes."""
        return driver.TENSOR_MAP_ALIGN

    @property
    def rank(self) -> int | None:
        """The number of dimensions that the map is for, if it says so."""
        if self.box is not None:
            return len(self.box)
        if self.wide is None and self.corners is not None:
            return len(self.corners[0]) + _SPATIAL
        return None if self.element_strides is None else len(self.element_strides)

    @property
    def swizzle_is_brought(self) -> bool:
        """Whether each call brings the number of the swizzle."""
        return isinstance(self.swizzle, (spec.Var, Expr))

    def axis(self, index: int, rank: int) -> int:
        """Return the axis of a dimension: 0 is the innermost."""
        return index if self.order == "F" else rank - 1 - index

    @property
    def numbers(self) -> list[tuple[str, Subject, int, spec.Dim | str]]:
        """The numbers of the map: name, subject, axis (0 is the innermost), value."""
        numbers: list[tuple[str, Subject, int, spec.Dim | str]] = []
        for name, subject, entries in (
            ("box", "box", self.box),
            ("element_strides", "element stride", self.element_strides),
        ):
            for index, entry in enumerate(entries or ()):
                axis = self.axis(index, len(entries or ()))
                numbers.append((f"{name}[{index}]", cast("Subject", subject), axis, entry))
        for end, corner in enumerate(self.corners or ()):
            for index, entry in enumerate(corner):
                axis = len(corner) - index
                numbers.append((f"corners[{end}][{index}]", "corner", axis, entry))
        if self.channels is not None:
            numbers.append(("channels", "channels", 0, self.channels))
        if self.pixels is not None:
            numbers.append(("pixels", "pixels", 0, self.pixels))
        return numbers

    def settings(self, dtype: str, bits: int, rank: int) -> list[Setting]:
        """Return what is known of the map of a tensor, for each swizzle that a call may bring.

        ``bits`` are those of the tensor's elements.
        """
        corners = None
        if self.corners is not None:
            lower, upper = (tuple(reversed(corner)) for corner in self.corners)
            corners = lower, upper
        interleave, fill = cast("str", self.interleave), cast("str", self.oob_fill)
        swizzles = map_rules.SWIZZLES if self.swizzle_is_brought else (cast("str", self.swizzle),)
        return [
            Setting(dtype, bits, rank, swizzle, interleave, fill, self.wide, corners)
            for swizzle in swizzles
        ]

    def _check_form(self) -> None:
        if self.box is not None and self.corners is not None:
            raise SpecError("TensorMap: expected box=, or corners= for im2col, but got both")
        given = [name for name in ("channels", "pixels", "wide") if getattr(self, name) is not None]
        if self.corners is None and given:
            raise SpecError(f"TensorMap: {given[0]}: it is for im2col, which needs corners=")
        if self.corners is not None:
            self._check_im2col()
        if self.box is not None:
            object.__setattr__(self, "box", _sequence("box", self.box, "ints or expressions"))
        elif self.corners is None:
            self._check_encoded()
        if self.element_strides is not None:
            steps = _sequence("element_strides", self.element_strides, "ints")
            _check_ints("element_strides", steps)
            object.__setattr__(self, "element_strides", steps)
        count = None if self.element_strides is None else len(self.element_strides)
        if count is not None and self.rank != count:
            raise SpecError(
                f"TensorMap: element_strides: expected {self.rank} ints, one for each dimension, "
                f"but got {count}"
            )

    def _check_encoded(self) -> None:
        for each in fields(self):
            if each.kw_only and getattr(self, each.name) != each.default:
                raise SpecError(
                    f"TensorMap: {each.name}: it is for a map that the wrapper encodes, which "
                    f"needs box=, or corners= for im2col"
                )

    def _check_im2col(self) -> None:
        ends = _sequence("corners", self.corners, "the lower and the upper corner")
        if len(ends) != 2:
            raise SpecError(
                f"TensorMap: corners: expected the lower and the upper corner but got "
                f"{self.corners!r}"
            )
        corners = tuple(_sequence(f"corners[{i}]", end, "ints") for i, end in enumerate(ends))
        for index, corner in enumerate(corners):
            _check_ints(f"corners[{index}]", corner)
        if self.wide is not None:
            _named("wide", self.wide, map_rules.WIDE)
        wanted = len(corners[0]) if self.wide is None else 1
        most = 3 if self.wide is None else 1
        if len(corners[0]) != len(corners[1]) or not 1 <= wanted <= most or len(corners[0]) > most:
            raise SpecError(
                f"TensorMap: corners: expected two of "
                f"{'1 to 3 ints each' if self.wide is None else 'one int each, for the width'} but "
                f"got {self.corners!r}"
            )
        object.__setattr__(self, "corners", corners)
        for name in ("channels", "pixels"):
            if getattr(self, name) is None:
                raise SpecError(f"TensorMap: {name}: im2col needs it")

    def _check_numbers(self) -> None:
        """Check everything that does not depend on the tensor."""
        rank = 3 if self.rank is None else self.rank
        # A type of 8 bits allows most, so what it does not allow, no type does.
        dtype = cast("str | None", self.dtype)
        if self.swizzle_is_brought:
            checked_entry("TensorMap: swizzle", self.swizzle)
        for name, _, _, entry in self.numbers:
            checked_entry(f"TensorMap: {name}", entry)

        def check(setting: Setting) -> None:
            check_setting(setting, "TensorMap", SpecError, with_dtype=dtype is not None)
            for name, subject, axis, entry in self.numbers:
                if isinstance(entry, int):
                    what = f"TensorMap: {name}"
                    check_number(setting, what, subject, axis, entry, SpecError, dtype)

        allowed(self.settings(dtype or "uint8", map_rules.TYPES.get(dtype or "", 8), rank), check)

    def __str__(self) -> str:
        name = self.tensor if isinstance(self.tensor, str) else self.tensor.name
        return f"{name} as a tensor map" if self.encodes else f"*{name}"


_NAMES: Final = {
    "swizzle": tuple(map_rules.SWIZZLES),
    "interleave": map_rules.INTERLEAVES,
    "l2_promotion": map_rules.PROMOTIONS,
    "oob_fill": map_rules.FILLS,
}

_DTYPES: Final = {"bool": "uint8", **{f"int{bits}": f"uint{bits}" for bits in (8, 16)}}
"""The driver's type for dtypes without one of that name, beside those of one byte."""


def number_of(name: str, value: str) -> int:
    """Return the number of a name in the driver's enumeration."""
    return _NAMES[name].index(value)


def allowed(settings: Sequence[Setting], check: Callable[[Setting], None]) -> list[Setting]:
    """Return the settings that ``check`` does not refuse.

    Raises:
        SpecError, BuildError: what it raised of the last one, if it refuses all.
    """
    refusals = [_refusal(setting, check) for setting in settings]
    if refusals[-1] is not None and None not in refusals:
        raise refusals[-1]
    return [each for each, refusal in zip(settings, refusals, strict=True) if refusal is None]


def _refusal(setting: Setting, check: Callable[[Setting], None]) -> Exception | None:
    try:
        check(setting)
    except (SpecError, BuildError) as error:
        return error
    return None


def driver_type(entry: TensorMap, tensor: spec.Tensor, path: str) -> str:
    """Return the driver's type for a tensor.

    Raises:
        BuildError: if the tensor may have several dtypes, or if the driver has no type for it.
    """
    wanted, name = cast("str | None", entry.dtype), tensor.dtypes[0]
    bits = {parse_dtype(dtype).total_bits for dtype in tensor.dtypes}
    if (wanted is None and len(tensor.dtypes) > 1) or len(bits) > 1:
        raise BuildError(
            f"TensorMap: {path} may have the dtypes {', '.join(tensor.dtypes)}; choose a type for "
            f"all with dtype=, if they have one size, or a kernel for each with "
            f"VariantsCallProvider"
        )
    (size,) = bits
    type_ = wanted or (name if name in map_rules.TYPES else _DTYPES.get(name, f"uint{size}"))
    packed = wanted is not None and "align" in wanted
    if type_ not in map_rules.TYPES or (not packed and map_rules.TYPES[type_] != size):
        known = [each for each, its in map_rules.TYPES.items() if its == size or "align" in each]
        raise BuildError(
            f"TensorMap: dtype: {path} has elements of {size} bits ({name}); expected "
            f"dtype={' or '.join(map(repr, known))}"
            f"{'' if wanted is None else f' but got {wanted!r}'}"
        )
    return type_


def check_setting(
    setting: Setting, what: str, error: type[Exception], *, with_dtype: bool = True
) -> None:
    """Check rank and names.

    Raises:
        SpecError, BuildError: ``error``, for the first that the driver refuses.
    """
    check_number(setting, f"{what}: rank", "rank", 0, setting.rank, error)
    for rule, given in map_rules.broken_choices(setting):
        if with_dtype or rule.subject != "oob_fill":
            raise error(
                f"{what}: {rule.subject}: expected {rule.allows}: {rule.why}; but got {given}"
            )


def check_number(
    setting: Setting,
    what: str,
    subject: Subject,
    axis: int,
    value: int,
    error: type[Exception],
    dtype: str | None = "known",
) -> None:
    """Check a number.

    Raises:
        SpecError, BuildError: ``error``, if the driver refuses it.
    """
    # The rows of a box are so many bytes; without a dtype an element may have 1 to 8 of them.
    settings = [setting]
    if dtype is None and subject in ("box", "channels"):
        settings = [replace(setting, dtype=f"uint{bits}", bits=bits) for bits in (8, 16, 32, 64)]
    limits = [map_rules.limit(each, subject, axis) for each in settings]
    if not any(each.range.holds(value) for each in limits):
        raise error(f"{what}: expected {limits[0]}; but got {value}")


def check_param(what: str, given: object) -> None:
    """Require a parameter or its name."""
    if not isinstance(given, (str, *get_args(spec.Param))):
        raise SpecError(f"{what}: expected a parameter or its name but got {given!r}")


def _named(name: str, given: object, known: Sequence[str]) -> str:
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(known):
        return known[given]
    if not isinstance(given, str) or given not in known:
        raise SpecError(
            f"TensorMap: {name}: expected {', '.join(map(repr, known))} but got {given!r}"
        )
    return given


def _sequence(name: str, given: object, kind: str) -> tuple[Any, ...]:
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SpecError(f"TensorMap: {name}: expected a list of {kind} but got {given!r}")
    return tuple(cast("Iterable[Any]", given))


def _check_ints(name: str, given: Sequence[object]) -> None:
    for index, each in enumerate(given):
        if type(each) is not int:
            raise SpecError(f"TensorMap: {name}[{index}]: expected an int but got {each!r}")


def checked_entry(what: str, entry: object) -> spec.Dim | str:
    """Require an int, an integer expression or a text."""
    if isinstance(entry, spec.Var) and not entry.is_integer:
        raise SpecError(f"{what}: {entry.name!r} is a {entry.dtype} symbol, not an integer one")
    if isinstance(entry, bool) or not isinstance(entry, (int, str, spec.Var, Expr)):
        raise SpecError(f"{what}: expected an int or an expression of Vars but got {entry!r}")
    return entry
