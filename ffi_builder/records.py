"""Makes dataclasses as :func:`dataclasses.dataclass` does, in a tenth of the time.

The standard decorator writes the methods of each class as source text and compiles it. For the
classes of this package that took half of the time that importing it did. Here all classes have the
same methods, which look at the fields, but for ``__init__``: that is a copy, with other names, of a
template that is compiled once for each number of fields.

The classes behave the same, but that one without a docstring gets none, and that assigning to a
frozen object asks no other base class. :func:`dataclasses.fields` and :func:`dataclasses.replace`
know them, and the standard decorator makes subclasses of them. What is not handled here, such as
``slots``, is left to the standard decorator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import abc
    import dataclasses
    import sys
    from copy import copy
    from dataclasses import MISSING, Field, FrozenInstanceError
    from functools import cache
    from operator import attrgetter
    from reprlib import recursive_repr
    from types import CellType, FunctionType

    @dataclasses.dataclass(init=False, repr=False, eq=False)
    class _Model:
        """A class of the standard decorator. It has the two objects that have no public name."""

        field: int

    _KIND = _Model.__dataclass_fields__["field"]._field_type

    def dataclass(cls=None, /, **options):
        """Make a class a dataclass. The options are those of :func:`dataclasses.dataclass`."""
        if cls is None:
            return lambda cls: dataclass(cls, **options)
        return _made(cls, **options) or dataclasses.dataclass(cls, **options)

    def _made(cls, *, repr=True, eq=True, frozen=False, kw_only=False, **others):
        """Make ``cls`` a dataclass, or return None if that is left to the standard decorator."""
        own = cls.__dict__
        bases = [base for base in cls.__mro__[:0:-1] if "__dataclass_fields__" in base.__dict__]
        if (
            others
            or not own.keys().isdisjoint(("__setattr__", "__delattr__"))
            or any(base.__dataclass_params__.frozen != frozen for base in bases)
        ):
            return None
        found = {}
        for base in bases:
            found.update(base.__dataclass_fields__)
        for name, annotation in cls.__annotations__.items():
            # Annotations are text in all modules that have `from __future__ import annotations`.
            if not isinstance(annotation, str) or annotation.startswith(("InitVar", "KW_ONLY")):
                return None
            if not annotation.startswith("ClassVar"):
                found[name] = _field(name, annotation, own.get(name, MISSING), kw_only)
        fields = [*found.values()]
        init = _init(cls, fields)
        if init is None:
            return None
        for name, value in [*own.items()]:
            if isinstance(value, Field):
                _keep_default(cls, name, value.default)
        cls.__dataclass_fields__ = found
        cls.__dataclass_params__ = _parameters(repr, eq, frozen)
        _add(cls, "__init__", init)
        _add(cls, "__match_args__", tuple(item.name for item in fields if not item.kw_only))
        _add(cls, "__replace__", _replace)
        if repr:
            _add(cls, "__repr__", _repr)
        if eq:
            cls.__compared__ = staticmethod(_values([i.name for i in fields if i.compare]))
            if own.get("__hash__") is None:
                cls.__hash__ = _hash if frozen else None
            _add(cls, "__eq__", _eq)
        if frozen:
            cls.__setattr__, cls.__delattr__ = _setattr, _delattr
        if "__abstractmethods__" in own:
            abc.update_abstractmethods(cls)
        return cls

    def _field(name, annotation, default, kw_only):
        """Return what :func:`dataclasses.fields` shows of a field."""
        item = default if isinstance(default, Field) else dataclasses.field(default=default)
        item.name, item.type, item._field_type = name, annotation, _KIND
        if item.kw_only is MISSING:
            item.kw_only = kw_only
        return item

    def _keep_default(cls, name, default):
        """Let the class attribute be the default, as if it had been written without ``field``."""
        if default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, default)

    @cache
    def _parameters(repr, eq, frozen):
        parameters = copy(_Model.__dataclass_params__)
        parameters.init, parameters.repr, parameters.eq = True, repr, eq
        parameters.frozen = frozen
        return parameters

    def _add(cls, name, value):
        """Set an attribute, unless the class defines it."""
        if name not in cls.__dict__:
            setattr(cls, name, value)

    # ---- __init__

    class _Absent:
        """The default, in signatures, of a parameter whose value a factory makes."""

        def __repr__(self):
            return "<factory>"

    _ABSENT = _Absent()

    def _init(cls, fields):
        """Return ``__init__``; None for fields that the standard decorator refuses."""
        by_position = [item for item in fields if not item.kw_only]
        by_keyword = [item for item in fields if item.kw_only]
        ordered = [*by_position, *by_keyword]
        defaults = {item.name: _default(item) for item in ordered if _default(item) is not MISSING}
        required = sum(item.name not in defaults for item in by_position)
        if (
            any(item.name in defaults for item in by_position[:required])
            or any(value.__class__.__hash__ is None for value in defaults.values())
            or not all(item.init for item in fields)
        ):
            return None
        factories = {
            index: item.default_factory
            for index, item in enumerate(ordered)
            if item.default_factory is not MISSING
        }
        names = [item.name for item in ordered]
        code = _template(len(names), tuple(factories), hasattr(cls, "__post_init__"))
        renamed = dict(zip(code.co_varnames[1:], names, strict=True))
        code = code.replace(
            co_argcount=1 + len(by_position),
            co_kwonlyargcount=len(by_keyword),
            co_varnames=("self", *names),
            co_consts=tuple(renamed.get(value, value) for value in code.co_consts),
        )
        first = tuple(defaults[item.name] for item in by_position[required:])
        known = {"set_": object.__setattr__, "absent": _ABSENT, "factories": factories}
        cells = tuple(CellType(known[name]) for name in code.co_freevars)
        # `typing.get_type_hints` looks the annotations up in the globals of the function.
        init = FunctionType(code, sys.modules[cls.__module__].__dict__, "__init__", first, cells)
        init.__kwdefaults__ = {n.name: defaults[n.name] for n in by_keyword if n.name in defaults}
        init.__annotations__ = {item.name: item.type for item in fields} | {"return": None}
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        init.__module__ = cls.__module__
        return init

    def _default(item):
        return item.default if item.default_factory is MISSING else _ABSENT

    @cache
    def _template(count, factories, checks):
        """Return the code of an ``__init__`` of ``count`` fields, to be given their names.

        ``factories`` are the indices of those whose default a factory makes.
        """
        names = [f"field{index}" for index in range(count)]
        values = [
            f"factories[{index}]() if {name} is absent else {name}" if index in factories else name
            for index, name in enumerate(names)
        ]
        lines = [f"set_(self, {n!r}, {value})" for n, value in zip(names, values, strict=True)]
        lines += ["self.__post_init__()"] if checks else []
        source = (
            "def make(set_, absent, factories):\n"
            f" def __init__(self, {', '.join(names)}):\n"
            f"  {'; '.join(lines) or 'pass'}\n"
            " return __init__"
        )
        namespace = {}
        exec(source, namespace)
        return namespace["make"](None, None, None).__code__

    # ---- other methods

    @recursive_repr()
    def _repr(self):
        shown = [
            f"{item.name}={getattr(self, item.name)!r}"
            for item in self.__dataclass_fields__.values()
            if item.repr and item._field_type is _KIND
        ]
        return f"{self.__class__.__qualname__}({', '.join(shown)})"

    def _values(names):
        """Return a function from an object to the tuple of these attributes."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda value: tuple(getattr(value, name) for name in names)

    def _replace(self, /, **changes):
        """Let `copy.replace` of Python 3.13 make a changed copy."""
        return dataclasses.replace(self, **changes)

    def _eq(self, other):
        if other.__class__ is self.__class__:
            return self.__compared__(self) == other.__compared__(other)
        return NotImplemented

    def _hash(self):
        return hash(self.__compared__(self))

    def _setattr(self, name, value):
        if _is_fixed(self, name):
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def _delattr(self, name):
        if _is_fixed(self, name):
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    def _is_fixed(self, name):
        """A subclass that is no dataclass may have attributes of its own."""
        return "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__
