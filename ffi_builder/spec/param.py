"""The base classes of parameters: a name, a default, documentation, and the type as text."""

from __future__ import annotations

import math
from dataclasses import MISSING as FIELD_MISSING
from dataclasses import field, fields
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, cast

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import NO_DOC, DocField, documentation, identifier, make_plain
from ffi_builder.suggest import did_you_mean


class _Missing:
    """The type of :data:`MISSING`, so that it prints as its name."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        """Copy and pickle as the same object, so that ``is MISSING`` still holds."""
        return "MISSING"


MISSING: Final = _Missing()
"""The ``default`` of a parameter that has none (None is a default like any other).

Examples:
    >>> from ffi_builder import spec
    >>> spec.Var("eps", "float32").default is spec.MISSING
    True
"""


class PlainValues(NamedTuple):
    """The plain Python values that a parameter accepts. Defaults of other types are refused."""

    words: str
    """How errors describe these values: ``an int``."""
    types: tuple[type, ...] = ()
    """Keys of :data:`ffi_builder.spec.defaults.PLAIN_TYPES`."""
    example: object = MISSING
    """A value that every parameter of the kind accepts, if there is one."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Metadata:
    """The fields of a parameter for Python callers. The ABI is positional and lacks them."""

    type_name: ClassVar[str]
    """The word for this kind of parameter in signatures; the name of the class by default."""
    accepts: ClassVar[PlainValues] = PlainValues("a plain value")
    """The plain Python values that a default may be."""
    kernel_dtype: ClassVar[str | None] = None
    """The dtype of the number that the kernel gets in place of the value."""

    default: object = field(default=MISSING, compare=False)
    kw_only: bool = field(default=False, compare=False)
    doc: DocField = field(default=NO_DOC, compare=False)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "type_name" not in cls.__dict__:
            cls.type_name = cls.__name__

    if not TYPE_CHECKING:  # type checkers know the fields

        def __new__(cls, /, *_: object, **keywords: object) -> Metadata:
            """Raise TypeError for an unknown field, and suggest the nearest known one."""
            known = cls.__dataclass_fields__.keys()
            # A subclass that is not a dataclass may define its own __init__.
            if not keywords.keys() <= known and "__dataclass_fields__" in cls.__dict__:
                wrong = next(name for name in keywords if name not in known)
                raise TypeError(
                    f"{cls.__name__}() has no argument {wrong!r}{did_you_mean(wrong, known)}"
                )
            return super().__new__(cls)

    @property
    def label(self) -> str:
        """The prefix of spec errors: ``Tensor 'A'``."""
        return f"{type(self).__name__} {cast('Named', self).name!r}"

    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        """Return the type as signatures show it: ``Tensor([n, 4], float32, device_type=cpu)``.

        Args:
            device: tensors of this device type do not show it.
            outline: show no more than error messages do; for tensors these are the shape, the
                dtypes and the strides.
        """
        del device, outline
        return self.type_name

    def _check_metadata(self, what: str) -> None:
        if self.doc != "":
            object.__setattr__(self, "doc", documentation(f"{what}: doc", self.doc))
        # A truthy non-bool here is nearly always a misplaced argument.
        if not isinstance(self.kw_only, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SpecError(f"{what}: kw_only: expected True or False but got {self.kw_only!r}")

    def _inherit(self, inner: Metadata) -> None:
        """Take the fields that were not given from an inner parameter."""
        if self.default is MISSING:
            object.__setattr__(self, "default", inner.default)
        for name in ("kw_only", "doc"):
            object.__setattr__(self, name, getattr(self, name) or getattr(inner, name))

    def __repr__(self) -> str:
        """Return the call that makes an equal object, with required fields by position."""
        positional: list[str] = []
        keywords: list[str] = []
        for item in fields(self):
            value = getattr(self, item.name)
            if item.default is FIELD_MISSING:
                positional.append(pasteable(value))
            elif item.name == "default":  # may be an array, whose == does not give a bool
                keywords += [f"default={_literal(value)}"] if value is not MISSING else []
            elif value != item.default:
                keywords.append(f"{item.name}={pasteable(value)}")
        return f"{type(self).__name__}({', '.join(positional + keywords)})"


def pasteable(value: object) -> str:
    """Return the ``repr`` of a value, with tuples as lists, the way authors write shapes."""
    if isinstance(value, tuple):
        items = cast("tuple[object, ...]", value)
        return f"[{', '.join(map(pasteable, items))}]"
    return _literal(value)


def _literal(value: object) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value!r}')"
    if value is Ellipsis:
        return "..."
    if isinstance(value, type):
        return value.__name__
    return repr(value)


@dataclass(frozen=True, repr=False)
class Named(Metadata):
    """The base of parameters with their own name: all but :class:`Optional`."""

    name: str

    def __post_init__(self) -> None:
        make_plain(self)
        identifier(f"{type(self).__name__} name", self.name)
        self._check_metadata(self.label)
