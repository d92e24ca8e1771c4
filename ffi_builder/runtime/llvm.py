"""LLVM IR text to machine code, with llvmlite: parse, verify, optimise, emit.

What LLVM's code generator cannot do ends the process (`LLVM ERROR`, or exit(1) for a fault in
inline assembly) and nothing in llvmlite's API can stop that. So `emit` takes only text that
`screen_llvm.codegen_hazard` finds nothing in; anything else goes to a child process (`guard`),
which calls the same functions.
"""

from __future__ import annotations

import functools
import hashlib
import re
import threading
from typing import Any, Literal

from ffi_builder.errors import CompileError
from ffi_builder.runtime import _optional
from ffi_builder.runtime.protocols import LlvmModule, LlvmValue, TargetMachine

Cpu = Literal["host", "baseline"]

# What a baseline CPU has: every 64-bit processor of the architecture runs code for it.
_BASELINE_CPUS = {"x86_64": "x86-64"}

# A thread-local variable that other modules cannot see.
_OWN_WORDS = r"(?:(?:internal|private|dso_local|hidden|protected)\s+)+"
_OWN_THREAD_LOCAL = re.compile(
    rf'^(@(?:"[^"]*"|[\w.$-]+))\s*=\s*{_OWN_WORDS}thread_local\b', re.MULTILINE
)

_machine_lock = threading.Lock()


@functools.cache
def binding() -> Any:
    """llvmlite's binding, with this machine's target initialised.

    The assembly parser is initialised too: without it, inline assembly ends the process.
    """
    llvm = _optional.load("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    return llvm


def host_cpu() -> str:
    """LLVM's name for the CPU of this machine."""
    return binding().get_host_cpu_name()


@functools.cache
def host_features() -> str:
    """The features of this CPU as LLVM wants them: `+avx2,-avx512f,…`."""
    return binding().get_host_cpu_features().flatten()


def target_machine(cpu: Cpu, level: int) -> TargetMachine:
    """The process's target machine for `cpu` at codegen level `level`, made once each."""
    with _machine_lock:
        return _target_machine(cpu, level)


@functools.cache
def _target_machine(cpu: Cpu, level: int) -> TargetMachine:
    llvm = binding()
    triple = llvm.get_process_triple()
    name, features = host_cpu(), host_features()
    if cpu == "baseline":
        name, features = _BASELINE_CPUS.get(triple.partition("-")[0], "generic"), ""
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=name, features=features, opt=level, reloc="pic", codemodel="default"
    )


def parse(text: str, machine: TargetMachine) -> LlvmModule:
    """Parse and verify LLVM IR for `machine`.

    Raises CompileError if it does not parse, is refused by the verifier, or is for another target.
    Each module gets an LLVM context of its own, since a context never forgets the types it has
    seen.
    """
    llvm = binding()
    try:
        module: LlvmModule = llvm.parse_assembly(text, llvm.create_context())
    except RuntimeError as error:
        raise CompileError(f"The LLVM IR does not parse: {_reason(error)}") from error
    try:
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM's verifier refuses the module: {_reason(error)}") from error
    _set_target(module, machine)
    return module


def optimise(module: LlvmModule, machine: TargetMachine, level: int) -> None:
    """Run LLVM's standard pipeline for `level` on `module`, in place."""
    if all("optnone" in _attributes(f) for f in module.functions if not f.is_declaration):
        return  # nothing would change, and the pipeline costs milliseconds
    llvm = binding()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = level >= 2
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    try:
        passes.run(module, builder)
    finally:
        _free_passes(passes)


def optimised(text: str, cpu: Cpu, level: int) -> str:
    """The text of the module as code is generated from it."""
    machine = target_machine(cpu, level)
    module = parse(text, machine)
    optimise(module, machine, level)
    return str(module)


def emit_object(text: str, cpu: Cpu, level: int, passes: bool = True, jit: bool = True) -> bytes:
    """Object file for LLVM IR `text`. Only for text without hazards: see the module's docstring.

    With `jit`, internal thread-local variables become external: see there.
    """
    machine = target_machine(cpu, level)
    if jit and "thread_local" in text:
        text = _with_external_thread_locals(text)
    module = parse(text, machine)
    if passes:
        optimise(module, machine, level)
    return machine.emit_object(module)


def emit_assembly(text: str, cpu: Cpu, level: int) -> str:
    """Assembly text for LLVM IR `text`.

    Only for text without hazards: see the module's docstring.
    """
    machine = target_machine(cpu, level)
    module = parse(text, machine)
    optimise(module, machine, level)
    return machine.emit_assembly(module)


def _free_passes(passes: Any) -> None:
    """What `passes.close()` should do: in llvmlite 0.50 it has the `_dispose` of the wrong base.

    Each pipeline would leak 50 KB. (Its builder leaks 1.5 KB, and there is no way to free that.)
    """
    managers = _optional.load("llvmlite.binding.newpassmanagers")
    managers.NewPassManager._dispose(passes)
    passes.detach()


def _set_target(module: LlvmModule, machine: TargetMachine) -> None:
    wanted, given = machine.triple, module.triple
    if given and given.partition("-")[0] != wanted.partition("-")[0]:
        raise CompileError(
            f"The module is for target `{given}`, but this process runs on `{wanted}`: "
            "lower it for the host"
        )
    layout = str(machine.target_data)
    if module.data_layout and _pointers(module.data_layout) != _pointers(layout):
        raise CompileError(
            f"The module's data layout `{module.data_layout}` does not fit this machine's, "
            f"`{layout}`: leave it out, or lower the module for the host"
        )
    module.triple = wanted
    module.data_layout = layout


def _pointers(layout: str) -> tuple[str, str]:
    """Byte order and size of a plain pointer: what code for another layout cannot get round."""
    pointer = re.search(r"(?:^|-)p0?:(\d+)", layout)
    return layout.partition("-")[0] if layout[:1] in "eE" else "e", pointer[1] if pointer else "64"


def _attributes(function: LlvmValue) -> str:
    return b" ".join(function.attributes).decode()


def _with_external_thread_locals(text: str) -> str:
    """LLVM IR in which every thread-local variable is external, under a name that nothing else has.

    That of a module's own would be reached by R_X86_64_TLSLD, which JITLink does not know.
    """
    tag = hashlib.sha256(text.encode()).hexdigest()[:16]
    for name in _OWN_THREAD_LOCAL.findall(text):
        new = f'@"__ffi_builder_tls_{tag}_{name.strip("@").strip(chr(34))}"'
        text = re.sub(rf"{re.escape(name)}(?![\w.$-])", lambda _, new=new: new, text)
    return _OWN_THREAD_LOCAL.sub(lambda found: f"{found[1]} = thread_local", text)


def _reason(error: Exception) -> str:
    text = str(error)
    return text.removeprefix("LLVM IR parsing error\n").removeprefix("<string>:").strip()
