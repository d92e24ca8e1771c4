"""Loads the public names of a package when they are first used (PEP 562).

::

    if TYPE_CHECKING:
        from ffi_builder.runtime.compiler.compile import compile

    __getattr__, __dir__ = lazy(__name__, {"compile": "compiler.compile"}, __all__)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from ffi_builder import addons, importing
from ffi_builder.suggest import did_you_mean


def lazy(
    package: str, homes: Mapping[str, str], names: list[str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package. ``__getattr__`` loads submodules, too.

    Args:
        package: the name of the package.
        homes: the submodule that defines each name that is loaded on first use. ``module:name``
            is a name of another module, wherever it is.
        names: the list of all public names, to which those of add-ons are added.
    """
    added = addons.names(package.partition(".")[2])
    names += [name for name in added if name not in names]
    places = {name: home if ":" in home else f"{package}.{home}" for name, home in homes.items()}
    places |= {name: place for name, place in added.items() if place != f"{package}.{name}"}

    def load(name: str) -> object:
        place = places.get(name)
        if place is not None:
            home, _, original = place.partition(":")
            value = getattr(importing.load(home), original or name)
            setattr(sys.modules[package], name, value)
            return value
        words = f"module {package!r} has no attribute {name!r}"
        if name.startswith("__"):
            raise AttributeError(words)
        # `from package import submodule` asks here first.
        submodule = f"{package}.{name}"
        try:
            return importing.load(submodule)
        except ModuleNotFoundError as error:
            if error.name != submodule:
                raise
        lacking = addons.absent(submodule.removeprefix("ffi_builder."))
        if lacking is None:
            raise AttributeError(words + did_you_mean(name, names))
        words += f": it is of the add-on {lacking}, which is not installed"
        raise (ImportError(words, name=name) if _is_from_import() else AttributeError(words))

    return load, lambda: sorted({*vars(sys.modules[package]), *names})


def homes_of(names: Mapping[str, str]) -> dict[str, str]:
    """Return homes for :func:`lazy` from the names of each module; ``a=b`` calls ``a`` ``b``."""
    pairs = ((home, word.partition("=")) for home, words in names.items() for word in words.split())
    return {new or name: f"{home}:{name}" for home, (name, _, new) in pairs}


def _is_from_import() -> bool:
    """Return whether ``from package import name`` calls, which hides an AttributeError's text."""
    import inspect

    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")
