"""The operations of functions: what each takes, and the line of LLVM IR that it becomes.

MLIR makes LLVM IR with LLVM's ``IRBuilder``, which folds constants. The functions here fold the
same, so that both give one text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from ffi_builder.extending import PREDICATES
from ffi_builder.plain import attributes as of
from ffi_builder.plain import constants
from ffi_builder.plain.attributes import FCMP, ORDERINGS, symbol
from ffi_builder.plain.types import Type

_POINTER: Final = Type.parse("!llvm.ptr")
_BOOL: Final = Type.parse("i1")
_DYNAMIC: Final = -(2**31)
LIKELY: Final = ", !prof !0"
LIKELY_NODE: Final = '!0 = !{!"branch_weights", i32 2000, i32 1}'
_WEIGHTS: Final = (2000, 1)


def _check(op: Any, fits: bool, takes: str) -> None:
    """Refuse operands or a result that an operation does not take."""
    if not fits:
        given = ", ".join(str(operand.type) for operand in op.operands)
        raise ValueError(f"takes {takes}, but got ({given}) -> {op.type or 'nothing'}")


def _is_value(type_: Any) -> bool:
    return type_ is not None and type_.kind not in ("void", "func")


def _number(op: Any, name: str, default: int | None = None) -> int:
    attributes: dict[str, Any] = op.attributes
    return attributes[name].value if default is None or name in attributes else default


def _typed(value: Any) -> str:
    return f"{value.type.llvm} {value.text}"


# ---- arithmetic


def _binary(name: str) -> Callable[..., None]:
    def write(op: Any, one: Any, other: Any) -> None:
        type_ = one.type
        fits = type_.kind == "int" and other.type is type_ and op.type is type_
        _check(op, fits, "two integers of one type, and returns that type")
        if op.attributes:
            of.allow(op)
        known = one.known is not None and other.known is not None
        if known and op.fold(constants.binary(name, type_.bits, one.known, other.known)):
            return
        op.emit(f"{name} {type_.llvm} {one.text}, {other.text}")

    return write


def _compare(
    name: str, kinds: Sequence[str], predicates: Sequence[str], fold: Callable[..., int | None]
) -> Callable[..., None]:
    operands = "two floats" if name == "fcmp" else "two integers or two pointers"
    takes = f"{operands} of one type, and returns i1"

    def write(op: Any, one: Any, other: Any) -> None:
        type_ = one.type
        _check(op, type_.kind in kinds and other.type is type_ and op.type is _BOOL, takes)
        predicate = predicates[_number(op, "predicate")]
        if name == "fcmp":
            of.allow(op, "predicate")
        known = one.known is not None and other.known is not None
        if known and op.fold(fold(predicate, type_, one.known, other.known)):
            return
        op.emit(f"{name} {predicate} {type_.llvm} {one.text}, {other.text}")

    return write


def _select(op: Any, condition: Any, then: Any, otherwise: Any) -> None:
    fits = condition.type is _BOOL and then.type is otherwise.type is op.type
    _check(op, fits, "an i1 and two values of one type, and returns that type")
    of.allow(op)
    values = (condition.known, then.known, otherwise.known)
    if None not in values and isinstance(condition.known, int):
        op.alias(then if condition.known else otherwise)
        return
    op.emit(f"select i1 {condition.text}, {_typed(then)}, {_typed(otherwise)}")


_CASTS: Final[dict[str, tuple[str, str, Callable[[int, int], bool]]]] = {
    "trunc": ("int", "int", lambda old, new: old > new),
    "zext": ("int", "int", lambda old, new: old < new),
    "sext": ("int", "int", lambda old, new: old < new),
    "fptrunc": ("float", "float", lambda old, new: old > new),
    "fpext": ("float", "float", lambda old, new: old < new),
    "inttoptr": ("int", "ptr", lambda old, new: True),
    "ptrtoint": ("ptr", "int", lambda old, new: True),
    "sitofp": ("int", "float", lambda old, new: True),
    "uitofp": ("int", "float", lambda old, new: True),
    "bitcast": ("int float", "int float", lambda old, new: old == new),
}


def _cast(name: str) -> Callable[..., None]:
    from_, to, fits_in = _CASTS[name]
    takes = f"one value that LLVM can {name}"

    def write(op: Any, value: Any) -> None:
        old, new = value.type, op.type
        if name == "bitcast" and old is new:
            op.alias(value)
            return
        fits = old.kind in from_ and new.kind in to and fits_in(old.bits, new.bits)
        _check(op, fits, takes)
        if op.attributes:
            of.allow(op)
        if value.known is not None and op.fold(constants.cast(name, old, new, value.known)):
            return
        op.emit(f"{name} {old.llvm} {value.text} to {new.llvm}")

    return write


def _with_overflow(name: str) -> Callable[..., None]:
    def write(op: Any, one: Any, other: Any) -> None:
        type_ = one.type
        fits = type_.kind == "int" and other.type is type_ and op.type.members == (type_, _BOOL)
        _check(op, fits, "two integers of one type, and returns a struct of it and an i1")
        callee = f"@llvm.{name}.with.overflow.{type_.llvm}"
        op.emit(f"call {op.type.llvm} {callee}({_typed(one)}, {_typed(other)})")

    return write


# ---- constants and aggregates


def _constant(op: Any) -> None:
    value = op.attributes["value"].value
    if op.type.kind == "float" and isinstance(value, str):
        bits = constants.float_bits(op.type, float(value.partition(" ")[0]), exact=False)
        _check(op, bits is not None, f"a number that {op.type} has, not {value}")
        op.fold(bits)
        return
    _check(op, op.type.kind == "int", "an integer, or the text of a float")
    if isinstance(value, str):
        value = {"true": 1, "false": 0}.get(value) or int(value.partition(" ")[0])
    op.fold(value & ((1 << op.type.bits) - 1))


def _always(known: constants.Constant) -> Callable[..., None]:
    def write(op: Any) -> None:
        _check(op, _is_value(op.type), "nothing")
        op.fold(known)

    return write


def _addressof(op: Any) -> None:
    _check(op, op.type is not None and op.type.kind == "ptr", "nothing, and returns a pointer")
    name = op.attributes["global_name"].value
    target = op.block.owner.block.region.symbol(name)
    size, weak = 0, False
    if target is not None:
        weak = of.linkage(target.attributes.get("linkage")) == "extern_weak"
        if "global_type" in target.attributes and not weak:
            size = constants.size_of(target.attributes["global_type"].value)
    op.fold(constants.Address(symbol(name), size, weak))


def _extractvalue(op: Any, aggregate: Any) -> None:
    type_, [index] = aggregate.type, op.attributes["position"].value
    _check(op, type_.member(index) is op.type, "a struct, and returns a member of it")
    if aggregate.known is not None:
        op.fold(constants.members(type_, aggregate.known)[index])
    else:
        op.emit(f"extractvalue {_typed(aggregate)}, {index}")


def _insertvalue(op: Any, aggregate: Any, value: Any) -> None:
    type_, [index] = aggregate.type, op.attributes["position"].value
    fits = type_.member(index) is value.type and op.type is type_
    _check(op, fits, "a struct and a member of it, and returns the struct")
    if aggregate.known is not None and value.known is not None:
        members = list(constants.members(type_, aggregate.known))
        members[index] = value.known
        op.fold(tuple(members))
    else:
        op.emit(f"insertvalue {_typed(aggregate)}, {_typed(value)}, {index}")


# ---- memory


def _getelementptr(op: Any, pointer: Any, *indices: Any) -> None:
    fits = pointer.type.kind == "ptr" and op.type is pointer.type
    fits = fits and all(index.type.kind == "int" for index in indices)
    _check(op, fits, "a pointer and integers, and returns a pointer")
    of.allow(op, "rawConstantIndices", "elem_type")
    attributes = op.attributes
    raw, element = attributes["rawConstantIndices"].value, attributes["elem_type"].value
    if pointer.known is None and not indices:
        op.emit(f"getelementptr {element.llvm}, {_typed(pointer)}{_numbers(raw)}")
        return
    more = iter(indices)
    entries = [next(more, None) if number == _DYNAMIC else number for number in raw]
    if None in entries or next(more, None) is not None:
        raise ValueError(f"takes {raw.count(_DYNAMIC)} indices but got {len(indices)}")
    if pointer.known is not None:
        known = [_index(index) for index in entries]
        if None not in known and op.fold(constants.moved(pointer.known, element, known)):
            return
    words = "".join(f", i32 {i}" if isinstance(i, int) else f", {_typed(i)}" for i in entries)
    op.emit(f"getelementptr {element.llvm}, {_typed(pointer)}{words}")


@lru_cache(4096)
def _numbers(raw: tuple[int, ...]) -> str:
    if _DYNAMIC in raw:
        raise ValueError(f"takes {raw.count(_DYNAMIC)} indices but got none")
    return "".join(f", i32 {number}" for number in raw)


def _index(index: Any) -> Any:
    """Return the number of an index; None if it is not constant."""
    if isinstance(index, int) or not isinstance(index.known, int):
        return index if isinstance(index, int) else None
    return constants.signed(index.type.bits, index.known)


def _memory(op: Any, type_: Type) -> tuple[str, str]:
    """Return the words before and after the operands of a load or store of a type."""
    of.allow(op, "alignment", "ordering")
    if not op.attributes:
        return "", ""
    align, ordering = _number(op, "alignment", 0), ORDERINGS[_number(op, "ordering", 0)]
    if ordering and not (align and type_.kind in ("int", "ptr", "float")):
        raise ValueError("takes a number or pointer and its alignment if it is atomic")
    after = f", align {align}" if align else ""
    return ("atomic ", f" {ordering}{after}") if ordering else ("", after)


def _load(op: Any, pointer: Any) -> None:
    fits = pointer.type.kind == "ptr" and _is_value(op.type)
    _check(op, fits, "a pointer, and returns a value")
    before, after = _memory(op, op.type)
    op.emit(f"load {before}{op.type.llvm}, {_typed(pointer)}{after}")


def _store(op: Any, value: Any, pointer: Any) -> None:
    _check(op, pointer.type.kind == "ptr" and op.type is None, "a value and a pointer")
    before, after = _memory(op, value.type)
    op.emit(f"store {before}{_typed(value)}, {_typed(pointer)}{after}")


def _alloca(op: Any, count: Any) -> None:
    fits = count.type.kind == "int" and op.type is _POINTER
    _check(op, fits, "an integer, and returns a pointer")
    of.allow(op, "alignment", "elem_type")
    align = _number(op, "alignment", 0)
    element = op.attributes["elem_type"].value.llvm
    op.emit(f"alloca {element}, {_typed(count)}{f', align {align}' if align else ''}")


def _cmpxchg(op: Any, pointer: Any, expected: Any, value: Any) -> None:
    fits = pointer.type.kind == "ptr" and expected.type is value.type
    fits = fits and value.type.kind in ("int", "ptr") and op.type.members == (value.type, _BOOL)
    _check(op, fits, "a pointer and two values of one type, and returns a struct with an i1")
    names = ("success_ordering", "failure_ordering")
    of.allow(op, *names)
    words = [ORDERINGS[_number(op, name)] for name in names]
    operands = ", ".join(map(_typed, (pointer, expected, value)))
    op.emit(f"cmpxchg {operands} {' '.join(words)}")


def _fill(name: str) -> Callable[..., None]:
    def write(op: Any, target: Any, source: Any, size: Any) -> None:
        kind = "ptr" if name == "memcpy" else "int"
        fits = (target.type.kind, source.type.kind, size.type.kind) == ("ptr", kind, "int")
        _check(op, fits, "a pointer, what is stored there, and a size")
        of.allow(op, "isVolatile")
        spaces = [f"p{each.type.bits}" for each in (target, source) if each.type.kind == "ptr"]
        callee = ".".join(["@llvm", name, *spaces, size.type.llvm])
        volatile = str(op.attributes["isVolatile"].value)
        operands = ", ".join(map(_typed, (target, source, size)))
        op.emit(f"call void {callee}({operands}, i1 {volatile})")

    return write


# ---- calls and control flow


_OF_CALLS: Final = (
    *("callee", "operandSegmentSizes", "op_bundle_sizes", "var_callee_type", "CConv"),
    *("arg_attrs", "TailCallKind"),
)


def _call(op: Any, *operands: Any) -> None:
    of.allow(op, *_OF_CALLS)
    attributes = op.attributes
    if "callee" in attributes:
        target = symbol(attributes["callee"].value)
    else:
        target, *operands = operands  # pyright: ignore
        _check(op, target.type.kind == "ptr", "a pointer to call, and its arguments")
        target = target.text
    if "arg_attrs" in attributes:
        more = of.of_parameters(attributes["arg_attrs"], len(operands))
        words = [
            f"{each.type.llvm}{extension} {each.text}"
            for each, extension in zip(operands, more, strict=True)
        ]
    else:
        words = [f"{each.type.llvm} {each.text}" for each in operands]
    result = "void" if op.type is None else op.type.llvm
    if "var_callee_type" in attributes:
        result = attributes["var_callee_type"].value.llvm
    before = of.tail_call(attributes["TailCallKind"]) if "TailCallKind" in attributes else ""
    convention = of.convention(attributes["CConv"]) if "CConv" in attributes else ""
    op.emit(f"{before}call {convention}{result} {target}({', '.join(words)})")


def _inline_asm(op: Any) -> None:
    text, wanted = op.attributes["asm_string"].value, op.attributes["constraints"].value
    op.emit(f"call void asm sideeffect {of.quoted(text)}, {of.quoted(wanted)}()")


def _go(op: Any, target: Any, operands: Sequence[Any]) -> str:
    block = op.block
    if operands or target.arguments:
        wanted = [argument.type for argument in target.arguments]
        if [operand.type for operand in operands] != wanted:
            given = ", ".join(str(operand.type) for operand in operands)
            raise ValueError(f"the block takes ({', '.join(map(str, wanted))}) but gets ({given})")
        target.incoming.append((block, operands))
    if target.region is not block.region:
        raise ValueError("the block is in another function")
    return f"label %{target.label}"


def _br(op: Any, *operands: Any) -> None:
    [target] = op.successors
    op.emit(f"br {_go(op, target, operands)}")


def _cond_br(op: Any, condition: Any, *operands: Any) -> None:
    _check(op, condition.type is _BOOL, "an i1 and the arguments of blocks")
    then, otherwise = op.successors
    _, count, _ = op.attributes["operandSegmentSizes"].value
    if then is otherwise and operands:
        raise ValueError("a block with arguments cannot be both targets")
    weights = ""
    if "branch_weights" in op.attributes:
        weights = LIKELY
        if op.attributes["branch_weights"].value != _WEIGHTS:
            raise ValueError(f"plain modules know only the branch weights {_WEIGHTS}")
    first, second = _go(op, then, operands[:count]), _go(op, otherwise, operands[count:])
    op.emit(f"br i1 {condition.text}, {first}, {second}{weights}")


def _switch(op: Any, value: Any) -> None:
    default, *targets = op.successors
    text: str = op.attributes["case_values"].value
    numbers = text[text.index("[") + 1 : text.index("]")].split(", ") if targets else list[str]()
    _check(op, value.type.kind == "int" and len(numbers) == len(targets), "an integer")
    first = _go(op, default, ())
    cases = " ".join(
        f"{value.type.llvm} {number}, {_go(op, target, ())}"
        for number, target in zip(numbers, targets, strict=True)
    )
    op.emit(f"switch {_typed(value)}, {first} [ {cases} ]")


def _return(op: Any, *values: Any) -> None:
    wanted = op.block.owner.attributes["function_type"].value.members[0]
    void = wanted.kind == "void"
    fits = not values if void else len(values) == 1 and values[0].type is wanted
    _check(op, fits, "nothing" if void else f"one value of type {wanted}")
    op.emit("ret void" if void else f"ret {_typed(values[0])}")


def _unreachable(op: Any) -> None:
    op.emit("unreachable")


WRITERS: Final[dict[str, Callable[..., None]]] = {
    **{f"llvm.{name}": _binary(name) for name in constants.BINARY},
    **{f"llvm.{name}": _cast(name) for name in _CASTS},
    **{
        f"llvm.intr.{sign}{name}.with.overflow": _with_overflow(f"{sign}{name}")
        for sign in "su"
        for name in ("add", "sub", "mul")
    },
    **{f"llvm.intr.{name}": _fill(name) for name in ("memcpy", "memset")},
    "llvm.mlir.undef": _always("undef"),
    "llvm.mlir.poison": _always("poison"),
    "llvm.mlir.zero": _always(0),
    "llvm.mlir.constant": _constant,
    "llvm.mlir.addressof": _addressof,
    "llvm.icmp": _compare("icmp", ("int", "ptr"), tuple(PREDICATES), constants.icmp),
    "llvm.fcmp": _compare("fcmp", ("float",), FCMP, constants.fcmp),
    "llvm.select": _select,
    "llvm.extractvalue": _extractvalue,
    "llvm.insertvalue": _insertvalue,
    "llvm.getelementptr": _getelementptr,
    "llvm.load": _load,
    "llvm.store": _store,
    "llvm.alloca": _alloca,
    "llvm.cmpxchg": _cmpxchg,
    "llvm.call": _call,
    "llvm.inline_asm": _inline_asm,
    "llvm.br": _br,
    "llvm.cond_br": _cond_br,
    "llvm.switch": _switch,
    "llvm.return": _return,
    "llvm.unreachable": _unreachable,
}
"""The operations of functions, with functions that check them and write their lines."""
