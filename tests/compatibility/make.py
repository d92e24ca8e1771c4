"""Makes the files of a version: libraries, an object, and an entry of the compile cache.

    CC='cc -s -Wl,-z,noseparate-code' python -m tests.compatibility.make 0.3.0

They are for x86-64, and stripped, as this `CC` links them. A release adds a folder of them, and none
is ever made anew for a version that is out. `-s` strips; they end in `.library`, as git ignores `.so`.
"""

from __future__ import annotations

import argparse
import math
import shutil
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from ffi_builder import attach, providers, runtime, spec
from tests.fakecuda import KernelImage, make_cubin
from tests.support.loops import SCALE

FILES = Path(__file__).parent / "files"
KEY = ("compatibility", 1)
"""The key of the entry in the cache."""
BYTES = b"a module of another runtime"
KIND = "ffi_builder_compatibility"

KERNELS = (
    SCALE
    + """
llvm.func @first(%x: !llvm.ptr) -> f32 {
  %v = llvm.load %x : !llvm.ptr -> f32
  llvm.return %v : f32
}
llvm.func @copy(%x: !llvm.ptr, %y: !llvm.ptr) {
  %v = llvm.load %x : !llvm.ptr -> f32
  llvm.store %v, %y : f32, !llvm.ptr
  llvm.return
}
"""
)


def kinds() -> spec.Signature:
    """Return a signature with parameters of most kinds."""
    k, mode = spec.Var("k", "int64"), {"relu": 1, "gelu": 2}
    params = [
        spec.String("text"),
        spec.Bytes("data"),
        spec.Choice("mode", mode),
        spec.Optional(spec.Var("maybe", "int64")),
        spec.TupleParam("pair", [spec.Var("a", "int32"), spec.Var("b", "float64")]),
        spec.Struct("cfg", [spec.Var("rate", "float32"), spec.Var("on", "bool")]),
        spec.Shape("shape", [k, 3]),
        spec.DType("dtype"),
        spec.Device("device"),
        spec.Object("anything"),
        spec.Function("callback"),
        spec.Array("items"),
        spec.Map("table"),
        spec.ConstInt("three", 3),
    ]
    return spec.Signature("kinds", params)


def module_of(text: str) -> Any:
    """Parse a module."""
    ir: Any = import_module("torch_mlir.ir")
    return ir.Module.parse(text, ir.Context())


def values() -> Any:
    """A module with tensors, values of every kind, and results."""
    module = module_of(KERNELS)
    n = spec.Var("n", "int64")
    x = spec.Tensor("x", [n], "float32", device_type="cpu")
    factor = spec.Var("factor", "float32", default=2.0, doc="what x is multiplied by")
    scale = spec.Signature("scale", [x, factor], doc="Multiply x in place.")
    direct = providers.DirectCallProvider
    attach(module, scale, direct("scale", args=["x", "n", "factor"]))
    attach(module, kinds(), providers.NopCallProvider())
    for text, args in (
        ("first(x: Tensor([n], float32)) -> r: float32", ["x"]),
        ("copy(x: Tensor([n], float32)) -> y: Tensor([n, 2], float32)", ["x", "y"]),
    ):
        signature = spec.Signature.parse(text, device="cpu")
        attach(module, signature, direct(signature.name, args=args))
    return module


def described() -> Any:
    """A module with one function, whose metadata has every form that `spec.metadata` writes."""
    n, m = spec.Var("n", "int64"), spec.Var("m", "int64")
    with spec.DefaultConfig(device_type="cuda"):
        x = spec.Tensor("x", [n], "float32", intent="in")
        y, z = (spec.Tensor(name, [n], "float32") for name in "yz")
    pair = [spec.Var("a", "int32"), spec.Var("b", "int32")]
    params = [
        x,
        m,
        spec.Optional(spec.Var("maybe", "int64"), default=None),
        spec.TupleParam("pair", pair, default=(1, 2)),
        spec.Var("rate", "float64", default=math.inf, kw_only=True, doc="how fast"),
        spec.Bytes("data", default=b"\0\xff", kw_only=True),
        spec.Map("table", default={"a": [1]}, kw_only=True),
        spec.Object("anything", default=range(3), kw_only=True),
        spec.EnvStream("stream"),
    ]
    module = module_of("")
    signature = spec.Signature("described", params, returns=(y, z), where=[n <= m])
    attach(module, signature, providers.NopCallProvider())
    return module


def launch() -> Any:
    """A module that launches a CUDA kernel, `void count(int n, void *out)`."""
    module = module_of("")
    n = spec.Var("n", "int32")
    signature = spec.Signature("launch", [n, spec.DataPointer("p"), spec.Stream("stream")])
    image = make_cubin([KernelImage("count", (4, 8))])
    provider = providers.CudaLaunchCallProvider(image, "count", grid=n, block=32)
    attach(module, signature, provider)
    return module


def small() -> Any:
    """A module with one function, `small(a: int32)`."""
    module = module_of("")
    attach(module, spec.Signature.parse("small(a: int32)"), providers.NopCallProvider())
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the files of a version.")
    parser.add_argument("version")
    folder = FILES / parser.parse_args().version
    folder.mkdir(parents=True)
    compiled = runtime.compile(values())
    compiled.export_library(folder / "values.library")
    compiled.export_object(folder / "values.object")
    runtime.compile(described()).export_library(folder / "described.library")
    runtime.compile(launch()).export_library(folder / "launch.library")
    modules = [(KIND, BYTES)]
    runtime.compile(small()).export_library(folder / "modules.library", modules=modules)
    with tempfile.TemporaryDirectory() as cache:
        runtime.compile_cached(KEY, small, cache_dir=cache)
        (entry,) = Path(cache).iterdir()
        shutil.copy(entry, folder / entry.name)


if __name__ == "__main__":
    main()
