"""Assert what generate-runtime-verification of MLIR leaves out: made sizes, and divisors."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false
import functools

from torch_mlir import ir
from torch_mlir.dialects import arith, cf, tensor
from views import found

from ffi_builder import BuildError

SIGNED = ("arith.divsi", "arith.remsi", "arith.ceildivsi", "arith.floordivsi")
DIVISIONS = (*SIGNED, "arith.divui", "arith.remui", "arith.ceildivui")


def add_asserts(module):
    for expanded in found(module, "tensor.expand_shape"):
        shape = expanded.result.type
        for group in expanded.attributes["reassociation"]:
            if sum(shape.is_dynamic_dim(ir.IntegerAttr(at).value) for at in group) > 1:
                raise BuildError(f"Nothing checks the sizes of {expanded}")
    for empty in found(module, "tensor.empty"):
        with ir.InsertionPoint(empty), empty.location:
            assert_positive(empty.operands)
    for reshape in found(module, "tensor.reshape"):
        with ir.InsertionPoint(reshape), reshape.location:
            assert_elements(*reshape.operands)
    for division in found(module, *DIVISIONS):
        with ir.InsertionPoint(division), division.location:
            assert_quotient(*division.operands, signed=division.name in SIGNED)


def assert_positive(sizes):
    """Assert that sizes are 0 or more."""
    for size in sizes:
        cf.AssertOp(compared("sge", size, 0), "a size is negative")


def assert_elements(source, sizes):
    """Assert that tensors of these sizes have as many elements as the source."""
    index = ir.IndexType.get()
    places = [arith.constant(index, i) for i in range(max(source.type.rank, sizes.type.shape[0]))]
    given = [tensor.dim(source, at) for at in places[: source.type.rank]]
    made = [tensor.extract(sizes, [at]) for at in places[: sizes.type.shape[0]]]
    made = [arith.index_cast(index, size) for size in made]
    assert_positive(made)
    one = arith.constant(index, 1)
    elements, wanted = (functools.reduce(arith.muli, sizes, one) for sizes in (given, made))
    same = arith.cmpi(arith.CmpIPredicate.eq, elements, wanted)
    cf.AssertOp(same, "a view has another number of elements")


def assert_quotient(value, by, signed):
    """Assert that a division has a quotient: the processor raises SIGFPE where it has none."""
    cf.AssertOp(compared("ne", by, 0), "division by zero")
    if signed:
        bits = 64 if isinstance(by.type, ir.IndexType) else by.type.width
        fits = arith.ori(compared("ne", value, -(1 << bits - 1)), compared("ne", by, -1))
        cf.AssertOp(fits, "the quotient is too large")


def compared(how, value, number):
    """Compare a value with a constant."""
    predicate = getattr(arith.CmpIPredicate, how)
    return arith.cmpi(predicate, value, arith.constant(value.type, number))
