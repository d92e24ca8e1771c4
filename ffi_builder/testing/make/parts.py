"""Lists the parts of arguments to make, and makes the choices that a signature leaves open."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from ffi_builder import spec
from ffi_builder.extending import ANY, Comparison, Expr, Plain, dataclass, elements, symbols_in
from ffi_builder.testing.make import devices

Pick: TypeAlias = Callable[[str, str, Any, Any], Any]
"""Decides something that a signature leaves open.

Its arguments are the kind of choice, such as ``"dtype"``; the name of the path or symbol; the
parameter or symbol itself; and the usual choice, which :func:`usual` returns.
"""

_LONGEST: Final = 2**31 - 1
"""The most elements of a list."""
_ANY_RANK: Final = (2, 3)
"""The usual shape of a tensor that may have any rank."""
_FAKES: Final = {"cuda": ", or in a testing.FakeCuda()", "rocm": ", or in a testing.FakeHip()"}
"""Where tensors of a device type can be made."""


def usual(_kind: str, _name: str, _subject: Any, choice: Any) -> Any:
    """Return the usual choice; this is the :data:`Pick` of ``make_args``."""
    return choice


@dataclass(frozen=True)
class Entry:
    """A place of a symbol or an expression: a scalar, a size, a stride or a device id."""

    path: str
    role: str
    value: spec.Dim | None
    packing: int = 1
    """The value must be a multiple of this number."""
    rank: int = 2
    """The number of dimensions, for sizes."""


class Parts:
    """The parameters to make for a signature, by path.

    Every tensor has one dtype and a known rank, and every dimension has an entry. A list is
    replaced by its elements. A symbol with one value for each element becomes several symbols:
    ``m_0``, ``m_1`` and so on. Absent parameters and Choices are among the ``values``.

    Raises:
        ValueError: a tensor is not on the CPU.
    """

    def __init__(
        self,
        signature: spec.Signature,
        lengths: Mapping[str, int],
        values: Mapping[str, object],
        pick: Pick,
    ) -> None:
        self.params: dict[str, Plain] = {}
        self.values = dict(values)
        self.of_elements: dict[str, list[spec.Var]] = {}
        """The symbols of the elements, by the name of the symbol that they replace."""
        self.chosen: dict[str, str] = {}
        """The path of the parameter that each Variant is to be, by the path of the Variant."""
        self.lengths, self._pick = lengths, pick
        self._alignments = alignments_of(signature)
        self._taken = {var.name for var in symbols_in(signature.params)}
        for path, tensors in lists_of(signature).items():
            for var in tensors.each:
                known = self.of_elements.setdefault(var.name, [])
                for index in range(len(known), lengths[path]):
                    known.append(replace(var, name=self._new_name(f"{var.name}_{index}")))
        for index, param in enumerate(signature.arguments):
            self._add(param.name, param, index)

    @property
    def tensors(self) -> dict[str, spec.Tensor]:
        """The tensors by path."""
        return {path: p for path, p in self.params.items() if isinstance(p, spec.Tensor)}

    @property
    def numbers(self) -> dict[str, spec.List]:
        """The lists of numbers by path."""
        return {path: p for path, p in self.params.items() if isinstance(p, spec.List)}

    def entries(self) -> Iterator[Entry]:
        """Yield every place that may have a symbol."""
        for path, param in self.params.items():
            match param:
                case spec.Var():
                    yield Entry(path, "scalar", param)
                case spec.Shape():
                    for axis, entry in enumerate(param.shape):
                        yield Entry(f"{path}[{axis}]", "size", entry)
                case spec.TensorList() | spec.List():
                    yield Entry(f"length of {path}", "length", param.length)
                case spec.Tensor():
                    packed, packing = param.packed_axis, param.packing
                    for axis, entry in enumerate(param.dims):
                        at = f"{path}.shape[{axis}]"
                        yield Entry(at, "size", entry, packing if axis == packed else 1, param.ndim)
                    for axis, entry in enumerate(param.stride_entries or ()):
                        at = f"{path}.strides[{axis}]"
                        yield Entry(at, "stride", entry, 1 if axis == packed else packing)
                    yield Entry(f"{path}.device_id", "device", param.device_id)
                case _:
                    pass

    def _add(self, path: str, param: spec.Param, argument: int) -> None:
        if path in self.values:
            return
        plain = spec.required(param)
        if plain is not param and not self._pick("present", path, plain, True):
            self.values[path] = None
            return
        match plain:
            case spec.Tensor():
                if plain.device not in ("cpu", ANY) and not devices.active(plain.device):
                    fake = _FAKES.get(plain.device, "")
                    raise ValueError(
                        f"make_args: {path} on argument #{argument} is on {plain.device}, and "
                        f"make_args makes CPU arrays only; test with a signature whose device_type "
                        f"is 'cpu'{fake}"
                    )
                self.params[path] = self._narrowed(path, plain)
            case spec.TensorList():
                self.params[path] = plain
                for index in range(self.lengths[path]):
                    self._add(f"{path}[{index}]", self._element(plain, index), argument)
            case spec.List():
                length = plain.length
                if length is None:
                    length = spec.Var(
                        self._new_name(re.sub(r"\W", "_", path)), "int64", max=_LONGEST
                    )
                self.params[path] = replace(plain, length=length)
            case spec.Variant(parts=parts):
                self.params[path] = plain
                given = next((part for part in parts if f"{path}.{part}" in self.values), None)
                part = given or self._pick("part", path, plain, next(iter(parts)))
                self._add_chosen(path, part, plain, argument)
            case spec.Choice():
                self.values[path] = self._pick("choice", path, plain, next(iter(plain.choices)))
            case _:
                self.params[path] = plain
                for inner in elements(plain, path):
                    self._add(*inner, argument)

    def _add_chosen(self, path: str, part: str, param: spec.Variant, argument: int) -> None:
        """Add the parameter that a Variant is to be; a number becomes a symbol of its own."""
        self.chosen[path], chosen = f"{path}.{part}", param.parts[part]
        if isinstance(chosen, spec.Var):
            chosen = replace(chosen, name=self._new_name(re.sub(r"\W", "_", path)))
        self._add(self.chosen[path], chosen, argument)

    def _narrowed(self, path: str, tensor: spec.Tensor) -> spec.Tensor:
        """Return the tensor with one dtype, its alignment, and an entry for each dimension."""
        source = tensor.references.get("dtype")
        if source is None:
            dtype = self._pick("dtype", path, tensor, tensor.dtypes[0])
        elif source in self.params:
            dtype = self.tensors[source].dtype
        else:
            dtype = getattr(self.values.get(source), "dtype", tensor.dtypes[0])
        shape = self._pick("shape", path, tensor, _ANY_RANK) if tensor.any_rank else tensor.dims
        names = (re.sub(r"\W", "_", f"{path}_{axis}") for axis in range(len(shape)))
        dims = [
            spec.Var(self._new_name(name), "int64") if dim is None else dim
            for name, dim in zip(names, shape, strict=True)
        ]
        alignment = max(tensor.data_alignment or 0, self._alignments.get(path, 0)) or None
        return tensor.changed(dtype=dtype, shape=dims, data_alignment=alignment)

    def _element(self, tensors: spec.TensorList, index: int) -> spec.Tensor:
        """Return the tensor at this index of a list."""
        own = {var: self.of_elements[var.name][index] for var in tensors.each}
        tensor = tensors.tensor
        entries = tensor.strides
        if isinstance(entries, tuple):
            entries = [_renamed(entry, own) for entry in entries]
        return tensor.changed(
            shape=[_renamed(entry, own) for entry in tensor.dims],
            strides=entries,
            device_id=_renamed(tensor.device_id, own),
        )

    def _new_name(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def lists_of(signature: spec.Signature) -> dict[str, spec.TensorList]:
    """Return the lists of tensors by path."""
    params = ((path, spec.required(p)) for path, p in spec.with_paths(signature.params))
    return {path: param for path, param in params if isinstance(param, spec.TensorList)}


def alignments_of(signature: spec.Signature) -> dict[str, int]:
    """Return the bytes to which conditions such as ``x.data % 16 == 0`` align tensors, by path."""
    alignments: dict[str, int] = {}
    for each in (each for condition in signature.where for each in condition.atoms()):
        if isinstance(each, Comparison) and each.of.field == "data":
            path = each.of.path
            alignments[path] = max(each.of.divisor or 1, alignments.get(path, 1))
    return alignments


def _renamed(entry: Any, names: Mapping[spec.Var, spec.Var]) -> Any:
    """Return an entry in which some symbols are replaced."""
    if isinstance(entry, Expr):
        return Expr(entry.op, _renamed(entry.lhs, names), _renamed(entry.rhs, names))
    return names.get(entry, entry) if isinstance(entry, spec.Var) else entry
