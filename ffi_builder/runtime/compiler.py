"""`compile`: a module to callable functions.

MLIR ─clone─pipeline─hooks─verify─► LLVM IR ─parse─verify─passes─► object ─► JIT library
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from ffi_builder.runtime.compiled import CompiledModule
from ffi_builder.runtime.link import link as link_objects
from ffi_builder.runtime.source import objects, read_link_item, read_source


def compile(
    module: object,
    *,
    pipeline: str | None = None,
    post_compile_hooks: Iterable[Callable[[Any], object]] = (),
    opt_level: int = 2,
    link: Iterable[str | bytes | os.PathLike[str]] = (),
) -> CompiledModule:
    """Compile `module` for this machine and load it.

    Args:
        module: an `ir.Module` (or its operation) of any MLIR distribution; MLIR text, which
            torch-mlir parses; LLVM IR text; or the bytes of a relocatable ELF object. It is not
            changed.
        pipeline: an MLIR pass pipeline, `builtin.module(…)`, that the module's own distribution
            runs on a clone.
        post_compile_hooks: called one after the other with the lowered clone, which they may
            change.
        opt_level: 0 to 3, for LLVM's passes and code generation.
        link: more LLVM IR text or object bytes, or paths of such files, loaded together with the
            module.

    Raises:
        CompileError: the module does not parse, lower, verify or compile.
        LinkError: a symbol is missing, or defined twice.
        TypeError: an argument of another type, or a pipeline or hooks for what is no MLIR.
        ValueError: another `opt_level`.
    """
    level = _checked_level(opt_level)
    if callable(post_compile_hooks):
        raise TypeError(
            f"Expected a sequence in post_compile_hooks=, but got one function, "
            f"{post_compile_hooks!r}: put it into a list"
        )
    hooks = tuple(post_compile_hooks)
    for hook in hooks:
        if not callable(hook):
            raise TypeError(f"Expected functions in post_compile_hooks=, but got {hook!r}")
    _check_pipeline(pipeline)
    if isinstance(link, (str, bytes, bytearray, os.PathLike)):
        raise TypeError(
            f"Expected a sequence in link=, but got one {type(link).__name__}: put it into a list"
        )
    items = [read_link_item(item, f"link[{index}]") for index, item in enumerate(link)]
    source = read_source(module, pipeline, hooks)
    own = objects(source, level)
    linked = [data for item in items for data in objects(item, level)]
    library = link_objects([*own, *linked])
    return CompiledModule(source, library, tuple(own), level)


def _check_pipeline(pipeline: object) -> None:
    if pipeline is not None and not isinstance(pipeline, str):
        raise TypeError(f"Expected the pipeline as text, `builtin.module(…)`, but got {pipeline!r}")


def _checked_level(level: object) -> int:
    if not isinstance(level, int) or isinstance(level, bool):
        raise TypeError(f"Expected opt_level 0, 1, 2 or 3, but got {level!r}")
    if not 0 <= level <= 3:
        raise ValueError(f"Expected opt_level 0, 1, 2 or 3, but got {level}")
    return level
