"""Handles modules of any MLIR distribution: clone, pipeline, hooks, verify, translate to LLVM IR.

The distribution is the one whose bindings made the module. Its root package (`torch_mlir`,
`jaxlib.mlir`, …) follows from the type of the module. So this module imports no other distribution,
except torch-mlir, which parses MLIR text and translates modules whose distributions cannot.
"""

from __future__ import annotations

import ctypes
import enum
import functools
import io
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeGuard

from ffi_builder import abi
from ffi_builder.errors import CompileError
from ffi_builder.protocol import PREFIX, TRUSTED, record_memref_types, takes_tensors
from ffi_builder.runtime import bindings
from ffi_builder.runtime.codegen import allowlist_mlir, dense, floats
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.codegen.passes import unknown_pass, with_line
from ffi_builder.runtime.codegen.progress import told
from ffi_builder.runtime.files.object_files import Constant
from ffi_builder.runtime.isolate import worker
from ffi_builder.runtime.isolate.locks import fork_safe_lock
from ffi_builder.runtime.isolate.nesting import is_deeper
from ffi_builder.runtime.protocols import Module, Operation, OpView, named_attributes

DEFAULT_ROOT = "torch_mlir"

# A context remembers every attribute and type it has seen, and takes 3 ms to make.
_SCRATCH_USES = 64

# Strings, which may have a hundred million characters, comments, and operators with < or >.
_SKIPPED = r'"[^"\\]*(?:\\.[^"\\]*)*"|//[^\n]*|->|[<>]=|=>'
_MOST_LEVELS = 500

_ATOMIC_OF_NO_NUMBER = r"llvm\.atomicrmw\s[^\n:]*:[^\n]*?,\s*(!llvm\.(?!p)[^\n]*)"

_lock = fork_safe_lock()
_scratch: dict[str, tuple[Any, int]] = {}


def is_module(value: object) -> TypeGuard[OpView]:
    """Tell whether `value` is an `ir.Module`, or an operation, of some MLIR distribution."""
    operation = getattr(value, "operation", None)
    return "._mlir_libs." in type(operation).__module__


def root_of(module: Module) -> str:
    """Return the root package of the module's bindings, such as `torch_mlir` or `iree.compiler`."""
    return bindings.root_of(module.operation)


def parse(text: str | bytes, root: str = DEFAULT_ROOT) -> Module:
    """Parse MLIR text or bytecode with distribution `root`.

    Raises CompileError with MLIR's message.
    """
    ir = bindings.ir_named(root)
    if isinstance(text, str):
        _check_nesting(text)
        _check_atomics(text)
    try:
        return ir.Module.parse(text, _scratch_context(root, ir))
    except (ir.MLIRError, ValueError) as error:
        words = with_line(_words(error), text)
        raise CompileError(f"The MLIR text does not parse: {words}") from error


def _check_nesting(text: str) -> None:
    """Raise CompileError for text that makes MLIR's parser run out of stack."""
    if is_deeper(re.sub(_SKIPPED, "", text), _MOST_LEVELS):
        raise CompileError(
            f"The MLIR text does not parse: its brackets are more than {_MOST_LEVELS} levels deep"
        )


def _check_atomics(text: str) -> None:
    """Raise CompileError for a type of `llvm.atomicrmw` that ends the process.

    MLIR's parser accepts only numbers, pointers and vectors there. For other types it reads a freed
    message (LLVM 24git).
    """
    match = re.search(_ATOMIC_OF_NO_NUMBER, text) if "llvm.atomicrmw" in text else None
    if match is not None:
        raise CompileError(
            f"The MLIR text does not parse: `llvm.atomicrmw` takes a number, a pointer or a "
            f"vector, but got `{match[1].strip()[:60]}`"
        )


def clone(module: OpView) -> Module:
    """Copy `module`, in the same context.

    Raises CompileError if it is not a `builtin.module`.
    """
    source = module.operation
    if source.name != "builtin.module":
        raise CompileError(
            f"Expected a `builtin.module`, but got a `{source.name}`: pass the module around it"
        )
    return module_like(source, source)


def module_like(operation: Operation, around: Operation) -> Module:
    """Make a module with the attributes and the location of `operation`.

    It has copies of the operations in `around`.
    """
    module = _empty_like(operation)
    for each in around.regions[0].blocks[0].operations:
        module.body.append(each.operation.clone())
    return module


def _empty_like(operation: Operation) -> Module:
    ir = bindings.ir_of(operation)
    module = ir.Module.create(operation.location)
    for attribute in named_attributes(operation):
        module.operation.attributes[attribute.name] = attribute.attr
    return module


def body(module: Module) -> list[Operation]:
    """Return the operations of `module`."""
    return [view.operation for view in module.body.operations]


def lowered(
    module: Module, pipeline: str | None, hooks: Sequence[Callable[[Any], object]]
) -> Module:
    """Run `pipeline`, then `hooks`, on `module` in place, and return it.

    It also records the memref types of kernels, for hooks that attach wrappers.

    Raises CompileError, and the errors of hooks unchanged.
    """
    if pipeline is not None:
        _run_pipeline(module, pipeline)
    for hook in hooks:
        hook(module)
    return module


def verify(module: Module) -> None:
    """Raise CompileError if MLIR's verifier refuses `module`."""
    ir = bindings.ir_of(module.operation)
    try:
        valid = module.operation.verify()
    except ir.MLIRError as error:
        raise CompileError(f"MLIR's verifier refuses the module: {_words(error)}") from error
    if not valid:
        raise CompileError("MLIR's verifier refuses the module; its message is on stderr")


def to_llvm_ir(module: Module) -> LlvmIr:
    """Translate a lowered and verified `module` to LLVM IR that llvmlite reads.

    Raises CompileError that names what cannot be translated.
    """
    text, constants = _translated(module)
    return LlvmIr(floats.readable(text), constants)


def _translated(module: Module) -> LlvmIr:
    module, constants = _without_constants(module)
    root = root_of(module)
    way = way_of(root)
    if way is Way.OWN:
        return LlvmIr(_safely_translated(module), constants)
    allowlist_mlir.check_operations(module.operation)
    text = generic_text(module)
    try:
        if way is Way.CHILD:
            return LlvmIr(worker.translate(text, DEFAULT_ROOT, _only_function(module)), constants)
        # The bindings of torch-mlir may read constants that those of `root` cannot.
        parsed, more = _without_constants(parse(text))
        return LlvmIr(_safely_translated(parsed), {**constants, **more})
    except CompileError as error:
        raise CompileError(
            f"{root} does not translate to LLVM IR, so torch-mlir was asked to: {error}"
        ) from error


def _safely_translated(module: Module) -> str:
    """Translate `module` with its own bindings, in this process if safe, else in a child."""
    if answers(module):
        hazard = allowlist_mlir.translation_hazard(module.operation)
        if hazard is None:
            try:
                return translate(module)
            except Refused:
                # LLVM writes the reason to stderr. Only from a child can the error take it.
                hazard = _only_function(module)
    else:
        allowlist_mlir.check_operations(module.operation)
        hazard = _only_function(module)
    return worker.translate(generic_text(module), root_of(module), hazard)


def _only_function(module: Module) -> str | None:
    """Return the name of the only function that is not a wrapper; None if there are several."""
    names = [
        operation.attributes["sym_name"].value
        for operation in body(module)
        if operation.name == "llvm.func" and len(operation.regions[0].blocks)
        if "passthrough" not in operation.attributes
        or TRUSTED not in str(operation.attributes["passthrough"])
    ]
    names = [name for name in names if not name.startswith((PREFIX, f"{abi.PREFIX}_"))]
    return f"llvm.func @{names[0]}" if len(names) == 1 else None


def _without_constants(module: Module) -> tuple[Module, dict[str, Constant]]:
    """Return a module that only declares the large constants of `module`, and the constants.

    If there are any, it is a copy, as other threads may read `module` at the same time.
    """
    constants = dense.constants(module.operation)
    if not constants:
        return module, constants
    copy = _empty_like(module.operation)
    for operation in body(module):
        constant = None
        if operation.name == "llvm.mlir.global":
            constant = constants.get(operation.attributes["sym_name"].value)
        copy.body.append(
            operation.clone() if constant is None else dense.declaration_of(operation, constant)
        )
    return copy, constants


def generic_text(module: Module) -> str:
    """Return the text of `module` in the generic form, which every distribution parses."""
    return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


def content(module: Module) -> bytes:
    """Serialise `module`, for comparisons and for `parse` in the same distribution.

    Raises CompileError if MLIR's verifier refuses it: then writing bytecode would end the process.
    """
    verify(module)
    buffer = io.BytesIO()
    try:
        module.operation.write_bytecode(buffer)
    except (AttributeError, ValueError):  # old bindings, or a dialect that cannot
        return generic_text(module).encode()
    return buffer.getvalue()


def stored(module: Module) -> tuple[bytes, str]:
    """Serialise `module`; also return the root of a distribution that can translate it."""
    root = root_of(module)
    if way_of(root) is Way.OWN:
        return content(module), root
    return generic_text(module).encode(), DEFAULT_ROOT


def roots_for(module: Module) -> tuple[str, ...]:
    """Return the distributions that translate `module`, or may do so if that is not known."""
    root = root_of(module)
    return (root,) if WAYS.get(root) is Way.OWN else (root, DEFAULT_ROOT)


def has_passes(module: Module, pipeline: str) -> bool:
    """Return whether the distribution of a module has the passes of a pipeline."""
    root = root_of(module)
    ir = bindings.ir_named(root)
    _register(root, pipeline)
    try:
        bindings.load(f"{root}.passmanager").PassManager.parse(pipeline, context=module.context)
    except (ir.MLIRError, ValueError):
        return False
    return True


def _register(root: str, pipeline: str) -> None:
    """Register torch-mlir's own passes, as importing its dialect does, if one of them is named."""
    if root == DEFAULT_ROOT and re.search(r"\b(refback|torch|tcp|tm-tensor)-", pipeline):
        bindings.load(f"{root}.dialects.torch")


def _run_pipeline(module: Module, pipeline: str) -> None:
    root = root_of(module)
    _register(root, pipeline)
    passmanager = bindings.load(f"{root}.passmanager").PassManager
    ir = bindings.ir_named(root)

    def parsed(text: str) -> Any:
        return passmanager.parse(text, context=module.context)

    try:
        managers = [parsed(pipeline)]
    except (ir.MLIRError, ValueError) as error:
        words = _words(error)
        raise CompileError(
            f"The pass pipeline `{pipeline}` does not parse in {root}"
            f"{_elsewhere(root, words)}{unknown_pass(words)}: {words}"
            f"{_unanchored(pipeline)}"
        ) from error
    if takes_tensors(module):
        # One of the passes gives kernels memrefs, and a later pass lowers these.
        with suppress(ir.MLIRError, ValueError):
            managers = [parsed(step) for step in steps(pipeline)] or managers
    try:
        for manager in managers:
            record_memref_types(ir, module)
            with told("MLIR's passes"):
                manager.run(module.operation)
    except (ir.MLIRError, RuntimeError) as error:
        words = f"{_words(error)}{_unanchored(pipeline)}"
        raise CompileError(f"The pass pipeline `{pipeline}` failed: {words}") from error


def _elsewhere(root: str, words: str) -> str:
    """Say where a pass may be, if other bindings than torch-mlir's lack it."""
    lacks = "does not refer to a registered pass" in words and root != DEFAULT_ROOT
    return " (torch-mlir may: give the text of the module)" if lacks else ""


def _unanchored(pipeline: str) -> str:
    """Say how passes are written for a module, if these are for something else."""
    is_module = pipeline.lstrip().startswith("builtin.module")
    return "" if is_module else f"; write `builtin.module({pipeline})`"


def _scratch_context(root: str, ir: Any) -> Any:
    """Return a context for text, replaced after some uses so that it cannot grow forever."""
    with _lock:
        context, uses = _scratch.get(root, (None, _SCRATCH_USES))
        if uses >= _SCRATCH_USES:
            context, uses = ir.Context(), 0
            context.allow_unregistered_dialects = True
        _scratch[root] = context, uses + 1
        return context


def _words(error: Exception) -> str:
    return str(error).strip()


# ---- translation

ANSWERING: Final = (
    "mlirTranslateModuleToLLVMIR",
    "LLVMContextCreate",
    "LLVMContextDispose",
    "LLVMPrintModuleToString",
    "LLVMDisposeModule",
    "LLVMDisposeMessage",
)
_PROBE: Final = "llvm.func @probe(%x: i64) -> i64 {\n  llvm.return %x : i64\n}"


class Refused(CompileError):
    """LLVM's verifier refuses a module that MLIR's accepts."""


class Way(enum.Enum):
    """A way in which a module of a distribution becomes LLVM IR."""

    OWN = enum.auto()
    """Its own bindings translate it."""
    TORCH_MLIR = enum.auto()
    """torch-mlir, in this process, translates its generic text."""
    CHILD = enum.auto()
    """torch-mlir translates its generic text in a child process: both may not fit into one."""


WAYS: Final[dict[str, Way]] = {
    "torch_mlir": Way.OWN,
    "iree.compiler": Way.OWN,
    "flydsl._mlir": Way.OWN,
    "cutlass._mlir": Way.OWN,
    # Its bindings have the function, too, but it ends the process: it registers no translations.
    "jaxlib.mlir": Way.TORCH_MLIR,
}
"""The distributions in tests/distributions. Any other distribution is tried on its first use."""


def way_of(root: str) -> Way:
    """Return the way in which modules of distribution `root` become LLVM IR.

    For an unknown distribution, a child process tries to translate a small module, which may crash
    the child. That takes half a second, once per process.
    """
    return WAYS.get(root) or _tried(root)


@functools.cache
def _tried(root: str) -> Way:
    try:
        worker.translate(_PROBE, root, None)
    except CompileError:
        return Way.CHILD
    return Way.OWN


def answers(module: Module) -> bool:
    """Return whether translating a refused `module` returns instead of ending the process."""
    return (
        bindings.address(module.operation) is not None and _answering(root_of(module)) is not None
    )


def translate(module: Module) -> str:
    """Translate `module` to LLVM IR text in this process.

    The bindings' own function leaks the text that the C API returns, and ends the process if LLVM's
    verifier refuses the module: see `codegen.allowlist_mlir`. Some libraries, such as that of
    torch-mlir, export LLVM's C functions. With these, the result is compared with NULL before it is
    printed.

    Raises Refused; LLVM's verifier has then written the reason to stderr.
    """
    root, address = root_of(module), bindings.address(module.operation)
    library = None if address is None else _answering(root)
    if library is None:
        own = bindings.load(f"{root}.dialects.llvm")
        return own.translate_module_to_llvmir(module.operation)
    context = library["LLVMContextCreate"]()
    try:
        translated = library["mlirTranslateModuleToLLVMIR"](address, context)
        if not translated:
            raise Refused("LLVM's verifier refuses the module; its message is on stderr")
        printed = library["LLVMPrintModuleToString"](translated)
        text = ctypes.string_at(printed).decode()
        library["LLVMDisposeMessage"](printed)
        library["LLVMDisposeModule"](translated)
        return text
    finally:
        library["LLVMContextDispose"](context)


@functools.cache
def _answering(root: str) -> Mapping[str, Any] | None:
    """Return the functions for refusable translations, if the library exports all of them."""
    library = bindings.library(root, *ANSWERING)
    if library is None:
        return None
    functions = {name: library[name] for name in ANSWERING}
    for name, function in functions.items():
        count = {"LLVMContextCreate": 0, "mlirTranslateModuleToLLVMIR": 2}.get(name, 1)
        function.argtypes, function.restype = [ctypes.c_void_p] * count, ctypes.c_void_p
    return functions


# ---- pipelines

_NO_OPERATION = "ffi_builder.none"


def steps(pipeline: str) -> list[str]:
    """Split a pipeline into pipelines with one pass each; empty if its text has another form.

    The first pipeline below becomes the other three, after one that runs no pass::

        builtin.module(one-shot-bufferize{a=1 b=2},func.func(cse,canonicalize),convert-to-llvm)

        builtin.module(one-shot-bufferize{a=1 b=2})
        builtin.module(func.func(cse,canonicalize))
        builtin.module(convert-to-llvm)

    The one that runs no pass has all passes, for an operation that no module has. It makes MLIR
    load the dialects that passes create, since some passes rely on those of later passes. MLIR
    describes the text under "Textual Pass Pipeline Specification" in
    https://mlir.llvm.org/docs/PassManagement/.
    """
    match = re.fullmatch(r"\s*([\w.$-]+)\s*\((.*)\)\s*", pipeline, re.DOTALL)
    if match is None:
        return []
    anchor, passes = match[1], match[2]
    load = f"{anchor}({_NO_OPERATION}({anchor}({passes})))"
    return [load, *(f"{anchor}({one})" for one in _separated(passes))]


def _separated(passes: str) -> list[str]:
    """Split at the commas outside parentheses and braces.

    Parentheses inside the braces of options do not count.
    """
    parts, start, parentheses, braces = list[str](), 0, 0, 0
    for at, char in enumerate(passes):
        braces += (char == "{") - (char == "}")
        if braces:
            continue
        parentheses += (char == "(") - (char == ")")
        if char == "," and not parentheses:
            parts.append(passes[start:at])
            start = at + 1
    return [*parts, passes[start:]]
