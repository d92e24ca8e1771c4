"""Draw rooms.svg: the floors of the core and the runtime, and the add-ons above them.

The floors are those of the imports that tests/architecture reads from the code.
"""

from __future__ import annotations

from docs.pictures.draw import Drawing
from ffi_builder.addons import ADD_ONS
from tests.architecture.page import PACKAGE, ROOT, Imports, height, read_imports

WIDTH, HEIGHT, ROW, GAP, LEFT = 104, 34, 30, 12, 24
PAGE = 2 * LEFT + 7 * WIDTH + 6 * GAP
HALF = (PAGE - 2 * LEFT - 2 * GAP) / 2


def drawn(outer: Imports, inner: Imports) -> Drawing:
    """Draw the add-ons, and below them the rooms that each import lower ones only."""
    folders = {each.folder.partition("/")[0] for each in ADD_ONS}
    grounded = sorted(room for room in outer if not (ROOT / PACKAGE / room).is_dir())
    core = {r: o for r, o in outer.items() if r not in {*folders, *grounded, "runtime"}}
    core = {room: set(others) & set(core) for room, others in core.items()}
    runtime = {r: o for r, o in inner.items() if r.startswith("runtime.")}
    runtime = {room: set(others) & set(runtime) for room, others in runtime.items()}
    core_floors, runtime_floors = _floors(core), _floors(runtime)
    top = 76 + 3 * (HEIGHT + ROW)
    bottom = top + 62 + (HEIGHT + GAP) * max(len(core_floors), len(runtime_floors))
    drawing = Drawing(
        PAGE, bottom + 84, "The add-ons, above the floors of the core and the runtime"
    )
    _add_ons(drawing)
    names = "public names, ffi_builder.extending, ffi_builder.runtime.extending"
    drawing.box((LEFT, top - 30), (PAGE - 2 * LEFT, HEIGHT), names, (), "yours", code=True)
    for x, words, floors in (
        (LEFT, "the core", core_floors),
        (LEFT + HALF + 2 * GAP, "the runtime", runtime_floors),
    ):
        drawing.text(x, top + 30, words, "faint")
        for number, rooms in enumerate(floors):
            y = top + 40 + number * (HEIGHT + GAP)
            width = (HALF - GAP * (len(rooms) - 1)) / len(rooms)
            for place, room in enumerate(rooms):
                at = x + place * (width + GAP), y
                name = room.removeprefix("runtime.")
                drawing.box(at, (width, HEIGHT), name, (), "ours", code=True)
    middle = len(grounded) // 2
    size = (PAGE - 2 * LEFT, HEIGHT + 16)
    drawing.box((LEFT, bottom + 16), size, "", (), "box", code=True)
    for number, part in enumerate((grounded[:middle], grounded[middle:])):
        y = bottom + 38 + 18 * number
        drawing.text(PAGE / 2, y, ", ".join(part), "code", "middle")
    return drawing


def _floors(imports: Imports) -> list[list[str]]:
    """Return the rooms of each floor, the top floor first."""
    heights = {room: height(room, imports) for room in imports}
    levels = sorted(set(heights.values()), reverse=True)
    return [sorted(room for room in heights if heights[room] == level) for level in levels]


def _add_ons(drawing: Drawing) -> None:
    """Draw the add-ons in rows, with arrows to those that they stand on."""
    drawing.text(LEFT, 26, "add-ons", "faint")
    at: dict[str, tuple[float, float]] = {}
    rows = _floors({each.name: set(each.stands_on) for each in ADD_ONS})
    for number, names in enumerate(rows):
        width = len(names) * WIDTH + (len(names) - 1) * GAP
        for place, name in enumerate(names):
            x = (PAGE - width) / 2 + place * (WIDTH + GAP)
            at[name] = x, 36 + number * (HEIGHT + ROW)
    for each in ADD_ONS:
        for other in each.stands_on:
            (x, y), (to_x, to_y) = at[each.name], at[other]
            drawing.arrow((x + WIDTH / 2, y + HEIGHT), (to_x + WIDTH / 2, to_y))
    for name, place in at.items():
        drawing.box(place, (WIDTH, HEIGHT), name, (), "right", code=True)


def main() -> None:
    """Write the picture."""
    drawn(read_imports(1), read_imports(2)).save("rooms")


if __name__ == "__main__":
    main()
