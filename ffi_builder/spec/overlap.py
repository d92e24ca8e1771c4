"""The ``no_overlap`` of a signature: tensors that must not share memory with another tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from ffi_builder import abi
from ffi_builder.errors import SpecError
from ffi_builder.spec._check import Stored, listed, one_of
from ffi_builder.spec.composite import Param, required, with_paths
from ffi_builder.spec.tensors.devices import ANY
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.tensor_list import TensorList

NoOverlap: TypeAlias = Stored["bool | Sequence[str]", "tuple[str, ...]"]
"""True, or paths of tensors and lists; stored as paths, in the order of the parameters."""
NOTHING: Final[Any] = ()


def tensors_of(params: Sequence[Param]) -> dict[str, Tensor]:
    """Return every tensor by its path in errors, including those in tuples, structs and Optionals.

    The path of a list stands for all of its elements.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.overlap import tensors_of
        >>> norm = "norm(x: Tensor([n], float32), cfg: Struct(weight: Tensor([n], float32)))"
        >>> list(tensors_of(spec.Signature.parse(norm, device="cpu").params))
        ['x', 'cfg.weight']
    """
    inner = ((path, required(param)) for path, param in with_paths(params))
    tensors = ((path, t.tensor if isinstance(t, TensorList) else t) for path, t in inner)
    return {path: tensor for path, tensor in tensors if isinstance(tensor, Tensor)}


def is_comparable(tensor: Tensor) -> bool:
    """Return whether the tensor's ``data`` can be an address of the unified address space.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.overlap import is_comparable
        >>> [
        ...     is_comparable(spec.Tensor("x", [64], "float32", device_type=device))
        ...     for device in ("cuda", "vulkan")
        ... ]
        [True, False]
    """
    return tensor.device in (*abi.UNIFIED_DEVICES, ANY)


def can_overlap(params: Sequence[Param]) -> bool:
    """Return whether a call may have two tensors that can share memory.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.overlap import can_overlap
        >>> axpy = "axpy(x: Tensor([n], float32), ys: TensorList(Tensor([n], float32)))"
        >>> can_overlap(spec.Signature.parse(axpy, device="cpu").params)
        True
    """
    inner = (required(param) for _, param in with_paths(params))
    counts = ((t.tensor, t.most) if isinstance(t, TensorList) else (t, 1) for t in inner)
    return sum(n for t, n in counts if isinstance(t, Tensor) and is_comparable(t)) > 1


def check_no_overlap(what: str, params: Sequence[Param], given: object) -> tuple[str, ...]:
    """Return the paths of the named tensors and lists, in the order of the parameters."""
    tensors = tensors_of(params)
    names = _names(what, tensors, given)
    if names and not can_overlap(params):
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


def _names(what: str, tensors: dict[str, Tensor], given: object) -> Sequence[object]:
    """Return the names in ``given``, which may be a bool."""
    if given is True:
        written = [path for path, t in tensors.items() if t.intent in ("out", "inout")]
        if not written:
            last = f"; set their intent, or name the tensors: no_overlap={[*tensors][-1:]}"
            raise SpecError(
                f"{what}: True stands for the tensors with intent='out' or 'inout', but there are "
                f"none{last if len(tensors) > 1 else ''}"
            )
        return written
    if given is False:
        return ()
    return listed(what, given, "True or a list of names of tensors")
