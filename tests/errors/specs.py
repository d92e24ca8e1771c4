"""One wrong spec for every place that refuses one: specs.txt has Python, by what it is about.

``n`` and ``k`` are int64 Vars; tensors are on the CPU.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SPECS: Final[dict[str, tuple[str, ...]]] = {
    title: tuple(calls)
    for title, *calls in (
        part.splitlines()
        for part in Path(__file__).with_name("specs.txt").read_text().split("## ")[1:]
    )
}
WITHOUT_DEFAULT: Final = 'Tensor("x", [n], "float32")'
"""The one that has no default device."""
