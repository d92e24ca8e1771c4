"""Commands, their output, and their exit status."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from ffi_builder import __version__, runtime
from tests.runtime.samples import c_object
from tests.support.commands import ffi_builder

Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

KERNEL = """
func.func @add_one(%x: memref<?xf32>, %y: memref<?xf32>) {
  %one = arith.constant 1.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                  iterator_types = ["parallel"]} ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %one : f32
    linalg.yield %c : f32
  }
  return
}
"""
SIGNATURE = "add_one(x: Tensor([n], float32), y: Tensor([n], float32))"
C_KERNEL = """
void scale(float* x, long long n, float factor) {
  for (long long i = 0; i < n; ++i) x[i] *= factor;
}
"""


def started(
    *arguments: str | Path, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own: one test of each does, and what only that shows."""
    return subprocess.run(
        [sys.executable, "-m", "ffi_builder", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=env,
    )


def succeeds(*arguments: str | Path, run: Run = ffi_builder) -> str:
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fails(*arguments: str | Path, status: int = 1, run: Run = ffi_builder) -> str:
    """Return the message on stderr: one, without a traceback."""
    done = run(*arguments)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.mlir"
    path.write_text(KERNEL)
    return path


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    """An object that a C compiler made."""
    source, made = tmp_path / "scale.c", tmp_path / "scale.o"
    source.write_text(C_KERNEL)
    subprocess.run(["cc", "-c", "-fPIC", "-O1", source, "-o", made], check=True)
    return made


class TestWrap:
    def wrap(self, kernel: Path, output: Path, *more: str | Path) -> str:
        given = ("--signature", SIGNATURE, "--device", "cpu", "-o", output)
        return succeeds("wrap", kernel, *given, *more)

    def test_mlir_to_a_library_in_one_command(self, kernel: Path, tmp_path: Path):
        made = tmp_path / "add_one.so"
        given = ("--signature", SIGNATURE, "--device", "cpu", "--convention", "memref", "-o", made)
        assert succeeds("wrap", kernel, *given, run=started) == ""
        x, y = np.arange(4, dtype="float32"), np.zeros(4, dtype="float32")
        library = runtime.load(made)
        library["add_one"](x, y)
        np.testing.assert_array_equal(y, x + 1)
        library.callable("add_one")(y=x, x=y)
        np.testing.assert_array_equal(x, y + 1)
        with pytest.raises(ValueError, match=r"expected 4 \(n = x.shape\[0\]\) but got 3"):
            library["add_one"](x, y[:3])

    def test_an_object_and_c(self, scale: Path, tmp_path: Path):
        made = tmp_path / "scale.so"
        signature = "scale(x: Tensor([n], float32), n: int64, factor: float32)"
        options = ("--convention", "direct", "--device", "cpu", "-o", made)
        assert succeeds("wrap", scale, "--signature", signature, *options) == ""
        x = np.ones(3, dtype="float32")
        runtime.load(made)["scale"](x, 3, 2.5)
        np.testing.assert_array_equal(x, np.full(3, 2.5, "float32"))

    def test_a_library_that_watches_its_kernel(self, scale: Path, tmp_path: Path):
        made = tmp_path / "scale.so"
        signature = "scale(x: Tensor([m], float32), n: int64, factor: float32)"
        options = ("--convention", "direct", "--device", "cpu", "--sanitize", "-o", made)
        assert succeeds("wrap", scale, "--signature", signature, *options) == ""
        x = np.ones(3, dtype="float32")
        with pytest.raises(AssertionError, match="outside of the elements of x: "):
            runtime.load(made)["scale"](x, 4, 2.5)
        runtime.load(made)["scale"](x, 3, 2.5)
        np.testing.assert_array_equal(x, np.full(3, 2.5, "float32"))

    @pytest.mark.parametrize(
        ("suffix", "marks"),
        [
            (".ll", [r"define .*i32 @__tvm_ffi_add_one\(", r"define .*void @add_one\("]),
            (".mlir", ["llvm.func @__tvm_ffi_add_one", "llvm.func @add_one"]),
            (".s", ["__tvm_ffi_add_one:"]),
        ],
    )
    def test_texts(self, kernel: Path, tmp_path: Path, suffix: str, marks: list[str]):
        made = tmp_path / f"out{suffix}"
        self.wrap(kernel, made)
        text = made.read_text()
        assert all(re.search(mark, text) for mark in marks)

    def test_an_object_with_header_and_stub(self, kernel: Path, tmp_path: Path):
        made = [tmp_path / name for name in ("a.o", "a.h", "a.pyi")]
        self.wrap(kernel, made[0], "--header", made[1], "--stub", made[2], "--export-only")
        assert made[0].read_bytes().startswith(b"\x7fELF")
        assert "__tvm_ffi_add_one" in made[1].read_text()
        assert "def add_one(" in made[2].read_text()

    def test_for_another_architecture(self, kernel: Path, tmp_path: Path):
        made = tmp_path / "a.o"
        self.wrap(kernel, made, "--triple", "aarch64-linux-gnu")
        assert int.from_bytes(made.read_bytes()[18:20], "little") == 183  # EM_AARCH64

    def test_several_functions(self, kernel: Path, tmp_path: Path):
        made = tmp_path / "two.so"
        kernel.write_text(KERNEL + KERNEL.replace("@add_one", "@another"))
        more = SIGNATURE.replace("add_one", "another")
        self.wrap(kernel, made, "--signature", more)
        assert set(runtime.load(made).functions) == {"add_one", "another"}

    def test_arguments_that_are_chosen(self, tmp_path: Path):
        kernel, made = tmp_path / "kernel.mlir", tmp_path / "store.so"
        kernel.write_text("""llvm.func @store(%out: !llvm.ptr, %a: i64, %b: i64, %c: i64) {
            llvm.store %a, %out : i64, !llvm.ptr
            %1 = llvm.getelementptr %out[1] : (!llvm.ptr) -> !llvm.ptr, i64
            llvm.store %b, %1 : i64, !llvm.ptr
            %2 = llvm.getelementptr %out[2] : (!llvm.ptr) -> !llvm.ptr, i64
            llvm.store %c, %2 : i64, !llvm.ptr
            llvm.return
        }""")
        signature = "store(n: int64, x: Tensor([m], int64))"
        options = ("--convention", "direct", "--device", "cpu", "-o", made)
        chosen = ("--args", "x, m, ceildiv(n * 2, 3), 7")
        assert succeeds("wrap", kernel, "--signature", signature, *options, *chosen) == ""
        x = np.zeros(3, dtype="int64")
        runtime.load(made)["store"](5, x)
        assert x.tolist() == [3, 4, 7]
        words = fails("wrap", kernel, "--signature", signature, *options, "--args", "x, q")
        assert "--args has 'q', which names no parameter or symbol of 'store'" in words
        words = fails("wrap", kernel, "--signature", signature, *options, "--args", "x, q + 1")
        assert "--args has 'q + 1': there is no symbol 'q', but n, m\n    q + 1\n    ^" in words
        words = fails("wrap", kernel, "--signature", signature, *options, "--args", "x,")
        assert words == "error: --args 'x,': an entry is empty\n"
        nop = ("--convention", "nop", "--args", "x")
        words = fails("wrap", kernel, "--signature", signature, *options, *nop)
        assert words == "error: --args goes with a --convention that calls something\n"
        two = ("--signature", signature, "--signature", signature.replace("store", "other"))
        words = fails("wrap", kernel, *two, *options, "--args", "x")
        assert words == "error: --args goes with one signature\n"

    def test_mistakes_in_the_signature_are_pointed_at(self, kernel: Path, tmp_path: Path):
        output = tmp_path / "a.so"
        words = fails(
            "wrap", kernel, "--signature", "add_one(x: Tensro([n], float32))", "-o", output
        )
        assert words.startswith("error: --signature: expected a type")
        assert "did you mean 'Tensor'?" in words
        assert words.endswith("^^^^^^\n")
        assert not output.exists()

    def test_no_device(self, kernel: Path, tmp_path: Path):
        words = fails("wrap", kernel, "--signature", SIGNATURE, "-o", tmp_path / "a.so")
        hint = "Say device_type=cpu (or cuda, …) in its brackets, or --device cpu for all tensors"
        assert hint in words

    def test_a_kernel_that_does_not_fit(self, kernel: Path, tmp_path: Path):
        given = ("--signature", "add_one(x: Tensor([n], float32))", "--device", "cpu")
        words = fails("wrap", kernel, *given, "-o", tmp_path / "a.so")
        assert "the callee @add_one takes" in words
        assert list(tmp_path.iterdir()) == [kernel]

    def test_a_kernel_of_another_name(self, kernel: Path, tmp_path: Path):
        given = ("--signature", SIGNATURE.replace("add_one", "add_1"), "--device", "cpu")
        words = fails("wrap", kernel, *given, "-o", tmp_path / "a.so")
        assert words == (
            "error: the module has no @add_1, did you mean 'add_one'?; it has add_one; say which "
            "with --function\n"
        )
        # An object may be linked to one that has it.
        self.wrap(kernel, tmp_path / "a.o", "--callee", "elsewhere", "--convention", "memref")

    def test_llvm_ir_has_types(self, tmp_path: Path):
        scale, made = tmp_path / "scale.ll", tmp_path / "scale.so"
        scale.write_text("define void @scale(i64 %n, ptr %x, float %factor) { ret void }")
        signature = "scale(x: Tensor([n], float32), factor: float32)"
        given = ("wrap", scale, "--signature", signature, "--device", "cpu", "-o", made)
        assert succeeds(*given) == ""
        runtime.load(made)["scale"](np.ones(3, "float32"), 2.5)
        words = fails(*given, "--args", "n, factor, factor")
        assert "parameter x is a pointer, but 'factor' is a number; NULL passes a null" in words

    def test_a_prototype(self, scale: Path, tmp_path: Path):
        pytest.importorskip("clang.native")
        made, header = tmp_path / "scale.so", tmp_path / "scale.h"
        header.write_text("#include <stdint.h>\nvoid scale(float *x, int64_t n, float factor);\n")
        signature = "scale(x: Tensor([n], float32), factor: float32)"
        given = ("wrap", scale, "--signature", signature, "--device", "cpu", "-o", made)
        for prototype in (header.read_text().splitlines()[1], header):
            assert succeeds(*given, "--prototype", prototype) == ""
            x = np.ones(3, dtype="float32")
            runtime.load(made)["scale"](x, 2.5)
            np.testing.assert_array_equal(x, np.full(3, 2.5, "float32"))
        assert succeeds(*given, "--prototype", header, "--args", "x, n, 0.5") == ""
        x = np.ones(3, dtype="float32")
        runtime.load(made)["scale"](x, 2.5)
        np.testing.assert_array_equal(x, np.full(3, 0.5, "float32"))
        words = fails(*given, "--prototype", header, "--convention", "direct")
        assert words == (
            "error: --prototype and --error go without --convention, which says itself how to "
            "call: a prototype would not be compared\n"
        )
        assert "declares no function 'other'" in fails(
            *given, "--prototype", header, "--callee", "other"
        )

    def test_names_of_statuses(self, tmp_path: Path):
        pytest.importorskip("clang.native")
        made = tmp_path / "f.so"
        c_object(tmp_path, "int f(int status) { return status; }")
        given = ("wrap", tmp_path / "part.o", "--signature", "f(status: int32)", "-o", made)
        prototype = "enum { BAD = -5, DONE = 101 };\nint f(int status);"
        statuses = ("--success", "DONE", "--success", "0", "--error", "BAD=KeyError: bad")
        assert succeeds(*given, "--prototype", prototype, *statuses) == ""
        f = runtime.load(made)["f"]
        assert f(101) is None
        assert f(0) is None
        with pytest.raises(KeyError, match="bad when calling"):
            f(-5)
        said = 'const char *said(int status) { return "said"; }'
        c_object(tmp_path, f"int f(int status) {{ return status; }} {said}")
        prototype = "enum { BAD = -5 };\nint f(int status);\nconst char *said(int status);"
        given = (*given, "--prototype", prototype, "--error", "said")
        assert succeeds(*given, "--error", "BAD=KeyError", "--error", "9=ValueError: nine") == ""
        f = runtime.load(made)["f"]
        for status, error, words in (
            (-5, KeyError, "-5: said"),
            (9, ValueError, "^nine when"),
            (7, RuntimeError, "7: said"),
        ):
            with pytest.raises(error, match=words):
                f(status)
        for wrong, words in (
            ("KeyError", "error: --error 'KeyError': there is an error for all others already"),
            ("9=OverflowError", "error: --error for 9 has the class 'OverflowError': expected"),
            ("9=KeyEror: no", "did you mean 'KeyError'?"),
            ("a b", "error: --error 'a b': expected STATUS=CLASS:WORDS, as '22=ValueError: the"),
        ):
            assert words in fails(*given, "--error", wrong)

    def test_a_prototype_of_another_machine(self, tmp_path: Path):
        pytest.importorskip("clang.native")
        (tmp_path / "include").mkdir()
        (tmp_path / "include" / "byte.h").write_text("typedef char byte;\n")
        (tmp_path / "f.h").write_text("#include <byte.h>\nbyte f(byte c);\n")
        c_object(tmp_path, "char f(char c) { return c; }")
        given = ("wrap", tmp_path / "part.o", "--prototype", tmp_path / "f.h")
        output = ("-I", tmp_path / "include", "-o", tmp_path / "w.o", "--triple")
        for triple, char, other in (
            ("aarch64-linux-gnu", "uint8", "int8"),
            ("x86_64-linux-gnu", "int8", "uint8"),
        ):
            signature = ("--signature", f"f(c: {char}) -> r: {char}")
            assert succeeds(*given, *signature, *output, triple) == ""
            signature = ("--signature", f"f(c: {char}) -> r: {other}")
            assert f"f returns {char}, but" in fails(*given, *signature, *output, triple)

    def test_some_arguments_by_name(self, tmp_path: Path):
        pytest.importorskip("clang.native")
        functions = [f"int64_t {name}(void *ctx, int64_t n, float *x)" for name in "fg"]
        c_object(tmp_path, " ".join(f"{each} {{ return ctx ? 0 : n; }}" for each in functions))
        (tmp_path / "f.h").write_text(
            "".join(f"{each};\n" for each in ("#include <stdint.h>\n", *functions))
        )
        made = tmp_path / "f.so"
        given = ["wrap", tmp_path / "part.o", "--prototype", tmp_path / "f.h", "--device", "cpu"]
        for name in "fg":
            given += ["--signature", f"{name}(x: Tensor([n], float32)) -> r: int64"]
        assert succeeds(*given, "-o", made, "--args", "ctx=NULL", run=started) == ""
        for name in "fg":
            assert runtime.load(made)[name](np.ones(3, "float32")) == 3
        words = fails(*given, "-o", made, "--args", "NULL, n, x")
        assert words == "error: --args goes with one signature\n"

    def test_a_prototype_of_mlir(self, kernel: Path, tmp_path: Path):
        given = ("--signature", SIGNATURE, "--device", "cpu", "-o", tmp_path / "a.so")
        words = fails("wrap", kernel, *given, "--prototype", "int f()")
        assert words.startswith("error: --prototype goes with LLVM IR or an object or an archive")

    def test_a_kernel_without_types_needs_a_convention(self, scale: Path, tmp_path: Path):
        # Taken for memrefs, the arguments of this kernel would be a crash at the first call.
        signature = "scale(x: Tensor([n], float32), n: int64, factor: float32)"
        given = ("wrap", scale, "--signature", signature, "--device", "cpu")
        made = tmp_path / "scale.so"
        words = fails(*given, "-o", made)
        assert words == (
            "error: nothing says which arguments `scale` takes, and a call that does not fit "
            "crashes: give --prototype 'int scale(…)', with void for int if it returns nothing, or "
            "--convention direct if they are those of the signature, as plain C\n"
        )
        assert not made.exists()
        assert succeeds(*given, "-o", made, "--convention", "direct") == ""

    def test_a_linked_kernel_without_types_needs_a_convention(
        self, kernel: Path, scale: Path, tmp_path: Path
    ):
        signature = "scale(x: Tensor([n], float32), n: int64, factor: float32)"
        given = ("wrap", kernel, "--link", scale, "--signature", signature, "--device", "cpu")
        words = fails(*given, "-o", tmp_path / "a.so")
        assert "the module has no @scale; it has add_one; say which with --function" in words
        assert succeeds(*given, "-o", tmp_path / "a.so", "--convention", "direct") == ""

    def test_what_is_not_there_to_link(self, kernel: Path, tmp_path: Path):
        kernel.write_text("llvm.func @add_one(!llvm.ptr, !llvm.ptr)")
        given = ("--signature", SIGNATURE, "--device", "cpu", "--convention", "direct")
        words = fails("wrap", kernel, *given, "-o", tmp_path / "a.so")
        assert "add_one" in words
        assert "--link" in words
        assert "link=" not in words

    def test_no_such_file(self, tmp_path: Path):
        given = ("--signature", SIGNATURE, "--device", "cpu", "-o", tmp_path / "a.so")
        words = fails("wrap", tmp_path / "none.mlir", *given, run=started)
        assert words == f"error: {tmp_path / 'none.mlir'}: No such file or directory\n"

    def test_a_suffix_that_says_nothing(self, kernel: Path, tmp_path: Path):
        given = ("--signature", SIGNATURE, "--device", "cpu", "-o", tmp_path / "a.dll")
        assert "expected one of .so, .o, .ll, .mlir, .s" in fails("wrap", kernel, *given)

    def test_options_of_another_output(self, kernel: Path, tmp_path: Path):
        given = ("--signature", SIGNATURE, "--device", "cpu", "-o", tmp_path / "a.ll")
        words = fails("wrap", kernel, *given, "--header", tmp_path / "a.h")
        assert words == "error: --header goes with an output .so or .o\n"

    def test_text_that_is_no_mlir(self, kernel: Path, tmp_path: Path):
        kernel.write_text("func.func @f(")
        given = ("--signature", SIGNATURE, "--device", "cpu", "-o", tmp_path / "a.so")
        assert fails("wrap", kernel, *given).startswith("error: ")


class TestExplain:
    def test_the_plan(self):
        shown = succeeds("explain", "--device", "cpu", "--signature", SIGNATURE)
        assert shown.startswith("add_one(x: Tensor([n], float32), y: Tensor([n], float32))\n")
        assert "{n} (n = x.shape[0])" in shown

    @pytest.mark.parametrize(
        ("stage", "mark"),
        [
            ("mlir", "llvm.func @__tvm_ffi_f"),
            ("llvm", r"define .*i32 @__tvm_ffi_f\("),
            ("asm", "__tvm_ffi_f:"),
        ],
    )
    def test_stages(self, stage: str, mark: str):
        shown = succeeds(
            "explain", "--stage", stage, "--signature", "f(n: int32)", "--convention", "direct"
        )
        assert re.search(mark, shown)

    def test_arguments_that_are_chosen(self):
        given = ("--signature", "f(n: int32, m: int32)", "--convention", "direct")
        shown = succeeds("explain", "--stage", "mlir", *given, "--args", "m, n - 1")
        assert re.search(r"llvm.call @f\(.*\) : \(i32, i64\) -> ()", shown)

    def test_a_signature_that_returns_a_scalar(self):
        shown = succeeds("explain", "--stage", "mlir", "--signature", "f(n: int32) -> t: int32")
        assert "llvm.call @f(" in shown

    def test_a_reader_that_has_seen_enough(self):
        command = f"{sys.executable} -m ffi_builder explain --signature 'f(n: int32)' | head -1"
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("f(n: int32)\n", "")


def test_doctor():
    shown = succeeds("doctor", run=started)
    assert re.search(r"^ok  llvmlite +0\.", shown, re.MULTILINE)
    assert re.search(r"^ok  compiling and calling", shown, re.MULTILINE)
    assert re.search(
        r"^ok  prototypes in C +libclang(-ng)? \d+\.\S+ reads them$", shown, re.MULTILINE
    )
    assert "CUDA driver" in shown


def test_doctor_without_libclang(tmp_path: Path):
    """As where the extra prototype is not installed; the JIT works."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.metadata\n"
        "def none(name, found=importlib.metadata.distribution):\n"
        "    if 'clang' in name: raise importlib.metadata.PackageNotFoundError(name)\n"
        "    return found(name)\n"
        "importlib.metadata.distribution = none\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = started("doctor", env=environment)
    assert done.returncode == 0
    words = "prototype= needs libclang: install it, as the extra ffi_builder[prototype] does"
    assert re.search(rf"^--  prototypes in C +{re.escape(words)}", done.stdout, re.MULTILINE)


def test_doctor_without_a_jit(tmp_path: Path):
    """As where the extra jit is not installed."""
    (tmp_path / "llvmlite").mkdir()
    (tmp_path / "llvmlite" / "__init__.py").write_text("raise ImportError('gone')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = started("doctor", env=environment)
    assert done.returncode == 1
    assert "install it, as the extra ffi_builder[jit] does: pip install -e '.[jit]'" in done.stdout


class TestUsage:
    def test_version(self):
        assert succeeds("--version", run=started) == f"ffi_builder {__version__}\n"

    @pytest.mark.parametrize("command", ["wrap", "explain", "inspect", "doctor"])
    def test_help_has_examples(self, command: str):
        shown = succeeds(command, "--help")
        assert f"ffi-builder {command}" in shown
        assert "example" in shown

    @pytest.mark.parametrize(
        "arguments", [(), ("nonsense",), ("wrap",), ("explain", "--stage", "none")]
    )
    def test_what_makes_no_sense(self, arguments: tuple[str, ...]):
        run = ffi_builder if arguments else started
        assert fails(*arguments, status=2, run=run).startswith("usage: ffi-builder")

    def test_debug_shows_where(self):
        done = started("--debug", "explain", "--signature", "f(")
        assert "Traceback" in done.stderr

    def test_colour_only_on_a_terminal(self):
        command = [sys.executable, "-m", "ffi_builder", "explain", "--signature", "f("]
        assert "\033" not in fails(*command[3:], run=started)
        for no_colour, expected in (("", True), ("1", False)):
            leader, follower = pty.openpty()
            environment = {**os.environ, "NO_COLOR": no_colour}
            subprocess.run(command, stderr=follower, env=environment, check=False)
            os.close(follower)
            shown = os.read(leader, 4096).decode()
            os.close(leader)
            assert ("\033[31merror:" in shown) is expected


class TestPackage:
    KERNELS = """
from ffi_builder import runtime, spec, attach, providers
from ffi_builder.ir import PlainModule
module = PlainModule()
hypot = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
attach(module, hypot, providers.DirectCallProvider("hypot"))
lowered = runtime.lower(module)
"""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        file = tmp_path / "kernels.py"
        file.write_text(f"{self.KERNELS}modules = [lowered]\n")
        return file

    def test_a_wheel(self, file: Path, tmp_path: Path):
        named = ("--name", "my-hypot", "--version", "1.0", "-o", tmp_path / "dist")
        made = Path(succeeds("package", file, *named).strip())
        assert made.parent == tmp_path / "dist"
        shown = succeeds("inspect", made)
        assert "my_hypot/lib/libmy_hypot.so, for" in shown
        assert "hypot(x: float64, y: float64) -> r: float64" in shown

    def test_the_same_bytes_from_another_process(self, file: Path, tmp_path: Path):
        for seed in "12":
            named = ("--name", "b", "--version", "1", "-o", tmp_path / seed)
            environment = {**os.environ, "PYTHONHASHSEED": seed}
            assert started("package", file, *named, env=environment).returncode == 0
        first, second = (next((tmp_path / seed).iterdir()).read_bytes() for seed in "12")
        assert first == second

    def test_a_pyproject(self, file: Path, tmp_path: Path):
        assert "give --name and --version" in fails("package", file, "--name", "x")
        project = tmp_path / "pyproject.toml"
        project.write_text('[project]\nname = "b"\nversion = "2"\n')
        assert "/b-2-py3-none-" in succeeds("package", file, "-o", tmp_path / "dist")
        project.write_text('[project]\nname = "b"\ndynamic = ["version"]\n')
        given = ("--version", "3", "-o", tmp_path / "dist")
        assert "/b-3-py3-none-" in succeeds("package", file, *given)

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            ("{}['key']", "kernels.py, line 1: KeyError: 'key'"),
            ("raise SystemExit(0)", "kernels.py, line 1: SystemExit: 0"),
            ("def modules(cpu):\n    return 1 / 0", "kernels.py, line 2: ZeroDivisionError: "),
            ("def modules(): pass", "modules() takes 0 positional arguments but 1 was given"),
            (
                "modules = [3]",
                "kernels.py: modules: expected compiled or lowered modules, but got 3",
            ),
        ],
    )
    def test_a_file_with_a_mistake(self, code: str, words: str, file: Path):
        file.write_text(code)
        assert words in fails("package", file, "--name", "b", "--version", "1")

    def test_a_file_knows_its_folder(
        self, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ):
        """As with Python itself, its path is absolute."""
        monkeypatch.chdir(tmp_path)
        file.write_text("import sys\nraise SystemExit(f'{__file__} {sys.path[0]}')")
        words = fails("package", "kernels.py", "--name", "b", "--version", "1", run=started)
        assert f" kernels.py, line 2: SystemExit: {file} {tmp_path}\n" in words

    def test_another_file(self, tmp_path: Path):
        named = ("--name", "b", "--version", "1")
        assert "expected a Python file that assigns `modules`" in fails("package", tmp_path, *named)

    def test_without_modules(self, file: Path):
        file.write_text(self.KERNELS)
        named = ("--name", "my-hypot", "--version", "1.0")
        words = fails("package", file, *named)
        assert words.endswith("kernels.py assigns no `modules`: write modules = [lowered]\n")
