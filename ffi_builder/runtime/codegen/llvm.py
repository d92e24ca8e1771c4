"""Compiles LLVM IR text to machine code with llvmlite: parse, verify, optimise, emit.

LLVM's code generator ends the process if it cannot handle some code (`LLVM ERROR`, or exit(1) for a
fault in inline assembly), and nothing in llvmlite's API can stop that. So `emit` calls these
functions in this process only if `allowlist_llvm.codegen_hazard` finds nothing in the text. For any
other text it calls them in a child process (`isolate.worker`).
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Callable, Collection
from typing import Any, ParamSpec, TypeVar

from ffi_builder.errors import CompileError
from ffi_builder.runtime import bindings
from ffi_builder.runtime.isolate.interrupts import uninterrupted
from ffi_builder.runtime.isolate.locks import fork_safe_lock
from ffi_builder.runtime.protocols import LlvmModule, TargetMachine

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

# Baseline CPUs: every 64-bit processor of the architecture runs code for them.
BASELINE_CPUS = {"x86_64": "x86-64", "aarch64": "generic"}

# A thread-local variable that other modules cannot see.
_OWN_WORDS = r"(?:(?:internal|private|dso_local|hidden|protected)\s+)+"
_OWN_THREAD_LOCAL = rf'(?m)^(@(?:"[^"]*"|[\w.$-]+))\s*=\s*{_OWN_WORDS}thread_local\b'

# Linkages of symbols that other objects see. (`appending` is for lists that LLVM joins.)
_VISIBLE_LINKAGES = frozenset(
    {"external", "linkonce_any", "linkonce_odr", "weak_any", "weak_odr", "common"}
)

# An alias or ifunc, which llvmlite does not list: the text before its linkage, and the text after.
_ALIAS = r"""^(@"?([^"\n]*?)"?\ =\ )
        (?:(?:linkonce|weak|linkonce_odr|weak_odr|dso_local|hidden|protected)\ )*
        ((?:thread_local(?:\([a-z]+\))?\ )?(?:(?:local_)?unnamed_addr\ )?(?:alias|ifunc)\ )"""

# An alias or ifunc: its name, whether other modules see it, and the name of an alias's function.
_NAME = r"""@("[^"]*"|[^\s"(,]+)"""
_ALIAS_OF = rf"^{_NAME} = ((?:internal|private) )?.*?\b(?:alias .*, ptr {_NAME}|alias .*|ifunc .*)$"
# The first line of a function. Attributes of its result may have strings.
_HEADER = rf"""^define (?:"[^"]*"|[^@"])*{_NAME}\(.*$"""

_machine_lock = fork_safe_lock()

# llvmlite does not free the pass builder of each run of LLVM's pipeline, 1.5 KB. So this process
# generates code until it has leaked 3 MB; after that, children do.
most_pipelines: float = 2000
_pipelines = 0


class TooManyPipelinesError(Exception):
    """This process has run as many of LLVM's pipelines as it should."""


def _in_llvm(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Run a function that calls llvmlite where no handler interrupts it.

    The calling thread imports llvmlite: another one might wait for what this one is importing.
    """
    run = uninterrupted(function)

    @functools.wraps(function)
    def imported(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        bindings.load("llvmlite.binding")
        return run(*args, **kwargs)

    return imported


@functools.cache
@_in_llvm
def binding() -> Any:
    """Return llvmlite's binding, with this machine's target initialised.

    The assembly parser is initialised too: without it, inline assembly ends the process.
    """
    llvm = bindings.load("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm


@functools.cache
@_in_llvm
def host_cpu() -> str:
    """LLVM's name for the CPU of this machine."""
    return binding().get_host_cpu_name()


@functools.cache
@_in_llvm
def host_features() -> str:
    """Return the features of this CPU as LLVM wants them: `+avx2,-avx512f,…`."""
    return binding().get_host_cpu_features().flatten()


@functools.cache
@_in_llvm
def host_triple() -> str:
    """LLVM's name for what this process runs on: `x86_64-unknown-linux-gnu`."""
    return binding().get_process_triple()


def architecture(triple: str) -> str:
    """`x86_64` or `aarch64`."""
    return triple.partition("-")[0]


def target_machine(cpu: str, level: int, triple: str | None = None) -> TargetMachine:
    """Return the target machine for `cpu` at codegen level `level`, made once per process.

    `cpu` is `host`, `baseline`, or one of LLVM's names for `triple`. The default triple is this
    machine's.
    """
    with _machine_lock:
        return _target_machine(cpu, level, triple)


@functools.cache
def _target_machine(cpu: str, level: int, triple: str | None) -> TargetMachine:
    llvm = binding()
    if triple is not None:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    wanted = triple or host_triple()
    features = host_features() if cpu == "host" else ""
    names = {"host": host_cpu(), "baseline": BASELINE_CPUS.get(architecture(wanted), "generic")}
    return llvm.Target.from_triple(wanted).create_target_machine(
        cpu=names.get(cpu, cpu), features=features, opt=level, reloc="pic", codemodel="default"
    )


def parse(text: str, machine: TargetMachine) -> LlvmModule:
    """Parse and verify LLVM IR for `machine`.

    Raises CompileError if it does not parse, is refused by the verifier, or is for another target.
    Each module gets a new LLVM context, since a context never forgets the types it has seen.
    """
    module = parse_unverified(text)
    try:
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM's verifier refuses the module: {_reason(error)}") from error
    _set_target(module, machine)
    return module


def parse_unverified(text: str, context: Any = None) -> Any:
    """Parse LLVM IR, by default in a new LLVM context. Raises CompileError."""
    llvm = binding()
    try:
        return llvm.parse_assembly(text, llvm.create_context() if context is None else context)
    except RuntimeError as error:
        raise CompileError(f"The LLVM IR does not parse: {_reason(error)}") from error


def disassemble(bitcode: bytes) -> str:
    """Return bitcode as text. Call it in a child: LLVM ends the process for some damaged bitcode.

    Raises CompileError.
    """
    try:
        return str(binding().parse_bitcode(bitcode, binding().create_context()))
    except RuntimeError as error:
        raise CompileError(_reason(error)) from error


@_in_llvm
def headers(text: str) -> dict[str, str]:
    """Return the first line of each function that LLVM IR defines, by its name.

    LLVM has read and printed it: in one line, without comments, and with no word left out. That of
    an alias is its function's; of an ``ifunc``, or an alias of something else, it is the own line.
    """
    printed = str(parse_unverified(text))
    lines = {_name(match[1]): match[0] for match in re.finditer(_HEADER, printed, re.MULTILINE)}
    for alias in re.finditer(_ALIAS_OF, printed, re.MULTILINE):
        known = None if alias[2] else lines.get(_name(alias[3] or ""))
        is_seen = re.sub(" (?:internal|private) ", " ", known or "", count=1)
        lines[_name(alias[1])] = is_seen or alias[0]
    return lines


@_in_llvm
def function_types(text: str) -> dict[str, str]:
    """Return the type of each function that LLVM IR defines or declares: ``void (ptr, i64)``."""
    return {each.name: str(each.global_value_type) for each in parse_unverified(text).functions}


def _name(printed: str) -> str:
    """Return a name that LLVM prints, which is in quotes if it has unusual letters."""
    data = re.sub(rb"\\([0-9A-F]{2})", lambda hex_: bytes([int(hex_[1], 16)]), printed.encode())
    return data.decode(errors="replace").strip('"')


@_in_llvm
def internalised(text: str, visible: Collection[str]) -> str:
    """Make all symbols that LLVM IR `text` defines internal, except those in `visible`."""
    module = parse_unverified(text)
    for symbol in (*module.functions, *module.global_variables):
        known = symbol.name in visible or symbol.name.startswith("llvm.")
        if not known and not symbol.is_declaration and symbol.linkage.name in _VISIBLE_LINKAGES:
            symbol.linkage = "internal"
    return re.sub(
        _ALIAS,
        lambda match: match[0] if match[2] in visible else f"{match[1]}internal {match[3]}",
        str(module),
        flags=re.MULTILINE | re.VERBOSE,
    )


def optimise(
    module: LlvmModule, machine: TargetMachine, level: int, *, limited: bool = True
) -> None:
    """Run LLVM's standard pipeline for `level` on `module`, in place.

    Raises TooManyPipelinesError if pipelines are `limited` and this process has run enough of them.
    """
    defined = (each for each in module.functions if not each.is_declaration)
    if all(b"optnone" in b" ".join(each.attributes) for each in defined):
        return  # nothing would change, and the pipeline costs milliseconds
    global _pipelines
    if limited and _pipelines >= most_pipelines:
        raise TooManyPipelinesError
    _pipelines += 1
    llvm = binding()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level >= 2
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    try:
        passes.run(module, builder)
    finally:
        _free_passes(passes)


@_in_llvm
def optimised(text: str, cpu: str, level: int) -> str:
    """Optimise LLVM IR `text` with the passes that precede code generation."""
    machine = target_machine(cpu, level)
    module = parse(text, machine)
    optimise(module, machine, level, limited=False)
    return str(module)


@_in_llvm
def emit_object(
    text: str,
    cpu: str,
    level: int,
    passes: bool = True,
    jit: bool = True,
    triple: str | None = None,
) -> bytes:
    """Compile LLVM IR `text` to an object file.

    `jit` makes internal thread-local variables external. Raises CompileError and
    TooManyPipelinesError.
    """
    machine = target_machine(cpu, level, triple)
    if jit and "thread_local" in text:
        text = _with_external_thread_locals(text)
    module = parse(text, machine)
    if passes:
        optimise(module, machine, level)
    return machine.emit_object(module)


@_in_llvm
def emit_assembly(text: str, cpu: str, level: int) -> str:
    """Compile LLVM IR `text` to assembly. Raises what `emit_object` does."""
    machine = target_machine(cpu, level)
    module = parse(text, machine)
    optimise(module, machine, level)
    return machine.emit_assembly(module)


def _free_passes(passes: Any) -> None:
    """Free passes, which `passes.close()` does not: in llvmlite 0.50 it has the wrong `_dispose`.

    Without this, each pipeline leaks 50 KB.
    """
    manager = bindings.load("llvmlite.binding.newpassmanagers").NewPassManager
    if hasattr(manager, "_dispose"):
        manager._dispose(passes)
        passes.detach()
    else:
        passes.close()


def _set_target(module: LlvmModule, machine: TargetMachine) -> None:
    wanted, given = machine.triple, module.triple
    # llvmlite's own modules are for `unknown-unknown-unknown` if nothing else was said.
    if given.partition("-")[0] not in ("", "unknown", wanted.partition("-")[0]):
        raise CompileError(
            f"The module is for target `{given}`, but is compiled for `{wanted}`: lower it for that"
        )
    layout = str(machine.target_data)
    if module.data_layout and _pointers(module.data_layout) != _pointers(layout):
        raise CompileError(
            f"The module's data layout `{module.data_layout}` does not fit that of `{wanted}`, "
            f"`{layout}`: leave it out, or lower the module for that"
        )
    module.triple = wanted
    module.data_layout = layout


def _pointers(layout: str) -> tuple[str, str]:
    """Return the byte order and the size of a plain pointer. Both must be those of the target."""
    pointer = re.search(r"(?:^|-)p0?:(\d+)", layout)
    return layout.partition("-")[0] if layout[:1] in "eE" else "e", pointer[1] if pointer else "64"


def _with_external_thread_locals(text: str) -> str:
    """Make every thread-local variable of LLVM IR external, under a unique name.

    Code addresses internal ones with R_X86_64_TLSLD, which JITLink does not know.
    """
    tag = hashlib.sha256(text.encode()).hexdigest()[:16]
    for name in re.findall(_OWN_THREAD_LOCAL, text):
        new = f'@"__ffi_builder_tls_{tag}_{name.strip("@").strip(chr(34))}"'
        text = re.sub(rf"{re.escape(name)}(?![\w.$-])", lambda _, new=new: new, text)
    return re.sub(_OWN_THREAD_LOCAL, lambda match: f"{match[1]} = thread_local", text)


def _reason(error: Exception) -> str:
    text = str(error)
    return text.removeprefix("LLVM IR parsing error\n").removeprefix("<string>:").strip()
