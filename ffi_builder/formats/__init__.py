"""Formats of files: ELF, which is read, and others, which are named in errors with a way out.

Bytes and texts are told by how they begin.
"""

from __future__ import annotations

import re
from typing import Final

from ffi_builder.formats import elf as elf

_HOST: Final = "compile the source for this machine"
_LAUNCH: Final = "a function in C that launches it can be wrapped"
_FORMATS: Final = (
    (b"\xb1\x43\x62\x46", "the wrapper of a fatbin", "give the fatbin to which it points"),
    (
        (b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"),
        "an offload bundle of clang, which has code for several devices",
        "give the entry for CUDA alone, as clang-offload-bundler --unbundle extracts it; `wrap` "
        "launches kernels for AMD GPUs",
    ),
    (
        b"\x10\xff\x10\xad",
        "an offload binary of clang, which has code for several devices",
        "give what it has for one, as clang-offload-packager extracts it",
    ),
    ((b"\x03\x02\x23\x07", b"\x07\x23\x02\x03"), "SPIR-V, of OpenCL or Vulkan", _LAUNCH),
    (b"\x7fTileIR", "CUDA Tile IR", "`tileiras` makes a cubin of it"),
    (
        b"\xed\x43\x4e\x7f",
        "LTO-IR of NVIDIA's compilers",
        "nvJitLink makes a cubin of it, or leave out -dlto",
    ),
    (b"\0asm", "WebAssembly", _HOST),
    (
        (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce"),
        "Mach-O, of macOS",
        f"{_HOST}, as by --target=x86_64-linux-gnu",
    ),
    (b"\xca\xfe\xba\xbe", "a universal binary of macOS, or a class of Java", _HOST),
    (
        (b"\x64\x86", b"\x64\xaa", b"\x4c\x01", b"\0\0\xff\xff"),
        "COFF, an object of Windows",
        f"{_HOST}, as by --target=x86_64-linux-gnu",
    ),
    (b"MZ", "a program or library for Windows", _HOST),
    (b"MTLB", "a library of Metal", "compile the kernel for a CPU or CUDA"),
    (b"DXBC", "a shader of DirectX", "compile the kernel for a CPU or CUDA"),
    (b"!<arch>\n", "an archive of objects (.a)", "give it in link="),
    (b"PK\x03\x04", "a zip archive", "give what is in it"),
    (b"\x1f\x8b", "compressed by gzip", "unpack it"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it"),
)
_SUFFIXES: Final = {
    "C": (".c", ".h"),
    "C++": (".cc", ".cpp", ".cxx", ".hh", ".hpp"),
    "source code for a GPU": (".cu", ".cuh", ".hip", ".cl", ".metal", ".wgsl"),
    "assembly": (".s", ".S", ".asm"),
    "Fortran": (".f", ".for", ".f90", ".f95", ".f03", ".f08", ".F90"),
    "Rust": (".rs",),
    "Python": (".py",),
    "Zig": (".zig",),
    "Go": (".go",),
    "D": (".d",),
    "Nim": (".nim",),
    "Swift": (".swift",),
    "Julia": (".jl",),
    "ISPC": (".ispc",),
    "Mojo": (".mojo",),
    "Ada": (".adb",),
    "Pascal": (".pas",),
    "WebAssembly": (".wat",),
}
MLIR: Final = "MLIR"
_LANGUAGES: Final = (
    (
        MLIR,  # a module, an operation, an alias, or resources
        r"(?:builtin\.)?module(?=\s*[{@]|\s+attributes\b)|\"[\w.$]+\"\s*[(<]"
        r"|[A-Za-z_]\w*\.[\w.$]+|[#!]\w[\w.$-]*\s*=|%\w[^\n=]*=|\{-#",
    ),
    ("the text of SPIR-V", r"; SPIR-V"),
    ("the text of WebAssembly", r"\(module"),
    ("HLO of XLA", r"HloModule"),
    ("source code for a GPU", r"(?s:.*)\b(?:__global__|__kernel|__launch_bounds__)\b"),
    ("Rust", r"#!?\[|pub |fn |use \w+::|mod \w+|impl\b|unsafe |extern crate"),
    ("C++", r"template\s*<|namespace\b|using\b|class \w+|extern \"C\""),
    (
        "C",
        r"(?:#\s*(?:include|define|pragma|if)|extern|static|typedef|inline|const|struct|union|enum"
        r"|void|unsigned|signed|char|short|int|long|float|double|_Bool|bool|u?int\d+_t|size_t)\b",
    ),
    ("Python", r"#!/.*python|from \w|import \w|def \w|class \w|@[\w.]+[ \t]*(?:\(|\n)"),
    ("Fortran", r"(?i:subroutine|program|module|function|real|integer|double precision)[ \t]+\w"),
    ("assembly", r"(?s:.*?)^\s*\.(?:text|globl|global|section|file|type|amdgcn_target|arch|cpu)\b"),
)
"""How texts begin, after comments."""
_COMMENTS: Final = r"(?:\s+|/\*.*?\*/|//[^\n]*\n?)*"
_BEGINNING: Final = 4096
"""How many characters of a text show its language."""
_AMD: Final = 224
_MACHINE_AT: Final = slice(18, 20)


def format_of(data: bytes) -> str | None:
    r"""Return the name of a format and a way out; None for any other.

    Examples:
        >>> from ffi_builder.formats import format_of
        >>> format_of(b"\0asm\1\0\0\0")
        'WebAssembly: compile the source for this machine'
    """
    if data.startswith(elf.MAGIC):
        is_amd = int.from_bytes(data[_MACHINE_AT], "little") == _AMD
        return "an AMD code object, whose kernels `wrap` launches" if is_amd else None
    for magic, name, cure in _FORMATS:
        if data.startswith(magic):
            return f"{name}: {cure}"
    return None


def language_of(text: str, suffix: str = "") -> str | None:
    """Return the language of a text, in a file with a suffix; None for LLVM IR and unknown ones.

    Examples:
        >>> from ffi_builder.formats import language_of
        >>> language_of("int f(int n) { return n; }"), language_of("func.func @f() { return }")
        ('C', 'MLIR')
    """
    by_suffix = (name for name, suffixes in _SUFFIXES.items() if suffix in suffixes)
    comments = re.match(_COMMENTS, text, re.DOTALL)
    begin = text[comments.end() if comments else 0 :][:_BEGINNING]
    by_text = (name for name, sign in _LANGUAGES if re.match(sign, begin, re.MULTILINE))
    return next(by_suffix, None) or next(by_text, None)
