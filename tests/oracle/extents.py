"""The memory of tensors: *Overlaps* of docs/checks.md."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ffi_builder import abi
from ffi_builder.spec import Signature, with_paths
from tests.oracle.memory import TensorAt, read_i64s
from tests.oracle.symbols import fits
from tests.oracle.tensors import Decoded, Tensors, row_major
from tests.oracle.words import Place

COMPARED: Final = ("cpu", "cuda", "cuda_host", "cuda_managed", "rocm", "rocm_host", "oneapi")
CODES: Final = {abi.DEVICE_TYPES[name] for name in COMPARED}
GREATEST: Final = 2**64 - 1


class Extent(NamedTuple):
    """The addresses of the first and the last byte of a tensor."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first:#x} to {self.last:#x}"


def check_overlaps(
    signature: Signature, tensors: Tensors, lists: Mapping[str, Sequence[Decoded]]
) -> None:
    """Compare the named tensors with the others; ``tensors`` has those that are present."""
    extents: dict[str, Extent] = {}
    named: list[str] = []
    for path, _ in with_paths(signature.arguments):
        found = {f"{path}[{index}]": each for index, each in enumerate(lists.get(path, ()))}
        if path in tensors:
            found[path] = tensors[path]
        for place, tensor in found.items():
            extent = extent_of(tensor)
            if extent is not None:
                extents[place] = extent
                named += [place] * (path in signature.no_overlap)
    compared: set[str] = set()
    for path in named:
        own = extents[path]
        compared.add(path)
        for other, theirs in extents.items():
            if other not in compared and own.first <= theirs.last and theirs.first <= own.last:
                Place(argument_of(signature, path), path).wrong_value(
                    f"memory apart from that of {other} (no_overlap)",
                    f"{own}, where {other} has {theirs}",
                )


def argument_of(signature: Signature, path: str) -> int:
    """Return the index of the argument that a tensor is, or is in."""
    name = re.split(r"[.\[]", path)[0]
    return [param.name for param in signature.arguments].index(name)


def extent_of(decoded: Decoded) -> Extent | None:
    """Return the memory of a tensor; None if it is compared with nothing."""
    tensor = TensorAt(decoded.address)
    shape = read_i64s(tensor.shape, tensor.ndim)
    if 0 in shape or tensor.device_type not in CODES:
        return None
    strides = read_i64s(tensor.strides, tensor.ndim) if tensor.strides else row_major(shape)
    steps = [(dim - 1) * stride for dim, stride in zip(shape, strides, strict=True)]
    before, behind = -sum(min(step, 0) for step in steps), sum(max(step, 0) for step in steps)
    bits = tensor.dtype.total_bits
    address = tensor.data + tensor.byte_offset
    first = address - -(-before * bits // 8) if fits("int64", -before) else 0
    last = address + -(-(behind + 1) * bits // 8) - 1 if fits("int64", behind) else GREATEST
    return Extent(max(first, 0), min(last, GREATEST))
