"""Launches of Triton's kernels, with stand-ins that have the attributes of Triton 3.9.

test_triton.py does the same with Triton itself.
"""

from __future__ import annotations

import struct
from contextlib import nullcontext
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, Launch, SpecError, attach, runtime, spec, testing, wrap
from ffi_builder.providers import CudaLaunchCallProvider, Variant, VariantsCallProvider, when
from ffi_builder.providers.cuda import Scalar, TensorMap
from tests.fakecuda import Call, FakeDriver, device_array
from tests.fakecuda import Launch as Launched
from tests.fakecuda.allocating import Allocator
from tests.fakecuda.memory import tensor_at
from tests.support.tritons import tritons
from tests.support.wrapping import new_module

PTX: Final = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n, .param .u64 global, .param .u64 profile) { ret; }
"""
TEXT: Final = "k(x: Tensor([n], float32)) where n: int32"


def compiled(promises: Any = (), **changed: Any) -> Any:
    """Return a stand-in for what ``triton.compile`` returns, with changed metadata."""
    return tritons("k", {"cubin": PTX}, {"x": "*fp32", "n": "i32"}, promises, **changed)


PROFILED: Final = {"profile_scratch_size": 64, "profile_scratch_align": 64}
GLOBAL: Final = {"global_scratch_size": 128, "global_scratch_align": 128}


def test_scratch_memory_for_profiles_is_zero(driver: FakeDriver, allocator: Allocator):
    launch = Launch(grid="ceildiv(n, 4)")
    function = wrap(compiled(**GLOBAL, **PROFILED), TEXT, device="cuda", launch=launch)["k"]
    x = device_array(driver, np.zeros(10, "float32"))
    function(x.tensor())
    (own, profile), (launched,) = allocator.arrays, driver.launches()
    assert launched.values(["handle", "int32", "handle", "handle"]) == [
        *(x.address, 10),
        *(own.address, profile.address),
    ]
    assert (own.shape, profile.shape) == ((3, 128), (3, 64))
    events = [
        each.name if isinstance(each, Call) else "launch"
        for each in driver.log()
        if isinstance(each, Launched) or (isinstance(each, Call) and "Memset" in each.name)
    ]
    assert events == ["cuMemsetD8Async", "launch"]
    assert not profile.host.any()
    assert own.host.all()
    assert allocator.alive == {}


N: Final = spec.Var("n", "int32")


@pytest.mark.parametrize("grid", ["n + 1", N + 1, 11, ("n + 1", 3)])
@pytest.mark.parametrize("num_ctas", [1, 4])
def test_the_grid_counts_programs_of_num_ctas_blocks(
    driver: FakeDriver, allocator: Allocator, num_ctas: int, grid: Any
):
    source, launch = compiled(**GLOBAL, num_ctas=num_ctas), Launch(grid=grid)
    source.asm["cubin"] = PTX.replace("sm_70", "sm_90").replace("7.0", "8.0")
    function = wrap(source, TEXT, device="cuda", launch=launch)["k"]
    function(device_array(driver, np.zeros(10, "float32")).tensor())
    (scratch,), (launched,) = allocator.arrays, driver.launches()
    y = 3 if isinstance(grid, tuple) else 1
    assert launched.grid == (11 * num_ctas, y, 1)
    assert launched.cluster == (num_ctas, 1, 1)
    assert np.prod(scratch.shape) == 11 * num_ctas * y * 128


def test_an_allocator_that_aligns_to_less(driver: FakeDriver, allocator: Allocator):
    metadata = {"global_scratch_size": 8, "global_scratch_align": 1 << 40}
    function = wrap(compiled(**metadata), TEXT, device="cuda", launch=Launch(grid=1))["k"]
    x = device_array(driver, np.zeros(10, "float32")).tensor()
    words = r"workspace global_scratch is .* behind a multiple of 1099511627776"
    with pytest.raises(RuntimeError, match=words):
        function(x)
    assert driver.launches() == []


@pytest.mark.parametrize(
    ("text", "launch", "error", "words"),
    [
        (
            "k(x: Tensor([n], float32), s: Stream) where n: int32",
            Launch(grid="n"),
            SpecError,
            "wrap: Triton's kernel 'k' needs scratch memory. Signature 'k': Workspace "
            "'global_scratch' is released for the framework's current stream, and Stream 's' may "
            "be another one; use an EnvStream",
        ),
        (TEXT, Launch(grid="n", stream=0), BuildError, "as Workspace 'global_scratch' is released"),
        (TEXT, Launch(grid="m"), BuildError, "wrap: launch=: grid: there is no symbol 'm', but n"),
        (TEXT, Launch(grid=-1), SpecError, "grid.x: expected 0 to 2147483647 but got -1"),
    ],
)
def test_no_workspace(text: str, launch: Launch, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as raised:
        wrap(compiled(**GLOBAL), text, device="cuda", launch=launch)
    assert words in str(raised.value)


def test_a_name_that_is_taken(driver: FakeDriver, allocator: Allocator):
    text = "k(global_scratch: Tensor([profile_scratch], float32)) where profile_scratch: int32"
    args, launch = ["global_scratch", "profile_scratch"], Launch(grid=1)
    made = wrap(compiled(**GLOBAL, **PROFILED), text, device="cuda", launch=launch, args=args)
    x = device_array(driver, np.zeros(10, "float32"))
    made["k"](x.tensor())
    (launched,) = driver.launches()
    assert launched.values(["handle", "int32", "handle", "handle"]) == [
        *(x.address, 10),
        *(array.address for array in allocator.arrays),
    ]


@pytest.mark.parametrize("args", [None, ["x", "n"], ["x.data", "n"]])
def test_a_tensor_of_any_rank_is_its_data(driver: FakeDriver, args: Any):
    source = compiled({(0,): [["tt.divisibility", 16]]})
    text = "k(x: Tensor(..., float32, strides=any), n: int32)"
    function = wrap(source, text, device="cuda", launch=Launch(grid=1), args=args)["k"]
    x = device_array(driver, np.zeros((4, 4), "float32"))
    function(x.tensor(), 3)
    (launched,) = driver.launches()
    assert launched.values(["handle", "int32", "handle", "handle"]) == [x.address, 3, 0, 0]
    with pytest.raises(ValueError, match=r"x\.data"):
        function(x.tensor(byte_offset=4), 3)


@pytest.mark.parametrize(("alignment", "conditions"), [(32, 0), (16, 0), (8, 1)])
def test_an_alignment_that_both_say(alignment: int, conditions: int) -> None:
    source = compiled({(0,): [["tt.divisibility", 16]]})
    text = TEXT.replace("float32", f"float32, data_alignment={alignment}")
    made = wrap(source, text, device="cuda", launch=Launch(grid=1))
    assert str(made["k"].__doc__).count("x.data % 16 == 0") == conditions


@pytest.mark.parametrize(
    ("said", "bytes_"), [("", 16), (", data_alignment=4", 16), (", data_alignment=32", 32)]
)
def test_a_result_has_the_alignment_that_triton_relies_on(
    driver: FakeDriver, allocator: Allocator, said: str, bytes_: int
):
    source = compiled({(0,): [["tt.divisibility", 16]]})
    text = f"k(y: Tensor([n], float32)) -> x: Tensor([n], float32{said}) where n: int32"
    function = wrap(source, text, device="cuda", launch=Launch(grid=1))["k"]
    function(device_array(driver, np.zeros(10, "float32")).tensor())
    ((result,), (launched,)) = allocator.arrays, driver.launches()
    assert launched.values(["handle", "int32", "handle", "handle"]) == [result.address, 10, 0, 0]
    assert f"x: Tensor([n], float32, device_type=cuda, data_alignment={bytes_})" in str(
        function.__doc__
    )
    assert "%" not in str(function.__doc__)


def test_a_check_of_what_triton_relies_on() -> None:
    """The alignment is in the signature alone, and examples keep it."""
    source = compiled({(0,): [["tt.divisibility", 16]]})
    text = "k(x: Tensor([n], float32, intent=inout)) where n: int32"
    made = wrap(source, text, device="cuda", launch=Launch(grid=1))
    signature = spec.Signature.parse(str(made["k"].__doc__), device="cuda")

    def unchanged(x: Any) -> Any:
        return x

    with testing.FakeCuda("sm_90", execute=True):
        testing.check_kernel(made, signature, unchanged, examples=30)


def test_an_allocator_that_aligns_a_result_to_less(driver: FakeDriver, allocator: Allocator):
    source = compiled({(0,): [["tt.divisibility", 1 << 40]]})
    text = "k(y: Tensor([n], float32)) -> x: Tensor([n], float32) where n: int32"
    function = wrap(source, text, device="cuda", launch=Launch(grid=1))["k"]
    with pytest.raises(RuntimeError, match=r"result x is .* behind a multiple of 1099511627776"):
        function(device_array(driver, np.zeros(10, "float32")).tensor())
    assert driver.launches() == []


def test_some_arguments_by_name(driver: FakeDriver):
    text = "k(x: Tensor([a, b], float32))"
    how: dict[str, Any] = {"device": "cuda", "launch": Launch(grid=1)}
    function = wrap(compiled(), text, args={"n": "a * b"}, **how)["k"]
    x = device_array(driver, np.zeros((3, 5), "float32"))
    function(x.tensor())
    (launched,) = driver.launches()
    assert launched.values(["handle", "int32", "handle", "handle"]) == [x.address, 15, 0, 0]
    any_rank = text.replace("[a, b]", "...")
    function = wrap(compiled(), any_rank, args={"n": 7}, **how)["k"]
    function(x.tensor())
    assert driver.launches()[1].arguments[1] == struct.pack("<i", 7)


@pytest.mark.parametrize(
    ("source", "signatures", "args", "error", "words"),
    [
        (compiled(), 1, None, BuildError, r"lacks: n; add them to the signature, or to args=, as in args={'n': …}"),
        (compiled(), 1, {"x": "x"}, BuildError, r"neither the signature nor args= has: n; add"),
        (compiled(), 1, ["x", 3, None, None], BuildError, r"'k' takes 2 arguments, but args= has None behind them: leave it out"),
        (compiled(), 1, ["x", 3, None, 4], BuildError, r"takes 2 parameters .*, but 4 are passed"),
        (compiled(), 1, {"m": 3}, BuildError, "'m', but k has no such parameter; it has x, n"),
        (compiled(), 2, {"n": 3}, TypeError, "args= goes with one signature"),
        (PTX, 1, {"n": 3}, TypeError, "goes with prototype=, or with LLVM IR or a kernel of Tri"),
    ],
)  # fmt: skip
def test_arguments_by_name_that_do_not_go(
    source: Any, signatures: int, args: Any, error: type[Exception], words: str
):
    texts = ["k(x: Tensor([a, b], float32))"] * signatures
    with pytest.raises(error, match=words):
        wrap(source, texts, device="cuda", launch=Launch(grid=1, block=1), args=args)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TEXT, None),
        (
            TEXT.replace("32))", "32), BLOCK: int32)"),
            "'BLOCK' is a constexpr of .* compiled with 64",
        ),
        (TEXT.replace("[n]", "[n, BLOCK]"), "leave the parameter out, and write the number for"),
        (
            TEXT.replace("32))", "32), m: int32)"),
            "k gets nothing of `m` of the signature: leave it",
        ),
    ],
)
def test_parameters_that_the_kernel_does_not_get(text: str, words: str | None):
    source = compiled()
    source.src.signature = {**source.src.signature, "BLOCK": "constexpr"}
    source.src.constants = {(2,): 64}
    with nullcontext() if words is None else pytest.raises(BuildError, match=words):
        wrap(source, text, device="cuda", launch=Launch(grid="n"))


def test_a_number_that_only_the_grid_gets(driver: FakeDriver):
    text = TEXT.replace("32))", "32), blocks: int32)")
    x = device_array(driver, np.zeros(10, "float32"))
    wrap(compiled(), text, device="cuda", launch=Launch(grid="blocks"))["k"](x.tensor(), 3)
    assert driver.launches()[0].grid == (3, 1, 1)


# ---- tensor descriptors of the caller

DESCRIBED: Final = PTX.replace(
    ".param .u64 x, .param .u32 n,",
    ".param .align 64 .b8 m[128], .param .u32 r, .param .u32 c, .param .u64 s, .param .u64 t,",
)
FACTS: Final[dict[str, Any]] = {
    "swizzle": 3,
    "elem_size": 4,
    "elem_type": 7,
    "block_size": [8, 32],
    "fp4_padded": False,
}
ONE: Final = "k(x: Tensor([n, m], float32))"


def described(type_: str = "tensordesc<fp32[8, 32]>", **changed: Any) -> Any:
    """A kernel with one descriptor."""
    made = compiled(tensordesc_meta=[FACTS | changed])
    made.asm["cubin"], made.src.signature = DESCRIBED, {"x": type_}
    return made


@pytest.mark.parametrize("args", [None, [TensorMap("x", box=(8, 32))]])
def test_the_signature_says_how_a_tensor_of_a_map_is_aligned(driver: FakeDriver, args: Any):
    function = wrap(described(), ONE, device="cuda", launch=Launch(grid=1), args=args)["k"]
    assert "where x.data % 16 == 0" in str(function.__doc__)
    x = device_array(driver, np.zeros((16, 64), "float32"))
    with pytest.raises(ValueError, match=r"expected x\.data % 16 == 0"):
        function(x.tensor(byte_offset=8))
    aligned = ONE.replace("float32", "float32, data_alignment=16")
    function = wrap(described(), aligned, device="cuda", launch=Launch(grid=1), args=args)["k"]
    assert "%" not in str(function.__doc__)


@pytest.mark.parametrize(
    ("dtype", "triton", "element", "driver_s"),
    [
        ("float32", "fp32", {}, 7),
        ("float64", "fp64", {"elem_type": 9, "block_size": [8, 16]}, 8),
        ("bfloat16", "bf16", {"elem_type": 10, "block_size": [8, 64]}, 9),
        ("int8", "i8", {"elem_type": 0, "block_size": [8, 128]}, 0),
        ("float8_e5m2", "fp8e5", {"elem_type": 0, "block_size": [8, 128]}, 0),
    ],
)
def test_types_of_elements(
    driver: FakeDriver, dtype: str, triton: str, element: dict[str, Any], driver_s: int
):
    source = described(f"tensordesc<{triton}{element.get('block_size', [8, 32])}>", **element)
    text = ONE.replace("float32", dtype)
    function = wrap(source, text, device="cuda", launch=Launch(grid=1))["k"]
    x = device_array(driver, np.zeros((16, 1024), "int8"))
    function(tensor_at(x.address, (16, 128), dtype))
    (call,) = [each for each in driver.calls() if each.name == "cuTensorMapEncodeTiled"]
    assert (call.result, call.arguments["type"]) == (0, driver_s)


def test_a_map_that_is_written_by_hand(driver: FakeDriver):
    args = [TensorMap("x", box=(8, 32), oob_fill="nan", dtype="tfloat32")]
    function = wrap(described(), ONE, device="cuda", launch=Launch(grid=1), args=args)["k"]
    x = device_array(driver, np.zeros((16, 64), "float32"))
    function(x.tensor())
    (launched,) = driver.launches()
    (kind,) = struct.unpack_from("<Q", launched.arguments[0], 24)
    assert kind == 11
    assert struct.unpack_from("<I", launched.arguments[0], 104) == (1,)
    assert b"".join(launched.arguments[1:]) == struct.pack("<2i2q", 16, 64, 64, 1) + bytes(16)


def test_without_maps_the_same_choices_are_numbers(driver: FakeDriver):
    source, pairs = described(), ".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d"
    source.metadata.tensordesc_meta = []
    source.asm["cubin"] = DESCRIBED.replace(
        ".param .align 64 .b8 m[128]", f".param .u64 x, {pairs}, .param .u8 e, .param .u8 f"
    ).replace(" c,", " g,")
    for entry, choices in ("x", (0, 0)), (TensorMap("x", box=(8, 32), oob_fill="nan"), (1, 0)):
        function = wrap(source, ONE, device="cuda", launch=Launch(grid=1), args=[entry])["k"]
        x = device_array(driver, np.zeros((16, 64), "float32"))
        function(x.tensor())
        given = driver.launches()[-1].arguments
        expected = struct.pack("<Q4q2b", x.address, 16, 64, 64, 1, *choices)
        assert b"".join(given[:7]) == expected


@pytest.mark.parametrize(
    ("type_", "text", "words"),
    [
        ("tensordesc<fp32[8, 32]>", "k(x: Tensor(..., float32))", "a tensor descriptor of 'x', which may have any rank: declare 2 sizes, or None"),
        ("tensordesc<fp32[8, 32]>", "k(x: Tensor([n], float32))", "it has 1 dimensions, but box="),
        ("tensordesc<fp16[8, 32]>", ONE, "x is a pointer to float16, but .* 'x' are float32"),
        (
            "tensordesc_im2col<fp32[8, 32],input_rank=4>",
            "k(x: Tensor([n, h, w, c], float32))",
            r"'k' is an im2col descriptor, .* args= as TensorMap\('x', corners=…",
        ),
    ],
)  # fmt: skip
def test_descriptors_of_other_tensors(type_: str, text: str, words: str) -> None:
    with pytest.raises(BuildError, match=words):
        wrap(described(type_), text, device="cuda", launch=Launch(grid=1))


def test_kernels_of_two_blocks_are_variants(driver: FakeDriver):
    """Each with the map of its own metadata, and the sizes and strides written by hand."""
    signature = spec.Signature.parse("k(x: Tensor([n, m], float32))", device="cuda")
    n, m = (spec.Var(name, "int64") for name in "nm")
    rest = [Scalar(n, "int32"), Scalar(m, "int32"), "m", 1, None, None]

    def variant(rows: int, condition: Any) -> Variant:
        entry = TensorMap("x", box=(rows, 32), swizzle=FACTS["swizzle"], l2_promotion="128B")
        provider = CudaLaunchCallProvider(DESCRIBED, "k", grid=1, block=128, args=[entry, *rest])
        return Variant(provider, when=condition, name=f"rows{rows}")

    choice = VariantsCallProvider([variant(64, when.divisible(n, 64)), variant(8, None)])
    module = new_module()
    attach(module, signature, choice)
    function = runtime.compile(module)["k"]
    x = device_array(driver, np.zeros((64, 64), "float32"))
    for rows in (64, 24):
        function(tensor_at(x.address, (rows, 64), "float32"))
    boxes = [struct.unpack_from("<2I", each.arguments[0], 72) for each in driver.launches()]
    assert boxes == [(32, 64), (32, 8)]
    assert b"".join(driver.launches()[1].arguments[1:5]) == struct.pack("<2i2q", 24, 64, 64, 1)
