"""Describe a kernel to ffi_builder, attach the wrappers, and compile."""

# pyright: basic, reportArgumentType=false, reportMissingImports=false
from __future__ import annotations

from dataclasses import replace

from codegen import LOWERING, build
from definition import DTYPES, Definition

from ffi_builder import attach, runtime, signature_of, spec
from ffi_builder.ir import Module
from ffi_builder.providers import MemRefCallProvider, Variant, VariantsCallProvider, when


def signatures(kernel: Definition) -> dict[str, spec.Signature]:
    """Return the signatures of two functions: one returns its result, and one is given `out`."""
    symbols = {name: [axis.name for axis in array.axes] for name, array in kernel.arrays.items()}
    variant = kernel.variants()[0]
    known = signature_of(build(kernel), variant.symbol, symbols=symbols, device_type="cpu")
    params = [described(param, kernel) for param in known.params[:-1]]
    out = known.params[-1]
    like = next(name for name, array in kernel.arrays.items() if not array.optional)
    returned = replace(out, dtype=f"{like}.dtype")
    stored = replace(out, dtype=DTYPES, intent="out", kw_only=True)
    return {
        kernel.name: spec.Signature(kernel.name, params, returned),
        f"{kernel.name}_into": spec.Signature(kernel.name, [*params, stored], no_overlap=True),
    }


def described(param: spec.Param, kernel: Definition) -> spec.Param:
    """Add what the type of an argument does not say."""
    default = kernel.defaults.get(param.name, spec.MISSING)
    if not isinstance(param, spec.Tensor):
        return replace(param, default=default)
    tensor = replace(param, dtype=DTYPES, intent="in")
    optional = kernel.arrays[param.name].optional
    return spec.Optional(tensor, default=default) if optional else tensor


def provider(kernel: Definition, signature: spec.Signature) -> VariantsCallProvider:
    """Choose the function by the dtypes of the arrays, and by which of them are passed."""
    variants = []
    for variant in kernel.variants():
        given = [*variant.given, "out"]
        conditions = [
            when.dtype(param) == variant.dtype if param.name in given else ~when.present(param)
            for param in signature.params
            if isinstance(spec.required(param), spec.Tensor)
        ]
        callee = MemRefCallProvider(variant.symbol, args=given)
        variants.append(Variant(callee, when=when.all_of(*conditions)))
    return VariantsCallProvider(variants)


def compile_kernel(kernel: Definition, *, sanitize: bool = False) -> runtime.CompiledModule:
    """Compile a kernel, once for all sizes, dtypes and choices of optional arrays."""

    def hook(lowered: Module) -> None:
        for symbol, signature in signatures(kernel).items():
            call = provider(kernel, signature)
            attach(lowered, signature, call, symbol_name=symbol, sanitize=sanitize)

    return runtime.compile(build(kernel), pipeline=LOWERING, post_compile_hooks=[hook])
