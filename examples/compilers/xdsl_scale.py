# pyright: basic, reportMissingImports=false, reportMissingTypeStubs=false
"""Wrap a module of xDSL. torch-mlir parses what xDSL prints, and lowers it.

pip install xdsl
"""

import numpy as np
from xdsl.builder import Builder, ImplicitBuilder
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp, f32
from xdsl.ir import Block, Region

from ffi_builder import wrap

VECTOR = MemRefType(f32, [DYNAMIC_INDEX])


@ModuleOp
@Builder.implicit_region
def module():
    function = func.FuncOp("scale", ((VECTOR, f32), ()))
    with ImplicitBuilder(function.body) as (x, factor):
        zero = arith.ConstantOp.from_int_and_width(0, IndexType())
        one = arith.ConstantOp.from_int_and_width(1, IndexType())
        n = memref.DimOp(x, zero)
        body = Region(Block(arg_types=[IndexType()]))
        with ImplicitBuilder(body) as (i,):
            new = arith.MulfOp(memref.LoadOp.get(x, [i]), factor)
            memref.StoreOp.get(new, x, [i])
            scf.YieldOp()
        scf.ForOp(zero, n, one, [], body)
        func.ReturnOp()


compiled = wrap(module, "scale(x: Tensor([n], float32), factor: float32)", device="cpu")

x = np.arange(4, dtype="float32")
compiled["scale"](x, 2.5)
print("largest difference from NumPy:", abs(x - 2.5 * np.arange(4)).max())
