"""PackedCallProvider with callees other than a symbol."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

from ffi_builder import BuildError, attach, runtime, spec
from ffi_builder.ir import Block
from ffi_builder.packed import GlobalFunction, ImportedFunction, Symbol
from ffi_builder.providers import CallContext, CallProvider, PackedCallProvider
from tests.packed.conftest import Called
from tests.packed.kernels import GLOBAL
from tests.support import wrapping
from tests.support.packed import packed_callee
from tests.support.wrapping import new_module, parsed

Make: TypeAlias = Callable[[Sequence[Any]], CallProvider]


def wrapped(text: str, make: Make) -> Any:
    """Attach a provider that is made of the parameters, and compile."""
    signature = parsed(text)
    return wrapping.wrapped(signature, make(signature.params))


def recording(seen: list[Any]) -> Callable[..., None]:
    """Return a function that appends its arguments."""

    def record(*args: object) -> None:
        seen.append(args)

    return record


def test_a_function_parameter_gets_all_other_arguments() -> None:
    call = wrapped(
        "apply(n: int64, f: Function, x: Tensor([n], float32), s: String) -> y: int64",
        lambda p: PackedCallProvider(p[1]),
    )
    seen: list[Any] = []

    def function(n: int, x: Any, s: str) -> int:
        seen.append((n, np.from_dlpack(x).tolist(), s))
        return n + 1

    assert call(2, function, np.ones(2, "float32"), "a str that is not small") == 3
    assert seen == [(2, [1.0, 1.0], "a str that is not small")]


def test_a_function_parameter_with_arguments() -> None:
    call = wrapped(
        "apply(f: Function, x: Tensor([n, m], float32))",
        lambda p: PackedCallProvider(p[0], args=["n * m", "x.dtype", p[0]]),
    )
    seen: list[Any] = []
    call(recording(seen), np.ones((3, 5), "float32"))
    ((count, dtype, function),) = seen
    assert (count, str(dtype)) == (15, "float32")
    assert callable(function)


def test_a_function_without_other_parameters() -> None:
    call = wrapped("apply(f: Function)", lambda p: PackedCallProvider(p[0]))
    seen: list[Any] = []
    call(recording(seen))
    assert seen == [()]
    with pytest.raises(TypeError, match="Mismatched type of f on argument #0"):
        call(3)


def test_a_function_in_a_struct() -> None:
    function = spec.Function("f")
    cfg = spec.Struct("cfg", [spec.Var("n", "int64"), function])
    module = new_module()
    attach(module, spec.Signature("apply", [cfg]), PackedCallProvider(function, args=["cfg.n"]))
    seen: list[Any] = []
    runtime.compile(module)["apply"]([7, recording(seen)])
    assert seen == [(7,)]


def test_result_tensors_are_passed_to_it() -> None:
    call = wrapped(
        "apply(f: Function, n: int64) -> y: Tensor([n], float32)",
        lambda p: PackedCallProvider(p[0]),
    )

    def fill(n: int, y: Any) -> None:
        np.from_dlpack(y)[:] = n

    with runtime.install_allocator():
        assert np.from_dlpack(call(fill, 3)).tolist() == [3.0] * 3


@pytest.mark.parametrize(
    ("raised", "arrives"),
    [
        (KeyboardInterrupt, KeyboardInterrupt),
        (ValueError("v"), ValueError),
        (ZeroDivisionError("z"), RuntimeError),
    ],
)
def test_the_class_of_its_error(raised: BaseException, arrives: type[BaseException]) -> None:
    """Ctrl-C in a callback ends the program, as it would elsewhere."""
    once = wrapped("once(cb: Function)", lambda params: PackedCallProvider(params[0]))

    def stop() -> None:
        raise raised

    with pytest.raises(BaseException) as found:  # noqa: PT011 - the class is compared
        once(stop)
    assert type(found.value) is arrives


def test_a_function_that_calls_the_wrapper_again() -> None:
    call = wrapped("apply(f: Function, n: int64) -> y: int64", lambda p: PackedCallProvider(p[0]))

    def fibonacci(n: int) -> int:
        return n if n < 2 else call(fibonacci, n - 1) + call(fibonacci, n - 2)

    assert call(fibonacci, 15) == 610


@pytest.mark.parametrize("make", [GlobalFunction, ImportedFunction])
def test_a_function_that_is_kept(called: Called, make: Any) -> None:
    call = wrapped("f(n: int64) -> y: int64", lambda p: PackedCallProvider(make(GLOBAL)))
    called.answer = lambda args: args[0] * 2
    assert [call(n) for n in range(3)] == [0, 2, 4]
    with pytest.raises(TypeError, match=r"Mismatched type of n on argument #0 when calling"):
        call("a str")


def test_a_symbol() -> None:
    callee = packed_callee()
    call = wrapped("f(n: int64)", lambda p: PackedCallProvider(Symbol("ffib_packed")))
    callee.expect()
    call(3)
    assert callee.args == [(1, 0, 3)]


def test_several_calls_in_a_provider(called: Called) -> None:
    class Both:
        def __call__(self, current_block: Block, context: CallContext) -> Block:
            for name in ("n", "m"):
                provider = PackedCallProvider(GlobalFunction(GLOBAL), args=[name])
                current_block = provider(current_block, context)
            return current_block

    call = wrapped("f(n: int64, m: int64)", lambda p: Both())
    call(1, 2)
    assert called.calls == [(1,), (2,)]


# ---- mistakes


def refused(text: str, make: Make) -> str:
    module = new_module()
    before = str(module)
    signature = spec.Signature.parse(text, device="cpu")
    with pytest.raises(BuildError) as raised:
        attach(module, signature, make(signature.params))
    assert str(module) == before
    return str(raised.value)


def test_a_function_that_may_be_none() -> None:
    words = refused("f(g: Optional(Function))", lambda p: PackedCallProvider(p[0]))
    assert words == (
        "PackedCallProvider: expected a Function that is always there, but "
        "Optional(Function('g')) may be None; call it in a provider of your own, where "
        "context.present(g) holds"
    )


def test_a_function_of_another_signature() -> None:
    words = refused("f(n: int64)", lambda p: PackedCallProvider(spec.Function("g")))
    assert words == ("PackedCallProvider: Function('g') is not a parameter of 'f'; it has n")


def test_the_wrapper_itself() -> None:
    assert refused("f(n: int64)", lambda p: PackedCallProvider(Symbol("f"))) == (
        "PackedCallProvider: @__tvm_ffi_f is the wrapper itself, which would never return"
    )


def test_two_callees() -> None:
    def make(params: Sequence[Any]) -> PackedCallProvider:
        return PackedCallProvider(params[0], global_function="a")

    assert refused("f(g: Function)", make).startswith(
        "PackedCallProvider: expected either the name of a symbol or a global_function= but got "
        "Function('g') and 'a'"
    )
