"""LLVM IR text to PTX, with llvmlite's NVPTX target.

LLVM ends the process on what it cannot select for an architecture, so `safety.worker` calls this in
a child process.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import llvm

TRIPLE = "nvptx64-nvidia-cuda"

_NVPTX = re.compile(r"nvptx64\b")


def emit_ptx(text: str, cpu: str, features: str, level: int, libraries: Sequence[bytes]) -> str:
    """Compile LLVM IR `text`, with bitcode libraries linked to it, to PTX.

    Raises CompileError if it does not parse or verify, or is for another target.
    """
    binding = llvm.binding()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(TRIPLE).create_target_machine(
        cpu=cpu, features=features, opt=level
    )
    context = binding.create_context()
    module = llvm.parse_unverified(text, context)
    if module.triple and not _NVPTX.match(module.triple):
        raise CompileError(f"The module is for target `{module.triple}`, not for `{TRIPLE}`")
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
