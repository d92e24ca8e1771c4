"""CPUs and triples: x86-64 and aarch64, looked at by disassembly."""

from __future__ import annotations

import platform
import re
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import CompileError, attach, packed, runtime, spec
from ffi_builder.formats.elf import SHT_PROGBITS, Elf
from ffi_builder.providers import PackedCallProvider
from ffi_builder.runtime.codegen import llvm
from ffi_builder.runtime.files import object_files
from ffi_builder.runtime.jit import supplied, unsupported
from ffi_builder.runtime.sources import modules
from tests.runtime.exporting import every_kind_module, scaling
from tests.runtime.samples import ADD_ONE, c_object, llvm_entry, needs_cc, run_child
from tests.support.wrapping import new_module

capstone = pytest.importorskip("capstone")
AARCH64 = "aarch64-linux-gnu"
needs_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="is about a host of x86-64")

# Position-independent ones, of ELF for the Arm 64-bit architecture: PREL32, ADR_PREL_PG_HI21,
# ADD_ABS_LO12_NC, LDST8…64_ABS_LO12_NC, JUMP26, CALL26; and ABS64, of data that the loader fills.
POSITION_INDEPENDENT = {257, 261, 275, 277, 278, 284, 285, 286, 299, 282, 283}


def exported(module: Any, path: Path, **options: Any) -> bytes:
    runtime.compile(module).export_object(path / "a.o", **options)
    return (path / "a.o").read_bytes()


def instructions(data: bytes, machine: str) -> list[Any]:
    """All instructions of an object. What does not decode is an error."""
    modes = {
        "x86_64": (capstone.CS_ARCH_X86, capstone.CS_MODE_64),
        "aarch64": (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM),
    }
    found: list[Any] = []
    file = Elf(data, "object", ValueError)
    for section in file.sections:
        if section.kind == SHT_PROGBITS and section.flags & 4:  # EXECINSTR
            size, content = section.size, file.content(section)
            decoded = list(capstone.Cs(*modes[machine]).disasm(content, 0))
            assert sum(one.size for one in decoded) == size
            found += decoded
    assert found
    return found


@pytest.mark.parametrize("cpu", ["baseline", "neoverse-v2"])
def test_an_object_for_aarch64(tmp_path: Path, cpu: str) -> None:
    for module in (every_kind_module(), scaling()):
        data = exported(module, tmp_path, triple=AARCH64, cpu=cpu)
        read = object_files.read_object(data, "aarch64")
        assert {each.type for each in read.relocations} <= POSITION_INDEPENDENT
        assert unsupported.unsupported_relocation(read.relocations, "aarch64") is None
        mnemonics = {one.mnemonic for one in instructions(data, "aarch64")}
        assert {"ret", "bl", "adrp", "ldr", "cmp"} <= mnemonics
        assert not mnemonics & {"udf", "brk", "hlt"}
        # TVM-FFI and libc, no support of a compiler's own.
        undefined = {symbol.name for symbol in read.symbols if not symbol.defined}
        libc = {name for name in undefined if not name.startswith("TVMFFI")}
        assert libc <= {"free", "malloc", "memcpy", "memset", "snprintf", "strlen", "strtod"}


def test_the_functions_that_gcc_calls_for_atomic_operations() -> None:
    """Each has the operation itself, and calls nothing: neither with the instructions for that, nor in loops."""
    orders = ("relax", "acq", "rel", "acq_rel", "sync")
    sizes = {"cas": (1, 2, 4, 8, 16)}
    names = [
        f"__aarch64_{operation}{size}_{order}"
        for operation in ("cas", "swp", "ldadd", "ldclr", "ldeor", "ldset")
        for size in sizes.get(operation, (1, 2, 4, 8))
        for order in orders
    ]
    text = supplied.definitions([*names, "__aarch64_ldadd16_acq", "abort"])
    for cpu, wanted in (("generic", {"ldaxr", "stlxr"}), ("neoverse-n1", {"casal", "ldaddal"})):
        data = llvm.emit_object(text, cpu, 2, passes=False, triple=AARCH64)
        assert sorted(names) == sorted(
            symbol.name for symbol in object_files.read_object(data, "aarch64").symbols
        )
        mnemonics = {one.mnemonic for one in instructions(data, "aarch64")}
        assert wanted <= mnemonics
        assert not mnemonics & {"bl", "blr", "br"}
    assert supplied.outline_atomics(["abort"]) is None


def test_what_threads_share_is_loaded_and_stored_in_order(tmp_path: Path) -> None:
    """AArch64 may see a pointer before what it points to, unless the accesses say otherwise."""
    module = new_module()
    provider = PackedCallProvider(packed.GlobalFunction("some.function"))
    attach(module, spec.Signature("f", [spec.Var("n", "int64")]), provider)
    data = exported(module, tmp_path, triple=AARCH64)
    mnemonics = [one.mnemonic for one in instructions(data, "aarch64")]
    assert mnemonics.count("ldar") == 1
    assert mnemonics.count("ldaxr") == mnemonics.count("stlxr") == 1


def test_an_object_for_aarch64_does_not_run_here(tmp_path: Path) -> None:
    data = exported(scaling(), tmp_path, triple=AARCH64)
    if platform.machine() != "aarch64":
        words = f"is for aarch64, but this machine is {platform.machine()}"
        with pytest.raises(CompileError, match=words):
            runtime.compile(data)


def test_the_ir_of_a_wrapper_names_no_machine() -> None:
    """The JIT compiles the same text on every machine."""
    compiled = runtime.compile(every_kind_module())
    ir = modules.llvm_ir(compiled._source)  # pyright: ignore[reportPrivateUsage]
    assert ir is not None
    text = ir.text
    assert "define i32 @__tvm_ffi_every_kind" in text
    for word in ("x86", "sse", "avx", "target triple", "target datalayout", "target-cpu", " asm "):
        assert word not in text.lower()
    conventions = re.findall(r"\b(\w+cc)\s", text)
    assert set(conventions) <= {"preserve_mostcc"}
    intrinsics = set(re.findall(r"@llvm\.(\w+)", text))
    assert intrinsics <= {"memset", "memcpy", "smul", "sadd", "ssub", "umul", "uadd", "usub"}


WIDE_ADD = """
define void @wide(ptr %p) {
  %v = load <16 x float>, ptr %p
  %w = fadd <16 x float> %v, %v
  store <16 x float> %w, ptr %p
  ret void
}
"""


def test_a_cpu_by_its_name(tmp_path: Path) -> None:
    def mnemonics(cpu: str) -> set[str]:
        data = exported(WIDE_ADD, tmp_path, triple="x86_64-linux-gnu", cpu=cpu)
        return {f"{one.mnemonic} {one.op_str}" for one in instructions(data, "x86_64")}

    assert any("ymm" in one for one in mnemonics("haswell"))
    assert any("zmm" in one for one in mnemonics("x86-64-v4"))
    assert not any("ymm" in one or one.startswith("v") for one in mnemonics("baseline"))
    every = exported(WIDE_ADD, tmp_path, triple="x86_64-linux-gnu")
    assert every == exported(WIDE_ADD, tmp_path, triple="x86_64-linux-gnu", cpu="baseline")


def test_the_cpu_of_this_machine(tmp_path: Path) -> None:
    data = exported(ADD_ONE, tmp_path, cpu="host")
    assert runtime.compile(data)["add_one"](41) == 42


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cpu": "haswel", "triple": "x86_64-linux-gnu"}, r"no CPU `haswel` of x86_64 \(did you mean `haswell`\?\)"),
        ({"cpu": "haswell", "triple": AARCH64}, "no CPU `haswell` of aarch64"),
        ({"cpu": "", "triple": AARCH64}, "no CPU `` of aarch64"),
        ({"cpu": "i386", "triple": "x86_64-linux-gnu"}, "cannot generate code for .*`i386` of .*64-bit"),
        ({"triple": "riscv64-linux-gnu"}, "triple `riscv64-linux-gnu`: expected one of `x86_64-linux-gnu`, `aarch"),
        ({"triple": "aarch64"}, "triple `aarch64`"),
        ({"triple": ""}, "triple ``"),
        ({"triple": "arm64-apple-darwin"}, "triple `arm64-apple-darwin`"),
        ({"triple": "x86_64-linux-gnux32"}, "triple `x86_64-linux-gnux32`"),
        ({"triple": "aarch64_be-linux-gnu"}, "triple `aarch64_be-linux-gnu`"),
    ],
)  # fmt: skip
def test_a_target_that_there_is_not(tmp_path: Path, options: Any, words: str) -> None:
    with pytest.raises(CompileError, match=words):
        exported(ADD_ONE, tmp_path, **options)
    assert not list(tmp_path.iterdir())


@needs_x86
def test_the_host_cpu_for_another_machine(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="cpu='host' is a CPU of x86_64, but triple= is"):
        exported(ADD_ONE, tmp_path, cpu="host", triple=AARCH64)


@pytest.mark.parametrize("options", [{"cpu": None}, {"cpu": 5}, {"triple": 5}, {"triple": b"x"}])
def test_targets_are_strs(tmp_path: Path, options: Any) -> None:
    with pytest.raises(TypeError, match="as a str"):
        exported(ADD_ONE, tmp_path, **options)


@pytest.mark.slow
def test_llvm_says_nothing_on_stderr() -> None:
    done = run_child(
        f"""
        import tempfile
        from ffi_builder import CompileError, attach, packed, runtime, spec
        compiled = runtime.compile({llvm_entry("f")!r})
        with tempfile.TemporaryDirectory() as made:
            for cpu in ("cortex-a72", "haswell", "i386"):
                try:
                    compiled.export_object(f"{{made}}/a.o", cpu=cpu, triple={AARCH64!r})
                except CompileError:
                    pass
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_x86
@needs_cc
def test_objects_that_were_given_are_for_one_machine(tmp_path: Path) -> None:
    compiled = runtime.compile(c_object(tmp_path, "ENTRY(f) { RETURN(1); }"))
    words = "is for x86_64, but the target is aarch64"
    with pytest.raises(CompileError, match=words):
        compiled.export_object(tmp_path / "a.o", triple=AARCH64)


@needs_x86
def test_ir_for_one_machine(tmp_path: Path) -> None:
    text = 'target triple = "x86_64-unknown-linux-gnu"\n' + llvm_entry("f")
    words = "for target `x86_64-unknown-linux-gnu`, but is compiled for `aarch64-linux-gnu`"
    with pytest.raises(CompileError, match=words):
        exported(text, tmp_path, triple=AARCH64)
    nop = llvm_entry("f", 'call void asm sideeffect "nop", ""()\n%x = add i64 0, 1')
    with pytest.raises(CompileError, match="LLVM cannot generate code"):
        exported(nop, tmp_path, triple=AARCH64)
