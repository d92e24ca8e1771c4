"""tools/house.py reads the package as it is, and what it counts may only shrink."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.absent import whole
from tools import house
from tools.house import Import, circles, crossing, graph, includes, part, room, upward

ROOT = Path(__file__).parents[2]
MOST_CROSSING = 297
"""The names that add-ons take though they are private: lower it with each one less."""


@whole
def test_the_private_names_that_add_ons_take_are_listed_and_not_more():
    listed = house.CROSSING.read_text().splitlines()
    assert crossing() == listed, "python -m tools.house --crossing writes it"
    assert len(listed) <= MOST_CROSSING


def test_a_face_is_no_crossing(monkeypatch: pytest.MonkeyPatch):
    private = Import("ffi_builder.cuda.x", "ffi_builder.builder.wrapper", "Wrapper")
    face = Import("ffi_builder.cuda.x", house.FACES[0], "Wrapper")

    def imports(module: str) -> Iterator[Import]:
        yield from (private, face)

    monkeypatch.setattr(house, "imports", imports)
    assert list(house.taken("ffi_builder.cuda.x")) == ["ffi_builder.builder.wrapper.Wrapper"]


def test_circles():
    edges = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set[str]()}
    assert circles(edges) == [{"b", "c"}]


def test_few_arrows_run_back_up():
    assert len(upward()) <= 5
    assert circles(includes()) == []
    assert sum(map(len, circles(graph()))) <= 5  # those of plan


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
def test_it_prints_every_figure():
    pytest.importorskip("torch_mlir.ir")
    done = subprocess.run(
        [sys.executable, "-m", "tools.house"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    figures = [line.split("  ")[-1].partition(" (")[0] for line in done.stdout.splitlines()]
    for figure in (
        *("Python of the core", "C of the core", "circles of modules", "wrap of MLIR: rooms"),
        *("arrows that run back up", "rooms called cuda", "flat modules of runtime"),
        *("private class names in two modules", "private names that cross into add-ons"),
    ):
        assert figure in figures
