"""What a kernel that Triton compiled is launched with, beside its image.

Triton runs 32 threads for each warp, and 64 for one that is a wave of some AMD GPUs. A tensor
descriptor of its caller is a tensor map, and for GPUs without them a pointer with sizes and
strides; the sizes and strides follow. Triton appends a pointer to scratch memory for each size of
it in the metadata. docs/cuda-tools.md has the table of Triton's terms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, cast

from ffi_builder import BuildError, SpecError, spec
from ffi_builder.cuda.launch import driver
from ffi_builder.cuda.launch.dimensions import Sizes, checked_sizes
from ffi_builder.cuda.launch.entries import PROVIDER, Axes
from ffi_builder.cuda.launch.maps import TensorMap
from ffi_builder.cuda.launch.options import Launch
from ffi_builder.cuda.tools.triton import (
    Descriptor,
    descriptor,
    device_of,
    signature_known,
    small_memory,
)
from ffi_builder.extending import parse_dtype
from ffi_builder.wrapping.c_types import CType, Prototype
from ffi_builder.wrapping.calls import bound, listed, symbols, with_alignments, with_conditions

if TYPE_CHECKING:
    from ffi_builder.cuda.launch.entries import LaunchEntry

_WARP: Final = 32
_SCRATCH: Final = (
    ("global_scratch", "global_scratch_size", "global_scratch_align", False),
    ("profile_scratch", "profile_scratch_size", "profile_scratch_align", True),
)
"""The kinds of scratch memory, in the order of their pointers: the name here, those of size and
alignment in the metadata, and whether Triton fills it with zeros."""
_LAUNCHERS: Final = (spec.Stream, spec.EnvStream)
_DRIVERS_TYPE: Final = {8: 10, 9: 8, 10: 9}
"""The driver's numbers of element types that have another one in Triton's metadata."""
_MOST_BYTES: Final = 2**31 - 1
_PROMOTION: Final = "128B"
"""How much of a line Triton's launcher lets maps load into the L2 cache."""


def launched(metadata: Any, launch: Launch) -> Launch:
    """Add the values in Triton's metadata to a launch, and count its grid in blocks.

    Raises:
        TypeError: the launch has it already.
    """
    given = [
        field.name
        for field in fields(launch)
        if field.name not in ("grid", "stream") and getattr(launch, field.name) != field.default
    ]
    if given:
        raise TypeError(f"wrap: Triton's metadata say {', '.join(given)}: leave it out of launch=")
    attributes = {
        "cooperative": getattr(metadata, "launch_cooperative_grid", False),
        "programmatic_stream_serialization": getattr(metadata, "launch_pdl", False),
    }
    blocks = getattr(metadata, "num_ctas", 1)
    return replace(
        launch,
        grid=_blocks(metadata, launch),
        block=getattr(metadata, "warp_size", _WARP) * metadata.num_warps,
        cluster=None if blocks == 1 else blocks,
        dynamic_smem_bytes=metadata.shared,
        attributes=[name for name, is_wanted in attributes.items() if is_wanted],
    )


def checked(
    compiled: Any,
    signature: spec.Signature,
    args: Sequence[LaunchEntry] | Mapping[str, LaunchEntry] | None,
    launch: Launch,
    elsewhere: str = "",
) -> tuple[spec.Signature, list[LaunchEntry]]:
    """Return a signature that checks what Triton relies on, and what the kernel gets.

    What has a name in the text ``elsewhere`` need not reach the kernel.

    Triton's names, types and divisibilities are those of a prototype. Scratch memory is a Workspace
    of the signature, and where the kernel needs none, NULL.

    Raises:
        BuildError: the signature contradicts the types.
        SpecError: the signature cannot have a Workspace.
    """
    metadata = compiled.metadata
    if hasattr(compiled, "src"):
        known = signature_known(compiled)
        types = [
            (p.name, CType(p.dtypes[0], is_pointer=True))
            if isinstance(p, spec.Tensor)
            else (p.name, CType(cast("spec.Var", p).dtype))
            for p in known.params
        ]
        declared = Prototype(metadata.name, tuple(types), None)
        kinds = [kind for kind in compiled.src.signature.values() if kind != "constexpr"]
        described = [descriptor(kind) for kind in kinds]
        given = None if args is None else listed(declared, signature, cast("Any", args))
        if given and len(given) > len(types) and {*map(type, given[len(types) :])} == {type(None)}:
            raise BuildError(
                f"wrap: Triton's kernel {metadata.name!r} takes {len(types)} arguments, but args= "
                f"has None behind them: leave it out, as scratch memory is passed without it"
            )
        args = _with_data(known, signature, cast("Any", given), described)
        sizes = " ".join(f"{getattr(launch, field.name)}" for field in fields(launch))
        signature, bound_args, _ = bound(
            declared, signature, cast("Any", args), _LAUNCHERS, f"{sizes} {elsewhere}"
        )
        args = _inner(signature) if bound_args is None else list(bound_args)
        conditions, alignments = _promised(known, signature, args)
        conditions += dict.fromkeys(_ends_within(known, signature, args, small_memory(compiled)))
        signature = with_conditions(with_alignments(signature, alignments), conditions)
        args = [*_described(compiled, known, args, described)]
    if args is None:
        args = _inner(signature)
    scratch = [*_scratch(compiled, signature, launch)]
    needed = [each for each in scratch if each is not None]
    try:
        signature = replace(signature, params=[*signature.params, *needed])
    except SpecError as error:
        words = f"wrap: Triton's kernel {metadata.name!r} needs scratch memory. {error}"
        raise SpecError(words) from None
    return signature, [*args, *(each and each.name for each in scratch)]


def constants(compiled: Any, signature: spec.Signature) -> Iterator[tuple[str, object]]:
    """Yield the parameters and sizes that the kernel was compiled with as constants."""
    source: Any = getattr(compiled, "src", None)
    kinds: Mapping[str, object] = {} if source is None else source.signature
    names = {*symbols(signature), *(param.name for param in signature.params)}
    for index, (name, kind) in enumerate(kinds.items()):
        if kind == "constexpr" and name in names:
            yield name, getattr(source, "constants", {}).get((index,))


def _inner(signature: spec.Signature) -> list[LaunchEntry]:
    """Return what the kernel gets by position."""
    inner = [p for p in signature.params if not isinstance(spec.required(p), _LAUNCHERS)]
    return [*inner, *signature.result_tensors]


def entries_of(
    known: spec.Signature,
    signature: spec.Signature,
    args: Sequence[LaunchEntry] | Mapping[str, LaunchEntry] | None,
) -> tuple[Sequence[LaunchEntry], Sequence[LaunchEntry] | Mapping[str, LaunchEntry] | None]:
    """Return what each of Triton's arguments gets, and ``args``, in which positions are names."""
    own = [param.name for param in known.params]
    if args is None and not {*own} & {
        *(each.name for each in signature.params),
        *symbols(signature),
    }:
        args = [each.name for each in cast("list[spec.Param]", _inner(signature))]
    if isinstance(args, Mapping):
        return [args.get(each, each) for each in own], args
    return own if args is None else args, args


def _described(
    compiled: Any,
    known: spec.Signature,
    args: Sequence[LaunchEntry],
    described: Sequence[Descriptor | None],
) -> Iterator[LaunchEntry]:
    """Yield ``args``, with all that the kernel gets for each tensor descriptor.

    An entry that is a TensorMap stays.

    Raises:
        BuildError: the metadata do not have the whole descriptor.
    """
    metadata = compiled.metadata
    maps = iter(getattr(metadata, "tensordesc_meta", None) or ())
    for param, entry, form in zip(known.params, args, described, strict=True):
        if form is None:
            yield entry
            continue
        facts = next(maps, None)
        if facts is not None and device_of(compiled) == "rocm":
            raise BuildError(
                f"wrap: {param.name!r} of Triton's kernel {metadata.name!r} is a descriptor of "
                f"AMD's tensor data mover, which is not made here: compile the kernel with pointers"
            )
        tensor: Any = entry.tensor if isinstance(entry, TensorMap) else entry
        if facts is None:  # the last two: whether to fill with NaN, and to round to tf32
            is_map = isinstance(entry, TensorMap)
            fills = int(is_map and entry.oob_fill == "nan")
            rounds = int(is_map and entry.dtype == "tfloat32")
            yield from (tensor, Axes(tensor), fills, rounds)
        elif isinstance(entry, TensorMap):
            yield entry
        elif form.im2col:
            raise BuildError(
                f"wrap: {param.name!r} of Triton's kernel {metadata.name!r} is an im2col "
                f"descriptor, whose corners are not in the metadata: write it in args= as "
                f"TensorMap({param.name!r}, corners=…, pixels=…, channels=…, …)"
            )
        else:
            kind = facts["elem_type"]
            yield TensorMap(
                tensor,
                box=facts["block_size"],
                swizzle=facts["swizzle"],
                l2_promotion=_PROMOTION,
                dtype=_DRIVERS_TYPE.get(kind, kind),
            )
        yield Axes(tensor)


def _scratch(
    compiled: Any, signature: spec.Signature, launch: Launch
) -> Iterator[spec.Workspace | None]:
    """Yield the memory behind each pointer to scratch memory: a size for each block of the grid."""
    metadata = compiled.metadata
    taken = {*dict(spec.with_paths(signature.params)), *symbols(signature)}
    for own, size_name, align_name, zero in _SCRATCH:
        if not hasattr(metadata, size_name):
            continue
        size = getattr(metadata, size_name)
        while own in taken:
            own += "_"
        yield (
            spec.Workspace(
                own,
                [*_counted(metadata, signature, launch), size],
                "uint8",
                device_type=device_of(compiled),
                data_alignment=getattr(metadata, align_name),
                zero=zero,
            )
            if size
            else None
        )


def _blocks(metadata: Any, launch: Launch) -> Sizes:
    """Return the grid in blocks. As in Triton, the launch counts programs: clusters of blocks."""
    x, *rest = checked_sizes(f"{PROVIDER}: grid", launch.grid, 0, driver.MAX_GRID)
    blocks = getattr(metadata, "num_ctas", 1)
    if blocks != 1:
        x = f"({x}) * {blocks}" if isinstance(x, str) else x * blocks
    return (x, *rest)


def _counted(metadata: Any, signature: spec.Signature, launch: Launch) -> Iterator[spec.Dim]:
    """Yield the grid in blocks, with texts as expressions."""
    numbers = [param for param in signature.params if isinstance(param, spec.Var)]
    for size in _blocks(metadata, launch):
        if not isinstance(size, str):
            yield size
            continue
        try:
            yield spec.expression(size, [*numbers, *symbols(signature).values()])
        except SpecError as error:
            raise BuildError(f"wrap: launch=: grid: {error}") from None


def _with_data(
    known: spec.Signature,
    signature: spec.Signature,
    args: Sequence[LaunchEntry] | None,
    described: Sequence[Descriptor | None],
) -> Sequence[LaunchEntry] | None:
    """Return ``args`` with ``x.data`` for each tensor of any rank, which has no other pointer.

    Raises:
        BuildError: the kernel gets a descriptor of such a tensor.
    """
    params = {param.name: spec.required(param) for param in signature.params}
    any_rank = {n for n, p in params.items() if isinstance(p, spec.Tensor) and p.any_rank}
    if not any_rank:
        return args
    if args is None:
        args = [param.name for param in known.params]
        if not {*args} <= {*params, *symbols(signature)}:
            args = [param.name for param in cast("list[spec.Param]", _inner(signature))]
    names = [getattr(entry, "name", entry) for entry in args]
    for name, form in zip(names, described, strict=False):
        if form is not None and name in any_rank:
            raise BuildError(
                f"wrap: Triton's kernel gets a tensor descriptor of {name!r}, which may have any "
                f"rank: declare {form.ndim} sizes, or None for each"
            )
    return [f"{n}.data" if n in any_rank else e for n, e in zip(names, args, strict=True)]


def _promised(
    known: spec.Signature, signature: spec.Signature, args: Sequence[LaunchEntry]
) -> tuple[list[str], dict[str, int]]:
    """Return what Triton relies on, of arguments that are passed by their names.

    These are conditions, and the alignments of tensors. What the signature says already is left
    out.
    """
    params = {each.name: each for each in (*signature.params, *signature.result_tensors)}
    said = params | symbols(signature)
    conditions, alignments = list[str](), dict[str, int]()
    for param, entry in zip(known.params, args, strict=False):
        whole = entry.tensor if isinstance(entry, TensorMap) else entry
        name = getattr(whole, "name", whole)
        if not isinstance(name, str):
            continue
        if isinstance(param, spec.Tensor):
            name, promise = name.removesuffix(".data"), param.data_alignment or 1
            if (
                name.isidentifier()
                and (getattr(said.get(name), "data_alignment", None) or 1) % promise
            ):
                alignments[name] = promise
            continue
        promise = cast("spec.Var", param).divisibility or 1
        divisor = getattr(said.get(name), "divisibility", None) or 1
        if name.isidentifier() and divisor % promise:
            condition = f"{name} % {promise} == 0"
            if divisor > 1:
                raise BuildError(
                    f"wrap: Triton relies on {condition}, but the signature says that {name!r} is "
                    f"divisible by {divisor}: write {promise}"
                )
            conditions.append(condition)
    return conditions, alignments


def _ends_within(
    known: spec.Signature,
    signature: spec.Signature,
    args: Sequence[LaunchEntry],
    names: Sequence[str],
) -> Iterator[str]:
    """Yield a condition for the memory of each of these arguments: that it ends within 2 GiB.

    Raises:
        BuildError: the signature does not say how large one is, or says that it is larger.
    """
    tensors: dict[Any, spec.Param] = {
        each.name: each for each in (*signature.params, *signature.result_tensors)
    }
    for param, entry in zip(known.params, args, strict=False):
        if param.name not in names:
            continue
        name = getattr(entry, "name", entry)
        size = _size(spec.required(tensors[name])) if name in tensors else None
        if size is None or (isinstance(size, int) and size > _MOST_BYTES):
            raise BuildError(
                f"wrap: Triton relies on tt.pointer_range=32 of {param.name!r}: that its memory "
                f"ends within 2 GiB. Declare it as a contiguous Tensor of such sizes, or compile "
                f"the kernel without tt.pointer_range"
            )
        text = f"{size} <= {_MOST_BYTES}"
        if not isinstance(size, int) and text not in f"{signature.constraints}".split(", "):
            yield text


def _size(param: spec.Param) -> spec.Dim | None:
    """Return the bytes of a contiguous Tensor; None if they are not known."""
    if not isinstance(param, spec.Tensor) or param.any_rank or param.strides is not None:
        return None
    sizes = [each for each in param.dims if each is not None]
    if len(sizes) < param.ndim:
        return None
    return math.prod(cast("list[Any]", sizes), start=parse_dtype(param.dtypes[0]).total_bits // 8)
