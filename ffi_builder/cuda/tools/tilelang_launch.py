"""Reads how TileLang launches a kernel: its arguments, its tensor maps and the sizes of the launch.

It reads public attributes of TVM's objects, so it does not import TileLang::

    kernel.params == [A_desc, C, m]
    kernel.attrs["thread_extent"] == {"blockIdx.x": (m + 63) // 64, "threadIdx.x": 256}
    host.attrs["tma_descriptor_args"] == {
        A_desc: ["__tvm_tensormap_create_tiled", A_desc, 6, 2, A, 128, m, 2, 256, 64, 64, …]
    }

The last has the type of a map, its rank, its data, then of each dimension, the innermost first,
sizes, strides in bytes, the box and element strides; at the end interleave, swizzle, promotion and
fill, as the driver numbers them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, cast

from ffi_builder import BuildError
from ffi_builder.cuda.launch.maps import TensorMap

_INNER: Final = ("body", "seq", "then_case", "else_case", "value")
"""The attributes of statements that have other statements and calls."""
_MAPS: Final = "tma_descriptor_args"
_TILED: Final = "create_tiled"
_SPATIAL: Final = 2
_AXES: Final = "xyz"


def tilelang_launch(artifact: Any) -> dict[str, Any]:
    """Return how TileLang launches a kernel: the options of ``CudaLaunchCallProvider``.

    These are ``kernel``, ``args``, ``grid``, ``block`` and ``dynamic_smem_bytes``, also ``cluster``
    and ``attributes`` where the kernel has them. A TMA descriptor is a ``TensorMap`` in ``args``.
    What is printed of them can be pasted, for an environment without TileLang.

    Args:
        artifact: what ``tilelang.lower`` returns, with one kernel.

    Raises:
        BuildError: ``artifact`` is something else, has several kernels, or makes a map of another
            view of the tensor than the signature's, for which wrappers make none.

    Examples:
        Needs TileLang:

        >>> import tilelang
        >>> import tilelang.language as T
        >>> from ffi_builder import cuda
        >>> m = T.dynamic("m")
        >>> @T.prim_func
        ... def double(x: T.Tensor((m, 128), "float16"), y: T.Tensor((m, 128), "float16")):
        ...     with T.Kernel(m, threads=128) as row:
        ...         for i in T.Parallel(128):
        ...             y[row, i] = x[row, i] * 2
        >>> target = tilelang.tvm.target.Target({"kind": "cuda", "arch": "sm_90"})
        >>> with target:
        ...     artifact = tilelang.lower(double, target=target)
        >>> cuda.tilelang_launch(artifact)
        {'kernel': 'double_kernel', 'args': ['x', 'y', 'm'], 'grid': ('m', 1, 1),
            'block': (128, 1, 1), 'dynamic_smem_bytes': 0}
    """
    modules = [getattr(artifact, name, None) for name in ("device_mod", "host_mod")]
    if None in modules:
        raise BuildError(
            f"tilelang_launch: expected what tilelang.lower returns but got {artifact!r}"
        )
    device, host = (dict(module.functions.items()) for module in cast("list[Any]", modules))
    if len(device) != 1:
        names = ", ".join(each.name_hint for each in device)
        raise BuildError(f"tilelang_launch: expected one kernel but got {names}")
    ((symbol, kernel),) = device.items()
    maps = {name: made for function in host.values() for name, made in _maps(function)}
    attrs: Mapping[str, Any] = kernel.attrs
    extent = {tag: _number(size) for tag, size in attrs["thread_extent"].items()}
    launch: dict[str, Any] = {
        "kernel": symbol.name_hint,
        "args": [maps.get(param.name, param.name) for param in kernel.params],
        "grid": tuple(extent.get(f"blockIdx.{axis}", 1) for axis in _AXES),
        "block": tuple(extent.get(f"threadIdx.{axis}", 1) for axis in _AXES),
        "dynamic_smem_bytes": int(attrs["dyn_shared_memory_buf"])
        if "dyn_shared_memory_buf" in attrs
        else 0,
    }
    if "cluster_dims" in attrs:
        launch["cluster"] = tuple(int(each) for each in attrs["cluster_dims"])
    flags = {
        "cooperative": bool(attrs.get("use_cooperative_groups", False)),
        "programmatic_stream_serialization": "has_cuda_pdl_sync" in attrs,
    }
    if any(flags.values()):
        launch["attributes"] = [name for name, is_set in flags.items() if is_set]
    return launch


def _maps(function: Any) -> Iterator[tuple[str, TensorMap]]:
    """Yield the maps that the host makes, by the names of the kernel's parameters."""
    shapes = {
        buffer.data.name: tuple(_number(size) for size in buffer.shape)
        for buffer in _buffers(function.body)
    }
    for name, args in dict(function.attrs).get(_MAPS, {}).items():
        yield name.name, _map(args, shapes)


def _buffers(node: Any) -> Iterator[Any]:
    if type(node).__name__ == "DeclBuffer":
        yield node.buffer
    for name in _INNER:
        inner = getattr(node, name, None)
        if inner is None or isinstance(inner, (str, int, float)):
            continue
        for each in inner if hasattr(inner, "__len__") else (inner,):
            yield from _buffers(each)


def _map(args: Sequence[Any], shapes: Mapping[str, tuple[Any, ...]]) -> TensorMap:
    made, _, dtype, rank, tensor, *numbers = args
    count, rest = int(rank), iter([_number(each) for each in numbers])

    def taken(count: int) -> tuple[Any, ...]:
        """Return that many numbers, the outermost first."""
        return tuple(islice(rest, count))[::-1]

    sizes, _ = taken(count), taken(count)
    if shapes.get(tensor.name) != sizes:
        raise BuildError(
            f"tilelang_launch: the map of {tensor.name!r} is of the sizes {sizes}, but the tensor "
            f"has {shapes.get(tensor.name)}: wrappers make maps of whole tensors"
        )
    if str(made.value).endswith(_TILED):
        form: dict[str, Any] = {"box": taken(count)}
        steps = taken(count)
    else:
        steps = taken(count)
        form = {"corners": (taken(count - _SPATIAL), taken(count - _SPATIAL))}
        form |= {"pixels": next(rest), "channels": next(rest)}
    interleave, swizzle, promotion, fill = rest
    return TensorMap(
        tensor.name,
        **form,
        element_strides=None if {*steps} == {1} else steps,
        interleave=interleave,
        swizzle=swizzle,
        l2_promotion=promotion,
        oob_fill=fill,
        dtype=int(dtype),
    )


def _number(value: Any) -> Any:
    """Return an int as it is, and an expression of TVM as the text that signatures have for it."""
    text = str(value)
    return int(text) if text.lstrip("-").isdecimal() else text
