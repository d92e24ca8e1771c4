"""What decoding has found so far, and the values that later steps read there."""

from __future__ import annotations

from dataclasses import dataclass, field

from ffi_builder import abi
from ffi_builder.plan import Part, Place
from ffi_builder.testing import memory as mem
from ffi_builder.testing.message import Scalar


@dataclass
class Found:
    """The arguments at an address, as far as they were decoded.

    Nothing is read that the wrapper would not read.
    """

    args: int
    objects: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])
    """Of each position that has one, the object, or whatever else its payload points to.

    Of a ``DLTensor*`` the address 24 bytes before it, where a Tensor's header would be; of what is
    held in place the address of that.
    """
    types: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])
    """The type index of each of them; of a moved object that of what it holds."""
    values: dict[Place, Scalar] = field(default_factory=dict[Place, Scalar])
    """What was decoded or solved, rather than read from a tensor."""

    def any(self, position: tuple[int, ...]) -> int:
        """The address of a ``TVMFFIAny``."""
        *outer, last = position
        base = mem.read_u64(self.objects[tuple(outer)] + abi.CELL_DATA) if outer else self.args
        return base + last * abi.ANY_SIZE

    def object(self, place: Place) -> int:
        """The address of the object at a place, which may be 0."""
        return self.objects[place.position]

    def type_index(self, place: Place) -> int:
        """The type index of the object at a place."""
        return self.types[place.position]

    def tensor_i32(self, place: Place, offset: int) -> int:
        """A field of a tensor."""
        return mem.read_i32(self.object(place) + mem.DL + offset)

    def data(self, place: Place) -> tuple[int, int]:
        """The data and byte_offset of a tensor."""
        tensor = self.object(place) + mem.DL
        offset = mem.read_u64(tensor + abi.DLTENSOR_BYTE_OFFSET)
        return mem.read_u64(tensor + abi.DLTENSOR_DATA), offset

    def is_empty(self, place: Place) -> bool:
        """Whether a tensor has a dimension of 0."""
        return 0 in mem.dims(self.object(place))

    def is_free(self, place: Place) -> bool:
        """Whether the stride at a place is free."""
        dims = mem.dims(self.object(place))
        assert place.index is not None
        return dims[place.index] == 1 or 0 in dims

    def stored(self, place: Place) -> int:
        """A dimension or stride as it is stored, or what NULL strides stand for."""
        assert place.index is not None
        read = mem.strides if place.part is Part.STRIDES else mem.dims
        return read(self.object(place))[place.index]

    def value(self, place: Place) -> Scalar:
        """The value that a step at this place sees."""
        if place in self.values:
            return self.values[place]
        match place.part:
            case Part.NDIM:
                return self.tensor_i32(place, abi.DLTENSOR_NDIM)
            case Part.DEVICE_ID:
                return self.tensor_i32(place, abi.DLTENSOR_DEVICE_ID)
            case part:
                assert part in (Part.SHAPE, Part.STRIDES), f"nothing was decoded at {place}"
                return mem.wrap_i64(self.stored(place) * place.packing)
