"""Draws a run: figures, signatures, and the peers as bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.report import TITLES
from suite.samples import Samples, digits_of

PANELS: list[tuple[str, str, tuple[str, ...]]] = [
    ("Attach a new signature, ms", "attach new", ("nop",)),
    ("Compile + link it, ms", "compile new", ("nop",)),
    ("Call from C, ns", "C call", ("nop",)),
    ("Call from Python, tvm_ffi tensors, ns", "Python call", ("nop", "tvm_ffi")),
]
COLOURS = {
    "ours": "#2f7ed8",
    "by_hand": "#7a8791",
    "unchecked": "#b3bcc2",
    "nvidia": "#76a912",
    "tvm_packed": "#d9822b",
    "cpp": "#9a5fb5",
}
"""Each is visible on white and on black."""
OUTLIER = "cpp"
"""Its bars may be cut off, so that the others stay distinguishable."""
BAR, GAP, LABEL, WIDTH, HEAD = 9, 8, 110, 480, 30
STYLE = """text{font:11px sans-serif;fill:#24292f}
.t{font-weight:bold;font-size:13px}.v{font-size:9px}
line{stroke:#888;stroke-width:.5}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}}"""


def plot(samples: Samples, titles: Mapping[str, str]) -> str:
    """Draw an SVG for light and dark pages."""
    drawn: list[str] = []
    top = 30
    for pair in (PANELS[:2], PANELS[2:]):
        bottoms: list[int] = []
        for number, (title, figure, rest) in enumerate(pair):
            values = {
                (case, peer): found.middle
                for case in TITLES
                for peer in titles
                if (found := samples.spread((figure, case, *rest), peer))
            }
            panel = Panel(title, values, number * (WIDTH + 20), top)
            drawn += panel.draw()
            bottoms.append(panel.bottom)
        top = max(bottoms) + 10
    legend = [
        f'<rect x="{10 + 150 * i}" y="8" width="10" height="10" fill="{COLOURS[peer]}"/>'
        f'<text x="{25 + 150 * i}" y="17">{titles[peer]}</text>'
        for i, peer in enumerate(titles)
    ]
    size = f"0 0 {2 * WIDTH + 20} {top}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img">'
    about = f"<title>ffi_builder beside others</title><style>{STYLE}</style>"
    return "\n".join([head, about, *legend, *drawn, "</svg>\n"])


@dataclass
class Panel:
    """A figure by signature and peer; x and y are its upper left corner."""

    title: str
    values: Mapping[tuple[str, str], float]
    x: int
    y: int

    @property
    def peers(self) -> list[str]:
        """The peers that have the figure, in the order of the legend."""
        return [name for name in COLOURS if any(peer == name for _, peer in self.values)]

    @property
    def bottom(self) -> int:
        """The lower edge."""
        return self.y + HEAD + len(TITLES) * (len(self.peers) * BAR + GAP) + GAP

    def draw(self) -> list[str]:
        """Yield the elements. Bars begin at 0; an arrow marks one that is cut off."""
        title = f'<text class="t" x="{self.x + 10}" y="{self.y + 20}">{self.title}</text>'
        if not self.values:
            return [title, f'<text x="{self.x + 10}" y="{self.y + 40}">not measured</text>']
        left, top = self.x + LABEL, self.y + HEAD
        shown = [value for (_, peer), value in self.values.items() if peer != OUTLIER]
        room = WIDTH - LABEL - 50
        drawn = [title, f'<line x1="{left}" y1="{top - 3}" x2="{left}" y2="{self.bottom - GAP}"/>']
        for case, words in TITLES.items():
            middle = top + len(self.peers) * BAR / 2 + 4
            drawn.append(f'<text x="{left - 6}" y="{middle:.1f}" text-anchor="end">{words}</text>')
            for peer in self.peers:
                if (case, peer) in self.values:
                    value = self.values[case, peer]
                    length = min(room, room * value / max(shown, default=value))
                    arrow = "→ " if value > max(shown, default=value) else ""
                    drawn.append(
                        f'<rect x="{left}" y="{top}" width="{length:.1f}" height="{BAR - 1}"'
                        f' fill="{COLOURS[peer]}"/><text class="v" x="{left + length + 3:.1f}"'
                        f' y="{top + BAR - 1}">{arrow}{value:.{digits_of(value)}f}</text>'
                    )
                top += BAR
            top += GAP
        return drawn
