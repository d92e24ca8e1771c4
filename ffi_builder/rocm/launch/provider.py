"""``RocmLaunchCallProvider``: its options, their checks when it is made, and its call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, field
from typing import ClassVar, Final, cast

from ffi_builder import SpecError, spec
from ffi_builder.cuda.images import Kernel
from ffi_builder.cuda.launch import dimensions, driver
from ffi_builder.cuda.launch.arguments import kernel_arguments
from ffi_builder.cuda.launch.attributes import checked_attributes, emit_attribute
from ffi_builder.cuda.launch.dimensions import Launch, OneSize, Size, Sizes
from ffi_builder.cuda.launch.entries import LaunchEntry, Struct, TensorMap
from ffi_builder.cuda.launch.launching import fitted
from ffi_builder.cuda.launch.provider import (
    SHARED,
    KnownLaunch,
    check_block,
    check_choices,
    check_results,
    check_shared,
)
from ffi_builder.cuda.launch.states import Source, define_states
from ffi_builder.cuda.launch.streams import StreamChoice, find_place
from ffi_builder.extending import dataclass
from ffi_builder.ir import Block, Value
from ffi_builder.providers import CallContext
from ffi_builder.rocm.images.read import kernels
from ffi_builder.rocm.launch import launching
from ffi_builder.rocm.launch.launching import Launcher
from ffi_builder.rocm.launch.vendor import LDS, LDS_OF_OTHERS, MOST_ITEMS, ROCM

PROVIDER: Final = ROCM.provider
_COOPERATIVE: Final = "cooperative"


@dataclass(frozen=True)
class RocmLaunchCallProvider:
    """Launches a kernel for AMD GPUs of an image, which becomes part of the module.

    A GPU and ROCm are needed at the first call, not before. The first call on each device loads
    the image there and keeps it for all later ones. A launch is asynchronous, on the signature's
    stream; docs/rocm.md explains what differs from CUDA, and docs/cuda.md the rest.

    Args:
        image: a code object or an offload bundle of Clang.
        kernel: the kernel's name in the image: for C++ without ``extern "C"`` the mangled name.
        grid: blocks in x, y and z, as for :class:`CudaLaunchCallProvider`.
        block: threads of a block, likewise.
        args: the values of the kernel's parameters, likewise, without tensor maps. Hidden
            parameters, which the runtime fills, are left out.
        dynamic_smem_bytes: dynamic LDS of a block in bytes: an int or an expression.
        attributes: ``["cooperative"]``, or nothing.
        stream: the Stream or EnvStream to launch on, or its name; 0, 1 or 2 for the NULL, legacy
            and per-thread stream. If left out, it is found as for :class:`CudaLaunchCallProvider`.

    Raises:
        SpecError: if the image cannot be read or has no such kernel, if no GPU allows such a launch
            or this kernel does not, or if ``args`` is not a list or ``stream`` cannot be a stream.
        TypeError: if the image is not bytes, or the kernel's name is not a str.
        BuildError: when attached, if the signature does not have an entry of ``args``, or does not
            fit the kernel's parameters; the message shows both sides.

    Examples:
        docs/rocm.md has a launch. What is wrong with an image is said when it is given:

        >>> from ffi_builder.providers import RocmLaunchCallProvider
        >>> RocmLaunchCallProvider(b".version 8.0", "saxpy", grid=1, block=256)
        Traceback (most recent call last):
        ...
        ffi_builder.errors.SpecError: image: expected an AMD code object or an offload bundle of
            Clang, but it starts with b'.version 8.0' (12 bytes)
    """

    image: bytes = field(repr=False)
    kernel: str
    _: KW_ONLY
    grid: Size
    block: Size
    args: Sequence[LaunchEntry] | None = None
    dynamic_smem_bytes: OneSize = 0
    attributes: Sequence[str] | Mapping[str, object] = ()
    stream: StreamChoice = None
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True
    _known: KnownLaunch = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        image = kernels(self.image)
        kernel = image[self.kernel]
        grid = dimensions.checked_sizes(f"{PROVIDER}: grid", self.grid, 0, ROCM.max_grid)
        block = dimensions.checked_sizes(f"{PROVIDER}: block", self.block, 1, ROCM.max_block)
        shared = dimensions.checked_size(
            f"{PROVIDER}: {SHARED}", self.dynamic_smem_bytes, 0, driver.MAX_INT
        )
        check_choices(ROCM, self.args, self.stream)
        _check_no_maps(self.args or ())
        _check_parameters(kernel)
        check_block(ROCM, kernel, block)
        _check_items(grid, block)
        _check_lds(kernel, image.architectures, shared)
        source = Source(
            bytes(self.image), image.architectures, self.kernel, kernel.architectures, ROCM
        )
        _check_cooperative(self.attributes)
        attributes = checked_attributes(self.attributes)
        known = KnownLaunch(kernel, source, grid, block, None, shared, attributes)
        object.__setattr__(self, "_known", known)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the launch, and define the symbols that it needs and the module lacks."""
        b, known = context.builder, self._known
        check_results(ROCM, context)
        arguments = kernel_arguments(context, ROCM, self.args, self.tensor_members)
        arguments = fitted(context, ROCM, known.kernel, arguments)
        launch = _launch(context, known)
        launching.check_block(b, known.source, launch, known.kernel.block)
        launching.check_items(b, known.source, launch)
        place = find_place(context, ROCM, self.stream)
        states = define_states(b, known.source, needs=0)
        launcher = Launcher(b, states, place, launch, context.status_wanted)
        context.returned = launcher.emit(arguments)
        return b.block

    def tensor_members(self, context: CallContext, tensor: spec.Tensor) -> Sequence[Value]:
        """Return the members of a tensor's struct, or the single value that is passed."""
        return [context.data(tensor)]


def _launch(context: CallContext, known: KnownLaunch) -> Launch:
    """Emit the sizes of the launch."""
    source = known.source
    return Launch(
        dimensions.emit_dimensions(context, source, "grid", known.grid, 0, ROCM.max_grid),
        dimensions.emit_dimensions(context, source, "block", known.block, 1, ROCM.max_block),
        cluster=None,
        compiled_cluster=1,
        shared=dimensions.emit_size(context, source, SHARED, known.shared, 0, driver.MAX_INT),
        threshold=driver.MAX_INT,
        attributes=[emit_attribute(context, source, each) for each in known.attributes],
    )


def _check_cooperative(attributes: object) -> None:
    """Refuse other attributes than ``cooperative``, and what is no list or dict."""
    if isinstance(attributes, str) or not isinstance(attributes, (Sequence, Mapping)):
        raise SpecError(
            f"{PROVIDER}: attributes: expected ['{_COOPERATIVE}'] or nothing but got {attributes!r}"
        )
    pairs = (
        cast("Mapping[object, object]", attributes)
        if isinstance(attributes, Mapping)
        else dict.fromkeys(cast("Sequence[object]", attributes), True)
    )
    for name, value in pairs.items():
        if name != _COOPERATIVE:
            raise SpecError(
                f"{PROVIDER}: attributes: expected {_COOPERATIVE!r} but got {name!r}: launches on "
                f"AMD's GPUs have no other attribute"
            )
        if not isinstance(value, bool):
            raise SpecError(
                f"{PROVIDER}: attributes: {name}: expected True or False but got {value!r}"
            )


def _check_no_maps(args: Sequence[LaunchEntry]) -> None:
    for entry in args:
        if isinstance(entry, TensorMap):
            raise SpecError(
                f"{PROVIDER}: args= has {entry}, and AMD's GPUs have no tensor maps; pass the "
                f"tensor, and its sizes and strides"
            )
        if isinstance(entry, Struct):
            _check_no_maps(entry.members)


def _check_parameters(kernel: Kernel) -> None:
    """Refuse parameters that no launch passes."""
    for each in kernel.parameters or ():
        if each.kind not in (None, "by_value", "global_buffer"):
            raise SpecError(
                f"{PROVIDER}: parameter #{each.index} of the kernel {kernel.name!r} is a "
                f"{each.kind}, which HIP cannot pass: compile the kernel with pointers and values "
                f"alone (dynamic LDS as an extern __shared__ array)"
            )


def _check_items(grid: Sizes, block: Sizes) -> None:
    for axis, blocks, threads in zip("xyz", grid, block, strict=False):
        if isinstance(blocks, int) and isinstance(threads, int) and blocks * threads > MOST_ITEMS:
            raise SpecError(
                f"{PROVIDER}: grid.{axis} * block.{axis}: expected at most {MOST_ITEMS}, as many "
                f"threads as a grid has in an axis, but got {blocks} * {threads}"
            )


def _check_lds(kernel: Kernel, targets: Sequence[str], shared: OneSize) -> None:
    if not isinstance(shared, int):
        return
    numbers = [int(match[1], 16) for t in targets if (match := re.match(r"gfx([\da-f]+)", t))]
    limit = max([LDS.get(number, LDS_OF_OTHERS) for number in numbers], default=LDS_OF_OTHERS)
    if len(numbers) == len(targets):
        check_shared(ROCM, kernel, targets, shared, limit, ("LDS", "more LDS"))
