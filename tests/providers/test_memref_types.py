"""Tensors are compared with the memrefs that a kernel had before it was lowered."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach, attach_ffi_func, spec, wrap
from ffi_builder.errors import BuildError
from ffi_builder.ir.kernel import dtypes_of
from ffi_builder.providers import CheckStatus, MemRefCallProvider
from ffi_builder.spec import Tensor, Var, dims
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.expr import Relation
from tests.differential.description import DLTensor, tensor
from tests.providers.memrefs import check, cpu, lowered
from tests.support.wrapping import RawWrapper

n, m, k, s, t = dims("n m k s t")
ONE: Final = Var("one", "int64", min=1, max=1)
FOUR: Final = Var("four", "int64", min=4, max=4)


ACCEPTED: Final[dict[str, list[Tensor]]] = {
    "memref<f32>": [cpu([]), cpu([], strides=[]), cpu([], strides="F"), cpu([], strides="any")],
    "memref<?xf32>": [
        cpu([n]),
        cpu([4]),
        cpu([None]),
        cpu([n * 2 + 1]),
        cpu([n], strides="C"),
        cpu([n], strides="F"),
        cpu([n], strides=[1]),
        cpu([1], strides=[s]),
        cpu([ONE], strides="any"),
        cpu([0], strides=[s]),
        cpu([n], device_id=0, data_alignment=64, intent="out"),
        Tensor("x", [n], "float32", device_type="cuda"),
        Tensor("x", [n], "float32", device_type="any"),
    ],
    "memref<4xf32>": [cpu([4]), cpu([FOUR])],
    "memref<?x?xf32>": [
        cpu([n, m]),
        cpu([n, None]),
        cpu([n, m], strides=[m, 1]),
        cpu([n, 4], strides=[4, 1]),
        cpu([n, m * 2], strides=[m * 2, 1]),
        cpu([n, m * 2], strides=[2 * m, 1]),
        cpu([1, m], strides=[None, 1]),
        cpu([n, 1], strides="F"),
        cpu([n, 1], strides=[1, s]),
    ],
    "memref<?x?x?xf32>": [
        cpu([n, m, k], strides=[m * k, k, 1]),
        cpu([n, m, k], strides=[k * m, k, 1]),
        cpu([n, 2, k * 3], strides=[k * 6, 3 * k, 1]),
    ],
    "memref<?x4xf32>": [cpu([n, 4]), cpu([3, FOUR]), cpu([n, FOUR * 1])],
    "memref<?xf32, strided<[?]>>": [cpu([n]), cpu([n], strides=[s]), cpu([n], strides="any")],
    "memref<?xf32, strided<[?], offset: ?>>": [cpu([n]), cpu([n], strides=[None])],
    "memref<?x?xf32, strided<[?, 1]>>": [cpu([n, m]), cpu([n, m], strides=[s, 1]), cpu([n, m], strides=[m * 2, 1]), cpu([n, ONE], strides="any")],
    "memref<?x?xf32, strided<[1, ?]>>": [cpu([n, m], strides="F"), cpu([n, m], strides=[1, s])],
    "memref<?x?xf32, strided<[8, 1]>>": [cpu([n, 8]), cpu([n, m], strides=[8, 1]), cpu([1, m]), cpu([n, 2 * FOUR])],
    "memref<3x4xf32, strided<[4, 1]>>": [cpu([3, 4])],
    "memref<?x?xf32, affine_map<(d0, d1)[s0] -> (d0 * s0 + d1)>>": [cpu([n, m], strides=[s, 1])],
    "memref<?xi1>": [cpu([n], "bool")],
    "memref<?xi8>": [
        *(cpu([n], dtype) for dtype in ("int8", "uint8", "bool")),
        cpu([n], ("int8", "uint8")),
        cpu([n], "uint8", storage_dtype="float8_e4m3fn"),
        cpu([n], "float8_e4m3fn", storage_dtype="uint8"),
    ],
    "memref<?xsi8>": [cpu([n], "int8")],
    "memref<?xui8>": [cpu([n], "uint8")],
    "memref<?xi32>": [cpu([n], "int32"), cpu([n], "uint32"), cpu([n], ["int32", "uint32"])],
    "memref<?xindex>": [cpu([n], "int64")],
    "memref<?xf16>": [cpu([n], "float16")],
    "memref<?xbf16>": [cpu([n], "bfloat16")],
    "memref<?xf8E4M3FN>": [cpu([n], "float8_e4m3fn")],
    "memref<?xcomplex<f32>>": [cpu([n], "complex64")],
    "memref<?xvector<4xf32>>": [cpu([n], "float32x4")],
    # LLVM packs the elements of a vector, and has whole bytes for each vector.
    "memref<?xvector<2xi4>>": [cpu([n], "int4x2"), cpu([n], "uint4x2")],
    "memref<?xvector<4xi4>>": [cpu([n], "int4x4")],
    "memref<?xvector<4xi2>>": [cpu([n], "int2x4")],
    "memref<?xvector<2xf4E2M1FN>>": [cpu([n], "float4_e2m1fnx2")],
    # Types other than numbers have no dtype to compare with.
    "memref<?xmemref<f32>>": [cpu([n], "int64")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("memref", "tensor"), [(memref, tensor) for memref in ACCEPTED for tensor in ACCEPTED[memref]]
)
def test_accepted(memref: str, tensor: Tensor) -> None:
    assert check(memref, tensor) is None
    assert check(memref, tensor, c_interface=True) is None


PACKED: Final[list[tuple[str, Tensor, str]]] = [
    ("memref<?xi1>", cpu([n], "int1"), "each i1, but the tensor packs int1: n of them take n * 1 / 8 bytes; write dtype='bool', which"),
    ("memref<?xi1>", cpu([n], ("bool", "uint1")), "each i1, but the tensor packs uint1: n of them"),
    *(
        (f"memref<?x{element}>", cpu([n], dtype), f"each {element}, but the tensor packs {dtype}: n of them take n * {bits} / 8 bytes; let the kernel unpack a memref<?xi8>, and write dtype='uint8' and the number of bytes")
        for element, dtype, bits in [
            ("i2", "int2", 2),
            ("i2", "uint2", 2),
            ("i4", "int4", 4),
            ("i4", "uint4", 4),
            ("f4E2M1FN", "float4_e2m1fn", 4),
            ("f6E2M3FN", "float6_e2m3fn", 6),
            ("f6E3M2FN", "float6_e3m2fn", 6),
            ("vector<2xi2>", "int2x2", 4),
            ("vector<1xi4>", "int4", 4),
            ("vector<4xf6E2M3FN>", "float6_e2m3fnx4", 24),
        ]
    ),
    *(
        ("memref<?xf4E2M1FN>", cpu([n], "float4_e2m1fn", storage_dtype=stored), f"each f4E2M1FN, but each {stored} of the tensor packs 2; let the kernel unpack a memref<?xi8>")
        for stored in ("float4_e2m1fnx2", "uint8", "int8")
    ),
    ("memref<?xi4>", cpu([n], "float4_e2m1fn", storage_dtype="int4"), "each i4, but the tensor packs int4"),
    ("memref<?xi4>", cpu([n], "int8"), "each i4, as no dtype has, and not int8; let the kernel unpack"),
    ("memref<?xi4>", cpu([n], ("int4", "int8")), "each i4, but the tensor packs int4"),
]  # fmt: skip


@pytest.mark.parametrize(("memref", "tensor", "words"), PACKED)
def test_packed_elements_are_refused(memref: str, tensor: Tensor, words: str) -> None:
    for c_interface in (False, True):
        error = check(memref, tensor, c_interface=c_interface)
        assert error is not None
        assert f"takes 'x' as {memref} (argument #0)" in error
        assert f"a lowered memref has whole bytes for {words}" in error


@pytest.mark.parametrize("element", ["i1", "vector<2xi4>", "vector<4xi2>", "vector<2xf4E2M1FN>"])
def test_what_is_accepted_is_stored_alike(element: str) -> None:
    """The kernel copies as many bytes as the tensors have."""
    kernel = f"""func.func @f(%x: memref<?x{element}>, %y: memref<?x{element}>) {{
      linalg.copy ins(%x : memref<?x{element}>) outs(%y : memref<?x{element}>) return }}"""
    dtype = next(iter(dtypes_of(element) or ()))
    bytes_of_ten = 10 * parse_dtype(dtype).total_bits // 8
    compiled = wrap(kernel, f"f(x: Tensor([n], {dtype}), y: Tensor([n], {dtype}))", device="cpu")
    call = RawWrapper(compiled, "f")
    x, y = (np.arange(start, start + 64, dtype="uint8") for start in (0, 128))
    if element == "i1":
        x %= 2
    type_ = parse_dtype(dtype)
    given = [
        tensor(DLTensor((10,), data=array.ctypes.data, dtype=(type_.code, type_.bits, type_.lanes)))
        for array in (x, y)
    ]
    assert call(*given) is None
    assert (y[:bytes_of_ten] == x[:bytes_of_ten]).all()
    assert (y[bytes_of_ten:] == np.arange(128, 192, dtype="uint8")[bytes_of_ten:]).all()


ELEMENTS: Final = "the kernel's elements are"
ROW_MAJOR: Final = "a memref without a layout is row-major, but strides[{}] of the spec may differ; leave strides= out, or give the kernel's memref a layout, such as strided<[{}]>, or call it only if x.contiguous with VariantsCallProvider"
REJECTED: Final[list[tuple[str, Tensor, str]]] = [
    ("memref<?xf32>", cpu([n], "float64"), f"{ELEMENTS} f32, not float64; write dtype='float32', or change the kernel's element type"),
    (
        "memref<?xf32>",
        cpu([n], "int32"),
        f"{ELEMENTS} f32, not int32; write dtype='float32' (with storage_dtype='int32', if the kernel works on the bits of that), or change the kernel's element type",
    ),
    ("memref<?xf16>", cpu([n], "bfloat16"), f"{ELEMENTS} f16, not bfloat16; write dtype='float16'"),
    ("memref<?xi32>", cpu([n], "int64"), f"{ELEMENTS} i32, not int64; write dtype='int32', or"),
    ("memref<?xi1>", cpu([n], "uint8"), f"{ELEMENTS} i1, not uint8; write dtype='bool'"),
    ("memref<?xi16>", cpu([n], "bool"), f"{ELEMENTS} i16, not bool; write dtype='int16'"),
    ("memref<?xsi8>", cpu([n], "uint8"), f"{ELEMENTS} si8, not uint8; write dtype='int8'"),
    ("memref<?xui8>", cpu([n], "bool"), f"{ELEMENTS} ui8, not bool; write dtype='uint8'"),
    ("memref<?xf32>", cpu([n], "float32x4"), f"{ELEMENTS} f32, not float32x4"),
    ("memref<?xf80>", cpu([n], "float64"), "DLPack has no dtype for f80; change the kernel's element type"),
    # LLVM pads these to a multiple of 16 bytes, and DLPack does not.
    ("memref<?xvector<3xf32>>", cpu([n], "float32x3"), "DLPack has no dtype for vector<3xf32>"),
    (
        "memref<?xf32>",
        cpu([n], ("float32", "float16")),
        f"{ELEMENTS} f32, and a kernel has one element type; write dtype='float32', or choose a kernel for each of float32, float16 with VariantsCallProvider",
    ),
    ("memref<?xi8>", cpu([n], "float4_e2m1fn", storage_dtype="float4_e2m1fnx2"), f"{ELEMENTS} i8, not float4_e2m1fn; write dtype='int8', or"),
    ("memref<?xvector<2xf4E2M1FN>>", cpu([n], "float4_e2m1fn", storage_dtype="float4_e2m1fnx2"), f"{ELEMENTS} vector<2xf4E2M1FN>, not float4_e2m1fn"),
    ("memref<?xi8>", cpu([n], "float8_e4m3fn", storage_dtype="float8_e5m2"), f"{ELEMENTS} i8, not float8_e4m3fn; write dtype='int8'"),
    (
        "memref<4x?xf32>",
        cpu([n, m]),
        "the kernel's size 0 is 4, but shape[0] is n, which takes other sizes too; write 4, or '?' in the kernel's memref, or call it only if n == 4 with VariantsCallProvider",
    ),
    ("memref<?x4xf32>", cpu([n, 5]), "the kernel's size 1 is 4, but shape[1] is 5; write 4, or '?' in the kernel's memref"),
    ("memref<4xf32>", cpu([None]), "the kernel's size 0 is 4, but shape[0] is None, which"),
    ("memref<4xf32>", cpu([n * 4]), "the kernel's size 0 is 4, but shape[0] is n * 4, which"),
    ("memref<4xf32>", cpu([Var("more", "int64", min=4)]), "the kernel's size 0 is 4, but shape[0]"),
    ("memref<3xf32>", cpu([FOUR]), "the kernel's size 0 is 3, but shape[0] is four; write 3"),
    ("memref<?xf32>", cpu([n], strides=[s]), ROW_MAJOR.format(0, "?")),
    ("memref<?xf32>", cpu([n], strides=[2]), ROW_MAJOR.format(0, "?")),
    ("memref<?xf32>", cpu([n], strides=[None]), ROW_MAJOR.format(0, "?")),
    ("memref<?xf32>", cpu([n], strides="any"), ROW_MAJOR.format(0, "?")),
    ("memref<?x?xf32>", cpu([n, m], strides=[s, 1]), ROW_MAJOR.format(0, "?, ?")),
    ("memref<?x?xf32>", cpu([n, m], strides=[m, s]), ROW_MAJOR.format(1, "?, ?")),
    ("memref<?x?xf32>", cpu([n, m], strides=[n, 1]), ROW_MAJOR.format(0, "?, ?")),
    ("memref<?x?xf32>", cpu([n, m], strides=[m * 2, 1]), ROW_MAJOR.format(0, "?, ?")),
    ("memref<?x?xf32>", cpu([n, m + 2], strides=[m * 2, 1]), ROW_MAJOR.format(0, "?, ?")),
    ("memref<?x?xf32>", cpu([n, m], strides=[m + 0, 1]), ROW_MAJOR.format(0, "?, ?")),
    ("memref<?x?xf32>", cpu([n, n], strides="F"), ROW_MAJOR.format(0, "?, ?")),
    ("memref<?x?xf32>", cpu([n, None], strides=[s, 1]), ROW_MAJOR.format(0, "?, ?")),
    (
        "memref<?x?xf32, strided<[8, 1]>>",
        cpu([n, m]),
        "the kernel's stride 0 is 8, but the spec's is m; write 8 for strides[0], or '?' in the kernel's layout",
    ),
    ("memref<?x?xf32, strided<[8, 1]>>", cpu([n, None]), "the kernel's stride 0 is 8, but the spec's is shape[1]; write 8 for strides[0]"),
    ("memref<?x?xf32, strided<[8, 1]>>", cpu([n, 2 * m]), "the kernel's stride 0 is 8, but the spec's is 2 * m; write 8 for strides[0]"),
    (
        "memref<?x?xf32, strided<[?, 1]>>",
        cpu([n, m], strides="any"),
        "the kernel's stride 1 is 1, but the spec's is not checked; write 1 for strides[1]",
    ),
    ("memref<?x?xf32, strided<[?, 1]>>", cpu([n, m], strides="F"), "the kernel's stride 1 is 1, but the spec's is n; write 1 for strides[1]"),
    (
        "memref<?xf32, strided<[1], offset: 3>>",
        cpu([n]),
        "the kernel adds an offset of 3, but tensors are passed with offset 0, as their pointers include it; write 'offset: ?' in the kernel's layout, or no offset",
    ),
    ("memref<f32, strided<[], offset: 3>>", cpu([]), "the kernel adds an offset of 3"),
]  # fmt: skip


@pytest.mark.parametrize(("memref", "tensor", "words"), REJECTED)
def test_rejected(memref: str, tensor: Tensor, words: str) -> None:
    for c_interface, callee in ((False, "kernel"), (True, "_mlir_ciface_kernel")):
        message = check(memref, tensor, c_interface=c_interface)
        assert message is not None
        begin = (
            f"MemRefCallProvider: the callee @{callee} takes 'x' as {memref} (argument #0), "
            f"but the spec is {spec.outline(tensor)}: "
        )
        assert message.startswith(begin + words)


@pytest.mark.parametrize(("memref", "given"), [("memref<?x?xf32>", [n]), ("memref<f32>", [n])])
def test_another_rank(memref: str, given: Any) -> None:
    for c_interface in (False, True):
        message = check(memref, cpu(given), c_interface=c_interface)
        assert message is not None
        rank = memref.count("x")
        words = (
            rf"rank is {rank}, but the spec's shape has length 1; write a shape of length {rank}"
        )
        assert re.search(words, message)


def test_a_rank_is_compared_where_the_number_of_arguments_is_right() -> None:
    module = lowered("(memref<?x?xf32>) -> ()")
    params = [cpu([n]), Var("a", "int64"), Var("b", "int64")]
    with pytest.raises(BuildError, match="the kernel's rank is 2, but the spec's shape has leng"):
        attach_ffi_func(module, "f", params, MemRefCallProvider("kernel"))


PAIR: Final = "(memref<?xf32>, index, memref<?xf64>) -> ()"
X, Y = cpu([n]), Tensor("y", [n], "float64", device_type="cpu")


@pytest.mark.parametrize(
    ("where", "fits"),
    [
        (spec.one_of(n, [4]), True),
        (spec.equal(n, 4), True),
        (spec.one_of(n, [3]), False),
        (spec.one_of(n, [4, 8]), False),
        (spec.not_equal(n, 4), False),
        (spec.equal(n, m), False),
        (spec.equal(n + m, 4), False),
    ],
)
def test_a_size_that_where_fixes(where: Relation, fits: bool) -> None:
    signature = spec.Signature("f", [cpu([n]), m], where=[where])
    module = lowered("(memref<4xf32>, index) -> ()")
    if fits:
        attach(module, signature, MemRefCallProvider("kernel"))
        return
    with pytest.raises(BuildError, match=r"the kernel's size 0 is 4, but shape\[0\] is"):
        attach(module, signature, MemRefCallProvider("kernel"))


OUT: Final = Tensor("out", [n], "float64", device_type="cpu")
A, B = (Tensor(name, [n], "float32", device_type="cpu") for name in "ab")
COUNT: Final = Var("count", "int64")


def test_a_value_that_a_symbol_cannot_have() -> None:
    narrow = Var("narrow", "int8")
    signature = spec.Signature("f", [cpu([narrow * 2]), narrow], where=[spec.equal(narrow, 1000)])
    with pytest.raises(BuildError, match=r"shape\[0\] is narrow \* 2, which takes other sizes too"):
        attach(lowered("(memref<4xf32>, i8) -> ()"), signature, MemRefCallProvider("kernel"))


FLOATS: Final = "takes 'a' as memref<?xf64> (argument #0), but the spec is Tensor([n], float32): the kernel's elements are f64, not float32"


@pytest.mark.parametrize("c_interface", [False, True])
@pytest.mark.parametrize(
    ("types", "params", "words"),
    [
        ("memref<?xf64>, memref<?xf32>", [A, OUT], f"{FLOATS}; write dtype='float64', or change the kernel's element type; or order them with args=: 'out' fits here"),
        ("memref<?x4xf32>, i64, memref<?x?xf32>", [cpu([n, m]), COUNT, Tensor("y", [n, 4], "float32", device_type="cpu")], "takes 'x' as memref<?x4xf32> (argument #0), but the spec is Tensor([n, m], float32): the kernel's size 1 is 4, but shape[1] is m, which takes other sizes too"),
        ("memref<?xf32>, memref<?xf64>, memref<?xf32>", [A, B, OUT], FLOATS.replace("'a'", "'b'").replace("#0", "#1")),
        ("memref<?xf64>, memref<?xf32>", [A, B], f"{FLOATS}; write dtype='float64', or change the kernel's element type"),
        # A pointer fits a memref of a C interface only by its LLVM type.
        ("memref<?xf64>, !llvm.ptr", [A, spec.DataPointer("p")], FLOATS),
    ],
)  # fmt: skip
def test_memrefs_in_another_order(
    types: str, params: list[spec.Param], words: str, c_interface: bool
) -> None:
    provider = MemRefCallProvider("kernel", c_interface=c_interface)
    with pytest.raises(BuildError) as raised:
        attach(lowered(f"({types}) -> ()"), spec.Signature("f", params), provider)
    assert str(raised.value).partition(" takes ")[2].startswith(words.removeprefix("takes "))


@pytest.mark.parametrize("c_interface", [False, True])
def test_each_tensor_is_compared_with_what_it_is_passed_for(c_interface: bool) -> None:
    count = Var("count", "int64")
    cfg = spec.Struct("cfg", [count, spec.Optional(Y)])
    for params, args in (
        ([X, count, Y], None),
        ([Y, X, count], ["x", "count", "y"]),
        ([X, cfg], None),
    ):
        module = lowered(PAIR)
        provider = MemRefCallProvider("kernel", args=args, c_interface=c_interface)
        attach_ffi_func(module, "f", params, provider)
    wrong = spec.Struct("cfg", [count, spec.Optional(Tensor("y", [n], "int64", device_type="cpu"))])
    words = r"takes 'cfg.y' as memref<\?xf64> \(argument #2\), .* not int64"
    with pytest.raises(BuildError, match=words):
        attach_ffi_func(
            lowered(PAIR), "f", [X, wrong], MemRefCallProvider("kernel", c_interface=c_interface)
        )


def test_a_tensor_that_is_returned_is_compared() -> None:
    provider = CheckStatus(MemRefCallProvider("kernel"))
    types = "(memref<?xf32>, memref<?xf32>) -> i32"
    z = Tensor("z", [n], "float32", device_type="cpu")
    attach_ffi_func(lowered(types), "f", [X], provider, returns=z)
    z = Tensor("z", [n], "float16", device_type="cpu")
    words = r"takes 'z' as memref<\?xf32> \(argument #1\), .* not float16"
    with pytest.raises(BuildError, match=words):
        attach_ffi_func(lowered(types), "f", [X], provider, returns=z)


def test_parts_of_a_tensor_are_the_authors_own_business() -> None:
    wide = cpu([n], "float64")
    args: list[Any] = ["x.data", "x.data", 0, n, 1]
    attach_ffi_func(
        lowered("(memref<?xf32>) -> ()"), "f", [wide], MemRefCallProvider("kernel", args=args)
    )


def test_what_is_no_memref_is_not_compared() -> None:
    types = "(!llvm.ptr, !llvm.ptr, i64, i64, i64, memref<f32>) -> ()"
    params = [cpu([n], "float64"), Tensor("y", [], "float32", device_type="cpu")]
    attach_ffi_func(lowered(types), "f", params, MemRefCallProvider("kernel"))
