"""Runs the code in the README and the documentation, and checks their links."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from tvm_ffi import libinfo

from tests.docs import blocks as markdown
from tests.docs.blocks import FENCE, RUN, blocks
from tests.support.absent import ABSENT
from tests.support.forking import COMPILING, Forking

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "benchmarks/tried.md",
    "tools/mutants.md",
    *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")),
]
CC = shlex.split(os.environ.get("CC", "cc"))

LINK = re.compile(r"\]\((?!https?:)([^)#]+)?(?:#([\w-]+))?\)")


def having(*languages: str) -> list[str]:
    return [page for page in PAGES if any(b.language in languages for b in blocks(ROOT / page))]


@pytest.fixture(scope="module")
def forking() -> Iterator[Forking]:
    """A process that has imported what a first compile does: no page says `import torch_mlir` alone.

    So pages must still import what they use. PyTorch starts threads, which a fork has not.
    """
    server = Forking(COMPILING if find_spec("torch") is None else "")
    yield server
    server.close()


@pytest.mark.parametrize("page", having(*RUN))
def test_blocks_run_and_print_what_is_written(page: str, forking: Forking):
    code = f"""
from pathlib import Path
from tests.docs.blocks import run
run(Path({str(ROOT / page)!r}))
"""
    done = forking.run(code, seconds=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""


def test_an_excerpt_is_compared_with_its_file_and_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(markdown, "ROOT", tmp_path)
    page, source = tmp_path / "page.md", tmp_path / "source.py"
    page.write_text("<!-- from source.py -->\n```python\nraise ValueError\n```\n")
    source.write_text("import re\n\nraise ValueError\n")
    markdown.run(page)
    source.write_text("raise TypeError\n")
    with pytest.raises(AssertionError, match=r"page\.md:3: this is not in source\.py:\nraise Val"):
        markdown.run(page)


def test_a_block_whose_module_is_missing_is_left_out_unless_all_are_run(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("<!-- needs not_a_module -->\n```python\nraise ValueError\n```\n")
    markdown.run(page)
    with pytest.raises(AssertionError, match=r"page\.md:3: not_a_module is not here"):
        markdown.run(page, everything=True)
    page.write_text("<!-- not run: why -->\n```python\nraise ValueError\n```\n")
    markdown.run(page, everything=True)


@pytest.mark.skipif(shutil.which(CC[0]) is None, reason=f"needs a C compiler: no {CC[0]}")
@pytest.mark.parametrize("page", having("c"))
def test_c_blocks_compile(page: str):
    code = "\n".join(block.code for block in blocks(ROOT / page) if block.language == "c")
    prelude = "#include <stddef.h>\n#include <stdint.h>\n#include <tvm/ffi/c_api.h>\n"
    done = subprocess.run(
        [*CC, "-std=c11", "-Wall", "-Werror", "-Wno-unused", "-fsyntax-only", "-xc", "-"]
        + [f"-I{path}" for path in libinfo.include_paths()],
        input=prelude + code,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str):
    path = ROOT / page
    broken = {
        match[0]
        for match in LINK.finditer(FENCE.sub("", path.read_text()))
        if not leads_somewhere(path, match[1] or "", match[2] or "")
    }
    assert broken == set()


def leads_somewhere(page: Path, target: str, anchor: str) -> bool:
    path = page.parent / target if target else page
    if ABSENT and not path.exists():
        return True  # a page may have gone with an add-on
    return path.exists() and (not anchor or anchor in anchors(path))


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_index():
    index = (ROOT / "docs/index.md").read_text()
    pages = [path.name for path in (ROOT / "docs").glob("*.md") if path.name != "index.md"]
    assert [page for page in pages if f"({page})" not in index] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page != "docs/errors.md"])
def test_lines_of_code_fit_the_site(page: str):
    """Messages in ``text`` blocks are broken by the site; code should not be."""
    long = [
        f"{page}:{block.line + number}"
        for block in blocks(ROOT / page)
        if block.language != "text"
        for number, line in enumerate(block.code.splitlines())
        if len(line) > 100
    ]
    assert long == []


def test_llms_txt_names_pages():
    """Assistants look for it on the site, beside the pages."""
    text = (ROOT / "docs" / "llms.txt").read_text()
    named = re.findall(r"\]\(([^)]+)\)", text)
    assert named == [each for each in named if (ROOT / "docs" / each).exists()]
    assert len(named) > 10


def test_pages_are_short():
    """errors.md is generated: it has every message. checks.md is the contract, to look up in."""
    lines = {page: len((ROOT / page).read_text().splitlines()) for page in PAGES}
    assert lines["README.md"] <= 110
    assert lines["AGENTS.md"] <= 60
    assert {page for page, count in lines.items() if count > 400} <= {
        "docs/errors.md",
        "docs/checks.md",
    }
