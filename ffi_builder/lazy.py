"""Loads the public names of a package when they are first used (PEP 562).

::

    if TYPE_CHECKING:
        from ffi_builder.runtime.compiler.compile import compile

    __getattr__, __dir__ = lazy(__name__, {"compile": "compiler.compile"}, __all__)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Final

from ffi_builder import addons, importing
from ffi_builder.suggest import did_you_mean

_OUTLINE: Final = "ffi_builder.spec.outline(signature)"
_OF_BUILDER: Final = (
    "attach attach_ffi_func call_packed record_memref_types release_packed rename_tvm_ffi_function "
    "return_asserts signature_of"
)
_REPLACED: Final = {
    **{f"builder.{name}": f"ffi_builder.{name}" for name in _OF_BUILDER.split()},
    **{f"providers.{name}": f"ffi_builder.ir.{name}" for name in ("Block", "Module", "Value")},
    "cuda.find_kernel": "ffi_builder.cuda.kernels(image)[name]",
    "cuda.wrap_cubin": "ffi_builder.wrap(image, signature, launch=ffi_builder.Launch(…))",
    "make_plan": "ffi_builder.explain(signature)",
    "providers.cuda.CudaLaunchCallProvider": "ffi_builder.providers.CudaLaunchCallProvider",
    "providers.when.not_": "~condition",
    "runtime.callable": "ffi_builder.runtime.callable_at",
    "runtime.function": "ffi_builder.runtime.function_at",
    "spec.argument_texts": _OUTLINE,
    "spec.results_text": "str(signature)",
    "runtime.UnknownFunctionError": "KeyError",
    "spec.short_text": _OUTLINE,
}
"""Earlier names, with the names or expressions that replace them."""


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
        path = submodule.removeprefix("ffi_builder.")
        why = f" any more: write {_REPLACED[path]}" if path in _REPLACED else ""
        if (lacking := addons.absent(path)) is not None:
            why = f": it is of the add-on {lacking}, which is not installed"
        if why and _is_from_import():
            raise ImportError(words + why, name=name)
        raise AttributeError(words + (why or did_you_mean(name, names)))

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
