"""Reads the inputs of `compile`: MLIR, LLVM IR, objects, and modules from the compile cache."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from ffi_builder.errors import CompileError
from ffi_builder.records import dataclass
from ffi_builder.runtime import metadata
from ffi_builder.runtime.codegen import constants, mlir
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.codegen.emit import Steps
from ffi_builder.runtime.files import object_files
from ffi_builder.runtime.isolate import worker
from ffi_builder.runtime.protocols import Module, Operation, OpView, PlainModule
from ffi_builder.runtime.sources.wrappers import callers_in, compiled_objects


@dataclass(frozen=True)
class MlirSource:
    """A lowered module that nothing else refers to. It is verified when it is translated."""

    module: Module


@dataclass(frozen=True)
class LlvmSource:
    """LLVM IR text."""

    text: str
    plain: bool = False
    """Whether a module without MLIR has written it (`sources.wrappers` knows its form)."""


@dataclass(frozen=True)
class ObjectSource:
    """The bytes of a relocatable object."""

    data: bytes


@dataclass(frozen=True)
class CachedSource:
    """A lowered module from the compile cache, which is parsed when it is needed."""

    data: bytes
    """Text or bytecode."""
    root: str
    """The distribution that parses it."""
    metadata: dict[str, str]
    """The result of `metadata_of`."""

    def parsed(self) -> Module:
        """Parse the module. Raises CompileError."""
        return mlir.parse(self.data, self.root)


Source = MlirSource | LlvmSource | ObjectSource | CachedSource


@dataclass(frozen=True)
class Code:
    """The objects of a compiled module."""

    own: tuple[bytes, ...]
    """The object of the module, then those of its wrappers."""
    linked: tuple[bytes, ...]
    """Objects of those elements of `link=` that are LLVM IR, in order."""


def mlir_text(source: Source) -> str | None:
    """Return the MLIR of `source`, or None for LLVM IR and objects."""
    if isinstance(source, MlirSource):
        return source.module.operation.get_asm()
    if isinstance(source, CachedSource):
        return source.parsed().operation.get_asm()
    return None


def llvm_ir(source: Source) -> LlvmIr | None:
    """Return the unoptimised LLVM IR of `source`, or None for an object."""
    match source:
        case MlirSource(module):
            mlir.verify(module)
            return mlir.to_llvm_ir(module)
        case CachedSource():
            return llvm_ir(MlirSource(source.parsed()))
        case LlvmSource(text):
            return constants.read(text)
        case ObjectSource():
            return None


def metadata_of(source: Source) -> dict[str, str]:
    """Return the metadata of the wrappers in `source`, by their names without the prefix."""
    match source:
        case MlirSource(module):
            return metadata.of_module(module)
        case CachedSource():
            return source.metadata
        case LlvmSource(text):
            return metadata.of_llvm_ir(text)
        case ObjectSource():
            return {}


def callers(source: Source, symbol: str) -> list[str]:
    """Return the wrappers in a module that mention a symbol, by their names; none in LLVM IR."""
    if isinstance(source, MlirSource) or (isinstance(source, LlvmSource) and source.plain):
        ir = llvm_ir(source)
        return [] if ir is None else callers_in(ir.text, symbol)
    return []


def wrappers(module: Operation) -> list[tuple[str, Operation]]:
    """Return the wrappers in a module, with their names without the prefix."""
    prefix = metadata.PREFIX
    result: list[tuple[str, Operation]] = []
    for view in module.regions[0].blocks[0].operations:
        attributes = view.operation.attributes
        name = str(attributes["sym_name"].value) if "sym_name" in attributes else ""
        if name.startswith(prefix):
            result.append((name.removeprefix(prefix), view.operation))
    return result


def objects(source: Source, level: int, ir: LlvmIr | None = None) -> Steps[list[bytes]]:
    """Compile `source` for this CPU: its own object, then its wrappers'. Raises CompileError.

    `ir` is its LLVM IR, if that is known.
    """
    match source:
        case MlirSource() | CachedSource():
            ir = ir or llvm_ir(source)
            assert ir is not None
            return (
                yield from compiled_objects(ir.text, level, lambda text: ir._replace(text=text))
            )
        case LlvmSource(text, plain=True):
            return (yield from compiled_objects(text, level, constants.read))
        case LlvmSource(text):
            own = yield constants.read(text)
            return [own]
        case ObjectSource(data):
            return [data]


_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
"""How bitcode begins, and bitcode in a wrapper."""

_PATH = r"[^\n\0<>(){};@%=]*\.(?:mlir|mlirbc|ll|bc|o|obj|so|a|c|cc|cpp|cu|py|txt)"
_TEXTS = (".mlir", ".ll", ".txt")
_LONGEST_PATH = 200
"""Text of this length or more is never taken for the name of a file."""

# How a line of LLVM IR outside of functions begins. MLIR has none of these: its aliases are
# `!a = !llvm…` and `#a = #…`, and its comments begin with `//`.
_LLVM_IR_LINE = r"""
      ; | define\b | declare\b | target\ (?:triple|datalayout)\b | source_filename\b
    | attributes\ \#\d | module\ asm\b
    | @[\w.$"-]+\ *= | %[\w.$"-]+\ *=\ *type\b | \$[\w.$"-]+\ *=\ *comdat\b
    | ![\w.]+\ *=\ *(?:distinct\ )?!(?:\{|DI)
"""
_FIRST_LINE = r"(?:\s*//[^\n]*\n)*\s*([^\n]{0,1000})"


def read_source(
    module: object, pipeline: str | None = None, hooks: Sequence[Callable[[Any], object]] = ()
) -> Source:
    """Find out what `module` is, and lower a clone of it if it is MLIR.

    Raises TypeError for anything but MLIR, a plain module, LLVM IR or an object, and for a
    pipeline or hooks without them; CompileError if it does not parse, lower or verify.
    """
    if isinstance(module, str) and (not module or module.isspace()):
        raise CompileError("Expected MLIR or LLVM IR, but the text is empty")
    _check_no_path(module)
    if isinstance(module, str) and not is_llvm_ir(module):
        _check_unicode(module)
        return MlirSource(mlir.lowered(mlir.parse(module), pipeline, hooks))
    if mlir.is_module(module):
        copy, before = mlir.clone(module), _names(module) if hooks else set[str]()
        lowered = mlir.lowered(copy, pipeline, hooks)
        _check_untouched(module, before, hooks)
        return MlirSource(lowered)
    if isinstance(module, PlainModule) and pipeline is None:
        return _plain(module, hooks)
    if pipeline is not None or hooks:
        given = "pipeline" if pipeline is not None else "post_compile_hooks"
        raise TypeError(f"{given}= needs an MLIR module, but got {kind_of(module)}")
    code = code_of(module)
    if code is None:
        raise TypeError(
            f"Expected an ir.Module of an MLIR Python distribution, MLIR or LLVM IR text, or the "
            f"bytes of an object file, but got {kind_of(module)}; give a module of other MLIR "
            f"bindings as text, which torch-mlir parses"
        )
    return code


def _plain(module: PlainModule, hooks: Sequence[Callable[[Any], object]]) -> LlvmSource:
    """Write the LLVM IR of a module without MLIR, on a clone of which hooks are called."""
    lowered, before = module, set[str]()
    if hooks:
        lowered, before = module.clone(), _names(module)
    for hook in hooks:
        hook(lowered)
    _check_untouched(module, before, hooks)
    return LlvmSource(lowered.llvm_ir(), plain=True)


def _check_unicode(text: str) -> None:
    """Raise CompileError for half of a surrogate pair, since MLIR and LLVM read UTF-8."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise CompileError(
            f"Expected text that UTF-8 can encode, but line {line} has {text[error.start]!r}, half "
            f"of a surrogate pair"
        ) from None


def _check_no_path(module: object) -> None:
    """Raise TypeError for a path, or text that looks like one."""
    if isinstance(module, os.PathLike):
        path = Path(cast("os.PathLike[str]", module))
    elif isinstance(module, str) and re.fullmatch(_PATH, module) and len(module) < _LONGEST_PATH:
        path = Path(module)
    else:
        return
    read = "read_text" if path.suffix in _TEXTS else "read_bytes"
    raise TypeError(
        f"Expected a module, not the path {module!r}: read the file, and give that: "
        f"pathlib.Path({str(path)!r}).{read}()"
    )


def _names(module: OpView | PlainModule) -> set[str]:
    """Return the names of the wrappers in a module."""
    return {name for name, _ in wrappers(module.operation)}


def _check_untouched(
    module: OpView | PlainModule, before: set[str], hooks: Sequence[Callable[[Any], object]]
) -> None:
    """Raise CompileError if a hook attached a wrapper to the given module instead of the clone."""
    new = sorted(_names(module) - before) if hooks else []
    if new:
        names = ", ".join(f"`{name}`" for name in new)
        raise CompileError(
            f"A hook attached {names} to the module that was given to compile, which is not the "
            f"one that is compiled: attach to the module that the hook is called with, as in "
            f"`def hook(lowered): attach(lowered, …)`"
        )


def code_of(given: object) -> LlvmSource | ObjectSource | None:
    """Read LLVM IR as text or bitcode, or the bytes of an object; return None for anything else.

    Raises CompileError for bytes that are neither.
    """
    if isinstance(given, str) and is_llvm_ir(given):
        _check_unicode(given)
        return LlvmSource(given)
    if not isinstance(given, (bytes, bytearray)):
        return None
    data = bytes(given)
    if data.startswith(_BITCODE):
        return LlvmSource(worker.disassemble(data))
    object_files.read_object(data)
    return ObjectSource(data)


def is_llvm_ir(text: str) -> bool:
    """Tell whether `text` is LLVM IR, by the start of its first line that is not empty."""
    first = re.match(_FIRST_LINE, text)
    return first is not None and re.match(_LLVM_IR_LINE, first[1], re.VERBOSE) is not None


def kind_of(value: object) -> str:
    """Say in an error what was given instead of a module."""
    if isinstance(value, str):
        return "LLVM IR text" if is_llvm_ir(value) else "other text"
    if isinstance(value, (bytes, bytearray)):
        return "bytes"
    return f"`{type(value).__module__}.{type(value).__qualname__}`"
