"""Let each view of sizes that are not constant go through one dimension.

Otherwise torch-mlir guesses which dimensions belong together. For [b, t, 4] as [b * t, 4] it takes
b with b * t, and casts t to 1.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
import re

from torch_mlir import ir
from torch_mlir.dialects import torch as aten


def flatten_views(module):
    """Make each view a flatten and an unflatten."""
    for view in found(module, "torch.aten.view"):
        source, sizes = view.operands
        [(shape, dtype)] = re.findall(r"!torch.vtensor<(\[.*\]),(.*)>", str(source.type))
        constant = "?" not in shape + str(view.result.type) or shape == "[]"
        if constant or any(map(is_left_out, sizes.owner.operands)):
            continue
        line = ir.Type.parse(f"!torch.vtensor<[?],{dtype}>", module.context)
        with ir.InsertionPoint(view), view.location:
            first, last = aten.ConstantIntOp(0).result, aten.ConstantIntOp(-1).result
            flat = aten.AtenFlattenUsingIntsOp(line, source, first, last).result
            made = aten.AtenUnflattenIntOp(view.result.type, flat, first, sizes).result
        view.result.replace_all_uses_with(made)
        view.erase()


def is_left_out(size):
    """Return whether a size is given as -1, as by `repeat`; torch-mlir has those right."""
    owner = size.owner
    return (
        owner.name == "torch.constant.int" and ir.IntegerAttr(owner.attributes["value"]).value < 0
    )


def found(module, *names):
    """Return the operations of these names."""
    operations = []

    def visit(operation):
        operations.extend([operation] if operation.name in names else [])
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return operations
