"""Signatures that are read from kernels, and the wrappers that are made with them."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ffi_builder import attach, record_memref_types, runtime, signature_of, spec
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.ir import dtypes_of
from ffi_builder.providers import DirectCallProvider, MemRefCallProvider
from tests.support.wrapping import new_module

LOWERING: Final = (
    "func.func(convert-linalg-to-loops),expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-to-llvm,reconcile-unrealized-casts"
)
MATMUL: Final = """
func.func @mm(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}
"""
SHAPES: Final = {"A": ["n", "k"], "B": ["k", "m"], "C": ["n", "m"]}


def text_of(types: str, **options: Any) -> str:
    """The signature of a function of these types, as text."""
    module = new_module(f"func.func private @f{types}")
    return signature_of(module, "f", device_type="cpu", **options).canonical(device="cpu")


def error_of(types: str, **options: Any) -> str:
    with pytest.raises(BuildError) as raised:
        text_of(types, **options)
    return str(raised.value)


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
    signature = signature_of(MATMUL, "mm", name="matmul", symbols=SHAPES, device_type="cpu")
    assert signature == spec.Signature.parse(
        "matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))",
        device="cpu",
    )
    matmul = compiled(MATMUL, signature, "mm")
    a, b = np.ones((3, 4), "float32"), np.ones((4, 5), "float32")
    c = np.zeros((3, 5), "float32")
    matmul(a, b, c)
    assert (c == a @ b).all()
    with pytest.raises(ValueError, match=r"expected 4 \(k = A.shape\[1\]\) but got 5"):
        matmul(a, np.ones((5, 5), "float32"), c)


TYPES: Final = {
    "()": "f()",
    "(memref<?x4xf32>, memref<f64>)": "f(arg0: Tensor([arg0_0, 4], float32), arg1: Tensor([], float64))",
    "(memref<?x?xf32, strided<[?, 1], offset: ?>>)": (
        "f(arg0: Tensor([arg0_0, arg0_1], float32, strides=[None, 1]))"
    ),
    "(memref<?x8xf32, strided<[8, 1]>>)": "f(arg0: Tensor([arg0_0, 8], float32, strides=[8, 1]))",
    "(memref<?x2xf32, strided<[?, ?]>>)": "f(arg0: Tensor([arg0_0, 2], float32, strides=any))",
    "(memref<f32, strided<[], offset: ?>>)": "f(arg0: Tensor([], float32))",
    "(memref<?xi8>, memref<?xui8>, memref<?xi1>)": (
        "f(arg0: Tensor([arg0_0], int8), arg1: Tensor([arg1_0], uint8), arg2: Tensor([arg2_0], bool))"
    ),
    "(memref<2xbf16>, memref<2xcomplex<f32>>, memref<2xindex>)": (
        "f(arg0: Tensor([2], bfloat16), arg1: Tensor([2], complex64), arg2: Tensor([2], int64))"
    ),
    "(memref<2xf8E4M3FN>, memref<2xvector<4xf32>>)": (
        "f(arg0: Tensor([2], float8_e4m3fn), arg1: Tensor([2], float32x4))"
    ),
    "(index, i1, i8, i16, i32, i64)": (
        "f(arg0: int64, arg1: bool, arg2: int8, arg3: int16, arg4: int32, arg5: int64)"
    ),
    "(si16, ui64, f16, bf16, f32, f64)": (
        "f(arg0: int16, arg1: uint64, arg2: float16, arg3: bfloat16, arg4: float32, arg5: float64)"
    ),
    "(!llvm.ptr, !llvm.ptr<3>)": "f(arg0: DataPointer, arg1: DataPointer(address_space=3))",
    "(index) -> f32": "f(arg0: int64) -> result: float32",
    "(index) -> (f32, i1, !llvm.ptr)": (
        "f(arg0: int64) -> (result0: float32, result1: bool, result2: handle)"
    ),
    "() -> memref<4xf32>": "f() -> result: Tensor([4], float32)",
}


@pytest.mark.parametrize("types", TYPES)
def test_each_type_is_a_parameter(types: str) -> None:
    text = TYPES[types]
    assert text_of(types) == text
    assert str(spec.Signature.parse(text, device="cpu").canonical(device="cpu")) == text


BEGIN: Final = "signature_of: argument #0 ('arg0') of @f is {}: "
NONE: Final = {
    "memref<*xf32>": "its rank is not known; give it one",
    "memref<2x?xf32, affine_map<(d0, d1) -> (d1, d0)>>": "its layout is not strided, or",
    'memref<2xf32, "shared">': "its layout is not strided, or its memory space is an attribute",
    "memref<2xf80>": "DLPack has no dtype for f80; take another element type",
    "memref<2xf32, strided<[1], offset: 3>>": "the kernel adds an offset of 3, but tensors are",
    "tensor<2xf32>": "a call passes memory; bufferize the module before, for example with",
    "vector<4xf32>": "a call passes no vectors; take a memref of vectors or of elements",
    "() -> ()": "a call passes no functions of MLIR; call a symbol instead",
    "!llvm.struct<(ptr, i64)>": "its lowering is not known here; write the signature by hand",
    "complex<f32>": "no scalar argument has this type; take another one, or a memref of it",
    "i7": "no scalar argument has this type; take another one, or a memref of it",
    "f80": "no scalar argument has this type; take another one, or a memref of it",
}


@pytest.mark.parametrize("type_", NONE)
def test_a_type_that_no_parameter_has(type_: str) -> None:
    message = error_of(f"({type_})")
    shown = new_module(f"func.func private @f({type_})").body.operations[0].attributes
    assert message.startswith(BEGIN.format(str(shown["function_type"].value.inputs[0])))
    assert NONE[type_] in message


def test_names_of_locations_attributes_and_text() -> None:
    text = """
    func.func @f(%0: memref<?xf32> loc("x"), %1: memref<?xf32> loc("args[1].y"("k.py":3:4)),
                 %2: index {ml_program.identifier = "serving_n:0"}, // α
                 %own: f32, %4: f32, %last: f32) { return }
    """
    assert str(signature_of(text, "f", device_type="cpu").params) == str(
        spec.Signature.parse(
            "f(x: Tensor([x_0], float32), args_1_y: Tensor([args_1_y_0], float32), "
            "serving_n_0: int64, own: float32, arg4: float32, last: float32)",
            device="cpu",
        ).params
    )


def test_places_in_other_files_are_not_looked_up_in_the_text() -> None:
    text = 'func.func @f(%x: f32, %y: f32 loc("k.py":1:14)) { return }'
    params = signature_of(text, "f").params
    assert [param.name for param in params] == ["x", "arg1"]


def test_the_text_says_nothing_of_a_module() -> None:
    module = new_module(MATMUL)
    names = [param.name for param in signature_of(module, "mm", device_type="cpu").params]
    assert names == ["arg0", "arg1", "arg2"]
    own = signature_of(module, "mm", names=["A", "B", "C"], symbols=SHAPES, device_type="cpu")
    assert own == signature_of(MATMUL, "mm", symbols=SHAPES, device_type="cpu")


def test_names_that_are_given_twice_or_taken() -> None:
    twice = 'memref<?xf32> loc("x")'
    text = f"func.func private @f(%0: {twice}, %1: {twice}) {{ return }}".replace("private ", "")
    signature = signature_of(text, "f", device_type="cpu")
    assert [param.name for param in signature.params] == ["arg0", "arg1"]
    text = 'func.func @f(%0: f32, %1: f32 loc("arg0"), %2: memref<?xf32> loc("x"), %3: index loc("x_0")) { return }'
    signature = signature_of(text, "f", device_type="cpu")
    assert signature.canonical(device="cpu") == (
        "f(arg0_: float32, arg0: float32, x: Tensor([x_0_], float32), x_0: int64)"
    )


def test_a_size_that_is_an_argument_has_its_type() -> None:
    symbols = {"x": ["n", None]}
    text = "func.func @f(%x: memref<?x?xf32>, %n: i32) { return }"
    signature = signature_of(text, "f", symbols=symbols, device_type="cpu")
    assert signature.canonical(device="cpu") == "f(x: Tensor([n, x_1], float32), n: int32)"


def test_sizes_that_are_vars_expressions_and_ints() -> None:
    n = spec.Var("n", "int64", divisibility=4)
    text = text_of(
        "(memref<?x?xf32>, memref<?x4xf32>)", symbols={"arg0": [n, 8], "arg1": [n * 2 + 1, 4]}
    )
    assert text == (
        "f(arg0: Tensor([n, 8], float32), arg1: Tensor([n * 2 + 1, 4], float32)) where n % 4 == 0"
    )


def test_an_assumed_alignment_is_checked() -> None:
    text = """
    func.func @f(%x: memref<?xf32>, %y: memref<?xf32>) {
      %0 = memref.assume_alignment %x, 16 : memref<?xf32>
      %1 = memref.assume_alignment %x, 64 : memref<?xf32>
      return
    }
    """
    x, y = signature_of(text, "f", device_type="cpu").params
    assert isinstance(x, spec.Tensor)
    assert isinstance(y, spec.Tensor)
    assert (x.data_alignment, y.data_alignment) == (64, None)


def test_wrong_options() -> None:
    types = "(memref<?x4xf32>, index)"
    for message, options in {
        "signature_of: symbols: @f has no 'arg2'; it has arg0, arg1, did you mean 'arg1'?": {
            "symbols": {"arg2": ["n"]}
        },
        BEGIN.format("memref<?x4xf32>") + "symbols={'arg0': ['n']} must be a list of 2 entries": {
            "symbols": {"arg0": ["n"]}
        },
        BEGIN.format("memref<?x4xf32>") + "symbols={'arg0': 'nm'} must be a list of 2 entries": {
            "symbols": {"arg0": "nm"}
        },
        BEGIN.format("memref<?x4xf32>")
        + "the kernel's size 1 is 4, but shape[1] is m, which takes other sizes too; write 4, or '?' in the kernel's memref": {
            "symbols": {"arg0": ["n", "m"]}
        },
        "signature_of: argument #1 ('arg1') of @f is index: symbols= has sizes for it, but only a "
        "memref has sizes": {"symbols": {"arg1": ["n"]}},
        "signature_of: names: @f has 2 arguments, but 1 names are given": {"names": ["x"]},
    }.items():
        assert error_of(types, **options) == message
    with pytest.raises(SpecError, match="'x'"):
        text_of(types, names=["x", "x"])
    with pytest.raises(SpecError, match="no device_type given and no default"):
        signature_of(new_module("func.func private @f(memref<f32>)"), "f")
    with spec.DefaultConfig(device_type="cuda"):
        (x,) = signature_of(new_module("func.func private @f(memref<f32>)"), "f").params
    assert isinstance(x, spec.Tensor)
    assert x.device == "cuda"


def test_wrong_modules() -> None:
    module = new_module("func.func private @matmul() llvm.mlir.global @data() : i32")
    with pytest.raises(
        BuildError,
        match=r"^the module has no function 'matmull'; it has matmul, did you mean 'matmul'\?$",
    ):
        signature_of(module, "matmull")
    with pytest.raises(
        BuildError, match=r"^@data is llvm.mlir.global.*; expected a func.func or an llvm.func$"
    ):
        signature_of(module, "data")
    with pytest.raises(
        BuildError, match=r"^the text is not an MLIR module: (?s:.*)custom op 'nothing'"
    ):
        signature_of("nothing", "mm")
    wrong: Any = 3
    with pytest.raises(BuildError, match=r"^expected an ir.Module"):
        signature_of(wrong, "mm")


def test_after_lowering_the_types_are_those_recorded() -> None:
    text = MATMUL.replace("%A: memref<?x?xf32>", '%A: memref<?x?xf32> loc("A")')
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
    signature = signature_of(MATMUL, "mm", symbols=SHAPES, device_type="cpu")
    for change, words in (
        ({"dtype": "float64"}, "the kernel's elements are f32, not float64"),
        ({"shape": ["n"]}, None),
        ({"shape": [spec.Var("n", "int64")]}, "the kernel's rank is 2"),
        ({"strides": "F"}, "a memref without a layout is row-major"),
    ):
        expected = SpecError if words is None else BuildError
        with pytest.raises(expected, match=words or "shape"):
            attach(lowered(MATMUL), signature.with_params(C=change), MemRefCallProvider("mm"))


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


def test_a_result_in_another_layout_is_refused() -> None:
    message = error_of("() -> memref<4xf32, strided<[?]>>")
    assert message == (
        "signature_of: result #0 of @f is memref<4xf32, strided<[?]>>: a result is allocated "
        "row-major; let it have no layout, for example with "
        "function-boundary-type-conversion=identity-layout-map"
    )
    assert text_of(
        "(memref<?xf32>) -> memref<?xf32>", symbols={"arg0": ["n"], "result": ["n"]}
    ) == ("f(arg0: Tensor([n], float32)) -> result: Tensor([n], float32)")


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


@settings(max_examples=40, deadline=None)
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
