"""Draws the figures as bars, in an SVG for light and dark pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from launches.ways import Way
from suite.plot import STYLE
from suite.samples import Samples, digits_of

LABEL, SCALE, STEP, HEAD = 240, 380, 18, 64
COLOURS = {"C": "#2f7ed8", "Python": "#76a912"}


def picture(samples: Samples, ways: Sequence[Way], where: str) -> str:
    """Draw medians; launches from C and from Python each have their own linear scale."""
    drawn: list[str] = []
    top = HEAD
    for caller, colour in COLOURS.items():
        found = {
            way.title: spread.middle
            for way in ways
            if way.caller == caller and (spread := samples.spread((caller,), way.title))
        }
        drawn += [f'<text class="t" x="10" y="{top - 6}">From {caller}, ns a launch</text>']
        drawn += bars(found, top, colour)
        top += STEP * len(found) + 30
    width = LABEL + SCALE + 60
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top - 20}" role="img">',
            f"<title>Launching a CUDA kernel</title><style>{STYLE}</style>",
            f'<text x="10" y="20">Time of the host for a launch, on {escape(where)}</text>',
            *drawn,
            "</svg>\n",
        ]
    )


def bars(values: Mapping[str, float], top: int, colour: str) -> Iterator[str]:
    """Draw one bar for each, the first at `top`."""
    for title, value in values.items():
        length = max(1.0, SCALE * value / max(values.values()))
        end, line = LABEL + length + 4, top + 12
        yield f'<text x="{LABEL - 6}" y="{line}" text-anchor="end">{escape(title)}</text>'
        at = f'x="{LABEL}" y="{top + 2}" width="{length:.1f}" height="13"'
        yield f'<rect {at} fill="{colour}"/>'
        yield f'<text class="v" x="{end:.1f}" y="{line}">{value:.{digits_of(value)}f}</text>'
        top += STEP
