"""Decide which LLVM IR this process may generate code for.

LLVM answers what it cannot generate with `LLVM ERROR` and abort(), with an assertion, or by running
out of stack; faults in inline assembly end in exit(1). Nothing in llvmlite's API can stop that. So
this process takes only text in which every word is known to be harmless, and every type is of a
usual size: the wrappers of this package, and what lowering passes and compilers usually make. All
other text goes to a child process (see `guard`), which costs some tenths of a second once.

The text is read as LLVM's lexer reads it: strings and comments are taken out first, the rest falls
into words. tests/runtime/test_screens.py and test_unusual.py try the words with each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from ffi_builder.runtime import metadata, screen_metadata
from ffi_builder.runtime._tables import words
from ffi_builder.runtime.nesting import is_deeper

_INSTRUCTIONS: Final = words(
    """
    add alloca and ashr atomicrmw bitcast br call cmpxchg extractelement extractvalue fadd fcmp
    fdiv fence fmul fneg fpext fptosi fptoui fptrunc freeze frem fsub getelementptr icmp
    insertelement insertvalue inttoptr load lshr mul or phi ptrtoint ret sdiv select sext shl
    shufflevector sitofp srem store sub switch trunc udiv uitofp unreachable urem xor zext
    addrspacecast
    """
)
_FLAGS: Final = words(
    """
    nuw nsw exact disjoint nneg samesign inbounds nusw fast nnan ninf nsz arcp contract afn
    reassoc eq ne ugt uge ult ule sgt sge slt sle oeq ogt oge olt ole one ord ueq une uno to label
    tail notail volatile atomic weak acquire release acq_rel seq_cst monotonic unordered xchg nand
    max min umax umin fmax fmin singlethread true false null none undef poison zeroinitializer x
    """
)
_TYPES: Final = words("void ptr half bfloat float double i1 i8 i16 i32 i64 i128 opaque")
_TOP_LEVEL: Final = words(
    """
    source_filename target datalayout triple define declare global constant alias attributes type
    private internal external available_externally linkonce linkonce_odr weak_odr extern_weak
    common appending default hidden protected dso_local dso_preemptable unnamed_addr
    local_unnamed_addr thread_local localdynamic initialexec localexec addrspace align
    externally_initialized section fastcc coldcc ccc preserve_mostcc preserve_allcc
    """
)
_ATTRIBUTES: Final = words(
    """
    alwaysinline argmem captures cold dereferenceable dereferenceable_or_null errnomem hot immarg
    inaccessiblemem initializes inlinehint mem memory minsize mustprogress noalias nobuiltin
    nocallback nocapture nocreateundeforpoison nofree noinline nomerge nonnull norecurse noreturn
    nosync noundef nounwind optnone optsize range read readnone readonly readwrite returned
    signext speculatable target_mem0 target_mem1 uwtable sync async willreturn write writeonly
    zeroext address provenance read_provenance address_is_null ret
    """
)
_METADATA: Final = words("distinct FullDebug LineTablesOnly NoDebug DebugDirectivesOnly")
_HARMLESS: Final = _INSTRUCTIONS | _FLAGS | _TYPES | _TOP_LEVEL | _ATTRIBUTES | _METADATA

# Generic intrinsics that every target can generate code for, without their types.
_INTRINSICS: Final = words(
    """
    abs acos asin assume atan atan2 bitreverse bswap ceil copysign cos cosh ctlz ctpop cttz
    dbg.declare dbg.value debugtrap donothing exp exp10 exp2 expect fabs floor fma fmuladd
    fptosi.sat fptoui.sat fshl fshr is.constant launder.invariant.group lifetime.end
    lifetime.start log log10 log2 masked.load masked.store maximum maxnum memcpy memcpy.inline
    memmove memset minimum minnum nearbyint objectsize pow powi prefetch ptrmask rint round
    roundeven sadd.sat sadd.with.overflow sin sinh smax smin smul.with.overflow sqrt sshl.sat
    ssub.sat ssub.with.overflow stackrestore stacksave strip.invariant.group tan tanh
    threadlocal.address trap trunc uadd.sat uadd.with.overflow ubsantrap umax umin
    umul.with.overflow ushl.sat usub.sat usub.with.overflow vector.reduce.add vector.reduce.and
    vector.reduce.fadd vector.reduce.fmax vector.reduce.fmaximum vector.reduce.fmin
    vector.reduce.fminimum vector.reduce.fmul vector.reduce.mul vector.reduce.or
    vector.reduce.smax vector.reduce.smin vector.reduce.umax vector.reduce.umin vector.reduce.xor
    """
)

_KNOWN_METADATA: Final = words(
    """
    alias.scope align dbg dereferenceable invariant.group invariant.load llvm.dbg.cu llvm.ident
    llvm.loop llvm.module.flags noalias nonnull nontemporal noundef prof range tbaa unpredictable
    """,
    "!",
)
# What may stand in the line of a global besides names and numbers. Of constant expressions only
# `getelementptr` is known to become a relocation.
_GLOBAL: Final = (
    _TYPES
    | (
        _TOP_LEVEL
        - words("source_filename target datalayout triple define declare attributes type")
    )
    | words("x null undef poison zeroinitializer true false getelementptr inbounds nuw nusw weak")
)
_APPENDING: Final = ("@llvm.global_ctors ", "@llvm.global_dtors ", "@llvm.used ", "@llvm.compiler.")

_ATTRIBUTE_VALUES: Final[dict[str, re.Pattern[str]]] = {
    metadata.ATTRIBUTE: re.compile('[^"]*'),
    "frame-pointer": re.compile("all|non-leaf|none"),
    **{
        key: re.compile("true|false")
        for key in words(
            """
            approx-func-fp-math less-precise-fpmad no-infs-fp-math no-nans-fp-math
            no-signed-zeros-fp-math no-trapping-math unsafe-fp-math use-soft-float
            """
        )
    },
    **{
        key: re.compile(r"\d{1,4}")
        for key in ("min-legal-vector-width", "prefer-vector-width", "stack-protector-buffer-size")
    },
}
_TRUSTED: Final = re.compile(r"ffi-builder-trusted-[0-9a-f]{8}")
_CPU_KEYS: Final = ("target-cpu", "tune-cpu")
_GENERIC_CPUS: Final = frozenset({"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "generic"})
_SECTION: Final = '".text"'  # cold functions of this package ask for it
_HEADERS: Final = ("source_filename", "datalayout", "triple")

# Strings and comments, as LLVM's lexer finds them: there are no escaped quotes, and a carriage
# return ends a comment.
_SKIPPED: Final = re.compile(r'"[^"]*"|;[^\n\r]*')
_SPACES: Final = str.maketrans(dict.fromkeys("()[]{}<>,=*", " "))

# Words that are not in a table. A string is one quote by now.
_OTHER_WORDS: Final = re.compile(
    r"""(?:(?:
      [%@](?:\d+|[-a-zA-Z$._][-\w$.]*|")            # values, types and symbols
    | \#\d+ | !(?:\d+|"|DI[A-Z]\w*)? | c?"          # attributes, metadata and strings
    | [-+]?\d+(?:\.\d*(?:[eE][-+]?\d+)?)? | 0x[HR]?[0-9A-Fa-f]+
    | [-\w$.]+:                                     # labels, and fields of metadata
    | DW_\w+ | DI(?:SP)?Flag\w+ | \| | \.\.\.
    )[ ])*""",
    re.VERBOSE,
)
_INTRINSIC_TYPES: Final = re.compile(
    r"(?:\.(?:v(\d+))?(?:i(?:1|8|16|32|64|128)|b?f16|f32|f64|p\d{1,2}))*"
)
_INTRINSIC: Final = re.compile(rf"@llvm\.([a-z0-9_.]+?)({_INTRINSIC_TYPES.pattern})")

_INTRINSIC_NAME: Final = re.compile(r"@llvm\.\S*")

_ALIGNMENT: Final = re.compile(r" align[ (](\d+)")
# Behind the pointer, before LLVM 22: the verifier does not see it.
_MASKED: Final = re.compile(r"@llvm\.masked\.[^\n]*?\bptr [^,\n]+, i32 ([^,\s]+),")
_ADDRESS_SPACE: Final = re.compile(r" addrspace\((\d+)\)")
_POINTER: Final = r"ptr(?:[ ]addrspace\(\d+\))?"
_ATOMICS: Final = words("atomicrmw cmpxchg atomic")
_ATOMIC: Final = re.compile(
    rf"""\b(?:
        (?:load|store)[ ]atomic[ ](?:volatile[ ])?
      | atomicrmw[ ](?:volatile[ ])?\w+[ ]{_POINTER}[ ][^\s,]+,[ ]
      | cmpxchg[ ](?:weak[ ])?(?:volatile[ ])?{_POINTER}[ ][^\s,]+,[ ]
    )(?:i8|i16|i32|i64|ptr|float|double)\b""",
    re.VERBOSE,
)

_Chains: TypeAlias = list[tuple[str, str]]
# `[4 x [8 x `, and how the type of the elements begins.
_SIZES: Final = re.compile(r"((?:[\[<]\d+ x )+)(.)")
_TYPE: Final = r"[^()=!]+?"
_IN_MEMORY: Final = re.compile(
    rf"""\s*%\S+[ ]=[ ](?:
        alloca[ ]{_TYPE}(?:,[ ]i\d+[ ][^\s,]+)?(?:,[ ]align[ ]\d+)?(?:,[ ]addrspace\(\d+\))?
      | getelementptr[ ](?:(?:inbounds|nuw|nusw)[ ])*{_TYPE},[ ]{_POINTER}[ ][^\s,]+
        (?:,[ ]i\d+[ ][^\s,]+)*
    )(?:,[ ]!dbg[ ]!\d+)?""",
    re.VERBOSE,
)
_NAMED_ELEMENT: Final = re.compile(r"\{[^{}]*%|x %")

# A line that is not one whole statement, as LLVM and llvmlite print it: something could hide there.
_ODD_LINE: Final = re.compile(
    r"""^(?![ \t\r]*(?:
        [@%]\S+[ ]=[ ]+[^\s] | ![^\s=]+[ ]=[ ] | (?:attributes|define|declare|target)[ ]
      | source_filename[ ] | (?:store|br|ret|fence|switch)[ ] | unreachable\b
      | (?:(?:tail|notail)[ ])?call[ ] | [-\w$."]+: | i\d+[ ]\S+,[ ]label[ ]
      | [{}][ \t\r]*$ | \] | $
    )).*""",
    re.VERBOSE | re.MULTILINE,
)

_LONG_NUMBER: Final = re.compile(r"\d{4000}")  # Python reads no more than 4,300 digits
_LANES: Final = re.compile(r"<(\d+)")
_VECTOR: Final = re.compile(r"<\d+ x ")
_WIDE_LANES: Final = re.compile(r"x\s+i128\s*>")  # of which LLVM makes no vectors of halves
_ALLOCATED: Final = re.compile(r", i\d+ ([^\s,]+)")
_FIELDS: Final = re.compile(r"\{[^{}]*")

_MOST_LANES: Final = 256
_LANES_OF_A_VALUE: Final = 16
_MOST_VALUES: Final = 512
"""What the types in one line may consist of: the code generator makes a value of each field and
element, and takes 20 s for 3,000."""
_MOST_ELEMENTS: Final = 1 << 24
"""Elements of an array in memory that a function allocates or points into."""
_MOST_GLOBAL_ELEMENTS: Final = 1 << 31
_MOST_ALIGNED: Final = 4096
_MOST_ADDRESS_SPACE: Final = 255
"""Those from 256 on are segments, and pointers of other sizes, on x86-64."""
_MOST_LEVELS: Final = 64
"""Levels of types, constants and metadata in one another."""
_LONGEST_LINE: Final = 100_000
"""Characters of a line in a function: an instruction of some ten thousand operands."""


def codegen_hazard(text: str, cpu: str, features: str) -> str | None:
    """Return what in LLVM IR `text` is not known to be harmless, or None.

    `cpu` and `features` are those that code is generated for, as LLVM writes them (`+avx,-sse4a`).
    """
    code = _SKIPPED.sub(lambda found: '"' if found[0][0] == '"' else "", text)
    if is_deeper(code, _MOST_LEVELS):
        return "brackets nested too deep"
    found = code.translate(_SPACES).split()
    different = set(found)
    if max(map(len, different), default=0) > 4000 and _LONG_NUMBER.search(code) is not None:
        return "a number of thousands of digits"
    for hazards in (
        _words(different),
        _strings(text, cpu, features),
        _numbers(code, found, different),
        _lines(code),
        _types(code.split("\n"), found.count("x")),
        screen_metadata.hazards(text, different),
        _masked(code),
    ):
        for hazard in hazards:
            return hazard
    return None


def _words(found: set[str]) -> Iterator[str]:
    unknown = found - _HARMLESS - _KNOWN_METADATA
    joined = " ".join(unknown)
    for name in _INTRINSIC_NAME.findall(joined):
        if not _intrinsic_known(name):
            yield name[1:]
    if _OTHER_WORDS.fullmatch(f"{joined} ") is None:
        yield from (word for word in sorted(unknown) if _OTHER_WORDS.fullmatch(f"{word} ") is None)


def _intrinsic_known(name: str) -> bool:
    if f"{name} ".startswith(_APPENDING):
        return True
    found = _INTRINSIC.fullmatch(name)
    return (
        found is not None
        and found[1] in _INTRINSICS
        and (found[1] != "powi" or found[2].endswith(".i32"))  # the type of the exponent
        and all(int(lanes) <= _MOST_LANES for lanes in re.findall(r"\.v(\d+)", found[2]))
    )


def _strings(text: str, cpu: str, features: str) -> Iterator[str]:
    """Look at those that are attributes of functions: names, data and metadata are not."""
    last, key = 0, ""
    for found in _SKIPPED.finditer(text):
        start, end = found.span()
        if text[start] == ";":
            continue
        before, last = text[last:start].rstrip(), end
        if text[start - 1 : start] in tuple("@%!c$") or before.endswith(
            tuple(f"{header} =" for header in _HEADERS)
        ):
            key = ""
        elif before.endswith("section"):
            if found[0] != _SECTION:
                yield f"section {found[0]}"
            key = ""
        elif before == "=" and key:
            if not _attribute_known(key, found[0][1:-1], cpu, features):
                yield f'"{key}"={found[0]}'
            key = ""
        else:
            key = found[0][1:-1]
            has_value = text[end : end + 1] == "="
            if not has_value and _TRUSTED.fullmatch(key) is None:
                yield found[0]


def _attribute_known(key: str, value: str, cpu: str, features: str) -> bool:
    if key in _CPU_KEYS:
        return value == cpu or value in _GENERIC_CPUS
    if key == "target-features":
        return _features_known(value, features)
    known = _ATTRIBUTE_VALUES.get(key)
    return known is not None and known.fullmatch(value) is not None


def _features_known(wanted: str, host: str) -> bool:
    """Tell whether `wanted` only adds features of this architecture.

    (Without SSE, floats cannot be returned.)
    """
    names = {f"+{feature[1:]}" for feature in host.split(",")}
    return names.issuperset(feature for feature in wanted.split(",") if feature)


def _numbers(code: str, found: list[str], different: set[str]) -> Iterator[str]:
    """Look at alignments, address spaces and atomics, each in the form that LLVM prints."""
    for word, pattern, most in (
        ("align", _ALIGNMENT, _MOST_ALIGNED),
        ("addrspace", _ADDRESS_SPACE, _MOST_ADDRESS_SPACE),
    ):
        if word in different:
            numbers = pattern.findall(code)
            if len(numbers) != found.count(word):
                yield word
            yield from (f"{word} {number}" for number in set(numbers) if int(number) > most)
    atomics = different & _ATOMICS
    if atomics and sum(found.count(word) for word in atomics) != len(_ATOMIC.findall(code)):
        yield "an atomic operation"


def _lines(code: str) -> Iterator[str]:
    for line in _ODD_LINE.finditer(code):
        yield line[0].strip()[:60]


def _types(lines: list[str], count: int) -> Iterator[str]:
    """Look at the sizes of types, of which there are `count`, and at what globals are made of."""
    variables = [line for line in lines if line[:1] == "@"]
    has_names = any(" = type " in line for line in lines)
    others = [
        line
        for line in lines
        if line[:1] != "@" and (" x " in line or "{" in line or "alloca" in line or has_names)
    ]
    sizes = 0
    for line in variables:
        chains = _SIZES.findall(line)
        sizes += sum(chain.count("x") for chain, _ in chains)
        yield from _global(line, chains)
    for line in others:
        chains = _SIZES.findall(line)
        sizes += sum(chain.count("x") for chain, _ in chains)
        yield from _value_sizes(line, chains)
    if sizes != count:
        yield "a type"
    if max(map(len, lines)) > _LONGEST_LINE:
        yield from (line[:40] for line in lines if len(line) > _LONGEST_LINE and line[0] != "@")


def _masked(code: str) -> Iterator[str]:
    """Look at the alignments of masked loads and stores that are operands."""
    for found in _MASKED.finditer(code):
        if not found[1].isdecimal() or int(found[1]).bit_count() != 1:
            yield found[0][1:]


def _value_sizes(line: str, chains: _Chains) -> Iterator[str]:
    where = f"`{line.strip()[:60]}`"
    lanes = [int(lanes) for chain, _ in chains for lanes in _LANES.findall(chain)]
    if max(lanes, default=0) > _MOST_LANES or _WIDE_LANES.search(line) is not None:
        yield f"a vector in {where}"
    found = line.translate(_SPACES).split()
    if _IN_MEMORY.fullmatch(line) is not None and sum(word in _INSTRUCTIONS for word in found) == 1:
        count = _ALLOCATED.search(line) if " = alloca " in line else None
        times = (
            1 if count is None else int(count[1]) if count[1].isdecimal() else 1 + _MOST_ELEMENTS
        )
        if times * (1 + sum(_product(chain) for chain, _ in chains)) > _MOST_ELEMENTS:
            yield f"the size of {where}"
        return
    if "alloca" in found:
        yield where
    fields = sum(fields.count(",") for fields in _FIELDS.findall(line))
    if fields + sum(_values(chain) for chain, _ in chains) > _MOST_VALUES:
        yield f"the size of a type in {where}"
    if _NAMED_ELEMENT.search(line) is not None or any(
        element == "{" and "[" in chain for chain, element in chains
    ):
        yield f"a type in {where}"


def _global(line: str, chains: _Chains) -> Iterator[str]:
    name = line.partition("=")[0]
    for word in sorted(set(line.translate(_SPACES).split()) - _GLOBAL):
        if _OTHER_WORDS.fullmatch(f"{word} ") is None:
            yield f"{word} in {name.strip()}"
    if "getelementptr" in line and _VECTOR.search(line) is not None:
        yield f"a vector of addresses in {name.strip()}"
    if "appending" in line and not name.startswith(_APPENDING):
        yield f"appending {name.strip()}"
    if sum(_product(chain) for chain, _ in chains) > _MOST_GLOBAL_ELEMENTS:
        yield f"the size of {name.strip()}"


def _values(chain: str) -> int:
    """Count the values that elements are held in: registers, in case of vectors."""
    lanes = math.prod(1 + int(lanes) // _LANES_OF_A_VALUE for lanes in _LANES.findall(chain))
    return lanes * math.prod(int(size) for size in re.findall(r"\[(\d+)", chain))


def _product(chain: str) -> int:
    return math.prod(int(size) for size in re.findall(r"\d+", chain))
