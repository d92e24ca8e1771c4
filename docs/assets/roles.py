"""A griffe extension: read the reStructuredText of docstrings as Markdown.

A role such as :class:`Tensor` becomes code, with a link if the reference has that name: the one of
the same package, where several do. Methods have no links. A ``::`` in front of a block becomes a
colon.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import griffe

ROLE: Final = re.compile(r":(\w+):`(~?)([^`]+)`")
BLOCK: Final = re.compile(r"::$", re.MULTILINE)
API: Final = Path(__file__).parents[1] / "api"
NAMES: Final = {
    name
    for page in API.glob("*.md")
    for name in re.findall(r"^::: (\S+)$", page.read_text(), re.MULTILINE)
}
"""The names of the reference, with their packages."""


class Roles(griffe.Extension):
    """Replace them in each docstring that is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            text = ROLE.sub(lambda match: _code(match, obj.path), obj.docstring.value)
            obj.docstring.value = BLOCK.sub(":", text)


def _code(match: re.Match[str], place: str) -> str:
    role, short, name = match.groups()
    code = f"`{name.rpartition('.')[2] if short else name}`"
    target = None if role == "meth" else _target(name, place)
    return code if target is None else f"[{code}][{target}]"


def _target(name: str, place: str) -> str | None:
    """Return the name of the reference that is meant in the docstring at ``place``."""
    found = [known for known in NAMES if known == name or known.endswith(f".{name}")]
    near = [known for known in found if place.startswith(known.removesuffix(name))]
    chosen = max(near, key=len, default=found[0] if len(found) == 1 else None)
    return None if chosen == place else chosen
