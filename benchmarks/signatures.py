"""The measured signatures, as ffi_builder describes them, with valid arguments.

``hand_<name>_<how>`` and ``unchecked_<name>_<how>`` are their counterparts in C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from arguments import arguments

from ffi_builder import providers, spec

HOW = ("nop", "direct", "pointers", "structs")
"""Conventions of calling the kernel; `nop` calls none. kernels.h describes the others."""


@dataclass(frozen=True)
class Case:
    """A signature; ``direct`` passes the values in ``forwarded``."""

    name: str
    title: str
    params: list[spec.Param]
    forwarded: list[spec.Param | spec.Dim]

    @property
    def args(self) -> list[object]:
        """Make valid arguments, with NumPy arrays."""
        return arguments(self.name)

    @property
    def provider(self) -> providers.DirectCallProvider:
        """Return a provider that passes the data pointers and every bound symbol."""
        return providers.DirectCallProvider(f"kernel_{self.name}_direct", args=self.forwarded)

    def calling(self, how: str) -> providers.CallProvider:
        """Return the provider for one of `HOW`."""
        match how:
            case "nop":
                return providers.NopCallProvider()
            case "direct":
                return self.provider
            case "pointers":
                return providers.DynamicParamPackCallProvider("kernel_pointers")
            case _:
                callee = f"kernel_{self.name}_structs"
                return providers.DynamicParamPackCallProvider(callee, struct_call=True)


def cpu_tensor(name: str, shape: list[spec.Var], strides: list[spec.Var] | None) -> spec.Tensor:
    return spec.Tensor(name, shape, "float32", device_type="cpu", strides=strides)


def scalar() -> Case:
    x = spec.Var("x", "int32")
    return Case("scalar", "a scalar, int32", [x], [x])


def matmul() -> Case:
    n, k, m = spec.dims("n k m")
    params: list[spec.Param] = [
        cpu_tensor(name, shape, None)
        for name, shape in zip("ABC", [[n, k], [k, m], [n, m]], strict=True)
    ]
    return Case("mm", "matmul, 3 tensors", params, [*params, n, k, m])


def eight_tensors(strided: bool) -> Case:
    shape = list(spec.dims("a b c d"))
    strides = [list(spec.dims(" ".join(f"s{i}_{axis}" for axis in range(4)))) for i in range(8)]
    params: list[spec.Param] = [
        cpu_tensor(f"x{i}", shape, strides[i] if strided else None) for i in range(8)
    ]
    forwarded: list[spec.Param | spec.Dim] = [*params, *shape]
    if strided:
        forwarded += [stride for tensor in strides for stride in tensor]
    name = "t8_strided" if strided else "t8"
    title = f"8 tensors of rank 4, {'dynamic strides' if strided else 'contiguous'}"
    return Case(name, title, params, forwarded)


def strided() -> Case:
    return eight_tensors(strided=True)


def nested() -> Case:
    n = spec.Var("n", "int64")
    a, b = (cpu_tensor(name, [n], None) for name in "AB")
    x = spec.Var("x", "int32")
    params: list[spec.Param] = [spec.TupleParam("p", [a, spec.TupleParam("q", [x, b])])]
    return Case("nested", "nested tuples", params, [a, x, b, n])


def pointers() -> Case:
    n, m = spec.dims("n m")
    data, stream = spec.DataPointer("data"), spec.Stream("stream")
    params: list[spec.Param] = [spec.Shape("shape", [n, m, 4]), data, stream]
    return Case("ptrs", "Shape, DataPointer, Stream", params, [n, m, data, stream])


MAKERS: dict[str, Callable[[], Case]] = {
    "scalar": scalar,
    "mm": matmul,
    "t8_strided": strided,
    "nested": nested,
    "ptrs": pointers,
}
"""The five that compare.py measures."""

CASES = [scalar(), matmul(), eight_tensors(strided=False), eight_tensors(strided=True)]
MATMUL = CASES[1]
