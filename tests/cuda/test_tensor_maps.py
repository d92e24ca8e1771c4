"""Tensor maps that a launch encodes: the rules, what the driver is asked for, and what is kept."""

from __future__ import annotations

import ctypes
import random
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from ffi_builder import BuildError, SpecError, attach_ffi_func, runtime, spec
from ffi_builder.cuda.launch.map_rules import FILLS, INTERLEAVES, RULES, SWIZZLES, TYPES
from ffi_builder.providers.cuda import Struct, TensorMap
from tests.cuda.asking import CASES, IM2COL, MAP, TILED, K, M, Request, X, asked, ints, tensor
from tests.cuda.launching import provider, wrap
from tests.fakecuda import DeviceArray, FakeDriver, KernelImage, Result, environment, missing, older
from tests.fakecuda.memory import tensor_at
from tests.runtime.samples import run_child
from tests.support.wrapping import attached, new_module

P = ctypes.c_void_p
BOX3: Final[dict[str, Any]] = {"box": (1, 8, 64)}
PATCH: Final[dict[str, Any]] = {"corners": ((0,), (0,)), "channels": 64, "pixels": 8}


# The rules.


OURS: Final = ("innermost elements are adjacent", "the driver ignores that")
"""Rules that the driver cannot check: it is not asked for the innermost strides."""


@pytest.mark.parametrize(("words", "accepted", "refused"), CASES, ids=[case[0] for case in CASES])
def test_each_rule_of_the_header(
    driver: FakeDriver, words: str, accepted: list[Request], refused: list[Request]
):
    assert sum(words in rule.why for rule in RULES) >= 1
    with driver.current(0):
        for request in accepted:
            assert (request.allowed(), request.made(driver.call)) == (True, 0), request
        for request in refused:
            assert (request.allowed(), request.made(driver.call)) == (False, 1), request


def test_every_rule_has_a_case():
    known = [*(case[0] for case in CASES), *OURS]
    assert [rule.why for rule in RULES if not any(words in rule.why for words in known)] == []


def test_rules_and_fake_agree_on_drawn_requests(driver: FakeDriver):
    draw = random.Random(48)

    def some(usual: Sequence[Any], odd: Sequence[Any]) -> Any:
        return draw.choice(odd if draw.random() < 0.04 else usual)

    answers = {True: 0, False: 0}
    with driver.current(0):
        for _ in range(1500):
            dtype, wide = draw.choice(list(TYPES)), draw.choice([None, None, "w"])
            request = Request(
                dtype=dtype,
                rank=some([3, 4, 5], [1, 2, 6]),
                address=some([1 << 20], [(1 << 20) + 16, (1 << 20) + 8]),
                sizes=[some([128, 256], [0, 1, 2**31]) for _ in range(5)],
                strides=[some([192, 9600], [16, 24, 2**40]) for _ in range(4)],
                box=[some([128], [16, 32]), *(some([1, 8], [0, 257]) for _ in range(4))],
                steps=[1, *(some([1, 2], [0, 9]) for _ in range(4))],
                swizzle=draw.choice(list(SWIZZLES)),
                interleave=some(["none"], INTERLEAVES),
                oob_fill=some(["none"], FILLS),
                corners=draw.choice([None, ((-1, -2, 0), (0, 1, 2))]),
                channels=some([128], [16, 32, 0, 300]),
                pixels=some([8], [0, 1024, 1025]),
            )
            request = replace(request, wide=wide if request.corners else None)
            allowed = request.allowed()
            assert (request.made(driver.call) == 0) == allowed, request
            answers[allowed] += 1
    assert min(answers.values()) > 100


def test_names_may_be_the_drivers_numbers():
    made = TensorMap(
        "x", box=(64, 64), swizzle=3, interleave=0, l2_promotion=2, oob_fill=1, dtype=6
    )
    assert (made.swizzle, made.interleave, made.l2_promotion) == ("128B", "none", "128B")
    assert (made.oob_fill, made.dtype) == ("nan", "float16")


# What the driver is asked for.


def drawn(draw: random.Random, rank: int) -> tuple[str, list[int], list[int], list[int]]:
    """A dtype, and the box, the element strides and the size of a tensor."""
    dtype = draw.choice(["float16", "float32", "uint8", "bfloat16", "float64"])
    box = [draw.randint(1, 256) for _ in range(rank - 1)]
    steps = [draw.randint(1, 8) for _ in range(rank - 1)]
    shape = [draw.randint(1, 2 ** min(60 // rank, 31)) for _ in range(rank)]
    return dtype, [*box, 16 * draw.randint(1, 4)], [*steps, 1], shape


@pytest.mark.parametrize("rank", range(1, 6))
def test_drawn_tensors_are_asked_for_as_they_are(driver: FakeDriver, rank: int):
    draw = random.Random(rank)
    dtype, box, steps, _ = drawn(draw, rank)
    size = TYPES[dtype] // 8
    dims = [spec.Var(f"d{i}", "int64") for i in range(rank)]
    pitches = [spec.Var(f"p{i}", "int64") for i in range(rank - 1)]
    x = tensor(*dims, dtype=dtype, strides=[*pitches, 1])
    entry = TensorMap("x", box=box, element_strides=steps, l2_promotion="256B")
    function = wrap(MAP, [x], args=[entry])
    for _ in range(5):
        _, _, _, shape = drawn(draw, rank)
        strides = [draw.randrange(0, 2**30, 16 // size) for _ in range(rank - 1)] + [1]
        address = draw.randrange(1 << 32, 1 << 46, 256)
        driver.clear_log()
        function(tensor_at(address, shape, dtype, strides=strides))
        [got] = asked(driver)
        assert (got["address"], got["rank"], ints(got["dims"])) == (address, rank, shape[::-1])
        if rank > 1:
            assert ints(got["strides"]) == [each * size for each in strides[-2::-1]]
        assert (ints(got["box"]), ints(got["steps"])) == (box[::-1], steps[::-1])
        assert (got["type"], got["promotion"], got["swizzle"]) == (list(TYPES).index(dtype), 3, 0)
        head = struct.pack("<8s4Q", b"FAKETMAP", address, rank, list(TYPES).index(dtype), shape[-1])
        [launch] = driver.launches()
        assert launch.arguments[0][:40] == head
        assert launch.parameters[0].address % 128 == 0


TYPES_OF: Final = {
    "float32": "float32",
    "bfloat16": "bfloat16",
    "int64": "int64",
    "uint32": "uint32",
    "int8": "uint8",
    "bool": "uint8",
    "int16": "uint16",
    "float8_e4m3fn": "uint8",
}


@pytest.mark.parametrize(("dtype", "name"), TYPES_OF.items())
def test_the_type_is_the_tensors(driver: FakeDriver, dtype: str, name: str):
    function = wrap(MAP, [tensor(M, 64, dtype=dtype)], args=[TensorMap("x", box=(8, 16))])
    function(tensor_at(1 << 20, (8, 64), dtype))
    assert asked(driver)[0]["type"] == list(TYPES).index(name)


def test_other_types_of_the_same_size_and_packed_ones(driver: FakeDriver):
    entry = TensorMap("x", box=(8, 32), dtype="tfloat32", oob_fill="nan", swizzle="128B")
    wrap(MAP, [tensor(M, 64, dtype="float32")], args=[entry])(
        tensor_at(1 << 20, (8, 64), "float32")
    )
    six = TensorMap("x", box=(8, 128), dtype="16u6_align16b", swizzle="128B")
    wrap(MAP, [tensor(M, K, dtype="uint8")], args=[six])(tensor_at(1 << 20, (8, 192), "uint8"))
    four = TensorMap("x", box=(8, 128), dtype="16u4_align16b")
    wrap(MAP, [tensor(M, K, dtype="float4_e2m1fnx2")], args=[four])(
        tensor_at(1 << 20, (8, 128), "float4_e2m1fnx2")
    )
    found = [(g["type"], g["dims"], g["strides"], g["fill"]) for g in asked(driver)]
    assert [(t, ints(d), ints(s), f) for t, d, s, f in found] == [
        (11, [64, 8], [256], 1),
        (15, [256, 8], [192], 0),
        (14, [256, 8], [128], 0),
    ]


def test_packed_rows_that_are_not_whole_are_refused(driver: FakeDriver):
    six = TensorMap("x", box=(8, 128), dtype="16u6_align16b", swizzle="128B")
    function = wrap(MAP, [tensor(M, K, dtype="uint8")], args=[six])
    with pytest.raises(ValueError, match=r"x\.shape\[1\] is 160, but .* a multiple of 96 from 96"):
        function(tensor_at(1 << 20, (8, 160), "uint8"))


def test_boxes_of_symbols_and_expressions(driver: FakeDriver):
    rows = spec.Var("rows", "int32")
    entry = TensorMap("x", box=(rows, "k // 2"))
    function = wrap(MAP, [X, rows], args=[entry])
    x = DeviceArray(driver, (8, 64), "float16").tensor()
    for count in (16, 32, 16):
        function(x, count)
    assert [ints(got["box"]) for got in asked(driver)] == [[32, 16], [32, 32]]
    for count in (0, 257):
        words = rf"box\[0\] = rows is {count}, but the tensor map of x needs 1 to 256: a box has"
        with pytest.raises(ValueError, match=words):
            function(x, count)
    assert len(driver.launches()) == 3


def test_a_column_major_tensor(driver: FakeDriver):
    ld = spec.Var("ld", "int64")
    entry = TensorMap("x", box=(64, "m // 4"), element_strides=(1, 2), swizzle="128B", order="F")
    wrap(MAP, [tensor(K, M, strides="F")], args=[entry])(
        tensor_at(1 << 20, (64, 8), "float16", strides=(1, 64))
    )
    given = tensor_at(1 << 20, (64, 8), "float16", strides=(1, 96))
    wrap(MAP, [tensor(K, M, strides=[1, ld])], args=[entry])(given)
    found = [[ints(got[n]) for n in ("dims", "strides", "box", "steps")] for got in asked(driver)]
    assert found == [[[64, 8], [each], [64, 2], [1, 2]] for each in (128, 192)]
    orders: Any = (([1, ld], "C", "first .* 'F'"), ([ld, 1], "F", "last .* 'C'"))
    for strides, order, words in orders:
        with pytest.raises(BuildError, match=words.replace(" .* ", " dimension .* order=")):
            wrap(MAP, [tensor(K, M, strides=strides)], args=[TensorMap("x", (16, 16), order=order)])
    with pytest.raises(SpecError, match=r"box\[0\]: expected a multiple of 16 from 16 to 256"):
        TensorMap("x", box=(3, 64), order="F")
    wrong: Any = (
        ({"box": (64,), "order": "K"}, "'C' or 'F'"),
        ({**PATCH, "order": "F"}, "this is im2col"),
    )
    for options, words in wrong:
        with pytest.raises(SpecError, match=f"order: expected .*{words}.* but got"):
            TensorMap("x", **options)


def test_a_swizzle_that_a_call_brings(driver: FakeDriver):
    s = spec.Var("s", "int32")
    x = DeviceArray(driver, (8, 64), "float16").tensor()
    function = wrap(MAP, [X, s], args=[TensorMap("x", box=(8, 32), swizzle=s)])
    for number in (0, 2, 3, 6, 2):
        function(x, number)
    assert [got["swizzle"] for got in asked(driver)] == [0, 2, 3, 6]
    allowed = r"0 \(none\) or 2 \(64B\) or 3 \(128B\) or 4 .* or 6 \(128B_ATOM_64B\)"
    for number in (1, 7, -1):  # rows of 64 bytes are longer than what 1 swizzles
        words = rf"swizzle = s is {number}, but the tensor map of x needs {allowed}"
        with pytest.raises(ValueError, match=words):
            function(x, number)
    rows = spec.Var("rows", "int32")
    entry = TensorMap("x", box=(8, rows), swizzle=s + 1)
    function = wrap(MAP, [X, s, rows], args=[entry])
    function(x, 0, 16)
    with pytest.raises(ValueError, match=r"box\[1\] = rows is 32, .* 16: .* what is swizzled"):
        function(x, 0, 32)
    with pytest.raises(ValueError, match=r"swizzle = s \+ 1 is 8, but"):
        function(x, 7, 16)
    TensorMap("x", **BOX3, interleave="32B", swizzle=s)
    with pytest.raises(SpecError, match=r"swizzle: 'f' is a float32 symbol"):
        TensorMap("x", **BOX3, swizzle=spec.Var("f", "float32"))
    with pytest.raises(SpecError, match=r"box\[2\]: expected a multiple of 16"):
        TensorMap("x", box=(1, 1, 3), swizzle=s)


def test_im2col_in_the_order_of_the_tensor(driver: FakeDriver):
    pixels = spec.Var("pixels", "int32")
    x = tensor(*spec.dims("n d h w c", "int64"))
    entry = TensorMap(
        "x", corners=((-1, -2, -3), (1, 2, 3)), channels=64, pixels=pixels, swizzle="128B"
    )
    wrap(MAP, [x, pixels], args=[entry])(tensor_at(1 << 20, (2, 8, 16, 32, 64), "float16"), 100)
    [got] = asked(driver, IM2COL)
    assert [ints(got[name]) for name in ("dims", "lower", "upper")] == [
        [64, 32, 16, 8, 2],
        [-3, -2, -1],
        [3, 2, 1],
    ]
    assert (got["channels"], got["pixels"], ints(got["steps"])) == (64, 100, [1] * 5)


def test_wide_im2col(driver: FakeDriver):
    x = tensor(*spec.dims("n h w c", "int64"))
    entry = TensorMap(
        "x", corners=((-1,), (1,)), channels=64, pixels=100, swizzle="128B", wide="w128"
    )
    wrap(MAP, [x], args=[entry])(tensor_at(1 << 20, (2, 16, 32, 64), "float16"))
    [got] = asked(driver, f"{IM2COL}Wide")
    assert (got["lower"], got["upper"], got["mode"]) == ("-1", "1", 1)


# Checks of each call.


@pytest.mark.parametrize(
    ("shape", "strides", "address", "words"),
    [
        ((0, 64), (64, 1), 0, r"x\.shape\[0\] is 0, .* needs 1 to 2147483648: a tensor map has no empty"),
        ((4, 0), (64, 1), 0, r"x\.shape\[1\] is 0, but"),
        ((4, 2**31 + 8), (2**32, 1), 0, r"x\.shape\[1\] is 2147483656, but the tensor map of x needs"),
        ((4, 64), (68, 1), 0, r"x\.strides\[0\] is 68, .* needs a multiple of 8 from 0 to"),
        ((4, 64), (-64, 1), 0, r"x\.strides\[0\] is -64, but"),
        ((4, 64), (2**39, 1), 0, r"x\.strides\[0\] is 549755813888, .*, below 2\^40"),
        ((4, 64), (64, 2), 0, r"x\.strides\[1\] is 2, .* needs 1: the innermost elements are adjacent, which are the first ones with order='F'"),
        ((4, 64), (64, 1), 8, r"the address of x is 0x100008, .* needs a multiple of 16 from .* \(data_alignment=16\)"),
    ],
)  # fmt: skip
def test_what_a_call_must_not_bring(
    driver: FakeDriver, shape: Any, strides: Any, address: int, words: str
):
    x = tensor(M, K, strides="any", data_alignment=2)
    function = wrap(MAP, [x], args=[TensorMap("x", box=(64, 64), swizzle="128B")])
    with pytest.raises(ValueError, match=words):
        function(tensor_at((1 << 20) + address, shape, "float16", strides=strides))
    assert (asked(driver), driver.launches()) == ([], [])


def test_an_empty_grid_asks_for_no_map(driver: FakeDriver):
    wrap(MAP, [X], args=[TensorMap("x", box=(64, 64))], grid=M)(tensor_at(0, (0, 64), "float16"))
    assert driver.calls() == []


def test_what_the_driver_refuses_shows_what_it_was_asked_for(driver: FakeDriver):
    function = wrap(MAP, [X], args=[TensorMap("x", box=(64, 64))])
    driver.fail(TILED, Result.INVALID_VALUE)
    with pytest.raises(RuntimeError) as caught:
        function(tensor_at(1 << 20, (8, 64), "float16"))
    assert str(caught.value).startswith(
        "cuTensorMapEncodeTiled failed: CUDA_ERROR_INVALID_VALUE (1: invalid argument) for the "
        "tensor map of x for kernel 'k': address=0x100000, sizes=(64, 8), strides=(128), "
        "box=(64, 64), element_strides=(1, 1), type=6, interleave=0, swizzle=0, l2_promotion=0, "
        "oob_fill=0 when calling: `f(x"
    )
    function(tensor_at(1 << 20, (8, 64), "float16"))
    assert len(driver.launches()) == 1


CHILD = """
import sys
import tvm_ffi
from tests.fakecuda.memory import tensor_at
module = tvm_ffi.load_module(sys.argv[1])
x = tensor_at(1 << 20, (2, 8, 64), "float16")
module["g"](x)
try:
    module["f"](x)
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("options", "name", "since"),
    [(BOX3, TILED, "12.0"), ({**PATCH, "wide": "w", "swizzle": "128B"}, f"{IM2COL}Wide", "12.8")],
)
def test_a_driver_without_the_function(tmp_path: Path, options: Any, name: str, since: str):
    """Launches without a map work; the others say what is missing."""
    if reason := missing():
        pytest.skip(reason)
    module, x = new_module(), tensor(M, K, 64)
    attach_ffi_func(module, "f", [x], provider(MAP, args=[TensorMap("x", **options)]))
    attach_ffi_func(module, "g", [x], provider(KernelImage("other", (8,)), args=["x"]))
    runtime.compile(module).export_library(tmp_path / "made.so")
    done = run_child(CHILD, tmp_path / "made.so", env=environment(older(name)))
    assert done.stdout.startswith(
        f"libcuda.so.1 has no {name}, which the tensor map of x for kernel 'k' needs: the NVIDIA "
        f"driver is of CUDA "
    ), done.stderr
    assert f"; update it to one of CUDA {since} or later when calling: `f(" in done.stdout


# What a signature or a spec cannot have.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"box": 64}, "box: expected a list of ints or expressions but got 64"),
        ({"box": (64, 0)}, r"box\[1\]: expected a multiple of 16 from 16 to 256"),
        ({"box": (300, 64)}, r"box\[0\]: expected 1 to 256: .*; but got 300"),
        ({"box": (64, 2.5)}, r"box\[1\]: expected an int or an expression of Vars but got 2.5"),
        ({"box": (64, True)}, r"box\[1\]: expected an int"),
        ({"box": (64,) * 6}, "rank: expected 1 to 5: tensor maps have 1 to 5 dimensions; but got 6"),
        ({"box": (64, spec.Var("v", "float32"))}, r"box\[1\]: 'v' is a float32 symbol"),
        ({"box": (8, 64), "swizzle": "12B"}, "swizzle: expected 'none', '32B', .* but got '12B'"),
        ({"box": (8, 64), "swizzle": 7}, "swizzle: expected"),
        ({"box": (8, 128), "swizzle": "64B"}, r"box\[1\]: expected a multiple of 16 from 16 to 64"),
        ({"box": (8, 64), "interleave": "16B"}, "rank: expected 3 to 5"),
        ({"box": (1, 8, 64), "interleave": "32B"}, "swizzle: expected 32B: interleave 32B"),
        ({"box": (8, 64), "l2_promotion": "32B"}, "l2_promotion: expected 'none', '64B'"),
        ({"box": (8, 64), "oob_fill": "zero"}, "oob_fill: expected 'none', 'nan' but got 'zero'"),
        ({"box": (8, 64), "dtype": "int8"}, "dtype: expected 'uint8', 'uint16'"),
        ({"box": (8, 64), "dtype": "int32", "oob_fill": "nan"}, "oob_fill: expected none: NaN is"),
        ({"box": (8, 64), "dtype": "16u6_align16b"}, r"box\[1\]: expected 128"),
        ({"box": (8, 64), "element_strides": (9, 1)}, r"element_strides\[0\]: expected 1 to 8"),
        ({"box": (8, 64), "element_strides": (1, 2)}, "ignores that of the innermost dimension"),
        ({"box": (8, 64), "element_strides": (1,)}, "expected 2 ints, one for each dimension, but"),
        ({"box": (8, 64), "element_strides": ("a", 1)}, r"element_strides\[0\]: expected an int"),
        ({"box": (8, 64), "corners": ((0,), (0,))}, "expected box=, or corners= for im2col, but"),
        ({"box": (8, 64), "channels": 8}, "channels: it is for im2col, which needs corners="),
        ({"swizzle": "32B"}, "swizzle: it is for a map that the wrapper encodes, which needs box="),
        ({"corners": ((0,), (0,))}, "channels: im2col needs it"),
        ({"corners": (0, 0)}, r"corners\[0\]: expected a list of ints but got 0"),
        ({"corners": ((0,), (0, 0))}, "corners: expected two of 1 to 3 ints each but got"),
        ({"corners": ((0,) * 4, (0,) * 4)}, "corners: expected two of 1 to 3 ints each but got"),
        ({"corners": ((0,),)}, "corners: expected the lower and the upper corner but got"),
        ({"corners": ((0, -129), (0, 0)), "channels": 8, "pixels": 8}, r"corners\[0\]\[1\]: expected -128 to 127"),
        ({"corners": ((0,), (0,)), "channels": 300, "pixels": 8}, "channels: expected 1 to 256: a pixel has 1 to 256 channels; but got 300"),
        ({"corners": ((0,), (0,)), "channels": 8, "pixels": 8, "wide": "w"}, "swizzle: expected 64B or 128B or 128B_ATOM_32B: wide im2col swizzles; but got none",),
        ({"corners": ((0, 0), (0, 0)), "channels": 8, "pixels": 8, "wide": "w"}, "corners: expected two of one int each, for the width but got"),
    ],
)  # fmt: skip
def test_maps_that_no_tensor_can_have(options: Any, words: str):
    with pytest.raises(SpecError, match=f"TensorMap: .*{words}|TensorMap: {words}"):
        TensorMap("x", **options)


BOX: Final[dict[str, Any]] = {"box": (64, 64)}


@pytest.mark.parametrize(
    ("param", "options", "words"),
    [
        (tensor(M, M, K), BOX, "TensorMap: x: it has 3 dimensions, but box= is for 2"),
        (tensor(M, 60), BOX, r"TensorMap: x\.strides\[0\]: expected a multiple of 8 .* got 60"),
        (tensor(0, 64), BOX, r"TensorMap: x\.shape\[0\]: expected 1 to 2147483648: .* got 0"),
        (tensor(M, K, strides="F"), BOX, "its first dimension is the innermost: say order=.F."),
        (tensor(M, K, strides=[K, 2]), BOX, r"TensorMap: x\.strides\[1\]: expected 1: the innermost elem"),
        (tensor(M, K), {"box": (64, 4)}, r"TensorMap: box\[1\]: expected a multiple of 8"),
        (tensor(M, K), {"box": (64, "q")}, r"TensorMap: box\[1\]: .*q"),
        (tensor(M, K, dtype="complex128"), BOX, "TensorMap: dtype: x has elements of 128 bits"),
        (tensor(M, K), {**BOX, "dtype": "float32"}, r"x has elements of 16 bits \(float16\); expected dtype='uint16' or 'float16' or"),
        (tensor(M, K, dtype="int32"), {"box": (8, 8), "oob_fill": "nan"}, "NaN is for floats"),
        (spec.Optional(tensor(M, K)), BOX, "'x' may be absent, and there is no map of no tensor"),
        (spec.DataPointer("x"), BOX, "TensorMap: expected a Tensor of a known number of dim"),
        (tensor(M, K), {}, r"\*x: expected a DataPointer .*; for a tensor map of a Tensor, say"),
        (tensor(M, K, device_type="cpu"), BOX, "'x' is on device_type 'cpu'"),
        (spec.Tensor("x", [M, K], ["float16", "float32"], device_type="cuda"), BOX, "x may have the dtypes float16, float32; choose a type"),
    ],
)  # fmt: skip
def test_maps_that_a_tensor_cannot_have(param: Any, options: Any, words: str):
    with pytest.raises(BuildError, match=words):
        attached([param], provider(MAP, args=[TensorMap("x", **options)]))


def test_a_map_is_no_member_of_a_struct():
    with pytest.raises(BuildError, match="cannot be inside a Struct"):
        attached([X], provider(MAP, args=[Struct(TensorMap("x", box=(64, 64)))]))
