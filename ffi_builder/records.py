"""Makes dataclasses as :func:`dataclasses.dataclass` does, in a fraction of the time.

The standard decorator writes the methods of each class as source text and compiles it, which took
half of the time to import this package. Here all classes share methods that look at the fields.
Only ``__init__`` is compiled, on its first use: many classes of a process have no objects.

The classes differ from standard ones in one thing: assigning to a frozen object does not call
``__setattr__`` of other base classes. The functions of :mod:`dataclasses` accept the classes, and
the standard decorator accepts their subclasses. Options that this module does not handle, such as
``slots``, go to the standard decorator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import abc
    import dataclasses
    import sys
    from dataclasses import MISSING, FrozenInstanceError
    from functools import cache
    from operator import attrgetter
    from reprlib import recursive_repr

    def dataclass(cls=None, /, **options):
        """Make a class a dataclass. The options are those of :func:`dataclasses.dataclass`."""
        if cls is None:
            return lambda cls: dataclass(cls, **options)
        return _made(cls, **options) or dataclasses.dataclass(cls, **options)

    def _made(cls, *, repr=True, eq=True, frozen=False, kw_only=False, **others):
        """Make ``cls`` a dataclass; return None if only the standard decorator can do so."""
        own = cls.__dict__
        bases = [base for base in cls.__mro__[:0:-1] if "__dataclass_fields__" in base.__dict__]
        if others or any(base.__dataclass_params__.frozen != frozen for base in bases):
            return None
        by_name = {}
        for base in bases:
            by_name.update(base.__dataclass_fields__)
        by_name.update(_own_fields(cls, kw_only))
        fields = [*by_name.values()]
        optional = [_has_default(item) for item in fields if not item.kw_only]
        if optional != sorted(optional) or not all(item.init for item in fields):
            return None
        for name, value in [*own.items()]:
            if isinstance(value, dataclasses.Field):
                _keep_default(cls, name, value.default)
        cls.__dataclass_fields__ = by_name
        cls.__dataclass_params__ = _parameters(repr, eq, frozen)
        fields = dataclasses.fields(cls)  # without class variables
        _add(cls, "__init__", _Init(cls))
        _add(cls, "__match_args__", tuple(item.name for item in fields if not item.kw_only))
        _add(cls, "__replace__", dataclasses.replace)  # for `copy.replace` of Python 3.13
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

    def _own_fields(cls, kw_only):
        """Return the fields that the standard decorator finds in a class that has only these."""
        own = cls.__dict__
        annotations = cls.__annotations__
        if not annotations:
            return {}
        given = {name: own[name] for name in annotations if name in own}
        given |= {"__annotations__": annotations, "__module__": cls.__module__, "__doc__": "."}
        twin = type(cls.__name__, (), given)
        dataclasses.dataclass(twin, init=False, repr=False, eq=False, kw_only=kw_only)
        return twin.__dataclass_fields__

    def _has_default(item):
        return item.default is not MISSING or item.default_factory is not MISSING

    def _keep_default(cls, name, default):
        """Set the class attribute to the default, as if the class did not use ``field``."""
        if default is MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, default)

    @cache
    def _parameters(repr, eq, frozen):
        """Return the options in the form in which the standard decorator stores them."""

        @dataclasses.dataclass(repr=repr, eq=eq, frozen=frozen)
        class Model:
            pass

        return Model.__dataclass_params__

    def _add(cls, name, value):
        """Set an attribute, unless the class defines it."""
        if name not in cls.__dict__:
            setattr(cls, name, value)

    class _Init:
        """The ``__init__`` of a class until it is first used."""

        def __init__(self, cls):
            self._class = cls

        def __get__(self, instance, owner=None):
            """Compile ``__init__``, and put it into the class."""
            self._class.__init__ = init = _compiled_init(self._class)
            return init.__get__(instance, owner)

    class _Absent:
        """The default, in signatures, of a parameter whose value a factory makes."""

        def __repr__(self):
            return "<factory>"

    _ABSENT = _Absent()

    def _compiled_init(cls):
        fields = sorted(dataclasses.fields(cls), key=lambda item: item.kw_only)
        parameters, values = ["self"], []
        defaults = {item.name: item.default for item in fields}
        for item in fields:
            name = value = item.name
            if item.default_factory is not MISSING:
                defaults[name] = _ABSENT
                value = (
                    f"__fields__[{name!r}].default_factory() if {name} is __absent__ else {name}"
                )
            if item.kw_only and "*" not in parameters:
                parameters.append("*")
            parameters.append(f"{name}=__defaults__[{name!r}]" if _has_default(item) else name)
            values.append(f"{name!r}: {value}")
        checks = "; self.__post_init__()" if hasattr(cls, "__post_init__") else ""
        # `typing.get_type_hints` looks the annotations up in the globals of the function.
        module = getattr(sys.modules.get(cls.__module__), "__dict__", {})
        names = {**module, "__absent__": _ABSENT, "__defaults__": defaults}
        names["__fields__"] = cls.__dataclass_fields__
        exec(
            f"def __init__({', '.join(parameters)}):"
            f" self.__dict__.update({{{', '.join(values)}}}){checks}",
            names,
        )
        init = names["__init__"]
        init.__annotations__ = {item.name: item.type for item in fields} | {"return": None}
        init.__qualname__ = f"{cls.__qualname__}.__init__"
        init.__module__ = cls.__module__
        return init

    @recursive_repr()
    def _repr(self):
        shown = [f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr]
        return f"{self.__class__.__qualname__}({', '.join(shown)})"

    def _values(names):
        """Return a function that maps an object to the tuple of these attributes."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda value: tuple(getattr(value, name) for name in names)

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
        """Return whether a frozen object refuses the name: a plain subclass may add attributes."""
        return "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__
