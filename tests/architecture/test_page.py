"""docs/design.md shows the rooms of the package as they are, the upper floors first."""

from __future__ import annotations

import pytest

from docs.pictures.draw import HERE
from docs.pictures.rooms import drawn
from tests.architecture.page import PAGE, read_imports, room_of, updated
from tests.support.absent import whole

IMPORTS = {"diagnosis": {"plan", "spec"}, "plan": {"spec"}, "spec": set[str]()}
PICTURE = HERE / "rooms.svg"
PAGE_TEXT = "# Rooms\n<!-- rooms -->\nold\n<!-- end of rooms -->\nend\n"


@whole
def test_the_page(request: pytest.FixtureRequest):
    new = updated(PAGE.read_text(), read_imports(1))
    picture = drawn(read_imports(1), read_imports(2)).svg()
    if request.config.getoption("--update-design"):
        PAGE.write_text(new)
        PICTURE.write_text(picture)
    assert PAGE.read_text() == new, "pytest tests/architecture --update-design writes it anew"
    assert PICTURE.read_text() == picture


def test_the_table_has_the_upper_floors_first():
    page = updated(PAGE_TEXT, IMPORTS)
    assert "old" not in page
    assert page.index("| `diagnosis` |") < page.index("| `plan` |") < page.index("| `spec` |")


def test_another_room_changes_the_page():
    changed = {**IMPORTS, "abi": set[str]()}
    assert "| `abi` |" in updated(updated(PAGE_TEXT, IMPORTS), changed)


def test_a_page_without_the_place_for_it():
    with pytest.raises(ValueError, match="needs the comments"):
        updated("# Rooms\n", IMPORTS)


@pytest.mark.parametrize(
    ("module", "depth", "room"),
    [
        ("ffi_builder", 1, ""),
        ("ffi_builder.__main__", 1, ""),
        ("ffi_builder.abi", 2, "abi"),
        ("ffi_builder.a.b.c", 1, "a"),
        ("ffi_builder.a.b.c", 2, "a.b"),
        ("ffi_builder.a.c", 2, "a"),
    ],
)
def test_rooms_of_modules(module: str, depth: int, room: str):
    assert room_of(module, {"ffi_builder.a", "ffi_builder.a.b"}, depth) == room
