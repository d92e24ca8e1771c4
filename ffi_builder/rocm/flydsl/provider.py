"""Calls a function that FlyDSL has exported, on the device of its tensors.

    %status = llvm.call @add__module_init()                 // each is followed by a check
    %status = llvm.call @add__module_load(%device)
    %status = llvm.call @hipGetDevice(%before)
    %status = llvm.call @hipSetDevice(%device)
    %status = llvm.call @add(%args)                         // the array of pointers to slots
    llvm.call @hipSetDevice(%before)

Both functions of FlyDSL's return at once if there is nothing to do. The module stays loaded;
`add__module_unload` unloads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ffi_builder import BuildError, spec
from ffi_builder.cuda.launch.streams import find_device
from ffi_builder.extending import (
    Argument,
    Constant,
    Data,
    Entry,
    Item,
    call,
    check_status,
    dataclass,
    in_range,
    items,
    plain,
    present,
    scalar_argument,
    shown,
)
from ffi_builder.ir import Block, Value
from ffi_builder.providers import CallContext
from ffi_builder.rocm.flydsl.export import DATA, LAYOUT, STREAM, Export, Slot
from ffi_builder.rocm.launch.vendor import ROCM

_PROVIDER: Final = "FlyCallProvider"


@dataclass(frozen=True)
class FlyCallProvider:
    """Calls ``int32_t f(void **args)`` with a pointer to each value of its slots.

    Args:
        export: the function.
        args: an entry for each of its arguments, but for the stream.
        stream: the name of the parameter that is the stream.
    """

    export: Export
    args: Sequence[Entry]
    stream: str
    borrows_tensors = True

    @property
    def callee(self) -> str:
        """The symbol."""
        return self.export.symbol

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the stores and the calls."""
        b, t, symbol = context.builder, context.builder.types, self.export.symbol
        *arguments, stream = items(_PROVIDER, [*self.args, self.stream], context)
        given = dict(zip(self.export.arguments, arguments, strict=True))
        places = [
            self._place(context, slot, stream if slot.kind == STREAM else given[slot.argument])
            for slot in self.export.slots
        ]
        array = b.alloca(t.ptr, max(len(places), 1))
        for at, place in enumerate(places):
            b.store(place, b.offset(array, 8 * at))
        device = find_device(context, ROCM)
        if device is None:
            raise BuildError(f"{_PROVIDER}: {context.fn_name!r} has no tensor on {ROCM.device}")
        self._call(context, f"{symbol}__module_init")
        self._call(context, f"{symbol}__module_load", device)
        before = b.alloca(t.i32)
        self._call(context, "hipGetDevice", before)
        self._call(context, "hipSetDevice", device)
        status = call(_PROVIDER, context, symbol, [Argument(array, name="args")], t.i32)
        restored = [Argument(b.load(t.i32, before))]
        call(_PROVIDER, context, "hipSetDevice", restored, t.i32, results=False)
        context.returned = status
        check_status(context, symbol, status)
        return b.block

    def _call(self, context: CallContext, name: str, *values: Value) -> None:
        """Call a function that returns a status of HIP, and check it."""
        arguments = [Argument(value) for value in values]
        status = call(_PROVIDER, context, name, arguments, context.builder.types.i32, results=False)
        check_status(context, name, status)

    def _place(self, context: CallContext, slot: Slot, item: Item) -> Value:
        """Write what a slot points to, and return its address."""
        if present(context, item) is not None:
            raise BuildError(
                f"{_PROVIDER}: {shown(context, item)} may be absent, which FlyDSL's functions "
                f"cannot be told"
            )
        if slot.kind == LAYOUT:
            return self._layout(context, slot, item)
        b = context.builder
        if slot.kind == DATA or isinstance(plain(item), spec.Tensor | Data):
            value = context.data(_tensor(context, slot, item))
        elif isinstance(constant := plain(item), Constant) and slot.dtype is not None:
            value = constant.emit(context, b.types.text(b.types.scalar(slot.dtype)))
        else:
            value = scalar_argument(context, plain(item)).value
        stored = b.zext(value, b.types.i8) if value.type == b.types.i1 else value
        place = b.alloca(stored.type)
        b.store(stored, place)
        return place

    def _layout(self, context: CallContext, slot: Slot, item: Item) -> Value:
        """Write a packed struct of sizes and strides."""
        tensor, b = _tensor(context, slot, item), context.builder
        most = max((*slot.shape, *slot.strides), default=-1)
        if tensor.any_rank or most >= tensor.ndim:
            rank = "any rank" if tensor.any_rank else f"{tensor.ndim} dimensions"
            raise BuildError(
                f"{_PROVIDER}: {tensor.name!r} has {rank}, but FlyDSL's function takes the size or "
                f"stride of axis {most}"
            )
        parts = (
            ("shape", slot.shape, slot.shape_bits, context.shape(tensor, wide=True)),
            ("strides", slot.strides, slot.strides_bits, context.strides(tensor, wide=True)),
        )
        members: list[Value] = []
        for what, axes, bits, values in parts:
            for axis in axes:
                path = f"{tensor.name}.{what}[{axis}]"
                members.append(values[axis] if bits == 64 else _int32(context, values[axis], path))
        struct = b.types.parse(f"!llvm.struct<packed ({', '.join(str(m.type) for m in members)})>")
        whole = b.undef(struct)
        for index, member in enumerate(members):
            whole = b.insert(whole, member, index)
        place = b.alloca(struct)
        b.store(whole, place)
        return place


def _tensor(context: CallContext, slot: Slot, item: Item) -> spec.Tensor:
    param = plain(item)
    tensor = param.tensor if isinstance(param, Data) else param
    if not isinstance(tensor, spec.Tensor) or tensor.device != ROCM.device:
        raise BuildError(
            f"{_PROVIDER}: FlyDSL's argument {slot.argument!r} is a tensor on {ROCM.device}, but "
            f"gets {shown(context, item)}"
        )
    return tensor


def _int32(context: CallContext, value: Value, what: str) -> Value:
    b = context.builder
    fits = in_range(b, value, -(1 << 31), (1 << 31) - 1, signed=True)
    assert fits is not None
    words = f"{what} is {{}}, which no int32 holds, as this function of FlyDSL takes it"
    b.check(fits, "ValueError", words, value)
    return b.trunc(value, b.types.i32)
