"""What a call provider is given: the decoded arguments of a call that has passed all checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ffi_builder import spec
from ffi_builder.ir import Block, Builder, CheckingBuilder, Module, Symbols, Type, Value


@dataclass(frozen=True)
class ModuleContext:
    """What ``prepare`` is given, once for each wrapper, before its function is begun."""

    module: Module
    symbols: Symbols
    signature: spec.Signature

    def define(self, name: str, result: Type, parameters: Sequence[Type]) -> Builder:
        """Add an internal function, and return a builder at its beginning.

        Its arguments are ``builder.entry.arguments``; the caller ends it with ``builder.ret``.

        Raises:
            BuildError: if the module has a symbol of that name.
        """
        internal = {"linkage": self.symbols.types.attribute("#llvm.linkage<internal>")}
        function = self.symbols.function(name, result, parameters, internal, body=True)
        entry = function.regions[0].blocks[0]
        return Builder(self.symbols, function, entry, self.symbols.location)


class Decoded(Protocol):
    """Where a context has its values from; the builder implements it."""

    def value(self, item: spec.Dim) -> Value:
        """See :meth:`CallContext.value`."""
        ...

    def data(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.data`."""
        ...

    def shape(self, tensor: spec.Param, *, wide: bool) -> list[Value]:
        """See :meth:`CallContext.shape`."""
        ...

    def strides(self, tensor: spec.Param, *, wide: bool) -> list[Value]:
        """See :meth:`CallContext.strides`."""
        ...

    def ndim(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.ndim`."""
        ...

    def dtype(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.dtype`."""
        ...

    def device_type(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.device_type`."""
        ...

    def device_id(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.device_id`."""
        ...

    def dltensor(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.dltensor`."""
        ...

    def entries(self, shape: spec.Param) -> list[Value]:
        """See :meth:`CallContext.entries`."""
        ...

    def text(self, param: spec.Param) -> tuple[Value, Value]:
        """See :meth:`CallContext.text`."""
        ...

    def present(self, param: spec.Param) -> Value:
        """See :meth:`CallContext.present`."""
        ...

    def may_be_absent(self, param: spec.Param) -> bool:
        """See :meth:`CallContext.may_be_absent`."""
        ...

    def scalar(self, param: spec.Param) -> Value:
        """See :meth:`CallContext.scalar`."""
        ...

    def any(self, param: spec.Param) -> Value:
        """See :meth:`CallContext.any`."""
        ...


@dataclass
class CallContext:
    """The decoded arguments of one call, and the builder to emit it with.

    Attributes:
        fn_name: the name that errors show.
        module: the module that the wrapper is in.
        entry_block: the wrapper's first block, for stack space.
        params: the parameters of the signature.
        env_stream: the current stream of the first device tensor, if the signature asks for it.
        raw_args, raw_num_args, raw_result: the arguments of the wrapper itself.
        builder: emits operations; its cursor is at the end of the current block.
        matched_var_binding: the value of every symbol, in the symbol's own type.
        signature: what the wrapper accepts.
        symbols: the module's symbols: declarations, globals.
        returned: what the callee of the last call returned, or None if it returned nothing; the
            ready-made providers note it for what is around them.
        status_wanted: set by what is around a provider and looks at ``returned`` itself: the
            provider then checks no status, and declares a callee that is not there to return an
            i32.
        results: what the provider sets where the signature returns scalars: a Value for each, in
            order and in its own type. (Tensors that are returned are there before the call, and
            ``data``, ``shape`` and the rest take them as they take those of ``params``.)
    """

    fn_name: str
    module: Module
    entry_block: Block
    params: Sequence[spec.Param]
    env_stream: Value | None
    raw_args: Value
    raw_num_args: Value
    raw_result: Value
    builder: CheckingBuilder
    matched_var_binding: Mapping[spec.Var, Value]
    signature: spec.Signature
    decoded: Decoded
    returned: Value | None = None
    status_wanted: bool = False
    results: Sequence[Value] | None = None

    @property
    def symbols(self) -> Symbols:
        """The module's symbols: declarations, globals."""
        return self.builder.symbols

    def value(self, item: spec.Dim) -> Value:
        """A symbol in its own type, an expression (checked for overflow) or int as an i64."""
        return self.decoded.value(item)

    def data(self, tensor: spec.Param) -> Value:
        """The address of a tensor's first element: data + byte_offset; NULL if it is absent."""
        return self.decoded.data(tensor)

    def shape(self, tensor: spec.Param, *, wide: bool = False) -> list[Value]:
        """Every dimension, in elements: symbols in their own type, or ``wide`` as i64 too.

        Of an absent tensor, what is no symbol or int is 0.
        """
        return self.decoded.shape(tensor, wide=wide)

    def strides(self, tensor: spec.Param, *, wide: bool = False) -> list[Value]:
        """Every stride, in elements, also where the spec has none; as :meth:`shape`.

        Of an absent tensor that would have to be contiguous, the innermost is 1 and the others 0.
        """
        return self.decoded.strides(tensor, wide=wide)

    def ndim(self, tensor: spec.Param) -> Value:
        """How many dimensions a tensor came with, as an i32; 0 if it is absent."""
        return self.decoded.ndim(tensor)

    def dtype(self, tensor: spec.Param) -> Value:
        """The ``DLDataType`` that a tensor came with, as an i32; 0 if it is absent."""
        return self.decoded.dtype(tensor)

    def device_type(self, tensor: spec.Param) -> Value:
        """The ``DLDeviceType`` that a tensor came with, as an i32; 0 if it is absent."""
        return self.decoded.device_type(tensor)

    def device_id(self, tensor: spec.Param) -> Value:
        """The device id of a tensor, as an i32; 0 if it is absent."""
        return self.decoded.device_id(tensor)

    def dltensor(self, tensor: spec.Param) -> Value:
        """The ``DLTensor*`` of a tensor, borrowed; NULL if it is absent."""
        return self.decoded.dltensor(tensor)

    def entries(self, shape: spec.Param) -> list[Value]:
        """Every entry of a Shape: symbols in their own type, ints and expressions as i64.

        Of an absent one the expressions are 0.
        """
        return self.decoded.entries(shape)

    def text(self, param: spec.Param) -> tuple[Value, Value]:
        """Pointer and length (i64, in bytes) of a String or Bytes; NULL and 0 if it is absent.

        The bytes are valid during the call.
        """
        return self.decoded.text(param)

    def present(self, param: spec.Param) -> Value:
        """Whether a parameter is there, as an i1; it may not be if it is, or is in, an Optional."""
        return self.decoded.present(param)

    def may_be_absent(self, param: spec.Param) -> bool:
        """Whether a parameter is an Optional, or within one; False for a symbol that is none."""
        return self.decoded.may_be_absent(param)

    def scalar(self, param: spec.Param) -> Value:
        """The value of a parameter that is one value; 0 or NULL if it is absent.

        (An absent Var that something else binds has that value.)

        A Var and a Choice have the type of their dtype, a DType is an i32, a Device an i64, and all
        else a pointer: streams, DataPointers, and objects (borrowed).
        """
        return self.decoded.scalar(param)

    def any(self, param: spec.Param) -> Value:
        """The address of the ``TVMFFIAny`` that an argument, or an element of one, came as.

        It is one of None if it is in a tuple that is absent. A symbol that several parameters are
        is the first of them that is there.
        """
        return self.decoded.any(param)
