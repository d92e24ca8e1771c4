"""The values that a wrapper has decoded, as its builder serves them to call providers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Protocol

from ffi_builder import spec
from ffi_builder.ir import Value


class Decoded(Protocol):
    """The source of a context's values; the builder implements it."""

    def value(self, item: spec.Dim) -> Value:
        """See :meth:`CallContext.value`."""
        ...

    def data(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.data`."""
        ...

    def shape(self, tensor: spec.Param, *, wide: bool) -> list[Value]:
        """See :meth:`CallContext.shape`."""
        ...

    def strides(self, tensor: spec.Param, *, wide: bool) -> list[Value]:
        """See :meth:`CallContext.strides`."""
        ...

    def is_any_rank(self, tensor: spec.Param) -> bool:
        """Whether the spec leaves the rank of a tensor open."""
        ...

    def shape_of_rank(self, tensor: spec.Param, ndim: int) -> list[Value]:
        """Return the dimensions, as i64s, of a tensor of any rank that came with this one."""
        ...

    def strides_of_rank(self, tensor: spec.Param, ndim: int) -> list[Value]:
        """Return the strides likewise."""
        ...

    def ndim(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.ndim`."""
        ...

    def dtype(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.dtype`."""
        ...

    def device_type(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.device_type`."""
        ...

    def device_id(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.device_id`."""
        ...

    def is_contiguous(self, tensor: spec.Param) -> Value:
        """Return an i1: whether a tensor is there and, for the kernel, row-major contiguous."""
        ...

    def dltensor(self, tensor: spec.Param) -> Value:
        """See :meth:`CallContext.dltensor`."""
        ...

    def list_part(self, tensors: spec.Param, part: str) -> Value:
        """See :meth:`CallContext.list_part`."""
        ...

    def entries(self, shape: spec.Param) -> list[Value]:
        """See :meth:`CallContext.entries`."""
        ...

    def text(self, param: spec.Param) -> tuple[Value, Value]:
        """See :meth:`CallContext.text`."""
        ...

    def present(self, param: spec.Param) -> Value:
        """See :meth:`CallContext.present`."""
        ...

    def may_be_absent(self, param: spec.Param) -> bool:
        """See :meth:`CallContext.may_be_absent`."""
        ...

    def scalar(self, param: spec.Param) -> Value:
        """See :meth:`CallContext.scalar`."""
        ...

    def any(self, param: spec.Param) -> Value:
        """See :meth:`CallContext.any`."""
        ...


def part_of(decoded: Decoded, field: spec.Field) -> Value:
    """Return the value of a part of a parameter."""
    if field.part != "present" and isinstance(spec.required(field.param), spec.TensorList):
        return decoded.list_part(field.param, field.part)
    return getattr(decoded, field.part)(field.param)


class Binding(Mapping[spec.Var, Value]):
    """Maps each symbol to its value, in its own type.

    It answers for the data pointer of a tensor (``x.data``) and for other parts of parameters
    (:class:`~ffi_builder.spec.Field`) too, but does not list these.
    """

    def __init__(self, decoded: Decoded, symbols: Collection[spec.Var]) -> None:
        self._decoded, self._symbols = decoded, symbols

    def __getitem__(self, key: spec.Var | spec.Data | spec.Field) -> Value:
        match key:
            case spec.Data(tensor=tensor):
                return self._decoded.data(tensor)
            case spec.Field():
                return part_of(self._decoded, key)
            case spec.Var() if key in self._symbols:
                return self._decoded.value(key)
            case spec.Var():
                raise KeyError(key)
            case _:  # pyright: ignore[reportUnnecessaryComparison] # providers may be untyped
                raise KeyError(
                    f"{key!r}, which is not a symbol; context.device_id(x) has a device id"
                )

    def __iter__(self) -> Iterator[spec.Var]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)

    def __repr__(self) -> str:
        return f"<the values of {', '.join(var.name for var in self) or 'no symbols'}>"
