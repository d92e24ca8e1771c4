"""Functions that are looked up once, and kept until the code is unloaded."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any, Final

import pytest
import tvm_ffi

from ffi_builder import attach, call_packed, providers, runtime, spec
from ffi_builder.ir import Block
from ffi_builder.packed import GlobalFunction, ImportedFunction
from tests.packed.conftest import Called
from tests.packed.kernels import GLOBAL, compiled
from tests.support.threads import together
from tests.support.wrapping import new_module

OTHER: Final = "ffib.tests.kept"


def test_another_function_of_that_name_is_not_seen() -> None:
    seen: list[str] = []
    tvm_ffi.register_global_func(OTHER, lambda: seen.append("first"), override=True)
    kept = compiled("k()", [], GlobalFunction(OTHER))
    looked_up = compiled("k()", [], GlobalFunction(OTHER, keep=False))
    kept()
    looked_up()
    tvm_ffi.register_global_func(OTHER, lambda: seen.append("second"), override=True)
    kept()
    looked_up()
    tvm_ffi.registry.remove_global_func(OTHER)
    kept()
    assert seen == ["first", "first", "first", "second", "first"]


def test_it_is_released_when_the_code_is_unloaded() -> None:
    def registered() -> None: ...

    before = sys.getrefcount(registered)
    for callee in (GlobalFunction(OTHER), ImportedFunction(OTHER)):
        tvm_ffi.register_global_func(OTHER, registered, override=True)
        call = compiled("k()", [], callee)
        for _ in range(10):
            call()
        tvm_ffi.registry.remove_global_func(OTHER)
        gc.collect()
        assert sys.getrefcount(registered) == before + 1
        call()
        del call
        gc.collect()
        assert sys.getrefcount(registered) == before


def test_threads_that_look_it_up_at_once(called: Called) -> None:
    """One reference is kept, whoever comes first."""
    calls: list[int] = []
    registered_ones: list[weakref.ref[Callable[[int], None]]] = []
    for _ in range(20):

        def registered(number: int) -> None:
            calls.append(number)

        registered_ones.append(weakref.ref(registered))
        tvm_ffi.register_global_func(OTHER, registered, override=True)
        call = compiled("k(n: int64)", ["i64"], GlobalFunction(OTHER), lambda a: [a[0]])
        together(call)
        tvm_ffi.registry.remove_global_func(OTHER)
        assert sorted(calls) == list(range(len(calls)))
        calls.clear()
        del call, registered
    gc.collect()
    assert [each() for each in registered_ones] == [None] * 20


def test_a_failed_look_up_keeps_nothing() -> None:
    call = compiled("k()", [], GlobalFunction(OTHER))
    for _ in range(3):
        try:
            call()
        except RuntimeError:
            continue
        raise AssertionError
    seen: list[int] = []
    tvm_ffi.register_global_func(OTHER, lambda: seen.append(1))
    call()
    tvm_ffi.registry.remove_global_func(OTHER)
    call()
    assert seen == [1, 1]


def test_a_provider_that_keeps_its_function(called: Called) -> None:
    module = new_module()
    signature = spec.Signature.parse("f(n: int64) -> y: int64")
    attach(module, signature, providers.PackedCallProvider(GlobalFunction(GLOBAL)))
    function: Any = runtime.compile(module)["f"]
    called.answer = lambda args: args[0] + 1
    assert [function(n) for n in range(3)] == [1, 2, 3]
    tvm_ffi.register_global_func(GLOBAL, print, override=True)
    assert function(3) == 4


def test_a_wrapper_with_a_function_that_it_keeps_is_not_reused(called: Called) -> None:
    """A copy would have the variable, but not the destructor."""

    class Calls:
        calls = 0

        def cache_key(self, context: providers.ModuleContext) -> tuple[()]:
            return ()

        def __call__(self, current_block: Block, context: providers.CallContext) -> Block:
            Calls.calls += 1
            call_packed(context.builder, GlobalFunction(GLOBAL), ["reused"])
            return context.builder.block

    for _ in range(5):
        module = new_module()
        attach(module, spec.Signature("f", []), Calls())
        assert str(module).count("llvm.mlir.global_dtors") == 1
        runtime.compile(module)["f"]()
    assert Calls.calls == 5
    assert called.calls == [("reused",)] * 5


AT_EXIT: Final = """
import sys
import tvm_ffi
from ffi_builder import packed, runtime, attach, spec, providers
from torch_mlir import ir

def own():
    print("called", flush=True)

tvm_ffi.register_global_func("own", own)
module = ir.Module.parse("", ir.Context())
attach(module, spec.Signature("f", []), providers.PackedCallProvider(packed.GlobalFunction("own")))
compiled = runtime.compile(module)
if len(sys.argv) > 1:
    compiled.export_library(sys.argv[1])
    compiled = runtime.load(sys.argv[1])
compiled["f"]()
tvm_ffi.registry.remove_global_func("own")
del own
"""


def run_script(*args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT, *args], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
def test_a_process_that_ends_while_it_is_kept(tmp_path: Any) -> None:
    """Python is finalised by then, and its function is released last here."""
    assert run_script() == "called\n"
    assert run_script(str(tmp_path / "own.so")) == "called\n"
