"""Modules of any MLIR distribution: clone, pipeline, hooks, verify, translate to LLVM IR.

The distribution is the one that the module's bindings belong to; its root package (`torch_mlir`,
`jaxlib.mlir`, …) is read off the type, so nothing here imports a distribution that the module did
not bring along, except torch-mlir, which parses MLIR text and translates modules of distributions
that cannot.
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

from ffi_builder.errors import CompileError
from ffi_builder.protocol import record_memref_types, takes_tensors
from ffi_builder.runtime import bindings, dense
from ffi_builder.runtime.codegen import floats
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.object_files import Constant
from ffi_builder.runtime.protocols import Module, Operation, OpView, named_attributes
from ffi_builder.runtime.safety import allowlist_mlir, worker
from ffi_builder.runtime.safety.locks import fork_safe_lock
from ffi_builder.runtime.safety.nesting import is_deeper

DEFAULT_ROOT = "torch_mlir"

# A context remembers every attribute and type it has seen, and takes 3 ms to make.
_SCRATCH_USES = 64

# Strings, which may have a hundred million characters, comments, and what looks like brackets.
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
    """The package that the module's bindings live in, such as `torch_mlir` or `iree.compiler`."""
    return bindings.root_of(module.operation)


def parse(text: str | bytes, root: str = DEFAULT_ROOT) -> Module:
    """Parse MLIR text or bytecode with distribution `root`.

    Raises CompileError with MLIR's message.
    """
    ir = bindings.load(f"{root}.ir")
    if isinstance(text, str):
        _check_nesting(text)
        _check_atomics(text)
    try:
        return ir.Module.parse(text, _scratch_context(root, ir))
    except (ir.MLIRError, ValueError) as error:
        raise CompileError(f"The MLIR text does not parse: {_words(error)}") from error


def _check_nesting(text: str) -> None:
    """Raise CompileError for text that makes MLIR's parser run out of stack."""
    if is_deeper(re.sub(_SKIPPED, "", text), _MOST_LEVELS):
        raise CompileError(
            f"The MLIR text does not parse: its brackets are more than {_MOST_LEVELS} levels deep"
        )


def _check_atomics(text: str) -> None:
    """Raise CompileError for a type of `llvm.atomicrmw` that ends the process.

    MLIR's parser refuses all but numbers, pointers and vectors there, with a message that it has
    freed (LLVM 24git).
    """
    found = re.search(_ATOMIC_OF_NO_NUMBER, text) if "llvm.atomicrmw" in text else None
    if found is not None:
        raise CompileError(
            f"The MLIR text does not parse: `llvm.atomicrmw` takes a number, a pointer or a "
            f"vector, but got `{found[1].strip()[:60]}`"
        )


def clone(module: OpView) -> Module:
    """A copy of `module`, in the same context.

    Raises CompileError if it is another operation than a module.
    """
    source = module.operation
    if source.name != "builtin.module":
        raise CompileError(
            f"Expected a `builtin.module`, but got a `{source.name}`: pass the module around it"
        )
    copy = empty_like(source)
    for operation in source.regions[0].blocks[0].operations:
        copy.body.append(operation.operation.clone())
    return copy


def empty_like(operation: Operation, *, located: bool = True) -> Module:
    """An empty module with the attributes of `operation` and, if it is `located`, its location."""
    ir = bindings.ir_of(operation)
    unknown = ir.Location.unknown(operation.context)
    module = ir.Module.create(operation.location if located else unknown)
    for attribute in named_attributes(operation):
        module.operation.attributes[attribute.name] = attribute.attr
    return module


def body(module: Module) -> list[Operation]:
    """The operations of `module`."""
    return [view.operation for view in module.body.operations]


def rename(module: Module, operation: Operation, old: str, new: str) -> None:
    """Give a symbol of `module` another name, also where it is used."""
    ir = bindings.ir_of(module.operation)
    operation.attributes["sym_name"] = ir.StringAttr.get(new, module.context)
    ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)


def forget_locations(module: Module) -> None:
    """Make all locations in `module` unknown, if its distribution has the pass that does it."""
    root = root_of(module)
    ir = bindings.load(f"{root}.ir")
    manager = bindings.load(f"{root}.passmanager").PassManager
    try:
        passes = manager.parse("builtin.module(strip-debuginfo)", context=module.context)
    except (ir.MLIRError, ValueError):
        return
    passes.enable_verifier(False)
    passes.run(module.operation)


def lowered(
    module: Module, pipeline: str | None, hooks: Sequence[Callable[[Any], object]]
) -> Module:
    """Run `pipeline`, then `hooks`, on `module` in place, and return it.

    The memrefs that kernels take are recorded on the way, for hooks that attach.

    Raises CompileError; a hook's error is its own.
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
        # The bindings of torch-mlir may know of constants what those of `root` do not.
        parsed, more = _without_constants(parse(text))
        return LlvmIr(_safely_translated(parsed), {**constants, **more})
    except CompileError as error:
        raise CompileError(
            f"{root} does not translate to LLVM IR, so torch-mlir was asked to: {error}"
        ) from error


def _safely_translated(module: Module) -> str:
    """Translate `module` with its own bindings: in this process if that is harmless."""
    if answers(module):
        hazard = allowlist_mlir.translation_hazard(module.operation)
        if hazard is None:
            try:
                return translate(module)
            except Refused:
                # LLVM says why on stderr. A child has one of its own, so the error gets its words.
                hazard = _only_function(module)
    else:
        allowlist_mlir.check_operations(module.operation)
        hazard = _only_function(module)
    return worker.translate(generic_text(module), root_of(module), hazard)


def _only_function(module: Module) -> str | None:
    """Name the one function that is not a wrapper, for errors; None if there are several."""
    names = [
        operation.attributes["sym_name"].value
        for operation in body(module)
        if operation.name == "llvm.func"
        and len(operation.regions[0].blocks)
        and allowlist_mlir.trusted_references(operation) is None
    ]
    return f"llvm.func @{names[0]}" if len(names) == 1 else None


def _without_constants(module: Module) -> tuple[Module, dict[str, Constant]]:
    """A module that only declares the large constants of `module`, and these.

    It is a copy if there are any, as others may look at `module` at the same time.
    """
    constants = dense.constants(module.operation)
    if not constants:
        return module, constants
    copy = empty_like(module.operation)
    for operation in body(module):
        constant = None
        if operation.name == "llvm.mlir.global":
            constant = constants.get(operation.attributes["sym_name"].value)
        copy.body.append(
            operation.clone() if constant is None else dense.declaration_of(operation, constant)
        )
    return copy, constants


def generic_text(module: Module) -> str:
    """Text that every distribution parses."""
    return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)


def content(module: Module) -> bytes:
    """Serialise `module`, for comparing and for `parse` in the same distribution.

    Raises CompileError if MLIR's verifier refuses it: writing bytecode ends the process then.
    """
    verify(module)
    return content_of_verified(module)


def content_of_verified(module: Module) -> bytes:
    """`content` of a module that was verified."""
    buffer = io.BytesIO()
    try:
        module.operation.write_bytecode(buffer)
    except (AttributeError, ValueError):  # old bindings, or a dialect that cannot
        return generic_text(module).encode()
    return buffer.getvalue()


def stored(module: Module) -> tuple[bytes, str]:
    """Serialise `module`, with the root of the distribution that parses and translates it."""
    root = root_of(module)
    if way_of(root) is Way.OWN:
        return content(module), root
    return generic_text(module).encode(), DEFAULT_ROOT


def roots_for(module: Module) -> tuple[str, ...]:
    """The distributions that translate `module`; if it is not known, those that may."""
    root = root_of(module)
    return (root,) if WAYS.get(root) is Way.OWN else (root, DEFAULT_ROOT)


def _run_pipeline(module: Module, pipeline: str) -> None:
    root = root_of(module)
    passmanager = bindings.load(f"{root}.passmanager").PassManager
    ir = bindings.load(f"{root}.ir")

    def parsed(text: str) -> Any:
        return passmanager.parse(text, context=module.context)

    try:
        managers = [parsed(pipeline)]
    except (ir.MLIRError, ValueError) as error:
        raise CompileError(
            f"The pass pipeline `{pipeline}` does not parse in {root}: {_words(error)}"
        ) from error
    if takes_tensors(module):
        # Kernels then get memrefs between two passes, and some later pass lowers these.
        with suppress(ir.MLIRError, ValueError):
            managers = [parsed(step) for step in steps(pipeline)] or managers
    try:
        for passes in managers:
            record_memref_types(ir, module)
            passes.run(module.operation)
    except (ir.MLIRError, RuntimeError) as error:
        raise CompileError(f"The pass pipeline `{pipeline}` failed: {_words(error)}") from error


def _scratch_context(root: str, ir: Any) -> Any:
    """A context for text, replaced after some uses so that it does not grow for ever."""
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
    # Its bindings have the function too, which ends the process: it registers no translations.
    "jaxlib.mlir": Way.TORCH_MLIR,
}
"""The distributions in tests/distributions; any other is tried when it is first used."""


def way_of(root: str) -> Way:
    """Return the way in which modules of distribution `root` become LLVM IR.

    For an unknown one, a child process, which may crash, tries to translate a small module. That
    takes half a second, once per process.
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
    """Tell whether refusing to translate `module` is an answer. If not, it ends the process."""
    return (
        bindings.address(module.operation) is not None and _answering(root_of(module)) is not None
    )


def translate(module: Module) -> str:
    """Translate `module` to LLVM IR text in this process.

    The bindings' own function leaks the text that the C API returns, and ends the process where
    LLVM's verifier refuses the module: see `safety.allowlist_mlir`. With LLVM's C functions, if the
    library exports them as that of torch-mlir does, the module that is made is compared with NULL
    before it is printed.

    Raises Refused. LLVM's verifier has written the reason to stderr.
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
    """The functions with which a translation is an answer, if its library exports all of them."""
    library = bindings.library(root, ANSWERING[0])
    if library is None or not all(hasattr(library, name) for name in ANSWERING):
        return None
    found = {name: library[name] for name in ANSWERING}
    for name, function in found.items():
        count = {"LLVMContextCreate": 0, "mlirTranslateModuleToLLVMIR": 2}.get(name, 1)
        function.argtypes, function.restype = [ctypes.c_void_p] * count, ctypes.c_void_p
    return found


# ---- pipelines

_NO_OPERATION = "ffi_builder.none"


def steps(pipeline: str) -> list[str]:
    """Split a pipeline into the pipelines to run instead; none if its text is of another form.

    The first of these becomes the other three, behind one that runs no pass::

        builtin.module(one-shot-bufferize{a=1 b=2},func.func(cse,canonicalize),convert-to-llvm)

        builtin.module(one-shot-bufferize{a=1 b=2})
        builtin.module(func.func(cse,canonicalize))
        builtin.module(convert-to-llvm)

    That one is for an operation that no module has. MLIR loads the dialects that passes create
    before it runs a pipeline, and some passes rely on those of later passes. MLIR describes the
    text under "Textual Pass Pipeline Specification" in https://mlir.llvm.org/docs/PassManagement/.
    """
    found = re.fullmatch(r"\s*([\w.$-]+)\s*\((.*)\)\s*", pipeline, re.DOTALL)
    if found is None:
        return []
    anchor, passes = found[1], found[2]
    load = f"{anchor}({_NO_OPERATION}({anchor}({passes})))"
    return [load, *(f"{anchor}({one})" for one in _separated(passes))]


def _separated(passes: str) -> list[str]:
    """Split at the commas that are outside of parentheses and braces.

    Within the braces around options, parentheses mean nothing.
    """
    found, start, parentheses, braces = list[str](), 0, 0, 0
    for at, char in enumerate(passes):
        braces += (char == "{") - (char == "}")
        if braces:
            continue
        parentheses += (char == "(") - (char == ")")
        if char == "," and not parentheses:
            found.append(passes[start:at])
            start = at + 1
    return [*found, passes[start:]]
