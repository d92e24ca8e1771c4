"""Checks of tensors, but for those of single dimensions and strides.

Sizes that are compared with symbols and expressions are values; :mod:`ffi_builder.plan.steps` has
their checks.
"""

from __future__ import annotations

from dataclasses import dataclass

from ffi_builder import abi, spec
from ffi_builder.plan.messages import Words
from ffi_builder.plan.path import Place
from ffi_builder.plan.step import Step, Texts


@dataclass(frozen=True)
class CheckNdim(Step):
    """The tensor has ``expected`` dimensions."""

    expected: int
    words = Words.NDIM

    def placeholders(self, origins: Texts) -> Texts:
        """The number."""
        return {"expected": str(self.expected)}


@dataclass(frozen=True)
class CheckDType(Step):
    """The tensor's dtype is exactly one of ``dtypes``."""

    dtypes: tuple[spec.DataType, ...]

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # of one or several
        """The error."""
        return Words.DTYPE if len(self.dtypes) == 1 else Words.DTYPES

    @property
    def text(self) -> str:
        """``float16, bfloat16``."""
        return ", ".join(map(str, self.dtypes))

    def placeholders(self, origins: Texts) -> Texts:
        """The dtypes."""
        return {"expected_dtype": self.text, "text": self.text}


@dataclass(frozen=True)
class CheckDeviceType(Step):
    """The tensor is on a device of type ``device_type`` (a DLPack name)."""

    device_type: str
    words = Words.DEVICE_TYPE

    @property
    def code(self) -> int:
        """The ``DLDeviceType``."""
        return abi.DEVICE_TYPES[self.device_type]

    def placeholders(self, origins: Texts) -> Texts:
        """The device type."""
        return {"expected_device": self.device_type}


@dataclass(frozen=True)
class CheckSameDevice(Step):
    """The device id is that of the first of ``others`` that is there and on this device type.

    The last of them may be certain to be; otherwise there may be none, and any id is right.
    ``certain`` says that the first one is, so that it is the only one.
    """

    others: tuple[Place, ...]
    certain: bool
    words = Words.SAME_DEVICE

    def placeholders(self, origins: Texts) -> Texts:
        """The device ids, and whose they are."""
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
    """No dimension, of as many as the tensor has, is negative."""

    words = Words.NEGATIVE

    @property
    def subject(self) -> str:
        """All of them."""
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

    def placeholders(self, origins: Texts) -> Texts:
        """The tensor."""
        return {"path": self.place.path}


@dataclass(frozen=True)
class CheckAlignment(Step):
    """data + byte_offset is a multiple of ``alignment``, unless the tensor has no elements."""

    alignment: int
    words = Words.ALIGNMENT

    def placeholders(self, origins: Texts) -> Texts:
        """The alignment, and the tensor."""
        return {"expected": str(self.alignment), "path": self.place.path}


@dataclass(frozen=True)
class CheckContiguous(Step):
    """The stride of this axis is the product of the later dimensions, or free.

    In the ``order`` F it is that of the earlier dimensions. Without an index in its place this is
    about all axes, from the first one, of as many as the tensor has.
    """

    order: str = "C"

    @property
    def words(self) -> Words:  # pyright: ignore[reportIncompatibleVariableOverride] # by order
        """The error."""
        return Words.CONTIGUOUS if self.order == "C" else Words.COLUMN_MAJOR

    @property
    def subject(self) -> str:
        """The stride of one axis, or of all."""
        return str(self.place) if self.place.index is not None else f"{self.place}[i]"

    def placeholders(self, origins: Texts) -> Texts:
        """The product."""
        return {"expected": f"{{product of {'later' if self.order == 'C' else 'earlier'} dims}}"}


@dataclass(frozen=True)
class CheckPacked(Step):
    """The stored value times the packing of the place fits int64."""

    words = Words.PACKED

    @property
    def limit(self) -> int:
        """The greatest magnitude that the stored value may have."""
        return (2**63 - 1) // self.place.packing

    def placeholders(self, origins: Texts) -> Texts:
        """The limit."""
        return {"expected": str(self.limit)}
