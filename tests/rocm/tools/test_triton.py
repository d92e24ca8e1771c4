"""What Triton knows of kernels for `hip`: stand-ins have the attributes of Triton 3.9."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ffi_builder import BuildError, Launch, cuda, spec
from ffi_builder.cuda.triton import checked, launched
from tests.support.tritons import tritons_for_amd

Promises = dict[tuple[int, ...], list[list[Any]]]
ALIGNED: Final = ["tt.divisibility", 16]
SMALL: Final = ["tt.pointer_range", 32]
LAUNCH: Final = Launch(grid="ceildiv(n, 256)")


def kernel(attrs: Promises | None = None, arch: str = "gfx942", **metadata: Any) -> Any:
    """A kernel that Triton compiled, with the metadata that are read."""
    types = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    known: dict[str, Any] = {"shared": 512, "tensordesc_meta": [], **metadata}
    return tritons_for_amd("add", arch, {}, types, attrs or {}, **known)


def signature(text: str) -> spec.Signature:
    return spec.Signature.parse(text, device="rocm")


def test_tensors_are_on_the_device_that_a_kernel_was_compiled_for():
    assert str(cuda.triton_signature(kernel({(0,): [ALIGNED]}))) == (
        "add(x: Tensor(..., float32, strides=any, device_type=rocm, data_alignment=16), "
        "y: Tensor(..., float32, strides=any, device_type=rocm), n: int32)"
    )
    assert "device_type=cuda" in str(cuda.triton_signature(kernel().src))


@pytest.mark.parametrize(("arch", "threads"), [("gfx942", 256), ("gfx1100", 128)])
def test_a_warp_is_a_wave(arch: str, threads: int):
    launch = launched(kernel(arch=arch).metadata, LAUNCH)
    assert (launch.block, launch.dynamic_smem_bytes, launch.cluster) == (threads, 512, None)
    assert launch.attributes == []


def test_two_pointers_to_scratch_memory_follow():
    given = signature("add(x: Tensor([n], float32), y: Tensor([n], float32))")
    found, args = checked(kernel(), given, ["x", "y", "n"], LAUNCH)
    assert args[3:] == [None, None]
    assert [each.name for each in found.params] == ["x", "y"]
    found, args = checked(kernel(global_scratch_size=128), given, ["x", "y", "n"], LAUNCH)
    assert args[3:] == ["global_scratch", None]
    scratch = found.params[-1]
    assert isinstance(scratch, spec.Workspace)
    assert scratch.device_type == "rocm"


def test_memory_within_two_gib_is_checked():
    attrs = {(0,): [ALIGNED, SMALL], (1,): [SMALL]}
    given = signature("add(x: Tensor([n, m], float32), y: Tensor([100], float32), n: int32)")
    found, _ = checked(kernel(attrs), given, ["x", "y", "n"], LAUNCH)
    assert str(found).endswith(" where x.data % 16 == 0, 4 * n * m <= 2147483647")
    same = signature("add(x: Tensor([n], float32), y: Tensor([n], float32))")
    assert str(checked(kernel(attrs), same, ["x", "y", "n"], LAUNCH)[0]).count("2147483647") == 1
    said = signature(f"{same} where 4 * n <= 2147483647")
    assert str(checked(kernel(attrs), said, ["x", "y", "n"], LAUNCH)[0]).count("2147483647") == 1
    assert "2147483647" not in str(checked(kernel(), given, ["x", "y", "n"], LAUNCH)[0])


@pytest.mark.parametrize(
    "x",
    [
        "Tensor(..., float32, strides=any)",
        "Tensor([n, None], float32)",
        "Tensor([n], float32, strides=[s])",
        "Tensor([1073741824], float32)",
        "DataPointer",
    ],
)
def test_memory_of_which_that_is_not_known_is_refused(x: str):
    given = signature(f"add(x: {x}, y: Tensor([n], float32))")
    words = r"relies on tt\.pointer_range=32 of 'x': that its memory ends within 2 GiB\. Declare it"
    with pytest.raises(BuildError, match=words):
        checked(kernel({(0,): [SMALL]}), given, ["x", "y", "n"], LAUNCH)


def test_a_signature_of_any_shape_cannot_say_it():
    words = r"^triton_signature: Triton relies on tt\.pointer_range=32 of argument 'y'"
    with pytest.raises(BuildError, match=words):
        cuda.triton_signature(kernel({(1,): [SMALL]}))


def test_descriptors_of_the_tensor_data_mover_are_refused():
    compiled = kernel(arch="gfx1250", tensordesc_meta=[{"block_size": [32, 32]}])
    compiled.src.signature = {"x": "tensordesc<fp16[32, 32]>"}
    with pytest.raises(BuildError, match="'x' of Triton's kernel 'add' is a descriptor of AMD's"):
        checked(compiled, signature("f(x: Tensor([n, m], float16))"), None, Launch(grid=1))
