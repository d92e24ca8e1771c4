"""Draw way.svg: what becomes of a signature, from its description to a call."""

from __future__ import annotations

from docs.pictures.draw import Drawing

WIDTH, GAP, HEIGHT, TOP = 140, 34, 88, 60
ROOMS = (
    ("spec", ("what is accepted", "data"), "ours"),
    ("plan", ("which checks, which", "order, which words", "data"), "ours"),
    ("builder", ("the plan as", "operations"), "ours"),
    ("your module", ("your kernel, and", "__tvm_ffi_<name>", "LLVM dialect"), "yours"),
    ("runtime", ("JIT, or a JIT", "of your own"), "ours"),
)
WAYS_OUT = ("a function in Python", "a shared library", "an object for C")


def main() -> None:
    """Draw it."""
    label = "spec, plan, builder, your module, runtime, and three ways out; providers feed builder"
    drawing = Drawing(1090, 250, label)
    for number, (title, lines, style) in enumerate(ROOMS):
        x = 20 + number * (WIDTH + GAP)
        drawing.box((x, TOP), (WIDTH, HEIGHT), title, lines, style)
        if number:
            drawing.arrow((x - GAP, TOP + HEIGHT / 2), (x, TOP + HEIGHT / 2))
    builder = 20 + 2 * (WIDTH + GAP)
    drawing.box((builder, 182), (WIDTH, 50), "providers", ("how it is called",), "ours")
    drawing.arrow((builder + WIDTH / 2, 182), (builder + WIDTH / 2, TOP + HEIGHT))
    last = 20 + 5 * (WIDTH + GAP)
    for number, words in enumerate(WAYS_OUT):
        y = 20 + number * 66
        drawing.box((last, y), (180, 36), words, (), "right")
        drawing.arrow((last - GAP, TOP + HEIGHT / 2), (last, y + 18))
    drawing.text(20, 30, "The way of a signature", "title")
    drawing.save("way")


if __name__ == "__main__":
    main()
