# pyright: basic, reportMissingImports=false
"""Compile kernels.cu, with NVRTC: `python -m tests.ptx.kernels.make_nvrtc` writes kernels.ptx."""

from pathlib import Path

from cuda.bindings import nvrtc

from ffi_builder.cuda.tools import toolkit
from tests.ptx.kernels.slim import slim


def compile_ptx(source: str, arch: str) -> str:
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, [], [])
    flags = [f"--gpu-architecture={arch}", "--std=c++17"]
    flags += [f"--include-path={path}" for path in toolkit.include_paths()]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), [each.encode() for each in flags])
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = bytes(size + 16)
    nvrtc.nvrtcGetProgramLog(program, log)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.decode()
    _, size = nvrtc.nvrtcGetPTXSize(program)
    ptx = bytes(size + 16)
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx.rstrip(b"\0").decode()


if __name__ == "__main__":
    folder = Path(__file__).parent
    ptx = compile_ptx((folder / "kernels.cu").read_text(), "compute_90")
    (folder / "kernels.ptx").write_text(slim(ptx))
