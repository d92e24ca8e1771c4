"""Draw rooms.svg: the packages and which imports which, as tests/architecture reads the code."""

from __future__ import annotations

from docs.pictures.draw import Drawing
from tests.architecture.page import Imports, read_imports, reduced

GROUND = (
    *(
        "abi",
        "addons",
        "conversion",
        "dlpack",
        "elf",
        "errors",
        "extending",
        "formats",
        "importing",
    ),
    *("lazy", "protocol", "records", "suggest"),
)
"""Modules that import nothing of the packages above; arrows to them would hide the others."""
COLUMNS = (
    *("cli packaging runtime", "frameworks diagnosis plan spec", "entry cuda wrapping packed"),
    *("fakecuda testing providers ir", "builder support", "sanitize plain"),
)
"""The packages from left to right, so that no arrow goes through a box."""
WIDTH, HEIGHT, ROW, COLUMN = 110, 34, 78, 150


def levels(edges: list[tuple[str, str]]) -> dict[str, int]:
    """Return the row of each package: below all that import it."""
    found = {name: 0 for edge in edges for name in edge}
    for _ in found:
        for upper, lower in edges:
            found[lower] = max(found[lower], found[upper] + 1)
    return found


def drawn(imports: Imports) -> Drawing:
    """Draw packages above those that they import; an arrow that follows from others is left out."""
    edges = [
        (upper, lower)
        for upper, lowers in sorted(reduced(imports).items())
        for lower in sorted(lowers)
        if not {upper, lower} & set(GROUND)
    ]
    found = levels(edges)
    page, bottom = 20 + len(COLUMNS) * COLUMN, 20 + ROW * (1 + max(found.values()))
    drawing = Drawing(page, bottom + 56, "The packages, each above those that it imports")
    at = {
        name: (40 + COLUMN * column, 20 + ROW * found[name])
        for column, names in enumerate(COLUMNS)
        for name in names.split()
    }
    for upper, lower in edges:
        (x, y), (to_x, to_y) = at[upper], at[lower]
        drawing.arrow((x + WIDTH / 2, y + HEIGHT), (to_x + WIDTH / 2, to_y))
    for name, place in at.items():
        drawing.box(place, (WIDTH, HEIGHT), name, (), "ours", code=True)
    drawing.box((20, bottom), (page - 40, HEIGHT), ", ".join(GROUND), (), "box", code=True)
    return drawing


def main() -> None:
    """Draw it."""
    drawn(read_imports(1)).save("rooms")


if __name__ == "__main__":
    main()
