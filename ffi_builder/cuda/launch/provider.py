"""``CudaLaunchCallProvider``: its options, their checks when it is made, and its call."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, field
from typing import ClassVar, Final, get_args

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.cuda.images import Kernel, kernels
from ffi_builder.cuda.launch import dimensions, driver
from ffi_builder.cuda.launch.arguments import kernel_arguments
from ffi_builder.cuda.launch.attributes import (
    Attribute,
    Attributes,
    check_portable,
    check_preferred,
    checked_attributes,
    emit_attribute,
    emit_preferred,
)
from ffi_builder.cuda.launch.dimensions import Launch, OneSize, Size, Sizes
from ffi_builder.cuda.launch.entries import PROVIDER, LaunchEntry
from ffi_builder.cuda.launch.launching import Launcher, fitted
from ffi_builder.cuda.launch.states import Source, define_states
from ffi_builder.cuda.launch.streams import StreamChoice, find_place
from ffi_builder.cuda.launch.vendor import CUDA, Vendor
from ffi_builder.extending import dataclass, value_results
from ffi_builder.ir import Block, Value
from ffi_builder.providers import CallContext

_FIRST_WITH_CLUSTERS = 90
SHARED: Final = "dynamic_smem_bytes"


@dataclass(frozen=True)
class KnownLaunch:
    """Everything that is known before the provider is attached.

    Each size is an int that some GPU allows, an expression, or the text of one.
    """

    kernel: Kernel
    source: Source
    grid: Sizes
    block: Sizes
    cluster: Sizes | None
    shared: OneSize
    attributes: tuple[Attribute, ...]


def check_choices(vendor: Vendor, args: object, stream: object) -> None:
    """Check that ``args=`` is a list, and that ``stream=`` can be a stream.

    Raises:
        SpecError: if either is not.
    """
    if args is not None and (isinstance(args, str) or not isinstance(args, Sequence)):
        raise SpecError(f"{vendor.provider}: args= is {args!r}; expected a list, such as ['x']")
    if isinstance(stream, int) and not isinstance(stream, bool):
        fits = 0 <= stream < driver.SPECIAL_STREAMS
    else:
        fits = stream is None or isinstance(stream, (str, *get_args(spec.Param)))
    if not fits:
        raise SpecError(
            f"{vendor.provider}: stream: expected a parameter or its name, "
            f"{vendor.special_streams} but got {stream!r}"
        )


def check_launch(known: KnownLaunch) -> None:
    """Check the launch against the kernel.

    Raises:
        SpecError: if the kernel or its architectures do not allow the launch.
    """
    kernel, architectures = known.kernel, known.source.architectures
    check_block(CUDA, kernel, known.block)
    _check_shared(kernel, architectures, known.shared)
    if known.cluster is not None:
        _check_cluster(kernel, architectures, known.cluster)
    check_preferred(known.attributes, known.grid, known.cluster or kernel.cluster)
    cluster = known.cluster or kernel.cluster or ()
    check_portable(known.attributes, dimensions.product(cluster))
    for axis, blocks, size in zip("xyz", known.grid, cluster, strict=False):
        if isinstance(blocks, int) and isinstance(size, int) and blocks % size:
            raise SpecError(
                f"{PROVIDER}: grid.{axis}: expected a multiple of cluster.{axis}, {size}, but got "
                f"{blocks}"
            )


def check_block(vendor: Vendor, kernel: Kernel, block: Sizes) -> None:
    """Check a block against the kernel, as far as it is known.

    Raises:
        SpecError: if the kernel allows no such block.
    """
    _check_compiled(vendor, kernel, "block", kernel.block, block)
    threads = dimensions.product(block)
    if threads is None:
        return
    most = vendor.max_threads if kernel.max_threads is None else kernel.max_threads
    if threads > most:
        whose = f"the kernel {kernel.name!r} was compiled for" if kernel.max_threads else "there is"
        raise SpecError(
            f"{vendor.provider}: block: expected at most {most} threads, the most that {whose}, "
            f"but got {' x '.join(map(str, block))} = {threads}"
        )


def _check_shared(kernel: Kernel, architectures: Sequence[str], shared: OneSize) -> None:
    majors = [int(match[1]) for a in architectures if (match := re.match(r"sm_(\d+)\d", a))]
    most = [driver.MAX_SHARED_KIB.get(major) for major in majors]
    # PTX also runs on later GPUs, whose limits are unknown.
    if not isinstance(shared, int) or len(most) < len(architectures) or None in most or not most:
        return
    limit = max(size for size in most if size is not None) << 10
    check_shared(CUDA, kernel, architectures, shared, limit)


def check_shared(
    vendor: Vendor,
    kernel: Kernel,
    architectures: Sequence[str],
    shared: int,
    limit: int,
    words: tuple[str, str] = ("shared memory", "more"),
) -> None:
    """Require that static and dynamic shared memory of a block are within a limit."""
    name, more = words
    static = kernel.static_shared_bytes or 0
    if shared + static > limit:
        beside = f" beside the kernel's {static} of static {name}" if static else ""
        raise SpecError(
            f"{vendor.provider}: {SHARED}: expected at most {limit - static}{beside}, as no GPU "
            f"that runs {', '.join(architectures)} has {more} for a block, but got {shared}"
        )


def _check_cluster(kernel: Kernel, architectures: Sequence[str], cluster: Sizes) -> None:
    numbers = [int(match[1]) for a in architectures if (match := re.search(r"_(\d+)", a))]
    if numbers and max(numbers) < _FIRST_WITH_CLUSTERS:
        raise SpecError(
            f"{PROVIDER}: cluster: expected an image for sm_{_FIRST_WITH_CLUSTERS} or later, but "
            f"it is for {', '.join(architectures)}, which have no clusters"
        )
    blocks = dimensions.product(cluster)
    if blocks is None:
        return
    _check_compiled(CUDA, kernel, "cluster", kernel.cluster, cluster)
    most = kernel.max_cluster_rank or driver.MAX_CLUSTER
    if blocks > most:
        raise SpecError(
            f"{PROVIDER}: cluster: expected at most {most} blocks but got "
            f"{' x '.join(map(str, cluster))} = {blocks}"
        )


def _check_compiled(
    vendor: Vendor, kernel: Kernel, what: str, compiled: tuple[int, int, int] | None, given: Sizes
) -> None:
    """Check a size that the kernel may have been compiled for, as far as it is known."""
    full = (*given, 1, 1)[:3]
    pairs = zip(full, compiled or (), strict=False)
    if any(isinstance(size, int) and size != wanted for size, wanted in pairs):
        raise SpecError(
            f"{vendor.provider}: {what}: expected {compiled}, which the kernel {kernel.name!r} was "
            f"compiled for, but got {full}"
        )


_PTX_END: Final = b"\0"


@dataclass(frozen=True)
class CudaLaunchCallProvider:
    """Launches a CUDA kernel of an image, which becomes part of the module.

    A GPU and a driver are needed at the first call, not before. That call loads the image and keeps
    it for all later ones. A launch is asynchronous, on the signature's stream; docs/cuda.md
    explains streams, devices, graphs, errors and unloading.

    Args:
        image: a cubin, a fatbin or PTX.
        kernel: the kernel's name in the image: for C++ without ``extern "C"`` the mangled name.
        grid: blocks in x, y and z: up to three ints or expressions over the signature's Vars, also
            as texts, ``"ceildiv(n, 128)"``. If any is 0, a call does nothing.
        block: threads of a block, likewise.
        args: the values of the kernel's parameters, in order: entries as for the other providers,
            and classes of :mod:`ffi_builder.cuda.launch.entries`. If left out, all parameters
            except streams and constants; a tensor is passed as its data pointer.
        cluster: blocks of a cluster in x, y and z, likewise.
        dynamic_smem_bytes: dynamic shared memory of a block in bytes: an int or an expression.
        attributes: the names of flags, such as ``["cooperative"]``, or a dict with a value for each
            name, such as ``{"priority": -1}``; docs/cuda.md has all.
        stream: the Stream or EnvStream to launch on, or its name; 0, 1 or 2 for the NULL, legacy
            and per-thread stream. If left out, the only stream of the signature. If the signature
            has none, the stream that tvm-ffi knows as current on the device of the first CUDA
            tensor (for PyTorch tensors, PyTorch's current stream); without a CUDA tensor, the NULL
            stream.

    Raises:
        SpecError: if the image cannot be read or has no such kernel, if no GPU allows such a launch
            or this kernel does not, or if ``args`` is not a list or ``stream`` cannot be a stream.
        TypeError: if the image is neither bytes nor str, or the kernel's name is not a str.
        BuildError: when attached, if the signature does not have an entry of ``args``, or does not
            fit the kernel's parameters; the message shows both sides.

    Examples:
        MLIR compiles a kernel to PTX, and a wrapper launches it:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, cuda, runtime, spec
        >>> from ffi_builder.providers import CudaLaunchCallProvider
        >>> KERNEL = '''
        ... gpu.module @kernels {
        ...   gpu.func @fill(%x: !llvm.ptr, %value: f32) kernel {
        ...     %thread = gpu.global_id x
        ...     %i = arith.index_cast %thread : index to i64
        ...     %at = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        ...     llvm.store %value, %at : f32, !llvm.ptr
        ...     gpu.return
        ...   }
        ... }'''
        >>> ptx = cuda.lower_to_ptx(KERNEL, arch="sm_90")
        >>> n = spec.Var("n", "int64", divisibility=128)
        >>> x = spec.Tensor("x", [n], "float32", device_type="cuda")
        >>> fill = spec.Signature("fill", [x, spec.Var("value", "float32")])
        >>> provider = CudaLaunchCallProvider(ptx, "fill", grid=n // 128, block=128)
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, fill, provider)
        >>> compiled = runtime.compile(module)

        Needs PyTorch and a GPU of sm_90 or later:

        >>> import torch
        >>> y = torch.empty(256, device="cuda")
        >>> compiled["fill"](y, 2.0)
        >>> y.sum().item()
        512.0
    """

    image: bytes | str = field(repr=False)
    kernel: str
    _: KW_ONLY
    grid: Size
    block: Size
    args: Sequence[LaunchEntry] | None = None
    cluster: Size | None = None
    dynamic_smem_bytes: OneSize = 0
    attributes: Attributes = ()
    stream: StreamChoice = None
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True
    _known: KnownLaunch = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        image = kernels(self.image)
        kernel = image[self.kernel]
        raw = self.image.encode() if isinstance(self.image, str) else bytes(self.image)
        if image.format == "ptx":
            raw = raw.rstrip(b"\0") + _PTX_END
        clusters, cluster = (driver.MAX_CLUSTER,) * 3, self.cluster
        known = KnownLaunch(
            kernel,
            Source(raw, image.architectures, self.kernel, kernel.architectures),
            dimensions.checked_sizes(f"{PROVIDER}: grid", self.grid, 0, driver.MAX_GRID),
            dimensions.checked_sizes(f"{PROVIDER}: block", self.block, 1, driver.MAX_BLOCK),
            None
            if cluster is None
            else dimensions.checked_sizes(f"{PROVIDER}: cluster", cluster, 1, clusters),
            dimensions.checked_size(
                f"{PROVIDER}: {SHARED}", self.dynamic_smem_bytes, 0, driver.MAX_INT
            ),
            checked_attributes(self.attributes),
        )
        check_choices(CUDA, self.args, self.stream)
        check_launch(known)
        object.__setattr__(self, "_known", known)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the launch, and define the symbols that it needs and the module lacks."""
        b, known = context.builder, self._known
        check_results(CUDA, context)
        arguments = kernel_arguments(
            context, CUDA, self.args, self.tensor_members, by_tiles=known.kernel.tile
        )
        arguments = fitted(context, CUDA, known.kernel, arguments)
        launch = _launch(context, known)
        place = find_place(context, CUDA, self.stream)
        states = define_states(b, known.source, launch.may_need)
        launcher = Launcher(b, states, place, launch, context.status_wanted)
        context.returned = launcher.emit(arguments)
        return b.block

    def tensor_members(self, context: CallContext, tensor: spec.Tensor) -> Sequence[Value]:
        """Return the members of a tensor's struct, or the single value that is passed."""
        return [context.data(tensor)]


def _launch(context: CallContext, known: KnownLaunch) -> Launch:
    """Emit the sizes of the launch."""
    source = known.source
    static, words = known.kernel.static_shared_bytes, driver.WORDS
    grid = dimensions.emit_dimensions(context, source, "grid", known.grid, 0, driver.MAX_GRID)
    block = dimensions.emit_dimensions(context, source, "block", known.block, 1, words)
    cluster = None
    if known.cluster is not None:
        cluster = dimensions.emit_dimensions(context, source, "cluster", known.cluster, 1, words)
    regular = (known.kernel.cluster or (1, 1, 1)) if cluster is None else cluster.values
    emit_preferred(context, source, known.attributes, grid.values, regular)
    return Launch(
        grid,
        block,
        cluster,
        math.prod(known.kernel.cluster or ()),
        dimensions.emit_size(context, source, SHARED, known.shared, 0, driver.MAX_INT),
        0 if static is None else max(driver.SHARED_WITHOUT_ASKING - static, 0),
        [emit_attribute(context, source, each) for each in known.attributes],
    )


def check_results(vendor: Vendor, context: CallContext) -> None:
    """Check that the signature returns no numbers.

    Raises:
        BuildError: it does.
    """
    scalars = [result.name for result in value_results(context)]
    if scalars:
        raise BuildError(
            f"{vendor.provider}: {context.fn_name!r} returns {', '.join(scalars)}, but a kernel "
            f"returns no numbers: it still runs when the call returns; return a Tensor that it "
            f"writes to"
        )
