"""Add-ons that are not here: tests of other folders that use one of them are skipped.

``make test-without`` runs the tests in a copy without an add-on.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from ffi_builder import addons
from ffi_builder.addons import ADD_ONS

ABSENT: Final = tuple(each for each in ADD_ONS if not each.is_here)
_FOLDERS: Final = {
    f"{folder.replace('/', '.')}.": each.name
    for each in ABSENT
    for folder in (each.folder, *(str(Path(file).with_suffix("")) for file in each.also))
}
"""The prefixes of modules of absent add-ons and of their tests, with the add-on."""

_NAMED: Final = re.compile(r"is of the add-on (\w+), which is not installed")
_NO_MODULE: Final = re.compile(r"No module named '?((?:ffi_builder|tests)(?:\.\w+)+)")

whole = pytest.mark.skipif(
    bool(ABSENT), reason=f"needs the add-on {', '.join(each.name for each in ABSENT)}"
)
"""The mark of tests that compare a page or a list with the whole project."""


def needed(words: str) -> str:
    """Say which absent add-on an error is about; empty if it is about none."""
    named = {found[1] for found in _NAMED.finditer(words)}
    named |= {owner(found[1]) for found in _NO_MODULE.finditer(words)}
    return next((f"needs the add-on {each.name}" for each in ABSENT if each.name in named), "")


def owner(name: str) -> str:
    """Return the absent add-on that a module or public name is of; empty if it is of none."""
    short = name.partition(".")[2]
    of_folder = (each for folder, each in _FOLDERS.items() if f"{short}.".startswith(folder))
    return next(of_folder, None) or addons.absent(short) or ""


def installed(contracts: str) -> str:
    """Return the text of pyproject.toml without the contracts and modules of absent add-ons."""
    if not ABSENT:
        return contracts
    gone = "|".join(re.escape(f"ffi_builder.{folder[:-1]}") for folder in _FOLDERS)
    first, *parts = re.split(r"(?=^\[\[tool\.importlinter\.contracts\]\])", contracts, flags=re.M)
    kept = [part for part in parts if not re.search(rf'^containers = \["({gone})\b', part, re.M)]
    kept = [re.sub(rf'"([^"]* )?({gone})\b[^"]*"(,\s*)?', "", part) for part in kept]
    empty = re.compile(r"^(source|forbidden)_modules = \[\s*\]", re.M)
    return first + "".join(part for part in kept if not empty.search(part))
