"""Which MLIR modules are known to translate to LLVM IR.

`translate_module_to_llvmir` segfaults, in every distribution, on a module that cannot be translated
or that LLVM's verifier refuses, and MLIR's own verifier lets many of those through: `llvm.trunc %a
: i32 to i64`, a `switch` with the same case twice, attributes that contradict each other. So this
looks at each op for what makes it safe, by tables of what was tried. A wrong alarm costs the detour
through a child process (see `guard`).

A function that carries TRUSTED in its `passthrough` list is not looked at: ffi_builder's own
wrappers do, which are made of ops known to be safe and would otherwise take a quarter of the time
to compile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ffi_builder.errors import CompileError
from ffi_builder.runtime._tables import words
from ffi_builder.runtime.protocols import Operation, named_attributes

TRUSTED = "ffi-builder-trusted"

# Dialects that have a translation. Ops of any other must be lowered first.
_TRANSLATED = words(
    """
    llvm builtin nvvm rocdl xevm omp acc gpu arm_neon arm_sme arm_sve amx x86 x86vector vcix ptr
    """
)

# How many of them an error names.
_MOST_NAMED = 8

# Ops that MLIR's verifier checks as strictly as LLVM's does.
_SAFE = words(
    """
    add sub mul sdiv udiv srem urem and or xor shl lshr ashr icmp fadd fsub fmul fdiv frem fneg fcmp
    zext sext freeze extractvalue insertvalue extractelement insertelement addrspacecast br cond_br
    return unreachable fence cmpxchg atomicrmw mlir.addressof mlir.constant intr.abs intr.ceil
    intr.copysign intr.cos intr.ctlz intr.ctpop intr.cttz intr.exp intr.exp2 intr.expect intr.fabs
    intr.floor intr.fma intr.fmuladd intr.log intr.log10 intr.log2 intr.maximum intr.maxnum
    intr.minimum intr.minnum intr.pow intr.rint intr.round intr.roundeven intr.sin intr.smax
    intr.smin intr.sqrt intr.stackrestore intr.stacksave intr.trap intr.trunc intr.umax intr.umin
    intr.vector.reduce.add
    """,
    "llvm.",
)

# Words in a type that stand for something that cannot be a value, or is not known to be right.
_ODD_TYPE = re.compile(r"opaque|label|metadata|token|target|amx|ppc|index|\[|func<.*func<|\(.*void")
_SIZELESS = re.compile(r"opaque|label|metadata|token|target|void|func<|index")

_CALLING_CONVENTIONS = frozenset(
    f"#llvm.cconv<{name}>"
    for name in ("ccc", "fastcc", "coldcc", "preserve_mostcc", "preserve_allcc")
)
_FUNCTION_ATTRIBUTES = words(
    """
    sym_name function_type linkage CConv visibility_ unnamed_addr dso_local sym_visibility
    passthrough arg_attrs res_attrs frame_pointer no_unwind will_return no_inline
    optimize_none memory_effects uwtable_kind llvm.emit_c_interface target_cpu target_features
    tune_cpu section convergent noreturn
    """
)
# Of these, none contradicts another. (`optnone` needs `noinline`; `optsize`, `hot`, `alwaysinline`
# can clash.)
_PASSTHROUGH = words("noinline optnone nounwind cold norecurse noreturn nofree")
_ARGUMENT_ATTRIBUTES = words("noundef noalias nonnull nocapture readonly signext zeroext", "llvm.")
_GLOBAL_INITIALISER = words(
    """
    mlir.constant mlir.zero mlir.undef mlir.poison mlir.addressof insertvalue getelementptr return
    """,
    "llvm.",
)


def translation_hazard(module: Operation) -> str | None:
    """The first op of `module` that is not known to translate, or None if all are.

    Raises CompileError that names the ops that certainly do not.
    """
    hazard: str | None = None
    for operation in _body(module):
        if _is_trusted(operation):
            continue
        if not _top_level_safe(operation):
            _check_translatable(operation, module)
            if hazard is not None:
                continue
            hazard = operation.name
            if "sym_name" in operation.attributes:
                hazard += f" @{str(operation.attributes['sym_name'])[1:-1]}"
    return hazard


def _top_level_safe(operation: Operation) -> bool:
    if operation.name == "llvm.func":
        return _function_safe(operation)
    if operation.name == "llvm.mlir.global":
        return _global_safe(operation)
    return operation.name in ("llvm.mlir.global_ctors", "llvm.mlir.global_dtors")


def _function_safe(function: Operation) -> bool:
    attributes = {a.name: a.attr for a in named_attributes(function)}
    blocks = function.regions[0].blocks
    return (
        attributes.keys() <= _FUNCTION_ATTRIBUTES
        and not str(attributes["sym_name"]).startswith('"llvm.')
        and str(attributes.get("linkage"))
        not in ("#llvm.linkage<appending>", "#llvm.linkage<common>")
        and str(attributes.get("CConv", "#llvm.cconv<ccc>")) in _CALLING_CONVENTIONS
        and not _ODD_TYPE.search(str(attributes["function_type"]))
        and _passthrough_safe(attributes.get("passthrough"))
        and all(
            _argument_attributes_safe(attributes.get(key)) for key in ("arg_attrs", "res_attrs")
        )
        and all(_op_safe(op.operation) for block in blocks for op in block.operations)
        and (len(blocks) < 2 or _all_reachable(function))
    )


def _global_safe(variable: Operation) -> bool:
    attributes = variable.attributes
    name, kind = str(attributes["sym_name"]), str(attributes["global_type"])
    if name.startswith('"llvm.') or "comdat" in attributes or _SIZELESS.search(kind):
        return False
    if "value" in attributes:
        return _initialiser_safe(attributes["value"], kind)
    blocks = variable.regions[0].blocks
    return all(
        op.operation.name in _GLOBAL_INITIALISER for block in blocks for op in block.operations
    )


def _initialiser_safe(value: object, kind: str) -> bool:
    match type(value).__name__:
        case "StringAttr":
            return True  # the verifier compares the lengths
        case "IntegerAttr" | "FloatAttr" | "BoolAttr":
            return str(value) in ("true", "false") or str(value).endswith(f": {kind}")
        case "DenseIntElementsAttr" | "DenseFPElementsAttr":
            return kind.startswith(("!llvm.array<", "vector<"))
        case _:
            return str(value) in ("#llvm.zero", "#llvm.undef", "#llvm.poison")


def _op_safe(operation: Operation) -> bool:
    name = operation.name
    if name in _SAFE:
        return True
    check = _CHECKS.get(name)
    return check is not None and check(operation)


def _memory_safe(operation: Operation) -> bool:
    attributes = operation.attributes
    if any(name in attributes for name in ("tbaa", "arg_attrs", "res_attrs", "inalloca")):
        return False
    if "elem_type" in attributes and _SIZELESS.search(str(attributes["elem_type"])):
        return False
    if "alignment" not in attributes:
        return True
    alignment = int(str(attributes["alignment"]).partition(" ")[0])
    return 0 < alignment <= 1 << 31 and alignment & (alignment - 1) == 0


def _cast_safe(operation: Operation) -> bool:
    """Casts of scalars, to the side that the name says."""
    source, target = str(operation.operands[0].type), str(operation.results[0].type)
    match operation.name.removeprefix("llvm."):
        case "trunc":
            return _is_scalar(source, target, "ii") and int(source[1:]) > int(target[1:])
        case "fptrunc":
            return _is_scalar(source, target, "ff") and int(source[1:]) > int(target[1:])
        case "fpext":
            return _is_scalar(source, target, "ff") and int(source[1:]) < int(target[1:])
        case "sitofp" | "uitofp":
            return _is_scalar(source, target, "if")
        case "fptosi" | "fptoui":
            return _is_scalar(source, target, "fi")
        case "bitcast":
            return _is_scalar(source, target, source[:1] + target[:1]) and source[1:] == target[1:]
        case "ptrtoint":
            return source.startswith("!llvm.ptr") and target[:1] == "i"
        case "inttoptr":
            return source[:1] == "i" and target.startswith("!llvm.ptr")
        case _:
            return False


def _is_scalar(source: str, target: str, kinds: str) -> bool:
    """Whether two types are `i<n>` or `f<n>` as the letters in `kinds` say."""
    return source[:1] + target[:1] == kinds and source[1:].isdigit() and target[1:].isdigit()


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
        not ("CConv" in attributes and str(attributes["CConv"]) not in _CALLING_CONVENTIONS)
        and not ("TailCallKind" in attributes and "musttail" in str(attributes["TailCallKind"]))
        and not any(name in attributes for name in ("arg_attrs", "res_attrs"))
        and not any(_ODD_TYPE.search(str(result.type)) for result in operation.results)
    )


def _value_safe(operation: Operation) -> bool:
    return not _SIZELESS.search(str(operation.results[0].type))


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
        "select": _select_safe,
        "shufflevector": _shuffle_safe,
        "switch": _switch_safe,
        "call": _call_safe,
        "mlir.undef mlir.poison mlir.zero": _value_safe,
        "intr.memcpy intr.memmove intr.memset intr.assume": _plain,
    }.items()
    for name in names.split()
}


def _passthrough_safe(values: object) -> bool:
    if values is None:
        return True
    found = set(re.findall(r'"([^"]*)"', str(values)))
    return (
        "[[" not in str(values)
        and found <= _PASSTHROUGH
        and ("optnone" not in found or "noinline" in found)
    )


def _argument_attributes_safe(values: object) -> bool:
    found: set[str] = set() if values is None else set(re.findall(r"[\w.]+", str(values)))
    return found <= _ARGUMENT_ATTRIBUTES and not {"llvm.signext", "llvm.zeroext"} <= found


def _all_reachable(function: Operation) -> bool:
    """Whether every block can be reached: only there MLIR checks that definitions come first."""
    blocks = list(function.regions[0].blocks)
    seen: set[object] = set()
    waiting = [blocks[0]]
    while waiting:
        block = waiting.pop()
        if block in seen:
            continue
        seen.add(block)
        waiting.extend(block.operations[len(block.operations) - 1].operation.successors)
    return len(seen) == len(blocks)


def _is_trusted(operation: Operation) -> bool:
    attributes = operation.attributes
    return "passthrough" in attributes and TRUSTED in str(attributes["passthrough"])


def _body(module: Operation) -> Iterator[Operation]:
    return (op.operation for op in module.regions[0].blocks[0].operations)


def _nested(operation: Operation) -> Iterator[Operation]:
    """`operation` and everything in it."""
    yield operation
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                if len(inner.operation.regions):
                    yield from _nested(inner.operation)
                else:
                    yield inner.operation


def _check_translatable(operation: Operation, module: Operation) -> None:
    if not all(_has_translation(inner) for inner in _nested(operation)):
        raise _untranslatable(module)


def _has_translation(operation: Operation) -> bool:
    name = operation.name
    return name.partition(".")[0] in _TRANSLATED and name != "builtin.unrealized_conversion_cast"


def _untranslatable(module: Operation) -> CompileError:
    found: dict[str, str] = {}
    for top in _body(module):
        for operation in _nested(top):
            if not _has_translation(operation):
                found.setdefault(operation.name, str(operation.location))
    names = ", ".join(f"`{name}` at {place}" for name, place in list(found.items())[:_MOST_NAMED])
    return CompileError(
        f"These operations cannot be translated to LLVM IR: {names}. "
        "Lower the module to the LLVM dialect, before or with pipeline="
    )
