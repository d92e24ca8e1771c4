"""The data pointers of tensors, as arguments for callees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.records import dataclass

if TYPE_CHECKING:
    from ffi_builder.spec.tensor import Tensor


@dataclass(frozen=True)
class Data:
    """``x.data``: the data pointer of a tensor as an argument for a callee: data + byte_offset.

    Examples:
        >>> from ffi_builder import spec
        >>> x = spec.Tensor("x", ..., "float32", device_type="cpu")
        >>> x.data
        Tensor('x', ..., 'float32', device_type='cpu').data
        >>> x.data.tensor is x
        True
    """

    tensor: Tensor

    def __repr__(self) -> str:
        return f"{self.tensor!r}.data"

    def __str__(self) -> str:
        return f"{self.tensor.name}.data"
