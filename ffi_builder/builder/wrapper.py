"""Attaches a wrapper to a module.

``attach(module, matmul, provider)`` adds to the module::

    llvm.func @__tvm_ffi_matmul(%handle: !llvm.ptr, %args: !llvm.ptr, %num_args: i32,
                                %result: !llvm.ptr) -> i32 { … }
    llvm.mlir.global internal constant @__ffi_builder_table_matmul("…")

and, once per module, the diagnosis (``@__ffi_builder_shared_…``) with the declarations it needs.

Checks that fail branch to these blocks. For a function of two arguments, one of them a list whose
memory is compared::

  ^slow:                                          // any check
    llvm.br ^wrong(2)
  ^wrong(%given):                                 // the number of arguments
    %status = llvm.call tail @__ffi_builder_shared_diagnose(%args, %given, @table)
    llvm.return %status
  ^overlapping:                                   // memory, once all other checks have passed
    %status = llvm.call tail @__ffi_builder_shared_diagnose_overlaps(%args, 2, @table, …)
    llvm.return %status

If no lists are compared, a single call of the diagnosis serves all checks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ffi_builder import abi, spec
from ffi_builder.builder.fast_path.context import FastPath
from ffi_builder.builder.fast_path.emit import emit_fast_path
from ffi_builder.builder.fast_path.lists import release, reserve
from ffi_builder.builder.names import backtrace, check_free, checked_name, location_of_wrapper
from ffi_builder.builder.results import Results
from ffi_builder.builder.reuse import Names, Template
from ffi_builder.builder.sanitize import AroundCall, GivenTensors, Watch, watch
from ffi_builder.builder.values import DecodedValues
from ffi_builder.builder.verify import verify_added
from ffi_builder.diagnosis.encode import encode
from ffi_builder.diagnosis.writing import Table
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block, CheckingBuilder, Module, Symbols, Value
from ffi_builder.ir.builder import Builder, call_extern
from ffi_builder.ir.checking import declare_support, pass_through
from ffi_builder.ir.distribution import of_module
from ffi_builder.ir.protocols import Operation
from ffi_builder.ir.types import types_of
from ffi_builder.packed.anys import on_error, store_none
from ffi_builder.plan import Place, Plan, make_plan, steps
from ffi_builder.plan.messages import signature_text
from ffi_builder.plan.sanitize import watching
from ffi_builder.protocol import METADATA, TABLE, TRUSTED
from ffi_builder.providers.call import MismatchError
from ffi_builder.providers.context import ModuleContext
from ffi_builder.providers.provider import CallProvider, Members, check_provider
from ffi_builder.records import dataclass
from ffi_builder.spec.composite import HIDDEN, elements
from ffi_builder.spec.expr import Condition
from ffi_builder.spec.metadata import metadata_text
from ffi_builder.spec.outlines import argument_texts
from ffi_builder.spec.places import symbols_of_elements
from ffi_builder.spec.results import Result

if TYPE_CHECKING:  # an add-on has it
    from ffi_builder.addons import Sanitize


def distinct(params: Sequence[spec.Param]) -> tuple[spec.Param, ...]:
    """Copy objects that occur twice among the parameters, so that each stands for one place."""
    counts = Counter(id(param) for param in _every(params))

    def own(param: spec.Param) -> spec.Param:
        match param:
            case spec.TupleParam(params=inner) | spec.Variant(params=inner):
                return replace(param, params=tuple(map(own, inner)))
            case spec.Struct(fields=inner):
                return replace(param, fields=tuple(map(own, inner)))
            case spec.Optional(param=inner):
                return replace(param, param=own(inner))
            case _:
                return replace(param) if counts[id(param)] > 1 else param

    return tuple(own(param) for param in params)


def _every(params: Sequence[spec.Param]) -> Iterator[spec.Param]:
    for _, param in spec.with_paths(params):
        yield param
        if isinstance(param, spec.Optional):
            yield param.param


def argument_places(params: Sequence[spec.Param]) -> list[tuple[spec.Param, Place]]:
    """Return every argument with its place, including those in tuples."""
    arguments = [param for param in params if not isinstance(param, HIDDEN)]
    places: list[tuple[spec.Param, Place]] = []
    for index, param in enumerate(arguments):
        places += _places(param, Place((index,), param.name))
    return places


def _places(param: spec.Param, place: Place) -> Iterator[tuple[spec.Param, Place]]:
    yield param, place
    if isinstance(param, spec.Optional):
        yield param.param, place
    if isinstance(variant := spec.required(param), spec.Variant):
        for index, (part, each) in enumerate(variant.parts.items()):
            if not isinstance(each, spec.Var):  # a number is no symbol
                yield each, place.within(index, part)
        return
    for index, (path, element) in enumerate(elements(param, place.path)):
        yield from _places(element, Place((*place.position, index), path))


def emit_errors(fast: FastPath, arguments: int, table: Table, constant: str) -> None:
    """Emit calls of the diagnosis, which raises the errors; ``constant`` holds the table."""
    b, separate = fast.b, fast.overlapping is not fast.slow
    for cold, following in fast.doubts:
        b.block = cold
        operands = [fast.args, b.i32(arguments), b.address_of(constant)]
        b.cond_br(fast.shared(_named(fast, "nothing_is_wrong"), operands), following, fast.slow)
    _release_in(fast, fast.slow)
    b.br(fast.wrong, b.i32(arguments))
    b.block = fast.wrong
    _return_error(fast, fast.wrong.arguments[0], constant, 0 if separate else table.overlaps)
    if separate:
        _release_in(fast, fast.overlapping)
        _return_error(fast, b.i32(arguments), constant, table.overlaps)


def _release_in(fast: FastPath, block: Block) -> None:
    fast.b.block = block
    with fast.b.out_of_line():
        release(fast)


def _named(fast: FastPath, function: str) -> str:
    """Return the name of a function of the diagnosis that reads what the wrapper has."""
    return f"{function}_with_maps" if fast.maps else function


def _return_error(fast: FastPath, given: Value, constant: str, overlaps: int) -> None:
    b, t = fast.b, fast.b.types
    operands = [fast.args, given, b.address_of(constant)]
    if overlaps:
        operands.append(b.i32(overlaps))
    name = _named(fast, "diagnose_overlaps" if overlaps else "diagnose")
    callee = declare_support(b.symbols, name)
    b.ret(b.call_value(callee, operands, t.i32, t.of_tail_call()))


ENV_GET_STREAM: Final = "TVMFFIEnvGetStream"


def attach_ffi_func(
    module: Module,
    symbol_name: str,
    params: Sequence[spec.Param],
    call_provider: CallProvider,
    fn_display_name: str | None = None,
    *,
    returns: Result | Sequence[Result] | None = None,
    where: Sequence[Condition] = (),
    no_overlap: bool | Sequence[str] = (),
    sanitize: bool | Sanitize = False,
    self_contained: bool = False,
    location: Any = None,
) -> None:
    """Add ``__tvm_ffi_<symbol_name>``, which checks its arguments and calls a kernel, to a module.

    :func:`attach` takes a :class:`~ffi_builder.spec.Signature` instead of its parts.

    Args:
        module: an ``ir.Module`` of any MLIR Python distribution, which also builds the wrapper, or
            an :class:`~ffi_builder.ir.PlainModule`.
        symbol_name: the exported name of the function, after ``__tvm_ffi_``.
        params: its parameters, in the order of the arguments.
        call_provider: emits the call of the kernel.
        fn_display_name: the name that errors show; left out, ``symbol_name``.
        returns: its results, as in :class:`~ffi_builder.spec.Signature`; left out, None.
        where: conditions of the call, as in :class:`~ffi_builder.spec.Signature`.
        no_overlap: tensors that must share no memory with others, as in
            :class:`~ffi_builder.spec.Signature`.
        sanitize: check what the kernel does to its tensors: see :class:`~ffi_builder.Sanitize`.
        self_contained: put the functions of :mod:`ffi_builder.support` that the wrapper calls into
            the module, for your own JIT. :mod:`ffi_builder.runtime` does not need this.
        location: an ``ir.Location``; left out, the current one, or the callee's, or the module's.

    Raises:
        SpecError: if the parameters do not make a valid signature, or ``sanitize`` is of another
            type.
        BuildError: if the name is reserved, if the module has such a symbol already, if the callee
            does not take the arguments that the provider passes, if ``sanitize`` has nothing to
            check or the provider may hand over the caller's tensors, or if the wrapper does not
            verify. The module is then unchanged.

    Examples:
        C's ``hypot`` as the kernel:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach_ffi_func, providers, runtime, spec
        >>> x, y = spec.dims("x y", "float64")
        >>> kernel = providers.DirectCallProvider("hypot")
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach_ffi_func(module, "hypot", [x, y], kernel, returns=spec.Var("r", "float64"))
        >>> runtime.compile(module)["hypot"](3.0, 4.0)
        5.0
    """
    for given in (symbol_name, params):
        if isinstance(given, spec.Signature):
            raise BuildError(
                f"attach_ffi_func: expected a symbol's name and a list of parameters but got "
                f"{given!r}; attach(module, signature, call_provider) takes a Signature"
            )
    checked_name(symbol_name)
    name = fn_display_name or symbol_name
    signature = spec.Signature(name, params, returns, where=where, no_overlap=no_overlap)
    attach(
        module,
        signature,
        call_provider,
        symbol_name=symbol_name,
        sanitize=sanitize,
        self_contained=self_contained,
        location=location,
    )


def attach(
    module: Module,
    signature: spec.Signature,
    call_provider: CallProvider,
    *,
    symbol_name: str | None = None,
    sanitize: bool | Sanitize = False,
    self_contained: bool = False,
    location: Any = None,
) -> None:
    """Add a wrapper for a :class:`~ffi_builder.spec.Signature`, as :func:`attach_ffi_func` does.

    Args:
        module: an ``ir.Module`` of any MLIR Python distribution, lowered to the LLVM dialect, or
            an :class:`~ffi_builder.ir.PlainModule`.
        signature: the parameters and results of the function, and its name in errors.
        call_provider: emits the call of the kernel.
        symbol_name: the exported name, after ``__tvm_ffi_``; left out, the signature's name.
        sanitize: as for :func:`attach_ffi_func`, like the next two.
        self_contained: a bool.
        location: an ``ir.Location``.

    Raises:
        SpecError: ``sanitize`` is neither a bool nor a :class:`~ffi_builder.Sanitize`.
        BuildError: as :func:`attach_ffi_func` does.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> KERNEL = '''
        ... func.func @add(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>) {
        ...   linalg.add ins(%x, %y : memref<?xf32>, memref<?xf32>) outs(%z : memref<?xf32>)
        ...   return
        ... }'''
        >>> PASSES = "convert-linalg-to-loops,convert-scf-to-cf,convert-to-llvm"
        >>> n = spec.Var("n", "int64")
        >>> params = [spec.Tensor(name, [n], "float32", device_type="cpu") for name in "xyz"]
        >>> add = spec.Signature("add", params)
        >>> def hook(module):
        ...     attach(module, add, providers.MemRefCallProvider("add"))
        >>> pipeline = f"builtin.module({PASSES},reconcile-unrealized-casts)"
        >>> compiled = runtime.compile(KERNEL, pipeline=pipeline, post_compile_hooks=[hook])
        >>> x, y, z = np.ones(3, "float32"), np.ones(3, "float32"), np.zeros(3, "float32")
        >>> compiled["add"](x, y, z)
        >>> z
        array([2., 2., 2.], dtype=float32)
        >>> compiled["add"](x, y, z[:2])
        Traceback (most recent call last):
        ...
        ValueError: Mismatched z.shape[0] on argument #2 when calling: `...`, expected 3 (n =
            x.shape[0]) but got 2
    """
    _check_arguments(signature, call_provider)
    options, provider = watching(sanitize), Members(call_provider)
    around = None
    if options is not None:
        signature = options.constrain(signature)
        around = watch(signature, options, provider)
    name = abi.PREFIX + checked_name(signature.name if symbol_name is None else symbol_name)
    distribution = of_module(module)
    distribution.load_llvm(module.context)
    types = types_of(distribution, module.context)
    symbols = Symbols(types, module, None)
    symbols.location = location_of_wrapper(distribution, symbols, provider.callee, location)
    check_free(symbols, name)
    about = metadata_text(
        signature.params,
        signature.returns,
        signature.doc,
        signature.constraints,
        borrows_tensors=provider.borrows_tensors,
        holds_gil=provider.holds_gil,
    )
    shown = signature.name
    names = Names(name, shown, backtrace(symbols.location, shown), about.of(shown))
    context = ModuleContext(module, symbols, signature)
    template = Template.of(context, names, about, provider, options)
    try:
        if not template.adopt(symbols, names):
            wrapper = _Wrapper(context, names, make_plan(signature), provider, around)
            # Nothing here needs a current context, but a provider may: CUTLASS converts values to
            # its own objects, and for a vector without a context that ends the process.
            with types.context:
                function, table = wrapper.add()
            template.keep(symbols, function, table)
        if self_contained:
            # Few wrappers need it.
            from ffi_builder.ir.contained import contain_support

            contain_support(symbols)
    except BaseException:
        symbols.undo()
        raise


def _check_arguments(signature: object, call_provider: object) -> None:
    """Check the types of arguments that callers often confuse."""
    if not isinstance(signature, spec.Signature):
        hint = "attach_ffi_func takes a list of parameters"
        if isinstance(signature, str) and "(" in signature:
            hint = "spec.Signature.parse makes one of text"
        raise BuildError(
            f"attach: expected a Signature after the module, as in attach(module, signature, "
            f"call_provider), but got {signature!r}; {hint}"
        )
    check_provider("attach", call_provider)


@dataclass(frozen=True)
class _Wrapper:
    """A wrapper that is added to a module."""

    context: ModuleContext
    names: Names
    plan: Plan
    provider: Members
    watch: Watch | None
    """Makes what watches the kernel."""

    def add(self) -> tuple[Operation, Table]:
        """Add everything for :func:`attach`, which undoes it if this raises."""
        self.provider.prepare(self.context)
        table = encode(self.plan)
        function, provided, references = self._emit(table)
        trusted = references if self.provider.trusted else None
        verify_added(self.context.symbols, function, provided, trusted)
        return function, table

    def _emit(self, table: Table) -> tuple[Operation, Block, Sequence[Operation]]:
        """Emit the function.

        Returns:
            The function, the block in which the provider begins, and the provider's operations that
            refer to symbols.
        """
        symbols, names, plan = self.context.symbols, self.names, self.plan
        t = symbols.types
        data = table.named(names.function, names.backtrace)
        constant = symbols.named(TABLE + names.function, data)
        function = symbols.function(names.symbol, t.i32, [t.ptr, t.ptr, t.i32, t.ptr], body=True)
        entry = function.regions[0].blocks[0]
        _, args, count, result = entry.arguments
        shown = signature_text(plan.signature.name, argument_texts(plan.signature), None)
        suffix = f" when calling: `{shown}`"
        b = CheckingBuilder(
            symbols,
            function,
            entry,
            symbols.location,
            suffix=suffix,
            backtrace=names.backtrace,
        )
        slow, wrong = b.new_block(cold=True), b.new_block(t.i32, cold=True)
        ranks = [step.rank or 0 for step in plan.every_step if isinstance(step, steps.DecodeTensor)]
        overlapping = b.new_block(cold=True) if plan.compares_lists else slow
        fast = FastPath(b, args, count, slow, wrong, overlapping, max(ranks, default=0))
        forwards = self.provider.forwards or bool(plan.signature.results) or self.watch is not None
        reserve(fast, plan)
        if fast.memory:  # of lists
            on_error(b, lambda: _release_in(fast, b.block))
        emit_fast_path(fast, plan, defer=not forwards or self.provider.one_at_a_time)
        provided, before = b.block, len(b.references)
        self._emit_call(fast, result, forwards)
        release(fast)
        b.ret(b.i32(0))
        emit_errors(fast, len(plan.signature.arguments), table, constant)
        self._set_attributes(b)
        return function, provided, b.references[before:]

    def _emit_call(self, fast: FastPath, result: Value, forwards: bool) -> None:
        """Let the provider emit the call, and write the results; without any, write None first."""
        b = fast.b
        if not self.plan.signature.results:
            store_none(b, result)
        decoded = self._decoded(fast, result)
        if forwards:
            decoded.read_ahead()
        decoded.env_stream = _env_stream(decoded)
        results = Results(decoded, self.provider.name)
        results.allocate()
        if self.watch is None:
            self._provide(decoded)
            results.store()
        else:
            self._emit_watched(self.watch(GivenTensors(decoded)), decoded, results)

    def _provide(self, decoded: DecodedValues) -> None:
        b = decoded.builder
        try:
            b.block = self.provider.emit(b.block, decoded)
        except MismatchError as mismatch:
            from ffi_builder.providers.mismatch import describe_mismatch

            raise describe_mismatch(mismatch) from None

    def _emit_watched(self, around: AroundCall, decoded: DecodedValues, results: Results) -> None:
        around.make()
        self._provide(decoded)
        with results.releasing():
            around.check()
        results.store()
        around.free()

    def _decoded(self, fast: FastPath, result: Value) -> DecodedValues:
        """Return the values that the fast path has decoded."""
        signature, params = self.plan.signature, distinct(self.plan.signature.params)
        of_elements = symbols_of_elements(signature.params)
        return DecodedValues(
            fn_name=signature.name,
            module=self.context.module,
            entry_block=fast.b.entry,
            params=params,
            raw_args=fast.args,
            raw_num_args=fast.count,
            raw_result=result,
            builder=fast.b,
            signature=signature,
            variables=[var for var in self.plan.occurrences if var not in of_elements],
            fast=fast,
            placed=argument_places(params),
            of_elements=of_elements,
        )

    def _set_attributes(self, b: Builder) -> None:
        """Set the function's attributes and metadata; mark it as trusted if the provider is.

        The function is optnone, since LLVM's optimisation passes gain nothing here and take most of
        the time. Functions with bfloat16 values are the exception: without optimisation, LLVM 22
        passes these values through a conversion from float32 (vcvtneps2bf16), which makes
        subnormals 0.
        """
        plan = self.plan
        scalars = (step for step in plan.every_step if isinstance(step, steps.DecodeScalar))
        halves = any(scalar.dtype == "bfloat16" for scalar in scalars)
        typed = [r for r in plan.signature.results if isinstance(r, (spec.Var, spec.Tensor))]
        halves |= any(result.dtype == "bfloat16" for result in typed)
        names = ["noinline", *([] if halves else ["optnone"])]
        values = {METADATA: self.names.description}
        names += [TRUSTED] if self.provider.trusted else []
        pass_through(b.types, b.function, names, values)


def _env_stream(context: DecodedValues) -> Value | None:
    if not any(isinstance(param, spec.EnvStream) for param in context.params):
        return None
    b, t = context.builder, context.builder.types
    device = context.first_device()
    type_, number = b.trunc(device, t.i32), b.lshr(device, b.i64(32))
    return call_extern(b, ENV_GET_STREAM, [type_, b.trunc(number, t.i32)], t.ptr)
