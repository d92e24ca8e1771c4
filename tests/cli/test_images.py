"""`inspect` of images of kernels: what it prints, and damaged ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ffi_builder import cuda, rocm
from ffi_builder.cli.main import main
from tests.cuda.images import images as of_cuda
from tests.rocm.images import images as of_rocm

FILES = {
    of_cuda.IMAGES / "cuda13-sm_80.cubin": cuda.kernels,
    of_cuda.IMAGES / "none.fatbin": cuda.kernels,
    of_cuda.IMAGES / "cuda12-sm_90a.ptx": cuda.kernels,
    of_rocm.IMAGES / "iree-gfx942.hsaco": rocm.kernels,
    of_rocm.IMAGES / "hip.hipfb": rocm.kernels,
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_kernels_of_an_image(path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["inspect", str(path)]) == 0
    image = FILES[path](path.read_bytes())
    assert capsys.readouterr().out == f"{image}\n"
    assert main(["inspect", "--json", str(path)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["file"], found["format"]) == (path.name, image.format)
    assert list(found["kernels"]) == list(image.kernels)
    for name, kernel in image.kernels.items():
        sizes = [each["size"] for each in found["kernels"][name]["parameters"]]
        assert sizes == [each.size for each in kernel.parameters or ()]


@pytest.mark.parametrize("path", [*FILES][:2] + [*FILES][3:], ids=lambda path: path.name)
def test_one_that_is_cut_off(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    cut = tmp_path / path.name
    cut.write_bytes(path.read_bytes()[:600])
    assert main(["inspect", str(cut)]) == 1
    words = rf"error: {re.escape(str(cut))}: The .* is truncated or damaged: .*\n"
    assert re.fullmatch(words, capsys.readouterr().err)


def test_a_name_that_would_control_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "kernel.ptx"
    path.write_text(".version 8.0\n.target sm_90\n.entry k(.param .b8 \x1b[31m) {}")
    main(["inspect", str(path)])
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err
