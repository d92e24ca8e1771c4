"""The project's files agree with each other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SLOW_FOLDERS
from tests.support.absent import ABSENT, whole

ROOT = Path(__file__).parent.parent
NEEDS = re.compile(r'(?:importorskip|needs)\(\s*f?"(?:torch|jax|numba)(?:\.numpy|\.fx)?"')
NEEDED = re.compile(r"<!-- needs .*\b(?:torch|jax|jax_tvm_ffi|numba)\b")
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE))
FOLDERS = {
    path.name
    for path in (ROOT / "tests").iterdir()
    if path.is_dir() and not path.name.startswith(("_", "."))
} | {each.folder.partition("/")[0] for each in ABSENT}

TEMPLATES = sorted(path for path in (ROOT / ".github").rglob("*") if path.is_file())
PAGES = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "benchmarks/tried.md",
            "tests/README.md",
        )
    ),
    *sorted((ROOT / "docs").glob("*.md")),
    *TEMPLATES,
]


@whole
def test_tests_that_need_a_framework_run_in_test_frameworks() -> None:
    listed = variable("FRAMEWORK_TESTS")
    paths = [ROOT / path.partition("::")[0] for path in listed]
    assert [path for path in paths if not path.exists()] == []
    needing = [path for path in (ROOT / "tests").rglob("*.py") if NEEDS.search(path.read_text())]
    assert needing
    left_out = [p for p in needing if not any(q == p or q in p.parents for q in paths)]
    assert left_out == []
    pages = [path for path in PAGES if NEEDED.search(path.read_text())]
    assert pages
    assert [
        page for page in pages if not any(f"[docs/{page.name}]" in each for each in listed)
    ] == []


@whole
def test_tests_that_are_run_without_the_extension_exist() -> None:
    assert [path for path in variable("CALL_TESTS") if not (ROOT / path).exists()] == []


def variable(name: str) -> list[str]:
    """The words of a variable of the Makefile."""
    printed = subprocess.run(
        ["make", "--no-print-directory", f"--eval=print: ; @echo $({name})", "print"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return printed.stdout.split()


def test_slow_folders_exist() -> None:
    assert SLOW_FOLDERS <= FOLDERS


def test_every_target_is_phony_and_explained() -> None:
    phony = re.search(r"^\.PHONY:((?:.*\\\n)*.*)$", MAKEFILE, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].replace("\\\n", " ").split()) == TARGETS
    assert set(re.findall(r"^([a-z0-9-]+):.* ## .+\.$", MAKEFILE, re.MULTILINE)) == TARGETS


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_make_targets_that_are_named_exist(page: Path) -> None:
    named = set(re.findall(r"(?:`|^ {4})make ([a-z0-9-]+)", page.read_text(), re.MULTILINE))
    assert named <= TARGETS


def test_contributing_names_every_suite() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text()
    suites = {name for name in TARGETS if name.startswith("test")}
    suites |= {"check", "fuzz", "soak", "mutants", "coverage", "docs"}
    suites |= {"wheels", "release-check", "entry-asan"}
    assert set(re.findall(r"^\| `make ([a-z0-9-]+)` \|", page, re.MULTILINE)) == suites


def test_the_oldest_tvm_ffi_is_tested() -> None:
    allowed = re.search(r'"apache-tvm-ffi>=([\d.]+),', (ROOT / "pyproject.toml").read_text())
    tested = re.search(r"^TVM_FFI \?= (.+)$", MAKEFILE, re.MULTILINE)
    assert allowed is not None
    assert tested is not None
    assert allowed[1] == tested[1]


def test_a_page_names_every_folder_of_tests() -> None:
    page = (ROOT / "tests" / "README.md").read_text()
    rows = re.findall(r"^\| `tests/([a-z0-9_]+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(FOLDERS)


def test_contributing_names_every_option_that_writes_files() -> None:
    options = set(re.findall(r'"(--update-[a-z]+)"', (ROOT / "tests/conftest.py").read_text()))
    assert options
    assert options == set(re.findall(r"--update-[a-z]+", (ROOT / "CONTRIBUTING.md").read_text()))


@pytest.mark.parametrize("page", TEMPLATES, ids=lambda path: path.name)
def test_paths_that_templates_name_exist(page: Path) -> None:
    named = re.findall(r"\b(?:docs/)?[\w-]+\.md\b", page.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_pre_commit_runs_what_make_lint_and_make_types_run() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    entries = re.findall(r"entry: \.venv/bin/(.*)$", hooks, re.MULTILINE)
    assert {entry.removesuffix(" --fix") for entry in entries} == {
        "ruff check",
        "ruff format",
        "lint-imports --no-cache",
        "pyright --project pyproject.toml",
    }


@pytest.mark.slow
@pytest.mark.parametrize("enabled", ["", "1"])
def test_a_process_that_dies_says_in_which_test(enabled: str) -> None:
    command = [sys.executable, "-m", "pytest", "tests/support/crashing.py"]
    env = os.environ | {"PYTHONFAULTHANDLER": enabled}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode < 0
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert re.search(r'crashing.py", line \d+ in test_that_crashes', done.stderr)


def test_the_suites_overwrite_freed_memory() -> None:
    found = re.search(r"^([a-z -]+): export GLIBC_TUNABLES := (.*)$", MAKEFILE, re.MULTILINE)
    assert found is not None
    assert {"test", "test-fast", "test-frameworks"} <= set(found[1].split())
    assert set(found[2].split(":")) == {"glibc.malloc.perturb=165", "glibc.malloc.tcache_count=0"}


def test_modules_and_files_that_texts_name_exist() -> None:
    """Also in scripts within strings, which no type checker reads."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("needs git, and a checkout")
    rooms = "|".join(path.name for path in (ROOT / "ffi_builder").iterdir() if path.is_dir())
    imported = re.compile(r"\b(?:from|import) (ffi_builder(?:\.[a-z_0-9]+)*)")
    named = re.compile(rf"(?<![\w/.])(?:ffi_builder/)?((?:{rooms})/[a-z_0-9/]+\.(?:py|c|h))\b")
    missing: set[tuple[str, str]] = set()
    for name in listed.stdout.split():
        path = ROOT / name
        if path.suffix not in (".py", ".md", ".c", ".h") or path.name in (
            "extending.md",
            "CHANGELOG.md",
        ):
            continue
        text = path.read_text() if path.exists() else ""
        for found in imported.finditer(text):
            module = ROOT / found[1].replace(".", "/")
            if not any(
                file.exists() for file in (module, *map(module.with_suffix, (".py", ".pyi")))
            ):
                missing.add((name, found[1]))
        for found in named.finditer(text):
            if not any((ROOT / room / found[1]).exists() for room in ("ffi_builder", "tests")):
                missing.add((name, found[1]))
    assert missing == set()
