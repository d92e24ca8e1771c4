"""Lists of tensors: any number of them, each checked alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar, Final

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import Stored, listed
from ffi_builder.spec.expr import Expr, Var
from ffi_builder.spec.functions import variables
from ffi_builder.spec.param import Metadata, PlainValues
from ffi_builder.spec.tensors.entries import MOST_ELEMENTS, check_length, entry_text
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.workspace import Workspace

_NONE: Final[Any] = ()


@dataclass(frozen=True, repr=False)
class TensorList(Metadata):
    """An Array or List of any number of tensors that all match one :class:`Tensor`.

    The list has the name of the tensor. The kernel gets the number of elements and three arrays in
    the memory of the host, see :class:`Field`::

        void*   pointers[length]         data + byte_offset of each
        int64_t shapes[length][ndim]     dimensions, in elements
        int64_t strides[length][ndim]    strides, in elements

    A symbol has the same value in all elements, unless it is in ``each``. Symbols in ``each`` have
    a value for each element, which other lists of the same length may share: where ``As`` has the
    elements ``[m, k]`` and ``Cs`` has ``[m, n]``, both with ``each=[m]``, then ``Cs[3].shape[0]``
    is ``As[3].shape[0]``, and ``k`` is the same everywhere.

    ``default``, ``kw_only`` and ``doc`` are taken from ``tensor`` unless given.

    Args:
        tensor: describes every element. Its rank is known.
        length: the number of elements: an int, an integer Var, or None for any number. A list may
            be empty, except with a length such as ``Var("g", min=1)``.
        each: the symbols that have a value for each element.

    Raises:
        SpecError: ``tensor`` is no Tensor, may have any rank or takes fields from another one;
            ``length`` is negative or more than 2147483647; or ``each`` has a symbol twice, or a
            symbol that ``tensor`` does not have.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import spec, testing
        >>> g, m, k, n = spec.dims("g m k n")
        >>> with spec.DefaultConfig(device_type="cpu"):
        ...     As = spec.TensorList(spec.Tensor("As", [m, k], "float16"), length=g, each=[m])
        ...     B = spec.Tensor("B", [k, n], "float16")
        ...     Cs = spec.TensorList(spec.Tensor("Cs", [m, n], "float16"), length=g, each=[m])
        >>> grouped_gemm = spec.Signature("grouped_gemm", [As, B, Cs])
        >>> a, b, c = np.ones((2, 8), "half"), np.ones((8, 4), "half"), np.ones((2, 4), "half")
        >>> testing.check(grouped_gemm, [a], b, [c])
        {'g': 1, 'k': 8, 'n': 4}
        >>> testing.check(grouped_gemm, [a, a], b, [c, b])
        Traceback (most recent call last):
        ...
        ValueError: Mismatched Cs[1].shape[0] on argument #2 when calling: `...`, expected 2
            (m = As[1].shape[0]) but got 8
    """

    accepts: ClassVar[PlainValues] = PlainValues("a list of tensors", (list,))

    tensor: Tensor
    length: int | Var | None = field(default=None, kw_only=True)
    each: Stored[Sequence[Var], tuple[Var, ...]] = field(default=_NONE, kw_only=True)

    def __post_init__(self) -> None:
        given: object = self.tensor
        if not isinstance(given, Tensor) or isinstance(given, Workspace):  # pyright: ignore[reportUnnecessaryIsInstance] # untyped callers
            raise SpecError(
                f"TensorList: expected a Tensor such as Tensor('x', …) but got {given!r}"
            )
        what = self.label
        if given.any_rank:
            raise SpecError(f"{what}: expected a Tensor of a known rank but its shape is ...")
        for name in given.references:
            raise SpecError(
                f"{what}: expected {name} of its own but got {getattr(given, name)!r}: the "
                f"elements of a list take nothing from an argument"
            )
        self._check_metadata(what)
        self._check_length(f"{what}: length")
        object.__setattr__(self, "each", self._checked_each(f"{what}: each"))
        self._inherit(given)

    @property
    def name(self) -> str:
        """The name of the parameter."""
        return self.tensor.name

    @property
    def never_empty(self) -> bool:
        """Whether the list always has an element."""
        if isinstance(self.length, Var):
            return self.length.min is not None and self.length.min > 0
        return bool(self.length)

    @property
    def most(self) -> int:
        """The greatest number of elements that a call may have."""
        if isinstance(self.length, Var):
            return MOST_ELEMENTS if self.length.max is None else self.length.max
        return MOST_ELEMENTS if self.length is None else self.length

    @property
    def entries(self) -> tuple[tuple[str, object], ...]:
        """Everything in ``tensor`` that may mention a symbol, in the order of the checks.

        Each stands beside its place: ``("[i].shape[0]", m)``.
        """
        shape, strides = self.tensor.dims, self.tensor.stride_entries or ()
        return (
            ("[i].device_id", self.tensor.device_id),
            *((f"[i].shape[{axis}]", dim) for axis, dim in enumerate(shape)),
            *((f"[i].strides[{axis}]", stride) for axis, stride in enumerate(strides)),
        )

    @property
    def symbols(self) -> tuple[Var, ...]:
        """The symbols of ``tensor``, in the order of their first occurrences."""
        return tuple(dict.fromkeys(var for _, entry in self.entries for var in variables(entry)))

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        parts = [self.tensor.type_text(device, outline=outline)]
        if self.length is not None:
            parts.append(f"length={entry_text(self.length)}")
        if self.each:
            parts.append(f"each=[{', '.join(map(entry_text, self.each))}]")
        return f"TensorList({', '.join(parts)})"

    def _check_length(self, what: str) -> None:
        given: object = self.length
        if isinstance(given, Expr):
            raise SpecError(f"{what}: expected an int or a Var but got {given}, an expression")
        if given is not None:
            object.__setattr__(self, "length", check_length(what, given))

    def _checked_each(self, what: str) -> tuple[Var, ...]:
        hint = ", did you mean a list of it?" if isinstance(self.each, Var) else ""
        named = [*listed(what, self.each, "a list of Vars", (Var,), hint)]
        symbols = self.symbols
        for index, var in enumerate(named):
            if not isinstance(var, Var):
                raise SpecError(f"{what}[{index}]: expected a Var but got {var!r}")
            if var not in symbols:
                names = ", ".join(known.name for known in symbols) or "none"
                raise SpecError(
                    f"{what}[{index}]: {var!r} is not one of the symbols of the elements: {names}"
                )
            if var in named[:index]:
                raise SpecError(f"{what}: {var.name!r} is named twice")
        return tuple(var for var in symbols if var in named)
