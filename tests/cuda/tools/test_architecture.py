"""Names of architectures."""

from __future__ import annotations

import pytest

from ffi_builder import cuda

IR = "define ptx_kernel void @k() { ret void }"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("90a", "sm_90a"),
        ("compute_90a", "sm_90a"),
        ("SM90", "sm_90"),
        ("sm-100f", "sm_100f"),
        ("9.0a", "sm_90a"),
        ("12.1", "sm_121"),
        ("lto_80", "sm_80"),
        ("sm_90A", "sm_90a"),
        (" sm_90", "sm_90"),
    ],
)
def test_nearly_a_name(given: str, meant: str):
    with pytest.raises(ValueError, match="arch: expected a name") as caught:
        cuda.lower_to_ptx(IR, arch=given)
    assert str(caught.value).endswith(f"but got '{given}', did you mean '{meant}'?")


@pytest.mark.parametrize(
    "given", ["", "native", "gfx90a", "sm_", "sm_9", "sm_090", "sm_90b", "sm_1000"]
)
def test_no_name(given: str):
    with pytest.raises(ValueError, match=f"such as 'sm_90a' but got '{given}'$"):
        cuda.lower_to_ptx(IR, arch=given)


@pytest.mark.parametrize("given", [90, None, b"sm_90", (9, 0)])
def test_no_text(given: object):
    words = r"arch: expected a str such as 'sm_90a' but got .* \(\w+\)$"
    with pytest.raises(TypeError, match=words):
        cuda.lower_to_ptx(IR, arch=given)  # pyright: ignore[reportArgumentType]


def test_every_function_looks_at_it_first():
    for call in (cuda.compile_cuda, cuda.assemble):
        with pytest.raises(ValueError, match="did you mean 'sm_80'"):
            call("", arch="80")
