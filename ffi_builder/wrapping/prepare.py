"""Puts functions around a kernel, before anything is compiled.

``wrap`` compiles a :class:`Wrapped` for this process, and the command line lowers it to a file. So
a source, an option and a mistake mean the same at each door.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from ffi_builder import BuildError, CompileError, attach, spec
from ffi_builder.extending import (
    ERROR_KINDS,
    INT_RANGES,
    HoldGil,
    check_signature,
    dataclass,
    did_you_mean,
    tensors_of,
)
from ffi_builder.ir import PlainModule
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    HalideCallProvider,
)
from ffi_builder.runtime.extending import (
    AddressSource,
    ArchiveSource,
    Item,
    LibrarySource,
    LlvmSource,
    ObjectSource,
    read_item,
    symbols_of,
)
from ffi_builder.wrapping import halide, modules, several, sources, statuses
from ffi_builder.wrapping.addresses import callable_in, declared_by, needs_gil
from ffi_builder.wrapping.by_value import triple_for
from ffi_builder.wrapping.c_types import Prototype
from ffi_builder.wrapping.calls import called, check_same, with_constants, with_promises
from ffi_builder.wrapping.comparison import Passed
from ffi_builder.wrapping.destroyers import args_of, with_destroyers
from ffi_builder.wrapping.llvm_ir import LlvmFunctions
from ffi_builder.wrapping.prototype import (
    check_function,
    choices,
    constants,
    numbers,
    of_another_enum,
    read,
    variable,
)
from ffi_builder.wrapping.report import Compared, Report
from ffi_builder.wrapping.statuses import Errors

if TYPE_CHECKING:
    from ffi_builder import Sanitize

_CODE: Final = (LlvmSource, ObjectSource, ArchiveSource, LibrarySource, AddressSource)
_ENUM: Final = r"\bChoice\(\s*(?:enum\s+)?([A-Za-z_]\w*)\s*\)"
_OPTIONS: Final = {
    "pipeline": (sources.Mlir,),
    "prototype": _CODE,
    "owner": (AddressSource,),
    "launch": (sources.Image,),
    **dict.fromkeys(("errors", "success", "errno"), (sources.Mlir, *_CODE)),
    "free": _CODE,
    "destroy": _CODE[:-1],
    "provider": (sources.Mlir, *_CODE),
    "release_gil": (sources.Mlir, *_CODE),
    "function": (sources.Mlir, sources.Image, *_CODE),
}
"""The sources that options go with. The others go with all. An address is of one function alone."""


_LISTS: Final = {"link": "", "include": " of folders", "args": ", or a dict"}
"""Options that are no single value, and what else to say of them."""


@dataclass(frozen=True)
class Options:
    """How a kernel is called: the options of :func:`~ffi_builder.wrap`, which documents them."""

    device: str | None = None
    function: str | None = None
    prototype: str | os.PathLike[str] | None = None
    include: Iterable[str | os.PathLike[str]] = ()
    args: Sequence[Any] | Mapping[str, Any] | None = None
    errors: Errors | None = None
    success: int | str | Sequence[int | str] | None = None
    errno: bool = False
    free: str | None = None
    destroy: str | Mapping[str, str] | None = None
    provider: CallProvider | type[Any] | None = None
    launch: object = None
    owner: object = sources.UNOWNED
    release_gil: bool | None = None
    pipeline: str | None = None
    link: Iterable[str | bytes | os.PathLike[str]] = ()
    sanitize: bool | Sanitize = False
    target: str | None = None
    """The triple of the machine for which a prototype is read; None for this one."""

    def constants(self, expressions: Sequence[str], known: Sequence[str]) -> Mapping[str, int]:
        """Return the numbers of constants that the prototype declares."""
        assert self.prototype is not None
        return constants(self.prototype, expressions, known, self.include, self.target)

    def with_numbers(self) -> Options:
        """Return the options with numbers for statuses that the prototype gives names."""
        success = self.success
        listed = [success] if isinstance(success, str) else success
        given: list[Any] = [*listed] if isinstance(listed, Sequence) else []
        errors = statuses.by_status(self.errors)
        names = [each for each in [*errors, *given] if isinstance(each, str)]
        if self.prototype is None or not names:
            return self
        where = self.include, self.target, "errors= or success="
        values = constants(self.prototype, names, (), *where)
        successes = [values.get(each, each) for each in given]
        by_number = {values.get(k, k): error for k, error in errors.items()}
        return replace(self, errors=by_number or self.errors, success=successes or success)

    def texts(self) -> Iterator[Prototype]:
        """Yield the functions that say the words of errors.

        Raises:
            BuildError: one returns no text, or has other parameters.
            CompileError: the prototype has no such function.
        """
        if self.prototype is None:
            return
        for name, given in statuses.functions(self.errors):
            try:
                prototype = read(self.prototype, name, name, self.include, self.target)
            except CompileError as error:
                words, _, has = f"{error}".partition("; it has ")
                meant = has and did_you_mean(name, ERROR_KINDS)
                raise CompileError(f"errors= has {name!r}: {words}{meant}") from error
            types = [None if type_.is_pointer else type_.dtype for _, type_ in prototype.params]
            fits = given != "" and len(types) == 1 and types[0] in several.STATUSES
            fits = fits or (not given and not types)
            if not fits or prototype.result is None or not prototype.result.is_char:
                raise BuildError(
                    f"wrap: errors= has {name!r}, which is no function that returns the text of a "
                    f"status, as `const char *{name}({'void' if given == '' else 'int'})`"
                )
            yield prototype

    def text_of(self, signature: str) -> str:
        """Return a signature with the choices of enums, which the prototype declares."""
        return re.sub(_ENUM, self._choice, signature) if self.prototype is not None else signature

    def _choice(self, match: re.Match[str]) -> str:
        assert self.prototype is not None
        names = choices(self.prototype, match[1], self.include, self.target)
        fit = (dtype for dtype in ("int32", "uint32", "int64") if _fit(dtype, names.values()))
        return f"Choice({names}, {next(fit, 'uint64')})"

    def check_choices(self, signature: spec.Signature, passed: Collection[Passed]) -> None:
        """Raise BuildError if C has other numbers for the names of a Choice, or another enum."""
        assert self.prototype is not None
        enums = {each.entry: each for each in passed if each.type_.enum}
        for path, param in spec.with_paths(signature.params):
            choice = spec.required(param)
            if not isinstance(choice, spec.Choice):
                continue
            if (to := enums.get(path)) and (
                others := of_another_enum(
                    self.prototype, to.type_.enum, choice.choices, self.include, self.target
                )
            ):
                raise BuildError(
                    f"{signature.name}: parameter {to.own} is the enum {to.type_.enum}, but "
                    f"{path!r} has {others[0]}, which is of another: declare "
                    f"`{path}: Choice({to.type_.enum})`"
                )
            low, high = INT_RANGES[choice.dtype]
            of_c = numbers(self.prototype, choice.choices, self.include, self.target)
            for name, number in choice.choices.items() if of_c else ():
                if (number - of_c[name]) % (high - low + 1):  # -1 is 0xffffffff of 32 bits
                    raise BuildError(
                        f"{signature.name}: {path!r} has {number} for {name!r}, which is "
                        f"{of_c[name]} in prototype=; `Choice(…)` with the name of an enum takes "
                        f"its numbers"
                    )

    def check(self, kernel: sources.Kernel, functions: int) -> None:
        """Raise TypeError for options that go neither with the source nor with each other."""
        if not isinstance(self.release_gil, (bool, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"wrap: release_gil= is a bool, but got {self.release_gil!r}")
        for option, kinds in _OPTIONS.items():
            value = getattr(self, option)
            is_given = bool(value) if option == "errno" else value not in (None, sources.UNOWNED)
            if is_given and sources.kind_of(kernel) not in kinds:
                raise TypeError(
                    f"wrap: {option}= goes with {' or '.join(sources.WORDS[k] for k in kinds)}, "
                    f"but the source is {sources.WORDS[sources.kind_of(kernel)]}"
                )
        if not functions:
            raise TypeError("wrap: expected a signature, or a list of them, but the list is empty")
        is_dict, is_code = isinstance(self.args, Mapping), type(kernel) in _CODE
        for option in ("function", "args"):
            if (
                functions > 1
                and getattr(self, option) is not None
                and not (is_dict and is_code and option == "args")
            ):
                hint = "; name the others after their kernels" if option == "function" else ""
                raise TypeError(f"wrap: {option}= goes with one signature{hint}")
        statuses.check(self.errors, errno=self.errno)
        for option, words in _LISTS.items():
            value = getattr(self, option)
            is_one = isinstance(value, (str, bytes, os.PathLike))
            if is_one or not isinstance(value, (Iterable, type(None))):
                shown = "…" if isinstance(value, bytes) else f"'{value}'"
                cure = f": write {option}=[{shown}]" if is_one else f", but got {value!r}"
                raise TypeError(f"wrap: {option}= is a list{words}{cure}")
        if self.function is not None and not isinstance(self.function, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"wrap: function= is a name, but got {self.function!r}")
        if self.include and self.prototype is None:
            raise TypeError("wrap: include= has folders of headers, and goes with prototype=")
        has_names = is_code or getattr(kernel, "has_names", False)
        if is_dict and (self.provider is not None or not has_names):
            raise TypeError(
                "wrap: args= as a dict goes with prototype=, or with LLVM IR or a kernel of "
                "Triton's or FlyDSL's"
            )
        if self.provider is None:
            return
        if self.destroy is not None:
            raise TypeError(
                "wrap: destroy= goes without provider=, which does not say how to destroy: wrap "
                "the other function, too, and give the result spec.Var(…, 'handle', destroy=…)"
            )
        if self.free is not None:
            raise TypeError(
                "wrap: free= goes without provider=: give it to the provider, as in "
                "DirectCallProvider('f', free='free')"
            )
        if self.success is not None or self.errno:
            raise TypeError(
                "wrap: success= and errno= go without provider=: give them to the provider, as in "
                "CheckStatus(provider, success=1, error='OSError')"
            )
        if self.prototype is not None or self.errors is not None:
            raise TypeError(
                "wrap: prototype= and errors= go without provider=, which says itself how to call: "
                "a prototype would not be compared, and CheckStatus(provider, errors=…) has errors"
            )
        if self.args is not None and not isinstance(self.provider, type):
            raise TypeError("wrap: args= goes with a class in provider=; give them to the provider")


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
        return isinstance(self.kernel, _CODE) or bool(getattr(self.kernel, "linked", ()))

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
    match kernel:
        case sources.Mlir():
            wrapped = _of_mlir(kernel, read_ones, items, options)
        case sources.TvmFunction():
            wrapped = _of_function(kernel, read_ones, items, options)
        case LlvmSource() | ObjectSource() | ArchiveSource() | LibrarySource() | AddressSource():
            wrapped = _of_code(kernel, source, read_ones, items, options)
        case _:
            functions = [_launched(kernel, each, options) for each in read_ones]
            items = [*getattr(kernel, "linked", ()), *items]
            wrapped = Wrapped(kernel, PlainModule(), functions, items, sanitize=options.sanitize)
    holds_gil = needs_gil(source) if options.release_gil is None else not options.release_gil
    return replace(wrapped, holds_gil=holds_gil)


def _fit(dtype: str, numbers: Iterable[int]) -> bool:
    low, high = INT_RANGES[dtype]
    return all(low <= number <= high for number in numbers)


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

_OF_LLVM: Final = "with the LLVM IR, which says of a pointer not what it points to"


def _of_code(
    kernel: Item,
    source: object,
    signatures: Sequence[spec.Signature],
    items: Sequence[Item],
    options: Options,
) -> Wrapped:
    options = options.with_numbers()
    ir = LlvmFunctions(kernel.text) if isinstance(kernel, LlvmSource) else None
    module = PlainModule(None if ir is None else ir.declaration)  # needs no MLIR
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
        if options.prototype is not None:
            where = options.include, options.target
            given = read(options.prototype, function, signature.name, *where)
        name = given.name if given else function or signature.name
        code = replace(kernel, symbol=name) if isinstance(kernel, AddressSource) else kernel
        linked[name if code is not kernel else ""] = code
        prototype, types = _declared(code, name, source, given, [code, *items], options, ir)
        if prototype is None:
            types = "with nothing" if ir is None else _OF_LLVM
            functions.append(Function(signature, _given(options, name), Compared(types)))
            continue
        if not is_own and prototype.result is not None and prototype.result.is_pointer:
            prototype = replace(prototype, result=None)  # the NULL of libsamplerate's src_delete
        if prototype.name not in declared:
            declared[prototype.name] = prototype
            module.declare(*prototype.declaration())
            module.triple = module.triple or triple_for(prototype, options.target)
        args: Any = args_of(prototype)
        if is_own:
            own.append(prototype)
            args = options.args if alone else several.args_of(options.args, prototype, signature)
            if given is not None:
                args = with_constants(signature, args, options.constants)
        free = options.free if is_own and (alone or several.returns_text(signature)) else None
        if free is not None:
            _check_free(free, [code, *items], options)
        signature, provider, passed = called(prototype, signature, args, free)
        if is_own and given is not None:
            options.check_choices(signature, passed)
        taken = several.taken(signature, prototype, provider, is_own)
        unused = [each for each in unused if each not in taken]
        taken = several.OF_RESULTS if strict else taken
        provider = _with_statuses(provider, name, options, signature, taken)
        functions.append(Function(signature, _always(provider), Compared(types, passed)))
    if not strict and options.provider is None:
        several.check_taken(unused, options.args, own)
    return Wrapped(kernel, module, functions, [*linked.values(), *items], sanitize=options.sanitize)


def _check_free(name: str, items: Sequence[Item], options: Options) -> None:
    """Raise BuildError for a variable, such as libxml2's `xmlFree`, that frees."""
    if options.prototype is not None:
        check_function("free", name, options.prototype, options.include, options.target)
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
