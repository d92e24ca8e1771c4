"""One call, or a few, for every row of words.

``call`` is Python, with ``f`` the compiled function; what only memory can hold, and Python does not
make, is laid out as :mod:`tests.differential.description` says, with ``f`` taking descriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ffi_builder.plan import Words


@dataclass(frozen=True)
class Case:
    """A call that fails. ``device`` is that of tensors which do not say theirs."""

    words: Words
    signature: str
    call: str
    raw: bool = False


@dataclass(frozen=True)
class Group:
    """A section of the page."""

    title: str
    text: str
    cases: tuple[Case, ...]


_MATMUL: Final = "matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32))"
_GROUPED: Final = (
    "f(xs: TensorList(Tensor([m, k], float32), length=g, each=[m]), "
    "ys: TensorList(Tensor([m], float32), length=g, each=[m]))"
)
_ONE: Final = "f(x: Tensor([n], float32))"

GROUPS: Final = (
    Group(
        "The call as a whole",
        "",
        (
            Case(Words.COUNT, _ONE, "f()"),
            Case(Words.ARGUMENTS_NULL, _ONE, "f(Arguments(None, 1))", raw=True),
        ),
    ),
    Group(
        "Kinds of values",
        "Objects are shown by their type key, but for strs, bytes, and what has none for Python. "
        "Lists and tuples arrive as `ffi.Array`.",
        (
            Case(Words.KIND_TENSOR, _ONE, "f([1.0, 2.0])"),
            Case(Words.KIND_TENSOR, "f(x: Optional(Tensor([n], float32)))", 'f("x")'),
            Case(Words.KIND_SHAPE, "f(dims: Shape([n, 4]))", "f(8)"),
            Case(Words.KIND_TUPLE, "f(cfg: Struct(alpha: float32, beta: float32))", "f(0.5)"),
            Case(Words.KIND_LIST, _GROUPED, 'f(np.zeros((2, 4), "float32"), [])'),
            Case(Words.KIND_INT, "f(n: int32)", "f(1.0)"),
            Case(Words.KIND_INT, "f(dims: Shape([n, 4]))", "f((1.0, 4))"),
            Case(Words.KIND_BOOL, "f(flag: bool)", "f(None)"),
            Case(Words.KIND_FLOAT, "f(cfg: Tuple(alpha: float32))", 'f(("0.5",))'),
            Case(Words.KIND_STR, "f(name: String)", 'f(b"abc")'),
            Case(Words.KIND_BYTES, "f(data: Bytes)", 'f("abc")'),
            Case(Words.KIND_DTYPE, "f(dtype: DType)", 'f("float32")'),
            Case(Words.KIND_DEVICE, "f(device: Device)", 'f("cpu")'),
            Case(Words.KIND_OBJECT, "f(callback: Function)", "f(1)"),
            Case(Words.KIND_OBJECT, "f(library: Object('ffi.Module'))", "f([1, 2])"),
            Case(Words.KIND_NONE, "f(nothing: None)", "f(0)"),
            Case(Words.KIND_HANDLE, "f(handle: handle)", "f(0)"),
            Case(Words.KIND_POINTER, "f(p: DataPointer)", "f(1.5)"),
            Case(Words.OBJECT_NULL, _ONE, "f(Moved(None))", raw=True),
        ),
    ),
    Group(
        "Tensors",
        "",
        (
            Case(Words.NDIM, _ONE, 'f(np.zeros((3, 4), "float32"))'),
            Case(
                Words.NEGATIVE,
                "f(x: Tensor(..., float32))",
                "f(Pointer(DLTensor((), ndim=-1)))",
                raw=True,
            ),
            Case(Words.DTYPE, _ONE, 'f(np.zeros(3, "float64"))'),
            Case(
                Words.DTYPES,
                "f(x: Tensor([n], float16 | bfloat16))",
                'f(np.zeros(3, "float32"))',
            ),
            Case(
                Words.SAME_DTYPE,
                "f(x: Tensor([n], float16 | float32), y: Tensor([n], x.dtype))",
                'f(np.zeros(3, "float16"), np.zeros(3, "float32"))',
            ),
            Case(
                Words.DEVICE_TYPE,
                "f(x: Tensor([n], float32, device_type=cuda))",
                'f(np.zeros(3, "float32"))',
            ),
            Case(
                Words.SAME_DEVICE,
                "f(x: Tensor([n], float32, device_type=cuda), "
                "y: Tensor([n], float32, device_type=cuda))",
                "f(Pointer(DLTensor((3,), device_type=2)), "
                "Pointer(DLTensor((3,), device_type=2, device_id=1)))",
                raw=True,
            ),
            Case(Words.SHAPE_NULL, _ONE, "f(Pointer(DLTensor(None, ndim=1)))", raw=True),
            Case(Words.NEGATIVE, _ONE, "f(Pointer(DLTensor((-1,))))", raw=True),
            Case(Words.CONTIGUOUS, _MATMUL, 'f(np.zeros((4, 3), "float32").T, None)'),
            Case(
                Words.COLUMN_MAJOR,
                "f(x: Tensor([n, k], float32, strides=F))",
                'f(np.zeros((3, 4), "float32"))',
            ),
            Case(
                Words.NUMEL,
                "f(x: Tensor([n, k], float32))",
                "f(Pointer(DLTensor((2**40, 2**40))))",
                raw=True,
            ),
            Case(Words.OFFSET, _ONE, "f(Pointer(DLTensor((3,), byte_offset=2**64 - 8)))", raw=True),
            Case(Words.DATA_NULL, _ONE, "f(Pointer(DLTensor((3,), data=0)))", raw=True),
            Case(
                Words.ALIGNMENT,
                "f(x: Tensor([n], float32, data_alignment=16))",
                "f(Pointer(DLTensor((3,), data=0x7F04)))",
                raw=True,
            ),
            Case(
                Words.OVERLAP,
                "f(x: Tensor([n], float32), y: Tensor([n], float32)) where no_overlap(y)",
                "f(Pointer(DLTensor((4,), data=0x1000)), Pointer(DLTensor((4,), data=0x1008)))",
                raw=True,
            ),
            Case(
                Words.OVERLAP,
                "f(xs: TensorList(Tensor([n], float32))) where no_overlap(xs)",
                "f(array(Pointer(DLTensor((4,), data=0x1000)), "
                "Pointer(DLTensor((4,), data=0x1008))))",
                raw=True,
            ),
        ),
    ),
    Group(
        "Relations",
        "The place is where the last of the symbols is bound.",
        (
            Case(
                Words.RELATION,
                "f(x: Tensor([n], float32), y: Tensor([m], float32)) where n <= m",
                'f(np.zeros(5, "float32"), np.zeros(4, "float32"))',
            ),
            Case(
                Words.RELATION_INT,
                "f(x: Tensor([n, k], float32)) where n * k <= 2147483647",
                "f(Pointer(DLTensor((65536, 65536))))",
                raw=True,
            ),
            Case(
                Words.RELATION_INT,
                "f(x: Tensor([n, k], float32)) where k in {64, 128}",
                'f(np.zeros((2, 100), "float32"))',
            ),
            Case(
                Words.RELATION_OVERFLOW,
                "f(n: int64, m: int64) where n * m <= 2147483647",
                "f(2**40, 2**40)",
            ),
        ),
    ),
    Group(
        "Values of dimensions, strides, entries and numbers",
        "Strides show the layout that the tensor came with.",
        (
            Case(Words.EQUAL, "f(x: Tensor([n, 4], float32))", 'f(np.zeros((3, 5), "float32"))'),
            Case(Words.EQUAL, "f(flag: Literal[True])", "f(False)"),
            Case(
                Words.EQUAL_SYMBOL,
                _MATMUL,
                'f(np.zeros((2, 3), "float32"), np.zeros((4, 5), "float32"))',
            ),
            Case(Words.EQUAL_SYMBOL, _GROUPED, 'f([np.zeros((2, 3), "float32")], [])'),
            Case(
                Words.EQUAL_SYMBOL,
                _GROUPED,
                'f([np.zeros((m, 3), "float32") for m in (2, 5)], [np.zeros(2, "float32")] * 2)',
            ),
            Case(
                Words.EQUAL_EXPR,
                "f(x: Tensor([n, m], float32), y: Tensor([n * 2 + m], float32))",
                'f(np.zeros((3, 4), "float32"), np.zeros(7, "float32"))',
            ),
            Case(Words.EXPR_OVERFLOW, "f(n: int64, dims: Shape([n * 2]))", "f(2**62, (0,))"),
            Case(Words.SOLVE, "f(x: Tensor([n * 2], float32))", 'f(np.zeros(5, "float32"))'),
            Case(Words.FITS, "f(n: int8)", "f(300)"),
            Case(Words.FITS, "f(n: uint64)", "f(-1)"),
            Case(
                Words.AT_LEAST,
                "f(x: Tensor([n], float32)) where 1 <= n",
                'f(np.zeros(0, "float32"))',
            ),
            Case(Words.AT_MOST, "f(n: int32) where n <= 8", "f(9)"),
            Case(Words.DIVISIBLE, "f(dims: Shape([n])) where n % 16 == 0", "f([24])"),
            Case(Words.BOOL, "f(flag: bool)", "f(2)"),
            Case(Words.NEGATIVE, "f(dims: Shape([n]))", "f((-3,))"),
            Case(Words.LENGTH, "f(dims: Shape([n, 4]))", "f((1, 2, 3))"),
            Case(
                Words.STRIDE,
                "f(x: Tensor([n, k], float32, strides=[s, 1]))",
                'f(np.zeros((4, 3), "float32").T)',
            ),
            Case(
                Words.STRIDE_SYMBOL,
                "f(ld: int64, x: Tensor([n, k], float32, strides=[ld, 1]))",
                'f(8, np.zeros((3, 4), "float32"))',
            ),
            Case(
                Words.STRIDE_EXPR,
                "f(x: Tensor([n, k], float32, strides=[k * 2, 1]))",
                'f(np.zeros((3, 4), "float32"))',
            ),
            Case(
                Words.PACKED,
                "f(x: Tensor([n], float4_e2m1fn, storage_dtype=float4_e2m1fnx2))",
                "f(Pointer(DLTensor((2**63 - 1,), dtype=(17, 4, 2))))",
                raw=True,
            ),
        ),
    ),
    Group(
        "Strs, bytes and choices",
        "",
        (
            Case(Words.CHOICE, "f(mode: Choice({'relu': 1, 'gelu': 2}))", 'f("rleu")'),
            Case(Words.CHOICE, "f(mode: Choice({'relu': 1, 'gelu': 2}))", 'f("none of them")'),
            Case(
                Words.SMALL, "f(name: String)", "f(Plain(TypeIndex.SMALL_STR, padding=9))", raw=True
            ),
            Case(
                Words.CELLS_NULL,
                "f(dims: Shape([n]))",
                "f(Object(TypeIndex.SHAPE, Ints(None, 1)))",
                raw=True,
            ),
        ),
    ),
)
"""The sections of the page, in order."""
