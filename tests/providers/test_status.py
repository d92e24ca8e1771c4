"""CheckStatus: an integer that the callee returns becomes an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pytest

from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    ModuleContext,
    NestedTensorCallProvider,
    NopCallProvider,
)
from ffi_builder.spec import Tensor, Var, dims
from tests.providers.values import ERRORS
from tests.support.recording import c_callees
from tests.support.wrapping import attached, wrap

(n,) = dims("n")
X: Final = Tensor("x", [n], "float32", device_type="cpu")
CODE: Final = Var("code", "int64")
DIRECT: Final = CheckStatus(DirectCallProvider("k"))


def returning(type_: str) -> str:
    """A callee that returns its argument as this type."""
    bits = int(type_[1:])
    name = "bitcast" if bits == 64 else "trunc"
    return f"""
    llvm.func @k(%code: i64) -> {type_} {{
      %status = llvm.{name} %code : i64 to {type_}
      llvm.return %status : {type_}
    }}
    """


@pytest.mark.parametrize(
    ("type_", "given", "shown"),
    [
        ("i1", 1, 1),
        ("i8", -128, -128),
        ("i8", 255, -1),
        ("i16", 300, 300),
        ("i32", -(2**31), -(2**31)),
        ("i33", 1 << 32, -(1 << 32)),
        ("i64", -(2**63), -(2**63)),
        ("i64", 2**63 - 1, 2**63 - 1),
    ],
)
def test_every_width(type_: str, given: int, shown: int) -> None:
    function = wrap([CODE], DIRECT, returning(type_))
    assert function(0) is None
    with pytest.raises(RuntimeError) as raised:
        function(given)
    assert str(raised.value) == f"k failed with status {shown} when calling: `f(code: int64)`"
    if type_ == "i8":
        assert function(256) is None


def test_without_it_what_a_direct_callee_returns_is_not_looked_at() -> None:
    assert wrap([CODE], DirectCallProvider("k"), returning("i32"))(3) is None


@pytest.mark.parametrize("error", ERRORS)
def test_every_class(error: type[Exception]) -> None:
    provider = CheckStatus(DirectCallProvider("k"), error=error.__name__, message="out of luck")
    with pytest.raises(error, match="out of luck when calling"):
        wrap([CODE], provider, returning("i32"))(3)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("{status}", "3"),
        ("{callee}: {status} ({callee}, {status})", "k: 3 (k, 3)"),
        ("100% of {{{status}}} %d", "100% of {3} %d"),
        ("", ""),
    ],
)
def test_messages(message: str, shown: str) -> None:
    provider = CheckStatus(DirectCallProvider("k"), message=message)
    with pytest.raises(RuntimeError) as raised:
        wrap([CODE], provider, returning("i32"))(3)
    assert str(raised.value) == f"{shown} when calling: `f(code: int64)`"


MEMREF: Final = "!llvm.ptr, %b: !llvm.ptr, %o: i64, %n: i64, %s: i64"
NESTED: Final = "!llvm.struct<(ptr, struct<(i64, struct<()>)>)>"
READY_MADE: Final[list[tuple[Callable[[str], CallProvider], str]]] = [
    (DirectCallProvider, "!llvm.ptr"),
    (MemRefCallProvider, MEMREF),
    (DynamicParamPackCallProvider, "!llvm.ptr"),
    (lambda name: DynamicParamPackCallProvider(name, returns_status=True), "!llvm.ptr"),
    (lambda name: DynamicParamPackCallProvider(name, struct_call=True), "!llvm.struct<(ptr, i64)>"),
    (NestedTensorCallProvider, NESTED),
]  # fmt: skip


@pytest.mark.parametrize(("make", "parameter"), READY_MADE)
@pytest.mark.parametrize("type_", ["i32", "i16"])
def test_every_provider(make: Callable[[str], CallProvider], parameter: str, type_: str) -> None:
    text = f"""
    llvm.func @k(%x: {parameter}) -> {type_} {{
      %status = llvm.mlir.constant(5 : {type_}) : {type_}
      llvm.return %status : {type_}
    }}
    """
    provider = CheckStatus(make("k"), error="ValueError", message="only {status}")
    with pytest.raises(ValueError, match=r"^only 5 when calling"):
        wrap([X], provider, text)(np.zeros(3, "float32"))


def test_a_callee_that_is_not_there_is_declared_to_return_an_i32() -> None:
    for make, _ in READY_MADE:
        module = str(attached([X], CheckStatus(make("k"))))
        assert any("llvm.func @k(" in x and x.endswith(" -> i32") for x in module.splitlines())
        module = str(attached([X], make("k")))
        returns = getattr(make("k"), "returns_status", None)
        assert ("-> i32" in module.partition("llvm.func @k(")[2].partition("\n")[0]) is bool(
            returns
        )


def test_a_callee_in_c() -> None:
    callees = c_callees()
    function = wrap([CODE], CheckStatus(DynamicParamPackCallProvider("ffib_test_pack_status")))
    callees.expect(8)
    function(1)
    callees.expect(8, status=-9)
    with pytest.raises(RuntimeError, match="ffib_test_pack_status failed with status -9"):
        function(1)
    assert callees.calls == 1


BY_STATUS: Final = {22: ("ValueError", "bad order"), -2: ("IndexError", "{callee}: {status}, past")}


@pytest.mark.parametrize("type_", ["i8", "i32", "i64"])
def test_an_error_for_certain_statuses(type_: str) -> None:
    f = wrap([CODE], CheckStatus(DirectCallProvider("k"), errors=BY_STATUS), returning(type_))
    assert f(0) is None
    for code, error, words in (
        (22, ValueError, "bad order"),
        (-2, IndexError, "k: -2, past"),
        (21, RuntimeError, "k failed with status 21"),
    ):
        with pytest.raises(error) as raised:
            f(code)
        assert str(raised.value) == f"{words} when calling: `f(code: int64)`"


def test_the_only_status_of_a_bool() -> None:
    provider = CheckStatus(DirectCallProvider("k"), errors={1: ("KeyError", "not there")})
    with pytest.raises(KeyError, match="not there"):
        wrap([CODE], provider, returning("i1"))(1)


def test_a_callee_that_has_set_no_error() -> None:
    """Whoever reads the error of a call takes it for granted that there is one."""
    f = wrap([CODE], CheckStatus(DirectCallProvider("k"), error=None), returning("i32"))
    assert f(0) is None
    for code in (5, -1):
        with pytest.raises(RuntimeError) as raised:
            f(code)
        assert str(raised.value) == (
            f"k returned {code}, but has set no error when calling: `f(code: int64)`"
        )


def test_words_for_some_statuses_where_others_are_passed_on() -> None:
    """A kernel with a callback returns statuses of its own, and those of the callback."""
    text = f"""
    llvm.mlir.global internal constant @kind("KeyError\\00")
    llvm.mlir.global internal constant @words("raised\\00")
    llvm.func @TVMFFIErrorSetRaisedFromCStr(!llvm.ptr, !llvm.ptr)
    llvm.func @raises(%code: i64) -> i32 {{
      %kind = llvm.mlir.addressof @kind : !llvm.ptr
      %words = llvm.mlir.addressof @words : !llvm.ptr
      llvm.call @TVMFFIErrorSetRaisedFromCStr(%kind, %words) : (!llvm.ptr, !llvm.ptr) -> ()
      %status = llvm.trunc %code : i64 to i32
      llvm.return %status : i32
    }}
    {returning("i32")}"""
    errors = {3: ("ValueError", "{callee} is empty")}
    own = wrap([CODE], CheckStatus(DirectCallProvider("k"), error=None, errors=errors), text)
    assert own(0) is None
    with pytest.raises(ValueError, match="k is empty when calling"):
        own(3)
    with pytest.raises(RuntimeError, match="k returned 4, but has set no error"):
        own(4)
    raising = CheckStatus(DirectCallProvider("raises"), error=None, errors=errors)
    with pytest.raises(KeyError, match="raised"):
        wrap([CODE], raising, text)(-1)


def test_a_callee_that_has_set_an_error_of_python() -> None:
    text = """
    llvm.mlir.global external @PyExc_KeyError() : !llvm.ptr
    llvm.func @PyErr_SetNone(!llvm.ptr)
    llvm.func @k(%code: i64) -> i32 {
      %place = llvm.mlir.addressof @PyExc_KeyError : !llvm.ptr
      %class = llvm.load %place : !llvm.ptr -> !llvm.ptr
      llvm.call @PyErr_SetNone(%class) : (!llvm.ptr) -> ()
      %status = llvm.trunc %code : i64 to i32
      llvm.return %status : i32
    }
    """
    f = wrap([CODE], CheckStatus(DirectCallProvider("k"), error=None), text)
    f.release_gil = False
    with pytest.raises(KeyError):
        f(-2)


class OfOnesOwn:
    """A provider that notes what it was told; it has a callee, and prepares."""

    def __init__(self) -> None:
        self.callee = "k"
        self.prepared = 0

    def prepare(self, context: ModuleContext) -> None:
        t = context.symbols.types
        context.symbols.declare("k", t.i64, [t.i64])
        self.prepared += 1

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        assert context.status_wanted
        b = context.builder
        with b.when(b.ne(context.value(CODE), b.i64(7))):
            pass
        context.returned = b.call_value("k", [context.value(CODE)], b.types.i64)
        return b.block


def test_prepare_and_callee_are_those_of_the_provider_within() -> None:
    inner = OfOnesOwn()
    provider = CheckStatus(inner)
    assert provider.callee == "k"
    with pytest.raises(RuntimeError, match="k failed with status 9"):
        wrap([CODE], provider, returning("i64"))(9)
    assert inner.prepared == 1
    assert CheckStatus(NopCallProvider()).callee is None


def test_what_is_within_need_not_be_known_to_translate() -> None:
    """Only functions made by providers of our own are marked as trusted."""
    mark = "ffi-builder-trusted"

    def wrapper(provider: CallProvider) -> str:
        module = attached([CODE], provider, returning("i64"))
        found = [o for o in module.body.operations if "__tvm_ffi_f" in str(o)[:40]]
        return str(found[0].operation.attributes["passthrough"])

    assert mark in wrapper(DIRECT)
    assert mark in wrapper(CheckStatus(DIRECT))
    assert mark not in wrapper(CheckStatus(OfOnesOwn()))

    class Other(DirectCallProvider):
        """It may emit anything, so it does not inherit what its class says."""

    assert mark not in wrapper(Other("k"))
    assert mark not in wrapper(CheckStatus(Other("k")))


def test_a_status_is_wanted_only_within() -> None:
    seen: list[object] = []

    def provider(current_block: Block, context: CallContext) -> Block:
        block = DIRECT(current_block, context)
        seen.extend([context.status_wanted, str(context.returned and context.returned.type)])
        return DirectCallProvider("log")(block, context)

    module = attached([CODE], provider, returning("i32"))
    assert seen == [False, "i32"]
    assert "llvm.func @log(i64)\n" in str(module)
