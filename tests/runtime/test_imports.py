"""Modules that importing the runtime loads, and errors when a package is not installed."""

from __future__ import annotations

import pytest

from tests.runtime.samples import run_child


def test_importing_loads_no_compiler() -> None:
    done = run_child("""
        import sys
        import ffi_builder.runtime
        heavy = {"torch_mlir", "jaxlib", "llvmlite", "tvm_ffi", "tvm_ffi_orcjit", "numpy"}
        print(sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
        """)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize(
    ("missing", "extra"),
    [("llvmlite", "jit"), ("tvm_ffi_orcjit", "jit"), ("torch_mlir", "mlir")],
)
def test_a_missing_package_says_which_extra_to_install(missing: str, extra: str) -> None:
    done = run_child(f"""
        import sys
        sys.modules["{missing}"] = None
        from ffi_builder import runtime
        from ffi_builder.errors import CompileError
        text = "llvm.func @f() {{ llvm.return }}" if "{missing}" == "torch_mlir" else "define void @f() {{ ret void }}"
        try:
            runtime.compile(text)
        except CompileError as error:
            print(error)
        """)
    words = f"install it, as the extra ffi_builder[{extra}] does: pip install -e '.[{extra}]' in a clone"
    assert words in done.stdout, done
    assert done.stderr == ""


@pytest.mark.slow
def test_nothing_is_left_behind_by_a_child_process() -> None:
    done = run_child("""
        from ffi_builder import runtime
        from tests.runtime.samples import by_assembly, llvm_entry
        print(runtime.compile(llvm_entry("f", by_assembly(42)))["f"](0))
        """)
    assert (done.returncode, done.stdout, done.stderr) == (0, "42\n", "")


@pytest.mark.slow
def test_a_fork_does_not_share_the_child_process() -> None:
    done = run_child("""
        import os, warnings
        warnings.simplefilter("ignore")
        from ffi_builder import runtime
        from tests.runtime.samples import by_assembly, llvm_entry
        text = llvm_entry("f", by_assembly(42))
        assert runtime.compile(text)["f"](0) == 42
        pid = os.fork()
        if pid == 0:
            os._exit(runtime.compile(text)["f"](0))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        print(runtime.compile(text)["f"](0))
        """)
    assert (done.stdout.split(), done.stderr) == (["42", "42"], "")
