"""Writes tables of words."""

from __future__ import annotations


def words(text: str, prefix: str = "") -> frozenset[str]:
    """The words of `text`, each with `prefix` before it."""
    return frozenset(prefix + word for word in text.split())
