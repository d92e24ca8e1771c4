"""Headers and stubs of files, functions and parameters that languages have a meaning for."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from ffi_builder import attach, providers, runtime, spec
from ffi_builder.runtime.export import header, stub
from ffi_builder.runtime.export.function_info import Described, described
from tests.runtime.exporting import INCLUDES, LIBRARY, every_kind, pyright, run
from tests.runtime.samples import needs_cc, needs_cxx
from tests.support.wrapping import new_module

pytestmark = pytest.mark.slow

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wcomment")
C_STANDARDS = ("c11", "gnu17")
CXX_STANDARDS = ("c++17", "gnu++20")

KEYWORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while _Alignas _Atomic _Bool _Complex _Generic _Noreturn _Static_assert
    _Thread_local alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t
    class co_await co_return co_yield compl concept const_cast consteval constexpr constinit
    decltype delete dynamic_cast explicit export false final friend import module mutable namespace
    new noexcept not not_eq nullptr operator or or_eq override private protected public
    reinterpret_cast requires static_assert static_cast template this thread_local throw true try
    typeid typename typeof using virtual wchar_t xor xor_eq
"""
LIBRARIES = """
    abs access acos atan2 bind bsearch clock clone close connect copysign ctime daemon div dup erf
    exit exp fabs fmax fork free gamma getenv hypot index j0 jn kill labs lgamma link listen log
    log2 main malloc max memcmp memcpy memset min nan nice open pause pipe poll pow printf puts
    qsort raise rand random read readv remainder remove rename rindex round scalb select send
    setjmp signal sin sleep socket sqrt srand stat step strlen swab sync system tan tanh tgamma time
    times tolower trunc union_ unlink va_list wait write y0 y1 yn environ optarg tm timeval FILE
    size_t int64_t uint8_t ptrdiff_t nullptr_t max_align_t errno stdin linux unix EOF NULL NAN I
    INT_MAX EINVAL M_PI
"""
OURS = """
    Any Args Array Bytes DLDataType DLDevice DLTensor Device Error Function Map ObjectRef Optional
    Shape String Tensor TensorView Tuple TVMFFIAny TVMFFISafeCallType args cast ffi ffi_builder
    handle kDLCPU num_args result std tvm __tvm_ffi_f __FILE__ __func__ _Float16 new_ new__ EOF_
"""
NAMES = list(dict.fromkeys(f"{KEYWORDS}{LIBRARIES}{OURS}".split()))


def function(name: str, params: Sequence[spec.Param], doc: str = "") -> Described:
    signature = spec.Signature(name, params, doc=doc)
    return described(name, signature.metadata())


def typed(name: str) -> Described:
    """One whose types stand in its definition."""
    x = spec.Tensor("x", [1], "float32", device_type="cpu")
    params = [
        x,
        spec.Var("i", "uint64"),
        spec.Device("device"),
        spec.DType("type"),
        spec.String("s"),
    ]
    return function(name, params)


def many_parameters(name: str, names: Sequence[str]) -> Described:
    kinds = itertools.cycle([spec.String, spec.Device, spec.DType, spec.Bytes])
    return function(name, [kind(own) for kind, own in zip(kinds, names, strict=False)])


def every_name() -> dict[str, str]:
    """Headers, by the names of their files: of names that languages know, and names that are alike."""
    functions = [typed(name) for name in NAMES[1:]]
    functions += [Described(f"{name}0") for name in NAMES]
    functions += [Described("Args"), many_parameters("many", NAMES)]
    found = {"names of functions.h": header.text(functions, "names.so", "names of functions.h")}
    for number, name in enumerate([*NAMES, *ALIKE]):
        file = Path(f"{name}.h")
        found[str(file)] = header.text([typed(f"f{number}")], "a.so", file.name)
    return found


ALIKE = ("a-b", "a_b", "A_b", "a.b", "one/kernels", "two/kernels")


def of_new_kinds() -> list[Described]:
    """A new kind of parameter needs no change here: it is any object."""
    a, b = spec.String("a"), spec.Optional(spec.String("b"))
    text = spec.Signature("f", [a, b, spec.TupleParam("c", [a, b])]).metadata()
    text = text.replace('"ffi.String"', '"Any"').replace('"kind":"String"', '"kind":"Ring"')
    return [described("f", text)]


@needs_cc
@needs_cxx
def test_compilers_read_all_headers_together(tmp_path: Path) -> None:
    """In C and C++, behind headers of the libraries, and twice."""
    documented = [function(f"documented_{i}", [], doc) for i, doc in enumerate(DOCUMENTATION)]
    headers = every_name()
    headers["kinds.h"] = header.text(of_new_kinds(), "a.so", "kinds.h")
    headers["documented.h"] = header.text(documented, "odd\n*/\0name.so", "documented.h")
    for file, text in headers.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    libraries = ("math", "stdlib", "strings", "time", "unistd", "sys/select")
    text = "".join(f"#include <{name}.h>\n" for name in libraries)
    text += 2 * "".join(f'#include "{tmp_path}/{file}"\n' for file in headers)  # some are time.h
    count = len(NAMES) + len(ALIKE)
    text += "".join(f"TVMFFISafeCallType g{at} = __tvm_ffi_f{at};\n" for at in range(count))
    odd = ("-Wtrigraphs", "-Wbidi-chars")
    for compiler, suffix, standards in (
        (("gcc", *odd), "c", C_STANDARDS),
        (("g++",), "cc", CXX_STANDARDS),
    ):
        (tmp_path / f"all.{suffix}").write_text(text)
        for standard in standards:
            flags = [f"-std={standard}", *WARNINGS, *INCLUDES, "-fsyntax-only"]
            run(*compiler, *flags, tmp_path / f"all.{suffix}")


@needs_cxx
@pytest.mark.parametrize("standard", CXX_STANDARDS)
def test_macros_of_the_headers_that_are_included(tmp_path: Path, standard: str) -> None:
    (tmp_path / "a.h").write_text(header.text([typed("f")], "a.so", "a.h"))
    flags = [f"-std={standard}", *WARNINGS, *INCLUDES]
    shown = run("g++", *flags, "-x", "c++", "-dM", "-E", tmp_path / "a.h")
    macros = set(re.findall(r"^#define ([A-Za-z_]\w*)", shown, re.MULTILINE))
    assert len(macros) > 500
    # A few, such as TVM_FFI_ANY_H, are macros with an underscore too.
    others = {name for name in macros if f"{name}_" not in macros}
    assert {header.identifier(name) for name in others} & macros == set()


def test_kinds_that_are_not_known() -> None:
    shown = stub.text(of_new_kinds(), "a.so")
    assert "def f(a: Any, b: Any | None, c: Any) -> None:" in shown


PROGRAM = """
#include <stdlib.h>
#include "div.h"
#include <cstdio>

int main() {
  ffi_builder::div::div(2.5);
  ffi_builder::div::new_(1);
  ffi_builder::div::new__({kDLCPU, 0});
  try {
    ffi_builder::div::div(::div(7, 2).quot);
    std::puts("done");
  } catch (const tvm::ffi::Error &error) {
    std::printf("%s\\n", error.message().c_str());
  }
}
"""


@needs_cxx
def test_a_program_calls_them(tmp_path: Path) -> None:
    module = new_module()
    for name, param in (
        ("div", spec.Var("DLDevice", "float64")),
        ("new_", spec.Var("std", "int64")),
        ("new", spec.Device("new")),
    ):
        attach(module, spec.Signature(name, [param]), providers.NopCallProvider())
    runtime.compile(module).export_library(tmp_path / "div.so", header=tmp_path / "div.h")
    (tmp_path / "main.cc").write_text(PROGRAM)
    flags = ["-std=c++17", *WARNINGS, *INCLUDES, f"-Wl,-rpath,{tmp_path}:{LIBRARY.parent}"]
    libraries = [tmp_path / "div.so", LIBRARY]
    run("g++", *flags, tmp_path / "main.cc", *libraries, "-o", tmp_path / "main")
    assert run(tmp_path / "main") == "done\n"


@pytest.mark.parametrize("names", [*itertools.permutations(["new", "new_", "a.b", "a_b"])])
def test_names_do_not_depend_on_their_order(names: Sequence[str]) -> None:
    expected = {"new_": "new_", "new": "new__", "a_b": "a_b", "a.b": "a_b_"}
    assert header.identifiers(names) == expected


@pytest.mark.parametrize(
    "name", ["scale", "M", "BLOCK", "GEMM", "ELU", "int8_gemm", "x_", "f2", "Adam"]
)
def test_usual_names_stay(name: str) -> None:
    assert header.identifier(name) == name


DOCUMENTATION = [
    "a \0 NUL, \x1b[31m, \r, a \u202e mark",
    "ends a line ??/\nwhat??? ??= ??( */ /* //",
    "ends in a backslash \\\n*/\n/",
    '"quoted" ""twice"" """thrice""" """',
    'a quote behind a backslash \\"',
    "\n\n  \tindented",
]


def test_documentation_that_languages_read() -> None:
    functions = [function(f"f{i}", [], doc) for i, doc in enumerate(DOCUMENTATION)]
    text = header.text(functions, "odd\n*/\0name.so", "a.h")
    assert "a \\x00 NUL, \\x1b[31m," in text
    assert "/* ends a line ? ?/\n * what??? ? ?= ? ?( * / / * //\n" in text
    assert text.startswith("/* Functions of odd\\n* /\\x00name.so. Written")


@pytest.mark.parametrize("doc", DOCUMENTATION)
def test_documentation_in_a_stub(doc: str) -> None:
    text = stub.text([function("f", [], doc)], 'odd\n"name"\0.so')
    assert text.isprintable() or set(filter(lambda c: not c.isprintable(), text)) <= {"\n", "\t"}
    tree = ast.parse(text)
    definition = tree.body[-1]
    assert isinstance(definition, ast.FunctionDef)
    shown = ast.get_docstring(definition, clean=False)
    assert shown is not None
    expected = f"{doc}\n\nf()".strip()
    assert [line.strip() for line in shown.strip().splitlines()] == [
        line.strip() for line in expected.splitlines()
    ]


STUB_NAMES = [
    *("bool", "bytes", "float", "int", "str", "Callable", "Mapping", "Sequence", "c_void_p"),
    *("Enum", "Any", "Literal", "Protocol", "_Array"),
]


def test_functions_called_as_types_are(tmp_path: Path) -> None:
    params = every_kind().params
    (tmp_path / "plain.pyi").write_text(stub.text([function("f", params)], "plain.so"))
    files, uses = ["plain.pyi", "use.py"], ["from plain import f"]
    for names in (STUB_NAMES, ["int"], ["Any", "Any_"], ["_Array", "Protocol"]):
        files.append(f"named{len(files)}.pyi")
        functions = [function(name, params) for name in (*names, "int_")]
        (tmp_path / files[-1]).write_text(stub.text(functions, "named.so"))
        for name in names:
            g, x = f"g{len(uses)}", f"x{len(uses)}"
            uses.append(f"from {files[-1][:-4]} import {name} as {g}\n{x} = {g}\n{x} = f")
    (tmp_path / "use.py").write_text("\n".join([*uses, ""]))
    said = pyright(tmp_path, *files)
    assert "\n0 errors, " in said, said


def test_parameters_called_as_keywords_are_have_their_own_types() -> None:
    params = [spec.Var("class", "int32"), spec.Var("class_", "float32"), spec.Var("__i_x", "bool")]
    text = stub.text([function("f", params)], "a.so")
    assert "def f(class__: int, class_: float, i_x_: bool) -> None:" in text


@pytest.mark.parametrize(
    ("value", "expected"),
    [(-(2**63), "int"), (1 - 2**63, f"Literal[{1 - 2**63}]"), (2**63 - 1, f"Literal[{2**63 - 1}]")],
)
def test_the_least_int64_is_no_literal(value: int, expected: str) -> None:
    """As mypy refuses it, which reads it as minus a number that is too large."""
    text = stub.text([function("f", [spec.ConstInt("c", value)])], "a.so")
    assert f"def f(c: {expected}) -> None:" in text
