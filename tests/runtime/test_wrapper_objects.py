"""A wrapper that comes back is linked, not compiled: under any name, and with another kernel or other operations it is right all the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.errors import CompileError
from ffi_builder.providers import CallContext, CheckStatus, DirectCallProvider, NopCallProvider
from ffi_builder.runtime.codegen import emit
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.sources import wrappers
from tests.support.printed import name_of, operations
from tests.support.wrapping import new_module

n = spec.Var("n", "int64")
X = spec.Tensor("x", [n], "int64", device_type="cpu")
TABLE = "__ffi_builder_table_f"


def kernel(factor: int, *, linkage: str = "") -> str:
    """Writes a multiple of its second argument to where the first points."""
    return f"""
      llvm.func {linkage} @kernel(%p: !llvm.ptr, %n: i64) {{
        %factor = llvm.mlir.constant({factor} : i64) : i64
        %product = llvm.mul %n, %factor : i64
        llvm.store %product, %p : i64, !llvm.ptr
        llvm.return
      }}"""


def wrapped(
    text: str,
    *names: str,
    provider: Any = None,
    params: Any = None,
    distribution: str = "torch_mlir",
) -> Any:
    module = new_module(text, distribution)
    provider = provider or DirectCallProvider("kernel", args=["x", "n"])
    for name in names or ("f",):
        attach(module, spec.Signature(name, params or [X]), provider)
    return module


def called(compiled: runtime.CompiledModule, name: str = "f", size: int = 3) -> int:
    data = np.zeros(size, "int64")
    compiled[name](data)
    return int(data[0])


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: Any = wrappers._kept  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(wrappers, "_kept", type(kept)())


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The LLVM IR that machine code is made of."""
    made: list[str] = []
    real = emit.emit_object

    def noted(ir: LlvmIr, *args: Any, **options: Any) -> bytes:
        made.append(ir.text)
        return real(ir, *args, **options)

    monkeypatch.setattr(emit, "emit_object", noted)
    return made


def wrappers_in(texts: list[str]) -> list[int]:
    """How many wrappers each text defines; without the text of helpers."""
    return [
        text.count("define i32 @__tvm_ffi_")
        for text in texts
        if "define i32 @__ffi_builder_shared_" not in text and "define preserve_mostcc" not in text
    ]


class Own(DirectCallProvider):
    """A provider of somebody else: its operations are not vouched for."""

    def __call__(self, current_block: Any, context: CallContext) -> Any:
        return super().__call__(current_block, context)


FOUR_TIMES: dict[str, tuple[Callable[[int], Any], list[int]]] = {
    # a module by a number, and the wrappers of the texts: together, each by itself, kernels only
    "the same": (lambda number: wrapped(kernel(number)), [1, 1, 0, 0, 0]),
    "of jaxlib": (
        lambda number: wrapped(kernel(number), distribution="jaxlib.mlir"),
        [1, 1, 0, 0, 0],
    ),
    "of a kernel that only this module sees": (
        lambda number: wrapped(kernel(number, linkage="internal")),
        [1, 1, 1, 1],
    ),
    "of an author's provider": (
        lambda number: wrapped(kernel(number), provider=Own("kernel", args=["x", "n"])),
        [1, 1, 0, 0, 0],
    ),
    "two in their order": (lambda number: wrapped(kernel(number), "g", "f"), [1, 0, 0, 0, 0]),
}


@pytest.mark.parametrize("which", FOUR_TIMES)
def test_from_the_third_time_on_only_the_kernel_is_compiled(which: str, texts: list[str]) -> None:
    make, counts = FOUR_TIMES[which]
    for number in range(4):
        compiled = runtime.compile(make(number))
        assert compiled.functions == (("g", "f") if which.startswith("two") else ("f",))
        for name in compiled.functions:
            assert called(compiled, name) == 3 * number
            with pytest.raises(ValueError, match=rf"Mismatched x.ndim .* `{name}\(x: Tensor"):
                compiled[name](np.zeros((1, 1), "int64"))
    assert wrappers_in(texts) == counts


def test_a_module_of_nothing_else_needs_no_compiler(texts: list[str]) -> None:
    for _ in range(4):
        runtime.compile(wrapped("", provider=NopCallProvider()))["f"](np.zeros(3, "int64"))
    assert wrappers_in(texts) == [1]


def test_texts_that_are_left_behind_are_nothing_to_compile(texts: list[str]) -> None:
    """The module keeps CheckStatus's texts, but the code that uses them is in another object."""
    for _ in range(4):
        provider = CheckStatus(DirectCallProvider("atoi", args=["x"]))
        runtime.compile(wrapped("llvm.func @atoi(!llvm.ptr) -> i32", provider=provider))
    assert wrappers_in(texts) == [1]


def test_what_is_shown_and_exported_has_the_wrapper() -> None:
    for _ in range(3):
        compiled = runtime.compile(wrapped(kernel(2)))
        assert re.search(r"^define .*@__tvm_ffi_f\(", compiled.llvm_ir or "", re.MULTILINE)
        assert "__tvm_ffi_f:" in (compiled.assembly or "")
        again = runtime.compile(compiled.object)
        assert called(again) == 6


def edited(module: Any) -> None:
    """Have the wrapper accept another number of arguments."""
    for operation in operations(module):
        if name_of(operation) == "__tvm_ffi_f":
            for inner in operation.regions[0].blocks[0].operations:
                kind = inner.operation.results[0].type if len(inner.operation.results) else None
                if inner.operation.name == "llvm.mlir.constant" and str(kind) == "i32":
                    ir: Any = __import__("torch_mlir.ir").ir
                    inner.operation.attributes["value"] = ir.IntegerAttr.get(kind, 2)
                    return


def test_a_wrapper_that_was_edited_is_another_one() -> None:
    for _ in range(3):
        assert called(runtime.compile(wrapped(kernel(1)))) == 3
    other = runtime.compile(wrapped(kernel(1)), post_compile_hooks=[edited])
    with pytest.raises(RuntimeError, match="an argument changed while it was being checked"):
        called(other)
    assert called(runtime.compile(wrapped(kernel(1)))) == 3


def test_a_kernel_of_another_type_is_refused_as_ever() -> None:
    for _ in range(3):
        runtime.compile(wrapped(kernel(1)))

    def change(module: Any) -> None:
        for operation in operations(module):
            if name_of(operation) == "kernel":
                operation.erase()
        ir: Any = __import__("torch_mlir.ir").ir
        text = "llvm.func @kernel(!llvm.ptr)"
        source = ir.Module.parse(text, module.context)
        module.body.append(source.body.operations[0])

    with pytest.raises(CompileError, match="verifier refuses"):
        runtime.compile(wrapped(kernel(1)), post_compile_hooks=[change])


@pytest.mark.parametrize("reason", ["passes", "number"])
def test_those_that_stay_with_their_module(reason: str, texts: list[str]) -> None:
    names, params = ["f"], None
    others: list[list[spec.Param]] = []
    match reason:
        case "passes":
            params = [X, spec.Optional(spec.Var("h", "bfloat16"))]
        case _:
            others = [[spec.Var(f"v{at}", "int32") for at in range(count)] for count in range(4)]
            names = [*(f"g{count}" for count in range(4)), "f"]
    for number in range(4):
        module = wrapped(kernel(number), names[-1], params=params)
        for name, more in zip(names, others, strict=False):
            attach(module, spec.Signature(name, more), NopCallProvider())
        compiled = runtime.compile(module)
        arguments = [np.zeros(3, "int64")] if params is None else [np.zeros(3, "int64"), None]
        compiled[names[-1]](*arguments)
        assert arguments[0][0] == 3 * number  # pyright: ignore[reportOptionalSubscript]
        assert sorted(compiled.functions) == sorted(names)
    assert wrappers_in(texts) == [len(names)] * 4


def test_functions_of_other_names_share_the_code(texts: list[str]) -> None:
    """Each shows its own name, and those of its parameters, and calls its own kernel."""
    for at, (name, callee, size) in enumerate(
        [("f", "kernel", "n"), ("g", "other", "n"), ("x", "strlen", "rows"), ("n", "f", "x")]
    ):
        text = kernel(at).replace("@kernel", f"@{callee}")
        tensor = spec.Tensor("A", [spec.Var(size, "int64")], "int64", device_type="cpu")
        provider = DirectCallProvider(callee, args=["A", size])
        compiled = runtime.compile(wrapped(text, name, provider=provider, params=[tensor]))
        assert called(compiled, name) == 3 * at
        with pytest.raises(ValueError, match="Mismatched") as raised:
            compiled[name](np.zeros((1, 1), "int64"))
        assert f"`{name}(A: Tensor([{size}], int64))`" in str(raised.value)
        assert compiled.callable(name).__name__ == name
    assert wrappers_in(texts) == [1, 1, 0, 0, 0]


def test_many_of_one_structure_are_compiled_once(texts: list[str]) -> None:
    names = [f"f{number}" for number in range(50)]
    text = "".join(
        kernel(number).replace("@kernel", f"@kernel{number}") for number in range(len(names))
    )
    module = new_module(text)
    for number, name in enumerate(names):
        provider = DirectCallProvider(f"kernel{number}", args=["x", "n"])
        attach(module, spec.Signature(name, [X]), provider)
    compiled = runtime.compile(module)
    assert compiled.functions == tuple(names)
    assert [called(compiled, name) for name in names] == [3 * number for number in range(50)]
    assert wrappers_in(texts) == [1, 0]
    assert called(runtime.compile(compiled.object), "f49") == 3 * 49


def test_functions_that_share_a_table(texts: list[str]) -> None:
    """Their errors show one name, and so they have one table in the module."""
    for _ in range(3):
        module = new_module(kernel(1))
        for name in ("f", "g"):
            provider = DirectCallProvider("kernel", args=["x", "n"])
            attach(module, spec.Signature("shown", [X]), provider, symbol_name=name)
        compiled = runtime.compile(module)
        for name in ("f", "g"):
            assert called(compiled, name) == 3
            with pytest.raises(ValueError, match=r"`shown\(x: "):
                compiled[name](np.zeros((1, 1), "int64"))
    assert sum(wrappers_in(texts)) == 1


def test_those_alike_at_first_sight_only(texts: list[str]) -> None:
    """Their operations are the same in number, not in what they compare with."""
    module = new_module()
    for name, dtype in {"f": "int8", "g": "uint8", "h": "int16"}.items():
        attach(module, spec.Signature(name, [spec.Var("x", dtype)]), NopCallProvider())
    compiled = runtime.compile(module)
    for name, most in {"f": 127, "g": 255, "h": 32767}.items():
        compiled[name](most)
        with pytest.raises(ValueError, match=f"{most + 1}"):
            compiled[name](most + 1)


def test_messages_of_the_wrapper_itself(texts: list[str]) -> None:
    text = (
        "llvm.func @kernel(%n: i64) -> i32 { %r = llvm.trunc %n : i64 to i32 llvm.return %r : i32 }"
    )
    for name in ("f", "f", "f", "g", "g", "g"):
        provider = CheckStatus(DirectCallProvider("kernel", args=["n"]))
        compiled = runtime.compile(wrapped(text, name, provider=provider))
        with pytest.raises(RuntimeError, match=f"status 3 when calling: `{name}\\("):
            compiled[name](np.zeros(3, "int64"))
    assert wrappers_in(texts) == [1, 1, 0, 0, 1, 1, 0, 0]


def test_each_level_has_its_own(texts: list[str]) -> None:
    for level in (2, 2, 2, 1, 1, 1):
        assert called(runtime.compile(wrapped(kernel(1)), opt_level=level)) == 3
    assert wrappers_in(texts) == [1, 1, 0, 0] * 2


def test_those_that_were_not_used_for_longest_go(
    monkeypatch: pytest.MonkeyPatch, texts: list[str]
) -> None:
    monkeypatch.setattr(wrappers, "MOST", 1)
    for name in ("f", "f", "g", "g", "g", "f"):
        params = [X] if name == "f" else [X, spec.Var("x2", "int32")]
        runtime.compile(wrapped("", name, provider=NopCallProvider(), params=params))
    assert wrappers_in(texts) == [1, 1, 1]
