"""Metadata that travels with the code, on every way, and damaged metadata."""

from __future__ import annotations

import enum
import inspect
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from ffi_builder import attach, runtime
from ffi_builder.providers import NopCallProvider
from ffi_builder.runtime.metadata import of_llvm_ir, read
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    DType,
    Map,
    Optional,
    Param,
    Shape,
    Signature,
    String,
    Struct,
    TupleParam,
    Var,
    outline,
)
from tests.runtime.callables import checking
from tests.runtime.describing import PARAMS, described
from tests.runtime.samples import ADD_ONE, llvm_entry, parse
from tests.support.printed import name_of, operations
from tests.support.wrapping import new_module

SHOWN = (
    "(x: Tensor([n, 4], float32, device_type=cpu), act: Choice({'a, b: (c) [': 1, '{d}': 2}) = "
    "'{d}', cfg: Struct(lr: float32, t: Tuple(i: int8)) = (1.5, (2,)), *, k: int64 = -4)"
)


def shown(compiled: runtime.CompiledModule, name: str = "f") -> str:
    call = compiled.callable(name)
    call(np.zeros((2, 4), "float32"))
    assert str(call.__doc__).startswith("Do it.\n\nArgs:\n    x: the input\n\nf(")
    return str(inspect.signature(call))


# ---- ways


WAYS: dict[str, Callable[[Any], object]] = {
    "module": lambda module: module,
    "MLIR text": str,
    "generic MLIR text": lambda module: module.operation.get_asm(print_generic_op_form=True),
    "lowered MLIR": lambda module: runtime.compile(module).mlir,
    "optimised LLVM IR": lambda module: runtime.compile(module).llvm_ir,
    "LLVM IR at O0": lambda module: runtime.compile(module, opt_level=0).llvm_ir,
}


@pytest.mark.parametrize("distribution", ["torch_mlir", "jaxlib.mlir"])
@pytest.mark.parametrize("way", WAYS)
def test_ways(way: str, distribution: str) -> None:
    pytest.importorskip(f"{distribution}.ir")
    compiled = runtime.compile(WAYS[way](described(distribution)))
    assert shown(compiled) == SHOWN


def test_after_a_pipeline() -> None:
    pipeline = "builtin.module(canonicalize,cse,symbol-dce,convert-to-llvm)"
    assert shown(runtime.compile(described(), pipeline=pipeline)) == SHOWN


def test_llvm_ir_with_the_attribute_on_the_function() -> None:
    """As people write it, where LLVM prints groups."""
    text = runtime.compile(described()).llvm_ir
    assert text is not None
    [(name, value)] = of_llvm_ir(text).items()
    written = value.replace("\\", "\\\\").replace('"', "\\22")
    by_hand = llvm_entry("g").replace(" {", f' "ffi-builder-metadata"="{written}" {{', 1)
    by_hand += '; define i32 @__tvm_ffi_h() "ffi-builder-metadata"="no"\n'
    assert name == "f"
    assert of_llvm_ir(by_hand) == {"g": value}
    assert runtime.compile(by_hand)["g"].__doc__ == str(
        runtime.compile(described())["f"].__doc__
    ).replace("f(x", "g(x")


def test_each_function_has_its_own() -> None:
    module = new_module(ADD_ONE)
    for name in ("f", "g"):
        attach(module, Signature(name, [Var(f"of_{name}", "int32")]), NopCallProvider())
    compiled = runtime.compile(module)
    for again in (compiled, runtime.compile(compiled.llvm_ir)):
        assert repr(again["f"]) == "<function f(of_f: int32)>"
        assert repr(again["g"]) == "<function g(of_g: int32)>"
        assert repr(again["add_one"]) == "<function add_one(…)>"


def test_what_is_linked_knows_its_own() -> None:
    text = runtime.compile(described()).llvm_ir
    assert text is not None
    assert shown(runtime.compile(ADD_ONE, link=[llvm_entry("g"), text])) == SHOWN


def test_an_object_alone_says_nothing() -> None:
    compiled = runtime.compile(runtime.compile(described()).object)
    compiled["f"](np.zeros((2, 4), "float32"), "{d}", (1.5, (2,)), 4)
    assert compiled["f"].__doc__ is None
    with pytest.raises(TypeError, match="its attributes were dropped on the way"):
        compiled.callable("f")


def test_attributes_that_were_dropped() -> None:
    def drop(module: Any) -> None:
        for operation in operations(module):
            if name_of(operation) == "__tvm_ffi_f":
                del operation.attributes["passthrough"]

    compiled = runtime.compile(described(), post_compile_hooks=[drop])
    assert repr(compiled["f"]) == "<function f(…)>"
    with pytest.raises(
        TypeError, match="`f` in the compiled module says nothing of its parameters"
    ):
        compiled.callable("f")


def test_attributes_of_authors() -> None:
    given = """-> i32 attributes {passthrough = ["cold", ["frame-pointer", "all"]]} {"""
    compiled = runtime.compile(parse(ADD_ONE.replace("-> i32 {", given)))
    assert '"frame-pointer"="all"' in str(compiled.llvm_ir)
    assert compiled["add_one"].__doc__ is None


@pytest.mark.parametrize("distribution", ["torch_mlir", "jaxlib.mlir"])
def test_what_is_said_of_a_wrapper_needs_no_child_process(
    distribution: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Translating and compiling it stays as safe as it is without; a child costs half a second."""
    pytest.importorskip(f"{distribution}.ir")

    def refuse(*_: object, **__: object) -> object:
        raise AssertionError("a child process was asked")

    doc = 'asm "largest" vscale [ "x" ] cc musttail appending @llvm.foo target ("a") gc "'
    module = new_module(distribution=distribution)
    attach(module, Signature("f", [Var("a", "int32", doc=doc)], doc=doc), NopCallProvider())
    monkeypatch.setattr("ffi_builder.runtime.isolate.worker._request", refuse)
    assert str(runtime.compile(module)["f"].__doc__).startswith(doc)


# ---- defaults


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Act(enum.Enum):
    relu = 1
    gelu = 2


class Word(str, enum.Enum):
    RELU = "relu"


@dataclass
class Config:
    act: Any
    count: Any


class Pair(NamedTuple):
    act: Any
    count: Any


ACT = Choice("a", {"relu": 5, "gelu": 6})
STRUCT = Struct("a", [Choice("act", {"relu": 5, "gelu": 6}), Var("count", "int32")])

DEFAULTS: list[tuple[Param, object, object]] = [
    (Optional(Array("a")), None, None),
    *[(Var("a", "bool"), value, value) for value in (True, False, 0)],
    *[(Var("a", "int64"), value, value) for value in (0, True, -1, 2**63 - 1, -(2**63))],
    (Var("a", "uint64"), 2**64 - 1, 2**64 - 1),
    *[(Var("a", "float64"), value, value) for value in (0.5, -0.0, 5e-324, 1.7e308, 1e16)],
    *[(Var("a", "float64"), value, value) for value in (math.inf, -math.inf, 7, False)],
    *[(String("a"), value, value) for value in ("", "x", 'é"\\\n\x00🙂')],
    *[(Bytes("a"), value, value) for value in (b"", b"\x00\xff'")],
    *[(Array("a"), value, value) for value in ((), [], (1,), [1, [2, (3, "")]])],
    *[(Map("a"), value, value) for value in ({}, {"a": (1, [2.5])}, {1: None, (1, 2): b"x"})],
    (Var("a", "float32"), np.float32(1.5), 1.5),
    (Var("a", "int32"), np.int8(7), 7),
    (Var("a", "int32"), Color.BLUE, 2),
    (ACT, Act.gelu, "gelu"),
    (ACT, Word.RELU, "relu"),
    (ACT, "relu", "relu"),
    (STRUCT, Config("relu", 3), ("relu", 3)),
    (STRUCT, Config(Act.gelu, Color.BLUE), ("gelu", 2)),
    (STRUCT, Pair(Word.RELU, Color.RED), ("relu", 1)),
    (TupleParam("a", [STRUCT]), (Config(Act.relu, Color.RED),), (("relu", 1),)),
    (TupleParam("a", [ACT, Var("b", "int8")]), [Act.relu, Color.RED], ["relu", 1]),
    (Shape("a", [2, 3]), [2, 3], [2, 3]),
    (Shape("a", [2, 3]), (2, 3), (2, 3)),
]


def default(param: Param, value: object) -> Any:
    """Return the default as Python callers see it."""
    info = read("f", Signature("f", [replace(param, default=value)]).metadata())
    assert info is not None
    return info.parameters[0].default


@pytest.mark.parametrize(("param", "given", "seen"), DEFAULTS, ids=lambda value: repr(value)[:30])
def test_defaults_of_every_kind(param: Param, given: object, seen: object) -> None:
    found = default(param, given)
    assert found == seen
    # 1 is not True, -0.0 not 0.0, and a list no tuple.
    assert repr(found) == repr(seen)


def test_nan_as_a_default() -> None:
    assert math.isnan(default(Var("a", "float32"), math.nan))


def test_defaults_are_passed() -> None:
    call = checking(
        Var("a", "uint64", default=2**64 - 1),
        Var("b", "float64", default=math.inf),
        Bytes("c", default=b"\x00"),
        Map("d", default={"x": 1}),
        Shape("e", [2, 3], default=[2, 3]),
        String("s", default="é" * 9),
        Struct("g", [ACT, Var("count", "int32")], default=(Act.gelu, Color.BLUE)),
    ).callable("f")
    call()


class Shy:
    def __repr__(self) -> str:
        return "<Shy>"


CANNOT_TRAVEL: list[tuple[Param, str]] = [
    (DType("a", default=Shy()), "<Shy>"),
    (DType("a", default=np.zeros(2)), "array([0., 0.])"),
    (DType("a", default=np.dtype("float32")), "dtype('float32')"),
    (Array("a", default=[1 << 64]), "0x10000000000000000"),
    (Array("a", default=[-(10**5000)]), "-0x"),
    (Array("a", default=["x" * 50, (1, {"k": Shy()})]), "<Shy>"),
    (TupleParam("a", [DType("t"), Var("i", "int8")], default=Config(Shy(), 1)), "<Shy>"),
    (DType("a", default=Config), "<class "),
    (DType("a", default=np.array(["x" * 200])), "…"),
]


@pytest.mark.parametrize(("param", "said"), CANNOT_TRAVEL, ids=range(len(CANNOT_TRAVEL)))
def test_defaults_that_cannot_travel(param: Param, said: str) -> None:
    compiled = checking(Var("ok", "int32"), param)
    words = rf"The default of `a` in `f` is or has .*{re.escape(said)}.*, which cannot travel with"
    with pytest.raises(TypeError, match=words):
        compiled.callable("f")
    assert repr(compiled["f"]) == f"<function f(ok: int32, a: {outline(param)})>"
    assert "default" not in str(compiled["f"].__doc__)


def test_defaults_that_are_cut_off() -> None:
    compiled = checking(DType("a", default=np.arange(10_000)))
    with pytest.raises(TypeError) as raised:
        compiled.callable("f")
    assert len(str(raised.value)) < 400


# ---- what tvm-ffi's tools read


def test_the_schema_is_tvm_ffis() -> None:
    data = json.loads(Signature("f", PARAMS).metadata())
    assert data["type_schema"]["type"] == "ffi.Function"
    types = [param["type"] for param in data["type_schema"]["named_args"]["params"]]
    assert types == ["ffi.Tensor", "ffi.String", "Tuple", "int"]


# ---- reading


@pytest.mark.parametrize(
    "text",
    [
        "f()",
        "f(x: Tensor([n], float32, device_type=cpu)) -> y: Tensor([n], float32, device_type=cpu)",
        "f(x: Tensor([n], uint8, device_type=cpu), k: int32) -> (k2: int32) where n % 2 == 0",
        "f(x: Tensor(..., int8, device_type=cuda), s: EnvStream, a: Choice({'x -> y where z': 1}))",
    ],
)
def test_the_signature_is_put_together_again(text: str) -> None:
    signature = Signature.parse(text)
    info = read("g", signature.metadata())
    assert info is not None
    assert info.signature == str(signature)
