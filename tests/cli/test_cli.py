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

    def test_a_callee_elsewhere(self, kernel: Path, tmp_path: Path):
        """An object may be linked to one that has it."""
        self.wrap(kernel, tmp_path / "a.o", "--callee", "elsewhere", "--convention", "memref")

    def test_statuses_by_name_and_by_a_function(self, tmp_path: Path):
        pytest.importorskip("clang.native")
        made = tmp_path / "f.so"
        said = 'const char *said(int status) { return "said"; }'
        c_object(tmp_path, f"int f(int status) {{ return status; }} {said}")
        given = ("wrap", tmp_path / "part.o", "--signature", "f(status: int32)", "-o", made)
        prototype = (
            "enum { BAD = -5, DONE = 1 };\nint f(int status);\nconst char *said(int status);"
        )
        given = (*given, "--prototype", prototype, "--error", "said", "--success", "DONE")
        assert succeeds(*given, "--error", "BAD=KeyError", "--error", "9=ValueError: nine") == ""
        f = runtime.load(made)["f"]
        assert f(1) is None
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

    def test_a_header_for_another_machine(self, tmp_path: Path):
        """Arguments of several functions are given by name, and `char` is unsigned there."""
        pytest.importorskip("clang.native")
        (tmp_path / "include").mkdir()
        (tmp_path / "include" / "byte.h").write_text("typedef char byte;\n")
        functions = [f"byte {name}(void *ctx, byte c)" for name in "fg"]
        (tmp_path / "f.h").write_text("#include <byte.h>\n" + "".join(f"{f};\n" for f in functions))
        c_object(
            tmp_path, "typedef char byte;" + "".join(f"{f} {{ return c; }}\n" for f in functions)
        )
        given = ("wrap", tmp_path / "part.o", "--prototype", tmp_path / "f.h")
        given = (*given, "-I", tmp_path / "include", "-o", tmp_path / "w.o")
        there = ("--triple", "aarch64-linux-gnu")
        both = ["--signature", "f(c: uint8) -> r: uint8", "--signature", "g(c: uint8) -> r: uint8"]
        assert succeeds(*given, *both, *there, "--args", "ctx=NULL") == ""
        words = fails(*given, *both[:2], "--args", "ctx=NULL")
        assert "f returns int8, but" in words
        words = fails(*given, *both, "--args", "NULL, c")
        assert words == "error: --args goes with one signature\n"

    def test_a_linked_kernel_without_types_needs_a_convention(
        self, kernel: Path, scale: Path, tmp_path: Path
    ):
        signature = "scale(x: Tensor([n], float32), n: int64, factor: float32)"
        given = ("wrap", kernel, "--link", scale, "--signature", signature, "--device", "cpu")
        words = fails(*given, "-o", tmp_path / "a.so")
        assert "the module has no @scale; it has add_one; say which with --function" in words
        assert succeeds(*given, "-o", tmp_path / "a.so", "--convention", "direct") == ""
        # Taken for memrefs, the arguments of an object would be a crash at the first call.
        words = fails("wrap", scale, *given[4:], "-o", tmp_path / "b.so")
        assert words == (
            "error: nothing says which arguments `scale` takes, and a call that does not fit "
            "crashes: give --prototype 'int scale(…)', with void for int if it returns nothing, or "
            "--convention direct if they are those of the signature, as plain C\n"
        )
        assert not (tmp_path / "b.so").exists()
        both = ("--prototype", "int scale()", "--convention", "direct")
        words = fails("wrap", scale, *given[4:], *both, "-o", tmp_path / "b.so")
        assert words.startswith(
            "error: --prototype and --error go without --convention, which says itself how to call"
        )

    def test_what_is_not_there_to_link(self, kernel: Path, tmp_path: Path):
        kernel.write_text("llvm.func @add_one(!llvm.ptr, !llvm.ptr)")
        given = ("--signature", SIGNATURE, "--device", "cpu", "--convention", "direct")
        words = fails("wrap", kernel, *given, "-o", tmp_path / "a.so")
        assert "add_one" in words
        assert "--link" in words
        assert "link=" not in words

    @pytest.mark.parametrize(
        ("file", "options", "words"),
        [
            ("none.mlir", ("-o", "a.so"), "none.mlir: No such file or directory\n"),
            ("kernel.mlir", ("-o", "a.dll"), "expected one of .so, .o, .ll, .mlir, .s"),
            ("kernel.mlir", ("-o", "a.ll", "--header", "a.h"), "error: --header goes with an output .so or .o\n"),
            ("broken.mlir", ("-o", "a.so"), "error: "),
        ],
    )  # fmt: skip
    def test_files_that_do_not_fit(
        self, file: str, options: tuple[str, ...], words: str, kernel: Path
    ):
        kernel.with_name("broken.mlir").write_text("func.func @f(")
        given = ("--signature", SIGNATURE, "--device", "cpu")
        assert words in fails("wrap", kernel.with_name(file), *given, *options)


class TestExplain:
    def test_the_plan(self):
        shown = succeeds("explain", "--device", "cpu", "--signature", SIGNATURE)
        assert shown.startswith("add_one(x: Tensor([n], float32), y: Tensor([n], float32))\n")
        assert "{n} (n = x.shape[0])" in shown

    @pytest.mark.parametrize(
        ("signature", "options", "shown"),
        [
            ("f(n: int32)", ("--stage", "mlir"), "llvm.func @__tvm_ffi_f"),
            ("f(n: int32)", ("--stage", "llvm"), r"define .*i32 @__tvm_ffi_f\("),
            ("f(n: int32)", ("--stage", "asm"), "__tvm_ffi_f:"),
            ("f(n: int32) -> t: int32", ("--stage", "mlir"), r"llvm.call @f\("),
            ("f(n: int32, m: int32)", ("--stage", "mlir", "--args", "m, n - 1"), r"llvm.call @f\(.*\) : \(i32, i64\) -> ()"),
        ],
    )  # fmt: skip
    def test_stages(self, signature: str, options: tuple[str, ...], shown: str):
        given = ("--signature", signature, "--convention", "direct")
        assert re.search(shown, succeeds("explain", *given, *options))

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


def test_doctor_without_extras(tmp_path: Path):
    """As where neither the extra prototype nor the extra jit is installed."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.metadata\n"
        "def none(name, found=importlib.metadata.distribution):\n"
        "    if 'clang' in name: raise importlib.metadata.PackageNotFoundError(name)\n"
        "    return found(name)\n"
        "importlib.metadata.distribution = none\n"
    )
    (tmp_path / "llvmlite").mkdir()
    (tmp_path / "llvmlite" / "__init__.py").write_text("raise ImportError('gone')")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    done = started("doctor", env=environment)
    assert done.returncode == 1
    words = "prototype= needs libclang: install it, as the extra ffi_builder[prototype] does"
    assert re.search(rf"^--  prototypes in C +{re.escape(words)}", done.stdout, re.MULTILINE)
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
