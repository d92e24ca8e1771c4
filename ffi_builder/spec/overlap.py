"""The ``no_overlap`` of a signature: tensors that must not share memory with another tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias, cast

from ffi_builder import abi
from ffi_builder.errors import SpecError
from ffi_builder.spec._check import one_of
from ffi_builder.spec._stored import Stored
from ffi_builder.spec.composite import Param, required, with_paths
from ffi_builder.spec.devices import ANY
from ffi_builder.spec.tensor import Tensor
from ffi_builder.spec.tensor_list import TensorList

NoOverlap: TypeAlias = Stored["bool | Sequence[str]", "tuple[str, ...]"]
"""True, or paths of tensors; stored as paths, in the order of the parameters."""
NOTHING: Final[Any] = ()


def tensors_of(params: Sequence[Param]) -> dict[str, Tensor]:
    """Return every tensor by its path in errors: in tuples, structs and Optionals too."""
    found = ((path, required(param)) for path, param in with_paths(params))
    return {path: param for path, param in found if isinstance(param, Tensor)}


def is_comparable(tensor: Tensor) -> bool:
    """Return whether the tensor's ``data`` can be an address of the unified address space.

    Examples:
        >>> from ffi_builder import spec
        >>> [
        ...     spec.is_comparable(spec.Tensor("x", [64], "float32", device_type=device))
        ...     for device in ("cuda", "vulkan")
        ... ]
        [True, False]
    """
    return tensor.device in (*abi.UNIFIED_DEVICES, ANY)


def check_no_overlap(what: str, params: Sequence[Param], given: object) -> tuple[str, ...]:
    """Return the paths of the named tensors, in the order of the parameters."""
    tensors = tensors_of(params)
    names = _names(what, params, tensors, given)
    _refuse_named_lists(what, params, names)
    if names and sum(map(is_comparable, tensors.values())) < 2:
        raise SpecError(
            f"{what}: there are no two tensors on {', '.join(abi.UNIFIED_DEVICES)} or any, which "
            f"could share memory"
        )
    named: list[str] = []
    for name in names:
        path = one_of(what, name, tensors)
        if path in named:
            raise SpecError(f"{what}: {path!r} is named twice")
        if not is_comparable(tensors[path]):
            raise SpecError(
                f"{what}: {path!r} is on {tensors[path].device}, where data may be a handle and no "
                f"address; tensors on {', '.join(abi.UNIFIED_DEVICES)} and any are compared"
            )
        named.append(path)
    return tuple(path for path in tensors if path in named)


def _refuse_lists(what: str, params: Sequence[Param]) -> None:
    """Refuse lists of tensors that are written, since their elements are not compared."""
    for path, param in with_paths(params):
        tensors = required(param)
        if isinstance(tensors, TensorList) and tensors.tensor.intent in ("out", "inout"):
            raise SpecError(
                f"{what}: True stands for all tensors with intent='out' or 'inout', but those of "
                f"the list {path} are not compared; name the others: no_overlap=['y']"
            )


def _refuse_named_lists(what: str, params: Sequence[Param], names: Sequence[object]) -> None:
    """Refuse names of lists of tensors."""
    found = ((path, required(param)) for path, param in with_paths(params))
    lists = {path for path, param in found if isinstance(param, TensorList)}
    for name in names:
        if isinstance(name, str) and name in lists:
            raise SpecError(
                f"{what}: {name!r} is a list of tensors, whose elements are not compared; name "
                f"Tensors"
            )


def _names(
    what: str, params: Sequence[Param], tensors: dict[str, Tensor], given: object
) -> Sequence[object]:
    """Return what the argument names."""
    if given is True:
        _refuse_lists(what, params)
        written = [path for path, t in tensors.items() if t.intent in ("out", "inout")]
        if not written:
            raise SpecError(
                f"{what}: True stands for the tensors with intent='out' or 'inout', but there are "
                f"none; set their intent, or name the tensors: no_overlap=['y']"
            )
        return written
    if given is False:
        return ()
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise SpecError(f"{what}: expected True or a list of names of tensors but got {given!r}")
    return cast("Sequence[object]", given)
