"""How ``wrap`` launches a kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.extending import dataclass

if TYPE_CHECKING:
    from ffi_builder import spec
    from ffi_builder.cuda.launch.attributes import Attributes
    from ffi_builder.cuda.launch.dimensions import Size
    from ffi_builder.cuda.launch.streams import StreamChoice


@dataclass(frozen=True)
class Launch:
    """How :func:`wrap` launches a kernel on a GPU.

    The fields are options of :class:`~ffi_builder.providers.CudaLaunchCallProvider`, and all but
    the cluster are options of :class:`~ffi_builder.providers.RocmLaunchCallProvider`.

    Args:
        grid: blocks in x, y and z: up to three ints or expressions of the signature's symbols.
            For a kernel that Triton compiled they are its programs, of ``num_ctas`` blocks each.
        block: threads of a block, likewise. May be left out where the image has the only one, as of
            ``__block_size__``, and for tile kernels. Left out for a kernel that Triton compiled,
            like all but the grid and the stream.
        cluster: blocks of a cluster, likewise.
        dynamic_smem_bytes: dynamic shared memory of a block in bytes: an int or an expression.
        attributes: names of flags, or a dict of values by name.
        stream: the stream to launch on.

    Examples:
        >>> from ffi_builder import Launch, spec
        >>> n = spec.Var("n", "int32")
        >>> Launch(grid=spec.ceildiv(n, 128), block=128).block
        128
    """

    grid: Size
    block: Size | None = None
    cluster: Size | None = None
    dynamic_smem_bytes: spec.Dim = 0
    attributes: Attributes = ()
    stream: StreamChoice = None
