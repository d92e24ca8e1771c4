"""Code objects by llvmlite and `ld.lld`, which are where the tests are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import llvmlite.binding as _untyped

llvm: Final[Any] = _untyped
LINKER: Final = next(filter(None, map(shutil.which, ("ld.lld", "ld.lld-19"))), None)

SAXPY: Final = """
target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @saxpy(float %a, ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %then, label %end
then:
  %x.at = getelementptr float, ptr addrspace(1) %x, i32 %i
  %y.at = getelementptr float, ptr addrspace(1) %y, i32 %i
  %x.value = load float, ptr addrspace(1) %x.at
  %y.value = load float, ptr addrspace(1) %y.at
  %product = fmul float %a, %x.value
  %sum = fadd float %product, %y.value
  store float %sum, ptr addrspace(1) %y.at
  br label %end
end:
  ret void
}
"""


def assemble(text: str, processor: str, features: str = "", version: int = 5) -> bytes:
    """Return an object, which is not linked."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("amdgcn-amd-amdhsa")
    machine = target.create_target_machine(cpu=processor, features=features, reloc="pic")
    flag = f'!0 = !{{i32 1, !"amdhsa_code_object_version", i32 {version * 100}}}'
    return machine.emit_object(llvm.parse_assembly(f"{text}\n!llvm.module.flags = !{{!0}}\n{flag}"))


def link(data: bytes, folder: Path) -> bytes:
    """Link an object with `ld.lld`."""
    assert LINKER is not None
    (folder / "in.o").write_bytes(data)
    command = [LINKER, "-shared", str(folder / "in.o"), "-o", str(folder / "out.hsaco")]
    subprocess.run(command, check=True)
    return (folder / "out.hsaco").read_bytes()
