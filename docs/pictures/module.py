"""Draw module.svg: a module after a function was attached."""

from __future__ import annotations

from docs.pictures.draw import Drawing

OURS = (
    ("__tvm_ffi_matmul", "the function: the only new name that is visible outside"),
    ("__ffi_builder_shared_diagnose…", "finds out what is wrong; one for all wrappers"),
    ("__ffi_builder_shared_…", "declared: C code for rare cases, which is linked"),
    ("__ffi_builder_…", "constants: the table of the checks, the texts of the errors"),
)
OUTSIDE = (
    ("TVMFFI*", "errors, types, streams: libtvm_ffi"),
    ("memcpy, …", "libc"),
)


def main() -> None:
    """Draw it."""
    drawing = Drawing(860, 372, "Your kernel, the function, declarations and constants")
    drawing.parts.append('<rect x="20" y="44" width="820" height="240" rx="8" class="box"/>')
    drawing.text(20, 30, "Your module after attach", "title")
    drawing.box((40, 60), (300, 36), "@mm", (), "yours", code=True)
    drawing.text(360, 83, "your kernel, as it was", "faint")
    for number, (name, words) in enumerate(OURS):
        y = 106 + 43 * number
        drawing.box((40, y), (300, 36), name, (), "ours", code=True)
        drawing.text(360, y + 23, words, "faint")
    drawing.text(20, 316, "What it calls besides your kernel", "title")
    for number, (name, words) in enumerate(OUTSIDE):
        x = 20 + 420 * number
        drawing.box((x, 326), (120, 34), name, (), "box", code=True)
        drawing.text(x + 134, 348, words, "faint")
    drawing.save("module")


if __name__ == "__main__":
    main()
