"""Lists of numbers, strs, bytes or lists: any number of them, each checked alike."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any, ClassVar, Final, TypeAlias

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import Stored, boolean
from ffi_builder.spec.dtypes import DTypeLike, one_of_dtypes
from ffi_builder.spec.expr import Dim, Var
from ffi_builder.spec.numbers import NUMBER_DTYPES
from ffi_builder.spec.param import MISSING, Named, PlainValues
from ffi_builder.spec.params import Bytes, String
from ffi_builder.spec.tensors.entries import check_length, entry_text

_TEXTS: Final = {"String": String, "Bytes": Bytes}
ELEMENTS: Final = (*NUMBER_DTYPES, *_TEXTS)
"""What a list may have, as ``dtype`` and texts name it."""
Element: TypeAlias = "Var | String | Bytes | List"
"""The parameter whose rules apply to each element of a list."""


@dataclass(frozen=True, repr=False)
class List(Named):
    """An Array or List of any number of numbers, strs, bytes or lists, such as a list or tuple.

    The kernel gets a pointer to the elements, which are adjacent in the memory of the host, and
    their number, an int64. Numbers are converted to ``dtype``; of each str or bytes, there are its
    address and its size: ``struct {const char *data; size_t size;}``, a ``TVMFFIByteArray``. The
    memory is valid during the call. Where ``dtype`` is an integer, a ``Shape`` is accepted too.

    Of a list of lists of numbers, the kernel gets a pointer to the addresses of the rows, a pointer
    to their lengths, int64s, and the number of rows.

    Each element is checked as a parameter of that kind is.

    Args:
        name: an identifier.
        dtype: int8 to int64, uint8 to uint64, bool, float16, bfloat16, float32 or float64; or
            ``"String"`` or ``"Bytes"``; or a List of numbers, whose name is that of the whole and
            whose length is an int or None.
        length: the number of elements: an int, an integer Var, an expression, or None for any
            number. Symbols are bound by it, or compared with it, as by a dimension.
        mutable: whether the function takes or returns a List of tvm-ffi, which the metadata then
            says; it says Array otherwise. Either is accepted in any case.

    Raises:
        SpecError: another dtype, or a ``length`` that cannot be one; a list of lists of lists.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> n = spec.Var("n", "int32")
        >>> plan = spec.Signature("plan", [n, spec.List("indptr", "int32", n + 1)])
        >>> print(plan)
        plan(n: int32, indptr: List(int32, n + 1))
        >>> testing.check(plan, 2, [0, 3, 7])
        {'n': 2}
        >>> testing.check(plan, 2, [0, 3, "7"])
        Traceback (most recent call last):
        ...
        TypeError: Mismatched type of indptr[2] on argument #1 when calling: `...`, expected int
            but got str
        >>> print(spec.Signature("open", [spec.List("names", "String", n), n]))
        open(names: List(String, n), n: int32)
        >>> print(spec.Signature("group", [spec.List("groups", spec.List("row", "int64"))]))
        group(groups: List(List(int64)))
    """

    accepts: ClassVar[PlainValues] = PlainValues("a list", (list,))

    dtype: Stored[DTypeLike | List, str | List]
    length: Dim | None = field(default=None)
    mutable: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.dtype
        inner = self._row(given) if isinstance(given, List) else None
        object.__setattr__(self, "dtype", inner or one_of_dtypes(self.label, given, ELEMENTS))
        if self.length is not None:
            object.__setattr__(self, "length", check_length(f"{self.label}: length", self.length))
        boolean(f"{self.label}: mutable", self.mutable)

    @property
    def element(self) -> Element:
        """The parameter whose rules apply to each element."""
        if isinstance(self.dtype, List):
            return self.dtype
        text = _TEXTS.get(self.dtype)
        return Var(self.name, self.dtype) if text is None else text(self.name)

    def _row(self, row: List) -> List:
        """Return the list that each element is, which has the name of this one."""
        what = f"{self.label}: dtype"
        if not isinstance(row.element, Var):
            raise SpecError(f"{what}: expected a List of numbers but got {row!r}")
        if row.length is not None and not isinstance(row.length, int):
            raise SpecError(
                f"{what}: length: expected an int or None but got {row.length}: each row has a "
                f"length of its own, which the kernel gets; rows that are equally long are a "
                f"Tensor of two dimensions"
            )
        if row.default is not MISSING or row.kw_only or row.doc:
            raise SpecError(f"{what}: default, kw_only and doc are those of the whole list")
        return replace(row, name=self.name)

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        length = "" if self.length is None else f", {entry_text(self.length)}"
        dtype = self.dtype.type_text() if isinstance(self.dtype, List) else self.dtype
        mutable = ", mutable=True" if self.mutable and not outline else ""
        return f"List({dtype}{length}{mutable})"
