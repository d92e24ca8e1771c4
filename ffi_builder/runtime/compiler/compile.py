"""`compile`, `compile_cached` and `lower`: make callable functions, or files, of a module.

MLIR ─clone─pipeline─hooks─verify─► LLVM IR ─parse─verify─passes─► object ─► JIT library
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ffi_builder.errors import CompileError
from ffi_builder.records import dataclass
from ffi_builder.runtime.codegen import mlir
from ffi_builder.runtime.codegen.emit import Steps, run
from ffi_builder.runtime.compiler import linking
from ffi_builder.runtime.compiler.compiled import CompiledModule, LoweredModule
from ffi_builder.runtime.jit.link import getter_template
from ffi_builder.runtime.sources.declared import check_declared
from ffi_builder.runtime.sources.links import Item, code_among, read_item
from ffi_builder.runtime.sources.modules import (
    CachedSource,
    Code,
    LlvmSource,
    MlirSource,
    ObjectSource,
    Source,
    callers,
    metadata_of,
    objects,
    read_source,
)
from ffi_builder.runtime.sources.modules import llvm_ir as llvm_ir_of

if TYPE_CHECKING:
    from ffi_builder.runtime.compiler.cache import Cache, Entry, Key, StoredSource

Hooks: TypeAlias = Iterable[Callable[[Any], object]]
Links: TypeAlias = Iterable[str | bytes | os.PathLike[str]]


def compile(
    module: object,
    *,
    pipeline: str | None = None,
    post_compile_hooks: Hooks = (),
    opt_level: int = 2,
    link: Links = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> CompiledModule:
    """Compile `module` for this machine and load it.

    Args:
        module: an `ir.Module` (or its operation) of any MLIR distribution; MLIR text, which
            torch-mlir parses; a `PlainModule`; LLVM IR text; or the bytes of a relocatable ELF
            object. The module is not changed.
        pipeline: an MLIR pass pipeline, `builtin.module(…)`, that the module's own distribution
            runs on a clone.
        post_compile_hooks: functions that are called in order with the lowered clone, and may
            change it.
        opt_level: 0 to 3, for LLVM's passes and code generation.
        link: what else the module needs: LLVM IR text, the bytes of objects and static archives,
            paths of such files and of shared libraries, and `-lname` for a library of the system.
            Of an archive, the objects that define what is missing are linked. A shared library
            stays loaded.
        cache_dir: a folder that keeps compiled code, by default `$FFI_BUILDER_CACHE_DIR`; without
            either, nothing is kept. The lowered module is part of the key, so the pipeline and the
            hooks always run; `compile_cached` runs them only if its key is not found.

    Raises:
        CompileError: the module does not parse, lower, verify or compile.
        LinkError: a symbol is missing, or defined twice.
        TypeError: an argument has another type, or a pipeline or hooks are given without MLIR.
        ValueError: `opt_level` is out of range, or a setting of the cache is invalid, or of
            `$FFI_BUILDER_JIT_SYMBOLS`, which announces the code to profilers and debuggers.
        OSError: the code cannot be announced.

    Examples:
        C's ``hypot`` as the kernel, attached in a hook:

        >>> from ffi_builder import attach, providers, runtime, spec
        >>> hypot = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> def hook(module):
        ...     attach(module, hypot, providers.DirectCallProvider("hypot"))
        >>> compiled = runtime.compile("module {}", post_compile_hooks=[hook], opt_level=3)
        >>> compiled["hypot"](3.0, 4.0)
        5.0
    """
    options = checked(pipeline, post_compile_hooks, opt_level, link)
    return run(made(module, options, cache_in(cache_dir)), options.level).kept()


def lower(
    module: object,
    *,
    pipeline: str | None = None,
    post_compile_hooks: Hooks = (),
    opt_level: int = 2,
    link: Links = (),
) -> LoweredModule:
    """Compile `module` without loading it, to inspect or export it.

    The arguments are those of `compile`. The module may be for another machine, and may need
    symbols that are linked later.

    Raises:
        CompileError, TypeError, ValueError, OSError: as for `compile`.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> relu = spec.Signature.parse("relu(x: Tensor([n], float32))", device="cpu")
        >>> attach(module, relu, providers.DirectCallProvider("relu", args=["x", "n"]))
        >>> lowered = runtime.lower(module)
        >>> "call void @relu(ptr" in lowered.llvm_ir
        True
    """
    options = checked(pipeline, post_compile_hooks, opt_level, link)
    source = read_source(module, options.pipeline, options.hooks)
    check_declared(source, options.items)
    return LoweredModule(source, options.level, options.items)


def llvm_ir(module: object, *, pipeline: str | None = None, post_compile_hooks: Hooks = ()) -> str:
    """Translate `module` to LLVM IR that llvmlite parses, for a JIT of your own.

    MLIR prints LLVM IR for its own LLVM, which is newer than llvmlite's. This function rewrites
    constants that llvmlite cannot read, such as some floats, also in LLVM IR text that is given
    instead of MLIR. The result is not optimised, and only declares the support functions that it
    calls. `function_at` takes it as its `module`.

    The arguments are those of `compile`.

    Raises:
        CompileError: the module does not parse, lower, verify or translate.
        TypeError: `module` is an object, or an argument has another type.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("relu", []), providers.DirectCallProvider("relu"))
        >>> text = runtime.llvm_ir(module)
        >>> "define i32 @__tvm_ffi_relu(" in text
        True
    """
    options = checked(pipeline, post_compile_hooks, 0, ())
    ir = llvm_ir_of(read_source(module, options.pipeline, options.hooks))
    if ir is None:
        raise TypeError("Expected MLIR or LLVM IR, but got the bytes of an object")
    return ir.complete()


def compile_cached(
    key: Key,
    build: Callable[[], object],
    *,
    pipeline: str | None = None,
    post_compile_hooks: Hooks = (),
    opt_level: int = 2,
    link: Links = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> CompiledModule:
    """Compile `build()`, unless the cache has the result under `key`.

    If it has, neither `build` nor a hook is called, and no MLIR is imported. Without a folder in
    `cache_dir` or `$FFI_BUILDER_CACHE_DIR`, nothing is kept.

    Args:
        key: everything that the results of `build` and the hooks depend on: the kernel, its
            parameters, the version of your compiler. It is a str, bytes, or a tuple of strs, bytes,
            ints and tuples, nested at most 32 deep. The other arguments, the CPU and the versions
            of MLIR, LLVM and the JIT need not be in it.
        build: returns what `compile` takes; only a miss calls it.
        pipeline: as for `compile`.
        post_compile_hooks: as for `compile`; their code is not part of the key.
        opt_level: as for `compile`.
        link: as for `compile`; always read and compared.
        cache_dir: as for `compile`.

    Raises:
        TypeError, ValueError: the key is invalid. Also every error of `compile` and `build`.

    Examples:
        >>> import tempfile
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> def build():
        ...     print("building")
        ...     module = ir.Module.parse("", ir.Context())
        ...     signature = spec.Signature.parse("pow(x: float64, y: float64) -> r: float64")
        ...     attach(module, signature, providers.DirectCallProvider("pow"))
        ...     return module
        >>> key = ("my_dsl 1.0", "pow")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for _ in range(2):
        ...         power = runtime.compile_cached(key, build, cache_dir=folder)
        building
        >>> power["pow"](2.0, 10.0)
        1024.0
    """
    options = checked(pipeline, post_compile_hooks, opt_level, link)
    return run(made_cached(key, build, options, cache_in(cache_dir)), options.level).kept()


@dataclass(frozen=True)
class Made:
    """A compiled module, and what the cache has to keep of it."""

    compiled: CompiledModule
    store: Callable[[], None] | None = None

    def kept(self) -> CompiledModule:
        """Store the module, if the cache does not have it, and return it.

        A warning that this fails points at the caller's caller.
        """
        if self.store is not None:
            self.store()
        return self.compiled


def made(module: object, options: Options, cache: Cache | None) -> Steps[Made]:
    """Do the work of `compile`, up to storing the result. Raises what that raises."""
    source = read_source(module, options.pipeline, options.hooks)
    if cache is None or all(isinstance(part, ObjectSource) for part in (source, *options.items)):
        code = yield from _code(source, options)
        return Made(_loaded(source, code, options))
    from ffi_builder.runtime.compiler import cache as compile_cache

    made_of = compile_cache.made_of(source, options.items)
    key = compile_cache.of_source(source, options.level, made_of)
    entry = cache.read(key)
    if entry is not None:
        return Made(_loaded(source, entry.code, options, entry.getter))
    compiled, entry = yield from _compiled(source, options, made_of, with_source=False)
    return Made(compiled, functools.partial(cache.write, key, entry))


def made_cached(
    key: object, build: Callable[[], object], options: Options, cache: Cache | None
) -> Steps[Made]:
    """Do the work of `compile_cached`, up to storing the result. Raises what that raises."""
    from ffi_builder.runtime.compiler import cache as compile_cache

    if not callable(build):
        raise TypeError(f"Expected a function that makes a module as build, but got {build!r}")
    name = compile_cache.of_name(key, options.pipeline, options.level, options.items)
    if cache is None:
        return (yield from made(build(), options, None))
    entry = cache.read(name)
    if (
        entry is not None
        and entry.source is not None
        and entry.distributions == compile_cache.distributions(entry.distributions)
    ):
        return Made(_loaded(entry.source, entry.code, options, entry.getter))
    source = read_source(build(), options.pipeline, options.hooks)
    made_of = compile_cache.made_of(source, options.items)
    compiled, entry = yield from _compiled(source, options, made_of, with_source=True)
    return Made(compiled, functools.partial(cache.write, name, entry))


def cache_in(cache_dir: str | os.PathLike[str] | None) -> Cache | None:
    """Open the cache in `cache_dir`, or in the folder that the environment names; None without.

    Raises TypeError if `cache_dir` is not a path, and ValueError if the path is empty, or if the
    size limit in the environment is not a number of bytes with K, M, G or T.
    """
    if cache_dir is None:
        cache_dir = os.environ.get("FFI_BUILDER_CACHE_DIR") or None
    if cache_dir is None:
        return None
    from ffi_builder.runtime.compiler.cache import open_folder  # most compiles use none

    return open_folder(cache_dir)


@dataclass(frozen=True)
class Options:
    """The arguments that all functions of this module share, checked."""

    pipeline: str | None
    hooks: tuple[Callable[[Any], object], ...]
    level: int
    items: tuple[Item, ...]


def checked(pipeline: str | None, hooks: Hooks, level: object, link: Links) -> Options:
    """Check the arguments that all functions of this module share.

    Raises TypeError or ValueError.
    """
    checked_level = _checked_level(level)
    if callable(hooks):
        raise TypeError(
            f"Expected a sequence in post_compile_hooks=, but got one function, {hooks!r}: "
            f"put it into a list"
        )
    hooks = tuple(hooks)
    for hook in hooks:
        if not callable(hook):
            raise TypeError(
                f"Expected functions in post_compile_hooks=, but got {hook!r}: each is called "
                f"with the lowered module, as in [lambda module: attach(module, …)]"
            )
    given = cast("object", pipeline)
    if given is not None and not isinstance(given, str):
        raise TypeError(f"Expected the pipeline as text, `builtin.module(…)`, but got {given!r}")
    if isinstance(link, (str, bytes, bytearray, os.PathLike)):
        raise TypeError(
            f"Expected a sequence in link=, but got one {type(link).__name__}: put it into a list"
        )
    items = tuple(read_item(item, f"link[{index}]") for index, item in enumerate(link))
    return Options(pipeline, hooks, checked_level, items)


def _checked_level(level: object) -> int:
    if not isinstance(level, int) or isinstance(level, bool):
        raise TypeError(f"Expected opt_level 0, 1, 2 or 3, but got {level!r}")
    if not 0 <= level <= 3:
        raise ValueError(f"Expected opt_level 0, 1, 2 or 3, but got {level}")
    return level


def _code(source: Source, options: Options) -> Steps[Code]:
    """Compile `source`, and the LLVM IR that is linked to it."""
    ir = check_declared(source, options.items)
    own = yield from objects(source, options.level, ir)
    linked: list[bytes] = []
    for item in options.items:
        if isinstance(item, LlvmSource):
            linked += yield from objects(item, options.level)
    return Code(tuple(own), tuple(linked))


def _compiled(
    source: Source, options: Options, made_of: list[list[str]], *, with_source: bool
) -> Steps[tuple[CompiledModule, Entry]]:
    """Compile and load `source`; also return its entry for the cache.

    `made_of` describes the source before it was compiled. Raises CompileError if the source has
    changed since then, as the code might not belong to the entry.
    """
    from ffi_builder.runtime.compiler import cache as compile_cache

    code = yield from _code(source, options)
    compiled = _loaded(source, code, options)
    stored = _stored(source) if with_source else None
    if compile_cache.made_of(source, options.items) != made_of:
        raise CompileError(
            "The module changed while it was compiled, so the cache cannot keep its code: "
            "a hook that holds on to the module must not change it later"
        )
    roots = mlir.roots_for(source.module) if stored and isinstance(source, MlirSource) else ()
    distributions = compile_cache.distributions(roots)
    return compiled, compile_cache.Entry(code, getter_template(), stored, distributions, made_of)


def _loaded(
    source: Source, code: Code, options: Options, getter: bytes | None = None
) -> CompiledModule:
    """Load `code`, with the elements of `link=`, in order."""
    compiled = iter(code.linked)
    linked = [
        item.data if isinstance(item, ObjectSource) else next(compiled)
        for item in code_among(options.items)
    ]
    called_by = functools.partial(callers, source)
    library = linking.load(code.own, linked, options.items, getter, called_by)
    return CompiledModule(source, library, code.own, options.level, options.items)


def _stored(source: Source) -> StoredSource:
    if isinstance(source, MlirSource):
        data, root = mlir.stored(source.module)
        return CachedSource(data, root, metadata_of(source))
    return source
