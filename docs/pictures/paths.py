"""Draw paths.svg: a call that is right, and one that is wrong."""

from __future__ import annotations

from docs.pictures.draw import Drawing


def main() -> None:
    """Draw it."""
    label = "The fast path checks and calls the kernel; a failing check goes to the diagnosis"
    drawing = Drawing(960, 300, label)
    drawing.text(20, 30, "The fast path", "title")
    drawing.box((20, 50), (150, 70), "a call", ("args, num_args",))
    drawing.box(
        (230, 50),
        (230, 70),
        "checks",
        ("in any order: one load,", "one compare, one branch each"),
        "ours",
    )
    drawing.box((520, 50), (180, 70), "your kernel", ("as its provider passes it",), "yours")
    drawing.box((760, 50), (180, 70), "return 0", ("and the result",), "right")
    for start, end in ((170, 230), (460, 520), (700, 760)):
        drawing.arrow((start, 85), (end, 85), words="right" if start == 460 else "")
    drawing.text(20, 190, "The diagnosis", "title")
    drawing.box(
        (230, 200),
        (230, 80),
        "a small machine",
        ("starts over, in the declared order;", "one for all wrappers of a module"),
        "ours",
    )
    drawing.arrow((345, 120), (345, 200), words="any check fails", side="right")
    drawing.box((20, 205), (150, 70), "a table", ("the plan as bytes", "one a wrapper"), "ours")
    drawing.arrow((170, 240), (230, 240))
    drawing.box(
        (520, 200),
        (180, 80),
        "words",
        ("which argument, what", "was expected, what came"),
        "wrong",
    )
    drawing.box(
        (760, 200),
        (180, 80),
        "return -1",
        ("the error is set:", "TypeError, ValueError, …"),
        "wrong",
    )
    drawing.arrow((460, 240), (520, 240))
    drawing.arrow((700, 240), (760, 240))
    drawing.save("paths")


if __name__ == "__main__":
    main()
