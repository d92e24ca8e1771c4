"""Checks a launch when the provider is made: the sizes that are ints, and the kernel's image."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast, get_args

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.kernel_image import Kernel
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.arguments import PROVIDER
from ffi_builder.providers.cuda.dimensions import (
    OneSize,
    Size,
    Sizes,
    check_ints,
    checked_dynamic_memory,
    checked_sizes,
    product,
)
from ffi_builder.providers.cuda.entries import SCALAR_SIZES, LaunchEntry, Pointee, Scalar
from ffi_builder.records import dataclass

_FIRST_WITH_CLUSTERS = 90
_POINTER_SIZE = 8


@dataclass(frozen=True)
class Checked:
    """The sizes and flags of a launch.

    Each size is an int that some GPU allows, an expression, or the text of one.
    """

    grid: Sizes
    block: Sizes
    cluster: Sizes | None
    shared: OneSize
    flags: tuple[str, ...]

    @classmethod
    def of(
        cls,
        grid: Size,
        block: Size,
        cluster: Size | None,
        shared: OneSize,
        attributes: Sequence[str],
    ) -> Checked:
        """Check the arguments of the provider.

        Raises:
            SpecError: if no launch can have these sizes.
        """
        found = cls(
            checked_sizes("grid", grid),
            checked_sizes("block", block),
            None if cluster is None else checked_sizes("cluster", cluster),
            checked_dynamic_memory(shared),
            _checked_flags(attributes),
        )
        check_ints("grid", found.grid, 0, driver.MAX_GRID)
        check_ints("block", found.block, 1, driver.MAX_BLOCK)
        if found.cluster is not None:
            check_ints("cluster", found.cluster, 1, (driver.MAX_CLUSTER,) * 3)
        return found


def check_choices(args: object, stream: object) -> None:
    """Check that ``args=`` is a list, and that ``stream=`` can be a stream.

    Raises:
        SpecError: if one of them is not.
    """
    if args is not None and (isinstance(args, str) or not isinstance(args, Sequence)):
        raise SpecError(f"{PROVIDER}: args= is {args!r}; expected a list, such as ['x']")
    if isinstance(stream, int) and not isinstance(stream, bool):
        fits = 0 <= stream < driver.SPECIAL_STREAMS
    else:
        fits = stream is None or isinstance(stream, (str, *get_args(spec.Param)))
    if not fits:
        raise SpecError(
            f"{PROVIDER}: stream: expected a parameter or its name, 0 (NULL), 1 (CU_STREAM_LEGACY) "
            f"or 2 (CU_STREAM_PER_THREAD) but got {stream!r}"
        )


def check_launch(kernel: Kernel, architectures: Sequence[str], sizes: Checked) -> None:
    """Check the launch against the kernel.

    Raises:
        SpecError: if the kernel or its architectures do not allow the launch.
    """
    _check_block(kernel, sizes.block)
    _check_shared(kernel, architectures, sizes.shared)
    if sizes.cluster is not None:
        _check_cluster(kernel, architectures, sizes.cluster)
    cluster = sizes.cluster or kernel.cluster or ()
    for axis, blocks, size in zip("xyz", sizes.grid, cluster, strict=False):
        if isinstance(blocks, int) and isinstance(size, int) and blocks % size:
            raise SpecError(
                f"{PROVIDER}: grid.{axis}: expected a multiple of cluster.{axis}, {size}, but got "
                f"{blocks}"
            )


def _check_block(kernel: Kernel, block: Sizes) -> None:
    threads = product(block)
    if threads is None:
        return
    _check_compiled(kernel, "block", kernel.block, block)
    most = driver.MAX_THREADS if kernel.max_threads is None else kernel.max_threads
    if threads > most:
        whose = f"the kernel {kernel.name!r} was compiled for" if kernel.max_threads else "there is"
        raise SpecError(
            f"{PROVIDER}: block: expected at most {most} threads, the most that {whose}, but got "
            f"{' x '.join(map(str, block))} = {threads}"
        )


def _check_shared(kernel: Kernel, architectures: Sequence[str], shared: OneSize) -> None:
    majors = [int(found[1]) for a in architectures if (found := re.match(r"sm_(\d+)\d", a))]
    most = [driver.MAX_SHARED_KIB.get(major) for major in majors]
    # PTX runs on later GPUs too, whose limits nobody knows yet.
    if not isinstance(shared, int) or len(most) < len(architectures) or None in most or not most:
        return
    limit = max(size for size in most if size is not None) << 10
    static = kernel.static_shared_bytes or 0
    if shared + static > limit:
        beside = f" beside the kernel's {static} of static shared memory" if static else ""
        raise SpecError(
            f"{PROVIDER}: dynamic_smem_bytes: expected at most {limit - static}{beside}, as no GPU "
            f"that runs {', '.join(architectures)} has more for a block, but got {shared}"
        )


def _check_cluster(kernel: Kernel, architectures: Sequence[str], cluster: Sizes) -> None:
    numbers = [int(found[1]) for a in architectures if (found := re.search(r"_(\d+)", a))]
    if numbers and max(numbers) < _FIRST_WITH_CLUSTERS:
        raise SpecError(
            f"{PROVIDER}: cluster: expected an image for sm_{_FIRST_WITH_CLUSTERS} or later, but "
            f"it is for {', '.join(architectures)}, which have no clusters"
        )
    blocks = product(cluster)
    if blocks is None:
        return
    _check_compiled(kernel, "cluster", kernel.cluster, cluster)
    most = kernel.max_cluster_rank or driver.MAX_CLUSTER
    if blocks > most:
        raise SpecError(
            f"{PROVIDER}: cluster: expected at most {most} blocks but got "
            f"{' x '.join(map(str, cluster))} = {blocks}"
        )


def _check_compiled(
    kernel: Kernel, what: str, compiled: tuple[int, int, int] | None, given: Sizes
) -> None:
    """Check a size that the kernel may have been compiled for."""
    full = (*given, 1, 1)[:3]
    if compiled is not None and full != compiled:
        raise SpecError(
            f"{PROVIDER}: {what}: expected {compiled}, which the kernel {kernel.name!r} was "
            f"compiled for, but got {full}"
        )


def _checked_flags(attributes: object) -> tuple[str, ...]:
    if isinstance(attributes, str) or not isinstance(attributes, Sequence):
        raise SpecError(f"{PROVIDER}: attributes: expected a list of names but got {attributes!r}")
    names = cast("Sequence[object]", attributes)
    for name in names:
        if not isinstance(name, str) or name not in driver.FLAGS:
            known = ", ".join(driver.FLAGS)
            raise SpecError(f"{PROVIDER}: attributes: expected {known} but got {name!r}")
    return tuple(name for name in driver.FLAGS if name in names)


def check_entries(
    kernel: Kernel, args: Sequence[LaunchEntry] | None, *, tensors_are_pointers: bool
) -> None:
    """Compare entries with the kernel's parameters, up to one that may be several parameters.

    Raises:
        SpecError: if an entry does not fit, or if there are too many.
    """
    if args is None or kernel.parameters is None:
        return
    parameters = [parameter for parameter in kernel.parameters if parameter.size]
    for index, entry in enumerate(args):
        if not _is_one(entry):
            return
        if index == len(parameters):
            raise SpecError(
                f"{PROVIDER}: args: expected {len(parameters)} entries, one for each parameter of "
                f"the kernel {kernel}, but got {len(args)}"
            )
        size = _size(entry, tensors_are_pointers=tensors_are_pointers)
        if size not in (None, parameters[index].size):
            raise SpecError(
                f"{PROVIDER}: args[{index}]: expected {parameters[index]} for parameter #{index} "
                f"of the kernel {kernel}, but got {entry!r}, of {size} bytes"
            )


def _is_one(entry: LaunchEntry) -> bool:
    """Return whether an entry is certainly a single parameter."""
    single = (int, spec.Var, spec.Expr, spec.Data, spec.Tensor, spec.DataPointer, Scalar, Pointee)
    return isinstance(entry, single)


def _size(entry: LaunchEntry, *, tensors_are_pointers: bool) -> int | None:
    """Return the size in bytes, or None if it depends on the kernel."""
    match entry:
        case Scalar(dtype=dtype) | spec.Var(dtype=dtype):
            return SCALAR_SIZES[dtype]
        case Pointee(size=size):
            return size
        case spec.Data() | spec.DataPointer():
            return _POINTER_SIZE
        case spec.Tensor() if tensors_are_pointers:
            return _POINTER_SIZE
        case _:
            return None
