"""Refusals by functions of JAX: signatures, arguments while they are traced, derivatives."""

# Functions that JAX calls are typed as Any.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ffi_builder import SpecError, runtime, spec
from ffi_builder.frameworks import jax as ffi_jax
from tests.frameworks.jax.support import Recorded, bare_scale, compiled, jax, jnp, parse
from tests.support.tables import rows


@pytest.mark.parametrize(
    ("text", "words"), rows(Path(__file__).with_name("refused.txt"), 2), ids=str
)
def test_signatures_that_xla_cannot_call(text: str, words: str) -> None:
    with pytest.raises(SpecError) as raised:
        ffi_jax.function(bare_scale(), signature=parse(text))
    assert str(raised.value).startswith(words.lstrip())


def test_strides_that_may_be_those_of_one_row() -> None:
    """The call tells."""
    text = "f(x: Tensor([n, m], float32, strides=[1, n], intent=out), n: int64, m: int64)"
    ffi_jax.function(bare_scale(), signature=parse(text))


def test_functions_that_say_nothing_of_their_parameters() -> None:
    bare = runtime.compile("define i32 @__tvm_ffi_f(ptr %0, ptr %1, i32 %2, ptr %3) { ret i32 0 }")
    with pytest.raises(SpecError, match="function: the function does not know its signature: giv"):
        ffi_jax.function(bare["f"])


def test_how_to_batch() -> None:
    with pytest.raises(ValueError, match="function: vmap: expected 'sequential' or 'sequential_un"):
        ffi_jax.function(compiled()["scale"], vmap="broadcast_all")


@pytest.mark.parametrize("vjp", [lambda: None, (lambda: None,), (lambda: None, "backward"), "ab"])
def test_a_derivative_is_two_functions(vjp: Any) -> None:
    with pytest.raises(TypeError, match=r"function: vjp: expected two functions, \(forward, back"):
        ffi_jax.function(compiled()["scale"], vjp=vjp)


@pytest.mark.parametrize(
    ("args", "kind", "message"),
    [
        ([np.ones((2, 2), "f"), 1.0], ValueError, "x.ndim on argument #1 …, expected 1 but got 2"),
        ([np.ones(2, "i"), 1.0], TypeError, "x.dtype on argument #1 …, expected float32 but got i"),
        ([np.ones(2, "f"), "a"], TypeError, "type of factor on argument #2 …, expected float but"),
        ([np.ones(2, "f"), None], TypeError, "type of factor on argument #2 …, expected float but"),
    ],
)
def test_arguments_are_checked_in_the_words_of_the_wrapper(
    args: list[Any], kind: type[Exception], message: str
) -> None:
    scale = ffi_jax.function(compiled()["scale"])
    text = f" when calling: `{spec.outline(scale.signature)}`"
    expected = re.escape(f"Mismatched {message}".replace(" …", text))
    with pytest.raises(kind, match=expected):
        jax.jit(lambda: scale(*args))()
    with pytest.raises(kind, match=expected):  # as a direct call says it
        compiled()["scale"](np.ones(2, "f"), *args)


@pytest.mark.parametrize(
    ("args", "kind", "message"),
    [
        (["a", (3,)], TypeError, "type of n on argument #0"),
        ([2.5, (3,)], TypeError, "type of n on argument #0"),
        ([3, (3, 4)], ValueError, "length of s on argument #1"),
        ([3, ("a",)], TypeError, r"type of s\[0\]"),
        ([3, 4], TypeError, "type of s on argument #1"),
        ([-1, (3,)], ValueError, "y.shape"),
    ],
)
def test_sizes_that_are_no_sizes(args: list[Any], kind: type[Exception], message: str) -> None:
    made = Recorded(
        "f(n: int64, s: Shape([m]), y: Tensor([n * 2, m + 1], float32, intent=out))"
    ).function
    with pytest.raises(kind, match=f"^Mismatched {message}"):
        made(*args)


def test_sizes_are_compared_while_tracing() -> None:
    add_to = ffi_jax.function(compiled()["add_to"])
    shapes = [jax.ShapeDtypeStruct((size,), "float32") for size in (3, 4)]
    with pytest.raises(
        ValueError, match=r"Mismatched y.shape\[0\] on argument #1 .*expected 3 \(n "
    ):
        jax.eval_shape(add_to, *shapes)


def test_limits_of_symbols() -> None:
    made = Recorded(
        "f(x: Tensor([n], float32, intent=in), y: Tensor([n - 4], float32, intent=out)) "
        "where n % 2 == 0"
    ).function
    with pytest.raises(ValueError, match="expected a multiple of 2"):
        made(jnp.ones(3))
    words = r"Mismatched y.shape\[0\] on argument #1 .* expected a non-negative value but got -2"
    with pytest.raises(ValueError, match=words):
        made(jnp.ones(2))
    assert made(jnp.ones(4)).shape == (0,)


def test_ranks_of_symbolic_shapes() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    (size,) = jax.export.symbolic_shape("size")
    with pytest.raises(ValueError, match=r"x.ndim .* `scale\(y: Tensor\(\[n\], float32\), x"):
        jax.eval_shape(lambda x: scale(x, 1.0), jax.ShapeDtypeStruct((size, 2), "float32"))


def test_what_is_known_only_when_the_program_runs() -> None:
    signature = parse(
        "scale(y: Tensor([n], float32, intent=out), x: Tensor([n], float32, intent=in), "
        "factor: float32)"
    )
    longer = spec.Signature("scale", [*signature.params, spec.Var("more", "int32")])
    wrong = ffi_jax.function(bare_scale(), signature=longer)
    with pytest.raises(
        jax.errors.JaxRuntimeError,
        match=r"Mismatched number of arguments when calling: .*, expected 3 but got 4",
    ):
        jax.block_until_ready(wrong(jnp.ones(2), 1.0, 1))


def test_static_values_that_are_traced() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    words = (
        r"^scale\(\): 'factor' is static, since XLA passes it as an attribute of the call, but got "
        r"a traced value of float32\[\]; name it in static_argnames= of jax.jit, close over it, or "
        r"make it a Tensor of the kernel"
    )
    with pytest.raises(TypeError, match=words):
        jax.jit(scale)(jnp.ones(2), 2.0)
    shape = Recorded("f(s: Shape([n, 2]), y: Tensor([n], float32, intent=out))").function
    with pytest.raises(TypeError, match=r"^f\(\): 's' is static, .* traced value of int32\[\]"):
        jax.jit(lambda n: shape((n, 2)))(3)


@pytest.mark.parametrize("value", [[1.0, 2.0], "x", None])
def test_operands_that_are_no_arrays(value: object) -> None:
    scale = ffi_jax.function(compiled()["scale"])
    words = rf"^scale\(\): 'x' expects an array of JAX or NumPy, or a number, but got {type(value).__name__}$"
    with pytest.raises(TypeError, match=words):
        scale(value, 1.0)


def test_keys_of_random_and_other_dtypes_that_no_tensor_has() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    words = r"^scale\(\): 'x' expects a dtype that DLPack has, but got "
    keys = jax.random.split(jax.random.key(0), 3)
    for make in (lambda: jax.random.key(0), lambda: keys, lambda: jax.random.key(0, impl="rbg")):
        for call in (scale, jax.jit(scale, static_argnums=1), partial(jax.eval_shape, scale)):
            with pytest.raises(
                TypeError, match=rf"{words}key<\w+>; pass jax\.random\.key_data\(x\)"
            ):
                call(make(), 2.0)
    with pytest.raises(TypeError, match=rf"{words}key<fry>"):
        jax.vmap(lambda key: scale(key, 2.0))(keys)
    nothing = np.zeros(3, jax.dtypes.float0)
    with pytest.raises(TypeError, match=rf"{words}float0, .* pass jax\.numpy\.zeros\(x\.shape\)$"):
        scale(nothing, 2.0)
    for array, shown in (
        (np.array(["a"]), "<U1"),
        (np.array([None]), "object"),
        (np.zeros(2, ">f4"), ">f4"),
        (np.datetime64("2020"), r"datetime64\[Y\]"),
    ):
        with pytest.raises(TypeError, match=f"{words}{shown}$"):
            scale(array, 2.0)


def test_outputs_of_dtypes_that_no_tensor_has() -> None:
    made = Recorded("f(y: Tensor([n], float32, intent=out))").function
    for dtype, words in (
        (jax.random.key(0).dtype, r"'y' expects a dtype that DLPack has, but got key<fry>"),
        (jax.dtypes.float0, r"'y' expects a dtype that DLPack has, but got float0"),
        ("float33", r"the output 'y': data type 'float33' not understood"),
    ):
        described = SimpleNamespace(shape=(3,), dtype=dtype)
        with pytest.raises(TypeError, match=rf"^f\(\): {words}"):
            made(y=described)


def test_operands_that_are_arrays_of_others() -> None:
    class Array:
        """An array that NumPy understands, and JAX does not, as those of torch are."""

        def __array__(self, *_: object) -> Any:
            return np.ones(2, "float32")

        __dlpack__ = __array__

    scale = ffi_jax.function(compiled()["scale"])
    words = (
        r"'x' expects an array of JAX or NumPy, .* got .*Array; pass jax\.numpy\.from_dlpack\(x\)$"
    )
    with pytest.raises(TypeError, match=words):
        scale(Array(), 1.0)
    assert scale(np.asarray(Array()), 2.0).tolist() == [2, 2]


def test_wrong_numbers_and_names_of_arguments() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    with pytest.raises(TypeError, match=r"^scale\(\): missing a required argument: 'factor'$"):
        scale(jnp.ones(2))
    with pytest.raises(TypeError, match=r"^scale\(\): too many positional arguments$"):
        scale(jnp.ones(2), 1.0, 2.0)
    with pytest.raises(
        TypeError, match=r"^scale\(\): got an unexpected keyword argument 'faktor'$"
    ):
        scale(jnp.ones(2), 1.0, faktor=2.0)


def test_dtypes_that_jax_does_not_have() -> None:
    wide = Recorded("f(n: int64, y: Tensor([n], float64, intent=out))").function
    words = r"^f\(\): 'y' is float64, which JAX has only within `with jax.enable_x64"
    with pytest.raises(TypeError, match=words):
        wide(3)
    for narrow, wide in (("int32", "int64"), ("uint32", "uint64"), ("float32", "float64")):
        read = Recorded(f"f(x: Tensor([n], {wide}, intent=in), y: Tensor([n], int8, intent=out))")
        words = (
            rf"^f\(\): 'x' expects {wide}, which JAX has only within "
            rf"`with jax.enable_x64\(True\):`, or after jax.config.update\('jax_enable_x64', True\), but got {narrow}"
        )
        with pytest.raises(TypeError, match=words):
            read.function(np.ones(2, wide))
    integers = Recorded("f(x: Tensor([n], int64, intent=inout))").function
    with pytest.raises(TypeError, match=r"x.dtype on .* expected int64 but got bool"):
        integers(np.ones(2, bool))
    both = Recorded("f(x: Tensor([n], float32 | float64, intent=inout))")
    assert both(np.ones(2, "float64")) == ["float32[2]"]
    either = Recorded("f(x: Tensor([n], float32 | complex64, intent=inout))").function
    with pytest.raises(TypeError, match=r"f\(\): jax-tvm-ffi cannot pass 'x', whose dtype is comp"):
        either(jnp.ones(2, "complex64"))


def test_no_output_is_asked_for() -> None:
    made = Recorded("f(y: Optional(Tensor([n], float32, intent=out)))").function
    with pytest.raises(TypeError, match=r"^f\(\): no result is asked for: every output is None"):
        made()


NO_DERIVATIVE = (
    r"^scale has no derivative; give vjp=\(forward, backward\) where it is made, or put "
    r"jax.lax.stop_gradient around its operands"
)


def test_a_derivative_without_a_rule() -> None:
    scale = ffi_jax.function(compiled()["scale"])

    def loss(x: Any) -> Any:
        return scale(x, 2.0).sum()

    x = jnp.ones(2)
    for wanted in (jax.grad(loss), jax.jit(jax.grad(loss)), lambda x: jax.jvp(loss, (x,), (x,))):
        with pytest.raises(TypeError, match=NO_DERIVATIVE):
            wanted(x)
    with pytest.raises(TypeError, match=NO_DERIVATIVE):
        jax.vmap(jax.grad(loss))(jnp.ones((2, 2)))


def test_no_derivative_is_needed_where_none_is_wanted() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    x = jnp.arange(2.0)
    assert jax.grad(lambda w: (w * scale(x, 2.0)).sum())(x).tolist() == [0, 2]
    stopped = jax.grad(lambda w: (w * scale(jax.lax.stop_gradient(w), 2.0)).sum())(x)
    assert stopped.tolist() == [0, 2]
    indices = Recorded("f(x: Tensor([n], int32, intent=in), y: Tensor([n], int32, intent=out))")
    grad = jax.grad(lambda w: w.sum() + indices.function(jnp.ones(2, "int32")).sum())(x)
    assert grad.tolist() == [1, 1]


def test_a_derivative_with_a_rule() -> None:
    def forward(x: Any, factor: float) -> tuple[Any, Any]:
        return scale(x, factor), None

    def backward(kept: Any, cotangent: Any, factor: float) -> tuple[Any]:
        return (scale(cotangent, factor),)

    scale = ffi_jax.function(compiled()["scale"], vjp=(forward, backward))

    def loss(x: Any) -> Any:
        return (scale(x, 3.0) * jnp.arange(2.0)).sum()

    x = jnp.ones(2)
    assert jax.grad(loss)(x).tolist() == [0, 3]
    assert jax.jit(jax.value_and_grad(loss))(x)[1].tolist() == [0, 3]
    assert jax.vmap(jax.grad(loss))(jnp.ones((2, 2))).tolist() == [[0, 3], [0, 3]]
    assert jax.jit(jax.grad(jax.checkpoint(loss)))(x).tolist() == [0, 3]


def test_a_derivative_with_absent_and_written_operands() -> None:
    def forward(x: Any, s: Any, mask: Any, y: Any) -> tuple[Any, Any]:
        assert mask is None
        return made(x, s, mask, y=y), s

    def backward(s: Any, cotangents: Any, y: Any) -> tuple[Any, Any, None]:
        assert y.shape == (4,)
        written, _ = cotangents
        return jnp.zeros(2), written * s, None

    made = Recorded(
        "f(x: Tensor([n], float32, intent=in), s: Tensor([n], float32, intent=inout), "
        "mask: Optional(Tensor([n], float32, intent=in)), y: Tensor([k], float32, intent=out))",
        vjp=(forward, backward),
    ).function
    y = jax.ShapeDtypeStruct((4,), "float32")
    s = jnp.arange(2.0)
    assert jax.grad(lambda s: made(jnp.ones(2), s, None, y=y)[0].sum())(s).tolist() == [0, 1]


def test_a_module_instead_of_a_function() -> None:
    words = r"^function: expected one function of a compiled module or loaded library, as in function\(compiled\['scale'\]\), but got <CompiledModule"
    with pytest.raises(TypeError, match=words):
        ffi_jax.function(compiled())
