"""Providers around others: code before and after the call, and what is set up once."""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from typing import Any, Final

import pytest

from ffi_builder import attach_ffi_func, runtime
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    ModuleContext,
    NopCallProvider,
)
from ffi_builder.spec import Tensor, Var, dims
from tests.support.native import loaded
from tests.support.printed import check_comments, printed_wrapper, symbol_names
from tests.support.wrapping import attached, new_module, wrap

(n,) = dims("n")
X: Final = Tensor("x", [n], "float32", device_type="cpu")
CODE: Final = Var("code", "int32")
KERNEL: Final = DirectCallProvider("ffib_compose_kernel")

C_SOURCE: Final = """
#include <stdint.h>
#include <time.h>
int64_t ffib_compose_log, ffib_compose_inits, ffib_compose_failures, ffib_compose_null;
void ffib_compose_enter(void) { ffib_compose_log = ffib_compose_log * 10 + 1; }
void ffib_compose_leave(void) { ffib_compose_log = ffib_compose_log * 10 + 3; }
int32_t ffib_compose_kernel(int32_t code) {
  ffib_compose_log = ffib_compose_log * 10 + 2;
  return code;
}
int32_t ffib_compose_open(void **handle) {
  struct timespec wait = {0, 20000000};
  nanosleep(&wait, 0);
  ffib_compose_inits++;
  if (ffib_compose_failures > 0) { ffib_compose_failures--; return 5; }
  *handle = ffib_compose_null ? 0 : (void *)0x1234;
  return 0;
}
int32_t ffib_compose_use(void *handle) { return handle == (void *)0x1234 ? 0 : 1; }
"""


@cache
def library() -> ctypes.CDLL:
    return loaded(C_SOURCE)


def number(name: str) -> ctypes.c_int64:
    return ctypes.c_int64.in_dll(library(), f"ffib_compose_{name}")


# ---- before and after


class Around:
    """Calls one function before, and another behind, what the provider within calls."""

    def __init__(self, provider: CallProvider) -> None:
        self.provider = provider

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b = context.builder
        for name in ("ffib_compose_enter", "ffib_compose_leave"):
            context.symbols.declare(name, b.types.void, [])
        b.call("ffib_compose_enter", [], b.types.void)
        b.block = self.provider(b.block, context)
        b.call("ffib_compose_leave", [], b.types.void)
        return b.block


def test_before_and_after() -> None:
    library()
    function, log = wrap([CODE], Around(KERNEL)), number("log")
    log.value = 0
    function(3)
    assert log.value == 123
    function = wrap([CODE], Around(Around(KERNEL)))
    log.value = 0
    function(3)
    assert log.value == 11233


@pytest.mark.parametrize(
    ("provider", "expected"),
    # The check is behind all that it is around.
    [(CheckStatus(Around(KERNEL)), 123), (Around(CheckStatus(KERNEL)), 12)],
)
def test_where_the_status_is_checked(provider: CallProvider, expected: int) -> None:
    library()
    function = wrap([CODE], provider)
    log = number("log")
    log.value = 0
    with pytest.raises(RuntimeError, match="failed with status 4"):
        function(4)
    assert log.value == expected
    log.value = 0
    function(0)
    assert log.value == 123


def test_only_under_a_condition() -> None:
    def provider(current_block: Block, context: CallContext) -> Block:
        b = context.builder
        with b.when(b.sgt(context.value(CODE), b.i32(0))):
            DirectCallProvider("ffib_compose_kernel")(b.block, context)
        return b.block

    library()
    function, log = wrap([CODE], provider), number("log")
    for code, expected in ((1, 2), (0, 0)):
        log.value = 0
        function(code)
        assert log.value == expected


def test_the_printed_function() -> None:
    provider = CheckStatus(Around(DirectCallProvider("kernel")), error="ValueError")
    check_comments(printed_wrapper(attached([CODE], provider)))
    # CHECK: llvm.call @ffib_compose_enter() : () -> ()
    # CHECK-NEXT: [[STATUS:%[0-9]+]] = llvm.call @kernel(%{{.*}}) : (i32) -> i32
    # CHECK-NEXT: llvm.call @ffib_compose_leave() : () -> ()
    # CHECK-NEXT: [[ZERO:%[0-9]+]] = llvm.mlir.zero : i32
    # CHECK-NEXT: [[FINE:%[0-9]+]] = llvm.icmp "eq" [[STATUS]], [[ZERO]] : i32
    # CHECK-NEXT: llvm.cond_br [[FINE]],


# ---- once


class Opened:
    """Passes a handle in front, which the first call of any wrapper of the module opens."""

    callee = "ffib_compose_use"

    def prepare(self, context: ModuleContext) -> None:
        t, symbols = context.symbols.types, context.symbols
        if "compose_handle" in symbols:
            return
        symbols.variable("compose_handle", bytes(8), align=8)
        symbols.declare("ffib_compose_open", t.i32, [t.ptr])
        init = context.define("compose_init", t.i32, [t.ptr])
        (out,) = init.entry.arguments
        init.ret(init.call_value("ffib_compose_open", [out], t.i32))

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b, t, symbols = context.builder, context.builder.types, context.symbols
        symbols.declare("TVMFFIHandleInitOnce", t.i32, [t.ptr, t.ptr])
        symbols.declare(self.callee, t.i32, [t.ptr])
        slot = b.address_of("compose_handle")
        init = b.address_of("compose_init")
        opened = b.call_value("TVMFFIHandleInitOnce", [slot, init], t.i32)
        b.check(b.eq(opened, b.i32(0)), "RuntimeError", "cannot open: {}", opened)
        context.returned = b.call_value(self.callee, [b.load(t.ptr, slot)], t.i32)
        return b.block


def opened(*names: str) -> runtime.CompiledModule:
    library()
    module = new_module()
    for name in names:
        attach_ffi_func(module, name, [CODE], CheckStatus(Opened()))
    assert symbol_names(module).count("compose_init") == 1
    assert symbol_names(module).count("compose_handle") == 1
    for name in ("inits", "failures", "null"):
        number(name).value = 0
    return runtime.compile(module)


def test_wrappers_of_a_module_share_what_is_set_up() -> None:
    compiled = opened("f", "g", "h")
    for name in "gfhg":
        compiled[name](1)
    assert number("inits").value == 1
    opened("f")["f"](1)  # another module has a handle of its own
    assert number("inits").value == 1


def test_threads_wait_for_the_first() -> None:
    compiled = opened("f", "g")
    functions = [compiled[name] for name in "fgfgfgfg"]
    gate = threading.Barrier(len(functions))
    errors: list[Exception] = []

    def call(function: Any) -> None:
        gate.wait()
        try:
            function(1)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=[function]) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert number("inits").value == 1


def test_after_a_failure_it_is_tried_again() -> None:
    function = opened("f")["f"]
    number("failures").value = 2
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"cannot open: 5 when calling: `f\("):
            function(1)
    function(1)
    function(1)
    assert number("inits").value == 3


def test_a_handle_that_is_null_is_a_failure() -> None:
    function = opened("f")["f"]
    number("null").value = 1
    with pytest.raises(RuntimeError, match="cannot open: -1"):
        function(1)
    number("null").value = 0
    function(1)


def test_what_is_defined_twice() -> None:
    class Twice(NopCallProvider):
        def prepare(self, context: ModuleContext) -> None:
            t = context.symbols.types
            context.define("init", t.void, []).ret()

    module = new_module()
    attach_ffi_func(module, "f", [CODE], Twice())
    before = str(module)
    assert "llvm.func internal @init() {" in before
    with pytest.raises(BuildError, match="the module has a symbol @init already"):
        attach_ffi_func(module, "g", [CODE], Twice())
    assert str(module) == before


def test_a_function_that_is_not_ended() -> None:
    class Open(NopCallProvider):
        def prepare(self, context: ModuleContext) -> None:
            t = context.symbols.types
            context.define("init", t.i32, []).i32(1)

    module = new_module()
    before = str(module)
    with pytest.raises(BuildError, match="the wrapper does not verify"):
        attach_ffi_func(module, "f", [CODE], Open())
    assert str(module) == before
