"""The add-ons: their folders, the public names that they add, and what they register.

No other module of the core or the runtime names an add-on. An add-on whose folder is absent is
skipped, and nothing is imported before it is used. docs/add-ons.md says how to write one.
"""

from __future__ import annotations

# dataclasses and pathlib would make `import ffi_builder` take six times as long.
import os
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ffi_builder import importing

if TYPE_CHECKING:  # what type checkers find in the packages that the names are added to
    from ffi_builder import cuda as cuda
    from ffi_builder import rocm as rocm
    from ffi_builder import testing as testing
    from ffi_builder.cuda.launch.options import Launch as Launch
    from ffi_builder.cuda.launch.provider import CudaLaunchCallProvider as CudaLaunchCallProvider
    from ffi_builder.fakecuda.fake import FakeCuda as FakeCuda
    from ffi_builder.fakehip.fake import FakeHip as FakeHip
    from ffi_builder.packaging.package import package as package
    from ffi_builder.passes.asserts import return_asserts as return_asserts
    from ffi_builder.passes.kernel_signature import signature_of as signature_of
    from ffi_builder.plain.module import PlainModule as PlainModule
    from ffi_builder.rocm.launch.provider import RocmLaunchCallProvider as RocmLaunchCallProvider
    from ffi_builder.sanitize.options import Sanitize as Sanitize
    from ffi_builder.wrapping.halide_provider import HalideCallProvider as HalideCallProvider
    from ffi_builder.wrapping.wrap import wrap as wrap

_PACKAGE: Final = "ffi_builder"
_HERE: Final = os.path.dirname(__file__)  # noqa: PTH120 # see above
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class AddOn(NamedTuple):
    """A folder that can be deleted, with its tests in the folder of the same name in ``tests``."""

    folder: str
    """Below ``ffi_builder``, with slashes."""
    stands_on: tuple[str, ...] = ()
    """The add-ons that it imports, which are deleted only with it."""
    names: Mapping[str, str] = _NOTHING
    """The modules of public names that it adds to packages: ``{"ir.PlainModule": "module"}``."""
    also: tuple[str, ...] = ()
    """Files elsewhere in ``ffi_builder`` that go with it: the import paths of earlier versions."""
    registers: Mapping[str, str] = _NOTHING
    """Objects that the core looks up: ``{"kind name": "module:attribute"}``."""

    @property
    def name(self) -> str:
        """The last part of the folder, as in ``make test-without WITHOUT=torch``."""
        return self.folder.rpartition("/")[2]

    @property
    def is_here(self) -> bool:
        """Whether the folder is there."""
        return os.path.isdir(os.path.join(_HERE, self.folder))  # noqa: PTH112, PTH118 # see above

    def module(self, name: str) -> str:
        """Return the absolute name of one of its modules; that of its package for ``""``."""
        dotted = f"{_PACKAGE}.{self.folder.replace('/', '.')}"
        return f"{dotted}.{name}" if name else dotted


ADD_ONS: Final = (
    AddOn("plain", names={"ir.PlainModule": "module"}, registers={"bindings plain": ""}),
    AddOn("entry", registers={"calls c": "available"}),
    AddOn("passes", names={"return_asserts": "asserts", "signature_of": "kernel_signature"}),
    AddOn(
        "sanitize",
        names={"Sanitize": "options"},
        registers={
            "sanitize options": "options:checked_sanitize",
            "sanitize copies": "copies:copies_for",
            "support sanitize": "support",
        },
    ),
    AddOn("testing", names={"testing": ""}),
    AddOn(
        "cuda",
        names={
            "cuda": "",
            "Launch": "launch.options",
            "providers.CudaLaunchCallProvider": "launch.provider",
        },
        registers={
            "zeros cuda": "launch.streams:fill_with_zeros",
            "condition capability": "launch.capability:Capability",
            "source cuda": "wrapped:read",
            "image cuda": "images.read",
            "support cuda": "support",
        },
        also=("providers/cuda.py",),
    ),
    AddOn(
        "rocm",
        ("cuda",),
        names={"rocm": "", "providers.RocmLaunchCallProvider": "launch.provider"},
        registers={
            "zeros rocm": "launch.launching:fill_with_zeros",
            "condition target": "launch.target:Target",
            "source rocm": "recognised:read",
            "image rocm": "images.read",
            "support rocm": "support",
        },
    ),
    AddOn("fakecuda", ("testing",), names={"testing.FakeCuda": "fake"}),
    AddOn("fakehip", ("fakecuda",), names={"testing.FakeHip": "fake"}),
    AddOn("ptx", ("fakecuda",), registers={"executor ptx": "run:execute"}),
    AddOn(
        "wrapping",
        ("plain",),
        names={"wrap": "wrap", "providers.HalideCallProvider": "halide_provider"},
    ),
    AddOn("packaging", names={"package": "package"}),
    AddOn("cli", ("wrapping", "packaging"), also=("__main__.py",)),
    AddOn("frameworks"),
    AddOn("frameworks/torch", ("frameworks",)),
    AddOn("frameworks/jax", ("frameworks",)),
)


def names(package: str) -> dict[str, str]:
    """Return the names that add-ons add to a package, with their modules; ``""`` is the top."""
    modules: dict[str, str] = {}
    for each in _here():
        for name, module in each.names.items():
            parent, _, last = name.rpartition(".")
            if parent == package:
                modules[last] = each.module(module)
    return modules


def absent(name: str) -> str | None:
    """Return the add-on of a public name or package that is not installed; None for others."""
    missing = (each for each in ADD_ONS if not each.is_here)
    candidates = (a.name for a in missing if name in a.names or name == a.folder.replace("/", "."))
    return next(candidates, None)


_registered: Final[dict[str, dict[str, Any]]] = {}


def register(kind: str, name: str, thing: object) -> None:
    """Register what the core looks up; docs/add-ons.md lists the kinds.

    Raises:
        ValueError: something else has the name.
    """
    if places(kind).get(name, thing) != thing:
        raise ValueError(f"{kind} {name!r} is registered already")
    _registered.setdefault(kind, {})[name] = thing


def places(kind: str) -> dict[str, Any]:
    """Return what is registered: names of modules and attributes, or the things themselves."""
    return {**_listed().get(kind, {}), **_registered.get(kind, {})}


def find(kind: str, name: str) -> Any:
    """Load what is registered by a name; None if nothing is."""
    thing = places(kind).get(name)
    if not isinstance(thing, str):
        return thing
    module, _, attribute = thing.partition(":")
    loaded = importing.load(module)
    return getattr(loaded, attribute) if attribute else loaded


def lacking(kind: str, name: str) -> str:
    """Say why :func:`find` returns None: the end of an error's sentence."""
    listed = (each.name for each in ADD_ONS if f"{kind} {name}" in each.registers)
    if lister := next(listed, None):
        return f"is of the add-on {lister}, which is not installed"
    return f"is not there: no add-on has registered {name!r} as {kind!r}"


def known(kind: str) -> list[str]:
    """Return the names of a kind, also those of add-ons that are not installed."""
    listed = (key.split(" ") for each in ADD_ONS for key in each.registers)
    return [name for its, name in listed if its == kind] + [*_registered.get(kind, {})]


def registered(kind: str) -> dict[str, Any]:
    """Load all that is registered of a kind, by name."""
    return {name: find(kind, name) for name in places(kind)}


@cache
def _here() -> tuple[AddOn, ...]:
    return tuple(each for each in ADD_ONS if each.is_here)


@cache
def _listed() -> dict[str, dict[str, str]]:
    """Return what the table registers, by kind and name, as absolute names."""
    by_kind: dict[str, dict[str, str]] = {}
    for each in _here():
        for key, place in each.registers.items():
            kind, name = key.split(" ")
            by_kind.setdefault(kind, {})[name] = each.module(place)
    return by_kind
