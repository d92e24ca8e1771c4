"""Parameters that are objects of tvm-ffi: of any type, functions, Arrays and Maps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any as AnyValue
from typing import ClassVar, Final, TypeAlias, cast

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import Stored, boolean, listed
from ffi_builder.spec.dtypes import DTypeLike, one_of_dtypes
from ffi_builder.spec.expr import Var
from ffi_builder.spec.numbers import NUMBER_DTYPES
from ffi_builder.spec.param import MISSING, Metadata, Named, PlainValues

_TYPE_KEY: Final = re.compile(r"[A-Za-z_][\w.$-]{0,254}", re.ASCII)
_OF_ANYTHING: Final[AnyValue] = None
ElementLike: TypeAlias = "DTypeLike | Metadata"
"""What an element is: the dtype of a number, or a parameter."""
_ELEMENTS: Final = (
    *("Var", "String", "Bytes", "DType", "Device", "Object", "Function", "Any", "Array", "Map"),
    "Optional",
)


def element_of(of: Named, part: str, given: AnyValue) -> AnyValue:
    """Return what each element is, as a parameter with the name of the whole."""
    what = f"{of.label}: {part}"
    if not isinstance(given, Metadata):
        return Var(of.name, one_of_dtypes(what, given, NUMBER_DTYPES))
    kind, inner = type(given).__name__, cast("AnyValue", given)
    if kind not in _ELEMENTS:
        raise SpecError(f"{what}: expected one of {', '.join(_ELEMENTS)} but got {given!r}")
    if given.default is not MISSING or given.kw_only or given.doc:
        raise SpecError(f"{what}: default, kw_only and doc are those of the whole")
    if kind == "Optional":
        return replace(inner, param=element_of(of, part, inner.param))
    if isinstance(given, Var):
        one_of_dtypes(what, given.dtype, NUMBER_DTYPES)
        if any(given.constraints()):
            raise SpecError(f"{what}: {given!r} has limits, and an element is no symbol")
    if not isinstance(of, Function) and _levels(given) > 1:
        raise SpecError(
            f"{what}: expected elements that have no checked elements of elements, but got "
            f"{given.type_text()}; declare an Array or Map of anything there"
        )
    return replace(inner, name=of.name)


def _levels(param: AnyValue) -> int:
    """Return how deep the elements are that are checked; those of Maps only at the top."""
    if isinstance(param, Array) and param.of is not None:
        return 1 + _levels(param.of)
    if isinstance(param, Map):
        return 0 if param.key is None else 2
    inner: AnyValue = getattr(param, "param", None)  # of an Optional
    return 0 if inner is None else _levels(inner)


@dataclass(frozen=True, repr=False)
class Object(Named):
    """Any object, or an object of a given type. The kernel gets the ``TVMFFIObject*``, borrowed.

    Args:
        name: an identifier.
        type_key: the name that the type was registered under with tvm-ffi, such as
            ``"ffi.Module"``; objects of types derived from it are accepted. None: any object.

    Raises:
        SpecError: ``type_key`` is not a valid type key.

    Examples:
        >>> import tvm_ffi
        >>> from ffi_builder import spec, testing
        >>> unload = spec.Signature("unload", [spec.Object("module", "ffi.Module")])
        >>> testing.check(unload, tvm_ffi.system_lib())
        {}
        >>> testing.check(unload, [1, 2])
        Traceback (most recent call last):
        ...
        TypeError: Mismatched type of module on argument #0 when calling: `...`, expected
            ffi.Module but got list
    """

    accepts: ClassVar[PlainValues] = PlainValues("an object", (str, bytes, list, dict))

    type_key: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        key = cast("object", self.type_key)
        if key is not None and not (isinstance(key, str) and _TYPE_KEY.fullmatch(key)):
            raise SpecError(
                f"{self.label}: type_key: expected a registered name such as 'ffi.Module' but got "
                f"{key!r}"
            )

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return "Object" if self.type_key is None else f"Object('{self.type_key}')"


@dataclass(frozen=True, repr=False)
class Function(Named):
    """A function, such as any Python callable. The kernel gets the ``TVMFFIObject*``, borrowed.

    Args:
        name: an identifier.
        params: what it takes, each of which may be a dtype; None if that is not said. Nothing can
            check this: only the metadata says it, as tvm-ffi's does.
        returns: what it returns, if ``params`` are given; None for nothing.

    Raises:
        SpecError: ``returns`` without ``params``, or what is no kind of an element.

    Examples:
        A callback, which the kernel calls by :func:`~ffi_builder.call_packed`:

        >>> from ffi_builder import spec, testing
        >>> on_step = spec.Function("on_step", ["int64", "float64"])
        >>> minimize = spec.Signature("minimize", [on_step])
        >>> print(minimize)
        minimize(on_step: Function([int64, float64]))
        >>> testing.check(minimize, lambda step, loss: None)
        {}
    """

    accepts: ClassVar[PlainValues] = PlainValues("a function")

    params: Stored[Sequence[ElementLike] | None, Sequence[Named] | None] = field(
        default=_OF_ANYTHING
    )
    returns: Stored[ElementLike | None, Named | None] = field(default=_OF_ANYTHING)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.params is None:
            if self.returns is not None:
                raise SpecError(f"{self.label}: returns: expected params too, such as []")
            return
        given = listed(f"{self.label}: params", self.params, "a list")
        params = tuple(element_of(self, "params", each) for each in given)
        object.__setattr__(self, "params", params)
        if self.returns is not None:
            object.__setattr__(self, "returns", element_of(self, "returns", self.returns))

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        if self.params is None or outline:
            return "Function"
        params = ", ".join(param.type_text(device) for param in self.params)
        returns = "" if self.returns is None else f", {self.returns.type_text(device)}"
        return f"Function([{params}]{returns})"


@dataclass(frozen=True, repr=False)
class Array(Named):
    """An Array, such as a Python list or tuple. The kernel gets the object.

    With ``of``, each element is checked as a parameter of that kind is, and a List of tvm-ffi is
    taken, too. Use a :class:`List` where the kernel takes a pointer to the elements, and a
    :class:`TupleParam` for Arrays whose elements are known.

    Args:
        name: an identifier.
        of: the dtype of numbers, or a parameter that says what each element is: a String, Bytes,
            DType, Device, Object, Function, Any, another Array, a Map of anything, or an Optional
            of one of these. It gets the name of the Array. None for anything.

    Raises:
        SpecError: another kind of element.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> concat = spec.Signature("concat", [spec.Array("names")])
        >>> testing.check(concat, ["q", "k", "v"])
        {}
        >>> load = spec.Signature("load", [spec.Array("modules", spec.Object("m", "ffi.Module"))])
        >>> print(load)
        load(modules: Array(Object('ffi.Module')))
        >>> testing.check(load, ["q"])
        Traceback (most recent call last):
        ...
        TypeError: Mismatched type of modules[0] on argument #0 when calling: `...`, expected
            ffi.Module but got str
    """

    accepts: ClassVar[PlainValues] = PlainValues("a list", (list,))

    of: Stored[ElementLike | None, Named | None] = field(default=_OF_ANYTHING)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.of is not None:
            object.__setattr__(self, "of", element_of(self, "of", self.of))

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return "Array" if self.of is None else f"Array({self.of.type_text(device)})"


@dataclass(frozen=True, repr=False)
class Map(Named):
    """A Map, such as a Python dict. The kernel gets the ``TVMFFIObject*``, borrowed.

    With ``key`` and ``value``, each key and each value is checked, and a Dict of tvm-ffi is taken,
    too. If both are numbers, the kernel gets a pointer to the keys and one to the values, of these
    dtypes in the memory of the host, in the order of the Map, and their number, an int64.

    Args:
        name: an identifier.
        key: the dtype of the keys, as that of a List of numbers, or another kind, as in an
            :class:`Array`; None for a Map of anything.
        value: that of the values, likewise.
        mutable: whether the function takes or returns a Dict of tvm-ffi, which the metadata then
            says.

    Raises:
        SpecError: another dtype or kind, or only one of the two.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> configure = spec.Signature("configure", [spec.Map("options")])
        >>> testing.check(configure, {"tile": 128})
        {}
        >>> ranks = spec.Signature("send", [spec.Map("ranks", "int64", "int32")])
        >>> testing.check(ranks, {0: 4, 1: 2.5})
        Traceback (most recent call last):
        ...
        TypeError: Mismatched type of ranks.values[1] on argument #0 when calling: `...`, expected
            int but got float
        >>> print(spec.Signature("tune", [spec.Map("tiles", spec.String("name"), "int64")]))
        tune(tiles: Map(String, int64))
    """

    accepts: ClassVar[PlainValues] = PlainValues("a dict", (dict,))

    key: Stored[ElementLike | None, str | Named | None] = field(default=_OF_ANYTHING)
    value: Stored[ElementLike | None, str | Named | None] = field(default=_OF_ANYTHING)
    mutable: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        boolean(f"{self.label}: mutable", self.mutable)
        if (self.key is None) != (self.value is None):
            raise SpecError(f"{self.label}: expected a dtype of the keys and one of the values")
        if self.key is None:
            return
        pair = [element_of(self, part, getattr(self, part)) for part in ("key", "value")]
        if all(isinstance(each, Var) for each in pair):
            pair = [each.type_text() for each in pair]
        for part, each in zip(("key", "value"), pair, strict=True):
            object.__setattr__(self, part, each)

    @property
    def items(self) -> tuple[Named, Named] | None:
        """The kinds of the keys and the values; None for a Map of anything."""
        pair: AnyValue = self.key, self.value
        if self.key is None:
            return None
        key, value = (Var(self.name, each) if isinstance(each, str) else each for each in pair)
        return key, value

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        shown = [
            each if isinstance(each, str) else each.type_text(device)
            for each in (self.key, self.value)
            if each is not None
        ]
        shown += ["mutable=True"] * (self.mutable and not outline)
        return f"Map({', '.join(shown)})" if shown else "Map"
