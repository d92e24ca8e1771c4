"""Pipelines and hooks: they run in the module's own distribution, as far as that has the passes."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import CompileError, attach_ffi_func, providers, runtime, spec
from ffi_builder.ir.distribution import Distribution
from tests.distributions.suite import kernels
from tests.distributions.suite.cases import cpu, k, m, n
from tests.distributions.suite.conftest import Note

Parse = Callable[[str], Any]
CLEAN: Final = "builtin.module(canonicalize,cse)"
LOOPS: Final = "builtin.module(convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"
LINALG: Final = (
    "builtin.module(func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,"
    "convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"
)
ELSEWHERE: Final = " (torch-mlir may: give the text of the module)"


class Hook:
    """Attaches a wrapper to what was lowered, and keeps the type of that."""

    def __init__(self, params: Sequence[spec.Param], provider: providers.CallProvider) -> None:
        self.params, self.provider = params, provider
        self.given = ""

    def __call__(self, module: Any) -> None:
        self.given = type(module).__module__
        attach_ffi_func(module, "f", self.params, self.provider)


def scaling() -> Hook:
    count = spec.Var("count", "int32")
    params = [cpu("x", [count]), spec.Var("factor", "float32")]
    return Hook(params, providers.DirectCallProvider("kernel", args=["x", "count", "factor"]))


def check_scaling(compiled: runtime.CompiledModule) -> None:
    x = np.arange(4, dtype="float32")
    compiled["f"](x, 3)
    assert x.tolist() == [0, 3, 6, 9]


def missing(root: str, context: Any, pipeline: str) -> list[str]:
    """The passes of a pipeline that the distribution does not have."""
    manager = import_module(f"{root}.passmanager").PassManager

    def has(name: str) -> bool:
        try:
            manager.parse(f"builtin.module({name})", context=context)
        except Exception:
            return False
        return True

    return [name for name in re.findall(r"[a-z]+(?:-[a-z]+)+", pipeline) if not has(name)]


def unparsed(kernel: str, distribution: Distribution) -> Any:
    """A module that may have operations of dialects that the distribution does not know."""
    context = distribution.ir.Context()
    distribution.load_llvm(context)
    context.allow_unregistered_dialects = True
    return distribution.ir.Module.parse(kernel, context)


def test_hooks_get_the_lowered_clone(parse: Parse, root: str) -> None:
    module = parse(kernels.SCALE_LAST + "\nllvm.func internal @unused() {\n  llvm.return\n}")
    before = str(module)
    params = [cpu("x", [n]), spec.Var("factor", "float32")]
    hook = Hook(params, providers.DynamicParamPackCallProvider("kernel", struct_call=True))
    texts: list[str] = []
    compiled = runtime.compile(
        module, pipeline=CLEAN, post_compile_hooks=[lambda m: texts.append(str(m)), hook]
    )
    assert hook.given.startswith(f"{root}._mlir_libs.")
    assert str(module) == before
    assert "@__tvm_ffi_f" not in texts[0]
    x = np.ones(2, "float32")
    compiled["f"](x, 3)
    assert x.tolist() == [1, 3]


def test_the_passes_that_it_has(parse: Parse, root: str, note: Note) -> None:
    context = parse("").context
    for_loops, for_linalg = (missing(root, context, pipeline) for pipeline in (LOOPS, LINALG))
    if not for_linalg:
        check_linalg(parse)
        note("passes to LLVM", "from linalg, memref, scf, arith and func")
    elif not for_loops:
        check_loops(parse, root)
        note("passes to LLVM", f"from scf, arith and func; it lacks {', '.join(for_linalg)}")
    else:
        with pytest.raises(CompileError) as raised:
            runtime.compile(parse(kernels.LOOP), pipeline=LOOPS)
        words = f"The pass pipeline `{LOOPS}` does not parse in {root}{ELSEWHERE}: "
        assert str(raised.value).startswith(words)
        note("passes to LLVM", f"none: it lacks {', '.join(for_loops)}")


def check_linalg(parse: Parse) -> None:
    hook = Hook(
        [cpu("A", [n, k]), cpu("B", [k, m]), cpu("C", [n, m])],
        providers.MemRefCallProvider("kernel"),
    )
    compiled = runtime.compile(parse(kernels.LINALG), pipeline=LINALG, post_compile_hooks=[hook])
    c = np.zeros((2, 2), "float32")
    compiled["f"](np.ones((2, 3), "float32"), np.full((3, 2), 2, "float32"), c)
    assert c.tolist() == [[6, 6], [6, 6]]


def check_loops(parse: Parse, root: str) -> None:
    hook = scaling()
    compiled = runtime.compile(parse(kernels.LOOP), pipeline=LOOPS, post_compile_hooks=[hook])
    assert hook.given.startswith(f"{root}._mlir_libs.")
    check_scaling(compiled)


def test_what_it_has_no_passes_for_is_lowered_by_torch_mlir(distribution: Distribution) -> None:
    """As generic text: torch-mlir parses it, and runs the pipeline and the hooks on its own."""
    module = unparsed(kernels.LOOP, distribution)
    hook = scaling()
    compiled = runtime.compile(
        module.operation.get_asm(print_generic_op_form=True),
        pipeline=LOOPS,
        post_compile_hooks=[hook],
    )
    assert hook.given.startswith("torch_mlir._mlir_libs.")
    check_scaling(compiled)


def test_a_pipeline_that_fails(parse: Parse, root: str) -> None:
    with pytest.raises(
        CompileError, match=rf"`builtin\.module\(no-such-pass\)` .* {root}(?: \(.*\))?: "
    ):
        runtime.compile(parse(""), pipeline="builtin.module(no-such-pass)")


def test_an_error_of_a_hook_is_its_own(parse: Parse) -> None:
    def hook(module: Any) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        runtime.compile(parse(""), post_compile_hooks=[hook])


def test_columns(note: Note) -> None:
    note("hooks", "yes")
