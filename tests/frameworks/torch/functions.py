"""Functions for the tests of operators, with kernels whose results depend on all they are given."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import tvm_ffi

from ffi_builder import attach, runtime
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    NopCallProvider,
    PackedCallProvider,
)
from ffi_builder.spec import List, Signature, Tensor, TensorList
from tests.support.loops import loop
from tests.support.wrapping import new_module

NAMESPACE: Final = "ffi_builder_tests"
_numbers: Final = itertools.count()

# For i < n: y[i] = a * x[i] + b * y[i]
AXPBY: Final = loop(
    "axpby",
    "%x: !llvm.ptr, %y: !llvm.ptr, %n: i64, %a: f32, %b: f32",
    """
  %xi = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %yi = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %old = llvm.load %xi : !llvm.ptr -> f32
  %was = llvm.load %yi : !llvm.ptr -> f32
  %left = llvm.fmul %old, %a : f32
  %right = llvm.fmul %was, %b : f32
  %new = llvm.fadd %left, %right : f32
  llvm.store %new, %yi : f32, !llvm.ptr""",
) + loop(
    "scale",
    "%x: !llvm.ptr, %y: !llvm.ptr, %n: i64, %a: f32",
    """
  %xi = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %yi = llvm.getelementptr %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %old = llvm.load %xi : !llvm.ptr -> f32
  %new = llvm.fmul %old, %a : f32
  llvm.store %new, %yi : f32, !llvm.ptr""",
)


def operator(function: Any, *, name: str | None = None, **options: Any) -> Any:
    """An operator of that function, under a name that no other has."""
    from ffi_builder.frameworks import torch as ffi_torch  # needs torch, which may be missing

    return ffi_torch.operator(function, namespace=NAMESPACE, name=name or unique("op"), **options)


def unique(name: str) -> str:
    """A name that no operator of this process has."""
    return f"{name}_{next(_numbers)}"


def compiled(
    signature: Signature, provider: CallProvider, text: str = ""
) -> runtime.CompiledModule:
    module = new_module(text)
    attach(module, signature, provider)
    return runtime.compile(module)


def scale() -> Any:
    """``y = a * x`` of vectors; y is an output."""
    text = (
        "scale(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out), a: float32)"
    )
    signature = Signature.parse(text, device="cpu")
    return compiled(signature, DirectCallProvider("scale", args=["x", "y", "n", "a"]), AXPBY)[
        "scale"
    ]


def axpby() -> Any:
    """``y = a * x + b * y`` of vectors."""
    text = (
        "axpby(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=inout), "
        "a: float32, b: float32)"
    )
    signature = Signature.parse(text, device="cpu")
    provider = DirectCallProvider("axpby", args=["x", "y", "n", "a", "b"])
    return compiled(signature, provider, AXPBY)["axpby"]


def in_python(signature: Signature) -> Any:
    """A function whose kernel is Python: see `mixed`."""
    name = f"{NAMESPACE}.{unique('kernel')}"
    tvm_ffi.register_global_func(name, mixed(signature))
    return compiled(signature, PackedCallProvider(global_function=name))[signature.name]


def mixed(signature: Signature) -> Callable[..., object]:
    """A kernel that puts a number that depends on all arguments into all that it writes."""
    torch: Any = import_module("torch")

    def kernel(*args: Any) -> None:
        total = 1.0
        written: list[Any] = []
        for param, arg in zip(signature.arguments, args, strict=False):
            inner: Any = getattr(param, "param", param)
            if isinstance(inner, TensorList):
                total += sum(float(torch.from_dlpack(each).sum()) for each in arg or ())
                continue
            if not isinstance(inner, Tensor):
                total += sum(arg) if isinstance(inner, List) and arg else 0
                total += len(arg) if isinstance(arg, str) or hasattr(arg, "__len__") else arg or 0
                continue
            if arg is None:
                continue
            tensor = torch.from_dlpack(arg)
            if inner.intent != "out":
                total += float(tensor.double().sum())
            if inner.intent != "in":
                written.append(tensor)
        # The wrapper passes the tensors that it has allocated behind the others.
        written += map(torch.from_dlpack, args[len(signature.arguments) :])
        for number, tensor in enumerate(written):
            tensor.fill_(int(total) % 100 + number)

    return kernel


SCALE = "`scale(x: Tensor([n], float32), y: Tensor([n], float32), a: float32)`"


def parsed(text: str) -> Signature:
    return Signature.parse(text, device="cpu")


def nop(text: str) -> Any:
    """A function that does nothing."""
    signature = parsed(text)
    return compiled(signature, NopCallProvider())[signature.name]


def keep(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.a = inputs[1]


def times(ctx: Any, grad: Any) -> Any:
    return grad * ctx.a, None


def differentiated(**options: Any) -> Any:
    """``a * x``, with its derivative."""
    return operator(scale(), form="functional", backward=times, setup_context=keep, **options)


def both(op: Any) -> list[Callable[..., Any]]:
    return [op, op.overload]


def leaf() -> Any:
    torch: Any = import_module("torch")
    return torch.arange(3.0).requires_grad_()
