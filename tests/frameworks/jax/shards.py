"""Calls within ``jax.shard_map`` over four devices, of kernels and of the same functions of JAX.

A process has as many devices as when JAX starts, so a child runs :func:`main`.
"""

# Functions that JAX calls are typed as Any.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ffi_builder.frameworks import jax as ffi_jax
from ffi_builder.frameworks.jax import lowering
from tests.frameworks.jax.support import compiled, jax, jnp

P: Final[Any] = jax.sharding.PartitionSpec


@dataclass(frozen=True)
class Functions:
    """``half(x)`` is ``x / 2``, and ``add(x, y)`` is ``x + y``."""

    half: Any
    add: Any


def plain() -> Functions:
    """Return functions of JAX itself."""

    def add(x: Any, y: Any) -> Any:
        return x + y

    return Functions(lambda x: x * 0.5, add)


def kernels() -> Functions:
    """Return functions that call kernels."""
    scale = ffi_jax.function(compiled()["scale"])
    return Functions(lambda x: scale(x, 0.5), ffi_jax.function(compiled()["add_to"]))


def with_rules(*, summed: bool = False) -> Functions:
    """Return functions that call kernels, with derivatives.

    Args:
        summed: the derivative of ``add`` sums over the devices itself, which JAX does too.
    """
    calls = kernels()

    def forward_half(x: Any, factor: float) -> tuple[Any, None]:
        assert factor == 0.5
        return calls.half(x), None

    def backward_half(_: None, cotangent: Any, factor: float) -> tuple[Any]:
        assert factor == 0.5
        return (calls.half(cotangent),)

    def forward_add(x: Any, y: Any) -> tuple[Any, None]:
        return calls.add(x, y), None

    def backward_add(_: None, cotangent: Any) -> tuple[Any, Any]:
        return cotangent, jax.lax.psum(cotangent, "i") if summed else cotangent

    half = ffi_jax.function(compiled()["scale"], vjp=(forward_half, backward_half))
    add = ffi_jax.function(compiled()["add_to"], vjp=(forward_add, backward_add))
    return Functions(lambda x: half(x, 0.5), add)


def batched() -> Functions:
    """Return functions that call kernels once for a batch."""
    calls = kernels()

    def add_all(size: int, batched: list[bool], x: Any, y: Any) -> tuple[Any, bool]:
        assert batched == [True, False]
        return calls.add(x.reshape(-1), jnp.tile(y, size)).reshape(x.shape), True

    return Functions(calls.half, ffi_jax.function(compiled()["add_to"], vmap=add_all))


def over(function: Any, in_specs: Any, out_specs: Any, **options: Any) -> Any:
    """Map a function over four devices ``i``."""
    mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


def over_two_axes(function: Any, in_specs: Any, out_specs: Any) -> Any:
    """Map a function over two by two devices ``i`` and ``j``."""
    auto = jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((2, 2), ("i", "j"), axis_types=(auto, auto))
    return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs)


def values() -> Any:
    return jnp.arange(8.0)


def bias() -> Any:
    return jnp.array([1.0, 2.0])


def weighted(mapped: Any, *operands: Any) -> Any:
    """Sum the results with weights, so that each device has another gradient."""
    return (mapped(*operands) * values()).sum()


CASES: Final[dict[str, Callable[[Functions], Any]]] = {
    "a sharded operand": lambda f: over(f.half, P("i"), P("i"))(values()),
    "a replicated operand": lambda f: over(f.half, P(), P())(values()),
    "operands that vary and do not": lambda f: over(f.add, (P("i"), P()), P("i"))(values(), bias()),
    "operands that vary over two axes": lambda f: over_two_axes(
        f.add, (P("i"), P("j")), P(("i", "j"))
    )(values(), values()),
    "a sum over devices": lambda f: over(lambda x: jax.lax.psum(f.half(x), "i"), P("i"), P())(
        values()
    ),
    "a loop": lambda f: over(
        lambda x: jax.lax.fori_loop(0, 3, lambda _, x: f.half(x), x), P("i"), P("i")
    )(values()),
    "a branch": lambda f: over(
        lambda x: jax.lax.cond(x[0] > 1, f.half, lambda x: x, x), P("i"), P("i")
    )(values()),
    "a batch within": lambda f: over(
        jax.vmap(f.add, in_axes=(0, None)), (P(None, "i"), P()), P(None, "i")
    )(jnp.arange(24.0).reshape(3, 8), bias()),
    "a batch outside": lambda f: jax.vmap(over(f.add, (P("i"), P()), P("i")), in_axes=(0, None))(
        jnp.arange(24.0).reshape(3, 8), bias()
    ),
    "a tangent beside": lambda f: over(
        lambda x: jax.jvp(lambda x: x * f.half(jax.lax.stop_gradient(x)), (x,), (x,)),
        P("i"),
        P("i"),
    )(values()),
}
"""Calls without a derivative of the function."""

GRADIENTS: Final[dict[str, Callable[[Functions], Any]]] = {
    "of a sharded operand": lambda f: jax.grad(lambda x: weighted(over(f.half, P("i"), P("i")), x))(
        values()
    ),
    "of a replicated operand": lambda f: jax.grad(
        lambda b: weighted(over(f.add, (P("i"), P()), P("i")), values(), b)
    )(bias()),
    "of operands that vary over two axes": lambda f: jax.grad(
        lambda x, y: weighted(over_two_axes(f.add, (P("i"), P("j")), P(("i", "j"))), x, y),
        argnums=(0, 1),
    )(jnp.arange(4.0), jnp.arange(4.0)),
    "within": lambda f: over(jax.grad(lambda b, x: (f.add(x, b) * x).sum()), (P(), P("i")), P())(
        bias(), values()
    ),
    "of a batch": lambda f: over(
        jax.vmap(jax.grad(lambda b, x: (f.add(x, b) * x).sum()), in_axes=(None, 0)),
        (P(), P(None, "i")),
        P(),
    )(bias(), jnp.arange(24.0).reshape(3, 8)),
    "of a checkpoint": lambda f: jax.grad(
        lambda b: weighted(over(jax.checkpoint(f.add), (P("i"), P()), P("i")), values(), b)
    )(bias()),
    "without checks": lambda f: jax.grad(
        lambda b: weighted(over(f.add, (P("i"), P()), P("i"), check_vma=False), values(), b)
    )(bias()),
}
"""Derivatives of the function."""

REFUSED: Final[dict[str, Callable[[Functions], Any]]] = {
    "sharded results as one": lambda f: over(lambda x: f.half(x), P("i"), P())(values()),
    "tangents": lambda f: over(lambda x: jax.jvp(f.half, (x,), (x,)), P("i"), P("i"))(values()),
}
"""Calls that are errors."""


def _outcome(case: Callable[[Functions], Any], functions: Functions, jitted: bool) -> Any:
    def run() -> Any:
        return case(functions)

    try:
        results = jax.tree.leaves((jax.jit(run) if jitted else run)())
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return [result.tolist() for result in results]


def main() -> None:
    """Print what comes of each case, as JSON: by kind of functions, then by case."""
    jax.config.update("jax_num_cpu_devices", 4)
    every = {**CASES, **GRADIENTS, **REFUSED}
    tried = {
        "plain": (plain(), every, True),
        "no rules": (kernels(), every, True),
        "rules": (with_rules(), every, True),
        "rules, not jitted": (with_rules(), every, False),
        "batched": (batched(), {name: CASES[name] for name in CASES if "batch" in name}, True),
        "summing": (with_rules(summed=True), GRADIENTS, True),
    }
    found = {
        kind: {name: _outcome(case, functions, jitted) for name, case in cases.items()}
        for kind, (functions, cases, jitted) in tried.items()
    }
    print(json.dumps(found))


def show_axes() -> None:
    """Print the mesh axes of arrays, and what is read where types have no attribute for them."""
    jax.config.update("jax_num_cpu_devices", 4)

    class Typed:
        """An array whose type has its text alone."""

        def __init__(self, array: Any) -> None:
            self.text = str(jax.typeof(array))

    class Jax:
        """A JAX whose types have their text alone."""

        tree = jax.tree

        @staticmethod
        def typeof(array: Any) -> Any:
            return array.text

    def show(x: Any) -> Any:
        known = lowering.varying_axes([x])
        load, lowering.load = lowering.load, lambda _: Jax
        try:
            print(known, lowering.varying_axes([Typed(x)]))
        finally:
            lowering.load = load
        return x

    x = jnp.ones(4)
    show(x)
    over(show, P("i"), P("i"))(x)
    over_two_axes(show, P(("i", "j")), P(("i", "j")))(x)
