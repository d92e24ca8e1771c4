"""The folders in which parts of a CUDA toolkit are searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from ffi_builder.cuda.tools import toolkit


def program(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode)
    return path


def test_cuda_home_is_first_for_files(home: Path):
    header = home / "include/cuda_fp16.h"
    header.parent.mkdir()
    header.touch()
    assert toolkit.find("include/cuda_fp16.h") == header
    assert toolkit.include_paths()[0] == home / "include"


def test_both_kinds_of_headers(home: Path):
    """From CUDA 13 on those of the C++ library are in a folder of their own."""
    for name in ("include/cuda_fp16.h", "include/cccl/cuda/std/cstdint"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    assert toolkit.include_paths() == [home / "include", home / "include/cccl"]


def test_one_folder_with_all_headers(home: Path):
    for name in ("include/cuda_fp16.h", "include/cuda/std/cstdint"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).touch()
    assert toolkit.include_paths() == [home / "include"]


def test_programs(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    on_path = program(tmp_path / "path/ptxas")
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert toolkit.find_program("ptxas") == on_path
    own = program(home / "bin/ptxas", 0o644)
    assert toolkit.find_program("ptxas") == on_path, "what cannot be run is left"
    own.chmod(0o755)
    assert toolkit.find_program("ptxas") == own


def test_the_toolkit_of_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Reached by a link, as distributions have it."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    nvcc = program(tmp_path / "opt/cuda/bin/nvcc")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/nvcc").symlink_to(nvcc)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert tmp_path / "opt/cuda" in list(toolkit.roots())


@pytest.mark.usefixtures("no_toolkit")
def test_nothing_is_there():
    assert toolkit.find("bin/ptxas") is None
    assert toolkit.find_program("ptxas") is None
    assert toolkit.include_paths() == []
