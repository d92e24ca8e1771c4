"""Draw many.svg: many compiles and calls with gradients, from the tables of the pages."""

from __future__ import annotations

from docs.pictures.draw import HERE, Drawing
from docs.pictures.timeline import LEFT, ROW, WIDTH, column

WORDS = 500
"""Where bars begin, in pixels."""


def bars(drawing: Drawing, top: int, title: str, rows: list[tuple[str, float, str]]) -> int:
    """Draw a bar for each row of words, a number and a style; return where the next begins."""
    most = max(number for _, number, _ in rows)
    drawing.text(LEFT, top, title, "title")
    for at, (words, number, style) in enumerate(rows, 1):
        y = top + ROW * at
        drawing.text(LEFT, y + 2, words, "faint")
        width = (WIDTH - WORDS - 80) * number / most
        drawing.bar(WORDS, y - 10, width, ROW - 5, style)
        drawing.text(WORDS + width + 6, y + 2, f"{number:g}", "faint")
    return top + ROW * (len(rows) + 2)


def main() -> None:
    """Draw it."""
    loops, many = column("modules | loop, ms each", 1), column("modules | loop, ms each", 3)
    ratios = [
        (name, round(alone / together, 1), "ours")
        for (name, alone), (_, together) in zip(loops, many, strict=True)
    ]
    gradients = column("µs a call, a gradient is wanted", 1, page=HERE.parent / "torch.md")
    calls = [
        (name, each, "ours" if at == 0 else "box") for at, (name, each) in enumerate(gradients)
    ]
    drawing = Drawing(WIDTH, 252, "Times of many compiles, and of calls that want a gradient")
    compiles = [("a loop of compile", 1.0, "box"), *ratios]
    top = bars(drawing, 32, "compile_many on two cores: modules a second, a loop is 1", compiles)
    bars(drawing, top, "Call an operator of PyTorch that wants a gradient, µs", calls)
    drawing.save("many")


if __name__ == "__main__":
    main()
