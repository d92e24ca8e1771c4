"""Makes the signature of a kernel that Triton has compiled.

It reads public attributes of Triton's objects, so it does not import Triton::

    source.signature == {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source.attrs == {(0,): [["tt.divisibility", 16]]}
    compiled.metadata.target == GPUTarget("hip", "gfx942", 64)      # of what is compiled
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ffi_builder import BuildError, spec
from ffi_builder.extending import dataclass

_DTYPES: Final = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"fp{bits}": f"float{bits}" for bits in (16, 32, 64)},
    "bf16": "bfloat16",
    "i1": "bool",
    "u1": "bool",
    "fp8e4nv": "float8_e4m3fn",
    "fp8e5": "float8_e5m2",
    "fp8e4b8": "float8_e4m3fnuz",
    "fp8e5b16": "float8_e5m2fnuz",
}
"""The dtypes of the types of Triton 3.9. DLPack has no dtype for ``fp8e4b15``."""
_NO_SCALARS: Final = "fp8"
_DIVISIBILITY: Final = "tt.divisibility"
_RANGE: Final = "tt.pointer_range"
"""With 32, the memory behind a pointer ends within 2 GiB. Triton relies on it for AMD's GPUs."""
_DESCRIPTOR: Final = re.compile(r"tensordesc(_im2col)?<(\w+)\[([\d, ]*)\](?:,input_rank=(\d+))?.*>")
_ALIGNMENT: Final = 16
"""Bytes to which Triton wants the data of a tensor descriptor aligned."""


def triton_signature(compiled: Any, *, name: str | None = None) -> spec.Signature:
    """Return what Triton knows of a kernel's arguments: names, dtypes, and its assumptions.

    A pointer becomes a Tensor on a CUDA device, and on ROCm's if the kernel was compiled for
    ``hip``; of any rank, shape and strides, since Triton knows no more about it. A tensor
    descriptor becomes a Tensor of its rank, whose innermost stride is 1. A number becomes a Var. A
    ``tt.divisibility`` of 16, which Triton assumes, becomes the ``data_alignment`` of the Tensor in
    bytes, or the ``divisibility`` of the Var, so that wrappers check it. Constexprs are part of the
    kernel, and left out. :meth:`~ffi_builder.spec.Signature.with_params` adds shapes.

    Args:
        compiled: a ``CompiledKernel`` (``triton.compile(…)``), or the ``ASTSource`` that is
            compiled.
        name: the name of the signature; by default that of the kernel.

    Raises:
        BuildError: ``compiled`` is neither, an argument has a type that no parameter has, or
            Triton assumes something about an argument that wrappers cannot check.
        SpecError: a name is not an identifier.

    Examples:
        Needs Triton:

        >>> import triton
        >>> import triton.language as tl
        >>> from triton.compiler import ASTSource
        >>> from ffi_builder import cuda
        >>> @triton.jit
        ... def relu(x, y, n, BLOCK: tl.constexpr):
        ...     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        ...     tl.store(y + at, tl.maximum(tl.load(x + at, at < n), 0), at < n)
        >>> types = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        >>> promises = {(0,): [["tt.divisibility", 16]], (2,): [["tt.divisibility", 16]]}
        >>> known = cuda.triton_signature(ASTSource(relu, types, {"BLOCK": 128}, promises))
        >>> print(known)
        relu(x: Tensor(..., float32, strides=any, device_type=cuda, data_alignment=16),
            y: Tensor(..., float32, strides=any, device_type=cuda), n: int32) where n % 16 == 0
        >>> shape = {"shape": [known.params[2]], "strides": None}
        >>> print(known.with_params(x=shape, y=shape).canonical(device="cuda"))
        relu(x: Tensor([n], float32, data_alignment=16), y: Tensor([n], float32), n: int32)
            where n % 16 == 0
    """
    known = signature_known(compiled, name)
    for argument in small_memory(compiled):
        raise BuildError(
            f"triton_signature: Triton relies on {_RANGE}=32 of argument {argument!r}: that its "
            "memory ends within 2 GiB, which a tensor of any shape does not say. Give `wrap` a "
            f"signature with shapes, which it checks, or compile the kernel without {_RANGE}"
        )
    return known


def small_memory(compiled: Any) -> list[str]:
    """Return the arguments whose memory has to end within 2 GiB, as AMD's buffer operations do."""
    source = getattr(compiled, "src", compiled)
    return [
        argument
        for index, argument in enumerate(source.signature)
        if [_RANGE, 32] in map(list, source.attrs.get((index,), ()))
    ]


def signature_known(compiled: Any, name: str | None = None) -> spec.Signature:
    """Return what `triton_signature` does, without what `small_memory` returns."""
    source = getattr(compiled, "src", compiled)
    mappings = [getattr(source, attribute, None) for attribute in ("signature", "attrs")]
    if not all(isinstance(mapping, Mapping) for mapping in mappings):
        raise BuildError(
            f"triton_signature: expected a CompiledKernel or an ASTSource of Triton but got "
            f"{compiled!r}"
        )
    types: Mapping[str, object] = source.signature
    promises: Mapping[tuple[int, ...], Any] = source.attrs
    params: list[spec.Param] = []
    for index, (argument, type_) in enumerate(types.items()):
        if type_ != "constexpr":
            where = f"triton_signature: argument {argument!r} is {type_}"
            divisor = _divisor(where, promises.get((index,), ()))
            params.append(_param(where, argument, type_, divisor, device_of(compiled)))
    return spec.Signature(source.name if name is None else name, params)


def device_of(compiled: Any) -> str:
    """Return the device type of what is compiled; that of CUDA for a source."""
    target = getattr(getattr(compiled, "metadata", None), "target", None)
    return "rocm" if getattr(target, "backend", None) == "hip" else "cuda"


@dataclass(frozen=True)
class Descriptor:
    """A tensor descriptor that the caller of a kernel makes: its dtype in Triton, and its rank."""

    dtype: str
    ndim: int
    im2col: bool


def descriptor(type_: object) -> Descriptor | None:
    """Read the type of a tensor descriptor, such as ``tensordesc<fp16[64, 64]>``.

    Examples:
        >>> from ffi_builder.cuda.tools.triton import descriptor
        >>> descriptor("tensordesc<fp16[64, 64]>")
        Descriptor(dtype='fp16', ndim=2, im2col=False)
    """
    match = _DESCRIPTOR.fullmatch(type_) if isinstance(type_, str) else None
    if match is None:
        return None
    im2col, dtype, block, rank = match.groups()
    return Descriptor(dtype, int(rank or block.count(",") + 1), im2col is not None)


def _divisor(where: str, promises: Iterable[Any]) -> int | None:
    divisor: int | None = None
    for promise, value in promises:
        if [promise, value] == [_RANGE, 32]:
            continue
        if promise != _DIVISIBILITY:
            raise BuildError(f"{where}, and Triton relies on {promise}={value}, which is unknown")
        divisor = value
    return divisor


def _param(where: str, name: str, type_: object, divisor: int | None, device: str) -> spec.Param:
    described = descriptor(type_)
    if described is not None and described.dtype in _DTYPES:
        return spec.Tensor(
            name,
            [None] * described.ndim,
            _DTYPES[described.dtype],
            strides=[*[None] * (described.ndim - 1), 1],
            device_type=device,
            data_alignment=_ALIGNMENT,
        )
    text = type_ if isinstance(type_, str) else ""
    dtype = _DTYPES.get(text.removeprefix("*").removeprefix("k"))
    if dtype is None or text.startswith(_NO_SCALARS):
        image = "hsaco" if device == "rocm" else "cubin"
        raise BuildError(
            f"{where}, which has no parameter here: wrap the image, compiled.asm['{image}'], with "
            f"a signature, args=[…] and launch= by hand"
        )
    if not text.startswith("*"):
        return spec.Var(name, dtype, divisibility=divisor)
    return spec.Tensor(
        name,
        ...,
        dtype,
        strides="any",
        device_type=device,
        data_alignment=divisor,
        intent="in" if text.startswith("*k") else None,
    )
