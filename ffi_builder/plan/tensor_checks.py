"""Checks of tensors, except those of single dimensions and strides.

Dimensions and strides are values like any other; :mod:`ffi_builder.plan.steps` has their checks.
"""

from __future__ import annotations

from typing_extensions import override

from ffi_builder import abi, spec
from ffi_builder.plan.messages import Words
from ffi_builder.plan.path import Place
from ffi_builder.plan.step import ExpectInt, Step, Texts
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class CheckNdim(ExpectInt):
    """The tensor has ``expected`` dimensions."""

    words = Words.NDIM


@dataclass(frozen=True)
class CheckDType(Step):
    """The tensor's dtype is exactly one of ``dtypes``."""

    dtypes: tuple[spec.DataType, ...]

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # of one or several
        """The message."""
        return Words.DTYPE if len(self.dtypes) == 1 else Words.DTYPES

    @property
    def text(self) -> str:
        """The dtypes as text: ``float16, bfloat16``."""
        return ", ".join(map(str, self.dtypes))

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected_dtype": self.text, "text": self.text}


@dataclass(frozen=True)
class CheckSameDType(Step):
    """The tensor's dtype equals that of ``other``, which was checked and is always present."""

    other: Place
    words = Words.SAME_DTYPE

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected_dtype": f"{{{self.other}}}", "text": self.other.path}


@dataclass(frozen=True)
class CheckDeviceType(Step):
    """The tensor is on a device of type ``device_type`` (a DLPack name)."""

    device_type: str
    words = Words.DEVICE_TYPE

    @property
    def code(self) -> int:
        """The ``DLDeviceType`` number."""
        return abi.DEVICE_TYPES[self.device_type]

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected_device": self.device_type}


@dataclass(frozen=True)
class CheckSameDevice(Step):
    """The device id equals that of an earlier tensor on the same type of device.

    It is compared with the first of ``others`` that is present and on this type of device. If
    none is, any id is accepted. ``certain`` says that the first of them always is; it is then the
    only one.
    """

    others: tuple[Place, ...]
    certain: bool
    words = Words.SAME_DEVICE

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {
            "expected": " or ".join(f"{{{other}}}" for other in self.others),
            "text": " or ".join(other.path for other in self.others),
        }


@dataclass(frozen=True)
class CheckShapePointer(Step):
    """The tensor's shape pointer is not NULL, unless with ``any_rank`` ndim is 0."""

    any_rank: bool = False
    words = Words.SHAPE_NULL


@dataclass(frozen=True)
class CheckDims(Step):
    """No dimension of a tensor of any rank is negative."""

    words = Words.NEGATIVE

    @property
    @override
    def subject(self) -> str:
        return f"{self.place}[i]"


@dataclass(frozen=True)
class CheckNumel(Step):
    """The product of the dimensions fits int64; it is 0 if one of them is."""

    words = Words.NUMEL


@dataclass(frozen=True)
class CheckOffset(Step):
    """data + byte_offset does not wrap around the address space."""

    words = Words.OFFSET


@dataclass(frozen=True)
class CheckData(Step):
    """data is not NULL, unless the tensor has no elements."""

    words = Words.DATA_NULL

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"path": self.place.path}


@dataclass(frozen=True)
class CheckAlignment(Step):
    """data + byte_offset is a multiple of ``alignment``, unless the tensor has no elements."""

    alignment: int
    words = Words.ALIGNMENT

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": str(self.alignment), "path": self.place.path}


@dataclass(frozen=True)
class CheckOverlap(Step):
    """The tensor shares no memory with any of ``others`` that is present.

    Compared are the ranges from the first to the last byte (docs/checks.md). A place in each
    element of a list stands for all of them; where it is this step's own, for the later ones.
    """

    tensor: spec.Tensor
    others: tuple[tuple[Place, spec.Tensor], ...]
    words = Words.OVERLAP

    @override
    def placeholders(self, origins: Texts) -> Texts:
        own = f"{self.place.fixed_path}[j]"
        paths = (own if place == self.place else place.path for place, _ in self.others)
        return {"text": " or ".join(paths)}


@dataclass(frozen=True)
class CheckContiguous(Step):
    """The stride of this axis is the product of the later dimensions, or free.

    With ``order`` F it is the product of the earlier dimensions. A place without an index stands
    for all axes of a tensor of any rank, first to last.
    """

    order: str = "C"

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # by order
        """The message."""
        return Words.CONTIGUOUS if self.order == "C" else Words.COLUMN_MAJOR

    @property
    @override
    def subject(self) -> str:
        return str(self.place) if self.place.index is not None else f"{self.place}[i]"

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": f"{{product of {'later' if self.order == 'C' else 'earlier'} dims}}"}


@dataclass(frozen=True)
class CheckPacked(Step):
    """The stored value, multiplied by the packing of the place, fits int64."""

    words = Words.PACKED

    @property
    def limit(self) -> int:
        """The largest magnitude that the stored value may have."""
        return (2**63 - 1) // self.place.packing

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": str(self.limit)}
