"""``wrap``: a function that checks its arguments, around whatever a compiler emits."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ffi_builder import runtime, spec
from ffi_builder.builder.wrapper import attach
from ffi_builder.errors import BuildError, CompileError
from ffi_builder.ir import PlainModule
from ffi_builder.ir.symbols import function_parts
from ffi_builder.plan import Sanitize, check_signature
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    CudaLaunchCallProvider,
    DirectCallProvider,
    HalideCallProvider,
    MemRefCallProvider,
)
from ffi_builder.runtime import mlir
from ffi_builder.runtime.inputs import LlvmSource, ObjectSource
from ffi_builder.runtime.links import (
    AddressSource,
    ArchiveSource,
    Item,
    LibrarySource,
    read_item,
)
from ffi_builder.spec.overlap import tensors_of
from ffi_builder.suggest import did_you_mean
from ffi_builder.wrapping import halide, sources, tensors, triton
from ffi_builder.wrapping.addresses import declared_by
from ffi_builder.wrapping.calls import called, check_same, with_promises
from ffi_builder.wrapping.launch import Launch
from ffi_builder.wrapping.prototype import Prototype, defined_in, read

if TYPE_CHECKING:
    from ffi_builder.providers.arguments import Entry
    from ffi_builder.providers.cuda.entries import LaunchEntry
    from ffi_builder.runtime import CompiledModule

_BUFFERIZE: Final = (
    "one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{modify-public-functions=1 hoist-dynamic-allocs "
    "hoist-static-allocs},buffer-deallocation-pipeline,func.func(refback-munge-memref-copy)"
)
_LARGE: Final = 16
PIPELINE: Final = (
    "builtin.module(func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,"
    "convert-vector-to-scf,convert-vector-to-llvm,convert-scf-to-cf,convert-math-to-llvm,"
    "convert-math-to-libm,convert-to-llvm,reconcile-unrealized-casts)"
)
"""Passes for linalg, affine, scf, vector, math, memref and func."""
_FIRST: Final = {
    r"bufferization\.(clone|dealloc)": "convert-bufferization-to-memref",
    r"memref\.realloc": "expand-realloc",
    # Other copies become memcpy, which is faster; these would call a function of MLIR's runtime.
    r"memref\.copy[^=]*?memref<[^>]*?,\s*(strided<|affine_map<|#)": (
        "func.func(refback-munge-memref-copy)"
    ),
    r"vector\.multi_reduction": "func.func(lower-vector-multi-reduction)",
    r"vector\.mask\b": "func.func(lower-vector-mask)",
    r"math\.clampf": "math-expand-ops{ops=clampf}",
    r"math\.ipowi": "convert-math-to-funcs{min-width-of-fpowi-exponent=65}",
    r"complex\.": "convert-complex-to-standard",
    "f4E2M1FN|f8E8M0FNU": "arith-expand{include-f8e8m0=1 include-f4e2m1=1}",
}
"""Passes for operations that few modules have, by patterns of their text. They go first."""


def wrap(
    source: object,
    signature: spec.Signature | str,
    *,
    device: str | None = None,
    function: str | None = None,
    prototype: str | os.PathLike[str] | None = None,
    args: Sequence[LaunchEntry] | Mapping[str, LaunchEntry] | None = None,
    errors: Mapping[int, tuple[str, str] | None] | None = None,
    provider: CallProvider | type[Any] | None = None,
    launch: Launch | None = None,
    owner: object = sources.UNOWNED,
    pipeline: str | None = None,
    link: Iterable[str | bytes | os.PathLike[str]] = (),
    sanitize: bool | Sanitize = False,
    opt_level: int = 2,
    cache_dir: str | os.PathLike[str] | None = None,
) -> CompiledModule:
    """Compile a function that checks its arguments and calls a kernel, whatever that is.

    ====================================== =================================================
    source                                 how its kernel is called
    ====================================== =================================================
    MLIR: a module, or its text            by the types of the function: memrefs or plain C
    LLVM IR text                           plain C, of the types that it is defined with
    an object or a static archive          plain C, of the types of ``prototype=``
    a shared library                       the same; an exported library needs it
    a function of cffi, Numba's            the same, or of the types that it has
    ``@cfunc``, or one of ctypes
    an address: a capsule, an int or a     the same; ``owner=`` keeps the code of the last two
    ``c_void_p``                           alive
    a cubin, a fatbin or PTX; a kernel     launched as ``launch=`` says
    that Triton compiled
    ====================================== =================================================

    A path stands for its file, whose first bytes say what it is. ``provider=`` calls in another
    way, and says so where nothing has the types.

    With a prototype, or LLVM IR, parameters of the kernel get the parameter or symbol of their
    name; if none of these names is in the signature, those of their position. An integer that the
    kernel returns is a status, unless it is a result of the signature: other than 0, it is raised
    as a RuntimeError, or as ``errors=`` says.

    Args:
        source: what the compiler emitted.
        signature: what the function accepts, or its text (:meth:`~ffi_builder.spec.Signature.parse`
            reads it).
        device: the device type of tensors of a text that have none; "cuda" for a launch.
        function: the symbol of the kernel; left out, that of the prototype, or the signature's
            name.
        prototype: the kernel's declaration in C, or the path of a header that has it.
        args: what the kernel gets, in order, as for the providers. Beside a prototype with names,
            also a dict with those parameters that the signature does not name, such as
            ``{"ctx": None}``.
        errors: the class and the message for certain statuses, such as
            ``{22: ("ValueError", "the order is negative")}``. ``{-1: None}`` raises the TVM-FFI
            error that the kernel has set.
        provider: a class of :mod:`ffi_builder.providers` that is made with the symbol and ``args``,
            or a provider.
        launch: how a CUDA kernel is launched.
        owner: the object that frees the code at an int when it is dropped; None for code that
            stays. Functions keep it alive.
        pipeline: MLIR passes; left out, those for linalg, affine, scf, memref and func where the
            module has a ``func.func``. Tensors become memrefs, and tensors that it returns its last
            arguments, which must have the sizes that the function makes.
        link: more LLVM IR, objects and paths of these, as for :func:`~ffi_builder.runtime.compile`,
            like the next.
        sanitize: check what the kernel does to its tensors: see :class:`~ffi_builder.Sanitize`.
        opt_level: 0 to 3.
        cache_dir: a folder for compiled code.

    Raises:
        TypeError: a source of another kind, an option that does not go with it, or an int or a
            ``c_void_p`` without ``owner=``.
        SpecError: the signature is none, or an image cannot be read or launched so.
        BuildError: the kernel takes other arguments; nothing says which it takes.
        CompileError: the source is damaged, for another machine, or has no such function; the
            prototype is not read.
        LinkError: a symbol is missing, or defined twice.
        OSError: a file cannot be read.

    Examples:
        C's ``hypot`` by its address:

        >>> import ctypes
        >>> import ffi_builder
        >>> hypot = ffi_builder.wrap(
        ...     ctypes.CDLL("libm.so.6").hypot,
        ...     "hypot(x: float64, y: float64) -> r: float64",
        ...     prototype="double hypot(double x, double y)",
        ... )
        >>> hypot["hypot"](3.0, 4.0)
        5.0
    """
    if isinstance(signature, (list, tuple)) and isinstance(signature[:1][0], (str, spec.Signature)):
        raise TypeError("wrap: makes one function of one signature: call it for each of them")
    if isinstance(signature, str):
        default = device or ("cuda" if launch is not None else None)
        signature = spec.Signature.parse(signature, device=default)
    else:
        check_signature("wrap: ", signature)
        found = {str(tensor.device) for tensor in tensors_of(signature.params).values()}
        if device is not None and found - {device}:
            raise TypeError(
                f"wrap: device={device!r} goes with the text of a signature; the tensors of this "
                f"one are on {', '.join(sorted(found))}"
            )
    declared = None if prototype is None else read(prototype, function, signature.name)
    name = function or (declared.name if declared else signature.name)
    kernel = sources.read(source, name, owner, launched=launch is not None)
    _check_options(
        kernel,
        launch=launch,
        prototype=prototype,
        owner=None if owner is sources.UNOWNED else owner,
        pipeline=pipeline,
        errors=errors,
        provider=provider,
    )
    if provider is not None and (prototype is not None or errors is not None):
        raise TypeError(
            "wrap: prototype= and errors= go without provider=, which says itself how to call: a "
            "prototype would not be compared, and CheckStatus(provider, errors=…) has errors"
        )
    if args is not None and provider is not None and not isinstance(provider, type):
        raise TypeError("wrap: args= goes with a class in provider=; give them to the provider")
    if isinstance(link, (str, bytes, os.PathLike)):
        raise TypeError("wrap: link= is a list, as in link=['helper.o', '-lm']")
    c_args: Any = args  # for an image, _launching takes them
    if isinstance(args, Mapping) and (provider is not None or type(kernel) not in _CODE):
        raise TypeError("wrap: args= as a dict goes with prototype=, or with LLVM IR")
    module: Any = PlainModule()  # needs no MLIR
    items: list[Any] = [read_item(item, f"link[{at}]") for at, item in enumerate(link or ())]
    if isinstance(kernel, sources.Mlir):
        module, pipeline = _with_passes(kernel.module, pipeline, name, signature, args)
    elif isinstance(kernel, sources.Image):
        name = function or kernel.name or name
        if kernel.metadata is not None:
            signature, c_args = triton.checked(source, signature, c_args)
        provider = _launching(kernel, name, launch, c_args)
    else:
        items.insert(0, kernel)
        if provider in (HalideCallProvider, DirectCallProvider) and _has_metadata(kernel, name):
            if provider is DirectCallProvider:
                raise BuildError(f"wrap: Halide compiled `{name}`: leave provider= out")
            provider = None  # with metadata, arguments are compared
        if provider is None:
            sources.check_defines(kernel, name)
            known, who = _known(kernel, name, source, declared, items)
            if declared is not None and known is not None:
                check_same(declared, known, who)
                declared = with_promises(declared, known)
            declared = (known if who == _HALIDE else None) or declared or known or _undeclared(name)
            module.declare(*declared.declaration())
            signature, provider = called(declared, signature, c_args)
            if errors is not None:
                provider = _with_errors(provider, name, errors)

    def hook(lowered: Any) -> None:
        how = _provider(lowered, name, c_args, provider)
        if provider is None and not signature.results and isinstance(how, DirectCallProvider):
            how = _with_status(how, lowered, name)
        if provider is None and errors is not None:
            how = _with_errors(how, name, errors)
        attach(lowered, signature, how, sanitize=sanitize)

    return runtime.compile(
        module,
        pipeline=pipeline,
        post_compile_hooks=[hook],
        opt_level=opt_level,
        link=items,
        cache_dir=cache_dir,
    )


_HALIDE: Final = "Halide's metadata have"


def _has_metadata(kernel: Item, name: str) -> bool:
    symbols = sources.symbols_of(kernel) or ()
    return any(each.defined and each.name == halide.symbol_of(name) for each in symbols)


def _known(
    kernel: Item, name: str, source: object, declared: Prototype | None, items: Sequence[Item]
) -> tuple[Prototype | None, str]:
    """Return the types that a source itself has, if it has any, and words for errors."""
    if isinstance(kernel, LlvmSource):
        return defined_in(kernel.text, name), "the LLVM IR defines"
    if isinstance(kernel, AddressSource):
        package = type(source).__module__.strip("_").partition(".")[0]
        return declared_by(source, name, declared), f"{package} has"
    if _has_metadata(kernel, name):
        return halide.declared_by(items, name), _HALIDE
    return None, ""


_CODE: Final = (LlvmSource, ObjectSource, ArchiveSource, LibrarySource, AddressSource)
_OPTIONS: Final = {
    "pipeline": (sources.Mlir,),
    "prototype": _CODE,
    "owner": (AddressSource,),
    "launch": (sources.Image,),
    "errors": (sources.Mlir, *_CODE),
    "provider": (sources.Mlir, *_CODE),
}
"""The sources that options go with. The others go with all."""


def _check_options(kernel: sources.Kernel, **given: object) -> None:
    """Raise TypeError for an option of another source, or of another type."""
    launch = given["launch"]
    if not isinstance(launch, (Launch, type(None))):
        raise TypeError(f"wrap: expected launch=Launch(grid=…, block=…) but got {launch!r}")
    for option, value in given.items():
        kinds = _OPTIONS[option]
        if value is not None and type(kernel) not in kinds:
            raise TypeError(
                f"wrap: {option}= goes with {' or '.join(sources.WORDS[k] for k in kinds)}, but "
                f"the source is {sources.WORDS[type(kernel)]}"
            )


def _with_passes(
    module: Any, given: str | None, name: str, signature: spec.Signature, args: object
) -> tuple[Any, str | None]:
    """Return a module and its passes; its text, if its own distribution lacks ours."""
    found = given or pipeline_for(module)
    if given or found is None:
        return module, found
    if "bufferize" in found:
        with suppress(CompileError):  # a text that is not read has its error later
            module = tensors.kept(module, name, signature, args)
    if isinstance(module, (str, bytes)):
        return module, found
    return (module if mlir.has_passes(module, found) else str(module)), found


def pipeline_for(module: object) -> str | None:
    """Return the passes that a module's dialects need; None if it needs none.

    Tensors become memrefs, and tensors that a function returns become its last arguments.
    """
    text = _text(module)
    if "func.func" not in text and "memref" not in text:
        return None
    first = [_BUFFERIZE] if "tensor<" in text else []
    first += [passes for operation, passes in _FIRST.items() if re.search(operation, text)]
    return PIPELINE.replace("(", "(" + "".join(f"{passes}," for passes in first), 1)


def _text(module: Any) -> str:
    """Return the text of a module, without its large constants."""
    if isinstance(module, (str, bytes)):
        return module if isinstance(module, str) else module.decode(errors="replace")
    return module.operation.get_asm(large_elements_limit=_LARGE)


def _launching(
    image: sources.Image,
    name: str,
    launch: Launch | None,
    args: Sequence[LaunchEntry] | None,
) -> CallProvider:
    if launch is None:
        raise TypeError(
            "wrap: a CUDA image needs launch=, as in launch=Launch(grid=spec.ceildiv(n, 128)"
            f"{')' if image.metadata is not None else ', block=128)'}"
        )
    if image.metadata is not None:
        launch = triton.launched(image.metadata, launch)
    elif launch.block is None:
        raise TypeError("wrap: launch= needs block=: the image does not say how many threads")
    how: dict[str, Any] = {each.name: getattr(launch, each.name) for each in fields(launch)}
    return CudaLaunchCallProvider(image.data, name, args=args, **how)  # pyright: ignore[reportArgumentType]


def _with_errors(
    provider: CallProvider, name: str, errors: Mapping[int, tuple[str, str] | None]
) -> CallProvider:
    if not isinstance(provider, CheckStatus):
        raise BuildError(f"wrap: errors= needs a status, but `{name}` returns none")
    return replace(provider, errors=errors)


def _undeclared(name: str) -> NoReturn:
    raise BuildError(
        f"wrap: nothing says which arguments `{name}` takes, and a call that does not fit crashes: "
        f'give prototype="int {name}(…)", with void for int if it returns nothing, or '
        f"provider=providers.DirectCallProvider if they are those of the signature, as plain C"
    )


_VOID: Final = "!llvm.void"


def _provider(
    lowered: Any,
    name: str,
    args: Sequence[Entry] | None,
    given: CallProvider | type[Any] | None,
) -> CallProvider:
    """Return the provider for a lowered module."""
    if isinstance(given, type):
        return given(name, args=args)
    return _by_types(lowered, name, args) if given is None else given


def _with_status(provider: CallProvider, lowered: Any, name: str) -> CallProvider:
    """Check an integer that the function returns. Raises BuildError for another value."""
    found = next(view.operation for view in lowered.body.operations if _name(view) == name)
    result = str(function_parts(found)[0]) if found.name == "llvm.func" else _VOID
    if re.fullmatch(r"i\d+", result):
        return CheckStatus(provider)
    if result != _VOID:
        raise BuildError(
            f"wrap: {name} returns {result}, which the signature lacks: add a result, as in "
            f"`-> r: float32`"
        )
    return provider


def _name(view: Any) -> str | None:
    attributes = view.operation.attributes
    return attributes["sym_name"].value if "sym_name" in attributes else None


def _by_types(lowered: Any, name: str, args: Sequence[Entry] | None) -> CallProvider:
    """Choose by whether the function took memrefs before it was lowered."""
    named = {_name(view): view.operation for view in lowered.body.operations}
    if name in named:
        is_memref = MEMREF_TYPES in named[name].attributes
        return (MemRefCallProvider if is_memref else DirectCallProvider)(name, args=args)
    names = [each for each in named if each is not None]
    raise BuildError(
        f"wrap: the module has no @{name}{did_you_mean(name, names)}; it has "
        f"{', '.join(names) or 'nothing'}; say which with function="
    )
