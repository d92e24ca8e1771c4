"""Headers for C and C++, and stubs for Python: compilers and checkers read them."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.runtime.export import header
from tests.runtime.exporting import INCLUDES, LIBRARY, every_kind_module, pyright, run, scaling
from tests.runtime.samples import llvm_entry, needs_cc, needs_cxx

WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wcomment")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three libraries: every kind, a kernel, functions of which nothing is known."""
    made = tmp_path_factory.mktemp("header")
    modules: dict[str, Any] = {
        "every": every_kind_module(),
        "new": scaling("scale", "delete"),
        "plain": llvm_entry("f") + llvm_entry("odd.name"),
    }
    for name, module in modules.items():
        stub = made / f"{name}_.pyi"
        runtime.compile(module).export_library(
            made / f"{name}.so", header=made / f"{name}.h", stub=stub
        )
    return made


@needs_cc
@pytest.mark.parametrize("standard", ["c11", "c17", "gnu17"])
def test_a_c_compiler_reads_it(folder: Path, standard: str) -> None:
    (folder / "all.c").write_text(
        '#include "every.h"\n#include "new.h"\n#include "plain.h"\n#include "new.h"\n'
        "TVMFFISafeCallType f = __tvm_ffi_every_kind, g = __tvm_ffi_scale, h = __tvm_ffi_f;\n"
    )
    run("gcc", f"-std={standard}", *WARNINGS, *INCLUDES, "-fsyntax-only", folder / "all.c")


PROGRAM = """
#include "every.h"
#include "new.h"
#include "new.h"
#include "plain.h"
#include <cstdio>
namespace ffi = tvm::ffi;

struct Floats {
  void AllocData(DLTensor *tensor) { tensor->data = data; }
  void FreeData(DLTensor *) {}
  float *data;
};

template <typename F> void report(F call) {
  try {
    call();
    std::puts("done");
  } catch (const ffi::Error &error) {
    std::printf("%s: %.60s\\n", error.kind().c_str(), error.message().c_str());
  }
}

int main() {
  float data[] = {1, 2};
  int64_t shape[] = {2};
  DLTensor raw = {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};
  ffi::Tensor x = ffi::Tensor::FromNDAlloc(Floats{data}, {2}, {kDLFloat, 32, 1}, {kDLCPU, 0});
  ffi::Tensor bytes = ffi::Tensor::FromNDAlloc(Floats{data}, {2}, {kDLInt, 8, 1}, {kDLCPU, 0});
  ffi::Function f = ffi::Function::FromTyped([](int v) { return v; });
  ffi::Tuple<ffi::Tensor, int64_t> pair(bytes, 1);
  ffi::Tuple<double, ffi::String> cfg(1.0, ffi::String("relu"));
  using namespace ffi_builder;
  new_::scale(x, 3);
  new_::delete_(&raw, 2);
  std::printf("%g %g\\n", data[0], data[1]);
  report([&] { new_::scale(bytes, 3); });
  std::printf("%ld\\n", static_cast<long>(plain::f(41).cast<int64_t>()));
  auto every = [&](uint64_t u, const char *act, ffi::ObjectRef module) {
    every::every_kind(x, -1, u, true, nullptr, 0.5, 0.5, 0.5, 0.5, {2, 2}, data, nullptr, pair, cfg,
                      std::nullopt, std::nullopt, 5, act, "text", ffi::Bytes("abc"),
                      {kDLFloat, 32, 1}, {kDLCPU, 0}, f, module, f, {1, 2}, {}, 7, 0.5,
                      std::nullopt, &raw, 1.0, "*/");
  };
  report([&] { every(~0ull, "relu", f); });
  report([&] { every(1, "tanh", f); });
  return 0;
}
"""


@pytest.mark.slow
@needs_cxx
def test_a_typed_call_in_cxx(folder: Path) -> None:
    (folder / "main.cc").write_text(PROGRAM)
    libraries = [folder / f"{name}.so" for name in ("every", "new", "plain")]
    rpath = f"-Wl,-rpath,{folder}:{LIBRARY.parent}"
    flags = ["-std=c++17", *WARNINGS, *INCLUDES]
    run("g++", *flags, folder / "main.cc", *libraries, LIBRARY, rpath, "-o", folder / "main")
    lines = run(folder / "main").splitlines()
    assert lines[0] == "6 12"
    assert lines[1].startswith("TypeError: Mismatched x.dtype on argument #0 when calling: `scale(")
    assert lines[2] == "42"
    # A module alone is what this program has none of: all the others were right.
    assert lines[3].startswith("TypeError: Mismatched type of module on argument")
    assert lines[4].startswith("ValueError: Mismatched act on argument")


def test_the_header_says_what_there_is(folder: Path) -> None:
    text = (folder / "new.h").read_text()
    assert "/* Functions of new.so. Written by ffi_builder.\n" in text
    assert re.search(r"#ifndef (FFI_BUILDER_NEW_H_[0-9A-F]{8}_)\n#define \1\n", text)
    assert "namespace ffi_builder {\nnamespace new_ {" in text
    assert "C++ calls\n * ffi_builder::new_::<name>, which throws " in text
    assert " *     factor: what x is multiplied by\n" in text
    assert (
        "int __tvm_ffi_scale(void *handle, const TVMFFIAny *args, int32_t num_args,\n"
        "                    TVMFFIAny *result);\n"
    ) in text
    assert "inline void scale(::tvm::ffi::TensorView x, double factor) {" in text
    assert "#include <tvm/ffi/big_int.h>" not in text
    plain = (folder / "plain.h").read_text()
    assert "/* odd.name: no name of C; look it up with dlsym. */" in plain
    assert "/* f: nothing is known of its parameters. */" in plain


def test_constants_are_passed_by_the_header(folder: Path) -> None:
    text = (folder / "every.h").read_text()
    passed = " ".join(text.split("InvokeExternC(")[1].split())
    assert (
        "maybe_n, nullptr, ::std::int64_t{-9223372036854775807 - 1}, ::std::int64_t{3}, true, "
        "-::std::numeric_limits<double>::infinity(), "
        "::std::numeric_limits<double>::quiet_NaN(), 0.5, act," in passed
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [("scale", "scale"), ("new", "new_"), ("3d-kernels", "_3d_kernels"), ("linux", "linux_"), ("", "_"),
     ("é", "_"), ("not_eq", "not_eq_"), ("a.b", "a_b"), ("int64_t", "int64_t")],
)  # fmt: skip
def test_names(name: str, expected: str) -> None:
    assert header.identifier(name) == expected


def test_the_stub_is_python(folder: Path) -> None:
    for name in ("every", "new", "plain"):
        ast.parse((folder / f"{name}_.pyi").read_text())
    text = (folder / "new_.pyi").read_text()
    assert (
        'def scale(x: _Array, factor: float = 2.0) -> None:\n    """Multiply x in place.\n' in text
    )
    [definition] = [
        node
        for node in ast.parse((folder / "every_.pyi").read_text()).body
        if isinstance(node, ast.FunctionDef)
    ]
    compiled = runtime.compile(every_kind_module())
    assert ast.get_docstring(definition) == str(compiled["every_kind"].__doc__).strip()
    assert [arg.arg for arg in definition.args.kwonlyargs] == ["rate", "mode"]
    assert "def f(*args: Any) -> Any: ..." in (folder / "plain_.pyi").read_text()
    assert "odd" not in (folder / "plain_.pyi").read_text()


@pytest.mark.slow
def test_a_type_checker_reads_the_stub(folder: Path) -> None:
    (folder / "use.py").write_text(
        "import numpy as np\n"
        "from new_ import scale\n"
        "from plain_ import f\n"
        "from every_ import every_kind\n"
        "scale(np.zeros(3), factor=3)\n"
        "reveal_type(scale(np.zeros(3)))\n"
        "scale('x')\n"
        "print(f(1), every_kind)\n"
    )
    said = pyright(folder, "every_.pyi", "new_.pyi", "plain_.pyi", "use.py")
    errors = [line for line in said.splitlines() if " - error" in line]
    assert len(errors) == 1, said
    assert "use.py:7" in errors[0]
    assert 'Type of "scale(np.zeros(3))" is "None"' in said
