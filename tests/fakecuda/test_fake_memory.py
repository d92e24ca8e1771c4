"""The memory of ``testing.FakeCuda``: parts of arrays, and addresses that no kernel can use."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tvm_ffi

from ffi_builder import Launch, spec, testing, wrap
from tests.fakecuda import KernelImage, make_cubin, missing

np = pytest.importorskip("numpy", reason="needs NumPy")
pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))


@pytest.fixture
def gpu() -> Iterator[testing.FakeCuda]:
    with testing.FakeCuda() as made:
        yield made


# ---- parts of arrays

PARTS = [
    *np.s_[1:3, 2, -1, ::-1, ..., None, 3:0:-2, np.int64(3)],
    *(np.s_[:, 1:6:2], np.s_[2, ...], np.s_[1, 2], np.s_[..., -1], np.s_[()], np.s_[1:, None, 2]),
    *(np.s_[::-2, ::-3], np.s_[1, ..., 2:]),
    # Without elements.
    *np.s_[:0, 3:3, 9:, -1:1, 2:1],
    *(np.s_[:, 3:3], np.s_[:0, ::2], np.s_[..., 6:], np.s_[2, 9:], np.s_[None, :0]),
    np.s_[::-1, :0],
]


@pytest.mark.parametrize("index", PARTS, ids=str)
def test_a_part(gpu: testing.FakeCuda, index: Any) -> None:
    whole = np.arange(24, dtype="int32").reshape(4, 6)
    x, expected = gpu.array(whole), whole[index]
    part = x[index]
    assert part.shape == np.shape(expected)
    assert (part.numpy() == expected).all()
    tensor = tvm_ffi.from_dlpack(part)
    assert tuple(tensor.shape) == np.shape(expected)
    if expected.size:
        assert part.address - x.address == 4 * expected.flat[0]
        return
    assert len(part[..., None].shape) == part.numpy().ndim + 1
    assert part[...].numpy().size == part[::-1].numpy().size == 0


def test_parts_are_the_same_memory(gpu: testing.FakeCuda) -> None:
    whole = np.arange(24, dtype="int32").reshape(4, 6)
    x = gpu.array(whole)
    x[1:, ::2].numpy()[:] = 0
    whole[1:, ::2] = 0
    assert (x.numpy() == whole).all()
    assert len(x) == 4


def test_what_is_no_part(gpu: testing.FakeCuda) -> None:
    x = gpu.array(np.arange(4))
    for index in ([0, 1], [], True, np.zeros(4, bool), "a", 1.5, (0, [1])):
        with pytest.raises(IndexError, match="FakeArray: expected ints and slices, but got"):
            x[index]
    with pytest.raises(IndexError, match="index 4 is out of bounds"):
        x[4]
    with pytest.raises(IndexError, match="too many indices"):
        x[0, 0]


def test_a_call_with_a_part_without_elements(gpu: testing.FakeCuda) -> None:
    image = make_cubin([KernelImage("take", (8, 4))])
    signature = "take(x: Tensor([n], float32)) where n: int32"
    launch = Launch(grid="n + 1", block=1)
    take = wrap(image, signature, device="cuda", launch=launch, args=["x", "n"])["take"]
    x = gpu.array(np.ones(4, "float32"))
    for part in (x[:0], x[9:], x[::-1][9:], gpu.array(x[2:2])):
        take(part)
    assert [launch.values(["handle", "int32"])[1] for launch in gpu.launches] == [0] * 4


# ---- addresses

ILLEGAL = "CUDA_ERROR_ILLEGAL_ADDRESS"
KINDS = {
    "of the host": (ILLEGAL, "is no memory of device 0"),
    "of nothing": (ILLEGAL, "is no memory of device 0"),
    "behind the end": (ILLEGAL, "is no memory of device 0"),
    "freed": (ILLEGAL, "is no memory of device 0"),
    "of another device": (ILLEGAL, "is no memory of device 0"),
    "misaligned": ("CUDA_ERROR_MISALIGNED_ADDRESS", "is not aligned to 4 bytes"),
}
HOST = np.ones(3, "float32")
KEPT: list[testing.FakeArray] = []


def address(kind: str, gpu: testing.FakeCuda, x: testing.FakeArray) -> int:
    if kind == "of the host":
        return HOST.ctypes.data
    if kind == "of nothing":
        return 1 << 20
    if kind == "behind the end":
        return x.address + 4096
    if kind == "misaligned":
        return x.address + 2
    other = gpu.array(HOST, 0 if kind == "freed" else 1)
    if kind == "of another device":
        KEPT.append(other)
    return other.address


def pointers(*, stream: bool = False) -> Callable[..., Any]:
    """A function that passes a pointer as it is."""
    image = make_cubin([KernelImage("take", (8,))])
    signature = f"take(p: handle{', s: Stream' if stream else ''})"
    how = Launch(grid=1, block=1, stream="s" if stream else None)
    return wrap(image, signature, device="cuda", launch=how, args=["p"])["take"]


def devices() -> testing.FakeCuda:
    return testing.FakeCuda("sm_90", "sm_90")


def emulated(gpu: testing.FakeCuda) -> list[int]:
    """Emulate the kernel; return a list of how many elements each launch could reach."""
    found: list[int] = []

    @gpu.kernel("take", ["float32*"])
    def take(_launch: Any, p: Any) -> None:  # pyright: ignore[reportUnusedFunction]
        found.append(len(p))

    return found


@pytest.mark.parametrize("kind", KINDS)
def test_an_address_that_no_kernel_can_use(kind: str) -> None:
    """The call returns, all later ones have the kernel's error, and the block ends with words."""
    result, words = KINDS[kind]
    take, take_in = pointers(), pointers(stream=True)

    def use(gpu: testing.FakeCuda) -> None:
        found, x = emulated(gpu), gpu.array(HOST)
        stream, good = ctypes.c_void_p(gpu.stream()), ctypes.c_void_p(x.address)
        take(good)
        take(ctypes.c_void_p(address(kind, gpu, x)))
        for again in (lambda: take(good), lambda: take_in(good, stream)) * 2:
            with pytest.raises(RuntimeError, match=rf"cuLaunchKernelEx failed: {result} \(7"):
                again()
        with pytest.raises(Exception, match=r"7\d\d"):
            gpu.stream()
        gpu.stream(1)  # another context
        assert len(found) == 1

    gpu, words = devices(), rf"^kernel 'take' gets the address 0x\w+ of .*{words} \({result}\)$"
    with pytest.raises(RuntimeError, match=words), gpu:
        use(gpu)
    assert len(gpu.launches) == 2
    with devices() as gpu:  # as in another process
        found, x = emulated(gpu), gpu.array(HOST)
        take(ctypes.c_void_p(x.address))
        assert len(found) == 1


def test_numpy_raises_it_once_and_later_calls_still_fail(gpu: testing.FakeCuda) -> None:
    take, x = pointers(), gpu.array(HOST)
    emulated(gpu)
    take(ctypes.c_void_p(HOST.ctypes.data))
    part = x[1:]  # nothing is looked at
    with pytest.raises(RuntimeError, match="no memory of device 0"):
        part.numpy()
    assert (x.numpy() == HOST).all()
    with pytest.raises(RuntimeError, match=ILLEGAL):
        take(ctypes.c_void_p(x.address))


def test_a_kernel_without_an_emulation_uses_no_address(gpu: testing.FakeCuda) -> None:
    take = pointers()
    for _ in range(2):
        take(ctypes.c_void_p(HOST.ctypes.data))
    assert len(gpu.launches) == 2


def test_check_kernel_finds_the_smallest_example_of_it(gpu: testing.FakeCuda) -> None:
    """Each call finds devices that work, whatever the one before has done."""
    image = make_cubin([KernelImage("fill", (8, 8))])
    text = "fill(x: Tensor([n], float32, intent=out)) where n >= 1"
    signature = spec.Signature.parse(text, device="cuda")

    def compiled(*args: str) -> Any:
        launch = Launch(grid="n", block=1)
        return wrap(image, signature, launch=launch, args=args)["fill"]

    @gpu.kernel("fill", ["float32*", "int64"])
    def fill(_launch: Any, x: Any, n: int) -> None:  # pyright: ignore[reportUnusedFunction]
        x[:n] = 1

    def ones(x: Any) -> Any:
        return np.ones_like(x)

    words = r"the call raises IllegalAddressError: kernel 'fill' gets the address 0x1 of float32"
    with pytest.raises(testing.KernelError, match=words) as error:
        testing.check_kernel(compiled("n", "x"), signature, ones)
    assert "x = float32[1]" in str(error.value)
    testing.check_kernel(compiled("x", "n"), signature, ones)
