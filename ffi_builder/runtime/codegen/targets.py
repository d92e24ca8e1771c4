"""Targets of code generation: triples and CPUs, checked before LLVM sees them, and PTX.

For an unknown CPU, LLVM only prints a warning; for one without a 64-bit mode it ends the process.
It also ends the process if it cannot select instructions for an NVIDIA architecture, so
`isolate.worker` calls `emit_ptx` in a child process.
"""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from ffi_builder.errors import CompileError
from ffi_builder.records import dataclass
from ffi_builder.runtime.codegen import llvm
from ffi_builder.suggest import nearest

BASELINE = "baseline"
HOST = "host"

_LIST_CPUS = (
    "import sys; sys.path[:] = {path!r}; import llvmlite.binding as llvm; "
    "llvm.initialize_all_targets(); "
    "llvm.Target.from_triple({triple!r}).create_target_machine(cpu='help')"
)


@dataclass(frozen=True)
class Target:
    """The CPU and the triple that an export is for."""

    cpu: str
    """`host`, `baseline`, or LLVM's name of a CPU."""
    triple: str | None
    """None for this machine's."""

    @property
    def machine(self) -> str:
        """`x86_64` or `aarch64`."""
        return llvm.architecture(self.triple or llvm.host_triple())

    @property
    def foreign(self) -> bool:
        """True for another architecture than this machine's."""
        return self.machine != llvm.architecture(llvm.host_triple())


def target(cpu: object, triple: object) -> Target:
    """Check a target. Raises TypeError, and CompileError that lists the known targets."""
    if not isinstance(cpu, str):
        raise TypeError(f"Expected cpu= as a str, `baseline`, `host` or a name, but got {cpu!r}")
    if triple is not None and not isinstance(triple, str):
        raise TypeError(f"Expected triple= as a str, as `aarch64-linux-gnu`, but got {triple!r}")
    if triple is not None:
        _check_triple(triple)
    result = Target(cpu, triple)
    if cpu == HOST and result.foreign:
        raise CompileError(
            f"cpu='host' is a CPU of {llvm.architecture(llvm.host_triple())}, but triple= is "
            f"`{triple}`: give `baseline`, or the name of a CPU"
        )
    if cpu not in (HOST, BASELINE):
        _check_cpu(cpu, result)
    return result


def _check_triple(triple: str) -> None:
    architecture, *rest = triple.split("-")
    known = architecture in llvm.BASELINE_CPUS and "linux" in rest
    if not known or rest[-1].endswith(("x32", "ilp32")):
        names = ", ".join(f"`{name}-linux-gnu`" for name in llvm.BASELINE_CPUS)
        raise CompileError(
            f"Cannot export for triple `{triple}`: expected one of {names}, or the like for "
            "another libc of 64-bit Linux"
        )


def _check_cpu(cpu: str, target: Target) -> None:
    known = _known_cpus(target.machine)
    if cpu not in known:
        near = nearest(cpu, known)
        meant = "" if near is None else f" (did you mean `{near}`?)"
        raise CompileError(
            f"LLVM knows no CPU `{cpu}` of {target.machine}{meant}; `baseline` stands for every "
            "one, `host` for that of this machine"
        )


@functools.cache
def _known_cpus(architecture: str) -> tuple[str, ...]:
    """Return the names of CPUs. LLVM only prints them, once per process, so ask a child process."""
    code = _LIST_CPUS.format(path=sys.path, triple=f"{architecture}-linux-gnu")
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise CompileError(f"LLVM cannot list the CPUs of {architecture}: {done.stderr.strip()}")
    return tuple(re.findall(r"(?m)^  (\S+) +- Select the ", done.stderr))


# ---- PTX

_PTX_TRIPLE = "nvptx64-nvidia-cuda"


def emit_ptx(text: str, cpu: str, features: str, level: int, libraries: Sequence[bytes]) -> str:
    """Compile LLVM IR `text`, with bitcode libraries linked to it, to PTX.

    Raises CompileError if it does not parse or verify, or is for another target.
    """
    binding = llvm.binding()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(_PTX_TRIPLE).create_target_machine(
        cpu=cpu, features=features, opt=level
    )
    context = binding.create_context()
    module = llvm.parse_unverified(text, context)
    if module.triple and not re.match(r"nvptx64\b", module.triple):
        raise CompileError(f"The module is for target `{module.triple}`, not for `{_PTX_TRIPLE}`")
    layout = str(machine.target_data)
    for library in libraries:
        _link(module, binding.parse_bitcode(library, context), machine.triple, layout)
    module.triple, module.data_layout = machine.triple, layout
    try:
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM's verifier refuses the module: {error}") from error
    llvm.optimise(module, machine, level, limited=False)
    return machine.emit_assembly(module)


def _link(module: Any, library: Any, triple: str, layout: str) -> None:
    """Link a library to the module as internal functions, so that unused ones are dropped."""
    names = [function.name for function in library.functions if not function.is_declaration]
    for each in (module, library):
        each.triple, each.data_layout = triple, layout
    module.link_in(library)
    for name in names:
        if not name.startswith("llvm."):
            module.get_function(name).linkage = "internal"
