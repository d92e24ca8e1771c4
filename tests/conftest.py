"""Options, markers and fixtures of all tests."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import importlib.util
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.support.absent import needed
from tests.support.drawn import drawn_quickly
from tests.support.older_tvm_ffi import lacked

# tvm-ffi's library installs a signal handler when it is loaded, and that one writes to the stderr
# that pytest captures. Loaded here, it comes before pytest's faulthandler, which says which test
# has crashed. (Importing tvm_ffi would import PyTorch.) With PYTHONFAULTHANDLER Python's handler is
# there already, and pytest would leave it beneath tvm-ffi's.
_TVM_FFI = importlib.util.find_spec("tvm_ffi")
assert _TVM_FFI is not None
assert _TVM_FFI.origin is not None
ctypes.CDLL(str(Path(_TVM_FFI.origin).parent / "lib" / "libtvm_ffi.so"))
faulthandler.disable()

# No deadline: compiling takes long the first time, and on a busy machine. Every run draws the same
# examples, so that a test fails for who broke it; `make fuzz` draws others.
settings.register_profile("random", deadline=None, print_blob=True, max_examples=drawn_quickly(100))
settings.register_profile("repeatable", settings.get_profile("random"), derandomize=True)
settings.load_profile("repeatable")

TESTS = Path(__file__).parent
GOLDEN = TESTS / "golden"
BINDINGS = {
    "torch_mlir.ir",
    "jaxlib.mlir.ir",
    f"{os.environ.get('FFI_BUILDER_DISTRIBUTION', 'torch_mlir')}.ir",  # as tests/distributions says
}
"""The MLIR bindings whose contexts are counted, if a test has loaded them."""
SLOW_FOLDERS = {
    *("benchmarks", "cli", "cuda", "differential", "distributions", "docs"),
    *("examples", "fakecuda", "frameworks", "frontends", "ptx"),
}
"""Folders whose tests are all marked slow, because each is or because they are many."""
SHARED = "tests.support.contexts"
_FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write tests/golden/ instead of comparing"
    )
    parser.addoption(
        "--update-errors", action="store_true", help="write docs/errors.md instead of comparing"
    )
    parser.addoption(
        "--update-design",
        action="store_true",
        help="write the rooms in docs/design.md instead of comparing",
    )
    parser.addoption(
        "--update-rules",
        action="store_true",
        help="write the rules in docs/fake-cuda.md instead of comparing",
    )
    parser.addoption(
        "--update-distributions",
        action="store_true",
        help="write docs/systems.md instead of comparing",
    )


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests of slow folders."""
    if SLOW_FOLDERS.intersection(item.path.relative_to(TESTS).parts[:1]):
        item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Exempt what is alive now (modules, test items) from garbage collection, to make it quick."""
    exempt()


@pytest.fixture(scope="module", autouse=True)
def what_a_module_leaves() -> Iterator[None]:
    """Exempt it, too: with the reports of 10,000 tests a full collection takes 0.25 s."""
    yield
    exempt()


def exempt() -> None:
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Skip a module that cannot be imported for want of an add-on."""
    report = yield
    words = needed(str(report.longrepr)) if report.failed else ""
    if words:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, f"Skipped: {words}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test whose fixtures fail for what is not here."""
    return (yield from skipping(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test that fails for what is not here."""
    return (yield from skipping(item))


def skipping(item: pytest.Item) -> Generator[None, object, object]:
    """Skip what fails for want of an add-on, or what the oldest supported apache-tvm-ffi lacks."""
    try:
        return (yield)
    except Exception as error:
        words = lacked(error) or needed(f"{error} {getattr(error, 'stderr', '')}")
        if not words:
            raise
    item.stash[_FAILED] = True  # pytest keeps the error, whose traceback keeps objects alive
    pytest.skip(words)


@pytest.fixture(autouse=True)
def no_leaked_contexts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test after which more MLIR contexts, or modules in shared ones, are alive than before."""
    before, kept = live_contexts(), kept_contexts()
    modules = {name: live_modules(context) for name, context in kept.items()}
    yield
    if request.node.stash.get(_FAILED, False):
        return  # the traceback of a failed test keeps its objects alive

    def leaked() -> int:
        """Count what is alive, but for replaced contexts that modules of fixtures keep alive."""
        now = kept_contexts()
        replaced = [name for name in kept if now.get(name) is not kept[name]]
        for name in replaced:
            if not live_modules(kept[name]):
                del kept[name]  # it dies, unless something else holds it
        contexts = live_contexts() - before - sum(name in kept for name in replaced)
        same = now.keys() - replaced
        more = sum(live_modules(now[name]) - modules.get(name, 0) for name in same)
        return max(contexts, 0) + max(more, 0)

    if not leaked():
        return
    if isinstance(request.node, pytest.Function):
        request.node.funcargs.clear()  # it keeps the values of fixtures alive
    for generation in range(3):  # most of what is in a cycle was made in the test
        gc.collect(generation)
        if not leaked():
            return
    pytest.fail(f"{leaked()} MLIR contexts or modules are alive that were made in this test")


def kept_contexts() -> dict[str, Any]:
    """Return the contexts that the runtime keeps for parsing text, and those that tests share."""
    kept: dict[str, Any] = {}
    for module, name in (("ffi_builder.runtime.codegen.mlir", "_scratch"), (SHARED, "current")):
        found: dict[str, tuple[Any, int]] = getattr(sys.modules.get(module), name, {})
        kept |= {f"{module} {root}": context for root, (context, _) in found.items()}
    return kept


def live_modules(context: Any) -> int:
    """Return the number of live modules in a context."""
    return context._get_live_module_count()


def live_contexts() -> int:
    """Return the number of live contexts in all loaded bindings, without those that are kept."""
    # JAX keeps contexts of its own.
    counted = (
        name for name in BINDINGS if not (name.startswith("jaxlib") and "jax" in sys.modules)
    )
    loaded = [sys.modules[name] for name in counted if name in sys.modules]
    return sum(bindings.Context._get_live_count() for bindings in loaded) - len(kept_contexts())


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare text with a file of tests/golden/, or write it with ``--update-golden``."""
    return Golden(update=bool(request.config.getoption("--update-golden")))


class Golden:
    """Compares text with files; a missing file is a failure too."""

    def __init__(self, *, update: bool) -> None:
        self._update = update

    def check(self, name: str, text: str) -> None:
        """Compare text with the file of that name."""
        path = GOLDEN / name
        if self._update:
            path.write_text(text, encoding="utf-8")
            return
        assert path.exists(), f"{path} is missing; pytest --update-golden writes it"
        assert text == path.read_text(encoding="utf-8"), "pytest --update-golden writes it anew"
