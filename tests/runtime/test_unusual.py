"""Modules that nobody lowers to, some of which end the process that compiles them: never this one."""

from __future__ import annotations

import ast
import os

import pytest

from tests.runtime.samples import run_child

pytestmark = pytest.mark.slow

MODULES = int(os.environ.get("FFI_BUILDER_UNUSUAL", "150"))

RUN = """
import ast
import os
os.environ.setdefault("FFI_BUILDER_CHILD_SECONDS", "10")
from collections import Counter
from ffi_builder import runtime
from ffi_builder.errors import CompileError
from tests.runtime.test_unusual import NAMED
from tests.runtime.unusual import module
outcomes = Counter()
for text in {texts}:
    for level in {levels}:
        try:
            runtime.compile(text, opt_level=level)
            outcomes["compiled"] += 1
        except CompileError as error:
            outcomes["parse" if "does not parse" in str(error) else "refused"] += 1
print(dict(outcomes))
"""

BODY = "llvm.func @f(%p: !llvm.ptr) {{\n{}\nllvm.return\n}}".format
ITSELF = '!llvm.struct<"s", (i32, struct<"s">)>'


def values(kind: str, line: str) -> str:
    return BODY(
        f"%a = llvm.load %p : !llvm.ptr -> {kind}\n{line}\nllvm.store %r, %p : {kind}, !llvm.ptr"
    )


def of_global(kind: str) -> str:
    zero = f"%0 = llvm.mlir.zero : {kind}\nllvm.return %0 : {kind}"
    return f"llvm.mlir.global internal @g() : {kind} {{\n{zero}\n}}\n" + BODY(
        "%0 = llvm.mlir.addressof @g : !llvm.ptr\nllvm.store %0, %p : !llvm.ptr, !llvm.ptr"
    )


def with_attribute(name: str) -> str:
    key, equal, value = name.partition("=")
    attribute = f'["{key}", "{value}"]' if equal else f'"{key}"'
    return BODY("").replace("{", f"attributes {{passthrough = [{attribute}]}} {{", 1)


ONE = "%n = llvm.mlir.constant(1 : i64) : i64\n"
NAMED = {
    "a tile": values("vector<65536xi8>", "%r = llvm.add %a, %a : vector<65536xi8>"),
    "an array": values(
        "!llvm.array<100000 x i8>", "%r = llvm.freeze %a : !llvm.array<100000 x i8>"
    ),
    "an atomic vector": values(
        "vector<3xf32>", "%r = llvm.atomicrmw fadd %p, %a seq_cst : !llvm.ptr, vector<3xf32>"
    ),
    "an atomic array": values(
        "!llvm.array<4 x f32>",
        "%r = llvm.atomicrmw max %p, %a seq_cst : !llvm.ptr, !llvm.array<4 x f32>",
    ),
    "a reduction": BODY(
        "%a = llvm.load %p : !llvm.ptr -> vector<4xf128>\n"
        "%r = llvm.intr.vector.reduce.fmaximum(%a) : (vector<4xf128>) -> f128\n"
        "llvm.store %r, %p : f128, !llvm.ptr"
    ),
    "a scalable global": of_global("vector<[4]xf32>"),
    "a huge global": of_global("!llvm.array<9223372036854775807 x i64>"),
    "a global that contains itself": of_global(ITSELF),
    "a scalable alloca": BODY(f"{ONE}%s = llvm.alloca %n x vector<[4]xf32> : (i64) -> !llvm.ptr"),
    "an alloca that contains itself": BODY(
        f"{ONE}%s = llvm.alloca %n x {ITSELF} : (i64) -> !llvm.ptr"
    ),
    "an alloca of -1": BODY(
        "%n = llvm.mlir.constant(-1 : i64) : i64\n%s = llvm.alloca %n x vector<1xi8> : (i64) -> !llvm.ptr\n"
        "llvm.store %s, %p : !llvm.ptr, !llvm.ptr"
    ),
    "an address in what contains itself": BODY(
        f"%q = llvm.getelementptr %p[1, 0] : (!llvm.ptr) -> !llvm.ptr, {ITSELF}"
    ),
    "a cast to another number of lanes": BODY(
        "%a = llvm.load %p : !llvm.ptr -> vector<5x!llvm.ptr>\n"
        "%r = llvm.addrspacecast %a : vector<5x!llvm.ptr> to !llvm.ptr<1>\n"
        "llvm.store %r, %p : !llvm.ptr<1>, !llvm.ptr"
    ),
    # These end the process on AArch64.
    "a cold function": "llvm.func coldcc @g() {\nllvm.return\n}\n"
    + BODY("llvm.call coldcc @g() : () -> ()"),
    "a function that keeps registers": "llvm.func preserve_allcc @g(%a: vector<17xi64>) {\n"
    "llvm.return\n}\n"
    + BODY(
        "%a = llvm.load %p : !llvm.ptr -> vector<17xi64>\n"
        "llvm.call preserve_allcc @g(%a) : (vector<17xi64>) -> ()"
    ),
    "three bytes": BODY(
        "%a = llvm.load %p : !llvm.ptr -> vector<3xi64>\n"
        "%r = llvm.trunc %a : vector<3xi64> to vector<3xi8>\n"
        "llvm.store %r, %p : vector<3xi8>, !llvm.ptr"
    ),
    "a large bfloat": BODY(
        "%a = llvm.load %p : !llvm.ptr -> i128\n"
        "%r = llvm.sitofp %a : i128 to bf16\n"
        "llvm.store %r, %p : bf16, !llvm.ptr"
    ),
    "zeros of bits": values(
        "vector<4xi1>",
        '%r = "llvm.intr.ctlz"(%a) <{is_zero_poison = false}> : (vector<4xi1>) -> vector<4xi1>',
    ),
    **{
        name: with_attribute(name)
        for name in (
            *("alignstack=3", "patchable-function=x", "denormal-fp-math=x", "stack-probe-size=x"),
            *("zero-call-used-regs=x", "xray-instruction-threshold=x", "probe-stack=x"),
            *("instrument-function-entry-inlined=x",),
        )
    },
}


@pytest.mark.parametrize(
    ("texts", "levels", "count"),
    [
        ("NAMED.values()", "(0, 2)", 2 * len(NAMED)),
        (f"map(module, range({MODULES}))", "(2,)", MODULES),
    ],
    ids=["named", "random"],
)
def test_no_module_ends_the_process(texts: str, levels: str, count: int) -> None:
    done = run_child(RUN.format(texts=texts, levels=levels), seconds=1200)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    outcomes: dict[str, int] = ast.literal_eval(done.stdout)
    assert sum(outcomes.values()) == count
    assert outcomes["compiled"] > count // 20
    assert outcomes.get("parse", 0) < count // 2


# The allowlist takes this machine for one of AArch64.
RUN_FOR_AARCH64 = """
import platform
platform.machine = lambda: "aarch64"
from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import mlir
from ffi_builder.runtime.codegen import floats, llvm
from ffi_builder.runtime.codegen import allowlist_llvm, allowlist_mlir
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
    except CompileError:
        continue
    try:
        ir = floats.readable(mlir.translate(parsed))
    except CompileError:
        continue
    if allowlist_llvm.codegen_hazard(ir, "generic", "") is None:
        for level, body in GENERATORS:
            text = ir.replace(") {{", ") " + body)
            llvm.emit_object(text, "baseline", level, triple="aarch64-linux-gnu")
            done += 1
print(done)
"""


def test_no_code_generator_of_aarch64_ends_the_process() -> None:
    """LLVM has three of them: GlobalISel, SelectionDAG and FastISel."""
    done = run_child(RUN_FOR_AARCH64.format(modules=5 * MODULES), seconds=1200)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert int(done.stdout) > MODULES
