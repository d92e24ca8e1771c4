"""``testing.check_intents``: what a call reads and writes."""

from __future__ import annotations

import ctypes
import dataclasses
import gc
import itertools
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import tvm_ffi

from ffi_builder import SpecError, spec, testing
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.testing import KernelError
from tests.testing.kernels import SCALE, compiled, parse, scale

np = pytest.importorskip("numpy", reason="needs NumPy")
n, stride = spec.dims("n stride")


def finding(
    function: Any,
    signature: spec.Signature = SCALE,
    arguments: list[Any] | None = None,
    **more: Any,
) -> tuple[str, str, tuple[int, ...] | None]:
    """The first line of the error, and the argument and index it names."""
    with pytest.raises(KernelError) as error:
        testing.check_intents(function, signature, arguments, **more)
    return str(error.value).splitlines()[0], error.value.argument, error.value.index


def test_a_right_kernel() -> None:
    testing.check_intents(scale("right"), SCALE)
    testing.check_intents(scale("right"), SCALE, [np.ones(5, "float32"), np.ones(5, "float32"), 2])


READS = (
    "held before the call, but y is declared intent='out': the kernel reads it, or writes a part "
    "of an element; declare intent='inout' if that is meant"
)


OUTSIDE = "the call writes outside of the elements of {0}: byte {1} from its data was {2} and is 0x00 now (4 bytes in all; {0} has elements in bytes 0 to 19)"


@pytest.mark.parametrize(
    ("kernel", "words", "argument", "index"),
    [
        ("forgets_the_tail", "y is declared intent='out', but the call does not write y[4], which holds 0.7470588 as before (1 of 5 elements); declare intent='inout' if it may keep a part", "y", (4,)),
        ("writes_past_the_end", OUTSIDE.format("y", 20, "0x38"), "y", None),
        ("writes_before_the_start", OUTSIDE.format("y", -8, "0x3c"), "y", None),
        ("writes_past_its_input", OUTSIDE.format("x", 24, "0x3d"), "x", None),
        ("changes_its_input", "x is declared intent='in', but the call changes x[1] from 1.0 to 2.0 (4 of 5 elements)", "x", (1,)),
        # Adding 0 leaves the output as it is, which is told as reading it all the same.
        ("reads_its_output", f"y[1] depends on what y {READS} (it is 2.7470589 in one call and nan in another)", "y", (1,)),
        ("multiplies_its_output_by_0", f"y[0] depends on what y {READS} (it is 0.0 in one call and nan in another)", "y", (0,)),
        ("writes_half", f"y[0] depends on what y {READS} (it is 0.74609375 in one call and nan in another)", "y", (0,)),
        ("reads_past_its_input", "y[4] depends on bytes outside of the elements of x: the kernel reads beyond them (it is 8.0 in one call and 9.0 in another)", "y", (4,)),
    ],
)  # fmt: skip
def test_a_wrong_kernel(
    kernel: str, words: str, argument: str, index: tuple[int, ...] | None
) -> None:
    given: list[Any] = [np.arange(5, dtype="float32"), np.full(5, 7, "float32"), 2.0]
    found = finding(scale(kernel), SCALE, given)
    assert found == (f"scale: {words}", argument, index)
    assert [given[0].tolist(), given[1].tolist()] == [[0, 1, 2, 3, 4], [7] * 5]


def test_the_error_shows_the_arguments() -> None:
    with pytest.raises(KernelError) as error:
        testing.check_intents(scale("changes_its_input"), SCALE, seed=1)
    shown = str(error.value).splitlines()[1:]
    assert shown[0] == "The arguments:"
    assert shown[1].startswith("  x = float32[2]: [")
    assert shown[2:] == ["  y = float32[2]", "  a = 0.5"]


def test_what_is_declared_counts() -> None:
    inout = parse(str(SCALE).replace("intent=out", "intent=inout"))
    unknown = parse(str(SCALE).replace(", intent=out", "").replace(", intent=in", ""))
    for signature in (inout, unknown):
        testing.check_intents(scale("adds", signature), signature)
        testing.check_intents(scale("forgets_the_tail", signature), signature)
        assert finding(scale("writes_past_the_end", signature), signature)[1] == "y"
    testing.check_intents(scale("changes_its_input", unknown), unknown)


def test_a_kernel_may_return_something_else_each_time() -> None:
    testing.check_intents(scale("not_the_same_each_time"), SCALE)


def test_strided_outputs() -> None:
    signature = spec.Signature(
        "strided",
        [
            spec.Tensor("x", [n], "float32", device_type="cpu", intent="in"),
            spec.Tensor("y", [n], "float32", device_type="cpu", intent="out", strides=[stride]),
        ],
    )
    args = ("x", "y", n, stride)
    given = [np.ones(3, "float32"), np.zeros(6, "float32")[::2]]
    testing.check_intents(compiled("strided", signature, args), signature, given)
    words, argument, _ = finding(compiled("ignores_the_stride", signature, args), signature, given)
    assert argument == "y"
    assert "outside of the elements of y: byte 4 from its data" in words
    # Backwards, the second element lies before the first one.
    testing.check_intents(
        compiled("strided", signature, args), signature, [given[0], given[1][::-1]]
    )


def test_results() -> None:
    signature = parse("sum(x: Tensor([n], float32, intent=in)) -> total: float32")
    args = ("x", n)
    testing.check_intents(compiled("sum", signature, args), signature)
    assert finding(compiled("sum_and_clear", signature, args), signature)[1] == "x"
    words, argument, index = finding(compiled("sum_and_more", signature, args), signature)
    assert (argument, index) == ("total", ())
    assert "total depends on bytes outside of the elements of x" in words


def test_results_that_differ_each_time() -> None:
    signature = parse("f(x: Tensor([n], float32, intent=in)) -> (r: float64, p: handle)")
    random = np.random.default_rng(0)

    def function(x: Any) -> tuple[float, int]:
        return random.random(), x.ctypes.data

    testing.check_intents(function, signature)


# ---- arguments within others; any function may be checked, so these are in Python


class Pair(NamedTuple):
    x: Any
    y: Any


@dataclasses.dataclass
class Named:
    x: Any
    y: Any


IN = "Tensor([n], float32, intent=in)"
OUT = "Tensor([n], float32, intent=out)"


MAKERS: list[Callable[[Any], Any]] = [
    *(tuple, list, tvm_ffi.Array),
    *(lambda pair: Pair(*pair), lambda pair: Named(*pair)),
]


@pytest.mark.parametrize("make", MAKERS)
def test_tensors_in_tuples_and_structs(make: Callable[[Any], Any]) -> None:
    def copies(pair: Any) -> None:
        x, y = (pair.x, pair.y) if isinstance(pair, Named) else pair
        np.from_dlpack(y)[:] = np.from_dlpack(x)

    def clears(pair: Any) -> None:
        copies(pair)
        np.from_dlpack(pair.x if isinstance(pair, Named) else pair[0])[:] = 0

    signature = parse(f"f(p: Struct(x: {IN}, y: {OUT}))")
    given = [make((np.ones(3, "float32"), np.zeros(3, "float32")))]
    testing.check_intents(copies, signature, given)
    assert finding(clears, signature, given)[1] == "p.x"
    nested = parse(f"f(t: Tuple(x: {IN}, y: {OUT}))")
    assert finding(clears, nested, given)[1] == "t[0]"


def test_optionals() -> None:
    signature = parse(f"f(x: {IN}, y: Optional({OUT}))")

    def copies(x: Any, y: Any) -> None:
        if y is not None:
            y[:-1] = x[:-1]

    x = np.ones(3, "float32")
    testing.check_intents(copies, signature, [x, None])
    assert finding(copies, signature, [x, x])[1:] == ("y", (2,))


def test_keyword_only_arguments() -> None:
    params = [
        spec.Var("a", "float32", kw_only=True),
        spec.Tensor("y", [n], "float32", device_type="cpu", intent="out"),
    ]

    def fill(y: Any, *, a: float) -> None:
        y[:] = a

    testing.check_intents(fill, spec.Signature("fill", params))


@pytest.mark.parametrize(
    "dtype", ["bool", "int4", "int8", "bfloat16", "float8_e4m3fn", "complex64"]
)
def test_dtypes(dtype: str) -> None:
    signature = parse(
        f"f(x: Tensor([n], {dtype}, intent=in), y: Tensor([n], {dtype}, intent=out)) where n: int64"
    )
    bits = parse_dtype(dtype).total_bits

    def copies(x: Any, y: Any, count: int = 0) -> None:
        source, target = tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(y)
        size = -(-(count or source.numel()) * bits // 8)
        ctypes.memmove(target.data_ptr(), source.data_ptr(), size)

    def forgets(x: Any, y: Any) -> None:
        copies(x, y, 4)

    given = testing.make_args(signature, {"n": 5})
    testing.check_intents(copies, signature, given)
    testing.check_intents(copies, signature)
    assert finding(forgets, signature, given)[1:] == ("y", (4,))


@pytest.mark.parametrize(
    ("dtype", "shifts"),
    [
        *(("uint8", (-8, 1)), ("int16", (-1, 9)), ("float32", (0, 4, 4096))),
        *(("float64", (-9, 8)), ("complex64", (2, 8))),
    ],
)
def test_copying_from_guard_zone_to_guard_zone(dtype: str, shifts: tuple[int, ...]) -> None:
    signature = parse(
        f"f(x: Tensor([n], {dtype}, intent=in), y: Tensor([n], {dtype}, intent=out)) where n: int64"
    )
    x = np.arange(5).astype(dtype)

    def copies(before: int, behind: int, shift: int) -> Callable[[Any, Any], None]:
        def function(x: Any, y: Any) -> None:
            ctypes.memmove(y.ctypes.data - before, x.ctypes.data - before, x.nbytes + behind)
            if before or behind:  # and so with bytes from another place
                source, target = x.ctypes.data - before + shift, y.ctypes.data - before
                ctypes.memmove(target, source, before)
                ctypes.memmove(y.ctypes.data + x.nbytes, x.ctypes.data + x.nbytes + shift, behind)

        return function

    testing.check_intents(copies(0, 0, 0), signature, [x, x])
    zones = ((0, x.itemsize), (x.itemsize, 0), (16, 16))
    for shift, (before, behind) in itertools.product(shifts, zones):
        words, argument, _ = finding(copies(before, behind, shift), signature, [x, x])
        assert argument == "y"
        assert "the call writes outside of the elements of y: byte " in words


def test_copying_padding_into_padding() -> None:
    signature = parse(
        f"f(x: {IN.replace('[n]', '[m, n]')[:-1]}, strides=[p, 1]), "
        f"y: {OUT.replace('[n]', '[m, n]')[:-1]}, strides=[p, 1])) where p: int64"
    )
    given = [np.ones((3, 8), "float32")[:, :5] for _ in range(2)]

    def elements(x: Any, y: Any) -> None:
        y[...] = x

    def rows(x: Any, y: Any) -> None:
        ctypes.memmove(y.ctypes.data, x.ctypes.data, 3 * 32 - 12)

    testing.check_intents(elements, signature, given)
    words, argument, _ = finding(rows, signature, given)
    assert argument == "y"
    assert "elements of y: byte 20 from its data" in words
    assert "(24 bytes in all;" in words


def test_copying_within_a_tensor() -> None:
    def function(x: Any, y: Any) -> None:
        y[...] = x
        ctypes.memmove(y.ctypes.data + y.nbytes, y.ctypes.data + y.nbytes + 4, 4)

    signature = parse(f"f(x: {IN}, y: {OUT})")
    assert finding(function, signature)[1] == "y"


@pytest.mark.parametrize("framework", ["numpy", "tvm_ffi", "torch"])
def test_frameworks(framework: str) -> None:
    if framework == "torch":
        pytest.importorskip("torch", reason="needs PyTorch")
    seen: list[str] = []

    def fill(x: Any, y: Any) -> None:
        seen.append(type(y).__module__.partition(".")[0])
        np.from_dlpack(y)[:] = np.from_dlpack(x)

    signature = parse(f"f(x: {IN}, y: {OUT})")
    testing.check_intents(fill, signature, framework=framework)
    # Given tensors keep their framework, unless another one is asked for.
    given = testing.make_args(signature, framework=framework)
    testing.check_intents(fill, signature, given)
    assert set(seen) == {framework}


def test_read_only_arrays() -> None:
    x = np.ones(3, "float32")
    x.flags.writeable = False
    testing.check_intents(scale("right"), SCALE, [x, x, 1.0])


def test_nothing_is_kept() -> None:
    refs: list[weakref.ref[Any]] = []

    def fill(x: Any, y: Any, a: float) -> None:
        refs.extend((weakref.ref(x), weakref.ref(y)))
        y[:-1] = a * x[:-1]

    given = [np.ones(3, "float32"), np.ones(3, "float32"), 2.0]
    refs.append(weakref.ref(given[0]))
    finding(fill, SCALE, given)
    del given
    gc.collect()
    assert [ref() for ref in refs if ref() is not None] == []


def test_mistakes_of_the_caller() -> None:
    x = np.ones(3, "float32")
    with pytest.raises(ValueError, match=r"scale takes 3 values but 2 are given"):
        testing.check_intents(scale("right"), SCALE, [x, x])
    pair = parse(f"f(p: Struct(x: {IN}, y: {OUT}))")
    with pytest.raises(ValueError, match=r"p takes 2 values but 1 are given"):
        testing.check_intents(scale("right"), pair, [(x,)])
    with pytest.raises(ValueError, match=r"framework: expected one of .* did you mean 'torch'"):
        testing.check_intents(scale("right"), SCALE, [x, x, 1.0], framework="torche")
    with pytest.raises(SpecError, match="check_intents: "):
        testing.check_intents(scale("right"), "scale()")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="Mismatched"):
        testing.check_intents(scale("right"), SCALE, [x, np.ones(4, "float32"), 1.0])
