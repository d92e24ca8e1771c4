"""Decides for which LLVM IR this process may generate code.

If LLVM cannot generate some code, it calls abort() after `LLVM ERROR`, fails an assertion, or runs
out of stack; a fault in inline assembly calls exit(1). Nothing in llvmlite's API can stop that. So
this process takes only text in which every word is known to be harmless, and every type has a usual
size: the wrappers of this package, and the usual output of lowering passes and compilers. All other
text goes to a child process (see `isolate.worker`), which costs some tenths of a second once.

The text is read as LLVM's lexer reads it: strings and comments are taken out first, and the rest
consists of words. Lines that differ only in the names of values are checked once, as all rules
except those for nesting and allocations concern single lines. tests/runtime/test_allowlists.py and
test_unusual.py try combinations of the words.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterable, Iterator
from typing import Final

from ffi_builder import protocol
from ffi_builder.runtime import metadata
from ffi_builder.runtime.isolate.nesting import is_deeper

# ---- words; tests/runtime/test_allowlists.py and test_unusual.py try each of them


def words(text: str, prefix: str = "") -> frozenset[str]:
    """Return the words of a text, each with `prefix` before it."""
    return frozenset(prefix + word for word in text.split())


_ON_X86: Final = platform.machine() == "x86_64"

INSTRUCTIONS: Final = words(
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
    splat
    """
)
_TYPES: Final = words("void ptr half bfloat float double opaque")
_TOP_LEVEL: Final = words(
    """
    source_filename target datalayout triple define declare global constant alias attributes type
    private internal external available_externally linkonce linkonce_odr weak_odr extern_weak
    common appending default hidden protected dso_local dso_preemptable unnamed_addr
    local_unnamed_addr thread_local localdynamic initialexec localexec addrspace align
    externally_initialized section fastcc ccc preserve_mostcc
    """
) | (
    # On AArch64, LLVM cannot generate code for the first, nor for the second with some vectors.
    # Arguments on the stack must not be empty.
    words("coldcc preserve_allcc byval") if _ON_X86 else words("")
)
_ATTRIBUTES: Final = words(
    """
    allocalign allockind allocptr allocsize alwaysinline argmem captures cold dereferenceable
    dereferenceable_or_null errnomem hot immarg inaccessiblemem initializes inlinehint mem memory
    minsize mustprogress noalias nobuiltin nocallback nocapture nocreateundeforpoison nofree
    noinline nomerge nonnull norecurse noreturn nosync noundef nounwind optnone optsize range read
    readnone readonly readwrite returned signext speculatable sret ssp sspreq sspstrong target_mem0
    target_mem1 uwtable sync async willreturn write writeonly zeroext address provenance
    read_provenance address_is_null ret
    """
)
_METADATA: Final = words("distinct FullDebug LineTablesOnly NoDebug DebugDirectivesOnly")
_HARMLESS: Final = INSTRUCTIONS | _FLAGS | _TYPES | _TOP_LEVEL | _ATTRIBUTES | _METADATA

# Generic intrinsics for which every target can generate code, without their types.
INTRINSICS: Final = words(
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
) | (
    # LLVM's passes make the first two from reference counts, such as Numba's. With 256 elements, a
    # code generator for AArch64 takes minutes.
    words("x86.atomic.add.cc x86.atomic.sub.cc masked.gather masked.scatter")
    if _ON_X86
    else words("")
)

_KNOWN_METADATA: Final = words(
    """
    alias.scope align dbg dereferenceable invariant.group invariant.load llvm.dbg.cu llvm.ident
    llvm.errno.tbaa llvm.loop llvm.module.flags noalias nonnull nontemporal noundef
    numba_exception_output prof range tbaa unpredictable
    """,
    "!",
)

# Words in the line of a global, besides names and numbers. Of constant expressions only
# `getelementptr` is known to become a relocation.
_GLOBAL: Final = (
    _TYPES
    | (
        _TOP_LEVEL
        - words("source_filename target datalayout triple define declare attributes type")
    )
    | words("x null undef poison zeroinitializer true false getelementptr inbounds nuw nusw weak")
)

# String attributes restrict the code generator: without SSE, for example, it cannot return floats.
# The values are patterns.
_ATTRIBUTE_VALUES: Final = {
    metadata.ATTRIBUTE: '[^"]*',
    "alloc-family": r"\w+",
    "frame-pointer": "all|non-leaf|none",
    **dict.fromkeys(
        words(
            """
            approx-func-fp-math less-precise-fpmad no-infs-fp-math no-nans-fp-math
            no-signed-zeros-fp-math no-trapping-math unsafe-fp-math use-soft-float
            """
        ),
        "true|false",
    ),
    **dict.fromkeys(
        words("min-legal-vector-width prefer-vector-width stack-protector-buffer-size"),
        r"\d{1,4}",
    ),
}
_GENERIC_CPUS: Final = words(
    "generic x86-64 x86-64-v2 x86-64-v3 x86-64-v4" if _ON_X86 else "generic"
)
"""Known names of CPUs: LLVM warns on stderr about others."""
_OLDEST_FEATURES: Final = words("x87" if _ON_X86 else "neon", "+")
"""Features that every processor of the architecture has, and that LLVM does not list."""
_MODULE_FLAGS: Final = frozenset(
    {
        *("Debug Info Version", "Dwarf Version", "PIC Level", "PIE Level", "frame-pointer"),
        *("uwtable", "wchar_size"),
    }
)
_LOOP_FLAGS: Final = words(
    """
    mustprogress isvectorized unroll.disable unroll.enable unroll.full unroll.runtime.disable
    disable_nonforced
    """
)
_LOOP_NUMBERS: Final = words(
    """
    vectorize.enable vectorize.width interleave.count unroll.count isvectorized peeled.count
    estimated_trip_count
    """
)

# ---- lines

_APPENDING: Final = ("@llvm.global_ctors ", "@llvm.global_dtors ", "@llvm.used ", "@llvm.compiler.")
_LINE_END: Final = re.compile(r"[\n\r]")
_SPACES: Final = str.maketrans(dict.fromkeys("()[]{}<>,=*", " "))

_MOST_LANES: Final = 256
_LANES_OF_A_VALUE: Final = 16
_MOST_VALUES: Final = 512
"""The most values in the types of one line. The code generator makes a value of each field and
element, and takes 20 s for 3,000."""
_MOST_ELEMENTS: Final = 1 << 24
"""The most elements of an array in memory that a function allocates or points into."""
_MOST_GLOBAL_ELEMENTS: Final = 1 << 31
_MOST_LEVELS: Final = 64
"""The most levels of nested types, constants and metadata."""
_LONGEST_LINE: Final = 60_000
"""The most characters of a line in a function, without numbers of values: an instruction with some
ten thousand operands."""

# LLVM's parser crashes on the two largest numbers of 32 bits: it keeps values in a DenseMap, in
# which they mark free places. So longer numbers are kept in the text, where they are no known word.
_NUMBER: Final = r"[0-9]{1,9}(?![-0-9A-Z_a-z$.\"])"
_VALUES: Final = re.compile(rf'%(?:{_NUMBER}|[-A-Z_a-z$.][-0-9A-Z_a-z$.]*(?!"))')
_NODES: Final = re.compile(f"!{_NUMBER}")
_ID: Final = r"[0-9]{1,9}"
_INTEGER: Final = r"i(?:[1-9]|[1-5]\d|6[0-4]|128)"
# Words that no table has. Each string is replaced by one quote.
_OTHER_WORDS: Final = re.compile(
    rf"""(?:(?:
      % | [%@](?:[-a-zA-Z$._][-\w$.]*|") | @{_ID}    # values, types and symbols
    | \#{_ID} | !(?:"|DI[A-Z]\w*)? | c?"              # attributes, metadata and strings
    | [-+]?\d{{1,40}}(?:\.\d*(?:[eE][-+]?\d+)?)? | 0x[HR]?[0-9A-Fa-f]+ | {_INTEGER}
    | {_ID}: | (?![0-9]+:)[-\w$.]+:                 # labels, and fields of metadata
    | DW_\w+ | DI(?:SP)?Flag\w+ | \| | \.\.\.
    )[ ])*""",
    re.VERBOSE,
)
_INTRINSIC: Final = re.compile(
    rf"@llvm\.([a-z0-9_.]+?)((?:\.(?:v(\d+))?(?:{_INTEGER}|b?f16|f32|f64|p\d{{1,2}}))*)"
)
_INTRINSIC_NAME: Final = re.compile(r"@llvm\.\S*")

_POINTER: Final = r"ptr(?:[ ]addrspace\(\d+\))?"
_ATOMIC: Final = r"(?:i8|i16|i32|i64|ptr|float|double)\b"
# Words in forms that LLVM does not print, or with numbers that are too large.
_ODD_FORM: Final = re.compile(
    rf"""
      [\s(\[{{<,=](?:
        align\b(?![ (](?:[1248]|16|32|64|128|256|512|1024|2048|4096)\b)
      | addrspace\b(?!\((?:\d\d?|1\d\d|2[0-4]\d|25[0-5])\))  # others are segments on x86-64
      | atomic\b(?![ ](?:volatile[ ])?{_ATOMIC})
      | atomicrmw\b(?![ ](?:volatile[ ])?\w+[ ]{_POINTER}[ ][^\s,]+,[ ]{_ATOMIC})
      | cmpxchg\b(?![ ](?:weak[ ])?(?:volatile[ ])?{_POINTER}[ ][^\s,]+,[ ]{_ATOMIC})
      | splat\b(?![ ]\((?:i\d+|half|bfloat|float|double)[ ][-+.\w]+\))
      )[^\n]{{0,20}}
    # Before LLVM 22, the alignment is an operand, which the verifier does not look at.
    | [ ]@llvm\.masked\.[^\n]*?\bptr\ [^,\n]+,\ i32\ (?!(?:[1248]|16|32|64|128|256)\b)[^\n,]*
    """,
    re.VERBOSE,
)
# LLVM has three code generators for AArch64: GlobalISel at level 0, FastISel for `optnone`
# functions, and SelectionDAG for all others. Each ends the process on a few types that work on
# x86-64. All instructions and intrinsics of the tables were tried with all types, for a generic CPU
# and for one with SVE, with LLVM 22.
_ODD_FOR_AARCH64: Final = re.compile(
    r"""
      [su]itofp\ (?:nneg\ )?i128\ [^\n]*\ to\ bfloat
    | @llvm\.ct[lt]z\.v\d+i1\b
    | @llvm\.masked\.\w+\.v\d+bf16
    """,
    re.VERBOSE,
)
# A line that is not one whole statement, as LLVM and llvmlite print it. It could hide something.
_ODD_LINE: Final = re.compile(
    r"""^(?![ \t\r]*(?:
        [@%]\S*[ ]=[ ]+[^\s] | ![^\s=]*[ ]=[ ] | (?:attributes|define|declare|target)[ ]
      | source_filename[ ] | (?:store|br|ret|fence|switch)[ ] | unreachable\b
      | (?:(?:tail|notail)[ ])?call[ ] | [-\w$."]+: | i\d+[ ]\S+,[ ]label[ ]
      | [{}][ \t\r]*$ | \] | $
    )).*""",
    re.VERBOSE | re.MULTILINE,
)

# `[4 x [8 x `, and the start of the type of the elements.
_SIZES: Final = re.compile(r"((?:[\[<]\d+ x )+)(.)")
_TYPE: Final = r"[^()=!]+?"
_IN_MEMORY: Final = re.compile(
    rf"""\s*%\S*[ ]=[ ](?:
        alloca[ ]{_TYPE}(?:,[ ]i\d+[ ][^\s,]+)?(?:,[ ]align[ ]\d+)?(?:,[ ]addrspace\(\d+\))?
      | getelementptr[ ](?:(?:inbounds|nuw|nusw)[ ])*{_TYPE},[ ]{_POINTER}[ ][^\s,]+
        (?:,[ ]i\d+[ ][^\s,]+)*
    )(?:,[ ]!dbg[ ]!)?""",
    re.VERBOSE,
)
_NAMED_ELEMENT: Final = re.compile(r"\{[^{}]*%|x %")
_LANES: Final = re.compile(r"<(\d+)")
_WIDE_LANES: Final = re.compile(r"x\s+i128\s*>")  # LLVM makes no vectors of halves of these
_COUNTED: Final = re.compile(r" = alloca [^\n]*, i\d+ ([%\w-][^\s,]*)")
_FIELDS: Final = re.compile(r"\{[^{}]*")

_TRUSTED: Final = re.compile(rf"{protocol.TRUSTED}(?:-[0-9a-f]{{8}})?")
_SECTION: Final = '".text"'  # cold functions of this package ask for it
_HEADERS: Final = ("source_filename =", "datalayout =", "triple =", "allockind(")
_NAME_MARKS: Final = frozenset("@%!c$")

# LLVM's verifier does not check all nodes of metadata, and passes rely on their form. In nodes of
# these kinds they expect a null.
_WITHOUT_NULL: Final = words("alias.scope llvm.loop noalias tbaa", "!")
_NULL: Final = re.compile(r"^! = (?:distinct )?!\{[^\n]*\bnull\b", re.MULTILINE)
_LOOP_PROPERTY: Final = re.compile(
    rf"""!\d*\ =\ (?:distinct\ )?!\{{!"llvm\.loop\.(?:
        (?:{"|".join(sorted(_LOOP_FLAGS))})"
      | (?:{"|".join(sorted(_LOOP_NUMBERS))})",\ i(?:1|32)\ (?:true|false|\d{{1,9}})
    )\}}""",
    re.VERBOSE,
)
_FLAG: Final = re.compile(r'^!\d* = !\{i32 \d+, !"([^"]*)"', re.MULTILINE)


def codegen_hazard(text: str, cpu: str, features: str) -> str | None:
    """Return what in LLVM IR `text` is not known to be harmless, or None.

    `cpu` and `features` are the target's, as LLVM writes them (`+avx,-sse4a`).
    """
    whole, strings = _without_strings(text)
    if is_deeper(whole, _MOST_LEVELS):
        return "brackets nested too deep"
    alike = _NODES.sub("!", _VALUES.sub("%", whole))
    lines = list(dict.fromkeys(alike.split("\n")))
    code = "\n".join(lines)
    found = code.translate(_SPACES).split()
    different = set(found)
    for hazards in (
        _words(different),
        _attributes(text, strings, cpu, features),
        (odd[0][1:] for odd in _ODD_FORM.finditer(code)),
        (line[0].strip()[:60] for line in _ODD_LINE.finditer(code)),
        (line[:40] for line in lines if len(line) > _LONGEST_LINE and line[0] != "@"),
        _types(lines, found.count("x")),
        _allocations(whole) if "alloca" in different else (),
        _metadata(text, code, different),
        aarch64_hazards(code) if platform.machine() == "aarch64" else (),
    ):
        for hazard in hazards:
            return hazard
    return None


def _without_strings(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return `text` with one quote for each string and without comments, and the places of strings.

    They are found as LLVM's lexer does: no quote is escaped, and a carriage return ends a comment.
    """
    code: list[str] = []
    strings: list[tuple[int, int]] = []
    last = 0
    quote, comment = text.find('"'), text.find(";")  # faster than a regular expression
    while quote >= 0 or comment >= 0:
        if comment < 0 or 0 <= quote < comment:
            start, end = quote, text.find('"', quote + 1) + 1
            if not end:  # the string is not closed, and no other quote follows
                quote = -1
                continue
            code += text[last:start], '"'
            strings.append((start, end))
        else:
            found = _LINE_END.search(text, comment)
            start, end = comment, len(text) if found is None else found.start()
            code.append(text[last:start])
        last = end
        quote = text.find('"', end) if 0 <= quote < end else quote
        comment = text.find(";", end) if 0 <= comment < end else comment
    code.append(text[last:])
    return "".join(code), strings


def _words(found: set[str]) -> Iterator[str]:
    unknown = found - _HARMLESS - _KNOWN_METADATA
    joined = " ".join(unknown)
    yield from (n[1:] for n in _INTRINSIC_NAME.findall(joined) if not _intrinsic_known(n))
    if _OTHER_WORDS.fullmatch(f"{joined} ") is None:
        yield from (word for word in sorted(unknown) if _OTHER_WORDS.fullmatch(f"{word} ") is None)


def _intrinsic_known(name: str) -> bool:
    if f"{name} ".startswith(_APPENDING):
        return True
    found = _INTRINSIC.fullmatch(name)
    return (
        found is not None
        and found[1] in INTRINSICS
        and (found[1] != "powi" or found[2].endswith(".i32"))  # the type of the exponent
        and all(int(lanes) <= _MOST_LANES for lanes in re.findall(r"\.v(\d+)", found[2]))
    )


def _attributes(
    text: str, strings: list[tuple[int, int]], cpu: str, features: str
) -> Iterator[str]:
    """Check the attributes among all `strings`, which include names, data and metadata."""
    last, key = 0, ""
    for start, end in strings:
        before, string = text[last:start].rstrip(), text[start:end]
        last = end
        if text[start - 1 : start] in _NAME_MARKS or before.endswith(_HEADERS):
            key = ""
        elif before.endswith("section"):
            if string != _SECTION:
                yield f"section {string}"
            key = ""
        elif before == "=" and key:
            if not _attribute_known(key, string[1:-1], cpu, features):
                yield f'"{key}"={string}'
            key = ""
        else:
            key = string[1:-1]
            if text[end : end + 1] != "=" and _TRUSTED.fullmatch(key) is None:
                yield string


def _attribute_known(key: str, value: str, cpu: str, features: str) -> bool:
    if key in ("target-cpu", "tune-cpu"):
        return value == cpu or value in _GENERIC_CPUS
    if key == "target-features":  # it may only add some of this architecture
        names = _OLDEST_FEATURES | {f"+{feature[1:]}" for feature in features.split(",")}
        return names.issuperset(filter(None, value.split(",")))
    known = _ATTRIBUTE_VALUES.get(key)
    return known is not None and re.fullmatch(known, value) is not None


def _types(lines: Iterable[str], count: int) -> Iterator[str]:
    """Check the sizes of the `count` types, and the contents of globals."""
    sizes = 0
    for line in lines:
        chains: list[tuple[str, str]] = _SIZES.findall(line) if " x " in line else []
        sizes += sum(chain.count("x") for chain, _ in chains)
        if line[:1] == "@":
            yield from _global(line, chains)
        elif chains or "{" in line or "alloca" in line or " = type " in line:
            yield from _value_sizes(line, chains)
    if sizes != count:
        yield "a type"


def _value_sizes(line: str, chains: list[tuple[str, str]]) -> Iterator[str]:
    where = f"`{line.strip()[:60]}`"
    if chains and (
        max(map(int, _LANES.findall(line)), default=0) > _MOST_LANES
        or ("i128" in line and _WIDE_LANES.search(line) is not None)
    ):
        yield f"a vector in {where}"
    if "alloca" in line or "getelementptr" in line:
        found = line.translate(_SPACES).split()
        one = sum(word in INSTRUCTIONS for word in found) == 1
        if one and _IN_MEMORY.fullmatch(line) is not None:
            if sum(_product(chain) for chain, _ in chains) > _MOST_ELEMENTS:
                yield f"the size of {where}"
            return
        if "alloca" in found:
            yield where
    fields = sum(fields.count(",") for fields in _FIELDS.findall(line)) if "{" in line else 0
    if fields + sum(_values(chain) for chain, _ in chains) > _MOST_VALUES:
        yield f"the size of a type in {where}"
    if _NAMED_ELEMENT.search(line) is not None or any(
        element == "{" and "[" in chain for chain, element in chains
    ):
        yield f"a type in {where}"


def _global(line: str, chains: list[tuple[str, str]]) -> Iterator[str]:
    name = line.partition("=")[0]
    where = name.strip()
    for word in sorted(set(line.translate(_SPACES).split()) - _GLOBAL):
        if _OTHER_WORDS.fullmatch(f"{word} ") is None:
            yield f"{word} in {where}"
    if "getelementptr" in line and any("<" in chain for chain, _ in chains):
        yield f"a vector of addresses in {where}"
    if "appending" in line and not name.startswith(_APPENDING):
        yield f"appending {where}"
    if sum(_product(chain) for chain, _ in chains) > _MOST_GLOBAL_ELEMENTS:
        yield f"the size of {where}"


def _values(chain: str) -> int:
    """Count the values that hold elements, which are registers for vectors."""
    lanes = math.prod(1 + int(lanes) // _LANES_OF_A_VALUE for lanes in _LANES.findall(chain))
    return lanes * math.prod(int(size) for size in re.findall(r"\[(\d+)", chain))


def _product(chain: str) -> int:
    return math.prod(int(size) for size in re.findall(r"\d+", chain))


def _allocations(code: str) -> Iterator[str]:
    """Check the number of elements of allocations, which must not become a negative constant."""
    for found in _COUNTED.finditer(code):
        count = found[1]
        if count.startswith("%"):
            body = code[max(0, code.rfind("\ndefine ", 0, found.start())) : found.start()]
            known = any(f" {count} = zext i{bits} " in body for bits in (8, 16, 32))
        else:
            known = count.isdecimal() and int(count) <= _MOST_ELEMENTS
        if not known:
            yield found[0].strip(" =")


def _metadata(text: str, code: str, found: set[str]) -> Iterator[str]:
    """Check the nodes of metadata in `text`; `code` is the same without strings."""
    if found & _WITHOUT_NULL:
        yield from (node[0] for node in _NULL.finditer(code[f"\n{code}".find("\n!") :]))
    if '!"llvm.loop.' in text:
        for line in text.split("\n"):
            if '!"llvm.loop.' in line and _LOOP_PROPERTY.fullmatch(line.rstrip()) is None:
                yield line[:60]
    if "!llvm.module.flags" in text:
        yield from (
            flag
            for flag in _FLAG.findall(text[f"\n{text}".find("\n!") :])
            if flag not in _MODULE_FLAGS
        )


def aarch64_hazards(code: str) -> Iterator[str]:
    """Yield what LLVM's code generators for AArch64 cannot handle, and those for x86-64 can."""
    yield from (odd[0] for odd in _ODD_FOR_AARCH64.finditer(code))
    # SelectionDAG narrows three 64-bit integers to bytes of another number of bits.
    for lanes in sorted(set(_LANES.findall(code))):
        if int(lanes).bit_count() != 1:
            yield f"a vector of {lanes} elements"
