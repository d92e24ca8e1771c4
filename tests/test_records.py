"""The package's `dataclass` makes what the standard one makes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias, cast, get_type_hints

import pytest

from ffi_builder import records

STANDARD: Any = dataclasses.dataclass
QUICK: Any = records.dataclass
Shown: TypeAlias = int
field = dataclasses.field


def pair(make: Callable[[Any], type]) -> tuple[Any, Any]:
    """The same classes, made with either decorator."""
    return make(STANDARD), make(QUICK)


def plain(dataclass: Any) -> type:
    @dataclass(frozen=True)
    class Plain:
        """Documented."""

        a: int
        b: str = "b"
        known: ClassVar[int] = 1

    return Plain


def keywords(dataclass: Any) -> type:
    @dataclass(frozen=True)
    class Keywords:
        """Documented."""

        a: int
        hidden: int = field(repr=False)
        later: int = field(kw_only=True)
        b: int = 2
        doc: str = field(default="", kw_only=True, compare=False)

    return Keywords


def mutable(dataclass: Any) -> type:
    @dataclass
    class Mutable:
        """Documented."""

        a: int
        b: list[int] = field(default_factory=list[int])
        c: dict[str, int] = field(default_factory=dict[str, int], kw_only=True)

    return Mutable


def checked(dataclass: Any) -> type:
    @dataclass(frozen=True, kw_only=True)
    class Base:
        """Documented."""

        default: object = None

    @dataclass(frozen=True, repr=False)
    class Checked(Base):
        """Documented."""

        name: str

        def __post_init__(self) -> None:
            object.__setattr__(self, "name", self.name.strip())

        def __repr__(self) -> str:
            return "mine"

    return Checked


def empty(dataclass: Any) -> type:
    @dataclass(frozen=True)
    class Empty:
        """Documented."""

    return Empty


def by_identity(dataclass: Any) -> type:
    @dataclass(frozen=True, eq=False)
    class ByIdentity:
        """Documented."""

        a: int

    return ByIdentity


def own_methods(dataclass: Any) -> type:
    @dataclass(frozen=True)
    class OwnMethods:
        """Documented."""

        a: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, OwnMethods)

        def __hash__(self) -> int:
            return 7

    return OwnMethods


def left_to_the_standard(dataclass: Any) -> type:
    @dataclass(frozen=True, order=True)
    class Ordered:
        """Documented."""

        a: int
        b: int = field(default=3, init=False)

    return Ordered


CALLS: list[tuple[Callable[[Any], type], list[tuple[tuple[Any, ...], dict[str, Any]]]]] = [
    (plain, [((1,), {}), ((1, "c"), {}), ((), {"a": 1, "b": "b"}), ((2,), {}), ((), {}), ((1, 2, 3), {}), ((1,), {"x": 1})]),
    (keywords, [((1, 2), {"later": 3}), ((1, 2), {"later": 3, "doc": "d"}), ((1, 9), {"later": 3}), ((1, 2, 5), {"later": 3}), ((1, 2), {})]),
    (mutable, [((1,), {}), ((1, [2]), {}), ((1,), {"c": {"x": 1}}), ((1, [], {}), {})]),
    (checked, [((" n ",), {}), (("n",), {"default": 1}), (("m",), {}), ((), {})]),
    (empty, [((), {}), ((1,), {})]),
    (by_identity, [((1,), {}), ((1,), {})]),
    (own_methods, [((1,), {}), ((2,), {})]),
    (left_to_the_standard, [((1,), {}), ((2,), {})]),
]  # fmt: skip


def made(cls: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """The object, or the error's class and message, where Python names the parameters alike."""
    try:
        return cls(*arguments, **named)
    except TypeError as error:
        return str(error).replace("__init__() ", "")


@pytest.mark.parametrize(("make", "calls"), CALLS)
def test_objects_are_alike(
    make: Callable[[Any], type], calls: list[tuple[tuple[Any, ...], dict[str, Any]]]
):
    standard, quick = pair(make)
    objects: list[tuple[Any, Any]] = []
    for arguments, named in calls:
        theirs, ours = (made(cls, arguments, named) for cls in (standard, quick))
        if isinstance(theirs, str):
            assert ours == theirs
            continue
        assert vars(ours) == vars(theirs)
        if "ByIdentity" not in repr(ours):
            assert repr(ours) == repr(theirs)
        assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
        objects.append((theirs, ours))
    for theirs, ours in objects:
        for also_theirs, also_ours in objects:
            assert (ours == also_ours) == (theirs == also_theirs)
        assert (theirs == ours) == (ours == theirs) is False
        hashes = type(theirs).__hash__ is not None
        assert (type(ours).__hash__ is not None) == hashes
        if hashes and make is not by_identity:
            assert hash(ours) == hash(theirs)


@pytest.mark.parametrize("make", [make for make, _ in CALLS])
def test_classes_are_alike(make: Callable[[Any], type]):
    standard, quick = pair(make)
    assert str(inspect.signature(quick)) == str(inspect.signature(standard))
    assert quick.__match_args__ == standard.__match_args__
    assert quick.__init__.__qualname__ == standard.__init__.__qualname__
    ours, theirs = (
        [(f.name, f.type, f.default, f.repr, f.compare, f.kw_only, f.init) for f in dataclasses.fields(cls)]
        for cls in (quick, standard)
    )  # fmt: skip
    assert ours == theirs
    for name in ("repr", "eq", "frozen"):
        parameters = [cls.__dataclass_params__ for cls in (quick, standard)]
        assert getattr(parameters[0], name) == getattr(parameters[1], name)


def test_a_frozen_object_refuses_changes():
    value: Any = plain(QUICK)(1)
    for name in ("a", "other"):
        with pytest.raises(
            dataclasses.FrozenInstanceError, match=f"cannot assign to field '{name}'"
        ):
            setattr(value, name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(value, name)


def test_a_subclass_that_is_no_dataclass_may_have_attributes_of_its_own():
    class Own(plain(QUICK)):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(1)  # pyright: ignore[reportCallIssue, reportUnknownMemberType]
            self.more = 2

    value: Any = Own()
    assert (value.a, value.more) == (1, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.a = 2


def test_the_standard_decorator_makes_subclasses():
    @dataclasses.dataclass(frozen=True)
    class Sub(plain(QUICK)):  # type: ignore[misc]
        """Documented."""

        c: int = 3

    assert repr(Sub(1, c=4)).endswith("Sub(a=1, b='b', c=4)")  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):

        @QUICK
        class Wrong(plain(QUICK)):  # type: ignore[misc]  # pyright: ignore[reportUnusedClass]
            """Documented."""


def test_replace_and_patterns():
    value = Pickled(1)
    changed = dataclasses.replace(value, a=2)
    match changed:
        case Pickled(a):
            assert a == 2
    assert copy.deepcopy(value) == value != changed
    assert cast("Any", value).__replace__(a=2) == changed  # as `copy.replace` of Python 3.13 does


def test_annotations_are_found():
    assert get_type_hints(Pickled.__init__) == {"a": Shown, "return": type(None)}


def test_an_object_in_itself_prints():
    value: Any = mutable(QUICK)(1)
    value.b.append(value)
    assert repr(value).endswith("Mutable(a=1, b=[...], c={})")


@records.dataclass(frozen=True)
class Pickled:
    """At the top of a module, where pickle finds it."""

    a: Shown


def test_annotations_that_are_no_text():
    made = QUICK(type("Made", (), {"__annotations__": {"a": int}, "__doc__": "Documented."}))
    assert repr(made(1)) == "Made(a=1)"


def test_pickle():
    assert pickle.loads(pickle.dumps(Pickled(1))) == Pickled(1)
    assert {Pickled(1): "found"}[Pickled(1)] == "found"


@pytest.mark.parametrize("decorator", [STANDARD, QUICK])
def test_what_the_standard_one_refuses(decorator: Any):
    with pytest.raises(ValueError, match="mutable default"):

        @decorator
        class Mutable:  # pyright: ignore[reportUnusedClass]
            """Documented."""

            a: list[int] = []  # noqa: RUF012

    with pytest.raises(TypeError, match="non-default argument 'b' follows default argument"):

        @decorator
        class Order:  # pyright: ignore[reportUnusedClass, reportGeneralTypeIssues]
            """Documented."""

            a: int = 1
            b: int  # pyright: ignore[reportGeneralTypeIssues]
