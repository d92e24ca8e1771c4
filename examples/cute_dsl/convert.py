"""Converts CuTe DSL's descriptions of parameters to ffi_builder's.

It reads them by the name of their class and by public attributes, so it does not import CuTe DSL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ffi_builder import BuildError, spec

NAMED = ("Stream", "EnvStream", "ConstNone")
VALUED = ("ConstInt", "ConstBool", "ConstFloat")


class Conversion:
    """Converts the parameters of one function, which share symbols.

    Raises:
        BuildError: for an object of an unknown class, or a scalar of an unknown type.
        SpecError: if ffi_builder cannot check what an object describes.
    """

    def __init__(self, params: Sequence[Any]) -> None:
        # CuTe DSL names symbols n0, n1, s0, … per function. Parameters may have such names too.
        self._taken = {param.name for param in params}
        self._symbols: dict[object, spec.Var] = {}
        self.params = [self._param(param, param.name) for param in params]

    def _param(self, given: Any, name: str) -> spec.Param:
        kind = type(given).__name__
        if kind == "Tensor":
            return self._tensor(given, name)
        if kind == "Var":
            return self._scalar(given, name)
        if kind == "Shape":
            return spec.Shape(name, [self._size(entry) for entry in given.shape])
        if kind == "TupleParam":
            return self._tuple(given, name)
        if kind == "DataPointer":
            return spec.DataPointer(name, address_space=given.address_space)
        if kind in NAMED:
            return getattr(spec, kind)(name)
        if kind in VALUED:
            return getattr(spec, kind)(name, given.value)
        raise BuildError(f"parameter {given.name!r} is a {kind}, which this hook does not know")

    def _scalar(self, var: Any, name: str) -> spec.Var:
        if var.alternate_ir_type_fetch_func is not None:
            raise BuildError(
                f"parameter {var.name!r}: a scalar that is passed as another type than {var.dtype} "
                f"(as a TFloat32 is), which this hook does not know"
            )
        return spec.Var(name, str(var.dtype), divisibility=var.divisibility)

    def _tuple(self, given: Any, name: str) -> spec.Param:
        """Convert a tuple (elements are cfg[0], …) or a dataclass (elements are cfg.alpha, …)."""
        parts = [element.name.rpartition(".") for element in given.params]
        if parts and all(base == given.name and field.isidentifier() for base, _, field in parts):
            kind, names = spec.Struct, [self._new(field) for _, _, field in parts]
        else:
            kind, names = spec.TupleParam, [self._new(f"{name}_{i}") for i in range(len(parts))]
        return kind(name, [self._param(*pair) for pair in zip(given.params, names, strict=True)])

    def _tensor(self, given: Any, name: str) -> spec.Tensor:
        # CuTe DSL counts 4-bit floats in pairs, as frameworks store them. The entry point and
        # ffi_builder count single ones.
        two = given.map_tensor_dtype_f4x2_to_f4
        packed = given.strides.index(1) if two else None
        tensor = spec.Tensor(
            name,
            [self._size(entry, twice=axis == packed) for axis, entry in enumerate(given.shape)],
            "float4_e2m1fn" if two else str(given.dtype),
            device_type=given.device_type_name,
            strides=[self._size(s, twice=two and s != 1) for s in given.strides],
            data_alignment=given.data_alignment,
        )
        return spec.create_map_tensor_dtype_f4x2_to_f4_spec(tensor) if two else tensor

    def _size(self, entry: Any, *, twice: bool = False) -> spec.Dim:
        factor = 2 if twice else 1
        if isinstance(entry, int):
            return entry * factor
        divisor = (entry.divisibility or 1) * factor
        key = (entry.name, str(entry.dtype), divisor)
        if key not in self._symbols:
            name, multiple = self._new(entry.name), None if divisor == 1 else divisor
            self._symbols[key] = spec.Var(name, str(entry.dtype), divisibility=multiple)
        return self._symbols[key]

    def _new(self, name: str) -> str:
        """Return the name, with underscores appended if the function has it already."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name
