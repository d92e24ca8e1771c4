"""The stream and device on which a wrapper launches, and on which it fills workspaces with zeros.

The code that fills a workspace::

    %known = llvm.load %driver atomic acquire              // ^first: TVMFFIHandleInitOnce
    llvm.cond_br %is_known, ^ready, ^first
  ^ready:
    %stream = llvm.call @TVMFFIEnvGetStream(%cuda, %device)
    %status = llvm.call @…_cuda_zero(%state, %pointer, %size, %stream, %device, …)
    llvm.cond_br %is_fine, ^next, ^failed                  // ^failed: llvm.return %status
"""

from __future__ import annotations

from typing import Final, TypeAlias, Union

from ffi_builder import BuildError, spec
from ffi_builder.cuda.launch.states import INIT_ONCE, Site, define_driver, define_module, name_of
from ffi_builder.cuda.launch.vendor import CUDA, Vendor
from ffi_builder.extending import (
    ANY,
    Builder,
    abi,
    call_support,
    dataclass,
    entries,
    load_acquire,
    plain,
    return_failure,
    unless,
)
from ffi_builder.ir import CheckingBuilder, Value
from ffi_builder.providers import CallContext

StreamChoice: TypeAlias = Union[spec.Param, str, int, None]
"""``stream=``: a parameter or its name; 0, 1 or 2; or None for the default."""

ENV_GET_STREAM: Final = "TVMFFIEnvGetStream"
_STREAMS: Final = (spec.Stream, spec.EnvStream)


@dataclass(frozen=True)
class Place:
    """A stream and a device.

    The stream is a pointer, or the int of a special stream (``driver.SPECIAL_STREAMS``). The device
    is an i32: the id of the first CUDA tensor's device, or -1.
    """

    stream: Value | int
    device: Value


def find_place(context: CallContext, vendor: Vendor, choice: StreamChoice) -> Place:
    """Return the stream of ``stream=``, else the only one of the signature, else the current one.

    Raises:
        BuildError: if the signature has several streams, or if ``stream=`` is not a stream.
    """
    device = find_device(context, vendor)
    stream = find_stream(context, vendor, choice, device)
    return Place(stream, context.builder.i32(-1) if device is None else device)


def find_stream(
    context: CallContext, vendor: Vendor, choice: StreamChoice, device: Value | None = None
) -> Value | int:
    """Return the stream of ``stream=``, else the only one of the signature.

    Without either, return the device's current one, and NULL without a device.

    Raises:
        BuildError: as :func:`find_place` does.
    """
    if choice is not None:
        return _chosen(context, vendor, choice, device)
    streams = [param for _, param in spec.with_paths(context.params) if _is_stream(param)]
    if len(streams) > 1:
        names = ", ".join(param.name for param in streams)
        raise BuildError(
            f"{vendor.provider}: {context.fn_name!r} has the streams {names}; choose one with "
            f"stream="
        )
    if streams:
        return _given_stream(context, vendor, streams[0], device)
    return 0 if device is None else _current_stream(context.builder, vendor, device)


def stream_pointer(b: Builder, stream: Value | int) -> Value:
    """Return a stream that was found as a pointer."""
    if not isinstance(stream, int):
        return stream
    return b.to_pointer(b.i64(stream)) if stream else b.null()


def _chosen(
    context: CallContext, vendor: Vendor, choice: spec.Param | str | int, device: Value | None
) -> Value | int:
    if isinstance(choice, int):
        _check_workspaces(context, vendor, choice)
        return choice
    streams = [path for path, param in spec.with_paths(context.params) if _is_stream(param)]
    wrong = BuildError(
        f"{vendor.provider}: stream: expected a Stream or EnvStream of {context.fn_name!r}, which "
        f"has {', '.join(streams) or 'none'}, but got {choice!r}"
    )
    try:
        (item,) = entries(vendor.provider, [choice], context)
    except BuildError:
        raise wrong from None  # its message is about args=
    if not isinstance(plain(item), _STREAMS):
        raise wrong
    return _given_stream(context, vendor, item, device)  # pyright: ignore[reportArgumentType]


def _check_workspaces(context: CallContext, vendor: Vendor, choice: int) -> None:
    """Refuse a stream for which workspaces are not released."""
    for workspace in context.signature.workspaces:
        if workspace.device != "cpu":
            raise BuildError(
                f"{vendor.provider}: stream: expected the framework's current stream, as "
                f"{workspace.label} is released for that, but got {choice!r}; leave it out"
            )


def _given_stream(
    context: CallContext, vendor: Vendor, param: spec.Param, device: Value | None
) -> Value:
    """Return the value of a stream; for an EnvStream, that of the first CUDA tensor's device.

    The wrapper's own EnvStream belongs to the device of the first tensor that is not on the CPU. If
    this tensor may be in pinned or managed memory, tvm-ffi has no stream for that device.
    """
    env = isinstance(spec.required(param), spec.EnvStream)
    kinds = {tensor.device for _, tensor in _tensors(context)} - {"cpu", vendor.device}
    if env and kinds and device is not None:
        return _current_stream(context.builder, vendor, device)
    return context.scalar(param)


def _is_stream(param: spec.Param) -> bool:
    return isinstance(spec.required(param), _STREAMS)


def _current_stream(b: CheckingBuilder, vendor: Vendor, device: Value) -> Value:
    """Return tvm-ffi's current stream of a device; NULL for a device of -1.

    If a PyTorch tensor is passed, this is PyTorch's current stream.
    """
    t = b.types
    b.symbols.declare(ENV_GET_STREAM, t.ptr, [t.i32, t.i32])
    return b.call_value(ENV_GET_STREAM, [b.i32(abi.DEVICE_TYPES[vendor.device]), device], t.ptr)


def _tensors(context: CallContext) -> list[tuple[spec.Param, spec.Tensor]]:
    """Return every tensor parameter and result, which may be an Optional, with its Tensor."""
    every = [*context.params, *context.signature.results]
    params = [
        param for _, param in spec.with_paths([p for p in every if not isinstance(p, spec.Var)])
    ]
    pairs = [(param, spec.required(param)) for param in params]
    return [(param, tensor) for param, tensor in pairs if isinstance(tensor, spec.Tensor)]


def find_device(context: CallContext, vendor: Vendor) -> Value | None:
    """Return the device id of the first CUDA tensor that is present; -1 if there is none.

    Returns None if the signature cannot have a CUDA tensor.
    """
    b = context.builder
    device: Value | None = None
    for param, tensor in reversed(_tensors(context)):
        if tensor.device not in (vendor.device, ANY):
            continue
        own = context.device_id(param)
        counts: Value | None = None
        if tensor.device == ANY or context.may_be_absent(param):
            # The device type of an absent tensor is 0.
            counts = b.eq(context.device_type(param), b.i32(abi.DEVICE_TYPES[vendor.device]))
        if counts is None:
            device = own
        else:
            device = b.select(counts, own, b.i32(-1) if device is None else device)
    return device


def fill_with_zeros(
    b: CheckingBuilder,
    pointer: Value,
    size: Value,
    device: Value,
    name: str,
    *,
    vendor: Vendor = CUDA,
) -> None:
    """Fill ``size`` bytes (an i64) in the order of the framework's current stream.

    ``device`` is the id of the vendor's device, an i32; errors show ``name``.
    """
    t, site = b.types, Site(b, name_of(b), "", vendor)
    define_module(b.symbols, vendor)
    init = define_driver(site)
    slot = b.address_of(vendor.driver)
    with unless(b, b.ne(load_acquire(b, t.ptr, slot, size=8), b.null())):
        return_failure(b, b.call_value(INIT_ONCE, [slot, b.address_of(init)], t.i32))
    stream = _current_stream(b, vendor, device)
    shown = b.text_constant(name.encode() + b"\0")
    operands = [b.address_of(vendor.state), pointer, size, stream, device, shown, *site.operands(b)]
    return_failure(b, call_support(b, vendor.function("zero"), operands))
