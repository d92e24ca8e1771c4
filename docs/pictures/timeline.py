"""Draw timeline.svg: the steps of a compile and of a call, from the tables of performance.md."""

from __future__ import annotations

import re
from pathlib import Path

from docs.pictures.draw import HERE, Drawing

PAGE: Path = HERE.parent / "performance.md"
WIDTH, LEFT, BAR, ROW = 820, 20, 26, 20
STYLES = ("ours", "yours", "right", "wrong", "box")


def column(
    heading: str, number: int, skip: tuple[str, ...] = (), page: Path = PAGE
) -> list[tuple[str, float]]:
    """Return a column of the table of a page that begins with a heading: names and numbers."""
    lines = page.read_text().split(f"| {heading}", 1)[1].splitlines()[2:]
    rows: list[tuple[str, float]] = []
    for line in lines:
        if not line.startswith("|"):
            break
        cells = [re.sub(r"[`*]", "", cell).strip() for cell in line.strip("|").split("|")]
        if cells[0] not in skip:
            rows.append((cells[0], float(cells[number].replace(",", ""))))
    return rows


def timeline(
    drawing: Drawing, top: int, title: str, steps: list[tuple[str, float]], unit: str
) -> int:
    """Draw steps one behind the other, to scale, with a legend; return where the next begins."""
    whole = sum(length for _, length in steps)
    drawing.text(LEFT, top, f"{title}: {whole:.3g} {unit}", "title")
    x = float(LEFT)
    for number, (name, length) in enumerate(steps):
        width = (WIDTH - 2 * LEFT) * length / whole
        style = STYLES[number % len(STYLES)]
        drawing.bar(x, top + 12, width, BAR, style)
        if width > 16:
            drawing.text(x + width / 2, top + 12 + BAR / 2 + 4, str(number + 1), "faint", "middle")
        y = top + BAR + 32 + ROW * (number // 2)
        at = LEFT + (number % 2) * (WIDTH / 2 - LEFT)
        drawing.text(at, y, f"{number + 1}  {name}: {length:g} {unit}", "faint")
        x += width
    return top + BAR + 50 + ROW * ((len(steps) + 1) // 2)


def main() -> None:
    """Draw it."""
    attach = column("step, ms, in a context", 2, ("in all", "again, from bytecode"))
    compiling = column("step, ms, of compiling", 1)
    call = column("three NumPy arrays, from Python", 1)
    drawing = Drawing(WIDTH, 420, "The steps of attaching, compiling and calling, to scale")
    top = timeline(drawing, 32, "Attach a matmul's wrapper", attach, "ms")
    top = timeline(drawing, top, "Compile it", compiling, "ms")
    timeline(drawing, top, "Call a function with three NumPy arrays", call, "ns")
    drawing.save("timeline")


if __name__ == "__main__":
    main()
