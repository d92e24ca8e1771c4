"""Puts functions around a kernel, before anything is compiled.

``wrap`` compiles a :class:`Wrapped` for this process, and the command line lowers it to a file. So
a source, an option and a mistake mean the same at each door.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, cast

from ffi_builder import BuildError, attach, spec
from ffi_builder.extending import HoldGil, check_signature, dataclass, tensors_of
from ffi_builder.ir import PlainModule
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    HalideCallProvider,
    VariantsCallProvider,
)
from ffi_builder.runtime.extending import AddressSource, Item, LlvmSource, read_item, symbols_of
from ffi_builder.wrapping import halide, modules, several, sources, statuses
from ffi_builder.wrapping.addresses import callable_in, declared_by, needs_gil
from ffi_builder.wrapping.by_value import triple_for
from ffi_builder.wrapping.c_types import Prototype
from ffi_builder.wrapping.calls import called, check_same, with_constants, with_promises
from ffi_builder.wrapping.destroyers import args_of, defining, destroys, with_destroyers
from ffi_builder.wrapping.llvm_ir import LlvmFunctions
from ffi_builder.wrapping.options import Options
from ffi_builder.wrapping.prototype import variable
from ffi_builder.wrapping.report import Compared, Report
from ffi_builder.wrapping.variants import Called, callees, compared

if TYPE_CHECKING:
    from ffi_builder import Sanitize


@dataclass(frozen=True)
class Function:
    """A function to attach: its signature, and what calls the kernel of a lowered module."""

    signature: spec.Signature
    provider: Callable[[Any], CallProvider]
    compared: Compared

    @property
    def has_tensors(self) -> bool:
        """Whether there are tensors, so that ``sanitize=`` has something to check."""
        return bool(tensors_of(self.signature.params)) or bool(self.signature.result_tensors)


@dataclass(frozen=True)
class Wrapped:
    """A kernel and the functions around it, before they are compiled."""

    kernel: sources.Kernel
    module: Any
    """MLIR; a plain module for all other kernels."""
    functions: Sequence[Function]
    items: Sequence[Item]
    """What is linked: the kernel itself, if it is code, and what it needs."""
    pipeline: str | None = None
    sanitize: bool | Sanitize = False
    holds_gil: bool = False
    """Whether calls of the kernel take Python's GIL."""

    @property
    def links_kernel(self) -> bool:
        """Whether the kernel is code that is linked, and not in the module."""
        return isinstance(self.kernel, sources.CODE) or bool(getattr(self.kernel, "linked", ()))

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`runtime.compile` and :func:`runtime.lower`."""
        hooks = [self._attach]
        how = {"pipeline": self.pipeline, "post_compile_hooks": hooks, "link": self.items}
        return {"module": self.module, **how}

    @property
    def report(self) -> Report:
        """What was compared of each function."""
        functions = [(each.signature, each.compared) for each in self.functions]
        return Report(functions, self.sanitize)

    def _attach(self, lowered: Any) -> None:
        with_tensors = [each for each in self.functions if each.has_tensors]
        for each in self.functions:
            provider = each.provider(lowered)
            how = HoldGil(provider) if self.holds_gil else provider
            fits = each.has_tensors or not with_tensors
            attach(lowered, each.signature, how, sanitize=fits and self.sanitize)


def prepare(
    source: object, signatures: Sequence[spec.Signature | str], options: Options
) -> Wrapped:
    """Read a kernel, and say how its functions call it.

    Raises:
        TypeError, SpecError, BuildError, CompileError, LinkError, OSError: as
            :func:`~ffi_builder.wrap`.
    """
    source = callable_in(source)
    kernel = sources.read(source, options.owner, launched=options.launch is not None)
    options.check(kernel, len(signatures))
    default = getattr(kernel, "device", None)
    texts = [options.text_of(each) if isinstance(each, str) else each for each in signatures]
    read_ones = [_signature(each, options.device, default) for each in texts]
    items = [read_item(item, f"link[{at}]") for at, item in enumerate(options.link or ())]
    if isinstance(kernel, sources.Mlir):
        wrapped = _of_mlir(kernel, read_ones, items, options)
    elif isinstance(kernel, sources.TvmFunction):
        wrapped = _of_function(kernel, read_ones, items, options)
    elif isinstance(kernel, sources.CODE):
        wrapped = _of_code(kernel, source, read_ones, items, options)
    else:
        functions = [_launched(kernel, each, options) for each in read_ones]
        items = [*getattr(kernel, "linked", ()), *items]
        wrapped = Wrapped(kernel, PlainModule(), functions, items, sanitize=options.sanitize)
    holds_gil = needs_gil(source) if options.release_gil is None else not options.release_gil
    return replace(wrapped, holds_gil=holds_gil)


def _signature(
    given: spec.Signature | str, device: str | None, default: str | None
) -> spec.Signature:
    if isinstance(given, str):
        return spec.Signature.parse(given, device=device or default)
    check_signature("wrap: ", given)
    devices = {str(tensor.device) for tensor in tensors_of(given.params).values()}
    if device is not None and devices - {device}:
        raise TypeError(
            f"wrap: device={device!r} goes with the text of a signature; the tensors of this one "
            f"are on {', '.join(sorted(devices))}"
        )
    return given


# ---- MLIR

_OF_MLIR: Final = Compared("with the module's types, which say of a pointer not what it points to")


def _of_mlir(
    kernel: sources.Mlir,
    signatures: Sequence[spec.Signature],
    items: Sequence[Item],
    options: Options,
) -> Wrapped:
    named = [(options.function or each.name, each) for each in signatures]
    module, pipeline = modules.with_passes(kernel.module, options.pipeline, named, options.args)
    functions = [Function(each, _chosen(name, each, options), _OF_MLIR) for name, each in named]
    return Wrapped(kernel, module, functions, items, pipeline, options.sanitize)


def _chosen(
    name: str, signature: spec.Signature, options: Options
) -> Callable[[Any], CallProvider]:
    """Return what chooses the provider for a lowered module, where the user did not."""

    def provider(lowered: Any) -> CallProvider:
        chosen = modules.provider_of(lowered, name, signature, options.args)
        return _with_statuses(chosen, name, options, signature)

    return provider if options.provider is None else _given(options, name)


def _given(options: Options, name: str) -> Callable[[Any], CallProvider]:
    """Return what makes the provider that the user chose."""
    given: Any = options.provider
    made = given(name, args=options.args) if isinstance(given, type) else given
    return _always(made)


def _always(provider: CallProvider) -> Callable[[Any], CallProvider]:
    """Return what gives a provider for any lowered module."""
    return lambda lowered: provider


def _with_statuses(
    provider: CallProvider,
    name: str,
    options: Options,
    signature: spec.Signature,
    taken: Collection[str] = several.OF_RESULTS,
) -> CallProvider:
    """Return a provider that raises what these options say of a kernel's status."""
    given = {each: getattr(options, each) for each in ("errors", "success") if each in taken}
    given = {option: value for option, value in given.items() if value is not None}
    errno = options.errno and "errno" in taken
    if isinstance(provider, CheckStatus):
        given |= statuses.of_provider(given.pop("errors", None))
        return replace(provider, **given | ({"error": "OSError"} if errno else {}))
    if given:
        words = several.without_status(name, signature, getattr(provider, "args", None))
        raise BuildError(f"wrap: {next(iter(given))}= needs a status, but {words}")
    if not errno:
        return provider
    if isinstance(provider, DirectCallProvider):
        return replace(provider, errno=True)
    raise BuildError(f"wrap: errno=True needs a status, but `{name}` returns none")


# ---- images


def _launched(kernel: sources.Image, signature: spec.Signature, options: Options) -> Function:
    given = options.function, options.args, options.launch
    signature, provider, types = kernel.called(signature, *given)
    return Function(signature, _always(provider), Compared(types))


# ---- functions of TVM-FFI

_OF_FUNCTION: Final = Compared("with nothing, as functions of TVM-FFI have no types")


def _of_function(
    kernel: sources.TvmFunction,
    signatures: Sequence[spec.Signature],
    items: Sequence[Item],
    options: Options,
) -> Wrapped:
    functions, own = list[Function](), list[Item]()
    for signature in signatures:
        provider = kernel.provider(signature.name, cast("Any", options.args))
        own += kernel.items(signature.name, provider.symbol)
        functions.append(Function(signature, _always(provider), _OF_FUNCTION))
    module = PlainModule()
    return Wrapped(kernel, module, functions, [*own, *items], sanitize=options.sanitize)


# ---- code

_Typed: TypeAlias = "tuple[Item, LlvmFunctions | None]"
"""Code, with its types if it is LLVM IR."""
_OF_LLVM: Final = "with the LLVM IR, which says of a pointer not what it points to"


def _of_code(
    kernel: Item,
    source: object,
    signatures: Sequence[spec.Signature],
    items: Sequence[Item],
    options: Options,
) -> Wrapped:
    options = options.with_numbers()
    ir, header = _functions_of(kernel), options.header
    module = PlainModule(None if ir is None else ir.declaration)  # needs no MLIR
    if isinstance(options.provider, VariantsCallProvider):
        codes = [(kernel, ir), *((item, _functions_of(item)) for item in items)]
        names = callees(options.provider) if ir is not None else []
        if options.prototype or (names and all(_defining(codes, name) for name in names)):
            return _of_variants(codes, source, signatures, options, module)
    functions, own = list[Function](), list[Prototype]()
    linked, declared = dict[str, Item](), {each.name: each for each in options.texts()}
    for each in declared.values():
        module.declare(*each.declaration())
    last = [name for name, each in declared.items() if not each.params]
    options = replace(options, errors=statuses.of_last_error(options.errors, last))
    signatures, destroyers = with_destroyers(signatures, options.destroy)
    alone, strict = len(signatures) == 1, len(signatures) + len(destroyers) == 1
    unused = [each for each in several.OF_RESULTS if getattr(options, each)]
    for signature in (*signatures, *destroyers):
        is_own = signature not in destroyers
        function, given = options.function if is_own else signature.name, None
        ends = destroys(signature)
        if header is not None:
            given = header.read(function, signature.name, is_destroyer=ends)
        name = given.name if given else function or signature.name
        code = replace(kernel, symbol=name) if isinstance(kernel, AddressSource) else kernel
        linked[name if code is not kernel else ""] = code
        home = defining(name, code, items, ir) if ends else code
        prototype, types = _declared(home, name, source, given, [code, *items], options, ir)
        if prototype is None:
            types = "with nothing" if ir is None else _OF_LLVM
            functions.append(Function(signature, _given(options, name), Compared(types)))
            continue
        if not is_own and prototype.result is not None and prototype.result.is_pointer:
            prototype = replace(prototype, result=None)  # the NULL of libsamplerate's src_delete
        _declare(module, declared, prototype, options)
        args: Any = args_of(prototype)
        if is_own:
            own.append(prototype)
            args = options.args if alone else several.args_of(options.args, prototype, signature)
            if header is not None:
                args = with_constants(signature, args, header.constants)
        free = options.free if is_own and (alone or several.returns_text(signature)) else None
        if free is not None:
            _check_free(free, [code, *items], options)
        signature, provider, passed = called(prototype, signature, args, free)
        if is_own:
            options.check_choices(signature, passed)
        taken = several.taken(signature, prototype, provider, is_own)
        unused = [each for each in unused if each not in taken]
        taken = several.OF_RESULTS if strict else taken
        provider = _with_statuses(provider, name, options, signature, taken)
        functions.append(Function(signature, _always(provider), Compared(types, passed)))
    if not strict and options.provider is None:
        several.check_taken(unused, options.args, own)
    return Wrapped(kernel, module, functions, [*linked.values(), *items], sanitize=options.sanitize)


def _functions_of(code: Item) -> LlvmFunctions | None:
    """Return the functions of LLVM IR, with their types; None for other code."""
    return LlvmFunctions(code.text) if isinstance(code, LlvmSource) else None


def _defining(codes: Sequence[_Typed], name: str) -> _Typed | None:
    """Return the LLVM IR that defines a function, if any does."""
    return next((each for each in codes if each[1] and each[1].declaration(name)), None)


def _of_variants(
    codes: Sequence[_Typed],
    source: object,
    signatures: Sequence[spec.Signature],
    options: Options,
    module: PlainModule,
) -> Wrapped:
    """Wrap the functions of a ``VariantsCallProvider``, each compared with what has its types."""
    assert isinstance(options.provider, VariantsCallProvider)
    header, types, bare = options.header, "", replace(options, provider=None)
    declared, functions = dict[str, Prototype](), list[Function]()
    kernel, *items = (code for code, _ in codes)

    def compare(kernel_of: DirectCallProvider, signature: spec.Signature) -> Called:
        nonlocal types
        name = kernel_of.callee
        given = None if header is None else header.read(name, name)
        code, ir = _defining(codes, name) or codes[0]
        prototype, types = _declared(code, name, source, given, [kernel, *items], bare, ir)
        assert prototype is not None
        _declare(module, declared, prototype, options)
        args = kernel_of.args
        if header is not None:
            args = with_constants(signature, args, header.constants)
        return called(prototype, signature, args, kernel_of.free)

    for signature in signatures:
        provider, passed = compared(options.provider, signature, compare)
        functions.append(Function(signature, _always(provider), Compared(types, passed)))
    return Wrapped(kernel, module, functions, [kernel, *items], sanitize=options.sanitize)


def _declare(
    module: PlainModule, declared: dict[str, Prototype], prototype: Prototype, options: Options
) -> None:
    """Declare a function in the module, once."""
    if prototype.name not in declared:
        declared[prototype.name] = prototype
        module.declare(*prototype.declaration())
        module.triple = module.triple or triple_for(prototype, options.target)


def _check_free(name: str, items: Sequence[Item], options: Options) -> None:
    """Raise BuildError for a variable, such as libxml2's `xmlFree`, that frees."""
    if options.header is not None:
        options.header.check_function("free", name)
    symbols = (each for item in items for each in symbols_of(item) or ())
    if any(each.name == name and each.defined and each.data for each in symbols):
        raise BuildError(variable("free", name))


def _declared(
    kernel: Item,
    name: str,
    source: object,
    given: Prototype | None,
    items: Sequence[Item],
    options: Options,
    ir: LlvmFunctions | None,
) -> tuple[Prototype | None, str]:
    """Return the types of a kernel, and what says them; None if the user chose how it is called.

    Raises:
        BuildError: the prototype contradicts the types that the source has; nothing has types.
        CompileError: the code defines no such function.
    """
    has_metadata = halide.has_metadata(kernel, name)
    if has_metadata and options.provider is DirectCallProvider:
        raise BuildError(f"wrap: Halide compiled `{name}`: leave provider= out")
    # With metadata, arguments are compared.
    if options.provider is not None and not (
        has_metadata and options.provider is HalideCallProvider
    ):
        return None, ""
    sources.check_defines(kernel, name, source)
    known, who = None, ""
    match kernel:
        case LlvmSource() if ir is not None:
            known, who = ir.prototype(name), "the LLVM IR defines"
        case AddressSource():
            package = type(source).__module__.strip("_").partition(".")[0]
            owner = "its capsule" if package == "builtins" else package
            known, who = declared_by(source, name, given), f"{owner} has"
        case _ if has_metadata:
            known, who = halide.declared_by(items, name), "Halide's metadata have"
        case _:
            pass
    types = f"with the types that {who}" if known else "with prototype=, which nothing proves"
    if given is None or known is None:
        return given or known or _undeclared(name), types
    check_same(given, known, who)
    types = f"with prototype=, and that with what {who}"
    return known if has_metadata else with_promises(given, known), types


def _undeclared(name: str) -> NoReturn:
    raise BuildError(
        f"wrap: nothing says which arguments `{name}` takes, and a call that does not fit crashes: "
        f'give prototype="int {name}(…)", with void for int if it returns nothing, or '
        f"provider=providers.DirectCallProvider if they are those of the signature, as plain C"
    )
