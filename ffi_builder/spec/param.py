"""What every parameter has in common: a name, and what Python callers see of it."""

from __future__ import annotations

import math
from dataclasses import MISSING as FIELD_MISSING
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Final, cast

from ffi_builder.errors import SpecError
from ffi_builder.spec._check import documentation, identifier, make_plain
from ffi_builder.spec._stored import NO_DOC, DocField
from ffi_builder.suggest import did_you_mean


class _Missing:
    """The type of :data:`MISSING`, so that it prints as its name."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        """Copies and pickles are the same object: what has no default keeps having none."""
        return "MISSING"


MISSING: Final = _Missing()
"""What ``default`` is when a parameter has none (None is a default like any other)."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Metadata:
    """What a Python caller sees of a parameter; the ABI stays positional and does not know it."""

    default: object = field(default=MISSING, compare=False)
    kw_only: bool = field(default=False, compare=False)
    doc: DocField = field(default=NO_DOC, compare=False)

    if not TYPE_CHECKING:  # type checkers know the fields

        def __new__(cls, /, *_: object, **keywords: object) -> Metadata:
            """Raises TypeError for a field that is not there, with the one that was meant."""
            known = cls.__dataclass_fields__.keys()
            # A subclass that is no dataclass may have an __init__ of its own.
            if not keywords.keys() <= known and "__dataclass_fields__" in cls.__dict__:
                wrong = next(name for name in keywords if name not in known)
                raise TypeError(
                    f"{cls.__name__}() has no argument {wrong!r}{did_you_mean(wrong, known)}"
                )
            return super().__new__(cls)

    def _check_metadata(self, what: str) -> None:
        if self.doc != "":
            object.__setattr__(self, "doc", documentation(f"{what}: doc", self.doc))
        # A truthy non-bool here is nearly always a misplaced argument.
        if not isinstance(self.kw_only, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise SpecError(f"{what}: kw_only: expected True or False but got {self.kw_only!r}")

    def __repr__(self) -> str:
        """The call that makes an equal object: required fields by position, others by keyword."""
        positional: list[str] = []
        keywords: list[str] = []
        for item in fields(self):
            value = getattr(self, item.name)
            if item.default is FIELD_MISSING:
                positional.append(pasteable(value))
            elif item.name == "default":  # anything: it may be an array, whose == is no bool
                keywords += [f"default={_literal(value)}"] if value is not MISSING else []
            elif value != item.default:
                keywords.append(f"{item.name}={pasteable(value)}")
        return f"{type(self).__name__}({', '.join(positional + keywords)})"


def pasteable(value: object) -> str:
    """``repr``, but with sequences as lists, the way authors write shapes."""
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
    """A parameter that is described by its name alone, and the base of those that say more."""

    name: str

    def __post_init__(self) -> None:
        make_plain(self)
        identifier(f"{type(self).__name__} name", self.name)
        self._check_metadata(self.label)

    @property
    def label(self) -> str:
        """``Tensor 'A'``: how spec errors begin."""
        return f"{type(self).__name__} {self.name!r}"
