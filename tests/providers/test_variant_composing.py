"""Variants with every provider, in and around others; what they say of themselves; reuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, attach, attach_ffi_func, runtime, spec
from ffi_builder.builder import reuse
from ffi_builder.providers import (
    Block,
    CallContext,
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    ModuleContext,
    NopCallProvider,
    PackedCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)
from ffi_builder.providers.provider import Members
from tests.providers.variants import WHICH, kernel, kernels, variants
from tests.support.printed import symbol_names
from tests.support.wrapping import attached, new_module, wrap

(N,) = spec.dims("n")
X: Final = spec.Tensor("x", [N], ("float32", "float64"), device_type="cpu")
SINGLE: Final = when.dtype(X) == "float32"
SMALL: Final = when.value(N) <= 2
PASSES: Final = "builtin.module(convert-to-llvm,reconcile-unrealized-casts)"


def of(*pairs: tuple[CallProvider, Any]) -> VariantsCallProvider:
    return VariantsCallProvider([Variant(provider, when=c) for provider, c in pairs])


# ---- kernels of one dtype each


MEMREFS: Final = """
func.func @f32(%x: memref<?xf32>) { %c = arith.constant 0 : index
  %v = arith.constant 1.0 : f32 memref.store %v, %x[%c] : memref<?xf32> return }
func.func @f64(%x: memref<?xf64>) { %c = arith.constant 0 : index
  %v = arith.constant 2.0 : f64 memref.store %v, %x[%c] : memref<?xf64> return }
"""


def lowered(provider: CallProvider, param: spec.Param = X) -> runtime.CompiledModule:
    def hook(module: Any) -> None:
        attach(module, spec.Signature("f", [param]), provider)

    return runtime.compile(MEMREFS, pipeline=PASSES, post_compile_hooks=[hook])


@pytest.mark.parametrize("default", [None, when.dtype(X) == "float64"])
def test_each_memref_takes_its_own_dtype(default: Any) -> None:
    single, double = MemRefCallProvider("f32"), MemRefCallProvider("f64")
    function = lowered(of((single, SINGLE), (double, default)))["f"]
    for dtype, expected in (("float32", 1), ("float64", 2)):
        x = np.zeros(2, dtype)
        function(x)
        assert x.tolist() == [expected, 0]


def test_a_memref_of_another_dtype() -> None:
    single, double = MemRefCallProvider("f32"), MemRefCallProvider("f64")
    with pytest.raises(BuildError) as raised:
        lowered(of((double, SINGLE), (single, None)))
    assert str(raised.value) == (
        "MemRefCallProvider: the callee @f64 takes 'x' as memref<?xf64>, but the spec is "
        "Tensor([n], float32): the kernel's elements are f64, not float32; write dtype='float64', "
        "or change the kernel's element type"
    )


def test_a_memref_where_both_dtypes_are_left() -> None:
    single, double = MemRefCallProvider("f32"), MemRefCallProvider("f64")
    with pytest.raises(
        BuildError, match=r"is Tensor\(\[n\], float32 \| float64\): the kernel's el"
    ):
        lowered(of((single, SMALL), (double, None)))


def test_nested_variants_know_what_is_left() -> None:
    single, double = MemRefCallProvider("f32"), MemRefCallProvider("f64")
    inner = of((double, SMALL), (double, None))
    function = lowered(of((single, SINGLE), (inner, None)))["f"]
    for size in (1, 5):
        x = np.zeros(size)
        function(x)
        assert x[0] == 2


PAIRS: Final = """
func.func @f32(%x: memref<?xf32>, %y: memref<?xf32>) { %c = arith.constant 0 : index
  %v = memref.load %x[%c] : memref<?xf32> memref.store %v, %y[%c] : memref<?xf32> return }
func.func @f64(%x: memref<?xf64>, %y: memref<?xf64>) { %c = arith.constant 0 : index
  %v = memref.load %x[%c] : memref<?xf64> memref.store %v, %y[%c] : memref<?xf64> return }
"""
LIKE_X: Final = spec.Tensor("y", [N], "x.dtype", device_type="cpu")
OF_ANY_RANK: Final = spec.Tensor("y", ..., "x.dtype", device_type="cpu")


def pairs(
    params: list[spec.Param], args: Any = None, condition: Any = SINGLE
) -> runtime.CompiledModule:
    def hook(module: Any) -> None:
        f32, f64 = (MemRefCallProvider(name, args=args) for name in ("f32", "f64"))
        attach(module, spec.Signature("f", params), of((f32, condition), (f64, None)))

    return runtime.compile(PAIRS, pipeline=PASSES, post_compile_hooks=[hook])


@pytest.mark.parametrize(
    ("params", "args"),
    [
        ([X, LIKE_X], None),
        ([X, LIKE_X], [X, LIKE_X]),
        ([X, spec.Struct("cfg", [LIKE_X])], ["x", "cfg.y"]),
        ([X, spec.Tensor("b", [N], "x.dtype", device_type="cpu"), replace(LIKE_X, dtype="b.dtype")], ["x", "y"]),
    ],
)  # fmt: skip
def test_tensors_of_its_dtype_are_settled_with_it(params: list[spec.Param], args: Any) -> None:
    function = pairs(params, args)["f"]
    for dtype in ("float32", "float64"):
        x, y = np.ones(2, dtype), np.zeros(2, dtype)
        last = (y,) if isinstance(params[1], spec.Struct) else y
        function(*[x] * (len(params) - 1), last)
        assert y.tolist() == [1, 0]


def test_an_absent_tensor_of_its_dtype() -> None:
    """The Optional, as an argument of a provider, knows where its dtype is from."""
    given = spec.Optional(LIKE_X)
    for args in (None, [X, given], ["x", "y"]):
        function = pairs([X, given], args)["f"]
        x, y = np.ones(2), np.zeros(2)
        function(x, y)
        assert y.tolist() == [1, 0]


def test_a_known_rank_and_the_dtype_of_another() -> None:
    """Both conditions narrow one tensor, in variants within variants too."""

    def hook(module: Any) -> None:
        f32, f64 = MemRefCallProvider("f32"), MemRefCallProvider("f64")
        by_dtype = of((f32, SINGLE), (f64, None))
        signature = spec.Signature("f", [X, OF_ANY_RANK])
        one = when.ndim(OF_ANY_RANK) == 1
        attach(module, signature, of((by_dtype, one), (NopCallProvider(), None)))
        flat = of((f32, one & SINGLE), (f64, one), (NopCallProvider(), None))
        attach(module, signature, flat, symbol_name="flat")

    made = runtime.compile(PAIRS, pipeline=PASSES, post_compile_hooks=[hook])
    for name in ("f", "flat"):
        for dtype in ("float32", "float64"):
            x, y, other = np.ones(2, dtype), np.zeros(2, dtype), np.zeros((2, 2), dtype)
            made[name](x, y)
            made[name](x, other)
            assert (y.tolist(), other.any()) == ([1, 0], False)


def test_a_memref_of_the_dtype_of_another_that_is_not_settled() -> None:
    with pytest.raises(
        BuildError, match=r"is Tensor\(\[n\], x\.dtype\): the kernel's elements are"
    ):
        pairs([X, LIKE_X], ["y", "y"], SMALL)


# ---- kernels of one rank each


RANKS: Final = """
func.func @r0(%x: memref<f32>) { %v = arith.constant 1.0 : f32
  memref.store %v, %x[] : memref<f32> return }
func.func @r2(%x: memref<?x?xf32, LAYOUT>) { %zero = arith.constant 0 : index
  %one = arith.constant 1 : index %m = memref.dim %x, %one : memref<?x?xf32, LAYOUT>
  %at = arith.subi %m, %one : index %v = arith.constant 2.0 : f32
  memref.store %v, %x[%one, %at] : memref<?x?xf32, LAYOUT> return }
"""
STRIDED: Final = "strided<[?, ?]>"


@pytest.mark.parametrize(
    ("strides", "layout"),
    [(None, "affine_map<(i, j) -> (i, j)>"), ("F", STRIDED), ("any", STRIDED)],
)
def test_each_memref_takes_its_own_rank(strides: str | None, layout: str) -> None:
    r = spec.Tensor("r", ..., "float32", device_type="cpu", strides=strides)
    provider = of(
        (MemRefCallProvider("r0"), when.ndim(r) < 1),
        (MemRefCallProvider("r2"), when.ndim(r) == 2),
        (NopCallProvider(), None),
    )

    def hook(module: Any) -> None:
        attach(module, spec.Signature("f", [r]), provider)

    text = RANKS.replace("LAYOUT", layout)
    function = runtime.compile(text, pipeline=PASSES, post_compile_hooks=[hook])["f"]
    scalar = np.zeros((), "float32")
    function(scalar)
    assert scalar.tolist() == 1
    arrays = {None: [np.zeros((2, 3), "float32")], "F": [np.zeros((2, 3), "float32", order="F")]}
    base: Any = np.zeros((4, 7), "float32")
    for x in arrays.get(strides, [base[:2, :3], base[::2, 1::3], base[:2, :3].T]):
        x[...] = 0
        function(x)
        assert x[1, -1] == 2
        assert x.sum() == 2
    function(np.zeros((1, 1, 1), "float32"))


def test_a_rank_of_an_optional_tensor() -> None:
    r = spec.Tensor("r", ..., "float32", device_type="cpu", strides="any")
    rank = MemRefCallProvider("r2", args=["r"])
    inner = of((rank, SMALL), (rank, None))
    provider = of((inner, when.ndim(r) == 2), (NopCallProvider(), None))

    def hook(module: Any) -> None:
        attach(module, spec.Signature("f", [spec.Optional(r), N]), provider)

    text = RANKS.replace("LAYOUT", STRIDED)
    function = runtime.compile(text, pipeline=PASSES, post_compile_hooks=[hook])["f"]
    function(None, 1)
    for size in (1, 5):
        x = np.zeros((3, 4), "float32")[:, ::2]
        function(x, size)
        assert x.tolist() == [[0, 0], [0, 2], [0, 0]]


def test_a_memref_of_another_rank() -> None:
    r = spec.Tensor("x", ..., "float32", device_type="cpu")
    with pytest.raises(
        BuildError, match="the kernel's rank is 1, but the spec's shape has length 2"
    ):
        lowered(of((MemRefCallProvider("f32"), when.ndim(r) == 2), (NopCallProvider(), None)), r)


def test_a_memref_of_a_rank_and_a_dtype() -> None:
    r = spec.Tensor("x", ..., ("float32", "float64"), device_type="cpu")
    several = of((MemRefCallProvider("f32"), when.ndim(r) <= 2), (NopCallProvider(), None))
    with pytest.raises(BuildError, match="'x' may have any number of dimensions, and a memref has"):
        lowered(several, r)
    both = of(
        (MemRefCallProvider("f32"), (when.ndim(r) == 1) & (when.dtype(r) == "float32")),
        (MemRefCallProvider("f64"), when.ndim(r) == 1),
    )
    function = lowered(both, r)["f"]
    for dtype, expected in (("float32", 1), ("float64", 2)):
        x = np.zeros(2, dtype)
        function(x)
        assert x.tolist() == [expected, 0]


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


def test_pointers_to_parameters() -> None:
    packing = DynamicParamPackCallProvider("k", args=["n"])
    text = """
    llvm.func @k(%p: !llvm.ptr) -> i32 {
      %at = llvm.load %p : !llvm.ptr -> !llvm.ptr
      %n = llvm.load %at : !llvm.ptr -> i64
      %s = llvm.trunc %n : i64 to i32
      llvm.return %s : i32
    }
    """
    function = wrap([N], of((packing, ODD), (NopCallProvider(), None)), text)
    function(2)
    with pytest.raises(RuntimeError, match="k failed with status 3"):
        function(3)


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


def test_tensors_to_allocate_are_known_like_their_arguments(allocator: None) -> None:
    """Each memref takes a workspace of the dtype, and the rank, of the argument."""
    x = spec.Tensor("x", ..., ("float32", "float64"), device_type="cpu")
    w = spec.Workspace("w", "x.shape", "x.dtype", device_type="cpu")
    names = {"f32": "float32", "f64": "float64"}
    provider = of(
        *(
            (MemRefCallProvider(name, args=["w"]), (when.dtype(x) == dtype) & (when.ndim(x) == 1))
            for name, dtype in names.items()
        ),
        (NopCallProvider(), None),
    )

    def hook(module: Any) -> None:
        attach(module, spec.Signature("f", [x, w]), provider)

    function = runtime.compile(MEMREFS, pipeline=PASSES, post_compile_hooks=[hook])["f"]
    for array in (np.zeros(2, "float32"), np.zeros(2), np.zeros((2, 2))):
        function(array)


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
