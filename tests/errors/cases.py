"""One call, or a few, for every row of words.

``call`` is Python, with ``f`` the compiled function; what only memory can hold, and Python does not
make, is laid out as :mod:`tests.differential.description` says, with ``f`` taking descriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ffi_builder.plan import Words
from ffi_builder.plan.steps import named_words

_WORDS: Final = named_words()


@dataclass(frozen=True)
class Case:
    """A call that fails. ``device`` is that of tensors which do not say theirs."""

    name: str
    signature: str
    call: str
    raw: bool = False

    @property
    def words(self) -> Words:
        """The words of the error."""
        return _WORDS[self.name]


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
            Case("CHECK_COUNT", _ONE, "f()"),
            Case("CHECK_LEAST_COUNT", "f(form: String, *rest: Any)", "f()"),
            Case("CHECK_ARGUMENTS", _ONE, "f(Arguments(None, 1))", raw=True),
        ),
    ),
    Group(
        "Kinds of values",
        "Objects are shown by their type key, but for strs, bytes, and what has none for Python. "
        "Lists and tuples, `ffi.Array` in C, are `list`.",
        (
            Case("DECODE_TENSOR", _ONE, "f([1.0, 2.0])"),
            Case("DECODE_TENSOR", "f(x: Optional(Tensor([n], float32)))", 'f("x")'),
            Case("DECODE_SHAPE", "f(dims: Shape([n, 4]))", "f(8)"),
            Case("DECODE_TUPLE", "f(cfg: Struct(alpha: float32, beta: float32))", "f(0.5)"),
            Case("DECODE_LIST", _GROUPED, 'f(np.zeros((2, 4), "float32"), [])'),
            Case("DECODE_LIST_OF_INTS", "f(pages: List(int64))", "f(np.zeros(2, int))"),
            Case("DECODE_LIST_OF_FLOATS", "f(scales: List(float32))", "f(0.5)"),
            Case("DECODE_LIST_OF_BOOLS", "f(flags: List(bool))", "f(True)"),
            Case("DECODE_LIST_OF_LISTS", "f(groups: List(List(int64)))", "f(3)"),
            Case("DECODE_LIST_OF_INTS", "f(groups: List(List(int64)))", "f([[1, 2], 3])"),
            Case("KIND_INT", "f(groups: List(List(int64)))", "f([[1, 2], [3, None]])"),
            Case("DECODE_LIST_OF_ANY", "f(modules: Array(Object('ffi.Module')))", "f(3)"),
            Case("DECODE_OBJECT", "f(modules: Array(Object('ffi.Module')))", "f([1])"),
            Case("DECODE_TEXT_OF_STR", "f(tiles: Map(String, int64))", "f({1: 2})"),
            Case("KIND_INT", "f(tiles: Map(String, int64))", 'f({"n": 128, "m": None})'),
            Case("DECODE_LIST_OF_STRS", "f(names: List(String))", 'f("abc")'),
            Case("DECODE_LIST_OF_BYTES", "f(parts: List(Bytes))", 'f(b"abc")'),
            Case("KIND_INT", "f(n: int32)", "f(1.0)"),
            Case("KIND_INT", "f(pages: List(int64, n))", "f([3, 1.0])"),
            Case("DECODE_VARIANT", "f(scale: Variant(float64, Tensor([n], float32)))", "f('0.5')"),
            Case("KIND_INT", "f(dims: Shape([n, 4]))", "f((1.0, 4))"),
            Case("KIND_BOOL", "f(flag: bool)", "f(None)"),
            Case("KIND_FLOAT", "f(cfg: Tuple(alpha: float32))", 'f(("0.5",))'),
            Case("DECODE_TEXT_OF_STR", "f(name: String)", 'f(b"abc")'),
            Case("KIND_INT", "f(ranks: Map(int64, int64))", 'f({0: 1, "a": 2})'),
            Case("KIND_INT", "f(ranks: Map(int64, int64))", "f({0: 1, 2: 0.5})"),
            Case("DECODE_TEXT_OF_STR", "f(names: List(String, n))", 'f(["a", None])'),
            Case("DECODE_TEXT_OF_BYTES", "f(data: Bytes)", 'f("abc")'),
            Case("KIND_DTYPE", "f(dtype: DType)", 'f("float32")'),
            Case("KIND_DEVICE", "f(device: Device)", 'f("cpu")'),
            Case("DECODE_OBJECT", "f(callback: Function)", "f(1)"),
            Case("DECODE_OBJECT", "f(library: Object('ffi.Module'))", "f([1, 2])"),
            Case("KIND_CONST_NONE", "f(nothing: None)", "f(0)"),
            Case("KIND_HANDLE", "f(handle: handle)", "f(0)"),
            Case("KIND_POINTER", "f(p: DataPointer)", "f(1.5)"),
            Case("NOT_NULL", _ONE, "f(Moved(None))", raw=True),
        ),
    ),
    Group(
        "Tensors",
        "",
        (
            Case("CHECK_NDIM", _ONE, 'f(np.zeros((3, 4), "float32"))'),
            Case(
                "NOT_NEGATIVE",
                "f(x: Tensor(..., float32))",
                "f(Pointer(DLTensor((), ndim=-1)))",
                raw=True,
            ),
            Case("CHECK_DTYPE_SINGLE", _ONE, 'f(np.zeros(3, "float64"))'),
            Case(
                "CHECK_DTYPE_SEVERAL",
                "f(x: Tensor([n], float16 | bfloat16))",
                'f(np.zeros(3, "float32"))',
            ),
            Case(
                "CHECK_SAME_DTYPE",
                "f(x: Tensor([n], float16 | float32), y: Tensor([n], x.dtype))",
                'f(np.zeros(3, "float16"), np.zeros(3, "float32"))',
            ),
            Case(
                "CHECK_DEVICE_TYPE",
                "f(x: Tensor([n], float32, device_type=cuda))",
                'f(np.zeros(3, "float32"))',
            ),
            Case(
                "CHECK_SAME_DEVICE",
                "f(x: Tensor([n], float32, device_type=cuda), "
                "y: Tensor([n], float32, device_type=cuda))",
                "f(Pointer(DLTensor((3,), device_type=2)), "
                "Pointer(DLTensor((3,), device_type=2, device_id=1)))",
                raw=True,
            ),
            Case("CHECK_SHAPE_POINTER", _ONE, "f(Pointer(DLTensor(None, ndim=1)))", raw=True),
            Case("NOT_NEGATIVE", _ONE, "f(Pointer(DLTensor((-1,))))", raw=True),
            Case("CHECK_CONTIGUOUS_ROW_MAJOR", _MATMUL, 'f(np.zeros((4, 3), "float32").T, None)'),
            Case(
                "CHECK_CONTIGUOUS_COLUMN_MAJOR",
                "f(x: Tensor([n, k], float32, strides=F))",
                'f(np.zeros((3, 4), "float32"))',
            ),
            Case(
                "CHECK_NUMEL",
                "f(x: Tensor([n, k], float32))",
                "f(Pointer(DLTensor((2**40, 2**40))))",
                raw=True,
            ),
            Case(
                "CHECK_OFFSET", _ONE, "f(Pointer(DLTensor((3,), byte_offset=2**64 - 8)))", raw=True
            ),
            Case("CHECK_DATA", _ONE, "f(Pointer(DLTensor((3,), data=0)))", raw=True),
            Case(
                "CHECK_ALIGNMENT",
                "f(x: Tensor([n], float32, data_alignment=16))",
                "f(Pointer(DLTensor((3,), data=0x7F04)))",
                raw=True,
            ),
            Case(
                "CHECK_ELEMENT_ALIGNMENT",
                "f(x: Tensor([n], complex128))",
                "f(Pointer(DLTensor((3,), data=0x7F04, dtype=(5, 128, 1))))",
                raw=True,
            ),
            Case(
                "CHECK_OVERLAP",
                "f(x: Tensor([n], float32), y: Tensor([n], float32)) where no_overlap(y)",
                "f(Pointer(DLTensor((4,), data=0x1000)), Pointer(DLTensor((4,), data=0x1008)))",
                raw=True,
            ),
            Case(
                "CHECK_OVERLAP",
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
                "CHECK_CONDITION_OF_TWO",
                "f(x: Tensor([n], float32), y: Tensor([m], float32)) where n <= m",
                'f(np.zeros(5, "float32"), np.zeros(4, "float32"))',
            ),
            Case(
                "CHECK_CONDITION_PLAIN",
                "f(x: Tensor([n, k], float32)) where n * k <= 2147483647",
                "f(Pointer(DLTensor((65536, 65536))))",
                raw=True,
            ),
            Case(
                "CHECK_CONDITION_PLAIN",
                "f(x: Tensor([n, k], float32)) where k in {64, 128}",
                'f(np.zeros((2, 100), "float32"))',
            ),
            Case(
                "CHECK_CONDITION_OVERFLOW",
                "f(n: int64, m: int64) where n * m <= 2147483647",
                "f(2**40, 2**40)",
            ),
        ),
    ),
    Group(
        "Conditions",
        "What is unknown, as an Optional is absent, is shown as None.",
        (
            Case(
                "CHECK_CONDITION_OF_SEVERAL",
                "f(x: Tensor([n], float16 | float32)) where x.dtype == float16 or n % 4 == 0",
                'f(np.zeros(6, "float32"))',
            ),
            Case(
                "CHECK_CONDITION_OF_SEVERAL",
                "f(x: Tensor([n], float32)) where x.data % 16 == 0 or n < 4",
                "f(Pointer(DLTensor((4,), data=0x1008)))",
                raw=True,
            ),
            Case(
                "CHECK_CONDITION_OF_SEVERAL",
                "f(x: Tensor(..., float32, strides=any), act: Choice({'relu': 0, 'gelu': 1})) "
                "where x.contiguous and x.ndim <= 2 or act == 'relu'",
                'f(np.zeros((4, 6), "float32").T, "gelu")',
            ),
            Case(
                "CHECK_CONDITION_OF_SEVERAL",
                "f(mask: Optional(Tensor([m], float32)), fast: bool) "
                "where mask.present and m >= 4 or fast",
                "f(None, False)",
            ),
            Case("CHECK_CONDITION_OF_SEVERAL", "f(c: handle) where c.present", "f(None)"),
            Case("CHECK_CONDITION_OF_SEVERAL", "f(p: DataPointer) where p.present", "f(0)"),
            Case(
                "CHECK_CONDITION_OVERFLOW",
                "f(n: int64, p: DataPointer) where n * n <= 64 or p % 8 == 0",
                "f(2**40, 0x1004)",
            ),
        ),
    ),
    Group(
        "Values of dimensions, strides, entries and numbers",
        "Strides show the layout that the tensor came with.",
        (
            Case(
                "EQUAL_INT_PLAIN", "f(x: Tensor([n, 4], float32))", 'f(np.zeros((3, 5), "float32"))'
            ),
            Case("EQUAL_INT_PLAIN", "f(flag: Literal[True])", "f(False)"),
            Case(
                "EQUAL_SYMBOL_PLAIN",
                _MATMUL,
                'f(np.zeros((2, 3), "float32"), np.zeros((4, 5), "float32"))',
            ),
            Case("EQUAL_SYMBOL_PLAIN", _GROUPED, 'f([np.zeros((2, 3), "float32")], [])'),
            Case(
                "EQUAL_SYMBOL_PLAIN",
                _GROUPED,
                'f([np.zeros((m, 3), "float32") for m in (2, 5)], [np.zeros(2, "float32")] * 2)',
            ),
            Case(
                "EQUAL_EXPR_PLAIN",
                "f(x: Tensor([n, m], float32), y: Tensor([n * 2 + m], float32))",
                'f(np.zeros((3, 4), "float32"), np.zeros(7, "float32"))',
            ),
            Case("EQUAL_EXPR_OVERFLOW", "f(n: int64, dims: Shape([n * 2]))", "f(2**62, (0,))"),
            Case("SOLVE", "f(x: Tensor([n * 2], float32))", 'f(np.zeros(5, "float32"))'),
            Case("FITS", "f(n: int8)", "f(300)"),
            Case("FITS", "f(n: uint64)", "f(-1)"),
            Case(
                "AT_LEAST",
                "f(x: Tensor([n], float32)) where 1 <= n",
                'f(np.zeros(0, "float32"))',
            ),
            Case("AT_MOST", "f(n: int32) where n <= 8", "f(9)"),
            Case("DIVISIBLE", "f(dims: Shape([n])) where n % 16 == 0", "f([24])"),
            Case("CHECK_BOOL", "f(flag: bool)", "f(2)"),
            Case("NOT_NEGATIVE", "f(dims: Shape([n]))", "f((-3,))"),
            Case("CHECK_LENGTH", "f(dims: Shape([n, 4]))", "f((1, 2, 3))"),
            Case(
                "EQUAL_INT_OF_STRIDE",
                "f(x: Tensor([n, k], float32, strides=[s, 1]))",
                'f(np.zeros((4, 3), "float32").T)',
            ),
            Case(
                "EQUAL_SYMBOL_OF_STRIDE",
                "f(ld: int64, x: Tensor([n, k], float32, strides=[ld, 1]))",
                'f(8, np.zeros((3, 4), "float32"))',
            ),
            Case(
                "EQUAL_EXPR_OF_STRIDE",
                "f(x: Tensor([n, k], float32, strides=[k * 2, 1]))",
                'f(np.zeros((3, 4), "float32"))',
            ),
            Case(
                "CHECK_PACKED",
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
            Case("CHECK_CHOICE", "f(mode: Choice({'relu': 1, 'gelu': 2}))", 'f("rleu")'),
            Case("CHECK_CHOICE", "f(mode: Choice({'relu': 1, 'gelu': 2}))", 'f("none of them")'),
            Case(
                "CHECK_SMALL",
                "f(name: String)",
                "f(Plain(TypeIndex.SMALL_STR, padding=9))",
                raw=True,
            ),
            Case(
                "CHECK_CELLS",
                "f(dims: Shape([n]))",
                "f(Object(TypeIndex.SHAPE, Ints(None, 1)))",
                raw=True,
            ),
        ),
    ),
)
"""The sections of the page, in order."""
