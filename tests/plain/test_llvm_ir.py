"""A wrapper in a plain module is LLVM IR for LLVM IR what MLIR's translation makes of the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ffi_builder import Sanitize, attach, ir, packed, providers, runtime, spec
from ffi_builder.builder import reuse
from ffi_builder.providers import CallProvider, when
from tests.builder.test_golden import MODULES
from tests.cuda.launching import SAXPY_PARAMS
from tests.differential.recorder import Recorder
from tests.differential.tricky import CASES
from tests.fakecuda import make_cubin
from tests.fakecuda.kernels import BOUNDED, CLUSTERED, SAXPY
from tests.plain.comparing import symbols_of
from tests.support.wrapping import new_module

_KEPT = reuse._KEPT  # pyright: ignore[reportPrivateUsage]


@pytest.fixture(autouse=True)
def nothing_is_reused() -> Iterator[None]:
    """A wrapper from MLIR's bytecode has the branches of a block in another order."""
    _KEPT.clear()
    yield
    _KEPT.clear()


def compare(signature: spec.Signature, provider: CallProvider, **options: Any) -> None:
    other, plain = new_module(), ir.PlainModule()
    attach(other, signature, provider, **options)
    _KEPT.clear()
    attach(plain, signature, provider, **options)
    expected, found = symbols_of(runtime.llvm_ir(other)), symbols_of(plain.llvm_ir())
    assert found.keys() == expected.keys()
    for name, text in expected.items():
        assert found[name] == text, name


@pytest.mark.parametrize("name", MODULES)
def test_golden_wrappers(name: str):
    params, provider = MODULES[name]
    compare(spec.Signature(name, params), provider)


n, m = spec.dims("n m")
X = spec.Tensor("x", [n, m], "float32", device_type="cpu")
Y = spec.Tensor("y", [n, m], "float32", device_type="cpu")
HALF = spec.Tensor("h", [n], ("float16", "float32"), device_type="cpu")
RESULT = spec.Tensor("r", [n, m], "float32", device_type="cpu")
WORK = spec.Workspace("w", [n * 2], "float32", device_type="cpu", zero=True)
IS_HALF = when.dtype(HALF) == "float16"
direct = providers.DirectCallProvider
kernel = direct("k", args=["x", "n"])
STRUCTS = providers.DynamicParamPackCallProvider("k", struct_call=True)

PROVIDED: dict[str, tuple[spec.Signature, CallProvider]] = {
    "memrefs": (spec.Signature("f", [X, Y]), providers.MemRefCallProvider("k")),
    "structs": (spec.Signature("f", [X, spec.Var("s", "int16")]), STRUCTS),
    "status": (spec.Signature("f", [X]), providers.CheckStatus(kernel)),
    "variants": (
        spec.Signature("f", [HALF]),
        providers.VariantsCallProvider(
            [
                providers.Variant(direct("half", args=["h", "n"]), when=IS_HALF),
                providers.Variant(direct("wide", args=["h", "n"]), when=when.divisible(n, 8)),
                providers.Variant(direct("narrow", args=["h", "n"])),
            ]
        ),
    ),
    "packed": (spec.Signature("f", [X], spec.Var("r", "int64")), providers.PackedCallProvider("g")),
    "registered": (
        spec.Signature("f", [X, spec.String("s")], spec.Object("r")),
        providers.PackedCallProvider(packed.GlobalFunction("a.b"), args=["x", n * m, "x.dtype"]),
    ),
    "imported": (
        spec.Signature("f", [X]),
        providers.PackedCallProvider(packed.ImportedFunction("forward")),
    ),
    "scalars": (
        spec.Signature("f", [spec.Var("a", "float64")], spec.Var("r", "float32")),
        direct("k"),
    ),
    "a result": (spec.Signature("f", [X], RESULT), direct("k", args=["x", "r", "n"])),
    "a workspace": (spec.Signature("f", [X, WORK]), direct("k", args=["x", "w"])),
    "no overlap": (spec.Signature("f", [X, Y], no_overlap=["y"]), direct("k", args=["x", "y"])),
    "a launch": (
        spec.Signature("f", SAXPY_PARAMS),
        providers.CudaLaunchCallProvider(make_cubin([SAXPY]), SAXPY.name, grid=1, block=128),
    ),
    "a launch in clusters": (
        spec.Signature("f", [spec.Var("out", "handle"), spec.Stream("stream")]),
        providers.CudaLaunchCallProvider(
            make_cubin([CLUSTERED]), CLUSTERED.name, grid=8, block=1, args=["out"]
        ),
    ),
    "a launch with limits": (
        spec.Signature("f", [spec.Var("out", "handle"), spec.Stream("stream")]),
        providers.CudaLaunchCallProvider(
            make_cubin([BOUNDED]), BOUNDED.name, grid=1, block=64, args=["out"]
        ),
    ),
}


@pytest.mark.parametrize("name", PROVIDED)
def test_providers(name: str):
    compare(*PROVIDED[name])


def test_sanitize():
    signature = spec.Signature("f", [X, Y], RESULT)
    compare(signature, direct("k", args=["x", "y", "r"]), sanitize=Sanitize())


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_signatures_of_every_kind(name: str):
    """The recorder's kernel gets every value of the signature."""
    compare(CASES[name].signature, Recorder(CASES[name].signature))
