"""How TileLang launches kernels, with stand-ins that have the attributes of TVM's objects.

tests/examples/test_tilelang.py does the same with TileLang itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from ffi_builder import BuildError, cuda
from ffi_builder.providers.cuda import TensorMap


@dataclass(frozen=True)
class Var:
    """A variable of TVM's, or the name of a function."""

    name: str

    @property
    def name_hint(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name


@dataclass
class DeclBuffer:
    buffer: Any


@dataclass
class Body:
    seq: list[Any] = field(default_factory=list[Any])


def module(name: str, **fields: Any) -> Any:
    return SimpleNamespace(functions={Var(name): SimpleNamespace(**fields)})


def text(value: str) -> Any:
    return SimpleNamespace(value=value)


def artifact(
    *maps: list[Any], shape: tuple[Any, ...] = (Var("m"), 128), extent: Any = None, **attrs: Any
) -> Any:
    """A kernel of a tensor ``x`` and a number, and of a map ``x_desc`` instead if one is given."""
    known = {"thread_extent": extent or {"blockIdx.x": Var("m"), "threadIdx.x": 64}} | attrs
    params = [Var("x_desc" if maps else "x"), Var("m")]
    body = Body([DeclBuffer(SimpleNamespace(data=Var("x"), shape=shape)), Body()])
    described = {"tma_descriptor_args": {Var("x_desc"): each for each in maps}}
    return SimpleNamespace(
        device_mod=module("k", params=params, attrs=known),
        host_mod=module("host", body=body, attrs=described),
    )


def test_a_launch() -> None:
    assert cuda.tilelang_launch(artifact()) == {
        "kernel": "k",
        "args": ["x", "m"],
        "grid": ("m", 1, 1),
        "block": (64, 1, 1),
        "dynamic_smem_bytes": 0,
    }
    extent = {"blockIdx.y": Var("(m + 3) // 4"), "threadIdx.x": 32, "threadIdx.y": 2}
    options: dict[str, Any] = {
        "cluster_dims": [2, 1, 1],
        "use_cooperative_groups": True,
        "has_cuda_pdl_sync": True,
    }
    found = cuda.tilelang_launch(artifact(extent=extent, dyn_shared_memory_buf=512, **options))
    assert found == {
        "kernel": "k",
        "args": ["x", "m"],
        "grid": (1, "(m + 3) // 4", 1),
        "block": (32, 2, 1),
        "dynamic_smem_bytes": 512,
        "cluster": (2, 1, 1),
        "attributes": ["cooperative", "programmatic_stream_serialization"],
    }


def test_a_tiled_map() -> None:
    """The driver's order is turned round."""
    tiled = [text("__tvm_tensormap_create_tiled"), Var("x_desc"), 6, 2, Var("x"), 128, Var("m")]
    numbers = [2, 256, 64, 32, 1, 2, 0, 3, 2, 1]
    found = cuda.tilelang_launch(artifact([*tiled, *numbers]))["args"]
    assert found == [
        TensorMap(
            "x",
            box=(32, 64),
            element_strides=(2, 1),
            swizzle="128B",
            l2_promotion="128B",
            oob_fill="nan",
            dtype="float16",
        ),
        "m",
    ]


def test_an_im2col_map() -> None:
    im2col = [text("__tvm_tensormap_create_im2col"), Var("x_desc"), 6, 4, Var("x"), 64, 9, 8, 2]
    strides, steps, corners = [2, 128, 1152, 9216], [1] * 4, [-1, -2, 1, 2]
    given = [*im2col, *strides, *steps, *corners, 128, 64, 0, 3, 2, 0]
    (found, _) = cuda.tilelang_launch(artifact(given, shape=(2, 8, 9, 64)))["args"]
    assert found == TensorMap(
        "x",
        corners=((-2, -1), (2, 1)),
        pixels=128,
        channels=64,
        swizzle="128B",
        l2_promotion="128B",
        dtype="float16",
    )


def test_what_cannot_be_launched() -> None:
    with pytest.raises(BuildError, match=r"expected what tilelang.lower returns but got 3$"):
        cuda.tilelang_launch(3)
    two = artifact()
    two.device_mod.functions[Var("other")] = None
    with pytest.raises(BuildError, match="expected one kernel but got k, other"):
        cuda.tilelang_launch(two)
    tiled = [text("__tvm_tensormap_create_tiled"), Var("x_desc"), 6, 1, Var("x"), 999]
    words = r"the map of 'x' is of the sizes \(999,\), but the tensor has \('m', 128\): wrappers"
    with pytest.raises(BuildError, match=words):
        cuda.tilelang_launch(artifact([*tiled, 2, 64, 1, 0, 3, 2, 0]))
