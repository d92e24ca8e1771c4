"""Variants of Triton's kernels, with stand-ins that have the attributes of Triton 3.9.

test_triton.py does the same with Triton itself.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, Launch, SpecError, cuda, spec, wrap
from ffi_builder.providers import VariantsCallProvider, when
from tests.fakecuda import FakeDriver, device_array
from tests.fakecuda.memory import tensor_at
from tests.support.tritons import tritons

PTX: Final = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry NAME(.param .u64 x, .param .u64 y, .param .u32 n, .param .u64 g, .param .u64 p) { ret; }
"""
BOTH: Final = "float32 | float16"
TEXT: Final = f"k(x: Tensor([n], {BOTH}), y: Tensor([n], x.dtype)) where n: int32"
LAUNCH: Final = Launch(grid="ceildiv(n, 4)")
PROMISED: Final = {(index,): [["tt.divisibility", 16]] for index in range(2)}


def compiled(name: str = "k", dtype: str = "fp32", promises: Any = (), **changed: Any) -> Any:
    """Return a stand-in for what ``triton.compile`` returns, with changed metadata."""
    types = {"x": f"*{dtype}", "y": f"*{dtype}", "n": "i32"}
    asm = {"cubin": PTX.replace("NAME", name)}
    return tritons(name, asm, types, promises, **{"shared": 64, **changed})


def signature_of(text: str = TEXT) -> spec.Signature:
    return spec.Signature.parse(text, device="cuda")


def test_what_kernels_rely_on_chooses_among_them(driver: FakeDriver):
    signature = signature_of()
    n = spec.Var("n", "int32")
    kernels = [
        (compiled("half", "fp16", PROMISED), None),
        (compiled("any_half", "fp16"), None),
        (compiled("clusters", "fp32", PROMISED, num_ctas=2), when.value(n) >= 100),
        (compiled("single", "fp32", {**PROMISED, (2,): [["tt.divisibility", 16]]}), None),
    ]
    made = [
        cuda.triton_variant(kernel, signature, launch=LAUNCH, when=condition)
        for kernel, condition in kernels
    ]
    assert [f"{each.when}" for each in made] == [
        "x.dtype == float16 and x.data % 16 == 0 and y.data % 16 == 0",
        "x.dtype == float16",
        "x.dtype == float32 and x.data % 16 == 0 and y.data % 16 == 0 and n >= 100",
        "x.dtype == float32 and n % 16 == 0 and x.data % 16 == 0 and y.data % 16 == 0",
    ]
    function = wrap("module {}", signature, provider=VariantsCallProvider(made))["k"]
    memory = device_array(driver, np.zeros(200, "float32"))

    def call(size: int, dtype: str, offset: int = 0) -> Any:
        x = tensor_at(memory.address + offset, (size,), dtype)
        function(x, x)
        return driver.launches()[-1]

    assert call(8, "float16").kernel == "half"
    assert call(8, "float16", 2).kernel == "any_half"
    assert call(32, "float32").kernel == "single"
    launched = call(100, "float32")
    assert (launched.kernel, launched.grid, launched.shared) == ("clusters", (50, 1, 1), 64)
    assert launched.arguments[2:] == (b"\x64\0\0\0", bytes(8), bytes(8))
    for size, offset in ((33, 0), (32, 4)):
        with pytest.raises(ValueError, match=r"No variant fits: expected half \(x\.dtype == floa"):
            call(size, "float32", offset)


@pytest.mark.parametrize(
    ("text", "args", "condition"),
    [
        ("k(x: Tensor([n], float32, data_alignment=16), y: Tensor([n], float32, data_alignment=32)) where n: int32", None, None),
        ("k(a: Tensor([m], float32 | float16), b: Tensor([m], float32), c: int32)", None, "a.dtype == float32 and a.data % 16 == 0 and b.data % 16 == 0"),
        (f"k(x: Tensor([m], {BOTH}), b: Tensor([m], {BOTH}))", {"y": "b", "n": "m * 2"}, "x.dtype == float32 and b.dtype == float32 and x.data % 16 == 0 and b.data % 16 == 0"),
        (f"k(x: Tensor(..., {BOTH}), y: Tensor(..., float32), n: int32)", ["y", "x.data", "n"], "x.dtype == float32 and y.data % 16 == 0 and x.data % 16 == 0"),
    ],
)  # fmt: skip
def test_conditions(text: str, args: Any, condition: str | None) -> None:
    kernel, signature = compiled(promises=PROMISED), signature_of(text)
    made = cuda.triton_variant(kernel, signature, launch=Launch(grid=1), args=args, name="mine")
    assert (made.when if made.when is None else str(made.when)) == condition
    assert made.name == "mine"
    wrap("module {}", signature, provider=VariantsCallProvider([made]))


def test_constexprs_and_parameters_of_conditions_are_used() -> None:
    text = f"k(x: Tensor([n, m], {BOTH}), y: Tensor([n, m], float32), causal: bool, fast: bool) where n: int32"
    kernel, signature = compiled(), signature_of(text)
    kernel.src.signature |= {"m": "constexpr", "causal": "constexpr"}
    kernel.src.constants = {(3,): 64, (4,): True}
    fast = when.parse("fast == True", signature)
    made = cuda.triton_variant(kernel, signature, launch=LAUNCH, when=fast)
    wanted = "x.dtype == float32 and m == 64 and causal == True and fast == True"
    assert f"{made.when}" == str(when.parse(wanted, signature))
    with pytest.raises(BuildError, match="k gets nothing of `fast` of the signature: leave it out"):
        cuda.triton_variant(kernel, signature, launch=LAUNCH)


@pytest.mark.parametrize(
    ("source", "text", "words"),
    [
        (compiled(dtype="bf16"), TEXT, "x is a pointer to bfloat16, but the elements of 'x' are float32 or float16"),
        (compiled(), f"k(x: Tensor([n], {BOTH}), y: Tensor([n], float16)) where n: int32", "y is a pointer to float32, but the elements of 'y' are float16"),
        (compiled(), TEXT.replace(" where n: int32", ""), "kernel 'k' takes 'n' as int32: let the signature say `where n: int32`$"),
        (compiled(), "k(x: Tensor([m], float32))", "the signature lacks: y, n; add them to "),
        (compiled(promises=PROMISED), "k(x: Tensor([n], float32)) -> y: Tensor([n], float32) where n: int32", "the result 'y': declare it with data_alignment=16$"),
        (compiled(global_scratch_size=64), TEXT, "'k' needs scratch memory, global_scratch, which no variant has: wrap it alone$"),
        (3, TEXT, "expected a CompiledKernel or an ASTSource of Triton but got 3"),
    ],
)  # fmt: skip
def test_no_variant(source: Any, text: str, words: str) -> None:
    with pytest.raises(BuildError, match=words):
        cuda.triton_variant(source, signature_of(text), launch=LAUNCH)


def test_the_signature_of_a_variant_is_no_text() -> None:
    text: Any = TEXT
    with pytest.raises(SpecError, match=r"triton_variant: expected a Signature .*parse makes one"):
        cuda.triton_variant(compiled(), text, launch=LAUNCH)
