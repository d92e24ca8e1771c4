"""Checks of tensors, except those of single dimensions and strides.

Single dimensions and strides are checked like any other value: see :mod:`.checks`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, TypeAlias, Union

from typing_extensions import override

from ffi_builder import abi, spec
from ffi_builder.plan.checks import CheckArguments, EqualInt, NotNegative
from ffi_builder.plan.messages import Words, type_error, value_error
from ffi_builder.plan.path import Part, Place
from ffi_builder.plan.step import (
    STRIDE_GOT,
    Byte,
    Check,
    ExpectInt,
    Instruction,
    Operand,
    Step,
    Texts,
)
from ffi_builder.records import dataclass
from ffi_builder.spec.dtypes import DataType


@dataclass(frozen=True)
class CheckNdim(ExpectInt):
    """The tensor has ``expected`` dimensions."""

    words = EqualInt.plain


@dataclass(frozen=True)
class CheckDType(Check):
    """The tensor's dtype is exactly one of ``dtypes``."""

    dtypes: tuple[DataType, ...]
    single: ClassVar = type_error("{expected_dtype}", "{dtype}")
    several: ClassVar = type_error("one of {text}", "{dtype}")

    @property
    @override
    def error(self) -> Words:
        return self.single if len(self.dtypes) == 1 else self.several

    @property
    def text(self) -> str:
        """The dtypes as text: ``float16, bfloat16``."""
        return ", ".join(map(str, self.dtypes))

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected_dtype": self.text, "text": self.text}


@dataclass(frozen=True)
class CheckSameDType(Check):
    """The tensor's dtype equals the dtype of ``other``, a checked tensor that is always present."""

    other: Place
    words = type_error("{expected_dtype} (dtype of {text})", "{dtype}")

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected_dtype": f"{{{self.other}}}", "text": self.other.path}


@dataclass(frozen=True)
class CheckDeviceType(Check):
    """The tensor is on a device of type ``expected_device`` (a DLPack name)."""

    expected_device: str
    words = value_error("{expected_device}", "{device}")

    @property
    def code(self) -> int:
        """The ``DLDeviceType`` number."""
        return abi.DEVICE_TYPES[self.expected_device]


@dataclass(frozen=True)
class CheckSameDevice(Check):
    """The device id equals that of an earlier tensor on the same type of device.

    The id is compared with the first of ``others`` that is present and on this type of device. If
    there is none, any id is accepted. ``certain`` says that ``others`` has a single tensor, which
    is always present and on this type of device.
    """

    others: tuple[Place, ...]
    certain: bool
    words = value_error("{expected} (the device of {text})")

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {
            "expected": " or ".join(f"{{{other}}}" for other in self.others),
            "text": " or ".join(other.path for other in self.others),
        }


@dataclass(frozen=True)
class CheckShapePointer(Check):
    """The tensor's shape pointer is not NULL. With ``any_rank``, it may be NULL if ndim is 0.

    With ``any_rank``, no dimension is negative.
    """

    any_rank: bool = False
    words = CheckArguments.words

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        return (self, CheckDims(self.place)) if self.any_rank else (self,)


@dataclass(frozen=True)
class ReadDim(Step):
    """Read a dimension, which is not negative."""

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        return (NotNegative(self.place),)


@dataclass(frozen=True)
class CheckDims(Check):
    """No dimension of a tensor of any rank is negative."""

    words = NotNegative.words

    @property
    @override
    def subject(self) -> str:
        return f"{self.place}[i]"


@dataclass(frozen=True)
class CheckNumel(Check):
    """The product of the dimensions fits int64; it is 0 if a dimension is 0."""

    words = value_error("a product of dimensions that fits int64", "{shape}")


@dataclass(frozen=True)
class CheckOffset(Check):
    """data + byte_offset does not wrap around the address space."""

    words = value_error("data + byte_offset within the address space", "{address} + {offset}")


@dataclass(frozen=True)
class CheckData(Check):
    """data is not NULL, unless the tensor has no elements.

    Before that, the number of elements fits int64, and data + byte_offset does not wrap.
    """

    words = value_error("a non-NULL pointer, as {path} has elements", "NULL")

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        place = self.place
        return CheckNumel(place.at(Part.SHAPE)), CheckOffset(place.at(Part.BYTE_OFFSET)), self


@dataclass(frozen=True)
class CheckAlignment(Instruction):
    """data + byte_offset is a multiple of ``expected``, unless the tensor has no elements."""

    expected: int
    words = value_error(
        "an address aligned to {expected} bytes (data_alignment of {path})",
        "{address} (aligned to {alignment})",
    )
    op = "ALIGN"

    @property
    @override
    def operands(self) -> tuple[Operand, ...]:
        return (Byte(self.expected.bit_length() - 1),)


@dataclass(frozen=True)
class CheckElementAlignment(Instruction):
    """data + byte_offset is a multiple of the alignment of the dtype.

    Unless the tensor has no elements, or its device may have handles in the place of addresses.
    ``alignments`` are those of the dtypes that the tensor may have.
    """

    alignments: tuple[int, ...]
    words = value_error(
        "an address aligned to {expected} bytes, as elements of {path} are",
        "{address} (aligned to {alignment})",
    )
    op = "ALIGN_ELEMENTS"

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": " or ".join(map(str, self.alignments)), "path": self.place.path}


@dataclass(frozen=True)
class CheckOverlap(Check):
    """The tensor shares no memory with any of ``others`` that is present.

    The ranges from the first to the last byte are compared (docs/checks.md). In ``others``, a place
    in each element of a list stands for all elements, or for the later ones if it is ``place``.
    """

    tensor: spec.Tensor
    others: tuple[tuple[Place, spec.Tensor], ...]
    words = value_error(
        "memory apart from that of {text} (no_overlap)",
        "{bytes}, where {text} has {other_bytes}",
    )

    @override
    def placeholders(self, origins: Texts) -> Texts:
        own = f"{self.place.fixed_path}[j]"
        paths = (own if place == self.place else place.path for place, _ in self.others)
        return {"text": " or ".join(paths)}


@dataclass(frozen=True)
class CheckContiguous(Check):
    """The stride of this axis is the product of the later dimensions, or free.

    With ``order`` F it is the product of the earlier dimensions. A place without an index stands
    for all axes of a tensor of any rank, first to last.
    """

    order: str = "C"
    row_major: ClassVar = value_error("{expected} (row-major contiguous)", STRIDE_GOT)
    column_major: ClassVar = value_error("{expected} (column-major contiguous)", STRIDE_GOT)

    @property
    @override
    def error(self) -> Words:
        return self.row_major if self.order == "C" else self.column_major

    @property
    @override
    def subject(self) -> str:
        return str(self.place) if self.place.index is not None else f"{self.place}[i]"

    @override
    def placeholders(self, origins: Texts) -> Texts:
        return {"expected": f"{{product of {'later' if self.order == 'C' else 'earlier'} dims}}"}


@dataclass(frozen=True)
class CheckLayout(Step):
    """Each stride of a tensor is that of ``order``, or free. ``rank`` is None for any rank."""

    order: str
    rank: int | None

    @property
    @override
    def checks(self) -> tuple[Check, ...]:
        axes: Iterable[int | None] = (None,) if self.rank is None else range(self.rank)
        strides = (self.place.at(Part.STRIDES, axis) for axis in axes)
        return tuple(CheckContiguous(stride, self.order) for stride in strides)


@dataclass(frozen=True)
class CheckPacked(Check):
    """The stored value, multiplied by the packing of the place, fits int64."""

    words = value_error("at most {expected} in magnitude, as elements are packed")

    @property
    def expected(self) -> int:
        """The largest magnitude that the stored value may have."""
        return (2**63 - 1) // self.place.packing


TensorCheck: TypeAlias = Union[
    CheckShapePointer,
    CheckData,
    CheckAlignment,
    CheckElementAlignment,
    CheckOverlap,
    CheckPacked,
]

TensorPart: TypeAlias = Union[
    CheckNdim,
    CheckDType,
    CheckSameDType,
    CheckDeviceType,
    CheckSameDevice,
    CheckDims,
    CheckContiguous,
    CheckNumel,
    CheckOffset,
]
"""Checks that occur only as parts of other steps."""
