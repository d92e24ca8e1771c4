"""Formats that ``wrap`` does not run are named, each with a way out, whatever brings them."""

from __future__ import annotations

import struct
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ffi_builder import CompileError, Launch, runtime, wrap
from tests.cuda.images.images import image

OTHERS: dict[str, bytes] = {
    "offload binary of clang.*clang-offload-packager": b"\x10\xff\x10\xad\1\0\0\0",
    "SPIR-V.*a function in C that launches it can be wrapped": struct.pack("<I", 0x07230203),
    "SPIR-V": struct.pack(">I", 0x07230203),
    "CUDA Tile IR: `tileiras` makes a cubin": b"\x7fTileIR\0\x0d\1",
    "LTO-IR.*nvJitLink makes a cubin": struct.pack("<I", 0x7F4E43ED),
    "WebAssembly: compile the source for this machine": b"\0asm\1\0\0\0",
    "Mach-O.*--target=x86_64-linux-gnu": struct.pack("<I", 0xFEEDFACF),
    "a universal binary of macOS": b"\xca\xfe\xba\xbe\0\0\0\2",
    "COFF, an object of Windows": struct.pack("<HH", 0x8664, 3),
    "a program or library for Windows": b"MZ\x90\0",
}


@pytest.mark.parametrize("words", OTHERS)
def test_a_format_that_is_not_run(words: str, tmp_path: Path) -> None:
    data = OTHERS[words] + bytes(64)
    path = tmp_path / "kernel.o"
    path.write_bytes(data)
    launch = Launch(grid=1, block=1)
    for options in ({"prototype": "void f(void)"}, {"launch": launch}, {"link": [data]}):
        for source in (
            (data, path) if "link" not in options else ("define void @f() {\n ret void\n}",)
        ):
            given: Any = options
            with pytest.raises(CompileError, match=words):
                wrap(source, "f()", **given)
    with pytest.raises(CompileError, match=words):
        runtime.compile(data)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("C", "/* scale */ static inline void f(float *x) { }"),
        ("C", "#define N 4\nint f(void) { return N; }"),
        ("C", "size_t f(void);"),
        ("C++", "template <int N> void f() { }"),
        ("source code for a GPU", 'extern "C" __global__ void f(float *x) { }'),
        ("Rust", "#[no_mangle]\npub extern fn f() {}"),
        ("Python", "import triton\n\n@triton.jit\ndef f(x):\n    pass\n"),
        ("Fortran", "subroutine f(x) bind(C)\nend subroutine"),
        ("assembly", "\t.text\n\t.globl f\nf:\n\tret\n"),
        ("assembly", '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n'),
        ("HLO of XLA", "HloModule jit_f, entry_computation_layout={()->f32[]}"),
        ("the text of SPIR-V", "; SPIR-V\n; Version: 1.0\nOpCapability Shader"),
        ("the text of WebAssembly", "(module (func $f))"),
    ],
)
def test_source_code(language: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.txt"
    path.write_text(text)
    for source, what in ((text, "wrap: the text"), (path, "kernel.txt")):
        with pytest.raises(CompileError) as error:
            wrap(source, "f()", launch=None)
        assert f"{what} is {language}: compile it, and give the object" in str(error.value)


@pytest.mark.parametrize("suffix", [".c", ".cu", ".rs", ".f90", ".jl", ".asm", ".py"])
def test_files_of_source_code(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"kernel{suffix}"
    path.write_text("what it is shows in its name")
    words = f"kernel{suffix} is .*: compile it, and give the object"
    with pytest.raises(CompileError, match=words):
        wrap(path, "f()")


def test_text_of_no_language_needs_no_mlir(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "wrap: expected MLIR or LLVM IR, but the text begins with 'func @f"
    with pytest.raises(CompileError, match=words):
        wrap("func @f() { return }", "f()")


@pytest.mark.parametrize(
    "text",
    [
        "// A kernel.\nmodule { func.func @f() { return } }",
        "module @name attributes {t.a = 1 : i32} { func.func @f() { return } }",
        "builtin.module { func.func @f() { return } }",
        '"builtin.module"() ({ func.func @f() { return } }) : () -> ()',
        "#map = affine_map<(i) -> (i)>\n!t = i32\nfunc.func @f() { return }",
        "func.func @f() { return }",
    ],
)
def test_text_of_mlir(text: str) -> None:
    assert wrap(text, "f()")() is None


def test_objects_with_code() -> None:
    cubin = image("cuda13-sm_90a.cubin")
    source = SimpleNamespace(code=cubin, code_type="cubin")  # as ObjectCode of cuda.core
    launch = Launch(grid=1, block=1)
    assert wrap(source, "nothing()", launch=launch).functions[0] == "nothing"
    words = "but got types.SimpleNamespace"
    for code in ("print(1)", None, lambda: None):
        with pytest.raises(TypeError, match=words):
            wrap(SimpleNamespace(code=code), "f()")
