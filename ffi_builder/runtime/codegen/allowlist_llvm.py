"""Decides for which LLVM IR this process may generate code.

If LLVM cannot generate some code, it calls abort() after `LLVM ERROR`, fails an assertion, or runs
out of stack; a fault in inline assembly calls exit(1). Nothing in llvmlite's API can stop that. So
this process takes only text in which every word is known to be harmless, and every type has a usual
size: the wrappers of this package, and the usual output of lowering passes and compilers. All other
text goes to a child process (see `isolate.worker`), which costs some tenths of a second once.

Strings and comments are taken out first, and the rest consists of words. Lines that differ only in
the names of values are checked once. tests/runtime/test_allowlists.py and test_unusual.py try
combinations of the words.
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


def words(text: str, prefix: str = "") -> frozenset[str]:
    """Return the words of a text, each with `prefix` before it."""
    return frozenset(prefix + word for word in text.split())


INSTRUCTIONS: Final = words(
    """
    add addrspacecast alloca and ashr atomicrmw bitcast br call cmpxchg extractelement extractvalue
    fadd fcmp fdiv fence fmul fneg fpext fptosi fptoui fptrunc freeze frem fsub getelementptr icmp
    insertelement insertvalue inttoptr load lshr mul or phi ptrtoint ret sdiv select sext shl
    shufflevector sitofp srem store sub switch trunc udiv uitofp unreachable urem xor zext
    """
)
INTRINSICS: Final = words(
    """
    abs acos asin assume atan atan2 bitreverse bswap ceil copysign cos cosh ctlz ctpop cttz
    dbg.declare dbg.value debugtrap donothing exp exp10 exp2 expect fabs floor fma fmuladd
    fptosi.sat fptoui.sat fshl fshr is.constant launder.invariant.group lifetime.end
    lifetime.start log log10 log2 masked.gather masked.load masked.scatter masked.store maximum
    maxnum memcpy memcpy.inline memmove memset minimum minnum nearbyint objectsize pow powi prefetch
    ptrmask rint round roundeven sadd.sat sadd.with.overflow sin sinh smax smin smul.with.overflow
    sqrt sshl.sat ssub.sat ssub.with.overflow stackrestore stacksave strip.invariant.group tan tanh
    threadlocal.address trap trunc uadd.sat uadd.with.overflow ubsantrap umax umin
    umul.with.overflow ushl.sat usub.sat usub.with.overflow x86.atomic.add.cc x86.atomic.sub.cc
    """
) | words(
    "add and fadd fmax fmaximum fmin fminimum fmul mul or smax smin umax umin xor", "vector.reduce."
)
"""Intrinsics for which code can be generated, without their types."""
_WORDS: Final = INSTRUCTIONS | words(
    """
    acq_rel acquire address address_is_null addrspace afn alias align allocalign allockind allocptr
    allocsize alwaysinline appending arcp argmem async atomic attributes available_externally bfloat
    byval captures ccc cold coldcc common constant contract datalayout DebugDirectivesOnly declare
    default define dereferenceable dereferenceable_or_null disjoint distinct double dso_local
    dso_preemptable eq errnomem exact extern_weak external externally_initialized false fast fastcc
    float fmax fmin FullDebug global half hidden hot immarg inaccessiblemem inbounds initialexec
    initializes inlinehint internal label LineTablesOnly linkonce linkonce_odr local_unnamed_addr
    localdynamic localexec max mem memory min minsize monotonic mustprogress nand ne ninf nnan nneg
    noalias nobuiltin nocallback nocapture nocreateundeforpoison NoDebug nofree noinline nomerge
    none nonnull norecurse noreturn nosync notail noundef nounwind nsw nsz null nusw nuw oeq oge ogt
    ole olt one opaque optnone optsize ord poison preserve_allcc preserve_mostcc private protected
    provenance ptr range read read_provenance readnone readonly readwrite reassoc release returned
    samesign section seq_cst sge sgt signext singlethread sle slt source_filename speculatable splat
    sret ssp sspreq sspstrong sync tail target target_mem0 target_mem1 thread_local to triple true
    type ueq uge ugt ule ult umax umin undef une unnamed_addr uno unordered uwtable void volatile
    weak weak_odr willreturn write writeonly x xchg zeroext zeroinitializer
    """
)
_METADATA: Final = words(
    """
    alias.scope align dbg dereferenceable invariant.group invariant.load llvm.dbg.cu llvm.ident
    llvm.errno.tbaa llvm.loop llvm.module.flags noalias nonnull nontemporal noundef
    numba_exception_output prof range tbaa unpredictable
    """,
    "!",
)
_NOT_IN_GLOBALS: Final = INSTRUCTIONS - {"getelementptr"} | {"define", "type"}
"""Words in no global: `getelementptr` is the only constant expression that becomes a relocation."""

# String attributes restrict the code generator: without SSE, for example, it cannot return floats.
_ATTRIBUTE: Final = re.compile(
    rf"""
      {protocol.TRUSTED}(?:-[0-9a-f]{{8}})? | \.text  # the section of this package's cold functions
    | {re.escape(metadata.ATTRIBUTE)}"="[^"]*
    | alloc-family"="\w+ | frame-pointer"="(?:all|non-leaf|none)
    | (?:approx-func-fp-math|less-precise-fpmad|no-(?:infs|nans|signed-zeros)-fp-math
        |no-trapping-math|unsafe-fp-math|use-soft-float)"="(?:true|false)
    | (?:min-legal-vector-width|prefer-vector-width|stack-protector-buffer-size)"="\d{{1,4}}
    """,
    re.VERBOSE,
)
_ON_X86: Final = platform.machine() == "x86_64"
_GENERIC_CPUS: Final = words(
    "generic x86-64 x86-64-v2 x86-64-v3 x86-64-v4" if _ON_X86 else "generic"
)
"""Known names of CPUs: LLVM warns on stderr about others."""
_OLDEST_FEATURE: Final = "+x87" if _ON_X86 else "+neon"
"""The feature of every processor of the architecture, which LLVM does not list."""

# ---- lines

_COMMENT: Final = re.compile(
    r';(?:(?<=\n;) Function Attrs: [^\n\r]*|[^\n\r"]*(?![^\n\r]))'  # no other has quotes
)
_APPENDING: Final = ("@llvm.global_ctors ", "@llvm.global_dtors ", "@llvm.used ", "@llvm.compiler.")
_BEFORE_OTHERS: Final = (*"@%!c$", "source_filename = ", "datalayout = ", "triple = ", "allockind(")
"""The text before strings that are no attributes: names, data and metadata."""
_SPACES: Final = str.maketrans(dict.fromkeys("()[]{}<>,=*", " "))

_MOST_LANES: Final = 256
_MOST_VALUES: Final = 512
"""The most values in the types of one line. The code generator makes a value of each field and
element, and takes 20 s for 3,000."""
_MOST_ELEMENTS: Final = 1 << 31
"""The most elements in memory: the type of a global, or of what is allocated or pointed into."""
_MOST_LEVELS: Final = 64
"""The most levels of nested types, constants and metadata."""

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
    rf"@llvm\.([a-z0-9_.]+?)(?:\.(?:v\d+)?(?:{_INTEGER}|b?f16|f32|f64|p\d{{1,2}}))*"
)

_ATOMIC: Final = r"[ ](?:i8|i16|i32|i64|ptr|float|double)\b"
_ADDRESS: Final = r"[ ]ptr(?:[ ]addrspace\(\d+\))?[ ][^\s,]+,"
# Words in forms that LLVM does not print, or that it cannot generate code for.
_ODD_FORM: Final = re.compile(
    rf"""[\s(\[{{<,=](?:
        align\b(?![ (]\d{{1,4}}\b)
      | addrspace\b(?!\(\d\d?\))  # above 255 are segments on x86-64
      | alloca\b[^\n]*,[ ]i\d+[ ](?=[-%\w])(?!\d{{1,8}}\b)  # the number of elements
      | atomic\b(?!(?:[ ]volatile)?{_ATOMIC})
      | (?:atomicrmw|cmpxchg)\b(?!(?:[ ]\w+)*{_ADDRESS}{_ATOMIC})
      | @llvm\.masked\.[^\n]*,[ ]i32[ ]  # before LLVM 22, the alignment is not verified
      | @llvm\.(?:powi\.(?!\w+\.i32\b) | \w+\.with\.overflow\.v)  # none for vectors at level 0
    )[^\n]{{0,20}}""",
    re.VERBOSE,
)
# LLVM has three code generators for AArch64: GlobalISel at level 0, FastISel for `optnone`
# functions, and SelectionDAG for all others. Each ends the process on a few types that work on
# x86-64. All instructions and intrinsics of the tables were tried with all types, for a generic CPU
# and for one with SVE, with LLVM 22. Some gathers of 256 elements take minutes.
ODD_FOR_AARCH64: Final = re.compile(
    r"""
      [su]itofp\ (?:nneg\ )?i128\ [^\n]*\ to\ bfloat | (?:shl|shr)\ (?:[a-z]+\ )*i1\b
    | @llvm\.(?:ct[lt]z\.v\d+i1\b | masked\.(?:gather|scatter|\w+\.v\d+bf16) | x86\.)
    | \b(?:coldcc|preserve_allcc|byval)\b
    | <(?!(?:1|2|4|8|16|32|64|128|256)[ ])\d+[ ]x  # these may become bytes of other numbers of bits
    """,
    re.VERBOSE,
)
# A line that is not one whole statement, as LLVM and llvmlite print it.
_ODD_LINE: Final = re.compile(
    r"""^(?![ \t\r]*(?:
        [@%]\S*[ ]=[ ]+[^\s] | ![^\s=]*[ ]=[ ] | [-\w$."]+: | i\d+[ ]\S+,[ ]label[ ]
      | (?:attributes|br|call|declare|define|fence|notail|ret|source_filename|store|switch|tail
        |target|unreachable)\b
      | [{}][ \t\r]*$ | \] | $
    )).*""",
    re.VERBOSE | re.MULTILINE,
)

_SIZES: Final = re.compile(r"(?:[\[<]\d+ x )+")
_IN_MEMORY: Final = re.compile(r"@|\s*%\S* = (?:alloca|getelementptr) ")
_ODD_ELEMENT: Final = re.compile(r"\{[^{}]*%|x (?:[%{]|i128>)")
"""A named type or structs in a type, whose values are not counted, or what has no vector."""

# LLVM's verifier does not check all nodes of metadata, and passes rely on their form. In nodes of
# aliasing and of loops they do not expect a null.
_ODD_NODE: Final = re.compile(
    r"""^!\d*\ =\ (?:distinct\ )?!\{
    (?: !"llvm\.loop\.(?!
            (?:[\w.]*disable|disable_nonforced|isvectorized|mustprogress|unroll\.(?:enable|full))"\}
          | [\w.]+",\ i(?:1|32)\ (?:true|false|\d{1,9})\})
      | i32\ \d+,\ !"(?!(?:Debug\ Info\ Version|Dwarf\ Version|PI[CE]\ Level|frame-pointer|uwtable
          |wchar_size)")
      | [^\n]*\bnull\b
    )[^\n]{0,40}""",
    re.VERBOSE | re.MULTILINE,
)


def codegen_hazard(text: str, cpu: str, features: str) -> str | None:
    """Return what in LLVM IR `text` is not known to be harmless, or None.

    `cpu` and `features` are the target's, as LLVM writes them (`+avx,-sse4a`).
    """
    parts = _COMMENT.sub("", text).split('"')  # LLVM escapes no quote
    whole = '"'.join(parts[::2])
    if is_deeper(whole, _MOST_LEVELS):
        return "brackets nested too deep"
    alike = _NODES.sub("!", _VALUES.sub("%", whole))
    lines = list(dict.fromkeys(alike.split("\n")))
    code = "\n".join(lines)
    split = code.translate(_SPACES).split()
    for hazards in (
        _unknown(set(split) - _WORDS - _METADATA),
        _attributes(parts, cpu, features),
        (odd[0][1:] for odd in _ODD_FORM.finditer(code)),
        (odd[0].strip()[:60] for odd in _ODD_LINE.finditer(code)),
        _lines(lines, split.count("x")),
        (odd[0] for odd in _ODD_NODE.finditer(text[f"\n{text}".find("\n!") :])),
        (odd[0] for odd in ODD_FOR_AARCH64.finditer("" if _ON_X86 else code)),
    ):
        for hazard in hazards:
            return hazard
    return None


def _unknown(unlisted: set[str]) -> Iterator[str]:
    for name in sorted(unlisted):
        if name.startswith("@llvm.") and not f"{name} ".startswith(_APPENDING):
            known = _INTRINSIC.fullmatch(name)
            if known is None or known[1] not in INTRINSICS:
                yield name[1:]
    if _OTHER_WORDS.fullmatch(" ".join([*unlisted, ""])) is None:
        yield from (word for word in sorted(unlisted) if _OTHER_WORDS.fullmatch(f"{word} ") is None)


def _attributes(parts: list[str], cpu: str, features: str) -> Iterator[str]:
    """Check the attributes among the strings, which include names, data and metadata."""
    if len(parts) % 2 == 0:
        yield "a quote"
    key = ""
    for before, string, after in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
        if before.endswith(_BEFORE_OTHERS):
            key = ""
        elif after == "=" and not key:
            key = string
        else:
            if not _attribute_known(key, string, cpu, features):
                where = "section " if before.endswith("section ") else ""
                yield f'"{key}"="{string}"' if key else f'{where}"{string}"'
            key = ""


def _attribute_known(key: str, value: str, cpu: str, features: str) -> bool:
    if key in ("target-cpu", "tune-cpu"):
        return value == cpu or value in _GENERIC_CPUS
    if key == "target-features":  # it may only add some of this architecture
        names = {_OLDEST_FEATURE, "", *(f"+{feature[1:]}" for feature in features.split(","))}
        return names.issuperset(value.split(","))
    return _ATTRIBUTE.fullmatch(f'{key}"="{value}' if key else value) is not None


def _lines(lines: Iterable[str], count: int) -> Iterator[str]:
    """Check the `count` sizes of types, and what globals contain."""
    for line in lines:
        if line[:1] == "@":
            name, _, value = line.partition("=")
            for word in sorted(_NOT_IN_GLOBALS.intersection(value.translate(_SPACES).split())):
                yield f"{word} in {name.strip()}"
            if "getelementptr" in value and "<" in value:
                yield f"a vector of addresses in {name.strip()}"
            if "appending" in value and not name.startswith(_APPENDING):
                yield f"appending {name.strip()}"
        chains = _SIZES.findall(line) if " x " in line else []
        if not chains and "{" not in line:
            continue
        count -= sum(chain.count("x") for chain in chains)
        values = sum(map(_values, chains))
        if _IN_MEMORY.match(line) is not None:
            odd = values > _MOST_ELEMENTS
        else:
            fields = line.count(",") if "{" in line else 0
            odd = values + fields > _MOST_VALUES or _ODD_ELEMENT.search(line) is not None
        if odd:
            yield f"a type in `{line.strip()[:60]}`"
    if count:
        yield "a type"


def _values(chain: str) -> float:
    """Count the values that hold elements."""
    sizes = [(kind, int(size)) for kind, size in re.findall(r"([\[<])(\d+)", chain)]
    if any(kind == "<" and size > _MOST_LANES for kind, size in sizes):
        return math.inf
    return math.prod(1 + size // 16 if kind == "<" else size for kind, size in sizes)
