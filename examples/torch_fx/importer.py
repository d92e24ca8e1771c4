"""Compile an exported PyTorch program with torch-mlir's fx importer, behind a checked signature.

torch.export ─► fx importer ─► linalg on tensors ─► memrefs ─► LLVM dialect ─► wrapper

What the importer assumes of sizes and indices is asserted, and a failed assert is an error.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
from asserts import add_asserts
from decompositions import DECOMPOSITIONS
from torch_mlir import fx, ir
from torch_mlir.compiler_utils import OutputType, lower_mlir_module
from views import flatten_views

from ffi_builder import attach, providers, return_asserts, runtime

LOWERING = (
    "builtin.module(one-shot-bufferize{bufferize-function-boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map},"  # row-major, as the wrapper checks
    "buffer-results-to-out-params{modify-public-functions=1},"  # by default, private ones only
    "buffer-deallocation-pipeline,"  # without it every call leaks its intermediate results
    "generate-runtime-verification{verbose-level=0},canonicalize,cse,"  # asserts of each operation
    "func.func(refback-munge-memref-copy,convert-linalg-to-loops),"  # no call of @memrefCopy
    "expand-strided-metadata,lower-affine,func.func(convert-math-to-llvm),convert-math-to-libm,"
    "convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"
)


def compile_program(program, signature, **options):
    """Compile an ExportedProgram to a module with one function, that of the signature.

    `options` are those of `runtime.compile`, such as `opt_level`.
    """
    kernel = f"{signature.name}_kernel"
    module = fx.export_and_import(
        program, output_type="torch", func_name=kernel, decomposition_table=DECOMPOSITIONS
    )
    flatten_views(module)
    module = lower_mlir_module(False, OutputType.LINALG_ON_TENSORS, module)
    add_asserts(module)
    # Otherwise the kernel may use the memory of its inputs for intermediate results.
    kept = ir.Attribute.parse("{bufferization.writable = false}", module.context)
    function = ir.SymbolTable(module.operation)[kernel]
    function.arg_attrs = [kept] * len(function.arguments)

    def attach_checked(lowered):
        errors = return_asserts(lowered, kernel)
        inner = providers.MemRefCallProvider(kernel)
        attach(lowered, signature, providers.CheckStatus(inner, errors=errors))

    return runtime.compile(
        module, pipeline=LOWERING, post_compile_hooks=[attach_checked], **options
    )
