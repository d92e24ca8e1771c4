"""Hits of the compile cache, and the modules that they give."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen.emit import Steps
from ffi_builder.runtime.compiler import compile as compiler
from ffi_builder.runtime.sources.modules import Source
from tests.runtime.samples import (
    ADD_ONE,
    TORCH_IR,
    llvm_entry,
    mlir_entry,
    parse,
    parse_with_jaxlib,
    run_child,
)
from tests.support.threads import together


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.delenv("FFI_BUILDER_CACHE_DIR", raising=False)
    monkeypatch.delenv("FFI_BUILDER_CACHE_SIZE", raising=False)


class Builder:
    """A `build` that counts its calls."""

    def __init__(self, module: object) -> None:
        self.module = module
        self.calls = 0

    def __call__(self) -> object:
        self.calls += 1
        return self.module


def forbidden(*_: object) -> Any:
    raise AssertionError("something was built on a hit")


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.ffib"))


# ---- compile_cached


@pytest.mark.parametrize("module", [ADD_ONE, llvm_entry("add_one")], ids=["mlir", "llvm"])
def test_a_hit_builds_nothing(tmp_path: Path, module: str) -> None:
    build = Builder(module)
    for _ in range(3):
        compiled = runtime.compile_cached("k", build, cache_dir=tmp_path)
        assert compiled.functions == ("add_one",)
        assert compiled["add_one"](41) == 42
    assert build.calls == 1
    assert len(entries(tmp_path)) == 1


@pytest.mark.slow
def test_a_hit_imports_neither_mlir_nor_llvm(tmp_path: Path) -> None:
    code = f"""
        import sys
        from ffi_builder import runtime
        def build():
            from tests.runtime.samples import ADD_ONE
            return ADD_ONE
        compiled = runtime.compile_cached(("k", 1), build, cache_dir={str(tmp_path)!r})
        assert compiled["add_one"](41) == 42 and compiled.address("add_one")
        heavy = {{"torch_mlir", "jaxlib", "llvmlite"}}
        print(sorted(heavy & {{name.partition(".")[0] for name in sys.modules}}))
        print("llvm.func @__tvm_ffi_add_one" in compiled.mlir, "add i64" in compiled.llvm_ir)
        """
    loaded = [run_child(code), run_child(code)]
    assert [done.stderr for done in loaded] == ["", ""]
    assert loaded[0].stdout.splitlines() == ["['llvmlite', 'torch_mlir']", "True True"]
    assert loaded[1].stdout.splitlines() == ["[]", "True True"]


def texts(compiled: runtime.CompiledModule) -> tuple[str | None, ...]:
    return compiled.mlir, compiled.llvm_ir, compiled.assembly


def wrapper() -> Any:
    """A module with a wrapper, and so with helpers."""
    from ffi_builder import attach_ffi_func, providers, spec

    module = parse("module {}")
    n = spec.Var("n", "int32")
    tensor = spec.Tensor("x", [n], "float32", device_type="cpu")
    attach_ffi_func(module, "f", [tensor, n], providers.NopCallProvider())
    return module


@pytest.mark.parametrize(
    "make",
    [lambda: ADD_ONE, lambda: llvm_entry("f"), wrapper, lambda: runtime.compile(ADD_ONE).object],
    ids=["mlir", "llvm", "wrapper", "object"],
)
def test_a_hit_shows_and_exports_what_a_miss_does(
    tmp_path: Path, make: Callable[[], object]
) -> None:
    first = runtime.compile_cached("k", make, cache_dir=tmp_path)
    second = runtime.compile_cached("k", forbidden, cache_dir=tmp_path)
    assert second.functions == first.functions
    assert texts(second) == texts(first)
    assert second.object == first.object
    for compiled, name in ((first, "first.o"), (second, "second.o")):
        compiled.export_object(tmp_path / name)
    assert (tmp_path / "second.o").read_bytes() == (tmp_path / "first.o").read_bytes()
    gc.collect()


def test_a_module_of_jaxlib_is_shown_after_a_hit(tmp_path: Path) -> None:
    first = runtime.compile_cached("k", lambda: parse_with_jaxlib(ADD_ONE), cache_dir=tmp_path)
    second = runtime.compile_cached("k", forbidden, cache_dir=tmp_path)
    assert second["add_one"](41) == 42
    assert texts(second)[1:] == texts(first)[1:]
    assert "llvm.func @__tvm_ffi_add_one" in (second.mlir or "")


def test_pipeline_and_hooks_run_on_a_miss_only(tmp_path: Path) -> None:
    seen: list[object] = []
    text = mlir_entry("f", "%c = arith.constant 7 : i64\n%x = llvm.add %v, %c : i64")
    for _ in range(2):
        compiled = runtime.compile_cached(
            "k",
            lambda: text,
            pipeline="builtin.module(convert-arith-to-llvm)",
            post_compile_hooks=[lambda module: seen.append(str(module.operation.name))],
            cache_dir=tmp_path,
        )
        assert compiled["f"](1) == 8
    assert seen == ["builtin.module"]


def test_a_build_that_is_no_function(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="Expected a function that makes a module as build"):
        runtime.compile_cached("k", ADD_ONE, cache_dir=tmp_path)  # pyright: ignore


def test_options_are_part_of_the_key(tmp_path: Path) -> None:
    build = Builder(mlir_entry("f"))
    part, changed = llvm_entry("g"), llvm_entry("g", "%x = add i64 %v, 2")
    path = tmp_path / "part.ll"
    cache = tmp_path / "cache"

    def compiled(**options: Any) -> runtime.CompiledModule:
        return runtime.compile_cached("k", build, cache_dir=cache, **options)

    options: list[dict[str, Any]] = [
        {},
        {"opt_level": 1},
        {"pipeline": "builtin.module(canonicalize)"},
        {"pipeline": "builtin.module(cse)"},
        {"link": [part]},
        {"link": [changed]},
        {"link": [part, llvm_entry("h")]},
        {"link": [llvm_entry("h"), part]},
        {"link": [runtime.compile(part).object]},
    ]
    for _ in range(2):
        for some in options:
            assert compiled(**some)["f"](1) == 2
    assert build.calls == len(options)

    for text, result in ((part, 2), (changed, 3)):
        path.write_text(text)
        assert compiled(link=[path])["g"](1) == result
    assert build.calls == len(options)  # the same content was linked as text


def test_objects_of_link_are_not_stored_again(tmp_path: Path) -> None:
    data = runtime.compile(llvm_entry("g")).object
    large = data + bytes(1 << 20)  # what is behind the sections is nobody's
    for _ in range(2):
        compiled = runtime.compile_cached(
            "k",
            lambda: llvm_entry("f"),
            link=[llvm_entry("a"), large, llvm_entry("b")],
            cache_dir=tmp_path,
        )
        assert compiled.functions == ("f", "a", "g", "b")
        assert [compiled[name](1) for name in compiled.functions] == [2] * 4
    assert sum(path.stat().st_size for path in entries(tmp_path)) < 1 << 17


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: 1 // 0, ZeroDivisionError),
        (lambda: "define void @f( {", CompileError),
        (lambda: "module { llvm.func @f( }", CompileError),
        (lambda: "declare void @nowhere()\ndefine void @f() { call void @nowhere() ret void }", CompileError),
        (lambda: 7, TypeError),
    ],
)  # fmt: skip
def test_errors_are_those_of_build_and_compile_and_nothing_is_stored(
    tmp_path: Path, build: Callable[[], object], error: type[Exception]
) -> None:
    for _ in range(2):
        with pytest.raises(error):
            runtime.compile_cached("k", build, cache_dir=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_it_builds_each_time() -> None:
    build = Builder(llvm_entry("f"))
    for _ in range(2):
        assert runtime.compile_cached("k", build)["f"](1) == 2
    assert build.calls == 2


@pytest.mark.parametrize("empty", ["", None])
def test_the_environment_names_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty: str | None
) -> None:
    monkeypatch.setenv("FFI_BUILDER_CACHE_DIR", str(tmp_path / "a" / "b"))
    runtime.compile(llvm_entry("f"))
    runtime.compile_cached("k", lambda: llvm_entry("f"))
    assert len(entries(tmp_path / "a" / "b")) == 2
    runtime.compile(llvm_entry("f"), cache_dir=tmp_path / "c")
    assert len(entries(tmp_path / "c")) == 1
    if empty is not None:
        monkeypatch.setenv("FFI_BUILDER_CACHE_DIR", empty)
        runtime.compile(llvm_entry("g"))
        assert len(entries(tmp_path / "a" / "b")) == 2


@pytest.mark.parametrize("folder", [1, b"x", ["x"]])
def test_what_is_no_path(folder: Any) -> None:
    with pytest.raises(TypeError, match="path of a folder in cache_dir="):
        runtime.compile(llvm_entry("f"), cache_dir=folder)


def test_an_empty_path() -> None:
    with pytest.raises(ValueError, match="path of a folder in cache_dir="):
        runtime.compile(llvm_entry("f"), cache_dir="")


# ---- compile


def hit(monkeypatch: pytest.MonkeyPatch, module: object, folder: Path, **options: Any) -> bool:
    """Tell whether compiling takes its objects from the cache."""
    compiled: list[Source] = []
    objects = compiler.objects

    def counted(source: Source, level: int, ir: Any = None) -> Steps[list[bytes]]:
        compiled.append(source)
        return objects(source, level, ir)

    with monkeypatch.context() as patch:
        patch.setattr(compiler, "objects", counted)
        runtime.compile(module, cache_dir=folder, **options)
    return not compiled


def test_compile_finds_what_it_has_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (ADD_ONE, parse(ADD_ONE), llvm_entry("f"), wrapper()):
        assert not hit(monkeypatch, module, tmp_path / str(id(module)))
        assert hit(monkeypatch, module, tmp_path / str(id(module)))


def test_compile_finds_the_same_module_of_another_context(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not hit(monkeypatch, wrapper(), tmp_path)
    assert hit(monkeypatch, wrapper(), tmp_path)


def test_compile_looks_at_what_the_hooks_have_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hook(text: str) -> Callable[[Any], None]:
        def append(module: Any) -> None:
            other = TORCH_IR.Module.parse(text, module.context)
            module.body.append(other.body.operations[0].operation.clone())

        return append

    one, two = hook(mlir_entry("f")), hook(mlir_entry("g"))
    assert not hit(monkeypatch, "module {}", tmp_path, post_compile_hooks=[one])
    assert hit(monkeypatch, "module {}", tmp_path, post_compile_hooks=[one])
    assert not hit(monkeypatch, "module {}", tmp_path, post_compile_hooks=[two])
    assert runtime.compile("module {}", post_compile_hooks=[two], cache_dir=tmp_path)["g"](1) == 2


def spoil(module: Any) -> None:
    """Takes away what bytecode cannot be written without."""
    del module.body.operations[0].attributes["function_type"]


def test_a_module_that_is_not_valid_is_still_an_error(tmp_path: Path) -> None:
    for compile_it in (
        lambda: runtime.compile(ADD_ONE, post_compile_hooks=[spoil], cache_dir=tmp_path),
        lambda: runtime.compile_cached(
            "k", lambda: ADD_ONE, post_compile_hooks=[spoil], cache_dir=tmp_path
        ),
    ):
        with pytest.raises(CompileError, match="requires attribute 'function_type'"):
            compile_it()
    assert list(tmp_path.iterdir()) == []


def test_compile_misses_on_every_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not hit(monkeypatch, ADD_ONE, tmp_path)
    assert not hit(monkeypatch, ADD_ONE, tmp_path, opt_level=3)
    assert not hit(monkeypatch, ADD_ONE, tmp_path, link=[llvm_entry("f")])
    assert not hit(monkeypatch, ADD_ONE, tmp_path, link=[llvm_entry("g")])
    assert not hit(monkeypatch, mlir_entry("add_one", "%x = llvm.sub %v, %one : i64"), tmp_path)
    # a pipeline that changes nothing makes nothing else of the module
    assert hit(monkeypatch, ADD_ONE, tmp_path, pipeline="builtin.module()")


def test_compile_stores_no_object_that_it_was_given(tmp_path: Path) -> None:
    data = runtime.compile(llvm_entry("f")).object
    assert runtime.compile(data, cache_dir=tmp_path)["f"](1) == 2
    assert list(tmp_path.iterdir()) == []


# ---- several at once


def test_threads_share_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "new"

    def work(seed: int) -> None:
        for step in range(6):
            number = (seed + step) % 3
            text = llvm_entry("f", f"%x = add i64 %v, {number}")
            key = ("k", number)
            compiled = runtime.compile_cached(key, lambda text=text: text, cache_dir=folder)
            assert compiled["f"](1) == number + 1
            assert runtime.compile(text, cache_dir=folder)["f"](1) == number + 1

    together(work, 8)
    assert [path.suffix for path in folder.iterdir()] == [".ffib"] * 6


def test_an_entry_is_touched_at_most_once_an_hour(tmp_path: Path) -> None:
    build = Builder(llvm_entry("f"))
    runtime.compile_cached("k", build, cache_dir=tmp_path)
    (entry,) = entries(tmp_path)
    for age, touched in ((600, False), (7200, True)):
        then = time.time() - age
        os.utime(entry, (then, then))
        runtime.compile_cached("k", build, cache_dir=tmp_path)
        assert (time.time() - entry.stat().st_mtime < 60) == touched
    assert build.calls == 1
