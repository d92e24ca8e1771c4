"""The protocol of call providers: their required and optional members."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, Final, Protocol

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block
from ffi_builder.ir.protocols import Operation
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers.context import CallContext, ModuleContext, free_copies
from ffi_builder.providers.items import owner
from ffi_builder.records import dataclass
from ffi_builder.spec.composite import PARAM_TYPES
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.tensors.tensor import Data


class CallProvider(Protocol):
    """Emits the call of the kernel, in the kernel's own convention.

    A provider only has to be callable. :class:`Members` lists its optional members.

    Examples:
        Each tensor as its data pointer and the number of its elements, with a status:

        >>> from ffi_builder import spec, testing
        >>> class FlatCallProvider:
        ...     def __init__(self, callee):
        ...         self.callee = callee
        ...     def __call__(self, current_block, context):
        ...         b, operands = context.builder, []
        ...         for tensor in context.params:
        ...             size = b.i64(1)
        ...             for dim in context.shape(tensor, wide=True):
        ...                 size = b.mul(size, dim)
        ...             operands += [context.data(tensor), size]
        ...         types = [value.type for value in operands]
        ...         context.symbols.declare(self.callee, b.types.i32, types)
        ...         status = b.call_value(self.callee, operands, b.types.i32)
        ...         b.check(b.eq(status, b.i32(0)), "RuntimeError", "status {}", status)
        ...         return b.block
        >>> relu = spec.Signature.parse("relu(x: Tensor([n, m], float32))", device="cpu")
        >>> wrapper = testing.emit(relu, FlatCallProvider("relu"))
        >>> [line] = [line for line in wrapper.splitlines() if "call @relu" in line]
        >>> line.rpartition(" : ")[2]
        '(!llvm.ptr, i64) -> i32'
    """

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the call at the end of ``current_block``; return the block to go on in."""
        ...


_OF_ONE_CLASS: Final = ("forwards", "trusted", "borrows_tensors", "holds_gil", "cache_key")
_ENTRIES: Final = (str, int, Data, spec.Field, Expr, *PARAM_TYPES)


@dataclass(frozen=True)
class Members:
    """The optional members of a provider, each with its default.

    ``forwards``, ``trusted``, ``borrows_tensors``, ``holds_gil`` and ``cache_key`` describe the
    code that ``__call__`` emits. A subclass may emit other code, so it does not inherit these
    members: they count only in the class that defines them.
    """

    provider: CallProvider

    @property
    def name(self) -> str:
        """The provider's name in errors."""
        return type(self.provider).__name__

    @property
    def callee(self) -> str | None:
        """The symbol whose location the wrapper takes if nothing else gives it one."""
        name = self._get("callee", None)
        return name if isinstance(name, str) else None

    @property
    def one_at_a_time(self) -> bool:
        """Whether the provider stores the values of one parameter before it reads the next one.

        Strides that no check reads are then loaded where the provider asks for them, and occupy no
        registers before that.
        """
        return self._get("one_at_a_time", False)

    @property
    def forwards(self) -> bool:
        """Whether the provider reads arguments. If not, the wrapper loads only what it checks."""
        return self._get("forwards", True)

    @property
    def trusted(self) -> bool:
        """Whether all operations of the provider are known to translate to LLVM IR.

        The runtime does not check trusted operations, and MLIR's translation ends the process on
        some operations that it cannot translate. So this is for the providers of this package.
        """
        return self._get("trusted", False)

    @property
    def borrows_tensors(self) -> bool:
        """Whether the kernel uses only data, shape and strides of tensors, only during the call.

        The kernel gets neither the caller's ``TVMFFIAny`` nor an object that holds the tensor, so
        it cannot keep, forward or return the tensor. Calls from Python may then pass a tensor
        without a reference to it.
        """
        return self._get("borrows_tensors", False)

    @property
    def holds_gil(self) -> bool:
        """Whether the call takes Python's GIL, so that callers need not release it before."""
        return self._get("holds_gil", False)

    def prepare(self, context: ModuleContext) -> None:
        """Let the provider refuse the signature, or declare symbols, before the function begins."""
        prepare = self._get("prepare", None)
        if prepare is not None:
            prepare(context)
            context.symbols.refresh()

    def emit(self, block: Block, context: CallContext) -> Block:
        """Emit the call; return the block to go on in.

        Raises:
            BuildError: if the provider does not return a block, or returns a block that has ended.
        """
        context.steps.clear()
        context.asked.clear()  # the wrapper may have asked, to allocate results
        name, following = self.name, self.provider(block, context)
        if not hasattr(following, "arguments"):
            raise BuildError(
                f"{name} returned {following!r}; a call provider returns the block in which the "
                f"wrapper continues"
            )
        if context.builder.terminated(following):
            raise BuildError(
                f"{name} returned a block that already ends; a call provider returns the block in "
                f"which the wrapper continues"
            )
        # Ready-made providers, and subclasses of them, have args=.
        takes_args = self.trusted or hasattr(self.provider, "args")
        context.check_dtypes(name, self.callee, takes_args=takes_args)
        context.builder.block = following
        free_copies(context)
        return context.builder.block

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        """Return what the emitted code depends on, or None if the provider does not say.

        The key consists of the provider's class and the result of its own
        ``cache_key(context) -> Hashable | None``. If it has no such method, or the result is None,
        the provider is called for each wrapper. Otherwise a wrapper is taken from the cache if
        signature, location, ``callee`` (its name, and its type if the module has it) and key are
        equal. So the method must return everything else that the provider reads:

        - the provider's own fields, if they may differ, as values that do not change later;
        - whatever it looks up in the module besides the callee;
        - any state outside of both.

        With a provider from outside this package, a wrapper is reused under its own name only. It
        is not reused if the provider adds definitions to the module, refers to definitions other
        than its callee, or emits operations with regions.
        """
        own = self._get("cache_key", None)
        key = None if own is None else own(context)
        return None if key is None else (type(self.provider), key)

    def _get(self, name: str, default: Any) -> Any:
        kind = type(self.provider)
        # Around only passes on what it is asked.
        classes = (kind, Around) if Around in kind.__bases__ else (kind,)
        if name in _OF_ONE_CLASS and not any(name in vars(each) for each in classes):
            return default
        return getattr(self.provider, name, default)


class Around:
    """The base of providers that wrap another one, with members of the inner provider."""

    provider: CallProvider

    @cached_property
    def _inner(self) -> Members:
        """The members of the inner provider."""
        return Members(self.provider)

    @property
    def callee(self) -> str | None:
        """The callee of the inner provider, if it has one."""
        return self._inner.callee

    @property
    def one_at_a_time(self) -> bool:
        """The property of the inner provider."""
        return self._inner.one_at_a_time

    @property
    def trusted(self) -> bool:
        """The property of the inner provider: what is emitted around it is known to translate."""
        return self._inner.trusted

    @property
    def borrows_tensors(self) -> bool:
        """Whether the inner provider borrows tensors."""
        return self._inner.borrows_tensors

    def prepare(self, context: ModuleContext) -> None:
        """Prepare the inner provider."""
        self._inner.prepare(context)


def check_provider(who: str, given: object) -> None:
    """Check an argument that should be a call provider.

    Raises:
        BuildError: the argument is not a provider; the message says what to write instead of a
            class or a name.
    """
    hint = ""
    if isinstance(given, type):
        hint = ", a class: create an instance, as in Provider('callee')"
    elif callable(given):
        return
    elif isinstance(given, str):
        hint = f": say how it is called, as in DirectCallProvider({given!r})"
    raise BuildError(
        f"{who}: expected a call provider, such as DirectCallProvider('f'), but got {given!r}{hint}"
    )


def describe_callee(operation: Operation | None) -> Hashable:
    """Return everything that the ready-made providers read of a callee; None without a callee."""
    if operation is None:
        return None
    attributes = operation.attributes
    names = [name for name in ("function_type", "CConv", MEMREF_TYPES) if name in attributes]
    return operation.name, *((name, str(attributes[name])) for name in names)


def fields_key(provider: Any, context: ModuleContext) -> Hashable | None:
    """Return the fields, with their types, of a dataclass that has ``callee`` and ``args``.

    Returns None if the provider will refuse ``callee`` or ``args``, or if an entry of ``args``
    equals several parameters: its identity then decides which of them is meant.
    """
    args: Any = () if provider.args is None else provider.args
    if not isinstance(provider.callee, str) or type(args) not in (list, tuple):
        return None
    if not all(isinstance(arg, _ENTRIES) for arg in args):
        return None
    if args and is_ambiguous(args, context.signature):
        return None
    others = [getattr(provider, field.name) for field in fields(provider) if field.name != "args"]
    values: list[object] = [provider.args is None, *others, *args]
    return *map(type, values), *values  # with types, since 1 == True


def is_ambiguous(args: Sequence[object], signature: spec.Signature) -> bool:
    """Return whether an entry equals more than one parameter of the signature."""
    params: list[object] = []
    for _, param in spec.with_paths(signature.params):
        params += [param, param.param] if isinstance(param, spec.Optional) else [param]
    owners = [each for each in map(owner, args) if isinstance(each, PARAM_TYPES)]
    return any(params.count(param) > 1 for param in owners)
