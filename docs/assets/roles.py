"""A griffe extension: read the reStructuredText of docstrings as Markdown.

Roles such as :class:`Tensor` become code, and ``::`` in front of a block a colon.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":\w+:`~?([^`]+)`")
BLOCK = re.compile(r"::$", re.MULTILINE)


class Roles(griffe.Extension):
    """Replace them in each docstring that is read."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = BLOCK.sub(":", ROLE.sub(r"`\1`", obj.docstring.value))
