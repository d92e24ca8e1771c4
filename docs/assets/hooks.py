"""MkDocs hooks: give the files that pages link to, but that are outside docs, pages of their own.

Pages link to examples, scripts and CONTRIBUTING.md by relative paths, as GitHub shows them. The
site has a page ``source/<path>`` for each: a Markdown file as it is, other files as code blocks,
and a folder as the files in it. Pictures are copied.
"""

from __future__ import annotations

import re
from os.path import relpath
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCED = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)(#[\w-]+)?(?=\))")
LANGUAGES = {".py": "python", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".sh": "sh"}
BINARY = {".cubin"}
"""Files in folders that pages do not show."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages, for what they link to in turn as well."""
    made: dict[Path, str] = {}
    waiting = [path for page in DOCS.glob("*.md") for path in _outside(page)]
    while waiting:
        path = waiting.pop()
        if path not in made:
            made[path] = _content(path)
            waiting += _outside(path) if path.suffix == ".md" else []
    for path, content in made.items():
        files.append(File.generated(config, _address(path), content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead the links of a page in docs to the pages that were added, which no search finds."""
    uri = page.file.src_uri
    if not uri.startswith("source/"):
        return _led(markdown, DOCS, uri)
    page.meta["search"] = {"exclude": True}
    return markdown


def _outside(page: Path) -> list[Path]:
    """The files and folders outside docs that a page links to."""
    linked = (
        (page.parent / match[1]).resolve()
        for match in LINK.finditer(FENCED.sub("", page.read_text()))
    )
    return [path for path in linked if path.exists() and DOCS not in path.parents]


def _address(path: Path) -> str:
    """Return where the page of a file is, below docs."""
    if DOCS in path.parents:
        return path.relative_to(DOCS).as_posix()
    name = path.relative_to(ROOT).as_posix()
    return f"source/{name}" if path.suffix == ".svg" else f"source/{name.removesuffix('.md')}.md"


def _content(path: Path) -> str:
    if path.suffix == ".md":
        return _led(path.read_text(), path.parent, _address(path))
    if path.suffix == ".svg":
        return path.read_text()
    parts = [f"# {path.relative_to(ROOT).as_posix()}"]
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        if file.is_file() and not file.name.startswith(".") and file.suffix not in BINARY:
            heading = [f"## {file.name}"] if path.is_dir() else []
            language = LANGUAGES.get(file.suffix, "text")
            parts += [*heading, f"````{language}\n{file.read_text().rstrip()}\n````"]
    return "\n\n".join(parts)


def _led(markdown: str, folder: Path, uri: str) -> str:
    """Rewrite the links of Markdown text in a folder for the page at ``uri``."""

    def to(match: re.Match[str]) -> str:
        path = (folder / match[1]).resolve()
        if not path.exists() or (path.is_dir() and DOCS in path.parents):
            return match[0]
        return relpath(_address(path), Path(uri).parent) + (match[2] or "")

    return LINK.sub(to, markdown)
