"""The signatures that are measured, each with right arguments and its hand-written counterpart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ffi_builder import providers, spec

RANK_4 = (2, 3, 4, 5)


@dataclass(frozen=True)
class Case:
    """``hand_<name>`` and ``kernel_<name>`` are in handwritten.c and kernels.c."""

    name: str
    title: str
    params: list[spec.Param]
    forwarded: list[spec.Param | spec.Dim]
    args: list[object]

    @property
    def provider(self) -> providers.DirectCallProvider:
        """Passes the data pointers and everything that is bound."""
        return providers.DirectCallProvider(f"kernel_{self.name}", args=self.forwarded)


def cpu_tensor(name: str, shape: list[spec.Var], strides: list[spec.Var] | None) -> spec.Tensor:
    return spec.Tensor(name, shape, "float32", device_type="cpu", strides=strides)


def scalar() -> Case:
    x = spec.Var("x", "int32")
    return Case("scalar", "a scalar, int32", [x], [x], [7])


def matmul() -> Case:
    n, k, m = spec.dims("n k m")
    params: list[spec.Param] = [
        cpu_tensor(name, shape, None)
        for name, shape in zip("ABC", [[n, k], [k, m], [n, m]], strict=True)
    ]
    args: list[object] = [np.zeros(shape, "float32") for shape in [(3, 4), (4, 5), (3, 5)]]
    return Case("mm", "matmul, 3 tensors", params, [*params, n, k, m], args)


def eight_tensors(strided: bool) -> Case:
    shape = list(spec.dims("a b c d"))
    strides = [list(spec.dims(" ".join(f"s{i}_{axis}" for axis in range(4)))) for i in range(8)]
    params: list[spec.Param] = [
        cpu_tensor(f"x{i}", shape, strides[i] if strided else None) for i in range(8)
    ]
    forwarded: list[spec.Param | spec.Dim] = [*params, *shape]
    if strided:
        forwarded += [stride for tensor in strides for stride in tensor]
    args: list[object] = [np.zeros(RANK_4, "float32") for _ in range(8)]
    name = "t8_strided" if strided else "t8"
    title = f"8 tensors of rank 4, {'dynamic strides' if strided else 'contiguous'}"
    return Case(name, title, params, forwarded, args)


CASES = [scalar(), matmul(), eight_tensors(strided=False), eight_tensors(strided=True)]
MATMUL = CASES[1]
