"""Every way in which compiling fails is an error that says why, and leaves the process alone and stderr empty."""

from __future__ import annotations

import platform
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.errors import CompileError
from ffi_builder.providers import CallContext
from tests.runtime.samples import ADD_ONE, TORCH_IR, llvm_entry, parse, run_child

pytestmark = pytest.mark.slow  # most start a child process


@pytest.fixture(autouse=True)
def _quiet(capfd: pytest.CaptureFixture[str]) -> Any:  # pyright: ignore[reportUnusedFunction]
    yield
    assert capfd.readouterr().err == ""


# An emulator of the CPU has words of its own for it.
CRASHED = "(?:it crashed|uncaught target signal)"


def fails(
    words: str, module: object, error: type[Exception] = CompileError, **options: Any
) -> None:
    with pytest.raises(error, match=words):
        runtime.compile(module, **options)


def row(words: str, module: object, error: type[Exception] = CompileError, **options: Any) -> Any:
    return pytest.param(words, module, error, options, id=words[:40])


LOOP = """
func.func @f(%n: index) {
  %zero = arith.constant 0 : index
  scf.for %i = %zero to %n step %n { }
  return
}
"""
UNKNOWN = """func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "odd.op"(%t) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
FAILING = [
    # texts
    row("(?s)MLIR text does not parse.*expected non-function type", "llvm.func @f( {"),
    row("LLVM IR does not parse: 1:.*expected", "define void @f( {"),
    row("^The LLVM IR does not parse: 1:", "define void @f() { no_such_instruction }"),
    row("does not parse: its brackets are more than 500 levels deep", "module {" * 9000 + "}" * 9000),
    row(f"nested too deep.*{CRASHED}", f"@g = global {'[1 x ' * 60_000}i8{']' * 60_000} undef"),
    row("text is empty", " \n"),
    row(r"line 2 has '\\ud800', half of a surrogate pair", f"\n; \ud800\n{ADD_ONE}"),
    row(r"line 2 has '\\ud800', half of a surrogate pair", "\n// \ud800\nllvm.func @f() { llvm.return }"),
    row("undefined value|use of undefined", "define i32 @f() {\n ret i32 %x\n}"),
    row("verifier refuses.*Alias must point to a definition", "@a = alias i32, ptr @x\n@x = external global i32"),
    row("for target `nvptx64-nvidia-cuda`, but is compiled for", f'target triple = "nvptx64-nvidia-cuda"\n{llvm_entry("f")}'),
    row("data layout `e-p:32:32` does not fit", f'target datalayout = "e-p:32:32"\n{llvm_entry("f")}'),
    row("instruction mnemonic", 'module asm "bogus"\ndefine void @f() { ret void }'),
    row("unsupported GC: odd", 'define void @f() gc "odd" { ret void }'),
    row("scalable", "define <vscale x 4 x float> @f(<vscale x 4 x float> %a) { ret <vscale x 4 x float> %a }"),
    # what is no module
    row("MLIR|LLVM IR", 3, TypeError),
    row("not the path PosixPath", Path("a.ll"), TypeError),
    row("NoneType", None, TypeError),
    row("ELF object file, but the bytes start with b'abc", b"abcdefghi"),
    row("ELF object file", b""),
    row(r"an archive of objects \(.a\): give it in link=", b"!<arch>\nfoo.o/"),
    # options
    row("opt_level 0, 1, 2 or 3, but got 4", ADD_ONE, ValueError, opt_level=4),
    row("opt_level 0, 1, 2 or 3, but got -1", ADD_ONE, ValueError, opt_level=-1),
    row("opt_level .* but got '2'", ADD_ONE, TypeError, opt_level="2"),
    row("opt_level .* but got True", ADD_ONE, TypeError, opt_level=True),
    row("pipeline as text", ADD_ONE, TypeError, pipeline=["cse"]),
    row("functions in post_compile_hooks=, but got 'cse'", ADD_ONE, TypeError, post_compile_hooks=["cse"]),
    row("put it into a list", ADD_ONE, TypeError, link="define void @f() { ret void }"),
    row("LLVM IR text, the bytes of an object or an archive, or a path for link", ADD_ONE, TypeError, link=[ADD_ONE]),
    row("ELF object file", ADD_ONE, link=[b"abc"]),
    row("LLVM IR does not parse", ADD_ONE, link=["define @f"]),
    row("pipeline= needs an MLIR module, but got LLVM IR text", llvm_entry("f"), TypeError, pipeline="builtin.module(cse)"),
    row("post_compile_hooks= needs.*LLVM IR text", llvm_entry("f"), TypeError, post_compile_hooks=[print]),
    # pipelines
    row("pipeline=: convert-scf-to-cf lowers scf, reconcile-unrealized-casts lowers builtin$", LOOP, pipeline="builtin.module(convert-to-llvm)"),
    row("did you mean 'convert-scf-to-cf'", LOOP, pipeline="builtin.module(convert-scf-to-cfg)"),
    row(r"`builtin.module\(no-such-pass\)` does not parse in torch_mlir.*no-such-pass", ADD_ONE, pipeline="builtin.module(no-such-pass)"),
    row("pass pipeline `cse,,` does not parse", ADD_ONE, pipeline="cse,,"),
    row(r"(?s)pass pipeline `func.func\(cse\)`.*; write `builtin.module\(func.func\(cse\)\)`$", ADD_ONE, pipeline="func.func(cse)"),
    row("(?s)failed: .*not bufferized.*odd.op", UNKNOWN, pipeline="builtin.module(one-shot-bufferize)"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "module", "error", "options"), FAILING)
def test_what_is_refused_says_why(
    words: str, module: object, error: type[Exception], options: dict[str, Any]
) -> None:
    fails(words, module, error, **options)


def test_a_part_of_a_module_and_objects() -> None:
    module: Any = parse("llvm.func @f() { llvm.return }")
    fails("`builtin.module`, but got a `llvm.func`", module.body.operations[0].operation)
    data = runtime.compile(ADD_ONE).object
    another = b"\xb7\0" if data[18] == 62 else b"\x3e\0"
    fails("truncated or damaged", data[: len(data) // 2])
    fails("truncated or damaged", data[:70])
    fails("executable, a shared library", data[:16] + b"\3\0" + data[18:])
    fails("for aarch64|for x86_64", data[:18] + another + data[20:])
    fails("pipeline= .* but got bytes", data, TypeError, pipeline="builtin.module(cse)")
    fails("post_compile_hooks= needs.*bytes", data, TypeError, post_compile_hooks=[print])


def test_text_shows_the_line_of_its_mistake() -> None:
    with pytest.raises(CompileError) as raised:
        runtime.compile("llvm.func @f() {\n  llvm.retrun\n}")
    assert str(raised.value).endswith("custom op 'llvm.retrun' is unknown\n  llvm.retrun\n  ^")
    long = "llvm.func @f() { " + "llvm.call @f() : () -> () " * 1000 + "llvm.retrun }"
    with pytest.raises(CompileError) as raised:
        runtime.compile(long)
    *_, line, caret = str(raised.value).splitlines()
    assert len(line) <= 100
    assert line[len(caret) - 1 :].startswith("llvm.retrun")


def test_a_module_that_hooks_leave_broken() -> None:
    def hook(module: Any) -> None:
        module.body.operations[0].operation.attributes["function_type"] = TORCH_IR.UnitAttr.get(
            module.context
        )

    fails("(?s)MLIR's verifier refuses.*function_type", ADD_ONE, post_compile_hooks=[hook])


def test_ops_that_are_not_lowered_are_named() -> None:
    text = "func.func @f(%a: i32) -> i32 {\n %0 = arith.addi %a, %a : i32\n return %0 : i32\n}"
    fails("`func.func` at .*, `arith.addi` at .*2:7.*Lower the module.*pipeline=", text)
    cast = "llvm.func @f(%a: i32) { %0 = builtin.unrealized_conversion_cast %a : i32 to f32\n llvm.return }"
    fails("`builtin.unrealized_conversion_cast`", cast)
    module = f"module attributes {{gpu.container_module}} {{ {ADD_ONE} }}"
    assert runtime.compile(module)["add_one"](1) == 2


def test_ops_that_a_provider_did_not_lower() -> None:
    arith: Any = import_module("torch_mlir.dialects.arith")

    def provider(current_block: Any, context: CallContext) -> Any:
        type_ = TORCH_IR.IntegerType.get_signless(32, context.module.context)
        with TORCH_IR.InsertionPoint(current_block), TORCH_IR.Location.unknown(type_.context):
            arith.ConstantOp(type_, 1)
        return current_block

    def hook(module: Any) -> None:
        attach(module, spec.Signature("f", []), provider)

    fails(
        "`arith.constant` in the wrapper @__tvm_ffi_f. The call provider made them. Hooks run after "
        "pipeline=, so a provider must make operations of the LLVM dialect",
        ADD_ONE,
        post_compile_hooks=[hook],
    )
    both = "func.func @g() { return }"
    words = "`func.func` at .* `arith.constant` in the wrapper @__tvm_ffi_f. Lower the module"
    fails(words, both, post_compile_hooks=[hook])


# MLIR's verifier lets these through, LLVM's does not, and the last one would end the process.
CRASHING = {
    "DestTy too big for Trunc": "%0 = llvm.trunc %i : i32 to i64",
    "Invalid bitcast": "%0 = llvm.bitcast %i : i32 to i64",
    "source and dest must both be vector or scalar": "%0 = llvm.fptosi %f : f32 to vector<4xi32>",
    "Duplicate integer as switch case": "llvm.switch %i : i32, ^bb1 [1: ^bb1, 1: ^bb2]\n^bb1: llvm.br ^bb2\n^bb2:",
    "huge alignment": "%0 = llvm.load %p {alignment = 1099511627776 : i64} : !llvm.ptr -> i32",
    "GEP into unsized type": "%0 = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.void",
    "could not find LLVM intrinsic: .llvm.nosuch": 'llvm.call_intrinsic "llvm.nosuch"() : () -> ()',
    "Invalid operands for select": "%c = llvm.mlir.undef : vector<2xi1>\n %0 = llvm.select %c, %i, %i : vector<2xi1>, i32",
    CRASHED: "llvm.return\n^bb9: %q = llvm.add %q, %i : i32\nllvm.br ^bb9\n^bb10:",
}


@pytest.mark.parametrize("words", CRASHING)
def test_modules_that_llvm_refuses(words: str, capfd: pytest.CaptureFixture[str]) -> None:
    text = f"llvm.func @f(%i: i32, %p: !llvm.ptr, %f: f32) {{\n {CRASHING[words]}\n llvm.return\n}}"
    where = "!llvm.void" if words == "GEP into unsized type" else "llvm.func @f"
    fails(f"Translating the module to LLVM IR failed at {where}: (?s:.*){words}", text)
    capfd.readouterr()  # what LLVM's verifier has to say


def test_of_several_functions_none_is_blamed(capfd: pytest.CaptureFixture[str]) -> None:
    """Wrappers are not, and LLVM shows the operation."""
    fine = "llvm.func @g() { llvm.return }"
    wrong = "llvm.func @f(%i: i32) { %0 = llvm.trunc %i : i32 to i64\n llvm.return }"
    words = r"Translating the module to LLVM IR failed: (?s:.*)trunc i32 %0 to i64"
    fails(words, f"{fine}\n{wrong}")
    assert "trunc i32" in capfd.readouterr().err


def test_attributes_that_llvm_refuses(capfd: pytest.CaptureFixture[str]) -> None:
    function = "llvm.func @f() attributes {{passthrough = [{}]}} {{ llvm.return }}".format
    fails("'noinline and alwaysinline' are incompatible", function('"alwaysinline", "noinline"'))
    fails("'optnone' requires 'noinline'", function('"optnone"'))
    assert "optnone" in capfd.readouterr().err  # where LLVM's verifier writes
    fails("llvm.mlir.global @g", "llvm.mlir.global internal @g(dense<1> : tensor<4xi32>) : i32")


# LLVM's code generator ends the process at these.
UNGENERATABLE = {
    "instruction mnemonic": 'call void asm sideeffect "bogus", ""()',
    "couldn't allocate input reg": 'call void asm sideeffect "nop", "{nosuchreg}"(i32 1)',
    "Cannot select: intrinsic %llvm.nvvm": "%x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n store i32 %x, ptr %p",
    "operand bundles": 'call void @abort() ["odd"(i32 1)]',
}


@pytest.mark.parametrize("words", UNGENERATABLE)
def test_code_that_llvm_cannot_generate(words: str) -> None:
    text = (
        f"declare void @abort()\ndefine void @f(ptr %p) {{\n {UNGENERATABLE[words]}\n ret void\n}}"
    )
    if "nvvm" in text:
        text += "\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()"
    fails(f"(?s)LLVM cannot generate code.*{words}", text)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="features of x86-64")
def test_features_that_code_needs() -> None:
    text = 'define double @f(double %x) "target-features"="-sse2" { ret double %x }'
    fails("SSE2 register return with SSE2 disabled", text)


def test_what_only_looks_dangerous_compiles() -> None:
    value = 'call void asm sideeffect "nop", ""()\n  %x = call i64 asm "", "=r,0"(i64 42)'
    assert runtime.compile(llvm_entry("plasma", value))["plasma"](0) == 42
    cpu, feature = {"aarch64": ("neoverse-n1", "+neon")}.get(
        platform.machine(), ("x86-64-v2", "+sse2")
    )
    attributes = f'"target-cpu"="{cpu}" "target-features"="{feature}" {{'
    assert runtime.compile(llvm_entry("f").replace("{", attributes, 1))["f"](41) == 42


def test_a_dead_process_would_be_noticed() -> None:
    """The same in a process of its own, whose status and stderr say how it went."""
    done = run_child("""
        from ffi_builder import runtime
        from ffi_builder.errors import CompileError
        for text in (
            "llvm.func @f(%i: i32) { %0 = llvm.trunc %i : i32 to i64\\n llvm.return }",
            'define void @f() {\\n call void asm "bogus", ""()\\n ret void\\n}',
            "declare void @nosuch()\\ndefine i32 @__tvm_ffi_f(ptr %h, ptr %a, i32 %n, ptr %r) {\\n call void @nosuch()\\n ret i32 0\\n}",
        ):
            try:
                runtime.compile(text)
            except CompileError as error:
                print(type(error).__name__)
        """)
    assert done.stdout.split() == ["CompileError", "CompileError", "LinkError"], done
    assert done.returncode == 0
    assert done.stderr == "DestTy too big for Trunc\n  %2 = trunc i32 %0 to i64\n"  # LLVM's
