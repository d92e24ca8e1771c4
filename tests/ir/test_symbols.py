"""A module's symbols: finding, declaring, naming, and taking back."""

from __future__ import annotations

from typing import Any

import pytest

from ffi_builder.errors import BuildError
from ffi_builder.ir import Symbols, Types
from ffi_builder.ir.distribution import named, of_module
from ffi_builder.ir.symbols import describe, function_parts
from tests.support.printed import symbol_names
from tests.support.wrapping import new_module

TEXT = """
  llvm.func @own(i32) -> i64
  func.func private @high(%x: index) -> index
  llvm.mlir.global internal @state(7 : i64) : i64"""


@pytest.fixture
def module() -> Any:
    return new_module(TEXT)


@pytest.fixture
def symbols(module: Any) -> Symbols:
    types = Types(named("torch_mlir").ir, module.context)
    return Symbols(types, module, module.operation.location)


def test_finding(symbols: Symbols) -> None:
    assert "own" in symbols
    assert "other" not in symbols
    assert symbols.find("other") is None
    found = symbols.find("own")
    assert found is not None
    assert describe(found) == "llvm.func of type !llvm.func<i64 (i32)>"
    state = symbols.find("state")
    assert state is not None
    assert describe(state) == "llvm.mlir.global"


def test_declaring(symbols: Symbols, module: Any) -> None:
    t = symbols.types
    found = symbols.declare("own", t.i64, [t.i32])
    assert str(found) == str(module.body.operations[0])
    symbols.declare("more", t.void, [t.ptr])
    symbols.declare("more", t.void, [t.ptr])
    assert symbol_names(module).count("more") == 1
    with pytest.raises(BuildError) as raised:
        symbols.declare("more", t.i32, [t.ptr])
    assert str(raised.value) == (
        "symbol @more is needed as !llvm.func<i32 (ptr)> but the module has llvm.func of type "
        "!llvm.func<void (ptr)>"
    )
    for name in ("high", "state"):
        with pytest.raises(BuildError, match=f"symbol @{name} is needed as"):
            symbols.declare(name, t.void, [])
    with pytest.raises(BuildError, match="the module has a symbol @own already"):
        symbols.function("own", t.i64, [t.i32], body=True)


def test_constants_get_names_of_their_own(symbols: Symbols, module: Any) -> None:
    assert symbols.constant("state", b"a") == "state_1"
    assert symbols.constant("state", b"a\x00\xff", align=16) == "state_2"
    text = str(module)
    assert 'constant @state_2("a\\00\\FF") {addr_space = 0 : i32, alignment = 16 : i64}' in text
    assert module.operation.verify()


def test_equal_texts_are_shared_by_all_wrappers(symbols: Symbols, module: Any) -> None:
    name = symbols.text(b"words")
    assert symbols.text(b"words") == name
    assert symbols.text(b"other words") != name
    later = Symbols(symbols.types, module, symbols.location)
    assert later.text(b"words") == name
    assert symbol_names(module).count(name) == 1


def test_a_text_whose_name_is_taken(symbols: Symbols) -> None:
    name = symbols.text(b"words")
    other = new_module(f"llvm.func @{name}()")
    types = Types(named("torch_mlir").ir, other.context)
    assert Symbols(types, other, other.operation.location).text(b"words") == f"{name}_1"


def test_taking_back(symbols: Symbols, module: Any) -> None:
    before = str(module)
    t = symbols.types
    symbols.declare("more", t.void, [t.ptr])
    symbols.text(b"words")
    function = symbols.function("body", t.void, [t.i32], body=True)
    assert len(function.regions[0].blocks) == 1
    symbols.undo()
    assert str(module) == before
    assert "more" not in symbols
    symbols.declare("more", t.i32, [])
    assert "more" in symbols


@pytest.mark.parametrize(
    ("text", "result", "parameters"),
    [
        ("void ()", "!llvm.void", []),
        ("i32 (i64, ptr)", "i32", ["i64", "!llvm.ptr"]),
        ("ptr<1> (ptr<3>)", "!llvm.ptr<1>", ["!llvm.ptr<3>"]),
        (
            "struct<(ptr, i32)> (struct<(i8, struct<(f32, f64)>)>, array<2 x i8>)",
            "!llvm.struct<(ptr, i32)>",
            ["!llvm.struct<(i8, struct<(f32, f64)>)>", "!llvm.array<2 x i8>"],
        ),
        ("i32 (ptr, ...)", "i32", ["!llvm.ptr", "..."]),
        ("void (vector<4xf32>, bf16)", "!llvm.void", ["vector<4xf32>", "bf16"]),
    ],
)
def test_function_parts(text: str, result: str, parameters: list[str]) -> None:
    module = new_module()
    types = Types(named("torch_mlir").ir, module.context)
    symbols = Symbols(types, module, module.operation.location)
    operation = symbols.declare_as("f", types.parse(f"!llvm.func<{text}>"))
    assert function_parts(operation) == (result, tuple(parameters))
    # As the types are written outside, so that both can be compared and parsed.
    assert [str(types.parse(name)) for name in parameters if name != "..."] == [
        name for name in parameters if name != "..."
    ]


def test_distributions() -> None:
    assert of_module(new_module()).root == "torch_mlir"
    with pytest.raises(BuildError, match="there is no MLIR distribution 'no_such'"):
        named("no_such")
    with pytest.raises(BuildError, match="lacks a part that wrappers need"):
        named("json")
