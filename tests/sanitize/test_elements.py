"""Mistakes of kernels with elements: changed inputs, outputs not written, NaN."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import Sanitize, abi, runtime, spec, testing
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec.dtypes import parse_dtype
from tests.sanitize.kernels import Sanitized, attached, finds, poke, signature, view
from tests.support.drawn import drawn

IN: Final = "f(x: Tensor([n, m], {}, intent=in))"
OUT: Final = "f(y: Tensor([n, m], {}, intent=out))"


def made(text: str, shape: tuple[int, int]) -> Any:
    """Make a tensor of any dtype, with the signature's symbols n and m."""
    signature = spec.Signature.parse(text, device="cpu")
    dims = dict(zip("nm", shape, strict=True))
    (tensor,) = testing.make_args(signature, dims=dims, framework="tvm_ffi")
    return tensor


# ---- inputs


@pytest.mark.parametrize(
    ("dtype", "was", "now", "words"),
    [
        ("float32", 1, 2.5, "x[1, 2] from 1 to 2.5 (declare intent='inout' if it may) when"),
        ("float64", 1e300, -0.1, "x[1, 2] from 1e+300 to -0.1 "),
        ("float16", -65504, 2**-24, "x[1, 2] from -65504 to 5.960464e-08 "),
        ("float16", np.inf, -0.0, "x[1, 2] from inf to -0 "),
        ("int8", -1, 127, "x[1, 2] from -1 to 127 "),
        ("uint8", 0, 255, "x[1, 2] from 0 to 255 "),
        ("int16", -300, 0, "x[1, 2] from -300 to 0 "),
        ("int64", -(2**63), 2**63 - 1, f"x[1, 2] from {-(2**63)} to {2**63 - 1} "),
        ("uint64", 0, 2**64 - 1, f"x[1, 2] from 0 to {2**64 - 1} "),
        ("bool", False, True, "x[1, 2] from 0 to 1 "),
        ("complex64", 0, 1, "x[1, 2] from 0x0 to 0x3f800000 "),
    ],
)
def test_a_changed_input(dtype: str, was: Any, now: Any, words: str) -> None:
    function = Sanitized(IN.format(dtype), ["x"], lambda x: poke(x, 5, now, dtype))
    x: Any = np.full((3, 3), 0, dtype)
    x[1, 2] = was
    before = x.copy()
    with finds("x is declared intent='in', but the kernel changes " + words):
        function(x)
    assert (x == before).all()


def test_a_changed_bfloat16() -> None:
    x = made(IN.format("bfloat16"), (2, 2))
    view(x.data_ptr(), 4, "uint16")[:] = 0x3FC0
    function = Sanitized(IN.format("bfloat16"), ["x"], lambda x: poke(x, 3, 0x8001, "uint16"))
    with finds("x[1, 1] from 1.5 to -9.18355e-41 "):
        function(x)


def test_a_changed_element_narrower_than_a_byte() -> None:
    text = IN.format("float4_e2m1fn")
    x = made(text, (3, 4))
    with finds("the kernel changes x, byte 4 from 0x0 to 0x7 "):
        view(x.data_ptr(), 6, "uint8")[:] = 0
        Sanitized(text, ["x"], lambda x: poke(x, 4, 7, "uint8"))(x)
    with finds("outside of the elements of x: byte 6 from its data has changed (1 in all; "):
        Sanitized(text, ["x"], lambda x: poke(x, 6, 7, "uint8"))(x)
    Sanitized(text, ["x"], lambda x: None)(x)


def test_inputs_that_stay_and_inputs_that_may_change() -> None:
    x = np.zeros((3, 3), "float32")
    Sanitized(IN.format("float32"), ["x"], lambda x: poke(x, 5, 0))(x)
    Sanitized(IN.format("float32"), ["x"], lambda x: poke(x, 5, 1), Sanitize(inputs=False))(x)
    assert not x.any()  # the copy was changed
    for intent in ("", ", intent=inout"):
        text = f"f(x: Tensor([n, m], float32{intent}))"
        Sanitized(text, ["x"], lambda x: poke(x, 5, view(x, 1)[0] + 1))(x)
        assert x[1, 2] == 1


def test_the_same_element_seen_twice() -> None:
    text = "f(x: Tensor([n, m], float32, strides=any, intent=in))"
    x = np.broadcast_to(np.arange(3, dtype="float32"), (2**40, 3))  # 12 TiB, were it copied whole
    seen: list[list[float]] = []
    Sanitized(text, ["x"], lambda x: seen.append(view(x, 3).tolist()))(x)
    assert seen == [[0, 1, 2]]
    with finds("the kernel changes x[0, 1] from 1 to 7"):
        Sanitized(text, ["x"], lambda x: poke(x, 1))(x)


# ---- outputs that are not written

_CERTAIN: Final = (
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "bool"),
    *("int64", "uint64", "float16x2", "uint8x8"),
)
_POSSIBLE: Final = ("int32", "uint32", "uint8x4")


def zero_but(y: int, size: int, count: int, left: tuple[int, int]) -> None:
    """Write zeros to all elements but those from the first to the last of ``left``."""
    memory = view(y, size * count, "uint8")
    kept = memory[size * left[0] : size * left[1]].copy()
    memory[:] = 0
    memory[size * left[0] : size * left[1]] = kept


@pytest.mark.parametrize("dtype", [*_CERTAIN, *_POSSIBLE])
def test_one_element_is_not_written(dtype: str) -> None:
    text, size = OUT.format(dtype), parse_dtype(dtype).total_bits // 8
    y = made(text, (3, 4))
    is_possible = dtype in _POSSIBLE
    with finds(
        f"y is declared intent='out', but the kernel {'possibly ' * is_possible}does not write "
        "y[2, 1], which still holds the poison ",
        " (declare intent='inout' if it may keep a part)"
        + "; 4 to 7 bytes may be right by chance: set poison=False if these are" * is_possible
        + " when calling",
    ):
        Sanitized(text, ["y"], lambda y: zero_but(y, size, 12, (9, 10)))(y)
    Sanitized(text, ["y"], lambda y: zero_but(y, size, 12, (0, 0)))(y)
    assert not view(y.data_ptr(), size * 12, "uint8").any()


@pytest.mark.parametrize(
    ("dtype", "row"),
    [("int8", 4), ("uint8", 4), ("int16", 2), ("float8_e4m3fn", 4), ("uint8x2", 2), ("int8x3", 2)],
)
def test_where_the_poison_may_be_a_right_value(dtype: str, row: int) -> None:
    """Fewer elements than make 4 bytes may hold it; then they are given back like others."""
    text, size = OUT.format(dtype), parse_dtype(dtype).total_bits // 8
    y, words = made(text, (3, 4)), "does not write y[0, 3], which still holds the poison "
    with finds(f"the kernel possibly {words}"):
        Sanitized(text, ["y"], lambda y: zero_but(y, size, 12, (3, 3 + row)))(y)
    with finds(f"the kernel {words}"):
        Sanitized(text, ["y"], lambda y: zero_but(y, size, 12, (3, 3 + 8 // size + 1)))(y)
    Sanitized(text, ["y"], lambda y: zero_but(y, size, 12, (3, 2 + row)))(y)
    written = view(y.data_ptr(), size * 12, "uint8")
    assert (written != 0).sum() == size * (row - 1)


_DTYPES: Final = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
    *("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"),
)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", _DTYPES)
def test_right_kernels_on_data_with_runs_raise_no_alarm(dtype: str) -> None:
    draw, size, count = np.random.default_rng(0), parse_dtype(dtype).total_bits // 8, 500
    text = f"f(x: Tensor([n], {dtype}, intent=in), y: Tensor([n], {dtype}, intent=out))"
    copy = DirectCallProvider("memcpy", args=["y", "x", f"n * {size}"])
    function = runtime.compile(attached(text, True, copy))["f"]
    x, y = testing.make_args(signature(text), dims={"n": count}, framework="tvm_ffi")
    given, taken = (view(tensor.data_ptr(), count * size, "uint8") for tensor in (x, y))
    for _ in range(drawn(6_000) // len(_DTYPES)):
        values = draw.integers(0, 2 if dtype == "bool" else 256, (count, size), "uint8")
        if draw.integers(2):  # all bytes of an element are equal, as in many ints
            values[:] = values[:, :1]
        values &= 0xBF  # no NaN: among bits at random, some have the poison's digits
        given[:] = np.repeat(values, draw.integers(1, 8, count), axis=0)[:count].ravel()
        function(x, y)
        assert (given == taken).all()


def test_results_and_intents_that_are_not_out() -> None:
    function = Sanitized("f(n: int64) -> y: Tensor([n], int32)", ["y"], lambda y: poke(y, 0))
    with finds("The kernel does not write y[1] of the result y, which still holds the poison "):
        function(3)
    assert function.kept == 0
    x = np.ones((2, 2), "float32")
    for intent in ("", ", intent=inout", ", intent=in"):
        Sanitized(f"f(x: Tensor([n, m], float32{intent}))", ["x"], lambda x: None)(x)
    assert x.tolist() == [[1, 1], [1, 1]]


def test_what_a_kernel_finds_in_outputs_and_workspaces() -> None:
    seen: list[Any] = []

    def kernel(*given: int) -> None:
        seen.extend(view(address, 1)[0] for address in given)
        poke(given[0], 0)

    text = "f(y: Tensor([1], float32, intent=out), {})"
    y = np.ones(1, "float32")
    Sanitized(text.format("w: Workspace([1], float32)"), ["y", "w"], kernel)(y)
    Sanitized(text.format("w: Workspace([1], float32, zero=True)"), ["y", "w"], kernel)(y)
    Sanitized(text.format("k: int32"), ["y"], kernel, Sanitize(poison=False))(y * 3, 1)
    assert [str(value) for value in seen] == ["nan", "nan", "nan", "0.0", "21.0"]


def test_without_poison_an_output_may_stay() -> None:
    y = np.ones((2, 2), "float32")
    Sanitized(OUT.format("float32"), ["y"], lambda y: poke(y, 1), Sanitize(poison=False))(y)
    assert y.tolist() == [[1, 7], [1, 1]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_computed_from_memory_that_nobody_has_written(dtype: str) -> None:
    words = (
        "The kernel computes y[1, 0] from memory that nobody has written: an output or a Workspace "
        "before it writes it, or bytes outside of a tensor (it is a NaN with the digits of the "
        "poison) when calling"
    )

    def write(y: int, added: float) -> None:
        view(y, 4, dtype)[:] = [0, 1, 2, 3]
        view(y, 4, dtype)[2] -= added

    def add_own(y: int) -> None:
        write(y, view(y, 4, dtype)[2])

    def add_workspace(y: int, w: int) -> None:
        write(y, view(w, 1, dtype)[0])

    def add_what_is_behind(y: int, x: int) -> None:
        write(y, view(x, 5, dtype)[4])

    y: Any = np.zeros((2, 2), dtype)
    one = f"f(y: Tensor([n, m], {dtype}, intent={{}}))"
    with_workspace = f"{one[:-1]}, w: Workspace([1], {dtype}))"
    with finds(words):
        Sanitized(one.format("out"), ["y"], add_own)(y)
    for intent in ("out", "inout"):
        with finds(words):
            Sanitized(with_workspace.format(intent), ["y", "w"], add_workspace)(y)
    with_input = f"{one[:-1]}, x: Tensor([4], {dtype}, intent=in))".format("out")
    with finds(words):
        Sanitized(with_input, ["y", "x"], add_what_is_behind)(y, np.ones(4, dtype))

    Sanitized(one.format("inout"), ["y"], add_own)(y)
    assert y.tolist() == [[0, 1], [2, 3]]
    zeros = with_workspace.replace("))", ", zero=True))")
    Sanitized(zeros.format("out"), ["y", "w"], add_workspace)(y)
    any_ = Sanitize(poison=False)
    Sanitized(with_workspace.format("out"), ["y", "w"], add_workspace, any_)(y)


def test_a_bfloat16_that_is_computed_from_poison() -> None:
    text = OUT.format("bfloat16")

    def negate(y: int) -> None:
        view(y, 4, "uint16")[:] |= 0x8040  # of float32, arithmetic makes the NaN quiet

    with finds("The kernel computes y[0, 0] from memory that nobody has written"):
        Sanitized(text, ["y"], negate)(made(text, (2, 2)))


# ---- NaN

_NANS: Final = {
    "float16": [0x7C01, 0x7E00, 0xFFFF], "bfloat16": [0x7F81, 0xFFC0],
    "float32": [0x7F800001, 0xFFC00000], "float64": [0x7FF0000000000001, 0xFFF8000000000000],
    "complex64": [0x7FC00000, 0x7FC00000 << 32], "float16x4": [0x7E00, 0x7E00 << 48],
    "float8_e3m4": [0x71, 0xFF], "float8_e4m3": [0x79, 0xFF], "float8_e4m3fn": [0x7F, 0xFF],
    "float8_e5m2": [0x7D, 0xFF], "float8_e4m3b11fnuz": [0x80], "float8_e4m3fnuz": [0x80],
    "float8_e5m2fnuz": [0x80], "float8_e8m0fnu": [0xFF],
}  # fmt: skip
_NUMBERS: Final = {
    "float16": [0x7C00, 0xFC00, 0x8000, 1], "bfloat16": [0x7F80, 0xFF80],
    "float32": [0x7F800000, 0xFF800000], "float64": [0x7FF0000000000000, 0xFFF0000000000000],
    "complex64": [0x7F800000, 0xFF800000 << 32], "float16x4": [0x7C00, 0xFC00 << 48],
    "float8_e3m4": [0x70, 0xF0], "float8_e4m3": [0x78, 0xF8], "float8_e4m3fn": [0x7E, 0xFE],
    "float8_e5m2": [0x7C, 0xFC], "float8_e4m3b11fnuz": [0x7F, 0xFF], "float8_e4m3fnuz": [0x7F, 0xFF],
    "float8_e5m2fnuz": [0x7F, 0xFF], "float8_e8m0fnu": [0x80, 0xFE],
    "int32": [0x7FC00000], "uint8": [0xFF], "float4_e2m1fnx2": [0xFF],
}  # fmt: skip


def leave(y: int, dtype: str, bits: int) -> None:
    """Write zeros, and then one element with these bits."""
    size = parse_dtype(dtype).total_bits // 8
    memory = view(y, 4 * size, "uint8")
    memory[:] = 0
    memory[2 * size : 3 * size] = list(bits.to_bytes(size, "little"))


@pytest.mark.parametrize("dtype", _NUMBERS)
def test_nan_is_found_on_request(dtype: str) -> None:
    """And other values are not."""
    text, bits = OUT.format(dtype), [0]
    function = Sanitized(text, ["y"], lambda y: leave(y, dtype, bits[0]), Sanitize(nan=True))
    for bits[0] in _NANS.get(dtype, []):
        with finds("The kernel leaves NaN in y[1, 0] (leave out nan=True if NaN is a right value)"):
            function(made(text, (2, 2)))
    for bits[0] in _NUMBERS[dtype]:
        function(made(text, (2, 2)))


def test_every_dtype_that_has_nan_is_tried() -> None:
    codes = {name for name in abi.DTYPE_CODES if name.startswith(("float8", "float", "bfloat"))}
    tried = {name.rstrip("0123456789") if "_" not in name else name for name in _NANS}
    assert codes - {"float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"} <= tried
    assert {*_NANS} <= {*_NUMBERS}


def test_whose_nan_is_looked_for() -> None:
    nan = float("nan")
    everything = Sanitize(nan=True, poison=False, inputs=False)
    x = np.full((1, 1), nan, "float32")
    for intent, is_found in (("in", False), ("inout", True), ("out", True)):
        function = Sanitized(
            f"f(x: Tensor([n, m], float32, intent={intent}))", ["x"], lambda x: None, everything
        )
        if is_found:
            with finds("NaN in x[0, 0]"):
                function(x)
        else:
            function(x)
    result = Sanitized(
        "f(n: int64) -> y: Tensor([n], float32)", ["y"], lambda y: view(y, 2).fill(nan), everything
    )
    with finds("NaN in y[0]"):
        result(2)
    default = Sanitized(OUT.format("float32"), ["y"], lambda y: poke(y, 0, nan))
    default(x)  # another NaN than the poison
    assert np.isnan(x[0, 0])


def test_one_of_several_dtypes() -> None:
    text = "f(y: Tensor([n, m], float32 | int32, intent=out))"
    function = Sanitized(text, ["y.data"], lambda y: poke(y, 0, float("nan")), Sanitize(nan=True))
    with finds("NaN in y[0, 0]"):
        function(np.zeros((1, 1), "float32"))
    function(np.zeros((1, 1), "int32"))
