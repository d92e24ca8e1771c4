"""Lowers a kernel to MLIR: naive loops, which MLIR's own passes improve.

They move out of a loop what it does not change, and merge what is computed twice.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
from __future__ import annotations

from collections.abc import Callable

from definition import Definition, Variant
from expressions import Array, Axis, Expression, Number, Operation, Reduction, Size
from torch_mlir import ir
from torch_mlir.dialects import arith, bufferization, func, math, memref, scf, tensor

LOWERING = (
    "builtin.module(func.func(loop-invariant-code-motion,cse),one-shot-bufferize,"
    "convert-scf-to-cf,convert-to-llvm,reconcile-unrealized-casts)"
)
TYPES = {"float32": ir.F32Type, "float64": ir.F64Type}
OPERATIONS: dict[str, Callable[..., ir.Value]]
OPERATIONS = {"add": arith.addf, "sub": arith.subf, "mul": arith.mulf, "div": arith.divf}
OPERATIONS |= {"max": arith.maximumf, "exp": math.exp, "sqrt": math.sqrt}
FIRST = {"add": 0.0, "max": float("-inf")}


def build(kernel: Definition) -> ir.Module:
    """Return a module with a function for each variant of a kernel."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            for variant in kernel.variants():
                emit(kernel, variant)
    return module


def emit(kernel: Definition, variant: Variant) -> None:
    """Emit a function of what is given, which stores the result in its last argument."""
    element, names = TYPES[variant.dtype].get(), [*variant.given, "out"]
    arrays = {name: array for name, array in kernel.arrays.items() if name in names}
    memrefs = {name: memref_type(array, element) for name, array in arrays.items()}
    types = [memrefs.get(name, ir.F64Type.get()) for name in names]
    function = func.FuncOp(variant.symbol, (types, []))
    block = function.add_entry_block([ir.Location.name(name) for name in names])
    with ir.InsertionPoint(block):
        values = dict(zip(names, block.arguments, strict=True))
        Loops(element, arrays, values).store(kernel.trace(variant), {})
        func.return_([])


def memref_type(array: Array, element: ir.Type) -> ir.Type:
    return ir.MemRefType.get([ir.ShapedType.get_dynamic_size()] * len(array.axes), element)


class Loops:
    """Emits loops at the active insertion point. In them, `at` has the index of each axis."""

    def __init__(self, element: ir.Type, arrays: dict[str, Array], values: dict[str, ir.Value]):
        self.element, self.values, self.result = element, values, arrays["out"]
        self.sizes, self.tensors = {}, {}
        for name, array in arrays.items():
            for position, axis in enumerate(array.axes):
                index = arith.constant(ir.IndexType.get(), position)
                self.sizes[axis] = memref.dim(values[name], index)
            if name != "out":
                shape = ir.RankedTensorType.get(values[name].type.shape, element)
                self.tensors[name] = bufferization.to_tensor(shape, values[name], restrict=True)

    def store(self, x: Expression, at: dict[Axis, ir.Value]) -> None:
        """Store each element of the result, in a loop for each axis that has none yet."""
        left = [axis for axis in self.result.axes if axis not in at]
        if not left:
            index = [at[axis] for axis in self.result.axes]
            memref.store(self.value(x, at), self.values["out"], index)
            return
        for i in scf.for_(0, self.sizes[left[0]], 1):
            self.store(x, {**at, left[0]: i})
            scf.yield_([])

    def value(self, x: Expression | float, at: dict[Axis, ir.Value]) -> ir.Value:
        """Emit what computes an expression."""
        match x:
            case int() | float():
                return arith.constant(self.element, float(x))
            case Array():
                return tensor.extract(self.tensors[x.name], [at[axis] for axis in x.axes])
            case Number(name):
                number = self.values[name]
                return arith.truncf(self.element, number) if number.type != self.element else number
            case Size(axis):
                size = arith.index_cast(ir.IntegerType.get_signless(64), self.sizes[axis])
                return arith.sitofp(self.element, size)
            case Operation(name, operands):
                return OPERATIONS[name](*[self.value(operand, at) for operand in operands])
            case Reduction(name, operand, axis):
                first = arith.constant(self.element, FIRST[name])
                for i, so_far, total in scf.for_(0, self.sizes[axis], 1, [first]):  # noqa: B007 returned
                    scf.yield_([OPERATIONS[name](so_far, self.value(operand, {**at, axis: i}))])
                return total
