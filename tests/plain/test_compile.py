"""Compiling plain modules: calls, caches, exports; and no MLIR."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import CompileError, LinkError, attach, ir, providers, runtime, spec
from ffi_builder.ir import PlainModule
from ffi_builder.runtime.sources import wrappers

KERNEL = """
define i64 @twice(i64 %x) {
  %y = shl i64 %x, 1
  ret i64 %y
}
"""


_kept = wrappers._kept  # pyright: ignore[reportPrivateUsage]


def twice(name: str = "f", *, most: int | None = None) -> PlainModule:
    module = PlainModule()
    module.declare("twice", "i64", ["i64"])
    signature = spec.Signature(name, [spec.Var("x", "int64", max=most)], spec.Var("y", "int64"))
    attach(module, signature, providers.DirectCallProvider("twice"))
    return module


def test_a_kernel_in_llvm_ir_or_an_object():
    kernel = runtime.lower(KERNEL).object
    for linked in (KERNEL, kernel):
        compiled = runtime.compile(twice(), link=[linked])
        assert compiled.functions == ("f",)
        assert compiled["f"](21) == 42
        with pytest.raises(TypeError, match=r"Mismatched type of x on argument #0 .* expected int"):
            compiled["f"]("x")
    assert compiled.mlir is None
    assert "call i64 @twice(i64" in (compiled.llvm_ir or "")
    assert "__tvm_ffi_f:" in (compiled.assembly or "")


def test_a_missing_kernel():
    with pytest.raises(LinkError, match=r"\(`twice` is what the call provider of `f` calls\)$"):
        runtime.compile(twice())
    module = PlainModule()
    attach(module, spec.Signature("f", []), providers.PackedCallProvider("g"))
    with pytest.raises(
        LinkError, match=r"\(`__tvm_ffi_g` is what the call provider of `f` calls\)$"
    ):
        runtime.compile(module)


def test_a_function_that_another_jit_has_compiled():
    module = twice()
    compiled = runtime.compile(module, link=[KERNEL])
    described = runtime.function_at(compiled.address("f"), owner=compiled, module=module)
    assert described(4) == 8


def test_hooks_get_a_clone():
    module = twice()
    before = module.llvm_ir()
    add = spec.Signature.parse("g(x: int64) -> y: int64")

    def hook(lowered: Any) -> None:
        attach(lowered, add, providers.DirectCallProvider("twice"))

    compiled = runtime.compile(module, post_compile_hooks=[hook], link=[KERNEL])
    assert compiled["f"](1) == compiled["g"](1) == 2
    assert module.llvm_ir() == before
    with pytest.raises(CompileError, match="A hook attached `g` to the module that was given"):
        runtime.compile(module, post_compile_hooks=[lambda _: hook(module)], link=[KERNEL])


class TestEqualWrappers:
    """Wrappers of one structure are compiled once, under any name."""

    def test_one_in_a_module(self):
        _kept.clear()
        for name in ("a", "b", "c"):
            assert runtime.compile(twice(name), link=[KERNEL])[name](4) == 8
            assert len(_kept) == 1
        with pytest.raises(TypeError, match=r"when calling: `c\(x: int64\)`"):
            runtime.compile(twice("c"), link=[KERNEL])["c"]("x")

    def test_several_in_a_module(self):
        _kept.clear()
        module = twice("a")
        for name in "bcd":
            signature = spec.Signature.parse(f"{name}(x: int64) -> y: int64")
            attach(module, signature, providers.DirectCallProvider("twice"))
        compiled = runtime.compile(module, link=[KERNEL])
        assert [compiled[name](3) for name in "abcd"] == [6] * 4
        assert len(_kept) == 1
        for name in "abcd":
            with pytest.raises(TypeError, match=rf"when calling: `{name}\("):
                compiled[name]("x")

    def test_others_are_not_mixed_up(self):
        for most in (9, 8, 9, 8):
            function = runtime.compile(twice(most=most), link=[KERNEL])["f"]
            assert function(most) == 2 * most
            with pytest.raises(ValueError, match=f"expected at most {most}|<= {most}"):
                function(most + 1)

    def test_one_with_variables_is_compiled_whole(self):
        """Its functions that look something up keep it, and are destroyed with the module."""
        from ffi_builder import packed

        for name in ("a", "b", "c"):
            module = PlainModule()
            signature = spec.Signature.parse(f"{name}(x: int64)")
            callee = packed.GlobalFunction("testing.plain.none")
            attach(module, signature, providers.PackedCallProvider(callee))
            with pytest.raises(RuntimeError, match=r"testing\.plain\.none"):
                runtime.compile(module)[name](1)


def test_the_text_is_the_same_however_often_it_is_attached():
    assert len({twice("again").llvm_ir() for _ in range(4)}) == 1


def test_caches(tmp_path: Path):
    for _ in range(2):
        compiled = runtime.compile(twice(), link=[KERNEL], cache_dir=tmp_path)
        assert compiled["f"](3) == 6
    built: list[int] = []

    def build() -> PlainModule:
        built.append(1)
        return twice()

    for _ in range(2):
        compiled = runtime.compile_cached("twice", build, link=[KERNEL], cache_dir=tmp_path)
        assert compiled["f"](3) == 6
        assert "@twice" in (compiled.llvm_ir or "")
    assert built == [1]


def test_exports(tmp_path: Path):
    lowered = runtime.lower(twice(), link=[KERNEL])
    header, stub = tmp_path / "f.h", tmp_path / "f.pyi"
    lowered.export_library(tmp_path / "f.so", header=header, stub=stub)
    assert runtime.load(tmp_path / "f.so")["f"](5) == 10
    assert "f" in header.read_text()
    assert "def f(x: int) -> int" in stub.read_text()
    lowered.export_object(tmp_path / "f.o", triple="aarch64-linux-gnu")
    assert (tmp_path / "f.o").read_bytes()[18] == 183  # EM_AARCH64


def test_self_contained():
    nothing = spec.Signature("f", [spec.Var("x", "int64", doc="not optnone {\n\n@f")])
    for _ in range(3):
        module = PlainModule()
        attach(module, nothing, providers.NopCallProvider(), self_contained=True)
        function = runtime.compile(module)["f"]
        assert function(1) is None
        with pytest.raises(TypeError, match="expected int but got str"):
            function("x")


WITHOUT_MLIR = """
import sys

for name in ("torch_mlir", "jaxlib", "mlir", "iree", "flydsl", "cutlass"):
    sys.modules[name] = None
"""
KERNELS = {
    "LLVM IR": f"kernel = '''{KERNEL}'''",
    "an object": f"kernel = runtime.lower('''{KERNEL}''').object",
}


@pytest.mark.parametrize("kind", KERNELS)
def test_no_mlir_is_imported(kind: str):
    check(
        f"""
from ffi_builder import attach, ir, providers, runtime, spec

{KERNELS[kind]}
module = ir.PlainModule()
module.declare("twice", "i64", ["i64"])
signature = spec.Signature.parse("f(x: int64) -> y: int64")
attach(module, signature, providers.DirectCallProvider("twice"))
assert runtime.compile(module, link=[kernel])["f"](21) == 42
"""
    )


def test_no_mlir_is_imported_for_a_cubin():
    check(
        """
from ffi_builder import ir, attach, providers, runtime, spec
from tests.fakecuda import FakeDriver, library, make_cubin, missing
from tests.fakecuda.kernels import EMPTY

if missing():
    sys.exit(0)
driver = FakeDriver(library())
driver.reset()
module = ir.PlainModule()
launch = providers.CudaLaunchCallProvider(make_cubin([EMPTY]), EMPTY.name, grid=2, block=3)
attach(module, spec.Signature("f", [spec.Stream("stream")]), launch)
runtime.compile(module)["f"](0)
[launched] = driver.launches()
assert (launched.grid, launched.block) == ((2, 1, 1), (3, 1, 1))
"""
    )


def check(text: str) -> None:
    """Run text in a process that has no MLIR."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_MLIR + text],
        cwd=root,
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


PRINTED = "import sys, ffi_builder.ir; print('ffi_builder.plain' in sys.modules)"


def test_it_is_imported_when_it_is_used():
    """Whoever has MLIR modules does not load the classes of plain ones."""
    done = subprocess.run(
        [sys.executable, "-c", PRINTED],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
    assert ir.PlainModule is PlainModule
