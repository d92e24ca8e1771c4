"""Modules that nobody lowers to, some of which end the process that compiles them: never this one."""

from __future__ import annotations

import ast
import os

import pytest

from tests.runtime.samples import run_child
from tests.support.drawn import drawn

pytestmark = [pytest.mark.slow, pytest.mark.hypothesis]  # `make fuzz` draws all

MODULES = int(os.environ.get("FFI_BUILDER_UNUSUAL") or drawn(150))

RUN = """
import os
os.environ.setdefault("FFI_BUILDER_CHILD_SECONDS", "10")
from collections import Counter
from ffi_builder import runtime
from ffi_builder.errors import CompileError
from tests.runtime.test_unusual import NAMED
from tests.runtime.unusual import module
outcomes = Counter()
for text, level in {texts}:
    try:
        runtime.compile(text, opt_level=level)
        outcomes["compiled"] += 1
    except CompileError as error:
        outcomes["parse" if "does not parse" in str(error) else "refused"] += 1
print(dict(outcomes))
"""

# `what it is | lines of a function`; in some, `%r` is computed from `%a` of a type, which ends the row.
LINES = r"""
a tile | %r = llvm.add %a, %a : $ | vector<65536xi8>
an array | %r = llvm.freeze %a : $ | !llvm.array<100000 x i8>
an atomic vector | %r = llvm.atomicrmw fadd %p, %a seq_cst : !llvm.ptr, $ | vector<3xf32>
an atomic array | %r = llvm.atomicrmw max %p, %a seq_cst : !llvm.ptr, $ | !llvm.array<4 x f32>
zeros of bits | %r = "llvm.intr.ctlz"(%a) <{is_zero_poison = false}> : ($) -> $ | vector<4xi1>
a shift of a bit | %b = llvm.mlir.zero : $\n%r = llvm.shl %a, %b : $ | i1
an overflow | %s = "llvm.intr.smul.with.overflow"(%a, %a) : ($, $) -> !llvm.struct<($, vector<8xi1>)>\n%r = llvm.extractvalue %s[0] : !llvm.struct<($, vector<8xi1>)> | vector<8xi32>
a reduction | %a = llvm.load %p : !llvm.ptr -> vector<4xf128>\n%r = llvm.intr.vector.reduce.fmaximum(%a) : (vector<4xf128>) -> f128\nllvm.store %r, %p : f128, !llvm.ptr
a scalable alloca | %n = llvm.mlir.constant(1 : i64) : i64\n%s = llvm.alloca %n x vector<[4]xf32> : (i64) -> !llvm.ptr
an alloca that contains itself | %n = llvm.mlir.constant(1 : i64) : i64\n%s = llvm.alloca %n x !llvm.struct<"s", (i32, struct<"s">)> : (i64) -> !llvm.ptr
an alloca of -1 | %n = llvm.mlir.constant(-1 : i64) : i64\n%s = llvm.alloca %n x vector<1xi8> : (i64) -> !llvm.ptr\nllvm.store %s, %p : !llvm.ptr, !llvm.ptr
an address in what contains itself | %q = llvm.getelementptr %p[1, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<"s", (i32, struct<"s">)>
a cast to another number of lanes | %a = llvm.load %p : !llvm.ptr -> vector<5x!llvm.ptr>\n%r = llvm.addrspacecast %a : vector<5x!llvm.ptr> to !llvm.ptr<1>\nllvm.store %r, %p : !llvm.ptr<1>, !llvm.ptr
three bytes | %a = llvm.load %p : !llvm.ptr -> vector<3xi64>\n%r = llvm.trunc %a : vector<3xi64> to vector<3xi8>\nllvm.store %r, %p : vector<3xi8>, !llvm.ptr
a large bfloat | %a = llvm.load %p : !llvm.ptr -> i128\n%r = llvm.sitofp %a : i128 to bf16\nllvm.store %r, %p : bf16, !llvm.ptr
a cold function | llvm.call @cold() : () -> ()
a function that keeps registers | %a = llvm.load %p : !llvm.ptr -> vector<17xi64>\nllvm.call preserve_allcc @keeps(%a) : (vector<17xi64>) -> ()
"""
CALLEES = """
llvm.func coldcc @cold() { llvm.return }
llvm.func preserve_allcc @keeps(%a: vector<17xi64>) { llvm.return }
"""
GLOBALS = ("vector<[4]xf32>", "!llvm.array<9223372036854775807 x i64>", '!llvm.struct<"s", (i32, struct<"s">)>')  # fmt: skip
ATTRIBUTES = """
alignstack=3 patchable-function=x denormal-fp-math=x stack-probe-size=x zero-call-used-regs=x
xray-instruction-threshold=x probe-stack=x instrument-function-entry-inlined=x
"""


def _named() -> dict[str, str]:
    found: dict[str, str] = {}
    for row in LINES.strip().split("\n"):
        name, lines, *kind = row.replace(r"\n", "\n").split(" | ")
        if kind:
            load, store = (
                f"%a = llvm.load %p : !llvm.ptr -> {kind[0]}",
                f"llvm.store %r, %p : {kind[0]}, !llvm.ptr",
            )
            lines = f"{load}\n{lines.replace('$', kind[0])}\n{store}"
        callees = CALLEES if "llvm.call" in lines else ""
        found[name] = f"{callees}llvm.func @f(%p: !llvm.ptr) {{\n{lines}\nllvm.return\n}}"
    for kind in GLOBALS:
        zero = f"%0 = llvm.mlir.zero : {kind}\nllvm.return %0 : {kind}"
        found[f"a global {kind}"] = (
            f"llvm.mlir.global internal @g() : {kind} {{\n{zero}\n}}\nllvm.func @f() -> !llvm.ptr {{\n"
            "%0 = llvm.mlir.addressof @g : !llvm.ptr\nllvm.return %0 : !llvm.ptr\n}"
        )
    for text in ATTRIBUTES.split():
        pair = text.replace("=", '", "')
        found[text] = f'llvm.func @f() attributes {{passthrough = [["{pair}"]]}} {{ llvm.return }}'
    return found


NAMED = _named()


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        ("((text, level) for text in NAMED.values() for level in (0, 2))", 2 * len(NAMED)),
        (f"((module(seed), seed % 2 * 2) for seed in range({MODULES}))", MODULES),
    ],
    ids=["named", "random"],
)
def test_no_module_ends_the_process(texts: str, count: int) -> None:
    done = run_child(RUN.format(texts=texts), seconds=1200)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    outcomes: dict[str, int] = ast.literal_eval(done.stdout)
    assert sum(outcomes.values()) == count
    assert outcomes["compiled"] > count // 20
    assert outcomes.get("parse", 0) < count // 2


# The allowlist takes this machine for one of AArch64, for which LLVM has three code generators.
RUN_FOR_AARCH64 = """
import platform
platform.machine = lambda: "aarch64"
from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import allowlist_llvm, allowlist_mlir, floats, llvm, mlir
from tests.runtime.test_unusual import NAMED
from tests.runtime.unusual import module
llvm.most_pipelines = float("inf")
GENERATORS = ((0, "{{"), (2, "{{"), (2, "noinline optnone {{"))
done = 0
for text in (*NAMED.values(), *map(module, range({modules}))):
    try:
        parsed = mlir.parse(text)
        if allowlist_mlir.translation_hazard(parsed.operation) is not None:
            continue
        ir = floats.readable(mlir.translate(parsed))
        if allowlist_llvm.codegen_hazard(ir, "generic", "") is None:
            for level, body in GENERATORS:
                text = ir.replace(") {{", ") " + body)
                llvm.emit_object(text, "baseline", level, triple="aarch64-linux-gnu")
                done += 1
    except CompileError:
        pass
print(done)
"""


def test_no_code_generator_of_aarch64_ends_the_process() -> None:
    """LLVM has three of them: GlobalISel, SelectionDAG and FastISel."""
    done = run_child(RUN_FOR_AARCH64.format(modules=5 * MODULES), seconds=1200)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert int(done.stdout) > MODULES
