"""Tensors of 4-bit floats, as frameworks store them."""

from __future__ import annotations

from dataclasses import replace

from ffi_builder.errors import SpecError
from ffi_builder.spec.tensor import Tensor


def create_map_tensor_dtype_f4x2_to_f4_spec(tensor: Tensor) -> Tensor:
    """Return the Tensor that accepts ``float4_e2m1fnx2`` where ``tensor`` is ``float4_e2m1fn``.

    Frameworks store two 4-bit floats in one element. The result accepts such a tensor, of shape
    ``[m, k / 2]``, and gives the kernel ``[m, k]``.

    Raises:
        SpecError: the dtype of ``tensor`` is not ``float4_e2m1fn``.

    Examples:
        >>> from ffi_builder import spec
        >>> m, k = spec.dims("m k")
        >>> x = spec.Tensor("x", [m, k], "float4_e2m1fn", device_type="cuda")
        >>> packed = spec.create_map_tensor_dtype_f4x2_to_f4_spec(x)
        >>> packed.shape, packed.dtype, packed.storage_dtype
        ((Var('m', 'int64'), Var('k', 'int64')), 'float4_e2m1fn', 'float4_e2m1fnx2')
    """
    if tensor.dtype != "float4_e2m1fn":
        raise SpecError(
            f"{tensor.label}: expected dtype 'float4_e2m1fn' to map from float4_e2m1fnx2 "
            f"but it is {tensor.dtype!r}"
        )
    return replace(tensor, storage_dtype="float4_e2m1fnx2")
