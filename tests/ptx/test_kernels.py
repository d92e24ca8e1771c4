"""Kernels of Triton, TileLang, NVRTC, LLVM and Numba, wrapped and launched as on a GPU.

The folder kernels has their PTX, and the scripts that made it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import ml_dtypes
import numpy
import pytest

from ffi_builder import Launch, cuda, spec, testing, wrap
from ffi_builder.providers.cuda import Scalar, TensorMap
from tests.fakecuda import missing

np: Any = numpy

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

FOLDER: Final = Path(__file__).parent / "kernels"
LAUNCHES: Final = json.loads((FOLDER / "triton.json").read_text())
MATMUL: Final = (
    "matmul(a: Tensor([m, k], {0}, intent=in), b: Tensor([k, n], {0}, intent=in), "
    "c: Tensor([m, n], float32, intent=out)) where m: int32, n: int32, k: int32"
)


def signature_of(text: str) -> spec.Signature:
    return spec.Signature.parse(text, device="cuda")


def triton(name: str, signature: str, grid: Any, args: Sequence[Any]) -> Any:
    metadata = SimpleNamespace(**LAUNCHES[name])
    compiled = SimpleNamespace(asm={"ptx": (FOLDER / f"{name}.ptx").read_text()}, metadata=metadata)
    parsed = signature_of(signature)
    return wrap(compiled, parsed, launch=Launch(grid=grid), args=list(args))[parsed.name]


def nvrtc(
    name: str, signature: str, args: Sequence[Any], grid: Any = 1, block: int = 64, **how: Any
) -> Any:
    launch = Launch(grid=grid, block=block, **how)
    source = (FOLDER / "kernels.ptx").read_text()
    parsed = signature_of(f"{name}({signature}")
    return wrap(source, parsed, launch=launch, args=list(args))[name]


def drawn(*shape: int, dtype: Any = "float32") -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def near(found: Any, expected: Any, tolerance: float = 1e-4) -> None:
    values = np.asarray(found.numpy()).astype("float64")
    assert np.allclose(values, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("sizes", [(33, 65, 70), (32, 32, 32), (1, 1, 1)])
def test_a_product_of_tensor_cores(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    grid = ("ceildiv(m, 32)", "ceildiv(n, 32)")
    matmul = triton("matmul_80", MATMUL.format("float16"), grid, ["a", "b", "c", "m", "n", "k"])
    a, b = drawn(m, k, dtype="float16"), drawn(k, n, dtype="float16")
    with testing.FakeCuda("sm_80", execute=True) as gpu:
        c = gpu.array(np.zeros((m, n), "float32"))
        matmul(gpu.array(a), gpu.array(b), c)
        near(c, a.astype("float32") @ b.astype("float32"), 1e-2)


def test_a_product_of_warp_groups() -> None:
    grid = ("ceildiv(m, 64)", "ceildiv(n, 64)")
    matmul = triton("matmul_90", MATMUL.format("bfloat16"), grid, ["a", "b", "c", "m", "n", "k"])
    a, b = (drawn(*shape, dtype=ml_dtypes.bfloat16) for shape in ((70, 40), (40, 64)))
    with testing.FakeCuda("sm_90", execute=True) as gpu:
        c = gpu.array(np.zeros((70, 64), "float32"))
        matmul(gpu.array(a), gpu.array(b), c)
        near(c, a.astype("float32") @ b.astype("float32"), 1e-2)


def test_a_product_by_tensor_descriptors() -> None:
    matmul = triton(
        "by_descriptors_90",
        "matmul(a: Tensor([m, k], float16, data_alignment=16), "
        "b: Tensor([k, n], float16, data_alignment=16), "
        "c: Tensor([m, n], float16, data_alignment=16)) "
        "where m: int32, n: int32, k: int32",
        ("ceildiv(m, 64)", "ceildiv(n, 64)"),
        [
            *(TensorMap("a", box=(64, 64), swizzle="128B"), "m", "k", Scalar("k", "int64"), 1),
            *(TensorMap("b", box=(64, 64), swizzle="128B"), "k", "n", Scalar("n", "int64"), 1),
            *(TensorMap("c", box=(64, 64), swizzle="128B"), "m", "n", Scalar("n", "int64"), 1),
            "k",
        ],
    )
    a, b = drawn(72, 80, dtype="float16"), drawn(80, 64, dtype="float16")
    with testing.FakeCuda("sm_90", execute=True) as gpu:
        c = gpu.array(np.zeros((72, 64), "float16"))
        matmul(gpu.array(a), gpu.array(b), c)
        near(c, a.astype("float32") @ b.astype("float32"), 2e-2)


@pytest.mark.parametrize("n", [1, 700, 1024])
def test_a_softmax(n: int) -> None:
    softmax = triton(
        "softmax_90",
        "softmax(o: Tensor([r, n], float32), x: Tensor([r, n], float32)) where r: int32, n: int32",
        "r",
        ["o", "x", "n"],
    )
    x = drawn(3, n)
    powers = np.exp(x - x.max(1, keepdims=True))
    with testing.FakeCuda(execute=True) as gpu:
        o = gpu.array(np.zeros_like(x))
        softmax(o, gpu.array(x))
        near(o, powers / powers.sum(1, keepdims=True), 1e-6)


def test_a_layernorm() -> None:
    layernorm = triton(
        "layernorm_80",
        "layernorm(x: Tensor([r, n], float16), w: Tensor([n], float32), "
        "o: Tensor([r, n], float32), eps: float32) where r: int32, n: int32",
        "r",
        ["x", "w", "o", "n", "eps"],
    )
    x, w = drawn(4, 400, dtype="float16"), drawn(400)
    wide = x.astype("float64")
    scale = np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    with testing.FakeCuda("sm_80", execute=True) as gpu:
        o = gpu.array(np.zeros((4, 400), "float32"))
        layernorm(gpu.array(x), gpu.array(w), o, 1e-5)
        near(o, (wide - wide.mean(1, keepdims=True)) / scale * w, 1e-3)


def test_a_sort_and_bfloat16() -> None:
    sort = triton("sort_100", "sort(x: Tensor([256], int32), o: Tensor([256], int32))", 1, "xo")
    sigmoid = triton(
        "sigmoid_100",
        "sigmoid(x: Tensor([n], bfloat16), o: Tensor([n], bfloat16)) where n: int32",
        "ceildiv(n, 512)",
        "xon",
    )
    numbers = np.random.default_rng(0).integers(-1000, 1000, 256).astype("int32")
    x = drawn(1000, dtype=ml_dtypes.bfloat16)
    with testing.FakeCuda("sm_100", execute=True) as gpu:
        o = gpu.array(np.zeros(256, "int32"))
        sort(gpu.array(numbers), o)
        assert (o.numpy() == np.sort(numbers)).all()
        p = gpu.array(np.zeros(1000, ml_dtypes.bfloat16))
        sigmoid(gpu.array(x), p)
        near(p, 1 / (1 + np.exp(-x.astype("float64"))), 1e-2)


def test_random_numbers_of_philox() -> None:
    philox = triton("philox_90", "philox(o: Tensor([256], float32), seed: int32)", 1, ["o", "seed"])
    with testing.FakeCuda(execute=True) as gpu:
        o = gpu.array(np.zeros(256, "float32"))
        philox(o, 7)
        found = o.numpy()
    assert 0 <= found.min() < found.max() < 1
    assert abs(found.mean() - 0.5) < 0.1
    assert len(set(found.tolist())) > 200


def test_an_attention() -> None:
    tensors = ", ".join(f"{name}: Tensor([n, 32], float16)" for name in "qkv")
    signature = f"attention({tensors}, o: Tensor([n, 32], float32)) where n: int32"
    attention = triton("attention_100", signature, "n // 32", "qkvon")
    q, k, v = (drawn(96, 32, dtype="float16") + index for index in (0, 0.1, 0.2))
    products = q.astype("float32") @ k.astype("float32").T
    powers = np.exp(products - products.max(1, keepdims=True))
    with testing.FakeCuda("sm_100", execute=True) as gpu:
        o = gpu.array(np.zeros((96, 32), "float32"))
        attention(*map(gpu.array, (q, k, v)), o)
        near(o, powers / powers.sum(1, keepdims=True) @ v.astype("float32"), 2e-2)


def test_a_lock_is_taken_by_one_block_after_the_other() -> None:
    locked = triton("locked_90", "f(l: Tensor([1], int32), o: Tensor([1], int32))", 5, "lo")
    with testing.FakeCuda(execute=True) as gpu:
        lock, o = (gpu.array(np.zeros(1, "int32")) for _ in "lo")
        locked(lock, o)
        assert o.numpy() == [5]


@pytest.mark.parametrize("sm", [80, 90])
def test_tilelang_multiplies_by_asynchronous_copies(sm: int) -> None:
    """By cp.async and mma, and by tensor maps, mbarriers and wgmma in warps with other work."""
    names = ("a", "b", "c")
    tensors = ", ".join(
        f"{name}: Tensor([64, 64], {dtype}, data_alignment=16)"
        for name, dtype in zip(names, ("float16", "float16", "float32"), strict=True)
    )
    maps = [TensorMap(name, box=(32, 32), swizzle="64B") for name in "ab"]
    launch = Launch(grid=(2, 2), block=128 if sm == 80 else 256, dynamic_smem_bytes=8192)
    gemm = wrap(
        (FOLDER / f"gemm_{sm}.ptx").read_text(),
        signature_of(f"gemm({tensors})"),
        function="gemm_kernel",
        launch=launch,
        args=[*(names[:2] if sm == 80 else maps), "c"],
    )["gemm"]
    a, b = drawn(64, 64, dtype="float16"), drawn(64, 64, dtype="float16") + 1
    with testing.FakeCuda(f"sm_{sm}", execute=True) as gpu:
        c = gpu.array(np.zeros((64, 64), "float32"))
        gemm(gpu.array(a), gpu.array(b), c)
        near(c, a.astype("float32") @ b.astype("float32"), 1e-2)


LLVM_IR: Final = """
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
define ptx_kernel void @saxpy(float %a, ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = mul i32 %block, 64
  %i = add i32 %first, %thread
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %add, label %end
add:
  %from = getelementptr float, ptr addrspace(1) %x, i32 %i
  %to = getelementptr float, ptr addrspace(1) %y, i32 %i
  %one = load float, ptr addrspace(1) %from
  %other = load float, ptr addrspace(1) %to
  %product = fmul float %one, %a
  %sum = fadd float %product, %other
  store float %sum, ptr addrspace(1) %to
  br label %end
end:
  ret void
}
"""


def test_what_llvm_compiles() -> None:
    source = cuda.lower_to_ptx(LLVM_IR, arch="sm_80")
    parsed = signature_of(
        "saxpy(a: float32, x: Tensor([n], float32, intent=in), "
        "y: Tensor([n], float32, intent=inout)) where n: int32"
    )
    launch = Launch(grid="ceildiv(n, 64)", block=64)
    saxpy = wrap(source, parsed, launch=launch, args=["a", "x", "y", "n"])["saxpy"]

    def reference(a: Any, x: Any, y: Any) -> Any:
        return a * x + y

    with testing.FakeCuda("sm_80", execute=True):
        testing.check_kernel(saxpy, parsed, reference)


def test_what_numba_compiles() -> None:
    """An array has seven parameters: two objects, its sizes, its address, its shape and strides."""
    args = [each for x, n in ("xn", "om") for each in (None, None, n, 4, x, n, 4)]
    signature = "reduce(x: Tensor([n], float32), o: Tensor([m], float32)) where n: int64, m: int64"
    source = (FOLDER / "numba_90.ptx").read_text()
    launch = Launch(grid=1, block=64)
    reduce = wrap(source, signature_of(signature), launch=launch, args=args)["reduce"]
    x = drawn(50)
    with testing.FakeCuda(execute=True) as gpu:
        o = gpu.array(np.zeros(1, "float32"))
        reduce(gpu.array(x), o)
        near(o, [x.sum()])


SUM: Final = (
    "x: Tensor([n], float32, intent=in), o: Tensor([1], float32, intent=inout)) where n: int32"
)


def test_what_nvrtc_compiles() -> None:
    x = drawn(64)
    with testing.FakeCuda(execute=True) as gpu:
        o = gpu.array(np.zeros(1, "float32"))
        nvrtc("sum", SUM, "xon", dynamic_smem_bytes=256)(gpu.array(x), o)
        near(o, [x.sum()])
        p = gpu.array(np.zeros(64, "float32"))
        tensors = "x: Tensor([64], float32), o: Tensor([64], float32))"
        nvrtc("reverse", tensors, "xo")(gpu.array(x), p)
        near(p, x[::-1])
        q = gpu.array(x)
        nvrtc("calls", "o: Tensor([64], float32), n: int32)", "on")(q, 3)
        near(q, x * (np.arange(64) + 3))
        r = gpu.array(np.zeros(9, "int32"))
        meet = "o: Tensor([9], int32))"
        nvrtc("meet", meet, "o", 8, 32, attributes=["cooperative"])(r)
        assert (r.numpy() == 256).all()
        s = gpu.array(np.zeros(4, "int32"))
        nvrtc("exchange", "o: Tensor([4], int32))", "o", 4, 1)(s)
        assert s.numpy().tolist() == [11, 1, 31, 21]


def test_variables_have_their_values() -> None:
    globals_ = nvrtc("globals", "o: Tensor([1], float32))", "o", block=1)
    with testing.FakeCuda(execute=True) as gpu:
        o = gpu.array(np.zeros(1, "float32"))
        globals_(o)
        assert o.numpy() == [8]
        globals_(o)
        assert o.numpy() == [9]


def test_a_missing_barrier_is_found() -> None:
    tensors = "x: Tensor([64], float32, intent=in), o: Tensor([64], float32, intent=out))"
    wrong = nvrtc("without_a_barrier", tensors, "xo")
    parsed = signature_of(f"without_a_barrier({tensors}")

    def reverse(x: Any) -> Any:
        return x[::-1]

    words = "shared memory, which nobody wrote"
    with testing.FakeCuda(execute=True), pytest.raises(testing.KernelError, match=words):
        testing.check_kernel(wrong, parsed, reverse)


def test_a_failed_assert_has_file_and_line() -> None:
    asserts = nvrtc("asserts", "n: int32)", "n")
    words = r"kernels.cu:45: void asserts\(int\): assertion `n > 3` failed.*CUDA_ERROR_ASSERT"
    with testing.FakeCuda(execute=True) as gpu:
        asserts(4)
        o = gpu.array(np.zeros(1))
        asserts(3)
        with pytest.raises(RuntimeError, match=words):
            o.numpy()


WRONG: Final[dict[str, tuple[Sequence[str], str]]] = {
    "swapped": ("oxn", "which is no global memory"),
    "one too many": (["x", "o", "n + 1"], "read of 4 bytes at .*, which is no global memory"),
    "one too few": (["x", "o", "max(n - 1, 0)"], r"for o\[0\]"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_are_found(name: str) -> None:
    args, words = WRONG[name]
    parsed = signature_of(f"sum({SUM}")
    wrong, right = (nvrtc("sum", SUM, each, dynamic_smem_bytes=256) for each in (args, "xon"))

    def total(x: Any, o: Any) -> Any:
        return o + x.sum()

    with testing.FakeCuda(execute=True):
        testing.check_kernel(right, parsed, total, rtol=1e-3, atol=1e-3)
        with pytest.raises(testing.KernelError, match=words):
            testing.check_kernel(wrong, parsed, total, rtol=1e-3, atol=1e-3)
