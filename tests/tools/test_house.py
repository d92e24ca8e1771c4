"""tools/house.py reads the package as it is, and what it counts may only shrink."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.support.absent import whole
from tools import house
from tools.house import Import, circles, crossing, graph, includes, part, room, upward


@whole
@pytest.mark.slow
def test_add_ons_take_no_private_names():
    assert crossing() == []


def test_a_face_is_no_crossing(monkeypatch: pytest.MonkeyPatch):
    private = Import("ffi_builder.cuda.x", "ffi_builder.builder.wrapper", "Wrapper")
    face = Import("ffi_builder.cuda.x", "ffi_builder.extending", "Wrapper")

    def imports(module: str) -> Iterator[Import]:
        yield from (private, face)

    monkeypatch.setattr(house, "imports", imports)
    assert list(house.taken("ffi_builder.cuda.x")) == ["ffi_builder.builder.wrapper.Wrapper"]


def test_code_for_a_child_counts(monkeypatch: pytest.MonkeyPatch):
    tree = ast.parse('CODE = f"""\nfrom ffi_builder.builder.wrapper import Wrapper, attach\n{1}"""')

    def parsed(module: str) -> ast.Module:
        return tree

    monkeypatch.setattr(house, "tree", parsed)
    names = [each.name for each in house.imports("ffi_builder.cuda.x")]
    assert names == ["Wrapper", "attach"]


def test_circles():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str]()}
    assert circles(edges) == [{"b", "c"}]


@pytest.mark.slow
def test_few_arrows_run_back_up():
    assert len(upward()) <= 5
    assert circles(includes()) == []
    assert circles(graph()) == []


def test_parts_and_rooms():
    assert part("ffi_builder.spec.dtypes") == "core"
    assert part("ffi_builder.providers.variants.emit") == "variants"
    assert part("ffi_builder.runtime.compiler") == "runtime"
    assert room("ffi_builder") == ""
    assert room("ffi_builder.spec.parsing.parse") == "spec"
    assert room("ffi_builder.spec.parsing.parse", 2) == "spec.parsing"


@whole
def test_a_module_that_goes_with_an_add_on_is_of_it():
    assert (part("ffi_builder.providers.cuda"), room("ffi_builder.providers.cuda")) == (
        *("cuda", "cuda"),
    )


@whole
@pytest.mark.slow
def test_it_prints_every_figure(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("torch_mlir.ir")
    house.main()  # in this process, which has read most of the package
    shown = capsys.readouterr().out
    figures = [line.split("  ")[-1].partition(" (")[0] for line in shown.splitlines()]
    for figure in (
        *("Python of the core", "C of the core", "circles of modules", "wrap of MLIR: rooms"),
        *("arrows that run back up", "rooms called cuda", "flat modules of runtime"),
        *("private class names in two modules", "private names that cross into add-ons"),
    ):
        assert figure in figures
