"""Which LLVM IR the code generator is known to get through.

LLVM answers what it cannot generate with `LLVM ERROR` and abort(), and faults in inline assembly
with exit(1): its diagnostic handler is not reachable through llvmlite. So this looks for everything
that can lead there. A wrong alarm costs the detour through a child process (see `guard`); the
tables are therefore of what is known to be right.
"""

from __future__ import annotations

import re

from ffi_builder.runtime._tables import words

# The word after `@llvm.`: generic intrinsics that every target can generate code for.
_SAFE_INTRINSICS = words(
    """
    abs acos asin assume atan bitreverse bswap ceil compiler copysign cos cosh ctlz ctpop cttz dbg
    debugtrap donothing exp exp10 exp2 expect fabs floor fma fmuladd fptosi fptoui fshl fshr
    global_ctors global_dtors invariant is launder lifetime log log10 log2 masked maximum maxnum
    memcpy memmove memset minimum minnum nearbyint objectsize pow powi prefetch ptrmask rint round
    roundeven sadd sin sinh smax smin smul sqrt sshl ssub stackrestore stacksave strip tan tanh
    threadlocal trap trunc uadd ubsantrap umax umin umul used ushl usub vector
    """
)
_INTRINSIC = re.compile(r"@llvm\.(\w+)")

# Looked for as they are: a search for a plain string takes microseconds, one regular expression for
# all milliseconds.
_WORDS = (
    "vscale", "x86_amx", "ppc_fp128", "musttail", "callbr", "inalloca", "preallocated",
    "catchpad", "cleanuppad", "catchswitch", "exactmatch", "largest", "samesize",
    "amdgpu_", "ptx_", "spir_", "avr_", "aarch64_", "arm_", "riscv_", "msp430_", "m68k_",
)  # fmt: skip
# The same where spaces vary, each with the endings of the text up to the match's end that make it
# harmless.
_PATTERNS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"asm(?=[\s\"])"), ()),  # assembly, in a function or in the module
    (re.compile(r"target\s*\("), ()),  # types that only other targets have
    (re.compile(r"gc(?=\s*\")"), ()),  # garbage collector strategies are looked up by name
    (re.compile(r"\[\s*\""), ()),  # operand bundles
    # `fastcc `, or `cc10` with nothing before it: elsewhere it is a part of some hash
    (
        re.compile(r"cc(?=\s|(?<![\w.$-]cc)\d)"),
        ("fastcc", "coldcc", "preserve_mostcc", "preserve_allcc"),
    ),
    (re.compile(r"appending"), ("_ctors = appending", "_dtors = appending", "used = appending")),
)

_FUNCTION_TARGET = re.compile(r'"(target-cpu|target-features|tune-cpu)"="([^"]*)"')
_GENERIC_CPUS = frozenset({"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "generic"})


def codegen_hazard(text: str, cpu: str, features: str) -> str | None:
    """What in LLVM IR `text` may end the process when code is generated for `cpu`, or None.

    `features` are those of the CPU as LLVM writes them, `+avx,-sse4a,…`.
    """
    for word in _WORDS:
        if word in text:
            return word
    for pattern, harmless in _PATTERNS:
        for found in pattern.finditer(text):
            if not text.endswith(harmless, 0, found.end()):
                return found[0]
    for intrinsic in set(_INTRINSIC.findall(text)):
        if intrinsic not in _SAFE_INTRINSICS:
            return f"llvm.{intrinsic}"
    for key, value in set(_FUNCTION_TARGET.findall(text)):
        known = (
            _features_known(value, features) if key == "target-features" else value in _GENERIC_CPUS
        )
        if not known and value != cpu:
            return f'"{key}"="{value}"'
    return None


def _features_known(wanted: str, host: str) -> bool:
    """Whether `wanted` only adds features of this architecture.

    (Without SSE, floats cannot be returned.)
    """
    names = {f"+{feature[1:]}" for feature in host.split(",")}
    return names.issuperset(feature for feature in wanted.split(",") if feature)
