"""Makes objects of tvm-ffi's types."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ffi_builder import abi, spec
from ffi_builder.testing.make.arrays import Array

_ANY: Final = abi.TYPE_KEYS[abi.FIRST_OBJECT]


def make_object(path: str, type_key: str | None) -> Any:
    """Make an object of a type, or any object.

    Raises:
        ValueError: objects of this type cannot be made here.
    """
    make = _MAKERS.get(type_key or _ANY)
    if make is None:
        raise ValueError(
            f"make_args: {path} is a {type_key}, and make_args cannot make one; give it in "
            f"values={{{path!r}: …}}"
        )
    return make()


def nothing(*_: object) -> None:
    """Do nothing; a function to pass as an argument."""


def _tvm_ffi(name: str, *args: object) -> Callable[[], Any]:
    def make() -> Any:
        import tvm_ffi

        return getattr(tvm_ffi, name)(*args)

    return make


_MAKERS: Final[dict[str, Callable[[], Any]]] = {
    _ANY: list,
    # Shorter strs and bytes are stored in place and are not objects.
    "ffi.String": lambda: "an object",
    "ffi.Bytes": lambda: b"an object",
    "ffi.Function": lambda: nothing,
    "ffi.Shape": _tvm_ffi("Shape", ()),
    "ffi.Tensor": partial(Array("", spec.parse_dtype("float32"), (2,), (1,)).make, "tvm_ffi"),
    "ffi.Array": list,
    "ffi.Map": dict,
    "ffi.Module": _tvm_ffi("system_lib"),
    "ffi.OpaquePyObject": object,
    "ffi.List": _tvm_ffi("List", ()),
    "ffi.Dict": _tvm_ffi("Dict", {}),
    "ffi.VisitInterrupt": _tvm_ffi("VisitInterrupt"),
    "ffi.BigInt": lambda: 2**64,
}
