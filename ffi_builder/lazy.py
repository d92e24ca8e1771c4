"""Loads the public names of a package when they are first used (PEP 562).

::

    if TYPE_CHECKING:
        from ffi_builder.plan.model import Plan

    __getattr__, __dir__ = lazy(__name__, {"Plan": "model"}, __all__)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

from ffi_builder.suggest import did_you_mean


def lazy(
    package: str, homes: Mapping[str, str], names: Iterable[str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package. Submodules are loaded too.

    Args:
        package: the name of the package.
        homes: the submodule that defines each name that is loaded on first use.
        names: all public names.
    """
    names = sorted(names)

    def load(name: str) -> object:
        home = homes.get(name)
        if home is not None:
            value = getattr(import_module(f"{package}.{home}"), name)
            setattr(sys.modules[package], name, value)
            return value
        # `from package import submodule` asks here first.
        submodule = f"{package}.{name}"
        try:
            return import_module(submodule)
        except ModuleNotFoundError as error:
            if error.name != submodule:
                raise
        meant = "" if name.startswith("__") else did_you_mean(name, names)
        raise AttributeError(f"module {package!r} has no attribute {name!r}{meant}")

    return load, lambda: sorted({*vars(sys.modules[package]), *names})
