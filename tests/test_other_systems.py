"""Parts that work on macOS and Windows, and errors of those that do not (docs/systems.md).

There are no such machines here. A process of this one has everything taken away that they lack.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support import other_systems

ROOT = Path(__file__).parents[1]
LOADED = "ctypes, inspect, pathlib, random, subprocess, tempfile, typing_extensions"
"""Modules that the other system has as well, in other files."""

on_each = pytest.mark.parametrize("system", ["darwin", "win32"])


def run_on(system: str, code: str, *, loaded: str = "") -> subprocess.CompletedProcess[str]:
    """Run code in a process that looks like another system."""
    before = f"import {', '.join(filter(None, [LOADED, loaded]))}\n"
    before += f"from tests.support import other_systems\nother_systems.pretend({system!r})\n"
    return subprocess.run(
        [sys.executable, "-c", before + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        check=False,
    )


def prints(system: str, code: str, *, loaded: str = "") -> list[str]:
    """The lines that code prints on another system; it must succeed, and load no runtime."""
    end = "\nassert not [n for n in sys.modules if n.startswith('ffi_builder.runtime')]"
    done = run_on(system, "import sys\n" + textwrap.dedent(code) + end, loaded=loaded)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_what_is_taken_away_is_here() -> None:
    """A name that Linux does not have either would take nothing away."""
    for names in (other_systems.LINUX_ONLY, other_systems.POSIX_ONLY):
        for module, listed in names.items():
            missing = [name for name in listed if not hasattr(module, name)]
            # Python has some of these since 3.12, and may have been built without others.
            assert set(missing) <= {"setns", "unshare", "eventfd", "pidfd_open", "SIGSTKFLT"}


@on_each
def test_signatures_and_plans(system: str) -> None:
    lines = prints(
        system,
        """
        from ffi_builder import explain, spec
        from ffi_builder.plan import make_plan
        with spec.DefaultConfig(device_type="cpu"):
            signature = spec.Signature.parse("f(x: Tensor([n, 4], float32), a: int32) where n % 2 == 0")
        assert spec.Signature.parse(str(signature)) == signature
        assert make_plan(signature).steps
        print(explain(signature))
        """,
    )
    assert lines[0] == "f(x: Tensor([n, 4], float32), a: int32)"
    assert any("a multiple of 2" in line for line in lines)
    assert len(lines) > 10


def test_checking_arguments() -> None:
    """On Windows there is no library."""
    lines = prints(
        "darwin",
        """
        from ffi_builder import spec, testing
        signature = spec.Signature.parse(
            "f(x: Tensor([n, 4], float32, device_type=cpu), a: Literal[0.25], s: String) where n % 2 == 0"
        )
        x = numpy.zeros((2, 4), "float32")
        print(testing.check(signature, x, 0.25, "text"))
        for args in [(x, 0.75, ""), (x[:1], 0.25, ""), (x, 0.25, 3), (x[:, :2], 0.25, "")]:
            try:
                testing.check(signature, *args)
            except (TypeError, ValueError) as error:
                print(type(error).__name__, str(error).partition("`, ")[2])
        assert testing.check(signature, *testing.make_args(signature))
        """,
        loaded="numpy, tvm_ffi",
    )
    assert lines == [
        "{'n': 2}",
        "ValueError expected 0.25 but got 0.75",
        "ValueError expected a multiple of 2 (divisibility of n) but got 1",
        "TypeError expected str but got int",
        "ValueError expected 4 but got 2",
    ]


@pytest.mark.slow
@on_each
def test_wrappers_are_built_where_there_are_bindings(system: str) -> None:
    lines = prints(
        system,
        """
        from ffi_builder import spec, testing
        print(testing.emit(spec.Signature.parse("f(n: int32)")))
        """,
        loaded="torch_mlir.ir, torch_mlir.dialects.llvm",
    )
    assert any("llvm.func @__tvm_ffi_f" in line for line in lines)


@on_each
@pytest.mark.parametrize("module", ["ffi_builder.runtime", "ffi_builder.runtime.compiler.cache"])
def test_the_runtime_says_that_it_needs_linux(system: str, module: str) -> None:
    done = run_on(system, f"import {module}")
    last = done.stderr.splitlines()[-1]
    assert last.startswith(
        f"ImportError: ffi_builder.runtime needs Linux, and this is {system}: it compiles to ELF"
    )
    assert "ffi_builder.spec, plan and explain work on every system" in last


@on_each
def test_what_compiles_says_it_too(system: str) -> None:
    done = run_on(
        system,
        """
        import ffi_builder
        for use in (lambda: ffi_builder.runtime, lambda: ffi_builder.cuda.lower_to_ptx):
            try:
                use()
            except ImportError as error:
                print(str(error).partition(",")[0])
        """,
    )
    assert done.stdout.splitlines() == ["ffi_builder.runtime needs Linux"] * 2, done.stderr


@on_each
def test_the_command_line(system: str) -> None:
    done = run_on(
        system,
        """
        from ffi_builder.cli.main import main
        print(main(["explain", "--signature", "f(n: int32)"]))
        print(main(["inspect", "kernels.so"]))
        """,
        loaded="argparse, shutil, shlex, importlib.metadata",
    )
    assert done.stdout.splitlines()[0] == "f(n: int32)", done.stderr
    assert [line for line in done.stdout.splitlines() if line in "01"] == ["0", "1"]
    assert done.stderr.startswith("error: ffi_builder.runtime needs Linux, and this is")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_doctor() -> None:
    done = run_on(
        "darwin",
        "from ffi_builder.cli.main import main; sys.exit(main(['doctor']))",
        loaded="sys, tvm_ffi",
    )
    lines = [line[:26].strip() for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (1, "")
    assert "no  system" in lines
    assert "ok  apache-tvm-ffi" in lines
    assert "no  compiling and calling" not in lines
    assert "ffi_builder.runtime needs Linux" in done.stdout
