"""Tensors: descriptions of array arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import EllipsisType
from typing import Any, ClassVar, Final, cast

from typing_extensions import override

from ffi_builder import abi
from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import Stored, integer, one_of, plain, power_of_two
from ffi_builder.spec.dtypes import DTypeLike, checked_dtype, parse_dtype
from ffi_builder.spec.expr import Dim, Var, check_dim
from ffi_builder.spec.param import Named, PlainValues
from ffi_builder.spec.tensors import references as refs
from ffi_builder.spec.tensors.devices import check_device_type, default_device_type
from ffi_builder.spec.tensors.entries import check_entries, entries_text, entry_text, show_entries
from ffi_builder.suggest import did_you_mean

INTENTS: Final = ("in", "out", "inout")
LAYOUTS: Final = ("C", "F", "any")
"""The strings that ``strides`` may be."""
_NONE: Final[Any] = None
MOST_DIMENSIONS: Final = 255
"""The most dimensions of a tensor. NumPy and PyTorch allow 64.

Examples:
    >>> from ffi_builder import spec
    >>> from ffi_builder.spec.tensors.tensor import MOST_DIMENSIONS
    >>> spec.Tensor("x", [1] * (MOST_DIMENSIONS + 1), "float32", device_type="cpu")
    Traceback (most recent call last):
    ...
    ffi_builder.errors.SpecError: Tensor 'x': shape: expected at most 255 dimensions but
        got 256
"""


@dataclass(frozen=True, repr=False)
class Tensor(Named):
    """An array argument: a Tensor object or a ``DLTensor*``.

    Args:
        name: an identifier.
        shape: one entry for each dimension, in elements: an int, an integer Var, an expression of
            Vars, or None (not checked, but forwarded to the kernel). ``...`` accepts any number of
            dimensions of any size; the kernel gets the ``DLTensor*``.
        dtype: the element type that the kernel sees, such as ``"float32"`` or ``np.float32``; its
            code, bits and lanes must match. A tuple or list accepts any of several. A framework's
            dtype is kept as its name. ``"x.dtype"``: the dtype of ``x``, an earlier tensor.
        device_type: a DLPack name (``"cpu"``, ``"cuda"``, …), or ``"any"``. By default, the device
            type of the active :class:`DefaultConfig`.
        device_id: an int, an integer Var, or None: must match the first earlier tensor on the same
            device type.
        strides: in elements. None or ``"C"``: row-major contiguous. ``"F"``: column-major
            contiguous. ``"any"``: not checked, but forwarded. Otherwise one entry for each
            dimension, as in ``shape``. Strides of size-1 dimensions and of empty tensors are
            unconstrained.
        data_alignment: in bytes, a power of two, where 1 checks nothing. None: that of the dtype,
            as in NumPy, on devices whose data are addresses.
        storage_dtype: the dtype of the framework's tensor, if each of its elements holds several of
            ``dtype``: ``float4_e2m1fnx2`` for ``float4_e2m1fn``. The dimension with stride 1 of
            the given tensor is then that many times shorter, and its other strides are that many
            times smaller.
        intent: ``"in"``: the kernel only reads the tensor, so Python callers may pass read-only
            arrays. ``"out"``: the kernel writes every element and reads none. ``"inout"``: the
            kernel reads and writes. None: unknown, so the tensor counts as written. The wrapper
            cannot check the intent; ``testing.check_intents`` does.

    A tensor that the wrapper allocates (a result, a :class:`Workspace`) may take its ``shape`` and
    its device from an argument, too: ``Tensor("y", "x.shape", "x.dtype",
    device_type="x.device_type")``. A device type that is taken brings the device id with it.

    Raises:
        SpecError: an unknown dtype or device, more than 255 dimensions, a negative dimension,
            strides of another length than the shape, an alignment that is no power of two, or no
            device type given and no :class:`DefaultConfig` active.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import spec, testing
        >>> rows, pitch = spec.dims("rows pitch")
        >>> x = spec.Tensor(
        ...     "x", [rows, 4], ("float32", "float64"), device_type="cpu", strides=[pitch, 1]
        ... )
        >>> testing.check(spec.Signature("softmax", [x]), np.zeros((3, 8))[:, :4])
        {'rows': 3, 'pitch': 8}
        >>> testing.check(spec.Signature("softmax", [x]), np.zeros((3, 8)))
        Traceback (most recent call last):
        ...
        ValueError: Mismatched x.shape[1] on argument #0 when calling: `...`, expected 4 but
            got 8
    """

    accepts: ClassVar[PlainValues] = PlainValues("a tensor")

    _sources: ClassVar[Mapping[str, Tensor]] = {}
    """The tensors that fields are taken from, by field. A Signature sets it in its own copies."""

    shape: Sequence[Dim | None] | EllipsisType | str
    dtype: Stored[DTypeLike | Sequence[DTypeLike], str | Sequence[str]]
    device_type: str | None = field(default=None, kw_only=True)
    device_id: int | Var | None = field(default=None, kw_only=True)
    strides: str | Sequence[Dim | None] | None = field(default=None, kw_only=True)
    data_alignment: int | None = field(default=None, kw_only=True)
    storage_dtype: Stored[DTypeLike | None, str | None] = field(default=_NONE, kw_only=True)
    intent: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        what = self.label
        if refs.is_reference(self.shape, "shape"):
            refs.checked_reference(f"{what}: shape", self.shape, "shape")
        elif self.shape is not Ellipsis:
            object.__setattr__(self, "shape", check_entries(f"{what}: shape", self.shape))
            if self.ndim > MOST_DIMENSIONS:
                raise SpecError(
                    f"{what}: shape: expected at most {MOST_DIMENSIONS} dimensions but got "
                    f"{self.ndim}"
                )
        object.__setattr__(self, "dtype", self._checked_dtype(what))
        device_type = default_device_type(what) if self.device_type is None else self.device_type
        if refs.is_reference(device_type, "device_type"):
            refs.checked_reference(f"{what}: device_type", device_type, "device_type")
        else:
            check_device_type(f"{what}: device_type", device_type)
        object.__setattr__(self, "device_type", device_type)
        self._check_device_id(f"{what}: device_id")
        object.__setattr__(self, "strides", self._checked_strides(f"{what}: strides"))
        if self.data_alignment is not None:
            power_of_two(f"{what}: data_alignment", self.data_alignment)
        if self.intent is not None:
            one_of(f"{what}: intent", self.intent, INTENTS)
        if self.storage_dtype is not None:
            where = f"{what}: storage_dtype"
            stored = checked_dtype(f"{where}: ", self.storage_dtype)
            object.__setattr__(self, "storage_dtype", stored)
            self._check_storage(where, stored)

    @property
    def data(self) -> Data:
        """The tensor's data pointer alone, for the ``args=`` of a call provider."""
        return Data(self)

    @property
    def references(self) -> Mapping[str, str]:
        """The fields that are taken from another tensor, each with the path of that tensor."""
        given = {name: getattr(self, name) for name in refs.REFERABLE}
        return {
            name: value.rpartition(".")[0]
            for name, value in given.items()
            if refs.is_reference(value, name)
        }

    def source(self, name: str) -> Tensor | None:
        """Return the tensor that a field is taken from, or None if the field is given here.

        Raises:
            SpecError: the field is taken from another tensor, which only the tensors of a
                Signature know.
        """
        if not refs.is_reference(getattr(self, name), name):
            return None
        source = self._sources.get(name)
        if source is None:
            raise SpecError(
                f"{self.label}: {name} is {getattr(self, name)}, which only a Signature knows; ask "
                f"the tensor in its results or params"
            )
        return source

    def with_sources(self, sources: Mapping[str, Tensor]) -> Tensor:
        """Return an equal tensor that stores the tensors that its fields are taken from."""
        copy = replace(self)
        object.__setattr__(copy, "_sources", dict(sources))
        return copy

    def changed(self, **fields: Any) -> Tensor:
        """Return a copy with some fields changed, which keeps the sources of the other fields."""
        return replace(self, **fields).with_sources(self._sources)

    @property
    def any_rank(self) -> bool:
        """Whether the shape is ``...``."""
        source = self.source("shape")
        return self.shape is Ellipsis if source is None else source.any_rank

    @property
    def dims(self) -> tuple[Dim | None, ...]:
        """The entries of the shape; empty where the rank may be any."""
        source = self.source("shape")
        if source is not None:
            return source.dims
        return () if self.shape is Ellipsis else cast("tuple[Dim | None, ...]", self.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions; 0 where it may be any (see :attr:`any_rank`)."""
        return len(self.dims)

    @property
    def device(self) -> str:
        """The device type, or ``"any"``. Unlike ``device_type`` it is never None."""
        assert self.device_type is not None
        source = self.source("device_type")
        return self.device_type if source is None else source.device

    @property
    def device_type_name(self) -> str:
        """Another name of :attr:`device`."""
        return self.device

    @property
    def dlpack_device_type(self) -> int | None:
        """The ``DLDeviceType``; None for ``"any"``."""
        return abi.DEVICE_TYPES.get(self.device)

    @property
    def order(self) -> str | None:
        """``"C"`` or ``"F"`` where the tensor must be contiguous, else None."""
        if self.strides is None:
            return "C"
        return "F" if self.strides == "F" else None

    @property
    def stride_entries(self) -> tuple[Dim | None, ...] | None:
        """The entries of the strides; None where the tensor must be contiguous."""
        if self.order is not None:
            return None
        if self.strides == "any":
            return (None,) * self.ndim
        return cast("tuple[Dim | None, ...]", self.strides)

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes that the kernel may see, at least one."""
        source = self.source("dtype")
        if source is not None:
            return source.dtypes
        return (self.dtype,) if isinstance(self.dtype, str) else tuple(self.dtype)

    @property
    def element_dtypes(self) -> tuple[str, ...]:
        """The dtypes that the given tensor may have: ``storage_dtype`` if set, else ``dtypes``."""
        return self.dtypes if self.storage_dtype is None else (self.storage_dtype,)

    @property
    def packing(self) -> int:
        """The number of elements of ``dtype`` in a stored element; 1 without storage_dtype."""
        if self.storage_dtype is None:
            return 1
        stored = parse_dtype(self.storage_dtype).total_bits
        return stored // parse_dtype(self.dtypes[0]).total_bits

    @property
    def packed_axis(self) -> int | None:
        """The dimension that is ``packing`` times shorter in the given tensor, if there is one."""
        if self.packing == 1:
            return None
        if self.stride_entries is None:
            return 0 if self.order == "F" else self.ndim - 1
        return self.stride_entries.index(1)

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return f"{self.type_name}({', '.join(self._type_parts(device, outline))})"

    def _type_parts(self, device: str | None, outline: bool) -> Iterator[str]:
        show = show_entries if outline else entries_text
        if isinstance(self.shape, str):
            yield self.shape
        else:
            yield "..." if self.any_rank else show(self.dims)
        yield self.dtype if isinstance(self.dtype, str) else " | ".join(self.dtype)
        if isinstance(self.strides, str):
            yield f"strides={self.strides}"
        elif self.stride_entries is not None:
            yield f"strides={show(self.stride_entries)}"
        if outline:
            return
        if self.device_type != device:
            yield f"device_type={self.device_type}"
        if self.device_id is not None:
            yield f"device_id={entry_text(self.device_id)}"
        yield from self._type_options()

    def _type_options(self) -> list[str]:
        options = {
            name: getattr(self, name) for name in ("data_alignment", "storage_dtype", "intent")
        }
        return [f"{name}={value}" for name, value in options.items() if value is not None]

    def _checked_dtype(self, what: str) -> str | tuple[str, ...]:
        given: object = self.dtype
        if refs.is_reference(given, "dtype"):
            return refs.checked_reference(f"{what}: dtype", given, "dtype")
        if not isinstance(given, (tuple, list)):
            return checked_dtype(f"{what}: ", given)
        dtypes = tuple(
            plain(checked_dtype(f"{what}: ", dtype)) for dtype in cast("Sequence[object]", given)
        )
        if not dtypes or len(set(map(parse_dtype, dtypes))) < len(dtypes):
            raise SpecError(
                f"{what}: dtype: expected one dtype or several different ones but got "
                f"{list(dtypes)!r}"
            )
        return dtypes[0] if len(dtypes) == 1 else dtypes

    def _check_device_id(self, what: str) -> None:
        if isinstance(self.device_id, Var):
            check_dim(what, self.device_id)
        elif isinstance(self.device_id, int):
            integer(what, self.device_id, at_least=0)
        elif self.device_id is not None:
            raise SpecError(f"{what}: expected an int, a Var or None but got {self.device_id!r}")

    def _checked_strides(self, what: str) -> str | tuple[Dim | None, ...] | None:
        if self.strides is None or self.strides == "C":
            return None
        if isinstance(self.strides, str):
            if self.strides not in LAYOUTS:
                raise SpecError(
                    f"{what}: expected None, 'C', 'F', 'any' or a list but got {self.strides!r}"
                    f"{did_you_mean(self.strides, LAYOUTS)}"
                )
            return self.strides
        if self.shape is Ellipsis or isinstance(self.shape, str):
            shown = self.shape if isinstance(self.shape, str) else "..."
            raise SpecError(
                f"{what}: expected None, 'C', 'F' or 'any', as the shape is {shown}, but got "
                f"{self.strides!r}"
            )
        strides = check_entries(what, self.strides, at_least=None)
        if len(strides) != self.ndim:
            raise SpecError(
                f"{what}: expected {self.ndim} entries, one for each dimension of "
                f"{show_entries(self.dims)}, but got {len(strides)}: {show_entries(strides)}"
            )
        return strides

    def _check_storage(self, what: str, storage_dtype: str) -> None:
        if self.references:
            raise SpecError(
                f"{what}: expected None, as a tensor that takes fields from another is not packed; "
                f"say the fields themselves"
            )
        stored = parse_dtype(storage_dtype).total_bits
        if len(self.dtypes) > 1:
            raise SpecError(
                f"{what}: expected a single dtype but the tensor has {', '.join(self.dtypes)}"
            )
        if self.any_rank:
            raise SpecError(f"{what}: expected a shape of known rank but it is ...")
        element = parse_dtype(next(iter(self.dtypes))).total_bits
        if stored % element:
            raise SpecError(
                f"{what}: {storage_dtype} is {stored} bits, which is not a multiple of the "
                f"{element} bits of {self.dtype}"
            )
        if stored == element:
            return
        if self.ndim == 0:
            raise SpecError(f"{what}: a tensor without dimensions cannot be packed")
        entries = self.stride_entries
        if entries is not None and entries.count(1) != 1:
            shown = self.strides if isinstance(self.strides, str) else show_entries(entries)
            raise SpecError(
                f"{what}: exactly one stride must be 1, to know which dimension is packed, but "
                f"the strides are {shown}"
            )
        self._check_packed_ints(what, stored // element)

    def _check_packed_ints(self, what: str, packing: int) -> None:
        """Refuse a packed dimension or another stride that is not a multiple of ``packing``."""
        axis = self.packed_axis
        assert axis is not None
        packed = [(f"shape[{axis}]", self.dims[axis])]
        packed += [
            (f"strides[{i}]", stride)
            for i, stride in enumerate(self.stride_entries or ())
            if i != axis
        ]
        for place, value in packed:
            if isinstance(value, int) and value % packing:
                raise SpecError(
                    f"{what}: {place} is {value}, but {packing} elements of {self.dtype} share "
                    f"one {self.storage_dtype}, so it must be a multiple of {packing}"
                )


def create_map_tensor_dtype_f4x2_to_f4_spec(tensor: Tensor) -> Tensor:
    """Return the Tensor that accepts ``float4_e2m1fnx2`` where ``tensor`` is ``float4_e2m1fn``.

    Frameworks store two 4-bit floats in one element. The result accepts such a tensor, of shape
    ``[m, k / 2]``, and gives the kernel ``[m, k]``.

    Raises:
        SpecError: the dtype of ``tensor`` is not ``float4_e2m1fn``.

    Examples:
        >>> from ffi_builder import spec
        >>> m, k = spec.dims("m k")
        >>> x = spec.Tensor("x", [m, k], "float4_e2m1fn", device_type="cuda")
        >>> packed = spec.create_map_tensor_dtype_f4x2_to_f4_spec(x)
        >>> packed.shape, packed.dtype, packed.storage_dtype
        ((Var('m', 'int64'), Var('k', 'int64')), 'float4_e2m1fn', 'float4_e2m1fnx2')
    """
    if tensor.dtype != "float4_e2m1fn":
        raise SpecError(
            f"{tensor.label}: expected dtype 'float4_e2m1fn' to map from float4_e2m1fnx2 "
            f"but it is {tensor.dtype!r}"
        )
    return replace(tensor, storage_dtype="float4_e2m1fnx2")


@dataclass(frozen=True)
class Data:
    """``x.data``: the data pointer of a tensor as an argument for a callee: data + byte_offset.

    Examples:
        >>> from ffi_builder import spec
        >>> x = spec.Tensor("x", ..., "float32", device_type="cpu")
        >>> x.data
        Tensor('x', ..., 'float32', device_type='cpu').data
        >>> x.data.tensor is x
        True
    """

    tensor: Tensor

    def __repr__(self) -> str:
        return f"{self.tensor!r}.data"

    def __str__(self) -> str:
        return f"{self.tensor.name}.data"
