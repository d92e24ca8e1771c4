"""Draw pictures of many kernels, from the tables of the pages.

many.svg has compiles and calls that want a gradient, live.svg live functions, gpt.svg a model.
"""

from __future__ import annotations

from docs.pictures.draw import HERE, Drawing
from docs.pictures.timeline import LEFT, ROW, WIDTH, column

WORDS = 500
"""The left end of bars, in pixels."""


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


def compiles_and_gradients() -> None:
    """Draw many.svg."""
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


def live() -> None:
    """Draw live.svg."""
    names = [
        f"{'1,000' if at % 2 == 0 else '10,000'} of {words}"
        for at, words in enumerate(
            (
                "the same structure",
                "the same structure",
                "different structures",
                "different structures",
            )
        )
    ]
    heading = "structure | live functions | KB each"
    drawing = Drawing(WIDTH, 252, "Memory and time of live functions")
    top = 32
    for title, number in (("Memory of a function, KB", 2), ("Attach and compile one more, ms", 5)):
        values = [value for _, value in column(heading, number)]
        rows = [(name, value, "ours") for name, value in zip(names, values, strict=True)]
        top = bars(drawing, top, title, rows)
    drawing.save("live")


def gpt() -> None:
    """Draw gpt.svg."""
    page = HERE.parents[1] / "examples/gpt/README.md"
    rows = [
        (name, value, "ours" if "kernels" in name else "box")
        for name, value in column("a forward", 2, page=page)
    ]
    drawing = Drawing(WIDTH, 192, "The time of a forward of the small GPT")
    bars(drawing, 32, "A forward of the small GPT on one core, ms", rows)
    drawing.save("gpt")


def main() -> None:
    """Draw them."""
    compiles_and_gradients()
    live()
    gpt()


if __name__ == "__main__":
    main()
