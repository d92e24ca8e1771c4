"""Objects that FlyDSL has exported as sources of ``wrap``: each calls a function in the object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.extending import dataclass, did_you_mean
from ffi_builder.providers import CallProvider, CheckStatus, DirectCallProvider
from ffi_builder.rocm.flydsl.export import DATA, POINTER, STREAM, Export, Slot, exports
from ffi_builder.rocm.flydsl.provider import FlyCallProvider
from ffi_builder.runtime.extending import ObjectSource
from ffi_builder.wrapping.c_types import CType, Prototype
from ffi_builder.wrapping.calls import bound

_DOES: Final = ("init", "load", "unload")
_STREAMS: Final = (spec.Stream, spec.EnvStream)


@dataclass(frozen=True)
class FlyObject:
    """An object, which is linked, and the functions that FlyDSL has exported to it."""

    data: bytes
    exports: dict[str, Export]

    device = "rocm"
    has_names = True

    @property
    def linked(self) -> Sequence[ObjectSource]:
        """What is linked with the wrapper."""
        return [ObjectSource(self.data)]

    def called(
        self, signature: spec.Signature, function: str | None, args: Any, launch: object
    ) -> tuple[spec.Signature, CallProvider, str]:
        """Return what :class:`~ffi_builder.wrapping.sources.Image` says."""
        if launch is not None:
            raise TypeError("wrap: a function of FlyDSL's launches its kernel: leave out launch=")
        name = function or signature.name
        # Those that load and unload what the others launch.
        if name in [f"{each}__module_{does}" for each in self.exports for does in _DOES]:
            provider = CheckStatus(DirectCallProvider(name, args=args))
            return signature, provider, "with nothing: FlyDSL's header has the types"
        if name not in self.exports:
            known = ", ".join(self.exports)
            raise SpecError(
                f"No function {name!r} in FlyDSL's object, which has {known}"
                f"{did_you_mean(name, self.exports)}; say which with function="
            )
        export = self.exports[name]
        signature, stream = _with_stream(signature)
        types = tuple((name, _type(slot)) for name, slot in export.arguments.items())
        declared = Prototype(export.symbol, types, None)
        signature, bound_args, _ = bound(declared, signature, args, _STREAMS)
        entries = _inner(signature) if bound_args is None else list(bound_args)
        provider = FlyCallProvider(export, entries, stream)
        return signature, provider, "with FlyDSL's types, which say of a tensor nothing more"


def read(data: bytes) -> FlyObject | None:
    """Read an object; None if FlyDSL has not made it."""
    by_name = exports(data)
    return FlyObject(data, by_name) if by_name else None


def _type(slot: Slot) -> CType:
    return CType(slot.dtype, is_pointer=slot.kind in (DATA, POINTER))


def _with_stream(signature: spec.Signature) -> tuple[spec.Signature, str]:
    """Return a signature with one stream, and the name of it.

    Raises:
        BuildError: it has several.
    """
    names = [each.name for each in signature.params if isinstance(each, _STREAMS)]
    if len(names) > 1:
        raise BuildError(f"wrap: FlyDSL's functions take one stream, but got {', '.join(names)}")
    if names:
        return signature, names[0]
    name = STREAM
    while name in dict(spec.with_paths(signature.params)):
        name += "_"
    return replace(signature, params=[*signature.params, spec.EnvStream(name)]), name


def _inner(signature: spec.Signature) -> list[Any]:
    inner = [each for each in signature.params if not isinstance(each, _STREAMS)]
    return [*inner, *signature.result_tensors]
