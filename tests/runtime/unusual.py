"""Modules of the LLVM dialect that MLIR verifies, of operations × types × attributes nobody lowers to.

Many of them end the process that translates them or generates code for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final


def _words(text: str) -> list[str]:
    return text.split()


_INTEGERS: Final = _words("i1 i2 i7 i8 i16 i24 i32 i48 i64 i65 i128 i256 i1000 i70000")
_FLOATS: Final = _words("f16 bf16 f32 f64 f80 f128 !llvm.ppc_fp128")
_POINTERS: Final = _words("!llvm.ptr !llvm.ptr<1> !llvm.ptr<3> !llvm.ptr<270> !llvm.ptr<999>")
_LANES: Final = _words("1 2 3 4 5 8 16 17 64 100 256 1000 65536 [4] [1]")
_ELEMENTS: Final = [
    *("i1", "i7", "i8", "i32", "i64", "i128", "f16", "bf16", "f32", "f64", "f128", "!llvm.ptr"),
]
_AGGREGATES: Final = [
    "!llvm.array<0 x i8>",
    "!llvm.array<3 x f32>",
    "!llvm.array<64 x array<64 x i8>>",
    "!llvm.array<100000 x i8>",
    "!llvm.array<4 x vector<16xf32>>",
    "!llvm.array<2 x vector<[4]xf32>>",
    "!llvm.array<9223372036854775807 x i64>",
    "!llvm.array<3 x struct<(i8, array<1000 x i16>)>>",
    "!llvm.struct<()>",
    "!llvm.struct<(i32, f32)>",
    "!llvm.struct<packed (i8, i64, f16)>",
    '!llvm.struct<"named", (i32, struct<"inner", (f64)>)>',
    '!llvm.struct<"itself", (i32, struct<"itself">)>',
    '!llvm.struct<"opaque", opaque>',
    "!llvm.struct<(vector<[4]xi32>, vector<[4]xi32>)>",
    f"!llvm.struct<({', '.join(['i16'] * 3000)})>",
]
_ODD: Final = [
    "!llvm.void",
    "!llvm.token",
    "!llvm.label",
    "!llvm.metadata",
    "!llvm.x86_amx",
    '!llvm.target<"spirv.Image", i32, 0>',
    "!llvm.func<void (i32)>",
]

_BINARY: Final = _words("add sub mul sdiv udiv srem urem and or xor shl lshr ashr")
_FLOAT_BINARY: Final = _words("fadd fsub fmul fdiv frem")
_CASTS: Final = _words(
    "trunc zext sext fptrunc fpext sitofp uitofp fptosi fptoui bitcast ptrtoint inttoptr "
    "addrspacecast"
)
_UNARY_INTRINSICS: Final = _words(
    "acos asin atan bitreverse bswap ceil cos cosh ctpop exp exp10 exp2 fabs floor log log10 log2 "
    "nearbyint rint round roundeven sin sinh sqrt tan tanh trunc lrint llround is.constant"
)
_BINARY_INTRINSICS: Final = _words(
    "copysign maximum maxnum minimum minnum pow sadd.sat smax smin sshl.sat ssub.sat uadd.sat umax "
    "umin ushl.sat usub.sat sadd.with.overflow umul.with.overflow smul.with.overflow"
)
_REDUCTIONS: Final = _words("add and fmax fmaximum fmin fminimum mul or smax smin umax umin xor")
_ATOMICS: Final = _words("xchg add sub _and _nand _or _xor max min umax umin fadd fsub fmax fmin")
_ORDERINGS: Final = _words("monotonic acquire release acq_rel seq_cst")

_FUNCTION_ATTRIBUTES: Final = [
    *("alignstack=3", "patchable-function=x", "denormal-fp-math=x", "zero-call-used-regs=x"),
    *("stack-probe-size=x", "xray-instruction-threshold=x", "instrument-function-entry-inlined=x"),
    *("probe-stack=inline-asm", "frame-pointer=x", "stack-protector-buffer-size=x", "target-cpu=x"),
    *("target-features=+x,-sse2", "warn-stack-size=x", "patchable-function-entry=x", "thunk"),
    *("min-legal-vector-width=x", "prefer-vector-width=x", "use-soft-float=true", "no-jump-tables"),
    *("split-stack", "naked", "alwaysinline", "optnone", "minsize", "safestack", "sspreq", "sspx"),
    *("sanitize_address", "sanitize_memory", "returns_twice", "presplitcoroutine", "builtin"),
    *("alignstack=1099511627776", "uwtable=9", "allocsize=9", "vscale_range=3", "memory=77"),
    *("stackrealign", "no-realign-stack", "null_pointer_is_valid", "indirect-tls-seg-refs"),
]
_CONVENTIONS: Final = _words(
    "ccc fastcc coldcc cc_10 cc_11 webkit_jscc anyregcc preserve_mostcc preserve_allcc swiftcc "
    "cxx_fast_tlscc tailcc cfguard_checkcc swifttailcc x86_stdcallcc x86_fastcallcc arm_apcscc "
    "ptx_kernelcc spir_funccc x86_thiscallcc win64cc x86_vectorcallcc x86_intrcc avr_intrcc "
    "amdgpu_kernelcc x86_regcallcc msp430_intrcc aarch64_vectorcallcc"
)
_LINKAGES: Final = _words(
    "private internal available_externally linkonce weak common appending extern_weak linkonce_odr "
    "weak_odr external"
)
_SECTIONS: Final = ["", "a b", ".text", ".data", ".rodata", "x" * 5000, "\\00", "llvm.metadata"]


def module(seed: int) -> str:
    """Return one module; the same seed gives the same module."""
    random = Random(seed)
    return random.choice(_KINDS)(random)


def _type(random: Random) -> str:
    kind = random.randrange(10)
    if kind < 2:
        return random.choice(_INTEGERS)
    if kind < 4:
        return random.choice(_FLOATS)
    if kind < 5:
        return random.choice(_POINTERS)
    if kind < 8:
        return _vector(random)
    return random.choice(_AGGREGATES if random.random() < 0.8 else _ODD)


def _vector(random: Random, elements: Sequence[str] = _ELEMENTS) -> str:
    return f"vector<{random.choice(_LANES)}x{random.choice(elements)}>"


def _integer(random: Random) -> str:
    integers = [e for e in _ELEMENTS if e.startswith("i")]
    return random.choice(_INTEGERS) if random.random() < 0.5 else _vector(random, integers)


def _float(random: Random) -> str:
    floats = [e for e in _ELEMENTS if "f" in e]
    return random.choice(_FLOATS) if random.random() < 0.5 else _vector(random, floats)


def _function(body: str, arguments: str = "%p: !llvm.ptr", before: str = "") -> str:
    return f"{before}\nllvm.func @f({arguments}) {{\n{body}\nllvm.return\n}}"


def _computed(random: Random, kind: str, lines: str, result: str | None = None) -> str:
    """Take `%a`, `%b` and `%c` of a type from memory or as constants, compute `%r`, store it."""
    source = random.choice(
        [*(3 * ["load %p : !llvm.ptr ->"]), *(f"mlir.{name} :" for name in ("undef", "zero"))]
    )
    loads = "".join(f"%{name} = llvm.{source} {kind}\n" for name in "abc")
    return _function(f"{loads}{lines}\nllvm.store %r, %p : {result or kind}, !llvm.ptr")


def _binary(random: Random) -> str:
    if random.random() < 0.5:
        kind, op = _integer(random), random.choice(_BINARY)
    else:
        kind, op = _float(random), random.choice(_FLOAT_BINARY)
    return _computed(random, kind, f"%r = llvm.{op} %a, %b : {kind}")


def _memory(random: Random) -> str:
    kind = _type(random)
    flags = random.choice(["", "", "volatile ", "atomic "])
    order = random.choice(_ORDERINGS) if flags == "atomic " else ""
    alignment = random.choice(["", "", "1", "4", "3", "0", "4294967296", "1099511627776"])
    attributes = f" {{alignment = {alignment} : i64}}" if alignment else ""
    load = f"%a = llvm.load {flags}%p {order}{attributes} : !llvm.ptr -> {kind}"
    store = f"llvm.store {flags}%a, %p {order}{attributes} : {kind}, !llvm.ptr"
    return _function(f"{load}\n{store}")


def _allocation(random: Random) -> str:
    kind = _type(random)
    attributes = random.choice(
        ["", "{alignment = 64 : i64}", "{alignment = 3 : i64}", "{inalloca}"]
    )
    size = random.choice(["1", "0", "-1", "1000000000000"])
    return _function(
        f"%n = llvm.mlir.constant({size} : i64) : i64\n"
        f"%s = llvm.alloca %n x {kind} {attributes} : (i64) -> !llvm.ptr\n"
        f"%q = llvm.getelementptr %s[1] : (!llvm.ptr) -> !llvm.ptr, {_type(random)}\n"
        f"llvm.store %q, %p : !llvm.ptr, !llvm.ptr"
    )


def _global(random: Random) -> str:
    kind = _type(random)
    linkage = random.choice(_LINKAGES)
    value = random.choice(["zero", "undef", "poison"])
    attributes = random.choice(
        [
            *("alignment = 8 : i64", "alignment = 3 : i64", "alignment = 4294967296 : i64"),
            *(
                "addr_space = 270 : i32",
                "addr_space = 3 : i32",
                "thr_local",
                "unnamed_addr = 9 : i64",
            ),
            *(f'section = "{section}"' for section in _SECTIONS),
            *("visibility_ = 1 : i64", "externally_initialized", "dso_local", ""),
        ]
    )
    thread = "thread_local " if random.random() < 0.2 else ""
    return (
        f"llvm.mlir.global {linkage} {thread}@g() {{{attributes}}} : {kind} {{\n"
        f"%0 = llvm.mlir.{value} : {kind}\nllvm.return %0 : {kind}\n}}\n"
        + _function(
            "%0 = llvm.mlir.addressof @g : !llvm.ptr\nllvm.store %0, %p : !llvm.ptr, !llvm.ptr"
        )
    )


def _cast(random: Random) -> str:
    op, source, target = random.choice(_CASTS), _type(random), _type(random)
    return _computed(random, source, f"%r = llvm.{op} %a : {source} to {target}", target)


def _unary_intrinsic(random: Random) -> str:
    kind = _float(random) if random.random() < 0.7 else _integer(random)
    op = random.choice(_UNARY_INTRINSICS)
    if op in ("bitreverse", "bswap", "ctpop"):
        kind = _integer(random)
    if op == "is.constant":
        return _computed(random, kind, f'%r = "llvm.intr.is.constant"(%a) : ({kind}) -> i1', "i1")
    result = random.choice(["i32", "i64"]) if op in ("lrint", "llround") else kind
    return _computed(random, kind, f"%r = llvm.intr.{op}(%a) : ({kind}) -> {result}", result)


def _binary_intrinsic(random: Random) -> str:
    op = random.choice(_BINARY_INTRINSICS)
    floats = ("copysign", "maximum", "maxnum", "minimum", "minnum", "pow")
    kind = _float(random) if op in floats else _integer(random)
    if "overflow" in op:
        bits = f"vector<{kind[7:].partition('x')[0]}xi1>" if kind.startswith("vector") else "i1"
        kind_of = f"!llvm.struct<({kind}, {bits})>"
        line = f'%s = "llvm.intr.{op}"(%a, %b) : ({kind}, {kind}) -> {kind_of}\n'
        return _computed(random, kind, f"{line}%r = llvm.extractvalue %s[0] : {kind_of}")
    return _computed(random, kind, f'%r = "llvm.intr.{op}"(%a, %b) : ({kind}, {kind}) -> {kind}')


def _ternary(random: Random) -> str:
    kind = _float(random) if random.random() < 0.6 else _integer(random)
    op = random.choice(["fma", "fmuladd", "fshl", "fshr"])
    return _computed(
        random, kind, f'%r = "llvm.intr.{op}"(%a, %b, %c) : ({kind}, {kind}, {kind}) -> {kind}'
    )


def _reduction(random: Random) -> str:
    kind, op = _vector(random), random.choice(_REDUCTIONS)
    element = kind.partition("x")[2][:-1]
    return _computed(
        random, kind, f'%r = "llvm.intr.vector.reduce.{op}"(%a) : ({kind}) -> {element}', element
    )


def _atomic(random: Random) -> str:
    kind, order = _type(random), random.choice(_ORDERINGS)
    if random.random() < 0.7:
        op = random.choice(_ATOMICS)
        return _computed(
            random, kind, f"%r = llvm.atomicrmw {op} %p, %a {order} : !llvm.ptr, {kind}"
        )
    lines = f"%s = llvm.cmpxchg %p, %a, %b acq_rel monotonic : !llvm.ptr, {kind}\n"
    pair = f"!llvm.struct<({kind}, i1)>"
    return _computed(random, kind, f"{lines}%r = llvm.extractvalue %s[0] : {pair}")


def _comparison(random: Random) -> str:
    kind = _type(random)
    op = random.choice(['icmp "slt"', 'icmp "eq"', 'fcmp "olt"', 'fcmp "uno"'])
    bits = "i1"
    if kind.startswith("vector"):
        bits = f"vector<{kind[7:].partition('x')[0]}xi1>"
    return _computed(
        random,
        kind,
        f"%s = llvm.{op} %a, %b : {kind}\n%r = llvm.select %s, %a, %b : {bits}, {kind}",
    )


def _value(random: Random) -> str:
    kind = _type(random)
    line = random.choice(
        [
            f"%r = llvm.freeze %a : {kind}",
            f"%r = llvm.mlir.undef : {kind}",
            f"%r = llvm.mlir.zero : {kind}",
            f"llvm.br ^b(%a : {kind})\n^b(%r: {kind}):",
            f"%s = llvm.mlir.constant(1 : i32) : i32\n"
            f"%r = llvm.insertelement %t, %a[%s : i32] : {kind}\n".replace(
                "%t", f"%x{random.randrange(3)}"
            ),
            f"%r = llvm.insertvalue %a, %b[0] : {kind}",
            f"%r = llvm.shufflevector %a, %b [0, 1] : {kind}",
        ]
    )
    return _computed(random, kind, line)


def _passed(random: Random) -> str:
    """A value that is an argument and a result."""
    kind, convention = _type(random), random.choice(_CONVENTIONS)
    attributes = random.choice(
        ["", "", "{llvm.signext}", "{llvm.align = 3 : i64}", "{llvm.noalias}", "{llvm.inreg}"]
    )
    return (
        f"llvm.func {convention} @g(%a: {kind} {attributes}) -> {kind} {{\nllvm.return %a : {kind}\n}}\n"
        f"llvm.func @h({kind}, ...) -> {kind}\n"
        + _function(
            f"%a = llvm.load %p : !llvm.ptr -> {kind}\n"
            f"%b = llvm.call {convention} @g(%a) : ({kind}) -> {kind}\n"
            f"%c = llvm.call @h(%b, %b) vararg(!llvm.func<{kind} ({kind}, ...)>) : ({kind}, {kind}) -> {kind}\n"
            f"llvm.store %c, %p : {kind}, !llvm.ptr"
        )
    )


def _attributes(random: Random) -> str:
    texts: list[str] = []
    for name in random.sample(_FUNCTION_ATTRIBUTES, random.choice([1, 1, 2])):
        key, equal, value = name.partition("=")
        texts.append(f'["{key}", "{value}"]' if equal else f'"{key}"')
    more = random.choice(
        [
            *(
                "",
                "",
                "",
                ", alignment = 8 : i64",
                ", alignment = 3 : i64",
                ', garbageCollector = "x"',
            ),
            *(f', section = "{section}"' for section in _SECTIONS[:3]),
            *(
                ", always_inline",
                ", optimize_none",
                ", vscale_range = #llvm.vscale_range<minRange = 3 : i32, maxRange = 1 : i32>",
            ),
        ]
    )
    return (
        f"llvm.func @f(%p: !llvm.ptr) attributes {{passthrough = [{', '.join(texts)}]{more}}} {{\n"
        "%n = llvm.mlir.constant(9000 : i64) : i64\n"
        "%s = llvm.alloca %n x i8 : (i64) -> !llvm.ptr\n"
        "llvm.call @g(%s) : (!llvm.ptr) -> ()\n"
        "%a = llvm.load %p : !llvm.ptr -> f64\n%b = llvm.fdiv %a, %a : f64\n"
        "llvm.store %b, %p : f64, !llvm.ptr\nllvm.return\n}\nllvm.func @g(!llvm.ptr)"
    )


_NAMES: Final = _words(
    "llvm.mmra llvm.noalias llvm.unknown nvvm.kernel nvvm.maxntid rocdl.kernel rocdl.max_flat_work_"
    "group_size omp.declare_target omp.is_gpu gpu.kernel acc.declare xevm.x amx.x dlti.dl_spec "
    "vcix.x ptr.x builtin.x own.x llvm.target_triple llvm.data_layout llvm.module_flags"
)
_VALUES: Final = [
    *_words('1:i64 "x" unit @g [] [1:i32] {} i32 dense<1>:vector<2xi32> array<i32:1>')
]


def _annotated(random: Random) -> str:
    """Attributes of dialects, known and unknown, on operations, functions and modules."""
    names = iter(random.sample(_NAMES, 4))
    texts = [f"{name} = {random.choice(_VALUES)}" for name in names]
    if random.random() < 0.7:
        texts[random.randrange(3)] = "own.name"
    text = _function(f"%a = llvm.load %p {{{texts[0]}}} : !llvm.ptr -> i32")
    text = text.replace("(%p: !llvm.ptr)", f"(%p: !llvm.ptr) attributes {{{texts[1]}}}", 1)
    name = random.choice(_words("g llvm.sqrt.f64 llvm.memcpy llvm.nosuch llvm.x86.rdtsc llvm."))
    text += f"\nllvm.func @{name if name[-1] != '.' else 'g'}(i32 {{{texts[2]}}}) -> f32"
    return f"module attributes {{{texts[3] if random.random() < 0.2 else ''}}} {{\n{text}\n}}"


def _control(random: Random) -> str:
    kind = random.choice(_INTEGERS)
    cases = ", ".join(f"{n}: ^b" for n in random.choices(range(5), k=random.randrange(4)))
    return _function(
        f"%a = llvm.load %p : !llvm.ptr -> {kind}\nllvm.switch %a : {kind}, ^c [{cases}]\n"
        "^b: llvm.br ^c\n^c:"
    )


def _called(random: Random) -> str:
    """Calls by name of intrinsics, of targets or with wrong types, and inline assembly."""
    kind = random.choice(["i32", "f32", "f128", "vector<3xf32>"])
    name = random.choice(
        [
            *(
                "llvm.nosuch",
                "llvm.x86.rdtsc",
                "llvm.nvvm.read.ptx.sreg.tid.x",
                "llvm.experimental.gc",
            ),
            *(
                "llvm.eh.sjlj.setjmp",
                "llvm.frameaddress.p0",
                "llvm.returnaddress",
                "llvm.read_register.i64",
            ),
            *("llvm.matrix.transpose", "llvm.vp.add.v4i32", "llvm.coro.begin", "llvm.fshl"),
        ]
    )
    assembly = random.choice(["nop", "bogus", "mov $0, $1", ".rept 3", '.section "x"', "${0:q}"])
    constraints = random.choice(["", "=r,r", "={nosuch},r", "=x,x", "=m,r", "=&r,0"])
    if random.random() < 0.5:
        return _computed(
            random, kind, f'%r = llvm.call_intrinsic "{name}"(%a) : ({kind}) -> {kind}'
        )
    return _computed(
        random,
        kind,
        f'%r = llvm.inline_asm has_side_effects "{assembly}", "{constraints}" %a : ({kind}) -> {kind}',
    )


_KINDS: Final[list[Callable[[Random], str]]] = [
    *(_binary, _binary, _memory, _memory, _allocation, _allocation, _global, _global, _cast, _cast),
    *(_unary_intrinsic, _binary_intrinsic, _ternary, _reduction, _atomic, _atomic, _comparison),
    *(_value, _value, _passed, _passed, _attributes, _attributes, _attributes, _control, _called),
    *(_annotated, _annotated, _annotated),
]
