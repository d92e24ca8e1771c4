"""Signatures of kernels that passes have lowered, and wrappers that are attached with them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffi_builder import attach, record_memref_types, runtime, signature_of, spec
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.ir.kernel import dtypes_of
from ffi_builder.providers import DirectCallProvider, MemRefCallProvider
from tests.builder.samples import MATMUL_KERNEL, MATMUL_SYMBOLS
from tests.support.drawn import drawn
from tests.support.wrapping import new_module

LOWERING: Final = (
    "func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-to-llvm,reconcile-unrealized-casts"
)


def compiled(text: str, signature: spec.Signature, kernel: str, before: str = "") -> Any:
    """Compile a kernel, with a wrapper of this signature for its memrefs."""
    return runtime.compile(
        text,
        pipeline=f"builtin.module({before}{LOWERING})",
        post_compile_hooks=[lambda m: attach(m, signature, MemRefCallProvider(kernel))],
    )[signature.name]


def lowered(text: str) -> Any:
    module = new_module(text)
    record_memref_types(module)
    passes: Any = import_module("torch_mlir.passmanager").PassManager
    passes.parse(f"builtin.module({LOWERING})", module.context).run(module.operation)
    return module


def test_a_matmul_of_the_types_and_symbols_that_the_kernel_has() -> None:
    signature = signature_of(
        MATMUL_KERNEL, "mm", name="matmul", symbols=MATMUL_SYMBOLS, device_type="cpu"
    )
    assert signature == spec.Signature.parse(
        "matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))",
        device="cpu",
    )
    matmul = compiled(MATMUL_KERNEL, signature, "mm")
    a, b = np.ones((3, 4), "float32"), np.ones((4, 5), "float32")
    c = np.zeros((3, 5), "float32")
    matmul(a, b, c)
    assert (c == a @ b).all()
    with pytest.raises(ValueError, match=r"expected 4 \(k = A.shape\[1\]\) but got 5"):
        matmul(a, np.ones((5, 5), "float32"), c)


def test_after_lowering_the_types_are_those_recorded() -> None:
    text = MATMUL_KERNEL.replace("%A: memref<?x?xf32>", '%A: memref<?x?xf32> loc("A")')
    before = signature_of(new_module(text), "mm", device_type="cpu")
    module = lowered(text.replace(") {", ") attributes {llvm.emit_c_interface} {"))
    assert signature_of(module, "mm", device_type="cpu") == before
    c_interface = signature_of(module, "_mlir_ciface_mm", name="mm", device_type="cpu")
    assert [replaced.type_text() for replaced in c_interface.params] == [
        param.type_text().replace("A_", f"{c_interface.params[0].name}_") for param in before.params
    ]


def test_after_passes_that_changed_the_function() -> None:
    record = 'attributes {ffi_builder.memref_types = "(memref<?xf32>) -> ()"}'
    module = new_module(f"llvm.func @f(!llvm.ptr, i64) {record}")
    with pytest.raises(BuildError, match=r"^@f was \"\(memref<\?xf32>\) -> \(\)\" when its types"):
        signature_of(module, "f", device_type="cpu")


def test_a_kernel_of_the_llvm_dialect() -> None:
    text = """
    llvm.func @fill(%x: !llvm.ptr, %n: i64, %value: f32) {
      %at = llvm.getelementptr %x[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %value, %at : f32, !llvm.ptr
      llvm.return
    }
    """
    known = signature_of(text, "fill")
    assert str(known) == "fill(x: DataPointer, n: int64, value: float32)"
    x = spec.Tensor("x", [None], "float32", device_type="cpu")
    signature = known.with_params(x=x)
    fill = runtime.compile(
        text, post_compile_hooks=[lambda m: attach(m, signature, DirectCallProvider("fill"))]
    )["fill"]
    array = np.zeros(4, "float32")
    fill(array, 2, 5)
    assert array.tolist() == [0, 0, 5, 0]


def test_a_changed_signature_that_contradicts_the_kernel_is_refused() -> None:
    signature = signature_of(MATMUL_KERNEL, "mm", symbols=MATMUL_SYMBOLS, device_type="cpu")
    for change, words in (
        ({"dtype": "float64"}, "the kernel's elements are f32, not float64"),
        ({"shape": ["n"]}, None),
        ({"shape": [spec.Var("n", "int64")]}, "the kernel's rank is 2"),
        ({"strides": "F"}, "a memref without a layout is row-major"),
    ):
        expected = SpecError if words is None else BuildError
        with pytest.raises(expected, match=words or "shape"):
            attach(
                lowered(MATMUL_KERNEL), signature.with_params(C=change), MemRefCallProvider("mm")
            )


def test_a_strided_view_is_passed_with_its_strides() -> None:
    layout = "memref<?x?xf32, strided<[?, 1], offset: ?>>"
    text = f"""
    func.func @copy(%x: {layout}, %y: memref<?x?xf32>) {{
      linalg.copy ins(%x : {layout}) outs(%y : memref<?x?xf32>)
      return
    }}
    """
    symbols = {"x": ["n", "m"], "y": ["n", "m"]}
    copy = compiled(text, signature_of(text, "copy", symbols=symbols, device_type="cpu"), "copy")
    image = np.random.default_rng(0).random((4, 6), dtype=np.float32)
    y = np.zeros((2, 3), "float32")
    copy(image[1:3, 2:5], y)
    assert (y == image[1:3, 2:5]).all()


def test_a_returned_memref_is_allocated() -> None:
    text = """
    func.func @twice(%x: memref<?xf32>, %by: f32) -> memref<?xf32> {
      %zero = arith.constant 0 : index
      %n = memref.dim %x, %zero : memref<?xf32>
      %y = memref.alloc(%n) : memref<?xf32>
      linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                      iterator_types = ["parallel"]}
        ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) {
      ^bb0(%in: f32, %out: f32):
        %product = arith.mulf %in, %by : f32
        linalg.yield %product : f32
      }
      return %y : memref<?xf32>
    }
    """
    begin = "signature_of: result #0 of @twice is memref<?xf32>: it is allocated before the call; "
    with pytest.raises(BuildError) as raised:
        signature_of(text, "twice", device_type="cpu")
    assert str(raised.value) == begin + "say its sizes, symbols={'result': …}"
    static = text.replace("memref<?xf32> {", "memref<4xf32> {").replace(
        "return %y : memref<?xf32>",
        "%sized = memref.cast %y : memref<?xf32> to memref<4xf32>\nreturn %sized : memref<4xf32>",
    )
    signature = signature_of(static, "twice", device_type="cpu")
    assert str(signature.returns) == str(spec.Tensor("result", [4], "float32", device_type="cpu"))
    before = "buffer-results-to-out-params{modify-public-functions=1},"
    twice = compiled(static, signature, "twice", before)
    with runtime.install_allocator():
        y = twice(np.arange(4, dtype="float32"), 2)
    assert np.from_dlpack(y).tolist() == [0, 2, 4, 6]


ELEMENTS: Final = (
    *("i1", "i8", "i32", "si16", "ui8", "i64", "index", "f16", "bf16", "f32", "f64"),
    *("complex<f64>", "f8E5M2", "vector<2xf32>"),
)


SCALARS: Final = ("index", "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")


@st.composite
def memrefs(draw: st.DrawFn) -> tuple[str, list[int | None], str]:
    """A memref type, its sizes and its element type."""
    sizes = draw(st.lists(st.one_of(st.none(), st.integers(1, 9)), max_size=4))
    element = draw(st.sampled_from(ELEMENTS))
    text = "".join(f"{'?' if size is None else size}x" for size in sizes) + element
    if draw(st.booleans()):
        strides = draw(st.lists(st.sampled_from("?1248"), min_size=len(sizes), max_size=len(sizes)))
        offset = draw(st.sampled_from(["", ", offset: ?", ", offset: 0"]))
        text += f", strided<[{', '.join(strides)}]{offset}>"
    return f"memref<{text}>", sizes, element


@settings(max_examples=drawn(40), deadline=None)
@given(st.lists(st.one_of(memrefs(), st.sampled_from(SCALARS)), max_size=4))
def test_attaching_accepts_what_any_kernel_says(types: list[Any]) -> None:
    texts = [type_ if isinstance(type_, str) else type_[0] for type_ in types]
    module = lowered(f"func.func private @kernel({', '.join(texts)})")
    signature = signature_of(module, "kernel", device_type="cpu")
    for param, type_ in zip(signature.params, types, strict=True):
        if isinstance(type_, str):
            assert isinstance(param, spec.Var)
            assert (param.dtype,) == (dtypes_of(type_) or ())[:1]
            continue
        _, sizes, element = type_
        assert isinstance(param, spec.Tensor)
        assert (param.dtype,) == (dtypes_of(element) or ())[:1]
        assert [dim if isinstance(dim, int) else None for dim in param.dims] == sizes
    assert spec.Signature.parse(str(signature)) == signature
    attach(module, signature, MemRefCallProvider("kernel"))
