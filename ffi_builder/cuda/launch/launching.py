"""Emits a launch: kernel, parameters, configuration, and the call of the driver.

Parameters are compared with those of the kernel's image. The emitted code::

    llvm.cond_br %is_empty, ^done(%zero), ^launch
  ^launch:
    %known = llvm.load %kernel_state atomic acquire        // the CUkernel
    llvm.cond_br %is_known, ^ready(%known), ^first         // ^first: TVMFFIHandleInitOnce
  ^ready(%kernel):
    …                                                      // parameters, CUlaunchConfig
    %watch = llvm.load %state_watch
    %on = llvm.load %watch atomic acquire                  // 0 unless launches are watched
    llvm.cond_br %is_off, ^plain, ^watched                 // ^watched: launches in C
  ^plain:
    llvm.cond_br %is_special, ^of_context, ^of_stream      // streams NULL, 1 and 2
  ^of_stream:
    %function = llvm.load %state                           // cuLaunchKernelEx
    %status = llvm.call %function(%config, %kernel, %params, %null)
    llvm.br ^launched(%status)                             // ^of_context: in C
  ^launched(%status):
    llvm.cond_br %is_fine, ^done(%status), ^failed         // ^failed: perhaps a second attempt;
                                                           // then C makes the error
  ^done(%status):
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ffi_builder import BuildError
from ffi_builder.cuda.images import Kernel, Parameter
from ffi_builder.cuda.launch import driver
from ffi_builder.cuda.launch.arguments import KernelArgument, Layout, in_memory, layout
from ffi_builder.cuda.launch.dimensions import Launch, emit_config
from ffi_builder.cuda.launch.states import INIT_ONCE, Site, States
from ffi_builder.cuda.launch.streams import Place, stream_pointer
from ffi_builder.cuda.launch.vendor import Vendor
from ffi_builder.extending import Builder, call_support, dataclass, in_range, load_acquire
from ffi_builder.ir import Block, CheckingBuilder, Value
from ffi_builder.providers import CallContext

_NUMBER_SIZES: Final = (1, 2, 4, 8)
_POINTER: Final = 8
_SCRATCH: Final = 2
_FLOATS: Final = {4: "<f", 8: "<d"}
_FLOAT: Final = re.compile(r"b?f\d+")
_INTEGER: Final = re.compile(r"[su]\d+")
"""Types of PTX."""
_INT_TYPE: Final = re.compile(r"i\d+")
"""Types of MLIR, whose floats are called as those of PTX."""
_UNSIGNED: Final = tuple(f"(uint{8 * size})" for size in _NUMBER_SIZES)
_OFFSET_ALIGN: Final = 16
"""The largest alignment of an offset, which is that of the first parameter's address."""


def fitted(
    context: CallContext, vendor: Vendor, kernel: Kernel, arguments: Sequence[KernelArgument]
) -> list[KernelArgument]:
    """Return the arguments, with each number in the size of its kernel parameter.

    If the image does not describe the parameters, nothing is checked and numbers have 8 bytes.

    Raises:
        BuildError: if the kernel takes other parameters; the message shows both sides.
    """
    if kernel.parameters is None:
        return [_sized(context, vendor, kernel, argument, 8) for argument in arguments]
    # Texture and surface references have size 0, and a launch does not pass them.
    wanted = [parameter for parameter in kernel.parameters if parameter.size]
    count = len(wanted) == len(arguments)
    wrong = [
        index
        for index, (parameter, argument) in enumerate(zip(wanted, arguments, strict=False))
        if not _fits(parameter, argument)
    ]
    if not count or wrong:
        raise BuildError(
            _mismatch(context, vendor, kernel, wanted, arguments, wrong if count else [])
        )
    return [
        replace(sized, align=max(sized.align, parameter.align or 1))
        for parameter, argument in zip(wanted, arguments, strict=True)
        for sized in (_sized(context, vendor, kernel, argument, parameter.size),)
    ]


def addresses(site: Site, device: Value, arguments: Sequence[KernelArgument]) -> Value:
    """Write the arguments, and return the array of their addresses for the driver, or NULL."""
    b = site.b
    if not arguments:
        return b.null()
    array = b.alloca(b.types.ptr, len(arguments))
    for index, argument in enumerate(arguments):
        if argument.layout is not None:
            address = in_memory(b, argument.layout, argument.align)
        elif argument.tensor_map is not None:
            address = argument.tensor_map.emit(site, device)
        else:
            address = _copied(b, argument)
        b.store(address, b.offset(array, 8 * index))
    return array


def _copied(b: Builder, argument: KernelArgument) -> Value:
    """Copy the caller's bytes, which may be unaligned, to aligned stack space."""
    assert argument.address is not None
    assert argument.size is not None
    space = b.alloca(b.types.i8, argument.size, align=argument.align)
    operands = (space, argument.address, b.i64(argument.size))
    b.op("llvm.intr.memcpy", operands, attributes={"isVolatile": b.types.attribute("false")})
    return space


def _fits(parameter: Parameter, argument: KernelArgument) -> bool:
    if argument.size is None:
        sizes = _FLOATS if argument.is_float else _NUMBER_SIZES
        return parameter.size in sizes and _same_kind(parameter, argument)
    if argument.size != parameter.size:
        return False
    align = min(argument.align, _OFFSET_ALIGN)
    if parameter.offset is not None and parameter.offset % align:
        return False
    return _same_kind(parameter, argument)


def _same_kind(parameter: Parameter, argument: KernelArgument) -> bool:
    """Return whether PTX type and argument may both be integers or both be floats.

    ``b32`` may be either, and so may a struct or bytes that the caller has laid out. What an image
    for AMD GPUs calls a pointer is none of them.
    """
    if parameter.is_pointer:
        return argument.size is not None and _kind(argument) in "pb"
    if argument.is_float is None and argument.size is not None:
        return True
    wrong = _INTEGER if argument.is_float else _FLOAT
    return not wrong.fullmatch(parameter.type or "")


def _sized(
    context: CallContext, vendor: Vendor, kernel: Kernel, argument: KernelArgument, size: int
) -> KernelArgument:
    """Convert a number, which must fit as signed or as unsigned, to an integer of this size."""
    number = argument.number
    if number is None:
        return argument
    if isinstance(number, float):
        return replace(
            argument, size=size, align=size, layout=_float(context, vendor, number, size)
        )
    b, low, high = context.builder, -(1 << (8 * size - 1)), (1 << 8 * size - argument.is_signed) - 1
    where = f"the {size} byte{'' if size == 1 else 's'} that kernel {kernel.name!r} has for it"
    if isinstance(number, int):
        if not low <= number <= high:
            raise BuildError(f"{vendor.provider}: args= has {number}, which does not fit {where}")
        value = b.constant(8 * size, number)
    elif size == _NUMBER_SIZES[-1]:
        value = number
    else:
        fits = in_range(b, number, low, high, signed=True)
        assert fits is not None
        where = where.replace("{}", "{ }")  # since {} in the kernel's name stands for a value
        b.check(fits, "ValueError", f"{argument.text} is {{}}, which does not fit {where}", number)
        value = b.trunc(number, b.types.integer(8 * size))
    laid_out = layout(value)
    return KernelArgument(argument.text, laid_out.size, laid_out.align, layout=laid_out)


def _float(context: CallContext, vendor: Vendor, number: float, size: int) -> Layout:
    try:
        bits = int.from_bytes(struct.pack(_FLOATS[size], number), "little")
    except OverflowError:
        words = f"{vendor.provider}: args= has {number}, which no float of {size} bytes holds"
        raise BuildError(words) from None
    return layout(context.builder.constant(8 * size, bits))


def _mismatch(
    context: CallContext,
    vendor: Vendor,
    kernel: Kernel,
    wanted: Sequence[Parameter],
    arguments: Sequence[KernelArgument],
    wrong: Sequence[int],
) -> str:
    """Return the message of the error, which shows parameters and arguments."""
    takes = ", ".join(
        f"#{parameter.index} {parameter}"
        f"{'' if parameter.offset is None else f' at {parameter.offset}'}"
        for parameter in wanted
    )
    given = ", ".join(f"#{index} {argument}" for index, argument in enumerate(arguments))
    scratch = wanted[len(arguments) :]
    is_tritons = len(scratch) == _SCRATCH and all(each.size == _POINTER for each in scratch)
    hint = ""
    if is_tritons:
        hint = "; Triton appends two pointers to scratch memory: pass None for each"
    elif any(wanted[index].is_pointer for index in wrong):
        hint = "; a pointer is a Tensor, a DataPointer, a Var of dtype handle, or None"
    first = f" (#{', #'.join(map(str, wrong))} differ{'s' if len(wrong) == 1 else ''})"
    return (
        f"{vendor.provider}: the kernel {kernel.name!r} takes ({takes}), but the arguments of "
        f"{context.fn_name!r} are passed as ({given}){first if wrong else ''}; choose and order "
        f"them with args=, give numbers a type with Scalar(value, dtype), or change the kernel"
        f"{hint}"
    )


def described(arguments: Sequence[KernelArgument]) -> bytes:
    """Return a text for each argument: its kind, its size and its name, such as ``p8 x``."""
    return (
        b"".join(f"{_kind(each)}{each.size} {each.text}\0".encode() for each in arguments) + b"\0"
    )


def _kind(argument: KernelArgument) -> str:
    """Return the kind: ``p`` a pointer, ``i`` and ``u`` integers, ``f`` a float, ``b`` bytes."""
    leaves = () if argument.layout is None else argument.layout.leaves
    if len(leaves) != 1 or argument.size not in _NUMBER_SIZES:
        return "b"
    type_ = str(leaves[0].value.type)
    if type_.startswith("!llvm.ptr"):
        return "p"
    if argument.is_float or _FLOAT.fullmatch(type_):
        return "f" if argument.size in _FLOATS else "b"
    if not _INT_TYPE.fullmatch(type_):
        return "b"
    return "u" if argument.text.endswith(_UNSIGNED) else "i"


@dataclass(frozen=True)
class Launcher:
    """Emits one launch.

    With ``wants_status``, a failure raises no error; the CUresult is returned instead.
    """

    b: CheckingBuilder
    states: States
    place: Place
    launch: Launch
    wants_status: bool

    def emit(self, arguments: Sequence[KernelArgument]) -> Value:
        """Launch, unless the grid is empty; return the status, an i32."""
        b = self.b
        start, is_empty = b.block, self.launch.is_empty(b)
        if is_empty is not None:
            b.block = b.new_block()
        first, failed = b.block, b.new_block(b.types.i32, cold=True)
        kernel, state = self._kernel(), b.address_of(self.states.vendor.state)
        stream = self._stream()
        params = addresses(self.states.site, self.place.device, arguments)
        # This comes before all code that may fail, since errors show the configuration.
        config = emit_config(b, self.launch, stream)
        needs = self.launch.needs(b) if self.launch.may_need else None
        if needs is not None:
            self._prepare(state, stream, needs, failed)
        launched = b.new_block(b.types.i32)
        self._watched(state, [config, params], needs, arguments, launched)
        b.br(launched, self._call(state, stream, [config, kernel, params]))
        b.block, status = launched, launched.arguments[0]
        done = b.new_block(b.types.i32)
        b.cond_br(b.eq(status, b.i32(0)), done, failed, [status], [status], likely=True)
        if is_empty is not None:
            b.block = start
            b.cond_br(is_empty, done, first, [b.i32(0)])
        b.block, refused = failed, failed.arguments[0]
        if needs is not None and not isinstance(self.place.stream, int):
            refused = self._again(state, [config, params], needs, refused, done)
        self._fail(refused, state, config, done)
        b.block = done
        return done.arguments[0]

    def _kernel(self) -> Value:
        """Return the CUkernel. The first call loads the image; concurrent calls wait for it."""
        b, t = self.b, self.b.types
        slot = b.address_of(self.states.kernel)
        known = load_acquire(b, t.ptr, slot, size=8)
        ready, first = b.new_block(t.ptr), b.new_block(cold=True)
        b.cond_br(b.ne(known, b.null()), ready, first, [known], likely=True)
        b.block = first
        init = b.address_of(self.states.init)
        status = b.call_value(INIT_ONCE, [slot, init], t.i32)
        loaded, refused = b.new_block(cold=True), b.new_block(cold=True)
        b.cond_br(b.eq(status, b.i32(0)), loaded, refused)
        b.block = loaded
        b.br(ready, load_acquire(b, t.ptr, slot, size=8))
        b.block = refused
        b.ret(status)
        b.block = ready
        return ready.arguments[0]

    def _stream(self) -> Value:
        return stream_pointer(self.b, self.place.stream)

    def _prepare(self, state: Value, stream: Value, needs: Value, failed: Block) -> None:
        """Set the kernel's attributes when they are first needed on a device."""
        b, t, device = self.b, self.b.types, self.place.device
        kernel = b.address_of(self.states.kernel)
        # -1 becomes the last byte, which stays 0.
        index = b.zext(b.and_(device, b.i32(driver.DEVICES - 1)), t.i64)
        byte = b.element(b.offset(kernel, driver.KERNEL_PREPARED), index)
        has = b.zext(load_acquire(b, t.i8, byte, size=1), t.i32)
        following, unready = b.new_block(), b.new_block(cold=True)
        b.cond_br(b.eq(b.and_(has, needs), needs), following, unready, likely=True)
        b.block = unready
        status = call_support(b, "cuda_prepare", [state, kernel, device, stream, needs])
        b.cond_br(b.eq(status, b.i32(0)), following, failed, [], [status])
        b.block = following

    def _again(
        self, state: Value, launch: Sequence[Value], needs: Value, status: Value, done: Block
    ) -> Value:
        """Launch again if the stream's device is not that of the tensors; return the status."""
        b, kernel = self.b, self.b.address_of(self.states.kernel)
        operands = [state, kernel, *launch, self.place.device, needs, status]
        status = call_support(b, "cuda_launch_again", operands)
        refused = b.new_block(cold=True)
        b.cond_br(b.eq(status, b.i32(0)), done, refused, [status])
        b.block = refused
        return status

    def _watched(
        self,
        state: Value,
        launch: Sequence[Value],
        needs: Value | None,
        arguments: Sequence[KernelArgument],
        launched: Block,
    ) -> None:
        """Let C code launch if the process watches launches; go on where it does not."""
        b, t = self.b, self.b.types
        watch = b.load(t.ptr, b.offset(state, driver.STATE_WATCH))
        on = load_acquire(b, t.i32, watch, size=4)
        plain, watched, raised = b.new_block(), b.new_block(cold=True), b.new_block(cold=True)
        b.cond_br(b.eq(on, b.i32(0)), plain, watched, likely=True)
        b.block = watched
        # A launch on a special stream is not repeated.
        again = b.i32(0) if needs is None or isinstance(self.place.stream, int) else needs
        texts = b.null() if self.wants_status else b.text_constant(described(arguments))
        kernel = b.address_of(self.states.kernel)
        operands = [state, kernel, *launch, self.place.device, again, texts]
        status = call_support(b, "cuda_watched", [*operands, *self.states.site.operands(b)])
        b.cond_br(b.ugt(status, b.i32(driver.MAX_INT)), raised, launched, [], [status])
        b.block = raised
        b.ret(status)
        b.block = plain

    def _call(self, state: Value, stream: Value, operands: Sequence[Value]) -> Value:
        """Launch on the stream. For a special stream, C code makes the device's context current."""
        b, t = self.b, self.b.types
        of_context = [state, *operands, self.place.device]
        if isinstance(self.place.stream, int):
            return call_support(b, "cuda_launch", of_context)
        special = b.ult(b.to_int(stream), b.i64(driver.SPECIAL_STREAMS))
        by_context, by_stream, launched = b.new_block(), b.new_block(), b.new_block(t.i32)
        b.cond_br(special, by_context, by_stream)
        b.block = by_context
        b.br(launched, call_support(b, "cuda_launch", of_context))
        b.block = by_stream
        launch = b.load(t.ptr, state)  # cuLaunchKernelEx has the number 0
        status = b.call_pointer(launch, [*operands, b.null()], t.i32)
        assert status is not None
        b.br(launched, status)
        b.block = launched
        return launched.arguments[0]

    def _fail(self, status: Value, state: Value, config: Value, done: Block) -> None:
        """Set the error and return it, or continue with the status."""
        b = self.b
        if self.wants_status:
            mask = b.i32((1 << driver.CODE_BITS) - 1)
            b.br(done, b.and_(status, mask))
            return
        kernel = b.address_of(self.states.kernel)
        operands = [state, kernel, config, self.place.device, status, *self.states.site.operands(b)]
        b.ret(call_support(b, "cuda_fail", operands))
