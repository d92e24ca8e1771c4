"""Shared libraries: what they need and show, how they are linked, and what tvm-ffi finds in them."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tvm_ffi.core import TypeSchema

from ffi_builder import CompileError, LinkError, attach, providers, runtime, spec
from tests.runtime.exporting import every_kind_module, load_module, needed, run, scaling, visible
from tests.runtime.samples import c_library, c_object, llvm_entry, needs_cc, needs_cxx, run_child
from tests.support.older_tvm_ffi import since
from tests.support.wrapping import new_module

pytestmark = needs_cc
SCALE = {"__tvm_ffi_scale", "__tvm_ffi__metadata_scale", "__tvm_ffi__doc_scale"}


@pytest.fixture(scope="module")
def scale() -> runtime.CompiledModule:
    return runtime.compile(scaling())


def test_it_needs_libtvm_ffi_and_libc(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    for name, module in (("a", scale), ("b", runtime.compile(every_kind_module()))):
        module.export_library(tmp_path / f"{name}.so")
        assert needed(tmp_path / f"{name}.so") == {"libtvm_ffi.so", "libc.so.6"}
    assert {path.name for path in tmp_path.iterdir()} == {"a.so", "b.so"}
    dynamic = run("readelf", "-dW", tmp_path / "a.so")
    assert "Library soname: [a.so]" in dynamic
    assert "TEXTREL" not in dynamic
    assert "RUNPATH" not in dynamic


def test_it_shows_its_functions_alone(tmp_path: Path) -> None:
    compiled = runtime.compile(scaling("scale", "other"))
    compiled.export_library(tmp_path / "a.so")
    assert visible(tmp_path / "a.so") == SCALE | {x.replace("scale", "other") for x in SCALE}
    compiled.export_library(tmp_path / "a.so", export_only=["scale"])
    assert visible(tmp_path / "a.so") == SCALE


def test_profilers_see_the_kernel_and_the_helpers_by_name(
    scale: runtime.CompiledModule, tmp_path: Path
) -> None:
    """`perf` and `nm` read the symbol table, which has more than what other libraries see."""
    scale.export_library(tmp_path / "a.so", export_only=["scale"])
    lines = run("nm", tmp_path / "a.so").splitlines()
    kinds = {line.split()[-1]: line.split()[-2] for line in lines}
    assert kinds["__tvm_ffi_scale"] == "T"
    assert kinds["kernel"] == "t"
    assert any(name.startswith("__ffi_builder_shared_diagnose") for name in kinds)


def test_it_can_be_executed_as_others_can(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    scale.export_library(tmp_path / "a.so", stub=tmp_path / "a.pyi")
    umask = os.umask(0)
    os.umask(umask)
    modes = {path.suffix: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {".so": 0o777 & ~umask, ".pyi": 0o666 & ~umask}


def test_tvm_ffi_loads_it(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    scale.export_library(tmp_path / "a.so")
    module = load_module(tmp_path / "a.so")
    x = np.ones(3, "float32")
    module["scale"](x, 3)
    assert x.tolist() == [3, 3, 3]
    with pytest.raises(
        TypeError, match=r"Mismatched x.dtype on argument #0 when calling: `scale\("
    ):
        module["scale"](x.astype("int8"), 3)


@since(0, 1, 15)  # which reads names of parameters
def test_tvm_ffi_knows_its_signatures(tmp_path: Path) -> None:
    runtime.compile(every_kind_module()).export_library(tmp_path / "a.so")
    module = load_module(tmp_path / "a.so")
    metadata = module.get_function_metadata("every_kind")
    schema = TypeSchema.from_json_str(metadata["type_schema"])
    shown = repr(schema)
    assert shown.startswith("Callable[[Tensor, int, int, bool, ctypes.c_void_p, float, float,")
    assert "tuple[Tensor, int]" in shown
    assert shown.endswith("float, str], None]")
    assert metadata["ffi_builder"]["params"][-1] == {
        "name": "mode",
        "type": "Choice({'relu': 1, '*/': 2})",
        "kind": "Choice",
        "choices": ["relu", "*/"],
        "default": "relu",
        "kw_only": True,
    }
    doc = module.get_function_doc("every_kind")
    assert doc is not None
    assert doc.startswith('Backslash \\, quotes "\'.\n\nMore.\\\n\nArgs:\n    function: """ends */')


@since(0, 1, 15)
def test_tvm_ffi_stubgen_writes_its_signatures(
    scale: runtime.CompiledModule, tmp_path: Path
) -> None:
    """The generator asks for metadata of registered functions; this is what it then does."""
    stub = pytest.importorskip("tvm_ffi.stub.utils")
    generator = pytest.importorskip("tvm_ffi.stub.python_generator.utils")
    scale.export_library(tmp_path / "a.so")
    metadata: Any = load_module(tmp_path / "a.so").get_function_metadata("scale")
    schema = TypeSchema.from_json_str(metadata["type_schema"])
    named = stub.NamedTypeSchema(name="scale", schema=schema)
    text = generator.render_func_signature(stub.FuncInfo(named, is_member=False), str, 0)
    assert text == "def scale(_0: Tensor, _1: float, /) -> None: ..."


def test_what_was_linked_is_in_it(tmp_path: Path) -> None:
    kernel = c_object(
        tmp_path, "#include <math.h>\nvoid fill(double *x, double v) { *x = cosh(v); }"
    )
    x, v = spec.Tensor("x", [1], "float64", device_type="cpu"), spec.Var("v", "float64")
    module = new_module()
    provider = providers.DirectCallProvider("fill", args=["x", "v"])
    attach(module, spec.Signature("cosh_of", [x, v]), provider)
    other = runtime.compile(scaling("scale")).llvm_ir
    assert other is not None
    compiled = runtime.compile(module, link=[kernel, other])
    compiled.export_library(tmp_path / "a.so", stub=tmp_path / "a.pyi")
    assert needed(tmp_path / "a.so") == {"libtvm_ffi.so", "libc.so.6", "libm.so.6"}
    library = runtime.load(tmp_path / "a.so")
    out = np.zeros(1)
    library.callable("cosh_of")(v=0.0, x=out)
    assert out[0] == 1
    assert library.functions == ("cosh_of", "scale")
    assert library["scale"].__doc__ == compiled["scale"].__doc__
    assert "fill" not in visible(tmp_path / "a.so")
    stub = (tmp_path / "a.pyi").read_text()
    assert "def cosh_of(x: _Array, v: float)" in stub
    assert "def scale(x: _Array, factor: float = 2.0)" in stub


@pytest.mark.parametrize(
    "name", ["a,--defsym=x=1.so", "a b.so", "@words.so", "-o.so", "\"$(x)`'.so"]
)
def test_a_name_is_no_option(
    scale: runtime.CompiledModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.so").write_text("--defsym=x=1")  # what @words.so would read
    scale.export_library(name)
    assert f"Library soname: [{name}]" in run("readelf", "-dW", f"./{name}")
    assert visible(tmp_path / name) == SCALE
    assert runtime.load(f"./{name}").functions == ("scale",)


@pytest.mark.parametrize("folder", ["a,--defsym=x=1", "a b"])
def test_a_temporary_folder_is_no_option(
    scale: runtime.CompiledModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    (tmp_path / folder).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / folder))
    scale.export_library(tmp_path / "a.so")
    assert visible(tmp_path / "a.so") == SCALE


@needs_cxx
def test_cxx_objects_bring_their_library(tmp_path: Path) -> None:
    source = """
    #include <string>
    extern "C" int32_t __tvm_ffi_f(void*, const int64_t* args, int32_t n, int64_t* result) {
      std::string text(args[1], 'x');
      result[0] = 1;
      return result[1] = std::stoi(std::to_string(text.size())), 0;
    }"""
    compiled = runtime.compile(c_object(tmp_path, source, compiler="g++"))
    compiled.export_library(tmp_path / "a.so")
    assert {"libstdc++.so.6", "libc.so.6"} <= needed(tmp_path / "a.so")
    assert runtime.load(tmp_path / "a.so")["f"](1000) == 1000


def test_an_object_that_was_given(tmp_path: Path) -> None:
    data = c_object(tmp_path, "ENTRY(f) { RETURN(1); }\nENTRY(g) { RETURN(2); }\nint kernel;")
    compiled = runtime.compile(data, link=[llvm_entry("h")])
    compiled.export_library(tmp_path / "a.so", export_only=["g", "h"], header=tmp_path / "a.h")
    assert visible(tmp_path / "a.so") == {"__tvm_ffi_g", "__tvm_ffi_h"}
    assert runtime.load(tmp_path / "a.so")["g"](0) == 2
    assert "__tvm_ffi_f" not in (tmp_path / "a.h").read_text()


def test_what_this_process_alone_has_is_missing(tmp_path: Path) -> None:
    only = c_library(tmp_path, "int only_here(void) { return 5; }", "only.so")
    ctypes.CDLL(str(only), ctypes.RTLD_GLOBAL)
    body = "%y = call i32 @only_here()\n%x = zext i32 %y to i64"
    text = f"declare i32 @only_here()\n{llvm_entry('f', body)}"
    compiled = runtime.compile(text)
    assert compiled["f"](0) == 5
    words = r"(?s)libtvm_ffi nor libc define: `only_here`; pass .* with link=.*cc says:.*only_here"
    with pytest.raises(LinkError, match=words):
        compiled.export_library(tmp_path / "a.so")
    assert not (tmp_path / "a.so").exists()


def test_no_compiler(
    scale: runtime.CompiledModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    words = (
        r"no cc, gcc, clang in \$PATH: install one \(apt install gcc\).* export_object needs none"
    )
    with pytest.raises(CompileError, match=words):
        scale.export_library(tmp_path / "a.so", header=tmp_path / "a.h")
    assert not list(tmp_path.iterdir())
    scale.export_object(tmp_path / "a.o")


def test_the_compiler_in_cc(
    scale: runtime.CompiledModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "with spaces"
    folder.mkdir()
    gcc = folder / "my cc"
    gcc.symlink_to(str(shutil.which("gcc")))
    for value in (str(gcc), f"{shlex.quote(str(gcc))} -O2 -g", "gcc", " "):
        monkeypatch.setenv("CC", value)
        scale.export_library(tmp_path / "a.so")
        assert runtime.load(tmp_path / "a.so").functions == ("scale",)
        (tmp_path / "a.so").unlink()


@pytest.mark.parametrize(
    ("given", "recorded"),
    [
        ("-L{0} -lplain", {"libplain.so"}),
        ("{0}/libplain.so", {"libplain.so"}),
        ("{0}/libplain.a", set[str]()),
    ],
)
def test_libraries_in_cc(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, recorded: set[str]
) -> None:
    """They follow the objects that need them, as linkers want it."""
    source, flag = "int in_plain(void) { return 5; }", "-Wl,-soname=libplain.so"
    library = c_library(tmp_path, source, "libplain.so", flag)
    subprocess.run(["ar", "cr", tmp_path / "libplain.a", tmp_path / "part.o"], check=True)
    ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)  # for the JIT
    body = "%y = call i32 @in_plain()\n%x = zext i32 %y to i64"
    compiled = runtime.compile(f"declare i32 @in_plain()\n{llvm_entry('f', body)}")
    monkeypatch.setenv("CC", f"gcc -Wl,--as-needed {given.format(tmp_path)}")
    compiled.export_library(tmp_path / "a.so")
    assert needed(tmp_path / "a.so") == recorded


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("not-there -O2", r"\$CC is `not-there -O2`, but there is no program `not-there`"),
        ("gcc 'open", r"\$CC is `gcc 'open`, which is not a command"),
        ("gcc --no-such-option", "(?s)gcc cannot link the library: .*no-such-option"),
        ("false", "false cannot link the library"),
    ],
)
def test_what_is_no_compiler_in_cc(
    scale: runtime.CompiledModule,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    value: str,
    words: str,
) -> None:
    monkeypatch.setenv("CC", value)
    with pytest.raises(CompileError, match=words):
        scale.export_library(tmp_path / "a.so")
    assert not list(tmp_path.iterdir())


def test_another_machine_needs_its_own_compiler(
    scale: runtime.CompiledModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = "aarch64" if os.uname().machine == "x86_64" else "x86_64"
    monkeypatch.delenv("CC", raising=False)
    if shutil.which(f"{machine}-linux-gnu-gcc") is None:
        words = rf"for {machine} needs a C compiler that links for it.* no {machine}-linux-gnu-gcc"
        with pytest.raises(CompileError, match=words):
            scale.export_library(tmp_path / "a.so", triple=f"{machine}-linux-gnu")
    monkeypatch.setenv("CC", "gcc")  # which links for this one
    with pytest.raises(LinkError, match="gcc cannot link the library"):
        scale.export_library(tmp_path / "a.so", triple=f"{machine}-linux-gnu")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_library_in_a_process_of_its_own(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    """Neither LLVM nor MLIR are imported there."""
    scale.export_library(tmp_path / "a.so")
    code = """
        import sys
        import numpy as np
        from ffi_builder import runtime
        scale = runtime.load(sys.argv[1]).callable("scale")
        x = np.ones(2, "float32")
        scale(x, factor=5)
        print(x.tolist(), [name for name in sys.modules if name in ("llvmlite", "torch_mlir", "tvm_ffi_orcjit")])
    """
    done = run_child(code, tmp_path / "a.so")
    assert (done.stdout, done.stderr) == ("[5.0, 5.0] []\n", "")


def test_a_missing_folder_is_an_oserror(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path / "no" / "a.so"))):
        scale.export_library(tmp_path / "no" / "a.so", header=tmp_path / "a.h")
    assert not list(tmp_path.iterdir())


def test_a_library_without_functions(tmp_path: Path) -> None:
    runtime.compile("llvm.func @kernel() { llvm.return }").export_library(tmp_path / "a.so")
    assert visible(tmp_path / "a.so") == set()
    with pytest.raises(LinkError, match="exports no function `__tvm_ffi_"):
        runtime.load(tmp_path / "a.so")


def test_the_schema_in_the_library_is_a_text(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    scale.export_library(tmp_path / "a.so")
    answer = load_module(tmp_path / "a.so").get_function("_metadata_scale")()
    schema = json.loads(json.loads(str(answer))["type_schema"])
    assert schema["named_args"]["return"] == [{"type": "None"}]


def test_files_that_somebody_wrote_are_kept(scale: runtime.CompiledModule, tmp_path: Path) -> None:
    """A header may be the one that `wrap` has read, and a shared library the one it needs."""
    header, stub, path = (tmp_path / f"scale.{each}" for each in ("h", "pyi", "so"))
    header.write_text("void scale(float *x);\n")
    with pytest.raises(FileExistsError, match=r"ffi_builder has not written the file.*scale\.h"):
        scale.export_library(path, header=header, stub=stub)
    assert header.read_text() == "void scale(float *x);\n"
    assert not path.exists()
    header.unlink()
    for _ in range(2):
        scale.export_library(path, header=header, stub=stub)
    own = c_library(tmp_path, "long scaled(long x) { return 3 * x; }", "own.so")
    calls = "declare i64 @scaled(i64)\n" + llvm_entry("f", "%x = call i64 @scaled(i64 %v)")
    compiled = runtime.compile(calls, link=[own])
    with pytest.raises(
        ValueError, match=r"own\.so is linked to the library, and would be replaced"
    ):
        compiled.export_library(own)
    compiled.export_library(path)
    assert runtime.load(path)["f"](7) == 21
