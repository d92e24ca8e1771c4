"""Checks calls while a framework traces them, when tensors have sizes and dtypes but no memory.

The diagnosis of the wrappers makes the checks (`testing.check`), so errors are the wrapper's.
Tensors are passed to it as DLPack exports, whose data nothing reads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, cast

from ffi_builder import spec
from ffi_builder.extending import (
    Checker,
    Comparison,
    Condition,
    abi,
    argument_texts,
    contiguous,
    dataclass,
    importing,
    parse_dtype,
    signature_text,
)
from ffi_builder.runtime.extending import DLTensor, Managed, new_capsule

UNKNOWN: Final = object()
"""A number that is known only when the call runs."""
_ADDRESS: Final = 1 << 40
"""The data pointer of tensors without memory. It is never read, and meets every alignment."""


@dataclass(frozen=True)
class Described:
    """A tensor without memory. Sizes and strides that are not ints are not known yet."""

    shape: tuple[Any, ...]
    dtype: str
    device: str
    device_id: int = 0
    strides: tuple[Any, ...] | None = None
    """None if the tensor is row-major."""

    @property
    def is_known(self) -> bool:
        """Whether all sizes and strides are known."""
        return all(isinstance(each, int) for each in (*self.shape, *(self.strides or ())))


@dataclass(frozen=True)
class Checks:
    """The checks of calls that are traced.

    They do not look at memory: addresses, and tensors that overlap. If any size is not known yet,
    no size is checked until the wrapper is called.
    """

    signature: spec.Signature
    """The parameters that have values in a traced call."""
    shown: spec.Signature
    """The signature that errors show; it may have more parameters."""

    def __call__(self, values: Mapping[str, object]) -> None:
        """Check arguments, given by name. Tensors are given as :class:`Described`.

        Raises:
            TypeError, ValueError: the wrapper's error.
        """
        leaves = [leaf for value in values.values() for leaf in leaves_of(value)]
        tensors = [leaf for leaf in leaves if isinstance(leaf, Described)]
        unknown = any(leaf is UNKNOWN for leaf in leaves)
        checker = _checker(self.signature)
        if unknown or not all(tensor.is_known for tensor in tensors):
            checker = Checker(_without_sizes(self.signature, values))
        given = [values[param.name] for param in checker.signature.arguments]
        # Tensors refer to the exports that they were made of.
        exported: list[_WithoutMemory] = []
        try:
            checker(*(_tensors(value, exported) for value in given))
        except (TypeError, ValueError) as error:
            words = _shown(str(error), checker.signature, self.shown)
            raise type(error)(words) from None


@lru_cache(maxsize=64)
def _checker(signature: spec.Signature) -> Checker:
    """Return the checks of a signature. Many operators may have equal ones."""
    # All tensors have the same address here.
    where = [each for each in signature.where if not any(map(_is_address, each.atoms()))]
    return Checker(replace(signature, where=where, no_overlap=()))


def leaves_of(value: object) -> Iterator[object]:
    """Yield a value, or what is in its tuples and lists."""
    if isinstance(value, (tuple, list)):
        for item in cast("Sequence[object]", value):
            yield from leaves_of(item)
    else:
        yield value


def _tensors(value: object, exported: list[_WithoutMemory]) -> Any:
    """Return a value with tensors for those that are described; add what they refer to."""
    if isinstance(value, Described):
        exported.append(_WithoutMemory(value))
        return exported[-1].tensor()
    if isinstance(value, (tuple, list)):
        return [_tensors(item, exported) for item in cast("Sequence[object]", value)]
    return value


def _is_address(atom: Condition) -> bool:
    return isinstance(atom, Comparison) and atom.of.is_address


def _without_sizes(signature: spec.Signature, values: Mapping[str, object]) -> spec.Signature:
    """Return a signature of the known arguments alone, with tensors of any size."""
    known = [
        _of_any_size(param)
        for param in signature.arguments
        if not any(leaf is UNKNOWN for leaf in leaves_of(values[param.name]))
        and not any(isinstance(each, spec.Shape) for _, each in spec.with_paths([param]))
    ]
    return spec.Signature(signature.name, known)


def _of_any_size(param: spec.Param) -> spec.Param:
    if isinstance(param, spec.Optional):
        return replace(param, param=_of_any_size(param.param))
    if isinstance(param, spec.List):
        return replace(param, length=None)
    if isinstance(param, spec.TensorList):
        tensor = cast("spec.Tensor", _of_any_size(param.tensor))
        return replace(param, tensor=tensor, length=None, each=())
    if isinstance(param, spec.TupleParam):
        return replace(param, params=[_of_any_size(each) for each in param.params])
    if isinstance(param, spec.Struct):
        return replace(param, fields=[_of_any_size(each) for each in param.fields])
    if not isinstance(param, spec.Tensor) or param.any_rank:
        return param
    strides: Any = "any"
    if param.packing > 1:  # one stride says which dimension is packed
        entries = param.stride_entries or ()
        strides = param.order or [1 if entry == 1 else None for entry in entries]
    return replace(param, shape=[None] * param.ndim, strides=strides, device_id=None)


def _shown(words: str, checked: spec.Signature, shown: spec.Signature) -> str:
    """Replace the checked signature in the message of an error by the one to show."""
    names = [param.name for param in shown.arguments]
    places = [(at, names.index(param.name)) for at, param in enumerate(checked.arguments)]
    for before, after in (*places, (None, None)):
        old, new = (
            f"{'' if at is None else f' on argument #{at}'} when calling: "
            f"`{signature_text(each.name, argument_texts(each), at)}`"
            for each, at in ((checked, before), (shown, after))
        )
        if old in words:
            return words.replace(old, new)
    return words


_NAME: Final = b"dltensor_versioned"
"""The name of the capsules, a constant since a capsule keeps only the address."""


class _WithoutMemory:
    """A DLPack export of a tensor without memory; it must outlive the tensors made of it."""

    def __init__(self, tensor: Described) -> None:
        known = tensor.is_known
        shape = tensor.shape if known else [1] * len(tensor.shape)
        strides = tensor.strides if known and tensor.strides is not None else contiguous(shape)
        device = abi.DEVICE_TYPES[tensor.device], tensor.device_id
        # The export has the addresses of these numbers.
        self._numbers = [(ctypes.c_int64 * len(shape))(*each) for each in (shape, strides)]
        # A NULL deleter, as Python owns the memory.
        self._managed = Managed(major=1)
        self._managed.tensor = DLTensor(
            *(_ADDRESS, *device, len(shape)),
            *parse_dtype(tensor.dtype),
            *map(ctypes.addressof, self._numbers),
        )

    def tensor(self) -> Any:
        """Return the ``tvm_ffi.Tensor``."""
        capsule = new_capsule(ctypes.addressof(self._managed), _NAME, None)
        return importing.load("tvm_ffi").from_dlpack(capsule)
