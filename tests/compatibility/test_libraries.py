"""Libraries that older versions exported are loaded and called (docs/compatibility.md).

`before-0.1.0` is a state of the sources whose metadata had another form. What a later version adds
is in a folder of its own; `python -m tests.compatibility.make` says how they are made.
"""

from __future__ import annotations

import inspect
import math
import platform
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import runtime
from ffi_builder.fakecuda.records import read_log
from ffi_builder.runtime.metadata import Unwritable
from ffi_builder.runtime.python.loaded import LoadedLibrary
from tests.compatibility.make import BYTES, FILES, KIND
from tests.fakecuda import Launch, environment, library, missing

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the saved libraries are for x86-64"
)

VERSIONS = sorted(path.name for path in FILES.iterdir())
UNREAD = {"before-0.1.0"}
"""Versions whose metadata this one does not read: their functions are called by position."""
READ = [version for version in VERSIONS if version not in UNREAD]
ROOT = Path(__file__).parents[2]


def saved(version: str, name: str, folder: Path) -> Path:
    """A saved library, with the suffix that tvm-ffi knows libraries by."""
    return Path(shutil.copy(FILES / version / f"{name}.library", folder / f"{name}.so"))


@pytest.fixture(params=VERSIONS)
def values(request: pytest.FixtureRequest, tmp_path: Path) -> LoadedLibrary:
    return runtime.load(saved(request.param, "values", tmp_path))


@pytest.mark.parametrize("version", READ)
def test_objects_are_compiled_and_linked_again(version: str, tmp_path: Path) -> None:
    data = (FILES / version / "values.object").read_bytes()
    compiled = runtime.compile(data)
    compiled.export_library(tmp_path / "again.so", header=tmp_path / "again.h")
    for functions in (compiled, runtime.load(tmp_path / "again.so")):
        x = np.ones(2, "float32")
        functions["scale"](x, 3.0)
        functions.callable("scale")(x=x, factor=2)
        assert x.tolist() == [6, 6]
        with pytest.raises(TypeError, match="type of text on argument #0"):
            functions["kinds"](1, *of_every_kind()[1:])
    header = (tmp_path / "again.h").read_text()
    assert "scale(::tvm::ffi::TensorView x, double factor)" in header


def of_every_kind() -> list[Any]:
    return [
        *("text", b"data", "gelu", None, (1, 2.0), (0.5, True), (4, 3)),
        *(tvm_ffi.dtype("float32"), tvm_ffi.device("cpu"), tvm_ffi.convert([1])),
        *(print, [1], {"a": 1}, 3),
    ]


def test_there_are_versions() -> None:
    assert {"0.1.0", "0.2.0", "0.3.0", "before-0.1.0"} <= set(VERSIONS)


def test_tensors_and_results(values: LoadedLibrary) -> None:
    assert values.functions == ("copy", "first", "kinds", "scale")
    x = np.array([1, 2, 3], "float32")
    values["scale"](x, 2)
    assert x.tolist() == [2, 4, 6]
    assert values["first"](x) == 2.0
    with runtime.install_allocator():
        y = np.from_dlpack(values["copy"](x))
    assert (y.shape, y[0, 0]) == ((3, 2), 2.0)


def test_tvm_ffi_loads_it_alone(values: LoadedLibrary) -> None:
    loaded = vars(tvm_ffi)["load_module"](values._path)  # pyright: ignore[reportPrivateUsage]
    x = np.ones(2, "float32")
    loaded["scale"](tvm_ffi.from_dlpack(x), 3.0)
    assert x.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("at", "wrong", "kind", "words"),
    [
        (None, None, None, ""),
        (0, 1, TypeError, "type of text on argument #0"),
        (2, "x", ValueError, "mode on argument #2"),
        (3, "x", TypeError, "type of maybe on argument #3"),
        (4, (1,), ValueError, "pair on argument #4"),
        (6, (4, 4), ValueError, r"shape\[1\] on argument #6"),
        (13, 4, ValueError, "three on argument #13"),
    ],
)
def test_values_of_every_kind(
    values: LoadedLibrary, at: int | None, wrong: object, kind: type[Exception] | None, words: str
) -> None:
    given = of_every_kind()
    if at is None or kind is None:
        assert values["kinds"](*given) is None
        return
    given[at] = wrong
    with pytest.raises(kind, match=rf"^Mismatched .*{words} when calling: `kinds\(text: String"):
        values["kinds"](*given)


@pytest.mark.parametrize("version", READ)
def test_metadata_is_read(version: str, tmp_path: Path) -> None:
    loaded = runtime.load(saved(version, "values", tmp_path))
    scale = loaded.callable("scale")
    assert str(inspect.signature(scale)).endswith("factor: float32 = 2.0)")
    assert inspect.getdoc(scale).startswith("Multiply x in place.")  # pyright: ignore
    x = np.ones(2, "float32")
    scale(x=x)
    scale(x, factor=3)
    assert x.tolist() == [6, 6]
    info = loaded.info("kinds")
    assert info is not None
    kinds = [param.kind for param in info.parameters]
    assert kinds[:6] == ["String", "Bytes", "Choice", "int64", "Tuple", "Struct"]
    assert info.parameters[2].choices == ("relu", "gelu")
    assert [param.name for param in info.parameters[5].elements] == ["rate", "on"]
    assert info.parameters[13].value == 3
    copy = loaded.info("copy")
    assert copy is not None
    assert copy.returns == "y: Tensor([n, 2], float32, device_type=cpu)"


@pytest.mark.parametrize("version", READ)
def test_every_form_of_metadata_is_read(version: str, tmp_path: Path) -> None:
    info = runtime.load(saved(version, "described", tmp_path)).info("described")
    assert info is not None
    x, m, maybe, pair, rate, data, table, anything = info.parameters
    assert (x.intent, x.type) == ("in", "Tensor([n], float32, device_type=cuda, intent=in)")
    assert [param.has_default for param in (x, m, maybe, pair)] == [False, False, True, True]
    assert [param.kw_only for param in info.parameters] == [False] * 4 + [True] * 4
    assert (maybe.kind, maybe.optional, maybe.default) == ("int64", True, None)
    assert [(each.name, each.kind) for each in pair.elements] == [("a", "int32"), ("b", "int32")]
    assert (pair.default, rate.default, rate.doc) == ((1, 2), math.inf, "how fast")
    assert (data.default, table.default) == (b"\0\xff", {"a": [1]})
    assert anything.default == Unwritable("range(0, 3)")
    assert [(result.name, result.kind) for result in info.results] == [
        ("y", "Tensor"),
        ("z", "Tensor"),
    ]
    assert info.returns.startswith("(y: Tensor([n], float32")
    assert (info.where, info.borrows, info.allocates) == ("n <= m", True, True)


@pytest.mark.parametrize("version", sorted(UNREAD))
def test_metadata_of_another_form_says_what_to_do(version: str, tmp_path: Path) -> None:
    loaded = runtime.load(saved(version, "values", tmp_path))
    assert loaded.info("scale") is None
    words = "attached by another version of ffi_builder, .* or call it by position"
    with pytest.raises(TypeError, match=words):
        loaded.callable("scale")


@contextmanager
def loader(given: list[bytes]) -> Generator[None, None, None]:
    def load(data: Any) -> Any:
        given.append(bytes(data))
        return tvm_ffi.system_lib("compatibility")

    name = f"ffi.Module.load_from_bytes.{KIND}"
    tvm_ffi.register_global_func(name, load, override=True)
    yield
    tvm_ffi.remove_global_func(name)


@pytest.mark.parametrize("version", VERSIONS)
def test_modules_travel_along(version: str, tmp_path: Path) -> None:
    given: list[bytes] = []
    with loader(given):
        loaded = runtime.load(saved(version, "modules", tmp_path))
    assert given == [BYTES]
    assert loaded["small"](1) is None
    with pytest.raises(TypeError, match="type of a on argument #0"):
        loaded["small"]("x")


@pytest.mark.slow
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("version", VERSIONS)
def test_kernels_are_launched(version: str, tmp_path: Path) -> None:
    path = saved(version, "launch", tmp_path)
    code = f"from ffi_builder import runtime; runtime.load({str(path)!r})['launch'](3, None, 0)"
    log = tmp_path / "log"
    env = {**environment(library()), "FAKE_CUDA_LOG": str(log)}
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=env, cwd=ROOT)
    (launch,) = [event for event in read_log(log.read_text()) if isinstance(event, Launch)]
    assert (launch.kernel, launch.grid, launch.block) == ("count", (3, 1, 1), (32, 1, 1))
