"""Signatures that are read from kernels, and the wrappers that are made with them."""

from __future__ import annotations

from typing import Any, Final

import pytest

from ffi_builder import signature_of, spec
from ffi_builder.errors import BuildError, SpecError
from tests.builder.samples import MATMUL_KERNEL, MATMUL_SYMBOLS
from tests.support.wrapping import new_module


def text_of(types: str, **options: Any) -> str:
    """The signature of a function of these types, as text."""
    module = new_module(f"func.func private @f{types}")
    return signature_of(module, "f", device_type="cpu", **options).canonical(device="cpu")


def error_of(types: str, **options: Any) -> str:
    with pytest.raises(BuildError) as raised:
        text_of(types, **options)
    return str(raised.value)


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
    module = new_module(f"func.func private @f({type_})")
    shown = module.body.operations[0].attributes["function_type"].value.inputs[0]
    assert message.startswith(BEGIN.format(str(shown)))
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
    module = new_module(MATMUL_KERNEL)
    names = [param.name for param in signature_of(module, "mm", device_type="cpu").params]
    assert names == ["arg0", "arg1", "arg2"]
    own = signature_of(
        module, "mm", names=["A", "B", "C"], symbols=MATMUL_SYMBOLS, device_type="cpu"
    )
    assert own == signature_of(MATMUL_KERNEL, "mm", symbols=MATMUL_SYMBOLS, device_type="cpu")


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
        + "the kernel's size 1 is 4, but shape[1] is m, which takes other sizes too; write 4, or '?' in the kernel's memref, or call it only if m == 4 with VariantsCallProvider": {
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
    wrong: Any = type("CompiledKernel", (), {"__module__": "triton.compiler.compiler"})()
    words = "got Triton's CompiledKernel: cuda.triton_signature reads what triton.compile returns$"
    with pytest.raises(BuildError, match=words):
        signature_of(wrong, "mm")
    wrong = 3
    with pytest.raises(BuildError, match=r"^expected an ir.Module"):
        signature_of(wrong, "mm")


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
