"""A kernel of CuTe DSL that loads tiles by TMA, launched by wrap: `make test-cute`."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
# No future annotations: CuTe DSL reads those of functions as they stand.
import struct
from pathlib import Path

import numpy as np
import pytest

from ffi_builder import Launch, cuda, spec, testing, wrap
from ffi_builder.providers.cuda import Nested, Struct, TensorMap
from tests.fakecuda import missing

pytest.importorskip("cutlass", reason="needs nvidia-cutlass-dsl: `make test-cute`")

import cutlass
from cutlass import cute
from cutlass.cute import runtime as fakes
from cutlass.cute.nvgpu import cpasync

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

TILE = (64, 32)
# The barrier, and the tile at the next multiple of 128.
LAUNCH = Launch(grid="m // 64", block=64, dynamic_smem_bytes=128 + 2 * TILE[0] * TILE[1])
SIGNATURE = spec.Signature.parse(
    "f(x: Tensor([m, k], float16, intent=in), y: Tensor([n], float16, intent=out)) "
    "where m: int32, k: int32, n: int32, m % 64 == 0, k % 32 == 0",
    device="cuda",
)


@cute.kernel
def load(atom: cute.CopyAtom, coordinates: cute.Tensor, y: cute.Tensor):
    """Copy the first column of each tile to y."""
    memory = cutlass.memory.SmemAllocator()
    barrier = memory.allocate_array(cutlass.Int64, 1)
    tile = memory.allocate_tensor(cutlass.Float16, cute.make_layout(TILE, stride=(32, 1)), 128)
    thread, block = cute.arch.thread_idx()[0], cute.arch.block_idx()[0]
    if thread == 0:
        cute.arch.mbarrier_init(barrier, 1)
    cute.arch.sync_threads()
    part = cute.local_tile(coordinates, TILE, (block, 0))
    to, source = cpasync.tma_partition(
        atom, 0, cute.make_layout(1), cute.group_modes(tile, 0, 2), cute.group_modes(part, 0, 2)
    )
    if thread == 0:
        cute.arch.mbarrier_arrive_and_expect_tx(barrier, 2 * TILE[0] * TILE[1])
    if thread < 32:  # the whole warp, which elects one thread for it
        cute.copy(atom, source, to, tma_bar_ptr=barrier)
    cute.arch.mbarrier_wait(barrier, 0)
    y[64 * block + thread] = tile[thread, 0]


@cute.jit
def host(x: cute.Tensor, y: cute.Tensor, stream):
    layout = cute.make_layout(TILE, stride=(32, 1))
    load_tile = cpasync.CopyBulkTensorTileG2SOp()
    atom, coordinates = cpasync.make_tiled_tma_atom(load_tile, x, layout, TILE)
    blocks = x.shape[0] // TILE[0]
    load(atom, coordinates, y).launch(grid=(blocks, 1, 1), block=(64, 1, 1), stream=stream)


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("images")
    m, k = cute.sym_int(divisibility=64), cute.sym_int(divisibility=32)
    half = cutlass.Float16
    x = fakes.make_fake_compact_tensor(half, (m, k), stride_order=(1, 0), assumed_align=16)
    y = fakes.make_fake_compact_tensor(half, (cute.sym_int(),), assumed_align=16)
    stream = fakes.make_fake_stream(use_tvm_ffi_env_stream=True)
    kept = f"--gpu-arch sm_90a --keep-cubin --keep-ptx --dump-dir {folder}"
    cute.compile(host, x, y, stream, options=f"--enable-tvm-ffi {kept}")
    return sorted(folder.iterdir())


def test_a_map_then_the_sizes_then_a_nested_tensor(images: list[Path]):
    assert [each.suffix for each in images] == [".cubin", ".ptx"]
    for image in images:
        (kernel,) = cuda.kernels(image.read_bytes()).kernels
        args = [TensorMap("x", box=TILE), Struct("m", "k"), Nested("y")]
        compiled = wrap(image, SIGNATURE, function=kernel, launch=LAUNCH, args=args)
        with testing.FakeCuda("sm_90a") as gpu:
            x = gpu.array(np.zeros((128, 96), "float16"))
            y = gpu.array(np.zeros(128, "float16"))
            compiled["f"](x, y)
            [launched] = gpu.launches
            encoded, sizes, nested = launched.arguments
            # The fake's maps: address, rank, type, sizes, strides, box, with the innermost first.
            facts = struct.unpack_from("<3Q5Q5I", encoded, 8)
            assert facts[:5] == (x.address, 2, 6, 96, 128)
            assert facts[8:10] == (32, 64)
            assert sizes == struct.pack("<2i", 128, 96)
            assert nested[:12] == struct.pack("<Qi", y.address, 128)
            assert (launched.grid, gpu.violations) == ((2, 1, 1), [])


def test_the_kernel_loads_what_the_map_says(images: list[Path]):
    _, ptx = images
    (kernel,) = cuda.kernels(ptx.read_bytes()).kernels
    args = [TensorMap("x", box=TILE), Struct("m", "k"), Nested("y")]
    compiled = wrap(ptx, SIGNATURE, function=kernel, launch=LAUNCH, args=args)
    given = np.random.default_rng(0).standard_normal((128, 96)).astype("float16")
    with testing.FakeCuda("sm_90a", execute=True) as gpu:
        y = gpu.array(np.zeros(128, "float16"))
        compiled["f"](gpu.array(given), y)
        np.testing.assert_array_equal(y.numpy(), given[:, 0])
