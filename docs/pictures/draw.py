"""Boxes, arrows and words as SVG, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
STYLE = """
  svg { font: 14px -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; }
  .page { fill: #ffffff; } .word { fill: #24292f; } .faint { fill: #57606a; font-size: 12px; }
  .title { font-weight: 600; } .code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace;
  font-size: 12px; }
  .box { fill: #f6f8fa; stroke: #8c959f; } .ours { fill: #ddf4ff; stroke: #218bff; }
  .yours { fill: #fff8c5; stroke: #bf8700; } .wrong { fill: #ffebe9; stroke: #cf222e; }
  .right { fill: #dafbe1; stroke: #1a7f37; }
  .arrow { stroke: #57606a; fill: none; stroke-width: 1.5; marker-end: url(#head); }
  .head { fill: #57606a; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #1b1d23; } .word { fill: #e6edf3; } .faint { fill: #9da7b3; }
    .box { fill: #262b33; stroke: #6e7681; } .ours { fill: #12304d; stroke: #58a6ff; }
    .yours { fill: #3a2f0b; stroke: #d29922; } .wrong { fill: #43191b; stroke: #f85149; }
    .right { fill: #11341d; stroke: #3fb950; }
    .arrow { stroke: #9da7b3; } .head { fill: #9da7b3; }
  }
"""
HEAD = (
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path class="head" d="M0,0 L8,4 L0,8 z"/></marker></defs>'
)
LINE = 17
"""The height of a line of text, in pixels."""


@dataclass
class Drawing:
    """A picture of some size in pixels; what is drawn later is in front."""

    width: int
    height: int
    label: str
    """The text alternative of the picture."""
    parts: list[str] = field(default_factory=list[str])

    def text(self, x: float, y: float, words: str, style: str = "", anchor: str = "start") -> None:
        """Write a line; ``y`` is its base line."""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="word {style}">'
            f"{escape(words)}</text>"
        )

    def box(
        self,
        at: tuple[float, float],
        size: tuple[float, float],
        title: str,
        lines: Sequence[str] = (),
        style: str = "box",
        *,
        code: bool = False,
    ) -> None:
        """Draw a box with a title, and lines below it."""
        (x, y), (width, height) = at, size
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
            f'class="{style}"/>'
        )
        first = y + (height - LINE * len(lines)) / 2 + 5
        self.text(x + width / 2, first, title, "code" if code else "title", "middle")
        for number, line in enumerate(lines, 1):
            self.text(x + width / 2, first + LINE * number, line, "faint", "middle")

    def arrow(self, *points: tuple[float, float], words: str = "", side: str = "above") -> None:
        """Draw a line through the points, with a head at the last one."""
        path = " L".join(f"{x:g},{y:g}" for x, y in points)
        self.parts.append(f'<path class="arrow" d="M{path}"/>')
        if words:
            (x, y), (to_x, to_y) = points[0], points[1]
            if side == "above":
                self.text((x + to_x) / 2, (y + to_y) / 2 - 6, words, "faint", "middle")
            else:
                self.text((x + to_x) / 2 + 8, (y + to_y) / 2 + 4, words, "faint")

    def bar(self, x: float, y: float, width: float, height: float, style: str) -> None:
        """Draw a bar without words."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3" '
            f'class="{style}"/>'
        )

    def svg(self) -> str:
        """Return the picture as text."""
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img" '
            f'aria-label="{escape(self.label)}">',
            f"<style>{STYLE}</style>",
            HEAD,
            f'<rect class="page" width="{self.width}" height="{self.height}" rx="8"/>',
            *self.parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"

    def save(self, name: str) -> None:
        """Write ``name.svg`` beside the scripts."""
        (HERE / f"{name}.svg").write_text(self.svg())
