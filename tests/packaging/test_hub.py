"""Builds for Hugging Face's Kernel Hub, loaded by its own package where that is installed."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError
from tests.packaging.kernels import making, negate, scale
from tests.packaging.wheels import PROJECT, made
from tests.runtime.samples import needs_cc

pytestmark = needs_cc

LICENSED = PROJECT | {"license": "Apache-2.0"}


def build(folder: Path, modules: Any = None, **options: Any) -> Path:
    return made(folder, modules, layout="hub", **{"project": LICENSED, **options})


def test_the_files_of_a_build(tmp_path: Path):
    minor = tvm_ffi.__version__.split(".")[1]
    found = build(tmp_path, backend="cu128")
    assert found == tmp_path / "build" / f"tvm-ffi0{minor}-cu128-{platform.machine()}-linux"
    about = json.loads((found / "metadata.json").read_text())
    assert about.pop("id").startswith("_my_kernels_")
    assert about == {
        "name": "my-kernels",
        "version": 1,
        "license": "Apache-2.0",
        "python-depends": ["tvm-ffi"],
        "backend": {"type": "cuda"},
    }
    assert {"__init__.py", "_load.py", "lib"} <= {
        each.name for each in (found / "my_kernels").iterdir()
    }


def test_two_versions_in_one_process(tmp_path: Path):
    kernels = pytest.importorskip("kernels", reason="needs kernels: `make test-frameworks`")
    build(tmp_path / "1")
    build(tmp_path / "2", [scale(default=5.0), negate()], project=LICENSED | {"version": "2.3"})
    first, second = (kernels.get_local_kernel(tmp_path / n, backend="cpu") for n in "12")
    x, y = np.arange(3, dtype="float32"), np.zeros(3, "float32")
    found: list[Any] = []
    for function in (first.scale, second.scale, second.negate):
        function(x, y)
        found.append(y.tolist())
    assert found == [[0, 2, 4], [0, 5, 10], [0, -1, -2]]
    assert not hasattr(first, "negate")
    with pytest.raises(ValueError, match=r"Mismatched y\.shape\[0\]"):
        first.scale(x, y[:2])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"project": PROJECT}, 'license: the Hub needs one, such as license = "Apache-2.0"'),
        ({"project": LICENSED | {"name": "k"}}, "name: expected letters, digits and dashes"),
        ({"backend": "cuda"}, "backend: expected cpu, or a version of CUDA .* but got 'cuda'"),
        ({"modules": [making()]}, "layout: the Hub's kernels can need apache-tvm-ffi, but not"),
        ({"frameworks": ["torch"]}, "layout: the Hub's kernels can need"),
    ],
)
def test_what_the_hub_does_not_take(options: dict[str, Any], words: str, tmp_path: Path):
    with pytest.raises(BuildError, match=words):
        build(tmp_path, options.pop("modules", None), **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(("version", "whole"), [("2rc1", 2), ("1!3.4", 3), ("12", 12)])
def test_the_version_is_a_whole_number(version: str, whole: int, tmp_path: Path):
    found = build(tmp_path, project=LICENSED | {"version": version})
    assert json.loads((found / "metadata.json").read_text())["version"] == whole


def test_an_unknown_layout(tmp_path: Path):
    with pytest.raises(ValueError, match="backend: 'cu128' is for layout='hub'"):
        made(tmp_path, backend="cu128")
    with pytest.raises(ValueError, match="layout: expected some of wheel, hub, but got 'Hub', did"):
        made(tmp_path, layout="Hub")
