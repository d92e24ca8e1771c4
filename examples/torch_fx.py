# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
"""Compile a PyTorch module to a function of torch tensors, with torch-mlir's fx importer.

torch.export ─► fx importer ─► linalg on tensors ─► memrefs ─► LLVM dialect ─► wrapper
"""

import re
import warnings

import torch
from torch_mlir import fx, ir

from ffi_builder import BuildError, attach, providers, runtime, spec

LOWERING = (
    "builtin.module(one-shot-bufferize{bufferize-function-boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map},"  # row-major, as the wrapper checks
    "buffer-results-to-out-params{modify-public-functions=1},"  # by default, private ones only
    "buffer-deallocation-pipeline,"  # without it every call leaks its intermediate results
    "func.func(refback-munge-memref-copy,convert-linalg-to-loops),"  # no call of @memrefCopy
    "expand-strided-metadata,lower-affine,func.func(convert-math-to-llvm),convert-math-to-libm,"
    "convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"
)


def tensors_of(program):
    """Return fake tensors for the inputs of an ExportedProgram, then for its results, by name."""
    exported = program.graph_signature
    if exported.user_inputs_to_mutate or exported.buffers_to_mutate:
        raise BuildError("The program writes to its inputs or buffers: is it in eval mode?")
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    results = [(f"out{index}", node) for index, node in enumerate(exported.user_outputs)]
    tensors = {}
    for label, node in [*((node, node) for node in exported.user_inputs), *results]:
        if not isinstance(values.get(node), torch.Tensor):
            raise BuildError(f"Expected tensors as inputs and results, but got {node!r}")
        tensors[label] = values[node]
    return tensors


def signature_of(name, program, dims=()):
    """Return the signature of an ExportedProgram; `dims` name its symbols in order."""
    program = program.run_decompositions({})  # afterwards it says which inputs it writes to
    params = [
        f"{label}: Tensor([{', '.join(map(str, x.shape))}], {str(x.dtype).removeprefix('torch.')})"
        for label, x in tensors_of(program).items()
    ]
    ranges = {str(s): range_ for s, range_ in program.range_constraints.items() if s.is_Symbol}
    # torch traces with a minimum of 2, but the program accepts 0 and 1 too.
    limits = [f"{range_.lower} <= {s}" for s, range_ in ranges.items() if range_.lower > 2]
    limits += [f"{s} <= {range_.upper}" for s, range_ in ranges.items() if range_.upper.is_Integer]
    text = f"{name}({', '.join(params)})" + " where " * bool(limits) + ", ".join(limits)
    symbols = [word for word in dict.fromkeys(re.findall(r"\w+", text)) if word in ranges]
    names = dict(zip(symbols, dims, strict=False))
    text = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)
    return spec.Signature.parse(text, device="cpu")


def compile_program(program, signature):
    """Compile an ExportedProgram to a module with one function, that of the signature."""
    kernel = f"{signature.name}_kernel"
    module = fx.export_and_import(program, output_type="linalg-on-tensors", func_name=kernel)
    # Otherwise the kernel may use the memory of its inputs for intermediate results.
    kept = ir.Attribute.parse("{bufferization.writable = false}", module.context)
    function = ir.SymbolTable(module.operation)[kernel]
    function.arg_attrs = [kept] * len(function.arguments)
    hook = [lambda lowered: attach(lowered, signature, providers.MemRefCallProvider(kernel))]
    return runtime.compile(module, pipeline=LOWERING, post_compile_hooks=hook)


def error_of(function, *args):
    try:
        function(*args)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    warnings.filterwarnings("ignore", ".*LeafSpec", FutureWarning)  # torch 2.13 about its own code
    layers = torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10), torch.nn.Softmax(1)
    model = torch.nn.Sequential(*layers).eval()
    shapes = ({0: torch.export.Dim("batch")},)
    program = torch.export.export(model, (torch.zeros(2, 16),), dynamic_shapes=shapes)
    mlp = compile_program(program, signature_of("mlp", program, ["batch"]))["mlp"]
    for batch in (1, 2, 7, 64):
        x, out = torch.randn(batch, 16), torch.empty(batch, 10)
        mlp(x, out)
        torch.testing.assert_close(out, model(x).detach())
        print(f"{batch}: as eager")
    print(error_of(mlp, x, out[1:]))
    print(error_of(mlp, x.T.contiguous().T, out))
    print(error_of(mlp, x.double(), out))
