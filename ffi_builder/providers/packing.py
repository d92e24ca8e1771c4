"""Calls kernels that take tensors as structs: by ``void**``, or nested as CuTe's functions do.

Structs and arrays are filled value by value. For four values and
``!llvm.struct<(ptr<1>, struct<(i32, array<2 x i64>)>)>``::

    %inner = llvm.mlir.undef : !llvm.struct<(i32, array<2 x i64>)>
    …                                                  // insertvalue, innermost aggregates first

A provider's steps run once for a call, no matter what calls them. A subclass may leave the steps to
the ``__call__`` of its base, or call some itself first::

    def __call__(self, current_block, context):
        current_block = self.insert_lazy_init_cuda(current_block, context)
        return super().__call__(current_block, context)
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from types import FunctionType
from typing import Any, ClassVar, Final, TypeAlias, cast

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, Value
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.protocols import Type
from ffi_builder.ir.symbols import aggregate_members
from ffi_builder.providers.arguments import (
    Argument,
    c_arguments,
    convert_items,
    dynamic,
    items,
    list_values,
    plain,
    present,
    scalar_argument,
    scalar_arguments,
    shape_arguments,
)
from ffi_builder.providers.by_address import stored
from ffi_builder.providers.call import call, check_status
from ffi_builder.providers.context import CallContext, path_of
from ffi_builder.providers.items import Entry, Item, ResultPointer
from ffi_builder.providers.provider import fields_key
from ffi_builder.providers.results import result_pointer, set_results, value_results
from ffi_builder.records import dataclass
from ffi_builder.spec.tensors.devices import ANY

_DEVICE_SPACE = 1
"""LLVM's address space of device memory, for NVPTX and AMDGPU."""
_SPACES = 1 << 24
_POINTER: Final = re.compile(r"!llvm\.ptr(?:<(\d+)>)?")


def filled(what: str, b: Builder, struct: Type, values: Sequence[Value]) -> Value:
    """Return a struct with the values in its leaves, in order.

    A pointer is converted to the address space of its leaf.

    Args:
        what: the beginning of errors.
        b: emits the operations.
        struct: the type of the struct.
        values: a value for each leaf.

    Raises:
        BuildError: ``struct`` is not the type of a struct, or its leaves have other types than the
            values.
    """
    if not str(struct).startswith("!llvm.struct<"):
        raise BuildError(f"{what}: expected the type of an LLVM struct but got {struct}")
    leaves = list(_leaves(str(struct)))
    given = [str(value.type) for value in values]
    if list(map(_without_space, leaves)) != list(map(_without_space, given)):
        raise BuildError(
            f"{what}: {struct} has the members {', '.join(leaves) or 'none'}, but the values are "
            f"{', '.join(given) or 'none'}"
        )
    return _filled(b, str(struct), iter(values))


def _leaves(type_: str) -> Iterator[str]:
    members = aggregate_members(type_)
    if members is None:
        yield type_
    else:
        for member in members:
            yield from _leaves(member)


def _without_space(type_: str) -> str:
    return _POINTER.sub("!llvm.ptr", type_)


def _filled(b: Builder, type_: str, values: Iterator[Value]) -> Value:
    """Return a value of this type, built from the next values."""
    members = aggregate_members(type_)
    if members is not None:
        aggregate = b.undef(b.types.parse(type_))
        for index, member in enumerate(members):
            aggregate = b.insert(aggregate, _filled(b, member, values), index)
        return aggregate
    value, pointer = next(values), _POINTER.fullmatch(type_)
    if pointer is None or str(value.type) == type_:
        return value
    # No addrspacecast: not every backend has one between these.
    return b.to_pointer(b.to_int(value), int(pointer[1] or 0))


_Step: TypeAlias = Callable[[Any, Block, CallContext], Block]


def _once(name: str, step: _Step) -> _Step:
    @functools.wraps(step)
    def run(self: object, current_block: Block, context: CallContext) -> Block:
        key = id(self), name
        if key in context.steps:
            # A running step calls the same step of its base class.
            has_run = context.steps[key]
            return context.builder.block if has_run else step(self, current_block, context)
        context.steps[key] = False
        context.builder.block = _checked(self, name, step(self, current_block, context))
        context.steps[key] = True
        return context.builder.block

    run.__dict__["_runs_once"] = True
    return run


def _checked(provider: object, name: str, block: Block) -> Block:
    if not hasattr(block, "arguments"):
        raise BuildError(
            f"{type(provider).__name__}: {name} returned {block!r}; it returns the block in which "
            f"the wrapper continues"
        )
    return block


@dataclass(frozen=True)
class DynamicParamPackCallProvider:
    """Calls ``void|int32_t callee(void** params [, int32_t count])``; status 0 means success.

    The callee gets one pointer for each parameter, to:

    - a tensor: ``{void* data; dims…; strides…}`` at natural alignment. Dimensions and strides that
      are ints are left out; symbols, even repeated ones, have their own type, and expressions and
      None are int64. Row-major tensors (strides None) have no strides.
    - a tensor of any number of dimensions: its ``DLTensor``.
    - a TensorList: ``{void** pointers; int64_t* shapes; int64_t* strides; int64_t length}``.
    - a List: ``{const T* data; int64_t length}``.
    - a Shape: its entries that are not ints, likewise; without such entries, there is no pointer.
    - a String or Bytes: ``{const char* data; int64_t length}``, a ``TVMFFIByteArray``.
    - a DType or Device: the ``DLDataType`` or ``DLDevice``.
    - a scalar, Choice, stream, pointer or object: its value; a bool is one byte.

    The pointer of an absent parameter is NULL; with ``struct_call`` its values are 0. Tuples and
    structs are flattened, constants left out. For ``x: Tensor([n, 4], …, strides=[s, 1])`` with an
    int32 ``n`` the struct is ``!llvm.struct<(ptr, i32, i64)>``.

    A subclass may override the steps: :meth:`tensor_members` for other values in a tensor's struct,
    :meth:`get_callee_struct_for_param_tensor` for the same values in another struct, and
    :meth:`declare_extern_funcs`, :meth:`insert_lazy_init_cuda` and :meth:`insert_set_cuda_device`,
    which come first, in this order. If its ``__call__`` has called one of these three, that one
    does not run again.

    Args:
        callee: the symbol to call; declared if the module has none of that name.
        include_num_args: pass the number of pointers as a second argument.
        struct_call: instead of ``void**``, pass each parameter as a separate argument, and the
            structs as LLVM first-class aggregates. This is for callees in LLVM or MLIR: C passes
            structs in another way.
        args: the items to pass, in order; left out, every parameter except constants.
        returns_status: whether a callee that the module does not have returns an int32 status.
            If left out, it is declared as void, and a status that it returns is ignored.

    Raises:
        BuildError: when attached, if the callee is in the module and takes other arguments.

    Examples:
        >>> from ffi_builder import providers, spec, testing
        >>> n, pitch = spec.Var("n", "int32"), spec.Var("pitch", "int64")
        >>> x = spec.Tensor("x", [n, 4], "float32", device_type="cpu", strides=[pitch, 1])
        >>> scale = spec.Signature("scale", [x, spec.Var("factor", "float32")])
        >>> provider = providers.DynamicParamPackCallProvider("kernel", struct_call=True)
        >>> module = testing.emit(scale, provider, whole=True)
        >>> next(line.strip() for line in module.splitlines() if "func @kernel" in line)
        'llvm.func @kernel(!llvm.struct<(ptr, i32, i64)>, f32)'
    """

    callee: str
    include_num_args: bool = False
    struct_call: bool = False
    args: Sequence[Entry] | None = field(default=None, kw_only=True)
    returns_status: bool | None = field(default=None, kw_only=True)
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True

    cache_key = fields_key

    @property
    def one_at_a_time(self) -> bool:
        """Whether structs are passed in memory, and so are written one after the other."""
        return not self.struct_call

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the stores and the call."""
        b, name = context.builder, type(self).__name__
        for step in _STEPS:
            b.block = _checked(self, step, getattr(self, step)(b.block, context))
        if self.struct_call:
            arguments = convert_items(name, self.args, context, self.arguments_of)
            count = len(arguments)
        else:
            passed = items(name, self.args, context)
            groups = (self._group(context, item) for item in passed)
            pointers = [self._in_memory(context, group) for group in groups if group is not None]
            left = [r for r in value_results(context) if r.name not in context.places]
            pointers += [result_pointer(context, result) for result in left]
            array = self._array(context, pointers)
            arguments = [Argument(array, name="the array of pointers", of=tuple(passed))]
            count = len(pointers)
        if self.include_num_args:
            arguments.append(Argument(b.i32(count), name="the number of pointers"))
        result = {True: b.types.i32, False: b.types.void, None: None}[self.returns_status]
        status = call(name, context, self.callee, arguments, result, results=self.struct_call)
        if self.returns_status is not None and self.returns_status == (status is None):
            raise BuildError(
                f"{name}: returns_status={self.returns_status}, but the callee "
                f"@{self.callee} in the module returns {'nothing' if status is None else 'i32'}"
            )
        check_status(context, self.callee, status)
        if not self.struct_call:
            set_results(context)
        # The provider may be called for another branch of the wrapper, where the steps run again.
        context.steps = {key: ran for key, ran in context.steps.items() if key[0] != id(self)}
        return b.block

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make the steps of the subclass run once for each call."""
        super().__init_subclass__(**kwargs)
        for name in _STEPS:
            step = getattr(cls, name)
            is_own = step is not getattr(DynamicParamPackCallProvider, name)
            if is_own and isinstance(step, FunctionType) and not hasattr(step, "_runs_once"):
                setattr(cls, name, _once(name, cast("_Step", step)))

    def declare_extern_funcs(self, current_block: Block, context: CallContext) -> Block:
        """Declare the functions that the other steps call; return the block to go on in."""
        return current_block

    def insert_lazy_init_cuda(self, current_block: Block, context: CallContext) -> Block:
        """Emit the initialisation before the first call; return the block to go on in."""
        return current_block

    def insert_set_cuda_device(self, current_block: Block, context: CallContext) -> Block:
        """Emit code that makes the tensors' device current; return the block to go on in."""
        return current_block

    def get_callee_struct_for_param_tensor(
        self,
        param: spec.Tensor,
        current_block: Block,
        data: Value,
        shape: list[Value],
        strides: list[Value],
        flatten_struct: Type,
    ) -> Type:
        """Return the type of the struct that the callee takes for a tensor.

        The leaves of the struct, including those of nested structs and arrays, are filled in order
        with the values of :meth:`tensor_members`; a pointer may be of another address space.

        Args:
            param: the tensor.
            current_block: the block at whose end operations are added.
            data: the first member.
            shape: the members for dimensions.
            strides: the members for strides, and any further members.
            flatten_struct: the struct of the members, which this method returns by default.
        """
        return flatten_struct

    def tensor_members(self, context: CallContext, tensor: spec.Tensor) -> list[Value]:
        """Return the members of a tensor's struct, in order."""
        members = [context.data(tensor), *dynamic(tensor.dims, context.shape(tensor))]
        if tensor.stride_entries is not None:
            members += dynamic(tensor.stride_entries, context.strides(tensor))
        return members

    def _tensor_group(
        self, context: CallContext, tensor: spec.Tensor, there: Value | None
    ) -> _Group:
        members, b = self.tensor_members(context, tensor), context.builder
        method = type(self).get_callee_struct_for_param_tensor
        if method is DynamicParamPackCallProvider.get_callee_struct_for_param_tensor:
            return _Group(members, is_struct=True, there=there)
        flat = b.types.struct([member.type for member in members])
        split = 1 + sum(not isinstance(dim, int) for dim in tensor.dims)
        wanted = self.get_callee_struct_for_param_tensor(
            tensor, b.block, members[0], members[1:split], members[split:], flat
        )
        what = f"{type(self).__name__}: the struct of {tensor.name!r}"
        return _Group([filled(what, b, wanted, members)], there=there)

    def _group(self, context: CallContext, item: Item) -> _Group | None:
        there = present(context, item)
        match plain(item):
            case spec.Tensor(any_rank=True) as tensor:
                return _Group([context.dltensor(tensor)], is_pointer=True)
            case ResultPointer():
                return _Group([scalar_argument(context, item).value], is_pointer=True)
            case spec.Tensor() as tensor:
                return self._tensor_group(context, tensor, there)
            case spec.TensorList() | spec.List() | spec.Map(key=str()) | spec.VarArgs() as items:
                return _Group(list_values(context, items), is_struct=True, there=there)
            case spec.Shape() as shape:
                values = [argument.value for argument in shape_arguments(context, shape)]
                return _Group(values, is_struct=True, there=there) if values else None
            case _:
                arguments = scalar_arguments(context, item)
                values = [argument.value for argument in arguments]
                extension = arguments[0].extension
                return _Group(values, len(values) > 1, extension=extension, there=there)

    def arguments_of(self, context: CallContext, item: Item) -> list[Argument]:
        """Return the arguments for one entry of ``args=``, with ``struct_call``."""
        group = self._group(context, item)
        if group is None:
            return []
        if group.is_struct:
            return [Argument(context.builder.pack(group.members))]
        return [Argument(group.members[0], group.extension)]

    def _in_memory(self, context: CallContext, group: _Group) -> Value:
        """Write the members to the stack, each at its natural alignment."""
        b = context.builder
        if group.is_pointer:
            return group.members[0]
        members = [stored(b, value) for value in group.members]
        struct = b.types.struct([member.type for member in members])
        space = b.alloca(struct)
        for index, member in enumerate(members):
            b.store(member, b.member(space, struct, index))
        return space if group.there is None else b.select(group.there, space, b.null())

    def _array(self, context: CallContext, pointers: list[Value]) -> Value:
        b = context.builder
        if not pointers:
            return b.null()
        array = b.alloca(b.types.ptr, len(pointers))
        for index, pointer in enumerate(pointers):
            b.store(pointer, b.offset(array, 8 * index))
        return array


@dataclass(frozen=True)
class _Group:
    """The data that one pointer points to."""

    members: list[Value]
    is_struct: bool = False
    is_pointer: bool = False
    """Whether the only member is the pointer to pass."""
    extension: str = ""
    there: Value | None = None
    """An i1 that is false if the parameter is absent; None if it is always present."""


_STEPS: Final = ("declare_extern_funcs", "insert_lazy_init_cuda", "insert_set_cuda_device")
"""Methods that are called before the call is emitted, each with the block and the context."""


@dataclass(frozen=True)
class NestedTensorCallProvider:
    """Calls a function that takes each tensor as one struct, as CuTe's host functions do.

    For ``x: Tensor([n, m, 4], …, strides=[s, 4, 1])`` on a GPU, with int32 ``n`` and ``m`` and an
    int64 ``s``, the struct is ``!llvm.struct<(ptr<1>, struct<(struct<(i32, i32)>, i64)>)>``: the
    data pointer, then shape and strides. Shape and strides leave out ints. Symbols have their own
    type; expressions, None and computed strides are i64. A single entry is the scalar itself, and
    no entry is an empty struct. A contiguous tensor (strides None, ``"C"`` or ``"F"``) has computed
    strides, except those that only ints determine.

    All other items are passed as :class:`DirectCallProvider` passes them. If the callee returns an
    i32, it is a status: any value other than 0 raises an error.

    Args:
        callee: the symbol to call; declared (as void) if the module has none of that name.
        args: the items to pass, in order; left out, every parameter except constants.
        address_space: LLVM's address space of the data pointers; left out, 0 for tensors on the
            CPU and 1 for all others.

    Raises:
        BuildError: when attached, if the callee is in the module and takes other arguments, or if
            a tensor may be on any device and no address space is given.

    Examples:
        >>> from ffi_builder import providers, spec, testing
        >>> n, m = spec.dims("n m", "int32")
        >>> x = spec.Tensor("x", [n, m, 4], "float16", device_type="cuda")
        >>> provider = providers.NestedTensorCallProvider("softmax")
        >>> module = testing.emit(spec.Signature("softmax", [x]), provider, whole=True)
        >>> next(line.strip() for line in module.splitlines() if "func @softmax" in line)
        'llvm.func @softmax(!llvm.struct<(ptr<1>, struct<(struct<(i32, i32)>, i64)>)>)'
    """

    callee: str
    args: Sequence[Entry] | None = field(default=None, kw_only=True)
    address_space: int | None = field(default=None, kw_only=True)
    trusted: ClassVar[bool] = True
    borrows_tensors: ClassVar[bool] = True

    cache_key = fields_key

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call."""
        name, space = type(self).__name__, self.address_space
        if space is not None and (type(space) is not int or not 0 <= space < _SPACES):
            raise BuildError(
                f"{name}: address_space: expected 0 to {_SPACES - 1} but got {space!r}"
            )
        arguments = convert_items(name, self.args, context, self.arguments_of)
        check_status(context, self.callee, call(name, context, self.callee, arguments))
        return context.builder.block

    def arguments_of(self, context: CallContext, item: Item) -> list[Argument]:
        """Return the arguments for one entry of ``args=``."""
        return c_arguments(context, item, self._tensor)

    def _tensor(self, context: CallContext, tensor: spec.Tensor) -> list[Value]:
        if tensor.any_rank:
            return [context.dltensor(tensor)]
        b = context.builder
        layout = b.pack([_nested(context, values) for values in dynamic_layout(context, tensor)])
        return [b.pack([self._data(context, tensor), layout])]

    def _data(self, context: CallContext, tensor: spec.Tensor) -> Value:
        b, data, space = context.builder, context.data(tensor), self.address_space
        if space is None and tensor.device == ANY:
            path = path_of(context, tensor)
            raise BuildError(
                f"{type(self).__name__}: {path!r} may be on any device, so give the address space "
                f"of its pointer: address_space=0, or 1 for device memory"
            )
        if space is None:
            space = 0 if tensor.device == "cpu" else _DEVICE_SPACE
        # No addrspacecast: not every backend has one between these.
        return b.to_pointer(b.to_int(data), space) if space else data


def dynamic_layout(context: CallContext, tensor: spec.Tensor) -> list[list[Value]]:
    """Return the values of the shape, and of the strides, without entries that are ints."""
    return [
        dynamic(tensor.dims, context.shape(tensor)),
        dynamic(_known_strides(tensor), context.strides(tensor)),
    ]


def _known_strides(tensor: spec.Tensor) -> Sequence[spec.Dim | None]:
    """Return the strides; for a contiguous tensor, 1 in place of any int, and None for the rest."""
    if tensor.stride_entries is not None:
        return tensor.stride_entries
    column_major = tensor.order == "F"
    known: list[spec.Dim | None] = []
    for axis in range(tensor.ndim):
        inner = tensor.dims[:axis] if column_major else tensor.dims[axis + 1 :]
        known.append(1 if all(isinstance(dim, int) for dim in inner) else None)
    return known


def _nested(context: CallContext, values: list[Value]) -> Value:
    """Return a struct of the values, or a single value itself."""
    return values[0] if len(values) == 1 else context.builder.pack(values)
