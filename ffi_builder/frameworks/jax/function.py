"""`function`: a function of JAX from a compiled function and its signature."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NoReturn, TypeAlias, cast

from ffi_builder import SpecError, spec
from ffi_builder.frameworks.jax.call import Call, bind
from ffi_builder.frameworks.jax.form import Form, example
from ffi_builder.frameworks.jax.lowering import lower, register, vary, varying_axes
from ffi_builder.frameworks.jax.target import Target, check_target, load, reserve
from ffi_builder.frameworks.numbers import Results, check_option
from ffi_builder.frameworks.signatures import function_and_signature
from ffi_builder.runtime.extending import OfThisProcess

Vjp: TypeAlias = tuple[Callable[..., Any], Callable[..., Any]]
SEQUENTIAL: Final = ("sequential", "sequential_unrolled")


def function(
    function: Any,
    *,
    signature: spec.Signature | None = None,
    target: str | None = None,
    vmap: str | Callable[..., Any] = "sequential",
    vjp: Vjp | None = None,
    cuda_graph: bool = False,
    results: Results | None = None,
) -> JaxFunction:
    """Make a function of JAX from a compiled function.

    Tensors with ``intent="in"`` become operands, and those with ``"out"`` results. A tensor with
    ``"inout"`` becomes both: the result is the operand after the call, and shares its memory where
    XLA need not keep the old value. Numbers, bools, strs and Shapes are static. For example,
    ``scale(y, x, factor)``, which writes ``y``, becomes ``y = scale(x, factor=2.0)``.

    The shapes of results are computed from the arguments. The caller gives a shape that does not
    follow from them: ``scale(x, factor=2.0, y=jax.ShapeDtypeStruct((4,), "float32"))``.

    Args:
        function: a function of a compiled module or loaded library, or its callable.
        signature: the signature of the function, if the function does not know it, or does not
            know each ``intent``.
        target: the name by which XLA finds the function. Give it for programs that are exported or
            kept in JAX's persistent cache: it must stand for the same function in each process. The
            default is a new name each time. It must not contain ``#``, which marks calls without an
            Optional.
        vmap: ``"sequential"``, a loop; ``"sequential_unrolled"``; or a rule ``rule(axis_size,
            batched, *operands, **statics)``, which returns the results and which of them are
            batched, as for ``jax.custom_batching.custom_vmap``.
        vjp: ``(forward, backward)``, as for ``jax.custom_vjp``. ``forward(*operands, **statics)``
            returns the results and what to keep, and ``backward(kept, cotangents, **statics)`` a
            tuple with the cotangent of each operand. Without it, a derivative is an error.
        cuda_graph: whether the kernel may be captured in a CUDA graph.
        results: ``"tensors"`` returns each number that the function returns as an array without
            dimensions, of its dtype, behind the others. Without it, such a function is a
            SpecError.

    Raises:
        SpecError: XLA cannot call the function, for the reason in the message; or the signature is
            not known, or differs from that of the function.
        TypeError: ``function`` is no TVM-FFI function, ``vjp`` is not two functions, or ``target``
            is not a str.
        ValueError: ``target`` is taken by another function, or has a ``#``; or ``vmap`` is an
            unknown str.
        ModuleNotFoundError: JAX or jax-tvm-ffi is not installed.

    Examples:
        Needs JAX:

        >>> import jax
        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> from ffi_builder.frameworks import jax as ffi_jax
        >>> n = spec.Var("n", "int64")
        >>> with spec.DefaultConfig(device_type="cpu"):
        ...     y = spec.Tensor("y", [n], "float32", intent="out")
        ...     x = spec.Tensor("x", [n], "float32", intent="in")
        >>> module = ir.Module.parse("", ir.Context())
        >>> memcpy = providers.DirectCallProvider("memcpy", args=[y, x, n * 4])
        >>> attach(module, spec.Signature("copy", [y, x]), memcpy)
        >>> copy = ffi_jax.function(runtime.compile(module)["copy"])
        >>> print(copy)
        <function of JAX copy(x, *, y=None)>
        >>> jax.jit(lambda x: copy(x) * 2)(np.arange(3, dtype="float32"))
        Array([0., 2., 4.], dtype=float32)
    """
    function, own, signature = function_and_signature("function", function, signature)
    if isinstance(vmap, str) and vmap not in SEQUENTIAL:
        raise ValueError(
            f"function: vmap: expected {' or '.join(map(repr, SEQUENTIAL))}, or a rule, but got "
            f"{vmap!r}"
        )
    _check_vjp(vjp)
    check_option(results)
    form = Form(signature, results)
    if form.mixed and (vjp is not None or not isinstance(vmap, str)):
        raise SpecError(
            f"{form.what}: {form.mixed[0]!r} has arrays and static values, which a rule could not "
            f"tell apart; make the static values parameters of their own"
        )
    for module in ("jax", "jax_tvm_ffi"):
        load(module)
    if target is not None:
        check_target(target)
    else:
        target = f"ffi_builder.{signature.name}.{uuid.uuid4().hex}"
    # All objects of one function share one Info, which stays alive with the target.
    reserve(target, (id(function if own is None else own), signature, cuda_graph))
    made = Target(target, function, form.platforms, cuda_graph)
    # This suffices to run exported programs, unless they leave out Optionals. Lists of arrays of
    # any length have a target for each length.
    if not form.of_any_length:
        register(form, made, list(map(example, signature.arguments)))
    return JaxFunction(form, made, vmap, vjp)


def _check_vjp(vjp: object) -> None:
    """Raise TypeError unless `vjp` is a pair of functions, or None."""
    if vjp is None:
        return
    pair = cast("tuple[object, ...]", vjp) if isinstance(vjp, (tuple, list)) else ()
    if len(pair) != 2 or not all(map(callable, pair)):
        raise TypeError(
            f"function: vjp: expected two functions, (forward, backward), as for jax.custom_vjp, "
            f"but got {vjp!r}"
        )


class JaxFunction(OfThisProcess):
    """A function of JAX that calls a compiled one; :func:`function` makes it.

    ``jit``, ``vmap``, ``grad`` (with a rule), ``eval_shape`` and ``export`` can trace it. While
    they do, arguments that do not fit raise the wrapper's own errors.

    Example: see :func:`function`.
    """

    _instead = "its code is in this process; make it again where it is needed, or use jax.export"

    def __init__(
        self, form: Form, target: Target, vmap: str | Callable[..., Any], vjp: Vjp | None
    ) -> None:
        """Made by :func:`function`."""
        jax = load("jax")
        self._form, self._target, self._vmap, self._vjp = form, target, vmap, vjp
        # Traced once for each shape. Inlined, so that programs call no jitted function in between.
        self._traced = jax.jit(self._trace, static_argnums=0, inline=True)
        self.__name__ = self.__qualname__ = form.signature.name
        self.__doc__ = form.signature.doc or None
        self.__signature__ = form.python_signature

    @property
    def signature(self) -> spec.Signature:
        """The signature of the compiled function."""
        return self._form.signature

    @property
    def target(self) -> str:
        """The name by which XLA finds the function."""
        return self._target.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, and return one array, or a tuple in the order of the signature.

        Raises:
            TypeError, ValueError: the arguments do not fit, with the wrapper's message; a static
                value is traced; or a derivative is requested, but there is no rule.
        """
        operands, call = bind(self._form, args, kwargs)
        return self._traced(call, *operands)

    def __repr__(self) -> str:
        return f"<function of JAX {self.__name__}{self.__signature__}>"

    def _trace(self, call: Call, *operands: Any) -> Any:
        jax = load("jax")
        keywords = call.keywords(self._form)
        rule, derivative = self._vmap, self._vjp

        def called(*operands: Any) -> Any:
            return lower(self._form, self._target, call, operands, rule)

        made = called
        if not isinstance(rule, str):
            made = jax.custom_batching.custom_vmap(made)
            made.def_vmap(partial(rule, **keywords))
        if derivative is None:
            made = jax.custom_jvp(made)
            made.defjvp(self._refuse_derivative)
        else:
            forward, backward = derivative
            made = jax.custom_vjp(made)
            made.defvjp(partial(forward, **keywords), partial(backward, **keywords))
        # All operands of a rule must vary over the same axes, since it returns cotangents of the
        # operands' types. The cast is outside of the rule, so that JAX transposes it.
        axes = varying_axes(operands)
        return made(*(vary(operand, axes) for operand in operands))

    def _refuse_derivative(self, primals: object, tangents: object) -> NoReturn:
        raise TypeError(
            f"{self.__name__} has no derivative; give vjp=(forward, backward) where it is made, or "
            f"put jax.lax.stop_gradient around its operands"
        )
