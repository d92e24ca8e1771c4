"""On which stream and device a wrapper launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias, Union

from ffi_builder import spec
from ffi_builder.abi import DEVICE_TYPES
from ffi_builder.errors import BuildError
from ffi_builder.ir import Value
from ffi_builder.providers.context import CallContext
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.arguments import PROVIDER
from ffi_builder.providers.forward import entries, plain

StreamChoice: TypeAlias = Union[spec.Param, str, int, None]
"""``stream=``: a parameter or its name; 0, 1 or 2; or nothing."""

_ENV_GET_STREAM: Final = "TVMFFIEnvGetStream"
_CUDA: Final = "cuda"
_STREAMS: Final = (spec.Stream, spec.EnvStream)


@dataclass(frozen=True)
class Place:
    """A stream (a pointer, or the int of one that stands for another) and a device.

    The device is an i32: that of the first CUDA tensor, or -1.
    """

    stream: Value | int
    device: Value


def find_place(context: CallContext, choice: StreamChoice) -> Place:
    """The stream that ``stream=`` says, else the only one of the signature, else the current one.

    Raises:
        BuildError: if several could be meant, or ``stream=`` is no stream.
    """
    device = _device(context)
    if choice is not None:
        return Place(_chosen(context, choice), device or context.builder.i32(-1))
    found = [param for _, param in spec.with_paths(context.params) if _is_stream(param)]
    if len(found) > 1:
        names = ", ".join(param.name for param in found)
        raise BuildError(
            f"{PROVIDER}: {context.fn_name!r} has the streams {names}; choose one with stream="
        )
    if found:
        return Place(context.scalar(found[0]), device or context.builder.i32(-1))
    if device is None:
        return Place(0, context.builder.i32(-1))
    return Place(_current_stream(context, device), device)


def _chosen(context: CallContext, choice: spec.Param | str | int) -> Value | int:
    if isinstance(choice, int) and not isinstance(choice, bool):
        if not 0 <= choice < driver.SPECIAL_STREAMS:
            raise BuildError(
                f"{PROVIDER}: stream: expected a parameter, 0 (NULL), 1 (CU_STREAM_LEGACY) or 2 "
                f"(CU_STREAM_PER_THREAD) but got {choice}"
            )
        return choice
    (item,) = entries(PROVIDER, [choice], context)
    param = plain(item)
    if not isinstance(param, _STREAMS):
        raise BuildError(f"{PROVIDER}: stream: {choice!r} is no Stream or EnvStream")
    return context.scalar(param if isinstance(param, spec.EnvStream) else item)  # pyright: ignore[reportArgumentType]


def _is_stream(param: spec.Param) -> bool:
    return isinstance(spec.required(param), _STREAMS)


def _current_stream(context: CallContext, device: Value) -> Value:
    """What tvm-ffi has as the device's current stream: PyTorch's, while a tensor of its is passed.

    NULL for a device of -1.
    """
    b, t = context.builder, context.builder.types
    context.symbols.declare(_ENV_GET_STREAM, t.ptr, [t.i32, t.i32])
    return b.call_value(_ENV_GET_STREAM, [b.i32(DEVICE_TYPES[_CUDA]), device], t.ptr)


def _device(context: CallContext) -> Value | None:
    """The device id of the first CUDA tensor that is there, -1 if none is; None: none can be."""
    b = context.builder
    device: Value | None = None
    every = [*context.params, *context.signature.results]
    tensors = [
        param
        for _, param in spec.with_paths([p for p in every if not isinstance(p, spec.Var)])
        if isinstance(spec.required(param), spec.Tensor)
    ]
    for param in reversed(tensors):
        tensor = spec.required(param)
        assert isinstance(tensor, spec.Tensor)
        if tensor.device not in (_CUDA, spec.ANY):
            continue
        own = context.device_id(param)
        counts: Value | None = None
        if tensor.device == spec.ANY or context.may_be_absent(param):
            # Of an absent tensor the device type is 0.
            counts = b.eq(context.device_type(param), b.i32(DEVICE_TYPES[_CUDA]))
        if counts is None:
            device = own
        else:
            device = b.select(counts, own, b.i32(-1) if device is None else device)
    return device
