"""The contexts of call providers: the module, and the decoded arguments of a checked call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

from ffi_builder import abi, spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, CheckingBuilder, Module, Symbols, Value
from ffi_builder.ir.builder import Builder
from ffi_builder.ir.protocols import Type
from ffi_builder.ir.symbols import misspelt
from ffi_builder.providers.c_strings import c_string, c_strings, free, free_on_error
from ffi_builder.records import dataclass
from ffi_builder.spec.dtypes import DataType, parse_dtype
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.tensors.tensor import Data


@dataclass(frozen=True)
class ModuleContext:
    """The context of ``prepare`` and ``cache_key``, before the wrapper's function begins.

    It has the ``module``, its ``symbols``, and the ``signature`` of the wrapper.

    Examples:
        A helper function that is emitted once, before the function that calls it:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, runtime, spec
        >>> n = spec.Var("n", "int64")
        >>> class Squared:
        ...     def prepare(self, context):
        ...         i64 = context.symbols.types.i64
        ...         b = context.define("square", i64, [i64])
        ...         [value] = b.entry.arguments
        ...         b.ret(b.mul(value, value))
        ...     def __call__(self, current_block, context):
        ...         b = context.builder
        ...         context.results = [b.call_value("square", [context.value(n)], b.types.i64)]
        ...         return b.block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("square", [n], spec.Var("y", "int64")), Squared())
        >>> runtime.compile(module)["square"](12)
        144
    """

    module: Module
    symbols: Symbols
    signature: spec.Signature

    def define(self, name: str, result: Type, parameters: Sequence[Type]) -> Builder:
        """Add an internal function, and return a builder at its beginning.

        Its arguments are ``builder.entry.arguments``; the caller ends it with ``builder.ret``.

        Raises:
            BuildError: if the module has a symbol of that name.
        """
        return Builder.define(self.symbols, name, result, parameters)


def _differ(dtypes: Sequence[str]) -> bool:
    """Return whether elements of these dtypes differ in memory."""
    return len(dtypes) > 1 and len(set(map(_in_memory, dtypes))) > 1


def _in_memory(dtype: str) -> DataType:
    """Return a dtype; for integers and bools, the signed integer of the same width."""
    parsed = parse_dtype(dtype)
    is_integer = parsed.code in map(abi.DTYPE_CODES.__getitem__, ("int", "uint", "bool"))
    return parsed._replace(code=abi.DTYPE_CODES["int"]) if is_integer else parsed


def _source(tensor: spec.Tensor) -> spec.Tensor:
    """Return the tensor that the dtype is originally taken from, maybe this tensor itself."""
    while (source := tensor.source("dtype")) is not None:
        tensor = source
    return tensor


@dataclass(frozen=True)
class OwnedAny:
    """The address of a ``TVMFFIAny`` whose value the wrapper takes over, as a result.

    If the value is of another kind than the result, the wrapper releases it and raises a TypeError.

    Examples:
        The wrapper returns the value of a Python function unchanged:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, call_packed, packed, providers, runtime, spec
        >>> make = spec.Function("make")
        >>> def provider(current_block, context):
        ...     function = packed.FunctionObject(context.scalar(make))
        ...     call = call_packed(context.builder, function, ["q"], result="any")
        ...     context.results = [providers.OwnedAny(call.value)]
        ...     return call.block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("named", [make], spec.String("name")), provider)
        >>> runtime.compile(module)["named"](lambda name: f"{name}_proj")
        'q_proj'
    """

    address: Value


@dataclass
class CallContext(ABC):
    """The decoded arguments of one call, and the builder to emit it with.

    The builder of wrappers implements the abstract methods.

    Attributes:
        fn_name: the function's name in errors.
        module: the module that contains the wrapper.
        entry_block: the wrapper's first block, for stack space.
        params: the parameters of the signature.
        env_stream: the current stream of the first device tensor, if the signature has an
            EnvStream.
        raw_args, raw_num_args, raw_result: the arguments of the wrapper itself.
        builder: emits operations; its cursor is at the end of the current block.
        signature: the parameters and results of the wrapper.
        variables: the symbols of the signature that have one value, in the order of their first
            occurrences.
        symbols: the module's symbols: declarations, globals.
        returned: the value that the callee of the last call returned, or None if it returned
            nothing. The ready-made providers set it for providers that wrap them.
        status_wanted: set by a wrapping provider that checks ``returned`` itself. The inner
            provider then checks no status, and declares an absent callee to return an i32.
        results: set by the provider if the signature returns anything but tensors and shapes: a
            Value for each such result, in order. The Value for a Var has the Var's own type. For a
            String or Bytes it is a struct of pointer and length (an i64), whose bytes are copied.
            For an object it is a pointer, whose reference the wrapper takes over, or NULL for None.
            For all but a Var, it may be an :class:`OwnedAny` instead. (Result tensors are allocated
            before the call; ``data``, ``shape`` and similar methods accept them like the tensors of
            ``params``.)
        called: the name of the last function called, as a C string, if it depends on the call.
        known: tensors that are restricted here by a condition that has been tested: each with a
            Tensor of fewer dtypes, of a known rank, without strides, or with ints for symbols in
            its shape and strides.
        places: by the name of a result, the address where the callee writes it.
        steps: the steps of providers that run (False) or have run (True) for the call that is
            emitted, by the provider's ``id`` and the step's name.
        asked: the tensors whose address (``"data"``) or dtype the provider has asked for, and the
            tensors whose dtype does not matter (``"any"``), in order.
        copies: the memory of texts that end in a NUL, which is freed once the provider is done,
            each with the block of errors before it.

    Examples:
        A provider that calls C's ``memset``:

        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, runtime, spec
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n], "float32", device_type="cpu")
        >>> def provider(current_block, context):
        ...     b = context.builder
        ...     ptr, i32, i64 = b.types.ptr, b.types.i32, b.types.i64
        ...     context.symbols.declare("memset", ptr, [ptr, i32, i64])
        ...     b.call("memset", [context.data(x), b.i32(0), context.value(n * 4)], ptr)
        ...     return b.block
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("zero", [x]), provider)
        >>> array = np.ones(3, "float32")
        >>> runtime.compile(module)["zero"](array)
        >>> array
        array([0., 0., 0.], dtype=float32)
    """

    fn_name: str
    module: Module
    entry_block: Block
    params: Sequence[spec.Param]
    raw_args: Value
    raw_num_args: Value
    raw_result: Value
    builder: CheckingBuilder
    signature: spec.Signature
    variables: Collection[spec.Var]
    env_stream: Value | None = None
    returned: Value | None = None
    status_wanted: bool = False
    results: Sequence[Value | OwnedAny] | None = None
    called: Value | None = None
    known: Mapping[spec.Tensor, spec.Tensor] = field(
        default_factory=dict["spec.Tensor", "spec.Tensor"]
    )
    places: dict[str, Value] = field(default_factory=dict[str, Value])
    steps: dict[tuple[int, str], bool] = field(default_factory=dict[tuple[int, str], bool])
    asked: dict[tuple[str, spec.Tensor], None] = field(
        default_factory=dict[tuple[str, "spec.Tensor"], None]
    )
    copies: list[tuple[Value, Block | None]] = field(
        default_factory=list[tuple[Value, Block | None]]
    )

    @property
    def symbols(self) -> Symbols:
        """The module's symbols: declarations, globals."""
        return self.builder.symbols

    @property
    def passed(self) -> list[spec.Param]:
        """The parameters and the result tensors: everything that a kernel may get."""
        return [*self.params, *self.signature.result_tensors]

    @property
    def matched_var_binding(self) -> Binding:
        """The value of every symbol, in the symbol's own type.

        It also maps ``x.data`` to :meth:`address`, and parts of parameters (``spec.Field``) to
        their values.
        """
        return Binding(self)

    @abstractmethod
    def value(self, item: spec.Dim) -> Value:
        """A symbol in its own type; an expression (checked for overflow) or int as an i64."""

    def data(self, tensor: spec.Param) -> Value:
        """The address of a tensor's first element: data + byte_offset; NULL if it is absent.

        Attaching raises a BuildError if the tensor may have several dtypes that are not integers of
        one width, and the provider neither asks for the dtype nor calls :meth:`any_dtype`.
        """
        self._ask("data", tensor)
        return self.address(tensor)

    @abstractmethod
    def address(self, tensor: spec.Param) -> Value:
        """Like :meth:`data`, for a kernel that works on each of the tensor's dtypes."""

    def any_dtype(self, tensor: spec.Param) -> None:
        """Declare that the kernel works on each of the dtypes that a tensor may have."""
        self._ask("any", tensor)

    def _ask(self, what: str, param: spec.Param) -> None:
        tensor = spec.required(param)
        if isinstance(tensor, spec.Tensor):
            self.asked[what, tensor] = None

    def check_dtypes(self, provider: str, callee: str | None, *, takes_args: bool) -> None:
        """Check that the kernel can know the dtype of each tensor whose address it gets.

        Args:
            provider: the provider's name, for errors.
            callee: the function that it calls, which may be misspelt, so that nothing says whether
                it takes a dtype.
            takes_args: whether the provider has an ``args=``. If so, errors give advice about
                ``args=``, otherwise to the provider's author.

        Raises:
            BuildError: the kernel cannot know the dtype.
        """
        addresses = [tensor for what, tensor in self.asked if what == "data"]
        open_ = [tensor for tensor in addresses if _differ(_source(tensor).element_dtypes)]
        if not open_:
            return
        any_dtype = {_source(tensor) for what, tensor in self.asked if what == "any"}
        told = {_source(tensor) for what, tensor in self.asked if what == "dtype"}
        paths = self._paths()
        for tensor in open_:
            source = _source(tensor)
            # Equal parameters cannot be told apart: one was asked for, but another may be passed.
            equal = paths.get(source, [])
            several = len(equal) > 1
            dtypes = (source if several else self.known.get(source, source)).element_dtypes
            if source in any_dtype or not _differ(dtypes) or (source in told and not several):
                continue
            path, name = paths.get(tensor, [tensor.name])[0], tensor.name
            cure, any_ = f"pass '{path}.dtype' too", f"'{path}.data'"
            if not takes_args:
                cure, any_ = f"pass context.dtype({name}) too", f"call context.any_dtype({name})"
            if several:
                cure = f"give {' and '.join(equal)} different names, as they are equal otherwise"
            first = "" if callee is None else misspelt(self.symbols, callee)
            raise BuildError(
                f"{provider}: {first}{type(tensor).__name__} {path!r} may have the dtypes "
                f"{', '.join(dtypes)}, and the kernel gets its address alone: {cure}, or {any_} "
                f"if the kernel works on any of them, or choose a kernel for each with "
                f"VariantsCallProvider"
            )

    def _paths(self) -> dict[spec.Tensor, list[str]]:
        """Return the paths of the tensor parameters and results; equal tensors share a list."""
        paths: dict[spec.Tensor, list[str]] = {}
        for path, param in spec.with_paths(self.passed):
            tensor = spec.required(param)
            if isinstance(tensor, spec.Tensor):
                paths.setdefault(tensor, []).append(path)
        return paths

    @abstractmethod
    def shape(self, tensor: spec.Param, *, wide: bool = False) -> list[Value]:
        """Every dimension, in elements: symbols in their own type, or with ``wide`` as i64 too.

        If the tensor is absent, dimensions other than symbols and ints are 0.
        """

    @abstractmethod
    def strides(self, tensor: spec.Param, *, wide: bool = False) -> list[Value]:
        """Every stride, in elements, with types as in :meth:`shape`; computed if the spec has none.

        If a contiguous tensor is absent, the innermost is 1 and the others are 0.
        """

    @abstractmethod
    def is_contiguous(self, tensor: spec.Param) -> Value:
        """Whether a tensor is present and, as the kernel sees it, row-major contiguous; an i1."""

    @abstractmethod
    def ndim(self, tensor: spec.Param) -> Value:
        """The number of dimensions of a tensor, as an i32; 0 if it is absent."""

    @abstractmethod
    def dtype(self, tensor: spec.Param) -> Value:
        """The ``DLDataType`` of a tensor, as an i32; 0 if it is absent."""

    @abstractmethod
    def device_type(self, tensor: spec.Param) -> Value:
        """The ``DLDeviceType`` of a tensor, as an i32; 0 if it is absent."""

    @abstractmethod
    def device_id(self, tensor: spec.Param) -> Value:
        """The device id of a tensor, as an i32; 0 if it is absent."""

    @abstractmethod
    def dltensor(self, tensor: spec.Param) -> Value:
        """The ``DLTensor*`` of a tensor, borrowed; NULL if it is absent."""

    @abstractmethod
    def list_part(self, tensors: spec.Param, part: str) -> Value:
        """The part of a list: a pointer, or for ``"length"`` an i64; NULL or 0 if it is absent.

        Of VarArgs, ``"data"`` points to their ``TVMFFIAny``, of which there may be none.

        Of a List, ``"data"`` points to the elements; of one of lists, ``"pointers"`` points to an
        array with the address of each row, and ``"lengths"`` to their lengths, int64s. Of a
        Map of numbers, ``"keys"`` and ``"values"`` point to these. Of a
        TensorList, ``"pointers"`` points to an array with the address of each element's data,
        ``"shapes"`` and ``"strides"`` to arrays with an int64 for each dimension of each element.
        All are in host memory, and valid during the call.

        Raises:
            BuildError: ``"pointers"`` of elements with several possible dtypes, which the kernel
                could not tell apart.
        """

    @abstractmethod
    def _variant_part(self, variant: spec.Param, part: str) -> Value:
        """The part of a Variant: ``"which"``, an i32, or one of its numbers; 0 if it did not come.

        Its other parameters are those of ``variant.params``, which are absent if they did not come.
        """

    def part(self, field: spec.Field) -> Value:
        """The value of a part of a parameter, such as ``spec.Field(x, "device_id")``."""
        match spec.required(field.param), field.part:
            case spec.List(), "c_str":
                return self._c_strings(field.param)
            case (
                spec.TensorList() | spec.List() | spec.Map() | spec.VarArgs(),
                part,
            ) if part != "present":
                value = self.list_part(field.param, part)
                return self._length(field, value) if part == "length" else value
            case spec.Variant(), part if part != "present":
                return self._variant_part(field.param, part)
            case _, "c_str":
                return self._c_str(field.param)
            case _, "data":
                return self.text(field.param)[0]
            case _, "length":
                return self._length(field, self.text(field.param)[1])
            case _, part:
                return getattr(self, part)(field.param)

    def _length(self, field: spec.Field, length: Value) -> Value:
        """Return a length as an integer of the dtype of a part, which it has to fit."""
        if field.dtype in ("int64", "uint64"):
            return length
        b, (low, high) = self.builder, INT_RANGES[field.dtype]
        path = f"{path_of(self, field.param)}.length"
        words = f"{path} is {{}}, which does not fit {field.dtype} ({low} to {high})"
        b.check(b.ule(length, b.i64(high)), "ValueError", words, length)
        return b.trunc(length, b.types.scalar(field.dtype))

    def _c_str(self, param: spec.Param) -> Value:
        """The address of a String or Bytes that ends in a NUL; NULL if it is absent.

        A call with a NUL inside is a ValueError. What has no NUL behind it is copied, until the
        provider is done.
        """
        b = self.builder
        pointer, copy = c_string(b, path_of(self, param), self.any(param), *self.text(param))
        self.copies.append((copy, b.cleanup))
        free_on_error(b, copy)
        return pointer

    def _c_strings(self, param: spec.Param) -> Value:
        """The addresses of the texts of a List, each as :meth:`_c_str` is; NULL if it is absent."""
        b, before = self.builder, self.builder.cleanup
        texts, length = (self.list_part(param, part) for part in ("data", "length"))
        memory = c_strings(b, path_of(self, param), texts, length)
        self.copies.append((memory, before))
        return b.select(self.present(param), memory, b.null())

    @abstractmethod
    def entries(self, shape: spec.Param) -> list[Value]:
        """Every entry of a Shape: symbols in their own type, ints and expressions as i64.

        If the Shape is absent, expressions are 0.
        """

    @abstractmethod
    def text(self, param: spec.Param) -> tuple[Value, Value]:
        """Pointer and length (i64, in bytes) of a String or Bytes; NULL and 0 if it is absent.

        The bytes are valid during the call.
        """

    @abstractmethod
    def present(self, param: spec.Param) -> Value:
        """Whether a parameter is present, as an i1; Optionals and their parts may be absent."""

    @abstractmethod
    def may_be_absent(self, param: spec.Param) -> bool:
        """Whether a parameter is an Optional or a part of an Optional."""

    @abstractmethod
    def scalar(self, param: spec.Param) -> Value:
        """The value of a parameter that is one value; 0 or NULL if it is absent.

        An absent Var that another parameter binds has the value of that parameter. A Var and a
        Choice have the type of their dtype, a DType is an i32, a Device an i64; streams,
        DataPointers and objects (borrowed) are pointers.
        """

    @abstractmethod
    def any(self, param: spec.Param) -> Value:
        """The address of the ``TVMFFIAny`` of an argument, or of an element of an argument.

        An element of an absent tuple is None. If several parameters are the same symbol, the
        address is that of the first one that is present.
        """


def path_of(context: CallContext, param: spec.Param) -> str:
    """Return the name of a parameter in errors, such as ``cfg.A``."""
    known, plain = spec.with_paths(context.passed), spec.required(param)
    return next(path for path, item in known if spec.required(item) == plain)


def free_copies(context: CallContext) -> None:
    """Free the memory that texts were copied to."""
    b = context.builder
    while context.copies:
        copy, b.cleanup = context.copies.pop()
        free(b, copy)


class Binding(Mapping[spec.Var, Value]):
    """Maps each symbol to its value, in its own type.

    The data pointer of a tensor (``x.data``) and other parts of parameters
    (:class:`~ffi_builder.spec.Field`) can be looked up too, but are not listed.
    """

    def __init__(self, context: CallContext) -> None:
        self._context = context

    def __getitem__(self, key: spec.Var | Data | spec.Field) -> Value:
        match key:
            case Data(tensor=tensor):
                return self._context.address(tensor)
            case spec.Field():
                return self._context.part(key)
            case spec.Var() if key in self._context.variables:
                return self._context.value(key)
            case spec.Var():
                raise KeyError(key)
            case _:  # pyright: ignore[reportUnnecessaryComparison] # providers may be untyped
                raise KeyError(
                    f"{key!r}, which is not a symbol; context.device_id(x) has a device id"
                )

    def __iter__(self) -> Iterator[spec.Var]:
        return iter(self._context.variables)

    def __len__(self) -> int:
        return len(self._context.variables)

    def __repr__(self) -> str:
        return f"<the values of {', '.join(var.name for var in self) or 'no symbols'}>"
