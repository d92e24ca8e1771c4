"""Functions of JAX: what the compiled function gets, and what comes back."""

# Functions that JAX calls are typed as Any.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import enum
import inspect
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ffi_builder import runtime, spec
from ffi_builder.frameworks import jax as ffi_jax
from tests.frameworks.jax.support import Recorded, bare_scale, compiled, jax, jnp, parse
from tests.runtime.samples import needs_cc


def test_a_jitted_call_and_an_eager_one() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    x = jnp.arange(4.0)
    assert scale(x, 2.0).tolist() == [0, 2, 4, 6]
    assert jax.jit(lambda x: scale(x, factor=3) + 1)(x).tolist() == [1, 4, 7, 10]


def test_numpy_arrays_and_empty_ones() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    assert scale(np.ones(2, "float32"), 2.0).tolist() == [2, 2]
    assert scale(jnp.ones(0), 2.0).shape == (0,)


def test_an_operand_that_is_written_keeps_its_value() -> None:
    add_to = ffi_jax.function(compiled()["add_to"])
    x, y = jnp.ones(3), jnp.arange(3.0)
    assert add_to(x, y).tolist() == [1, 2, 3]
    assert y.tolist() == [0, 1, 2]
    assert jax.jit(lambda y: add_to(y, y))(x).tolist() == [2, 2, 2]


def test_a_donated_operand_is_written_in_place() -> None:
    add_to = ffi_jax.function(compiled()["add_to"])
    x, y = jnp.ones(3), jnp.zeros(3) + 1
    address = y.unsafe_buffer_pointer()
    result = jax.jit(add_to, donate_argnums=1)(x, y)
    assert result.tolist() == [2, 2, 2]
    assert result.unsafe_buffer_pointer() == address
    assert y.is_deleted()


def test_vmap() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    unrolled = ffi_jax.function(compiled()["scale"], vmap="sequential_unrolled")
    x = jnp.arange(6.0).reshape(3, 2)
    for made in (scale, unrolled):
        assert jax.vmap(lambda x, made=made: made(x, 2.0))(x).tolist() == (x * 2).tolist()
    add_to = ffi_jax.function(compiled()["add_to"])
    columns = jax.jit(jax.vmap(add_to, in_axes=(1, None), out_axes=1))(x, jnp.ones(3))
    assert columns.tolist() == (x + 1).tolist()


def test_a_batching_rule() -> None:
    sizes: list[tuple[int, list[bool], float]] = []
    scale = ffi_jax.function(compiled()["scale"])

    def rule(size: int, batched: list[bool], x: Any, factor: float) -> tuple[Any, bool]:
        sizes.append((size, list(batched), factor))
        return scale(x.reshape(-1), factor).reshape(x.shape), True

    batched = ffi_jax.function(compiled()["scale"], vmap=rule)
    x = jnp.arange(6.0).reshape(3, 2)
    assert jax.jit(jax.vmap(lambda x: batched(x, 2.0)))(x).tolist() == (x * 2).tolist()
    assert sizes == [(3, [True], 2.0)]
    assert batched(x[1], 2.0).tolist() == [4, 6]


def test_loops_branches_and_checkpoints() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    twice = jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: scale(x, 2.0), x))
    assert twice(jnp.ones(2)).tolist() == [8, 8]
    branch = jax.jit(lambda p, x: jax.lax.cond(p, lambda x: scale(x, 2.0), lambda x: x, x))
    assert branch(True, jnp.ones(1)).tolist() == [2]
    assert branch(False, jnp.ones(1)).tolist() == [1]


def test_eval_shape() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    shape = jax.ShapeDtypeStruct((5,), "float32")
    assert jax.eval_shape(lambda x: scale(x, 2.0), shape) == shape


@pytest.mark.parametrize(
    ("text", "args", "expected"),
    [
        pytest.param(
            "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out))",
            [np.ones(3, "f")],
            ["float32[3]", "float32[3]"],
            id="in XLA's order",
        ),
        pytest.param(
            "f(a: int64, y: Tensor([n, 2], int8, intent=out), b: float32, "
            "x: Tensor([n], float32, intent=in), c: bool, z: Tensor([n], bool, intent=out))",
            [5, 0.5, np.ones(3, "f"), True],
            [5, "int8[3, 2]", 0.5, "float32[3]", True, "bool[3]"],
            id="in another order",
        ),
        pytest.param(
            "f(s: Tensor([n], int32, intent=inout), x: Tensor([n], int32, intent=in), "
            "t: Tensor([n], int32, intent=inout), y: Tensor([n * 2], uint8, intent=out))",
            [np.ones(1, "i"), np.ones(1, "i"), np.ones(1, "i")],
            ["int32[1]", "int32[1]", "int32[1]", "uint8[2]"],
            id="written operands",
        ),
        pytest.param(
            "f(y: Tensor([n], bfloat16, intent=out), mode: Choice({'up': 1}), label: String, "
            "s: Shape([n, 2]), k: Literal[3], none: None, u: uint8)",
            ["up", "é", (4, 2), 3, None, 255],
            ["bfloat16[4]", "up", "é", (4, 2), 3, None, 255],
            id="static values alone",
        ),
        pytest.param(
            "f(y: Tensor([m - 1, ceildiv(m, 2), m // 2, m % 4], float32, intent=out), "
            "x: Tensor([m * 2 + 1], float32, intent=in))",
            [np.ones(13, "f")],
            ["float32[5, 3, 3, 2]", "float32[13]"],
            id="expressions",
        ),
        pytest.param(
            "f(x: Tensor([n, m], float32, strides=[pitch, 1], intent=in), "
            "y: Tensor([pitch], float32, intent=out))",
            [np.ones((2, 3), "f")],
            ["float32[2, 3]", "float32[3]"],
            id="a stride",
        ),
        pytest.param(
            "f(x: Tensor([], float32, intent=in), y: Tensor([n], float32, intent=out), n: int32)",
            [np.float32(1), 3],
            ["float32[]", "float32[3]", 3],
            id="a size that is an argument",
        ),
        pytest.param(
            "f(x: Tensor(..., float32 | int8, intent=in), y: Tensor([], float32, intent=out))",
            [np.ones((1, 2, 3), "i1")],
            ["int8[1, 2, 3]", "float32[]"],
            id="any rank and dtype",
        ),
    ],
)
def test_what_the_function_gets(text: str, args: list[Any], expected: list[Any]) -> None:
    assert Recorded(text)(*args) == expected


@pytest.mark.parametrize("x", [None, np.ones(2, "f")])
@pytest.mark.parametrize("c", [None, 7])
@pytest.mark.parametrize("z", [None, jax.ShapeDtypeStruct((4,), "int8")])
def test_optionals(x: Any, c: Any, z: Any) -> None:
    recorded = Recorded(
        "f(x: Optional(Tensor([n], float32, intent=in)), y: Tensor([2], float32, intent=out), "
        "c: Optional(int64), z: Optional(Tensor([m], int8, intent=out)))"
    )
    expected = [
        None if x is None else "float32[2]",
        "float32[2]",
        c,
        None if z is None else "int8[4]",
    ]
    assert recorded(x, c, z=z) == expected
    returned = jax.eval_shape(lambda: recorded.function(x, c, z=z))
    assert isinstance(returned, tuple) == (z is not None)


def test_results_are_in_the_order_of_the_signature() -> None:
    made = Recorded(
        "f(y: Tensor([1], float32, intent=out), s: Tensor([2], float32, intent=inout), "
        "z: Tensor([3], float32, intent=out))"
    ).function
    assert [array.shape for array in made(jnp.ones(2))] == [(1,), (2,), (3,)]


def test_shapes_that_follow_from_nothing_are_given() -> None:
    recorded = Recorded(
        "f(x: Tensor([n], float32, intent=in), y: Tensor([n, m], float32 | int8, intent=out), "
        "z: Tensor([m], float32, intent=out))"
    )
    given = {"y": jax.ShapeDtypeStruct((3, 4), "int8"), "z": jnp.zeros(4)}
    assert recorded(jnp.ones(3), **given) == ["float32[3]", "int8[3, 4]", "float32[4]"]
    with pytest.raises(TypeError, match=r"f\(\): missing a required (keyword-only )?argument: 'y'"):
        recorded.function(jnp.ones(3))
    with pytest.raises(TypeError, match=r"the output 'z' expects its shape and dtype, as jax.Shap"):
        recorded.function(jnp.ones(3), y=given["y"], z=(4,))
    given["z"] = jnp.zeros(5)
    with pytest.raises(ValueError, match=r"Mismatched z.shape\[0\] on argument #2 .* got 5"):
        recorded.function(jnp.ones(3), **given)


@pytest.mark.parametrize(
    "value", [0.0, -0.0, math.nan, math.inf, 1e300, True, 1, np.float32(0.5), jnp.float32(0.5)]
)
def test_static_numbers_arrive_whole(value: Any) -> None:
    recorded = Recorded("f(c: float64, y: Tensor([1], float32, intent=out))")
    recorded(1.0)  # what is cached for another value is not taken
    recorded(0.0)
    (got, _) = recorded(value)
    assert math.copysign(1, got) == math.copysign(1, value)
    assert got == value or math.isnan(value)


@pytest.mark.parametrize("value", [-(2**63), 2**63 - 1, 2**31])
def test_static_ints_of_64_bits(value: int) -> None:
    recorded = Recorded("f(c: int64, y: Tensor([1], float32, intent=out))")
    assert recorded(value)[0] == value
    assert recorded(np.int64(value))[0] == value


class Mode(enum.Enum):
    up = 1


class Label(str, enum.Enum):
    up = "up"


class Level(enum.IntEnum):
    low = 3


def test_enumerators() -> None:
    text = "f(mode: Choice({'up': 1}), n: int32, y: Tensor([1], float32, intent=out))"
    recorded = Recorded(text)
    assert recorded(Mode.up, Level.low)[:2] == ["up", 3]
    assert recorded(Label.up, 2)[:2] == ["up", 2]


def test_static_arguments_of_jit() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    jitted = jax.jit(scale, static_argnames="factor")
    assert jitted(jnp.ones(1), 2.0).tolist() == [2]
    assert jitted(jnp.ones(1), factor=4.0).tolist() == [4]


def test_defaults_keywords_and_documentation() -> None:
    n = spec.Var("n", "int64")
    x = spec.Tensor("x", [n], "float32", device_type="cpu", intent="in")
    y = spec.Tensor("y", [n], "float32", device_type="cpu", intent="out")
    from_ = spec.Var("from", "int32", default=3)
    mode = spec.Choice("mode", {"up": 1}, kw_only=True)
    recorded = Recorded(spec.Signature("f", [x, y, from_, mode], doc="Does it."))
    assert str(inspect.signature(recorded.function)) == "(x, from_=3, *, y=None, mode)"
    assert recorded.function.__doc__ == "Does it."
    assert recorded(jnp.ones(1), mode="up") == ["float32[1]", "float32[1]", 3, "up"]
    assert repr(recorded.function) == "<function of JAX f(x, from_=3, *, y=None, mode)>"


def test_the_signature_is_read_from_the_code_or_given() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    assert scale.signature == parse(str(scale.signature))
    given = ffi_jax.function(bare_scale(), signature=scale.signature)
    assert given(jnp.ones(2), 2.0).tolist() == [2, 2]


@needs_cc
def test_a_library_on_disk(tmp_path: Path) -> None:
    compiled().export_library(tmp_path / "kernels.so")
    scale = ffi_jax.function(runtime.load(tmp_path / "kernels.so")["scale"])
    assert scale(jnp.ones(2), 2.0).tolist() == [2, 2]


def test_export() -> None:
    from_name = ffi_jax.function(compiled()["scale"], target="tests.frameworks.scale")
    export = jax.export
    (size,) = export.symbolic_shape("size")
    checks = [export.DisabledSafetyCheck.custom_call(from_name.target)]
    exported = export.export(jax.jit(lambda x: from_name(x, 2.0)), disabled_checks=checks)(
        jax.ShapeDtypeStruct((size,), "float32")
    )
    assert exported.out_avals[0].shape == (size,)
    for count in (1, 5):
        assert exported.call(jnp.ones(count)).tolist() == [2] * count


def test_symbolic_sizes_with_relations() -> None:
    made = Recorded(
        "f(x: Tensor([n], float32, intent=in), y: Tensor([m], float32, intent=inout)) where n <= m"
    ).function
    n, m = jax.export.symbolic_shape("n, m")
    x, y = (jax.ShapeDtypeStruct((size,), "float32") for size in (n, m))
    assert jax.eval_shape(made, x, y).shape == (m,)
    with pytest.raises(TypeError, match=r"Mismatched y\.dtype on argument #1 .* got int32"):
        jax.eval_shape(made, x, jax.ShapeDtypeStruct((m,), "int32"))


def test_symbolic_sizes_of_results() -> None:
    made = Recorded(
        "f(x: Tensor([n * 2, m], float32, intent=in), "
        "y: Tensor([n + 1, ceildiv(m, 4)], float32, intent=out))"
    ).function
    n, m = jax.export.symbolic_shape("n, m")
    shape = jax.eval_shape(made, jax.ShapeDtypeStruct((n * 2, m), "float32")).shape
    assert shape == (n + 1, -(-m // 4))


def test_several_platforms() -> None:
    text = "f(x: Tensor([n], float32, device_type=any, intent=in), y: Tensor([n], float32, intent=out))"
    assert Recorded(text)(jnp.ones(2)) == ["float32[2]"] * 2
    cuda = ffi_jax.function(
        bare_scale(),
        signature=spec.Signature.parse(
            "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out))",
            device="cuda",
        ),
    )
    lowered = jax.jit(cuda).trace(jnp.ones(2)).lower(lowering_platforms=("cuda",))
    assert f"@{cuda.target}(" in lowered.as_text()


KINDS = {
    "in": ("x{}: Tensor([{}], float32, intent=in)", "float32[{}]"),
    "out": ("x{}: Tensor([{}], float32, intent=out)", "float32[{}]"),
    "inout": ("x{}: Tensor([{}], float32, intent=inout)", "float32[{}]"),
    "absent": ("x{}: Optional(Tensor([k{}], float32, intent=in))", None),
    "static": ("x{}: int64", "{}"),
    "none": ("x{}: Optional(int64)", None),
}
"""The type of argument i, whose size or value is i + 1, and what the function gets for it."""


@settings(max_examples=30)
@given(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=7))
def test_random_orders(kinds: list[str]) -> None:
    assume({"out", "inout"}.intersection(kinds))
    params = [KINDS[kind][0].format(i, i + 1) for i, kind in enumerate(kinds)]
    sizes = [(kind, i + 1) for i, kind in enumerate(kinds) if kind != "out"]
    args = [
        size if kind == "static" else None if kind in ("absent", "none") else jnp.ones(size)
        for kind, size in sizes
    ]
    got = Recorded(f"f({', '.join(params)})")(*args)
    expected = [KINDS[kind][1] for kind in kinds]
    assert [value if value is None else str(value) for value in got] == [
        text if text is None else text.format(i + 1) for i, text in enumerate(expected)
    ]


def test_memory_is_not_compared_while_a_call_is_traced() -> None:
    signature = parse(
        "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out)) "
        "where no_overlap(y)"
    )
    f = Recorded(signature).function
    assert f(jnp.ones(3)).shape == (3,)
