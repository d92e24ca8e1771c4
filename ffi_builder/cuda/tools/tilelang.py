"""Makes the signature of a kernel of TileLang.

It reads public attributes of TVM's objects, so it does not import TileLang::

    function.params == [x_handle, f]; function.buffer_map == {x_handle: x}
    x.name, x.dtype, x.shape, x.strides == "x", "float32", [m, 128], [128, 1]
"""

from __future__ import annotations

import math
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError

_ALIGNMENT: Final = 16
"""The most bytes that TileLang 0.1 reads at once; its own launcher does not check addresses."""
_DTYPES: Final = {"float8_e4m3": "float8_e4m3 | float8_e4m3fn"}
"""PyTorch has the latter only, which TileLang's own launcher takes for the former."""


def tilelang_signature(
    kernel: Any, *, device: str = "cuda", name: str | None = None
) -> spec.Signature:
    """Return what TileLang knows of a kernel's arguments: names, dtypes, shapes and strides.

    Dynamic sizes keep their names and dtypes, such as ``m: int32``. Tensors have the alignment of
    vector accesses, 16 bytes. All of these are checked by wrappers.

    Args:
        kernel: a ``PrimFunc`` (``@T.prim_func``), or the ``JITKernel`` that ``tilelang.compile``
            returns.
        device: the device of the tensors; ``"cpu"`` for TileLang's target ``c``.
        name: the name of the signature; by default that of the kernel.

    Raises:
        BuildError: ``kernel`` is neither.
        SpecError: a dtype or a shape has no parameter here.

    Examples:
        Needs TileLang:

        >>> import tilelang.language as T
        >>> from ffi_builder import cuda
        >>> m = T.dynamic("m")
        >>> @T.prim_func
        ... def double(x: T.Tensor((m, 128), "float16"), y: T.Tensor((m, 128), "float16")):
        ...     with T.Kernel(m, threads=128) as row:
        ...         for i in T.Parallel(128):
        ...             y[row, i] = x[row, i] * 2
        >>> print(cuda.tilelang_signature(double))
        double(x: Tensor([m, 128], float16, device_type=cuda, data_alignment=16),
            y: Tensor([m, 128], float16, device_type=cuda, data_alignment=16)) where m: int32
    """
    function = getattr(kernel, "prim_func", kernel)
    if not hasattr(function, "buffer_map"):
        raise BuildError(
            f"tilelang_signature: expected a PrimFunc or a JITKernel of TileLang but got {kernel!r}"
        )
    buffers = dict(function.buffer_map.items())
    params: list[str] = []
    sizes: dict[str, str] = {}
    for param in function.params:
        buffer = buffers.get(param)
        if buffer is None:
            params.append(f"{param.name}: {param.dtype}")
            continue
        params.append(_tensor(buffer))
        for entry in (*buffer.shape, *buffer.strides):
            if hasattr(entry, "name"):
                sizes[entry.name] = f"{entry.name}: {entry.dtype}"
    where = f" where {', '.join(sizes.values())}" if sizes else ""
    known = name or function.attrs["global_symbol"]
    return spec.Signature.parse(f"{known}({', '.join(params)}){where}", device=device)


def _tensor(buffer: Any) -> str:
    """Write a buffer as a Tensor. TVM's expressions are written as those of signatures."""
    shape, strides = ([str(entry) for entry in given] for given in (buffer.shape, buffer.strides))
    dtype = _DTYPES.get(str(buffer.dtype), str(buffer.dtype))
    options = f"data_alignment={_ALIGNMENT}"
    if any(_factors([s]) != _factors(shape[i + 1 :]) for i, s in enumerate(strides)):
        options = f"strides=[{', '.join(strides)}], {options}"
    return f"{buffer.name}: Tensor([{', '.join(shape)}], {dtype}, {options})"


def _factors(texts: list[str]) -> tuple[int, list[str]]:
    """Return the number and the other factors of a product, so that equal products are equal."""
    factors = [f.strip("()") for text in texts for f in text.split(" * ")]
    numbers = [int(factor) for factor in factors if factor.isdecimal()]
    return math.prod(numbers), sorted(f for f in factors if not f.isdecimal())
