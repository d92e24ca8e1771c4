"""Write the images of tests/cuda/images/images anew: the kernels beside it, by several versions of NVRTC.

    python -m tests.cuda.images.make /…/libnvrtc.so.12 /…/libnvrtc.so.13 --fatbinary /…/fatbinary

NVRTC comes in the wheels nvidia-cuda-nvrtc-cu12 (12.4 was used) and nvidia-cuda-nvrtc (13.5), and
fatbinary in nvidia-cuda-nvcc (13.5). No driver is needed. The tests need none of these.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
IMAGES: Final = HERE / "images"

CUBINS: Final = {
    12: {"sm_80": ("cuda12-sm_80.cubin", ()), "sm_90": ("cuda12-sm_90.cubin", ()), "sm_90a": ("cuda12-sm_90a.cubin", ("-DALL",))},
    13: {
        "sm_80": ("cuda13-sm_80.cubin", ()),
        "sm_90": ("cuda13-sm_90.cubin", ("-DLARGE",)),
        "sm_90a": ("cuda13-sm_90a.cubin", ("-DALL",)),
        "sm_100": ("cuda13-sm_100.cubin", ()),
        "sm_100f": ("cuda13-sm_100f.cubin", ()),
    },
}  # fmt: skip
"""By the major version of NVRTC and the architecture: the file, and the options."""
FATBINS: Final = ("none", "speed", "size")
"""Ways of compressing: not at all, by LZ4, by zstd. The first leaves what is named to others."""


class Nvrtc:
    """One NVRTC, by its C API."""

    def __init__(self, path: Path) -> None:
        for builtins in path.parent.glob("libnvrtc-builtins.so*"):
            ctypes.CDLL(str(builtins))
        self._library = ctypes.CDLL(str(path))
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.major = major.value

    def compile(self, source: str, arch: str, options: tuple[str, ...]) -> tuple[bytes, bytes]:
        """A cubin and PTX."""
        program = ctypes.c_void_p()
        self._call(
            "nvrtcCreateProgram",
            *(ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None),
        )
        flags = [f"-arch={arch}".encode(), *(option.encode() for option in options)]
        array = (ctypes.c_char_p * len(flags))(*flags)
        self._call("nvrtcCompileProgram", program, len(flags), array)
        return self._output("CUBIN", program), self._output("PTX", program)

    def _output(self, kind: str, program: ctypes.c_void_p) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"nvrtcGet{kind}Size", program, ctypes.byref(size))
        data = ctypes.create_string_buffer(size.value)
        self._call(f"nvrtcGet{kind}", program, data)
        return data.raw

    def _call(self, name: str, *args: object) -> None:
        status = self._library[name](*args)
        assert status == 0, f"{name}: error {status}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nvrtc", type=Path, nargs="+")
    parser.add_argument("--fatbinary", type=Path)
    given = parser.parse_args()
    source = (HERE / "kernels.cu").read_text()
    IMAGES.mkdir(exist_ok=True)
    for path in given.nvrtc:
        nvrtc = Nvrtc(path)
        for arch, (name, options) in CUBINS[nvrtc.major].items():
            cubin, ptx = nvrtc.compile(source, arch, options)
            (IMAGES / name).write_bytes(cubin)
            if "-DALL" in options:
                (IMAGES / name).with_suffix(".ptx").write_bytes(ptx)
    if given.fatbinary is not None:
        make_fatbins(given.fatbinary)


def make_fatbins(fatbinary: Path) -> None:
    """One for each way of compressing, of code for two architectures and PTX."""
    with tempfile.TemporaryDirectory() as folder:
        ptx = Path(folder, "kernels.ptx")
        text = (IMAGES / "cuda12-sm_90a.ptx").read_bytes()
        ptx.write_bytes(text.rstrip(b"\0"))
        parts = (
            ("elf", "80", IMAGES / "cuda13-sm_80.cubin"),
            ("elf", "90", IMAGES / "cuda12-sm_90.cubin"),
            ("ptx", "90a", ptx),
        )
        for mode in FATBINS:
            images = [f"--image3=kind={kind},sm={sm},file={path}" for kind, sm, path in parts]
            compress = () if mode == "none" else ("--compress-all",)
            output = f"--create={IMAGES / f'{mode}.fatbin'}"
            options = ("-64", f"--compress-mode={mode}", *compress, *images, output)
            subprocess.run([fatbinary, *options], check=True)


if __name__ == "__main__":
    main()
