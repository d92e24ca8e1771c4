# pyright: basic, reportMissingImports=false
"""Wrap a Numba function. The compiled code needs neither Numba nor Python.

The wrapper calls ``int32_t f(void **result, void **exception, <arguments>)``, which is inside. It
returns 0 on success, and may read ``*exception``. An array is passed as meminfo (NULL: borrowed),
parent, size, itemsize, data, shape, strides in bytes.
"""

from dataclasses import dataclass
from functools import reduce

import llvmlite.binding as llvm
import numpy as np
from numba import from_dtype, njit, types

from ffi_builder import BuildError, attach, providers, runtime, spec

RAISED = "{callee} raised an exception: its status in Numba is {status}"


@njit
def ratio(x, by, y):
    for index in np.ndindex(x.shape):
        y[index] = x[index] / by  # as in Python, / raises if by is 0


def numba_type(param):
    """Return the Numba type of a parameter; it promises only what the wrapper checks."""
    match param:
        case spec.Var(dtype=str(dtype)):
            return from_dtype(np.dtype(dtype))
        case spec.Tensor(dtype=str(dtype), device_type="cpu", any_rank=False, ndim=rank):
            return types.Array(from_dtype(np.dtype(dtype)), rank, param.order or "A", aligned=False)
    raise BuildError(f"{param.name!r}: expected a number, or an array of one dtype on the CPU")


def lower(function, signature, symbol):
    """Return the LLVM IR of the inner function, and the declaration that the wrapper calls."""
    if function.stats.cache_path is not None:
        raise BuildError(f"{function.__name__}: Numba has no LLVM IR of functions with cache=True")
    function.compile(given := tuple(map(numba_type, signature.params)))
    overload = function.overloads[given]
    if overload.signature.return_type != types.none or signature.results:
        raise BuildError(f"{function.__name__}: expected a function that returns nothing")
    module = llvm.parse_assembly(function.inspect_llvm(given), llvm.create_context())
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration:
            value.linkage = "internal"  # so that the entry points are dropped
    inner = module.get_function(overload.fndesc.llvm_func_name)
    inner.name, inner.linkage = symbol, "external"
    names = {"ptr": "!llvm.ptr", "float": "f32", "double": "f64"}
    takes = ", ".join(names.get(str(a.type), str(a.type)) for a in inner.arguments)
    return str(module), f"llvm.func @{symbol}({takes}) -> i32"


@dataclass(frozen=True)
class NumbaCallProvider:
    """Calls the function of `lower`. Put CheckStatus around it to turn exceptions into errors."""

    callee: str

    def __call__(self, current_block, context: providers.CallContext):
        """Emit the call, and keep its status for CheckStatus."""
        if not context.status_wanted:
            raise BuildError(f"Put CheckStatus around {self!r}, which reads the status")
        b, t = context.builder, context.builder.types
        operands = [b.alloca(t.ptr), b.alloca(t.ptr)]
        b.store(b.null(), operands[1])
        operands += [value for param in context.params for value in operands_of(context, param)]
        context.symbols.declare(self.callee, t.i32, [operand.type for operand in operands])
        context.returned = b.call_value(self.callee, operands, t.i32)
        return b.block


def operands_of(context, param):
    b = context.builder
    if isinstance(param, spec.Var):
        value = context.value(param)
        return [b.zext(value, b.types.i8) if value.type == b.types.i1 else value]
    itemsize, shape = b.i64(np.dtype(param.dtype).itemsize), context.shape(param, wide=True)
    strides = [b.mul(stride, itemsize) for stride in context.strides(param, wide=True)]
    size = reduce(b.mul, shape, b.i64(1))
    return [b.null(), b.null(), size, itemsize, context.data(param), *shape, *strides]


if __name__ == "__main__":
    text = "ratio(x: Tensor([n, m], float32, strides=any), by: float64, y: Tensor([n, m], float32))"
    signature = spec.Signature.parse(text, device="cpu")
    llvm_ir, declaration = lower(ratio, signature, "ratio_inner")
    provider = providers.CheckStatus(NumbaCallProvider("ratio_inner"), message=RAISED)
    hook = [lambda lowered: attach(lowered, signature, provider)]
    checked = runtime.compile(declaration, post_compile_hooks=hook, link=[llvm_ir])["ratio"]
    given, result = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.zeros((2, 2), np.float32)
    checked(given[:, ::2], 2, result)
    print(result)
    try:
        checked(result, 0, result)
    except RuntimeError as error:
        print(f"RuntimeError: {error}")
