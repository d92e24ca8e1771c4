"""Which operations of the LLVM dialect are known to translate to LLVM IR that its verifier accepts.

What is in the tables was tried. `screen_mlir` looks at everything around the operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ffi_builder.runtime._tables import words
from ffi_builder.runtime.protocols import Operation

# Ops that MLIR's verifier checks as strictly as LLVM's does.
_SAFE = words(
    """
    add sub mul sdiv udiv srem urem and or xor shl lshr ashr icmp fadd fsub fmul fdiv frem fneg fcmp
    zext sext freeze extractvalue insertvalue extractelement insertelement addrspacecast br cond_br
    return unreachable fence cmpxchg atomicrmw mlir.addressof mlir.constant
    """,
    "llvm.",
) | words(
    """
    abs acos asin atan ceil copysign cos cosh ctlz ctpop cttz exp exp10 exp2 expect fabs floor fma
    fmuladd fshl fshr log log10 log2 maximum maxnum minimum minnum nearbyint pow rint round
    roundeven sadd.sat sin sinh smax smin sqrt sshl.sat ssub.sat stackrestore stacksave tan tanh
    trap trunc uadd.sat umax umin ushl.sat usub.sat vector.reduce.add vector.reduce.and
    vector.reduce.fadd vector.reduce.fmax vector.reduce.fmaximum vector.reduce.fmin
    vector.reduce.fminimum vector.reduce.fmul vector.reduce.mul vector.reduce.or
    vector.reduce.smax vector.reduce.smin vector.reduce.umax vector.reduce.umin
    vector.reduce.xor
    """,
    "llvm.intr.",
)

# Words in a type that stand for something that cannot be a value, or is not known to be right.
ODD_TYPE = re.compile(r"opaque|label|metadata|token|target|amx|ppc|index|\[|func<.*func<|\(.*void")
_NUMBERS = re.compile(r"(?:vector<(\d+)x)?(?:(i|f|bf)(\d+)|!llvm\.ptr(?:<\d+>)?)>?")
SIZELESS = re.compile(r"opaque|label|metadata|token|target|void|func<|index")

CALLING_CONVENTIONS = frozenset(
    f"#llvm.cconv<{name}>"
    for name in ("ccc", "fastcc", "coldcc", "preserve_mostcc", "preserve_allcc")
)


def op_safe(operation: Operation) -> bool:
    """Whether `operation` is known to translate, by itself."""
    name = operation.name
    if name in _SAFE:
        return True
    check = _CHECKS.get(name)
    return check is not None and check(operation)


def _memory_safe(operation: Operation) -> bool:
    attributes = operation.attributes
    if any(name in attributes for name in ("tbaa", "arg_attrs", "res_attrs", "inalloca")):
        return False
    if "elem_type" in attributes and SIZELESS.search(str(attributes["elem_type"])):
        return False
    if "alignment" not in attributes:
        return True
    alignment = int(str(attributes["alignment"]).partition(" ")[0])
    return 0 < alignment <= 1 << 31 and alignment & (alignment - 1) == 0


def _cast_safe(operation: Operation) -> bool:
    """Casts from and to what the name says, of as many elements, and to the side it says."""
    source = _Numbers.of(operation.operands[0].type)
    target = _Numbers.of(operation.results[0].type)
    if source is None or target is None:
        return False
    kinds = source.kind + target.kind
    match operation.name.removeprefix("llvm."):
        case "bitcast":
            return "p" not in kinds and source.total_bits == target.total_bits
        case "trunc":
            fits = kinds == "ii" and source.bits > target.bits
        case "fptrunc":
            fits = kinds == "ff" and source.bits > target.bits
        case "fpext":
            fits = kinds == "ff" and source.bits < target.bits
        case "sitofp" | "uitofp":
            fits = kinds == "if"
        case "fptosi" | "fptoui":
            fits = kinds == "fi"
        case "ptrtoint":
            fits = kinds == "pi"
        case "inttoptr":
            fits = kinds == "ip"
        case _:
            fits = False
    return fits and source.lanes == target.lanes


@dataclass(frozen=True)
class _Numbers:
    """A type of a number or pointer, or of a vector of them."""

    lanes: int
    """Zero for what is no vector."""
    kind: str
    """`i`, `f` or `p`."""
    bits: int

    @property
    def total_bits(self) -> int:
        return (self.lanes or 1) * self.bits

    @staticmethod
    def of(kind: object) -> _Numbers | None:
        found = _NUMBERS.fullmatch(str(kind))
        if found is None:
            return None
        lanes, letter, bits = found.groups()
        if letter is None:
            return _Numbers(int(lanes or 0), "p", 0)
        return _Numbers(int(lanes or 0), letter[-1], int(bits))


def _masked_safe(operation: Operation) -> bool:
    """One type of vector, and a mask with as many elements."""
    values = [*operation.operands, *operation.results]
    vectors = {str(value.type) for value in values} - {"!llvm.ptr"}
    lanes = {vector.partition("x")[0] for vector in vectors}
    masks = {vector for vector in vectors if vector.endswith("xi1>")}
    return len(lanes) == 1 and len(masks) == 1 and len(vectors) == 2 and _memory_safe(operation)


def _select_safe(operation: Operation) -> bool:
    return str(operation.operands[0].type) == "i1"


def _shuffle_safe(operation: Operation) -> bool:
    count = re.match(r"vector<(\d+)x", str(operation.operands[0].type))
    mask = re.findall(r"-?\d+", str(operation.attributes["mask"]).partition(":")[2])
    return count is not None and all(-1 <= int(lane) < 2 * int(count[1]) for lane in mask)


def _switch_safe(operation: Operation) -> bool:
    if "case_values" not in operation.attributes:
        return True
    values, _, kind = str(operation.attributes["case_values"]).partition(" : ")
    different = set(re.findall(r"-?\d+", values))
    return f"<{len(different)}x" in kind  # equal values may be printed as one


def _call_safe(operation: Operation) -> bool:
    attributes = operation.attributes
    return (
        not ("CConv" in attributes and str(attributes["CConv"]) not in CALLING_CONVENTIONS)
        and not ("TailCallKind" in attributes and "musttail" in str(attributes["TailCallKind"]))
        and not any(name in attributes for name in ("arg_attrs", "res_attrs"))
        and not any(ODD_TYPE.search(str(result.type)) for result in operation.results)
    )


def _value_safe(operation: Operation) -> bool:
    return not SIZELESS.search(str(operation.results[0].type))


def _plain(operation: Operation) -> bool:
    """Safe as long as there is nothing optional on it."""
    return not any(
        name in operation.attributes for name in ("arg_attrs", "res_attrs", "op_bundle_tags")
    )


_CHECKS: dict[str, Callable[[Operation], bool]] = {
    f"llvm.{name}": check
    for names, check in {
        "load store alloca getelementptr": _memory_safe,
        "trunc fptrunc fpext sitofp uitofp fptosi fptoui bitcast ptrtoint inttoptr": _cast_safe,
        "intr.masked.load intr.masked.store": _masked_safe,
        "select": _select_safe,
        "shufflevector": _shuffle_safe,
        "switch": _switch_safe,
        "call": _call_safe,
        "mlir.undef mlir.poison mlir.zero": _value_safe,
        "intr.memcpy intr.memmove intr.memset intr.assume": _plain,
    }.items()
    for name in names.split()
}
