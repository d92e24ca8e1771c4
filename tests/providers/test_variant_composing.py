"""Variants with other providers, in and around others; what they say of themselves; reuse."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, attach, attach_ffi_func, runtime, spec
from ffi_builder.builder import reuse
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    ModuleContext,
    NopCallProvider,
    PackedCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)
from ffi_builder.providers.provider import Members
from tests.providers.variants import WHICH, kernel, kernels, of, variants
from tests.support.printed import symbol_names
from tests.support.wrapping import attached, new_module, wrap

(N,) = spec.dims("n")
SMALL: Final = when.value(N) <= 2


# ---- statuses

STATUSES: Final = """
llvm.func @one(%n: i64) -> i32 { %c = llvm.trunc %n : i64 to i32 llvm.return %c : i32 }
llvm.func @two(%n: i64) -> i64 { llvm.return %n : i64 }
llvm.func @nothing(%n: i64) { llvm.return }
"""
ONE, TWO, NOTHING = (DirectCallProvider(name) for name in ("one", "two", "nothing"))
ODD: Final = when.value(N % 2) == 1


def test_a_status_of_any_variant() -> None:
    """Narrow integers are widened; the error names the callee that was called."""
    function = wrap([N], CheckStatus(of((ONE, ODD), (TWO, None))), STATUSES)
    function(0)
    with pytest.raises(RuntimeError, match=r"^one failed with status 3 when calling: `f\(n: int64"):
        function(3)
    with pytest.raises(RuntimeError, match=rf"^two failed with status {1 << 40} when"):
        function(1 << 40)
    words = "{callee}: {status}, {callee}"
    function = wrap([N], CheckStatus(of((ONE, ODD), (TWO, None)), message=words), STATUSES)
    with pytest.raises(RuntimeError, match=r"^two: -4, two when"):
        function(-4)


def test_a_status_of_one_variant() -> None:
    checked = CheckStatus(ONE, error="ValueError", message="no: {status}")
    function = wrap([N], of((checked, ODD), (TWO, None)), STATUSES)
    function(2)
    with pytest.raises(ValueError, match=r"^no: 1 when"):
        function(1)


def test_a_status_is_wanted_of_a_variant_that_has_none() -> None:
    for provider in (NOTHING, NopCallProvider()):
        with pytest.raises(BuildError, match="returns nothing; expected an integer status, since"):
            attached([N], CheckStatus(of((ONE, ODD), (provider, None))), STATUSES)
    wrap([N], of((ONE, ODD), (NOTHING, None)), STATUSES)(1)


# ---- other providers


def test_packed_calls(allocator: None) -> None:
    @tvm_ffi.register_global_func("tests.variants.twice", override=True)
    def twice(number: int) -> int:  # pyright: ignore[reportUnusedFunction]
        return 2 * number

    module = new_module(kernels(1))
    attach_ffi_func(module, "seven", [], kernel(0), returns=WHICH)
    packed = PackedCallProvider(global_function="tests.variants.twice")
    other = PackedCallProvider("seven", args=[])
    provider = of((packed, ODD), (other, None))
    attach(module, spec.Signature("f", [N], WHICH), provider)
    function = runtime.compile(module)["f"]
    assert [function(3), function(4)] == [6, 0]


def test_a_condition_on_a_stride_that_nothing_else_reads() -> None:
    """Such strides are loaded where they are used: by a test, and by the provider."""
    stride, m = spec.dims("s m")
    x = spec.Tensor("x", [N, m], "float32", strides=[stride, 1], device_type="cpu")
    text = """
    llvm.func @NAME(%p: !llvm.ptr) -> i32 {
      %x = llvm.load %p : !llvm.ptr -> !llvm.ptr
      %at = llvm.getelementptr %x[24] : (!llvm.ptr) -> !llvm.ptr, i8
      %stride = llvm.load %at : !llvm.ptr -> i64
      %s = llvm.trunc %stride : i64 to i32
      llvm.return %s : i32
    }
    """
    one, two = (DynamicParamPackCallProvider(name) for name in ("a", "b"))
    provider = of((one, when.divisible(stride, 4)), (two, when.value(stride) != 1))
    function = wrap([x], provider, text.replace("NAME", "a") + text.replace("NAME", "b"))
    for size, called in ((8, "a"), (5, "b")):
        with pytest.raises(RuntimeError, match=f"^{called} failed with status {size} when"):
            function(np.zeros((2, size), "float32"))
    with pytest.raises(ValueError, match="but got s = 1 when"):
        function(np.zeros((2, 1), "float32"))


PAIR: Final = """
llvm.func @pair(%n: i64) -> !llvm.struct<(ptr, i64)> {
  %at = llvm.mlir.addressof @words : !llvm.ptr
  %empty = llvm.mlir.undef : !llvm.struct<(ptr, i64)>
  %first = llvm.insertvalue %at, %empty[0] : !llvm.struct<(ptr, i64)>
  %pair = llvm.insertvalue %n, %first[1] : !llvm.struct<(ptr, i64)>
  llvm.return %pair : !llvm.struct<(ptr, i64)>
}
llvm.mlir.global constant @words("some words of a kernel")
"""


def test_strs_as_results() -> None:
    """A provider gives the bytes of a str, or the str itself: all variants give the same."""

    @tvm_ffi.register_global_func("tests.variants.words", override=True)
    def words(number: int) -> str:  # pyright: ignore[reportUnusedFunction]
        return "word " * number

    signature = spec.Signature("f", [N], spec.String("s"))
    packed = PackedCallProvider(global_function="tests.variants.words")
    bytes_of = DirectCallProvider("pair", args=["n"])
    for provider in (of((packed, ODD), (packed, None)), of((bytes_of, ODD), (bytes_of, None))):
        module = new_module(PAIR)
        attach(module, signature, provider)
        function = runtime.compile(module)["f"]
        expected = ["some", "some words"] if provider.variants[0].provider == bytes_of else None
        assert [function(4), function(10)] == (expected or ["word " * 4, "word " * 10])
    module = new_module(PAIR)
    mixed = of((packed, ODD), (bytes_of, None))
    with pytest.raises(
        BuildError, match="gives an OwnedAny for the result 's', and 'pair' a value"
    ):
        attach(module, signature, mixed)


def test_results_of_other_types() -> None:
    class Wrong(DirectCallProvider):
        def __call__(self, current_block: Block, context: CallContext) -> Block:
            context.results = [context.builder.i64(1)]
            return context.builder.block

    module = new_module(kernels(1))
    provider = of((kernel(0), ODD), (Wrong("wrong"), None))
    with pytest.raises(BuildError, match="variant 'wrong' gives i64, but 'f' returns i32"):
        attach(module, spec.Signature("f", [N], WHICH), provider)
    provider = of((kernel(0), ODD), (NopCallProvider(), None))
    with pytest.raises(BuildError, match="variant 'NopCallProvider' gives no results, but 'f' ret"):
        attach(module, spec.Signature("f", [N], WHICH), provider)


def test_a_provider_that_ends_its_block() -> None:
    def ends(current_block: Block, context: CallContext) -> Block:
        context.builder.ret(context.builder.i32(0))
        return context.builder.block

    with pytest.raises(BuildError, match="function returned a block that already ends"):
        attached([N], of((ends, ODD), (NopCallProvider(), None)))


def test_a_variant_that_is_wrong_leaves_the_module_unchanged() -> None:
    module = new_module("llvm.func @one(i32)")
    before = str(module)
    with pytest.raises(BuildError, match="the callee @one takes arguments of other types"):
        attach_ffi_func(module, "f", [N], of((NOTHING, ODD), (ONE, None)))
    assert str(module) == before


# ---- what it says of itself


class Author(NopCallProvider):
    """A subclass inherits none of forwards, trusted, borrows_tensors and cache_key."""

    one_at_a_time = True


def test_members_are_combined() -> None:
    direct, packed = Members(of((ONE, ODD), (TWO, None))), PackedCallProvider("f")
    assert direct.trusted
    assert direct.borrows_tensors
    assert direct.forwards
    assert direct.callee is None
    assert Members(of((ONE, ODD), (ONE, None))).callee == "one"
    assert not Members(of((ONE, ODD), (Author(), None))).trusted
    assert not Members(of((ONE, ODD), (packed, None))).borrows_tensors
    assert not Members(of((NopCallProvider(), None))).forwards
    assert Members(of((NopCallProvider(), ODD))).forwards
    assert Members(of((Author(), ODD))).one_at_a_time
    assert not Members(of((Author(), ODD), (ONE, None))).one_at_a_time


def test_every_provider_prepares() -> None:
    class Preparing(NopCallProvider):
        def prepare(self, context: ModuleContext) -> None:
            symbols = context.symbols
            symbols.variable("prepared", bytes(8))

    module = attached([N], of((Preparing(), ODD), (Preparing(), None)))
    assert [name for name in symbol_names(module) if name.startswith("prepared")] == [
        "prepared",
        "prepared_1",
    ]


# ---- reuse


def reused(make: Any, times: int = 4, text: str = STATUSES, *, name: str = "f") -> list[bool]:
    """Attach to a new module each time, and return whether the wrapper was taken from the cache."""
    found: list[bool] = []
    texts: set[str] = set()
    calls: list[int] = []
    original = VariantsCallProvider.__call__

    def counting(self: Any, block: Any, context: Any) -> Any:
        calls.append(1)
        return original(self, block, context)

    for _ in range(times):
        calls.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(VariantsCallProvider, "__call__", counting)
            module = new_module(text)
            attach_ffi_func(module, name, [N], make())
        texts.add(str(module))
        found.append(not calls)
    assert len(texts) == 1
    return found


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "_KEPT", type(reuse._KEPT)())  # pyright: ignore[reportPrivateUsage]


@pytest.mark.usefixtures("fresh")
def test_equal_wrappers_are_reused() -> None:
    def make() -> VariantsCallProvider:
        return of((ONE, when.divisible(N, 4)), (NOTHING, when.value(N) > 3))

    assert reused(make) == [False, False, True, True]


@pytest.mark.usefixtures("fresh")
def test_other_conditions_callees_and_names_are_not() -> None:
    others = [
        lambda: of((ONE, when.divisible(N, 4)), (NOTHING, None)),
        lambda: of((ONE, when.divisible(N, 8)), (NOTHING, None)),
        lambda: of((TWO, when.divisible(N, 4)), (NOTHING, None)),
        lambda: of((ONE, when.value(N) > 4), (NOTHING, None)),
        lambda: of((ONE, when.value(N) >= 4), (NOTHING, None)),
        lambda: VariantsCallProvider(
            [Variant(ONE, when=ODD, name="a"), Variant(NOTHING, when=~ODD & SMALL)]
        ),
        lambda: VariantsCallProvider(
            [Variant(ONE, when=ODD, name="b"), Variant(NOTHING, when=~ODD & SMALL)]
        ),
    ]
    for make in others:
        assert reused(make, 3) == [False, False, True]


@pytest.mark.usefixtures("fresh")
def test_the_types_of_all_callees_are_part_of_the_key() -> None:
    def make() -> VariantsCallProvider:
        return of((NOTHING, ODD), (DirectCallProvider("two"), None))

    assert reused(make, 3) == [False, False, True]
    other = STATUSES.replace("@two(%n: i64) -> i64 { llvm.return %n : i64 }", "@two(i64) -> i16")
    assert reused(make, 3, other) == [False, False, True]


@pytest.mark.usefixtures("fresh")
def test_an_authors_provider_prevents_it() -> None:
    assert reused(lambda: of((Author(), ODD), (ONE, None)), 3) == [False] * 3


def test_wrappers_that_differ_in_the_order_of_kernels_alone() -> None:
    for first, second in ((0, 1), (1, 0), (0, 1), (1, 0), (1, 0), (0, 1)):
        module = new_module(kernels(2))
        provider = of((kernel(first), ODD), (kernel(second), None))
        attach(module, spec.Signature("f", [N], WHICH), provider)
        function = runtime.compile(module)["f"]
        assert [function(1), function(2)] == [first, second]


@pytest.mark.usefixtures("fresh")
def test_a_reused_wrapper_chooses() -> None:
    for _ in range(4):
        module = new_module(kernels(2))
        attach(module, spec.Signature("f", [N], WHICH), variants(ODD, SMALL))
        function = runtime.compile(module)["f"]
        assert [function(1), function(2)] == [0, 1]
        with pytest.raises(ValueError, match=r"k1 \(n <= 2\) but got n = 4 when calling: `f\(n: "):
            function(4)
