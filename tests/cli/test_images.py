"""`inspect` of images of kernels: what it prints, and damaged ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ffi_builder import Launch, cuda, rocm, wrap
from ffi_builder.cli.main import main
from tests.cuda.images import images as of_cuda
from tests.rocm.images import images as of_rocm
from tests.runtime.samples import needs_cc

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


PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry fill(.param .u64 x, .param .f32 value) { ret; }
.visible .entry other(.param .u64 x) { ret; }
"""


@needs_cc
def test_the_kernels_that_functions_of_a_library_launch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    texts = ["fill(x: Tensor([n], float32), value: float32)", "other(x: Tensor([n], float32))"]
    library = tmp_path / "fill.so"
    for text, launches in zip(texts, ["fill(u64, f32)", "other(u64)"], strict=True):
        wrap(PTX, text, launch=Launch(grid="n", block=1)).export_library(str(library))
        assert main(["inspect", str(library)]) == 0
        assert f"    launches, from the ptx for compute_70: {launches}" in capsys.readouterr().out
        assert main(["inspect", "--json", str(library)]) == 0
        (found,) = json.loads(capsys.readouterr().out)
        function = found["functions"][-1]
        (entry,) = function["launches"]
        assert entry["architectures"] == ["compute_70"]
        assert entry["kernel"]["name"] == function["name"]
