"""Decide which operations of the LLVM dialect translate to LLVM IR that its verifier accepts.

Everything in the tables was tried. `allowlist_mlir` looks at everything around the operations.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ffi_builder.records import dataclass
from ffi_builder.runtime.protocols import Operation, named_attributes
from ffi_builder.runtime.safety.tables import words

# Dialects that have a translation. Ops of any other must be lowered first. Their attributes are
# translated on any op, and one that is unknown or of another type fails.
TRANSLATED = words(
    """
    llvm builtin nvvm rocdl xevm omp acc gpu arm_neon arm_sme arm_sve amx x86 x86vector vcix ptr
    """
)

# Ops that MLIR's verifier checks as strictly as LLVM's does, and whose results are of types that
# their operands have.
SAFE = words(
    """
    add sub mul sdiv udiv srem urem and or xor shl lshr ashr icmp fadd fsub fmul fdiv frem fneg fcmp
    zext sext freeze extractvalue insertvalue extractelement insertelement br cond_br return
    unreachable fence mlir.addressof mlir.constant
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

# Numbers, pointers, and vectors, arrays and structs of them. A struct that contains itself is
# printed with a name and nothing after it; scalable sizes are in brackets.
_VALUE_TYPE = re.compile(
    r"""(?: !llvm\. | ptr | array | struct | packed | vector | [if](?:1|8|16|32|64|80|128) | bf16
          | "[^"]*",\  | \d+(?=[x>\ ]) | [x<>(),\ ] )+""",
    re.VERBOSE,
)
_MOST_TYPES = 256
"""Types in a type. What translates a type calls itself for each that is in another."""
_NUMBERS = re.compile(r"(?:vector<(\d+)x)?(?:(i|f|bf)(\d+)|!llvm\.ptr(?:<\d+>)?)>?")
# Others contradict each other, as `no_inline` and `always_inline`, or have rules of their own, as
# operand bundles and `tbaa`.
_CALL_ATTRIBUTES = words(
    """
    callee var_callee_type callee_type operandSegmentSizes op_bundle_sizes CConv TailCallKind
    fastmathFlags branch_weights memory_effects convergent no_unwind will_return no_inline
    access_groups alias_scopes noalias_scopes
    """
)
_NOT_ATOMIC = "0 : i64"
_ATOMIC_TYPE = re.compile(r"i8|i16|i32|i64|f32|f64|!llvm\.ptr(?:<\d+>)?")


def type_known(kind: object) -> bool:
    """Tell whether values may be of a type, given as such or as text, in every operation here."""
    text = str(kind)
    return text.count("<") <= _MOST_TYPES and _VALUE_TYPE.fullmatch(text) is not None


def function_type_known(kind: object) -> bool:
    """Tell whether the arguments and the result of a function are of known types."""
    text = str(kind).removeprefix("!llvm.func<").removesuffix(">")
    result, _, arguments = text.partition(" (")
    return (result == "void" or type_known(result)) and (
        _VALUE_TYPE.fullmatch(f"({arguments}".replace("...", "")) is not None
    )


CALLING_CONVENTIONS = frozenset(
    f"#llvm.cconv<{name}>"
    for name in ("ccc", "fastcc", "coldcc", "preserve_mostcc", "preserve_allcc")
)


def op_safe(operation: Operation) -> bool:
    """Tell whether `operation` is known to translate, by itself."""
    if any(
        "." in attribute.name and not is_ignored(attribute.name)
        for attribute in named_attributes(operation)
    ):
        return False
    name = operation.name
    if name in SAFE:
        return True
    check = _CHECKS.get(name)
    return check is not None and check(operation)


def is_ignored(attribute: str) -> bool:
    """Tell whether an attribute is of a dialect that the translation ignores."""
    dialect, dot, _ = attribute.partition(".")
    return bool(dot) and dialect not in TRANSLATED and dialect != "dlti"


def _memory_safe(operation: Operation) -> bool:
    attributes = operation.attributes
    if any(name in attributes for name in ("tbaa", "arg_attrs", "res_attrs", "inalloca")):
        return False
    if "elem_type" in attributes and not type_known(attributes["elem_type"]):
        return False
    if not all(type_known(result.type) for result in operation.results):
        return False
    return "alignment" not in attributes or alignment_known(attributes["alignment"])


def alignment_known(given: object) -> bool:
    """Tell whether LLVM takes an alignment, given as `8 : i64`."""
    alignment = int(str(given).partition(" ")[0])
    return 0 < alignment <= 1 << 31 and alignment & (alignment - 1) == 0


def _access_safe(operation: Operation) -> bool:
    """Check a load or store: an atomic one must be of what a processor accesses at once."""
    attributes = operation.attributes
    if "ordering" in attributes and str(attributes["ordering"]) != _NOT_ATOMIC:
        value = operation.results[0] if len(operation.results) else operation.operands[0]
        if _ATOMIC_TYPE.fullmatch(str(value.type)) is None:
            return False
    return _memory_safe(operation)


def _cast_safe(operation: Operation) -> bool:
    """Check a cast: of the kinds in its name, of equal lanes, and widening or narrowing."""
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
        case "addrspacecast":
            fits = kinds == "pp"
        case _:
            fits = False
    return fits and source.lanes == target.lanes


@dataclass(frozen=True)
class _Numbers:
    """A type of a number or pointer, or of a vector of them."""

    lanes: int
    """Zero for a scalar."""
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
    """Check for one type of vector, and a mask with as many elements."""
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
        and all(
            "." in each.name or each.name in _CALL_ATTRIBUTES
            for each in named_attributes(operation)
        )
        and all(type_known(result.type) for result in operation.results)
    )


def _value_safe(operation: Operation) -> bool:
    return type_known(operation.results[0].type)


def _atomic_safe(operation: Operation) -> bool:
    """Check for a number or pointer of usual size, and no optional attributes."""
    value = operation.operands[1].type
    return _ATOMIC_TYPE.fullmatch(str(value)) is not None and not any(
        name in operation.attributes for name in ("syncscope", "tbaa", "alignment")
    )


def _plain(operation: Operation) -> bool:
    """Check that there are no optional attributes."""
    return not any(
        name in operation.attributes
        for name in ("arg_attrs", "res_attrs", "op_bundle_tags", "tbaa")
    )


_CHECKS: dict[str, Callable[[Operation], bool]] = {
    f"llvm.{name}": check
    for names, check in {
        "load store": _access_safe,
        "alloca getelementptr": _memory_safe,
        "atomicrmw cmpxchg": _atomic_safe,
        "trunc fptrunc fpext sitofp uitofp fptosi fptoui bitcast ptrtoint inttoptr addrspacecast": (
            _cast_safe
        ),
        "intr.masked.load intr.masked.store": _masked_safe,
        "select": _select_safe,
        "shufflevector": _shuffle_safe,
        "switch": _switch_safe,
        "call": _call_safe,
        "mlir.undef mlir.poison mlir.zero": _value_safe,
        "intr.sadd.with.overflow intr.ssub.with.overflow intr.smul.with.overflow": _value_safe,
        "intr.uadd.with.overflow intr.usub.with.overflow intr.umul.with.overflow": _value_safe,
        "intr.memcpy intr.memmove intr.memset intr.assume": _plain,
    }.items()
    for name in names.split()
}
