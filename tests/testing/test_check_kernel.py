"""``testing.check_kernel``: random arguments, compared with a reference, and shrunk."""

# References are lambdas, whose parameters have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import ctypes
import gc
import math
import weakref
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import SpecError, attach, runtime, spec, testing
from ffi_builder.providers import DirectCallProvider
from tests.support.wrapping import new_module
from tests.testing.kernels import SCALE, compiled, found, lines, load, parse, scale, scaled

np = pytest.importorskip("numpy", reason="needs NumPy")
n, stride = spec.dims("n stride")


@pytest.mark.parametrize("framework", ["numpy", "tvm_ffi", "torch"])
def test_a_right_kernel(framework: str) -> None:
    if framework == "torch":
        pytest.importorskip("torch", reason="needs PyTorch")
    testing.check_kernel(scale("right"), SCALE, scaled, framework=framework, examples=30)
    testing.check_kernel(
        scale("right"), SCALE, scaled, framework=framework, limits=True, examples=30
    )


def test_a_compiled_module() -> None:
    load()
    module = new_module()
    attach(module, SCALE, DirectCallProvider("ffib_right", args=["x", "y", n, "a"]))
    made = runtime.compile(module)
    testing.check_kernel(made, SCALE, scaled, examples=5)
    testing.check_intents(made, SCALE)


OUTSIDE = "the call writes outside of the elements of y: byte 0 from its data was 0x1a and is {} now (4 bytes in all; y has no elements)"
TOLERANCES = "with rtol=1e-05 and atol=1e-05"


@pytest.mark.parametrize(
    ("kernel", "words", "x", "a"),
    [
        ("forgets_the_tail", "y is declared intent='out', but the call does not write y[0], which holds 0.7470588 as before; declare intent='inout' if it may keep a part", [1], 0.0),
        ("writes_past_the_end", OUTSIDE.format("0x00"), [], 0.0),
        ("copies_past_the_end", OUTSIDE.format("0x19"), [], 0.0),
        ("wrong_at_size_0", OUTSIDE.format("0x00"), [], 0.0),
        ("wrong_at_odd_sizes", f"expected 1.0 for y[4] but got 0.0 (1 of 5 elements), {TOLERANCES}", [1] * 5, 1.0),
        ("wrong_for_negative_factors", f"expected -1.0 for y[0] but got 1.0, {TOLERANCES}", [1], -1.0),
    ],
)  # fmt: skip
def test_the_smallest_arguments_are_shown(kernel: str, words: str, x: list[int], a: float) -> None:
    array = f"float32[{len(x)}]"
    shown = [f"  x = {array}: [{', '.join(['1.'] * len(x))}]", f"  y = {array}", f"  a = {a}"]
    for seed in range(5):
        error = found(scale(kernel), SCALE, scaled, seed=seed)
        message, where, *arguments = lines(error)
        assert [message, *arguments] == [f"scale: {words}", *shown]
        assert where.startswith("The smallest arguments found (example ")
        assert where.endswith(f" of 100, seed={seed}):")


@pytest.mark.parametrize(
    "kernel", ["changes_its_input", "reads_its_output", "reads_past_its_input"]
)
def test_intents_are_verified_along_the_way(kernel: str) -> None:
    error = found(scale(kernel), SCALE, scaled)
    assert "intent='" in str(error) or "outside of the elements of x" in str(error)
    assert "float32[1]" in str(error)


def test_outputs_that_are_read() -> None:
    inout = parse(str(SCALE).replace("intent=out", "intent=inout"))
    testing.check_kernel(scale("adds", inout), inout, lambda x, y, a: y + a * x)
    assert found(scale("adds", inout), inout, scaled).argument == "y"


def test_the_same_seed_makes_the_same_examples() -> None:
    def seen(seed: int) -> list[Any]:
        shapes: list[Any] = []

        def fill(x: Any, y: Any, a: float) -> None:
            shapes.append((x.shape, a, x.sum()))
            y[:] = a * x

        testing.check_kernel(fill, SCALE, scaled, seed=seed, examples=30)
        return shapes

    assert seen(1) == seen(1) != seen(2)


def test_sizes() -> None:
    """Edges within the bounds, multiples only, and at most a few megabytes."""
    sizes: list[tuple[int, ...]] = []

    def fill(x: Any, y: Any) -> None:
        sizes.append(x.shape)
        y[:] = x[:, 0] if x.shape[1] else 0

    signature = parse(
        "f(x: Tensor([n, k], float32, intent=in), y: Tensor([n], float32, intent=out)) "
        "where n: int64, k: int64, k >= 16, k <= 64, k % 16 == 0"
    )
    testing.check_kernel(fill, signature, lambda x, y: x[:, 0])
    assert {0, 1, 2, 3} <= {rows for rows, _ in sizes}
    assert {columns for _, columns in sizes} == {16, 32, 48, 64}
    assert max(rows for rows, _ in sizes) <= 130


def test_what_a_signature_allows_is_tried() -> None:
    """Dtypes, ranks, sizes that are not named, layouts, Optionals, Choices, ints, bools."""
    seen: dict[str, set[Any]] = {}

    def look(**values: Any) -> None:
        for name, value in values.items():
            seen.setdefault(name, set()).add(value)

    def fill(x: Any, w: Any, y: Any, mode: str, flag: bool, count: int) -> None:
        look(dtype=str(x.dtype), rank=x.ndim, mode=mode, flag=flag, count=count)
        look(absent=w is None)
        if w is not None and min(w.shape) > 1:
            look(order=tuple(np.sign(w.strides)), plain=w.flags.c_contiguous)
            look(columns=w.shape[1])
        y[:] = count

    signature = parse(
        "f(x: Tensor(..., float32 | int8, intent=in), "
        "w: Optional(Tensor([n, None], float32, strides=any, intent=in)), "
        "y: Tensor([2], int32, intent=out), mode: Choice({'a': 1, 'b': 2}), flag: bool, "
        "count: int32)"
    )
    testing.check_kernel(fill, signature, lambda x, w, y, mode, flag, count: [count] * 2)
    assert seen["dtype"] == {"float32", "int8"}
    assert seen["rank"] >= {0, 1, 2, 3}
    assert seen["absent"] == seen["flag"] == seen["plain"] == {True, False}
    assert seen["mode"] == {"a", "b"}
    assert {(1, 1), (-1, -1), (0, 0)} <= seen["order"]
    assert {0, 1, -1} <= seen["count"]
    assert len(seen["columns"]) > 5


def test_a_symbol_that_is_a_size_only_within_an_expression() -> None:
    signature = parse("f(s: Shape([k % 4]), k: int64, y: Tensor([2], int64, intent=out))")
    seen: set[int] = set()

    def fill(s: Any, k: int, y: Any) -> None:
        seen.add(s[0])
        y[:] = k

    testing.check_kernel(fill, signature, lambda s, k, y: [k, k])
    assert seen == {0, 1, 2, 3}


def test_any_rank_and_strides() -> None:
    """Tensors of any rank have all layouts, too."""
    signature = parse("f(x: Tensor(..., float32, strides=any, intent=in)) -> total: float64")
    seen: set[tuple[int, ...]] = set()

    def total(x: Any) -> float:
        if x.ndim == 2 and min(x.shape) > 1:
            seen.add(tuple(np.sign(x.strides)))
        return float(x.sum())

    testing.check_kernel(total, signature, lambda x: x.sum())
    assert seen >= {(1, 1), (-1, -1), (0, 0)}


def test_parameters_within_others() -> None:
    """Dtypes, Optionals and sizes in structs, tuples and Shapes are tried as well."""
    signature = parse(
        "f(cfg: Struct(x: Tensor([n], float32 | float64, intent=in), "
        "t: Tuple(y: Optional(Tensor([n], float32, intent=out)))), sizes: Shape([n, m]))"
    )
    seen: set[Any] = set()

    def function(cfg: Any, sizes: Any) -> None:
        x, (y,) = cfg
        assert sizes[0] == len(x)
        seen.update((str(x.dtype), y is None, ("m", sizes[1])))
        if y is not None:
            y[:] = x * sizes[1]

    def reference(cfg: Any, sizes: Any) -> Any:
        return cfg[0] * sizes[1]

    testing.check_kernel(function, signature, reference)
    assert seen >= {"float32", "float64", True, False, ("m", 0), ("m", 1), ("m", 2)}
    error = found(function, signature, lambda cfg, sizes: cfg[0] * min(sizes[1], 5))
    assert (error.argument, error.index) == ("cfg.t[0]", (0,))
    assert lines(error)[2:] == [
        "  cfg = (float32[1]: [1.], (float32[1],))",
        "  sizes = (1, 6)",
    ]


def test_wrong_for_a_stride_only() -> None:
    signature = spec.Signature(
        "strided",
        [
            spec.Tensor("x", [n], "float32", device_type="cpu", intent="in"),
            spec.Tensor("y", [n], "float32", device_type="cpu", intent="out", strides=[stride]),
        ],
    )
    args = ("x", "y", n, stride)
    testing.check_kernel(compiled("strided", signature, args), signature, lambda x, _: x)
    error = found(compiled("ignores_the_stride", signature, args), signature, lambda x, _: x)
    assert error.argument == "y"
    assert lines(error)[2:] == ["  x = float32[2]: [1., 1.]", "  y = float32[2] with strides [2]"]


def test_optionals() -> None:
    signature = parse(
        "biased(x: Tensor([n], float32, intent=in), bias: Optional(Tensor([n], float32, intent=in)), "
        "y: Tensor([n], float32, intent=out))"
    )

    def reference(x: Any, bias: Any, _y: Any) -> Any:
        return x if bias is None else x + bias

    args = ("x", "bias", "y", n)
    testing.check_kernel(compiled("biased", signature, args), signature, reference)
    error = found(compiled("forgets_the_bias", signature, args), signature, reference)
    assert lines(error)[3] == "  bias = float32[1]: [1.]"
    error = found(compiled("needs_the_bias", signature, args), signature, reference)
    assert "does not write y[0]" in str(error)
    assert lines(error)[3] == "  bias = None"


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        *[("bool", 1), ("int8", 1), ("uint64", 8), ("float16", 2), ("bfloat16", 2), ("float64", 8)],
        *[("float8_e4m3fn", 1), ("float8_e5m2", 1), ("complex64", 8), ("float32x2", 8)],
    ],
)
def test_dtypes(dtype: str, size: int) -> None:
    """A copy is right, and a reference that computes something else is not."""
    signature = parse(
        f"copy_bytes(x: Tensor([n], {dtype}, intent=in), y: Tensor([n], {dtype}, intent=out))"
    )
    function = compiled("copy_bytes", signature, ("x", "y", n, size))

    def negated(x: Any, _y: Any) -> Any:
        return ~x if x.dtype == "bool" else x + 1

    testing.check_kernel(function, signature, lambda x, _: x, limits=True, examples=20)
    error = found(function, signature, negated)
    assert error.argument == "y"
    assert f"{dtype}[1]" in str(error)


def test_packed_elements() -> None:
    """The reference gets the elements that the kernel sees."""
    x = spec.Tensor(
        "x", [n], "float4_e2m1fn", storage_dtype="float4_e2m1fnx2", device_type="cpu", intent="in"
    )
    y = spec.Tensor("y", [n], "int4", storage_dtype="int4x2", device_type="cpu", intent="out")

    def function(x: Any, y: Any) -> None:
        assert isinstance(x, tvm_ffi.Tensor)
        one, two = (bytes_of(tensor) for tensor in (x, y))
        codes = {0: 0, 2: 1, 4: 2, 5: 3, 6: 4}  # of the whole floats from 0 to 4
        for at, byte in enumerate(one):
            two[at] = codes.get(byte & 15, 0) | codes.get(byte >> 4, 0) << 4

    def reference(x: Any, _y: Any) -> Any:
        assert x.dtype == "float32"
        return np.where((x == np.floor(x)) & (x >= 0), x, 0).astype("int8")

    testing.check_kernel(function, spec.Signature("f", [x, y]), reference)


def bytes_of(tensor: tvm_ffi.Tensor) -> Any:
    """The memory of a contiguous tensor."""
    size = math.prod(tensor.shape)
    return (ctypes.c_uint8 * size).from_address(tensor.data_ptr())


@pytest.mark.parametrize("framework", ["numpy", "torch"])
def test_a_reference_in_torch(framework: str) -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    signature = parse(
        "copy_bytes(x: Tensor([n], bfloat16, intent=in), y: Tensor([n], bfloat16, intent=out))"
    )
    function = compiled("copy_bytes", signature, ("x", "y", n, 2))

    def reference(x: Any, _y: Any) -> Any:
        assert isinstance(x, torch.Tensor) == (framework == "torch")
        return torch.as_tensor(x).to(torch.bfloat16)

    testing.check_kernel(function, signature, reference, framework=framework)
    error = found(function, signature, lambda x, _: reference(x, _) + 1, framework=framework)
    assert error.argument == "y"


def test_nothing_is_kept() -> None:
    refs: list[weakref.ref[Any]] = []

    def fill(x: Any, y: Any, a: float) -> None:
        refs.extend((weakref.ref(x), weakref.ref(y)))
        y[:] = a * x

    testing.check_kernel(fill, SCALE, scaled)
    gc.collect()
    assert len(refs) >= 400
    assert [ref() for ref in refs if ref() is not None] == []


def test_mistakes_of_the_caller() -> None:
    function = scale("right")
    unknown = parse("f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32))")
    with pytest.raises(ValueError, match="f has no outputs to compare; declare intent='out' or"):
        testing.check_kernel(function, unknown, scaled)
    with pytest.raises(SpecError, match="check_kernel: "):
        testing.check_kernel(function, "scale()", scaled)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="scale has no symbol 'm'"):
        testing.check_kernel(function, SCALE, scaled, dims={"m": 3})
    with pytest.raises(ValueError, match="framework: expected one of"):
        testing.check_kernel(function, SCALE, scaled, framework="jax")


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("f(y: Tensor([n], float32, intent=out))", 4),
        ("f(y: Tensor([n], int16, strides=any, intent=out))", 2),
        ("f(y: Tensor([n], float64, intent=out, data_alignment=128))", 128),
        ("f(y: Tensor([n], int8, intent=out, data_alignment=1))", 1),
        ("f(y: Tensor([n], float32, intent=out)) where y.data % 16 == 0", 16),
        (
            "f(y: Tensor([n], float32, intent=out)) where y.data % 128 == 0, n >= 0 or y.data % 8 == 0",
            128,
        ),
    ],
)
def test_tensors_are_not_better_aligned_than_they_must_be(text: str, least: int) -> None:
    signature = parse(text)
    addresses: set[int] = set()

    def fill(y: Any) -> None:
        if y.size:
            addresses.add(y.ctypes.data)
        testing.check(signature, y)
        y[...] = 0

    testing.check_kernel(fill, signature, np.zeros_like, examples=40)
    assert not any(address % least for address in addresses)
    assert any(address % (2 * least) for address in addresses)
    assert any(address % 64 == 0 for address in addresses)


def test_a_kernel_that_relies_on_alignment() -> None:
    def fill(y: Any) -> None:
        y[...] = 1.0 if y.ctypes.data % 32 == 0 else -1.0

    signature = parse("f(y: Tensor([1], float32, intent=out))")
    with pytest.raises(testing.KernelError, match=r"y = float32.1. aligned to 4 bytes alone"):
        testing.check_kernel(fill, signature, lambda y: np.ones(1, "float32"))
    declared = parse("f(y: Tensor([1], float32, intent=out, data_alignment=32))")
    testing.check_kernel(fill, declared, lambda y: np.ones(1, "float32"))
