"""The words of MLIR and LLVM IR that are known to be harmless.

Each was tried (tests/runtime/test_allowlists.py, test_unusual.py). `allowlist_llvm` and
`allowlist_mlir` read the modules.
"""

from __future__ import annotations

import platform
from typing import Final

from ffi_builder.runtime.safety.tables import words

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
FLAGS: Final = words(
    """
    nuw nsw exact disjoint nneg samesign inbounds nusw fast nnan ninf nsz arcp contract afn
    reassoc eq ne ugt uge ult ule sgt sge slt sle oeq ogt oge olt ole one ord ueq une uno to label
    tail notail volatile atomic weak acquire release acq_rel seq_cst monotonic unordered xchg nand
    max min umax umin fmax fmin singlethread true false null none undef poison zeroinitializer x
    splat
    """
)
TYPES: Final = words("void ptr half bfloat float double opaque")
TOP_LEVEL: Final = words(
    """
    source_filename target datalayout triple define declare global constant alias attributes type
    private internal external available_externally linkonce linkonce_odr weak_odr extern_weak
    common appending default hidden protected dso_local dso_preemptable unnamed_addr
    local_unnamed_addr thread_local localdynamic initialexec localexec addrspace align
    externally_initialized section fastcc ccc preserve_mostcc
    """
) | (
    # LLVM has no code generator for the first on AArch64, and for the second not with all vectors.
    # No argument on its stack is empty.
    words("coldcc preserve_allcc byval") if _ON_X86 else words("")
)
ATTRIBUTES: Final = words(
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
METADATA: Final = words("distinct FullDebug LineTablesOnly NoDebug DebugDirectivesOnly")
HARMLESS: Final = INSTRUCTIONS | FLAGS | TYPES | TOP_LEVEL | ATTRIBUTES | METADATA

# Generic intrinsics that every target can generate code for, without their types.
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
    # LLVM's passes make the first two of reference counts, Numba's for example. 256 elements take
    # a code generator for AArch64 minutes.
    words("x86.atomic.add.cc x86.atomic.sub.cc masked.gather masked.scatter")
    if _ON_X86
    else words("")
)

KNOWN_METADATA: Final = words(
    """
    alias.scope align dbg dereferenceable invariant.group invariant.load llvm.dbg.cu llvm.ident
    llvm.errno.tbaa llvm.loop llvm.module.flags noalias nonnull nontemporal noundef
    numba_exception_output prof range tbaa unpredictable
    """,
    "!",
)

# Words in the line of a global, besides names and numbers. Of constant expressions only
# `getelementptr` is known to become a relocation.
GLOBAL: Final = (
    TYPES
    | (TOP_LEVEL - words("source_filename target datalayout triple define declare attributes type"))
    | words("x null undef poison zeroinitializer true false getelementptr inbounds nuw nusw weak")
)

ATTRIBUTE_VALUES: Final = (
    (words("alloc-family"), r"\w+"),
    (words("frame-pointer"), "all|non-leaf|none"),
    (
        words(
            """
            approx-func-fp-math less-precise-fpmad no-infs-fp-math no-nans-fp-math
            no-signed-zeros-fp-math no-trapping-math unsafe-fp-math use-soft-float
            """
        ),
        "true|false",
    ),
    (
        words("min-legal-vector-width prefer-vector-width stack-protector-buffer-size"),
        r"\d{1,4}",
    ),
)
"""Attributes with strings as values, and patterns of these."""
GENERIC_CPUS: Final = words(
    "generic x86-64 x86-64-v2 x86-64-v3 x86-64-v4" if _ON_X86 else "generic"
)
"""LLVM warns on stderr of a CPU that it does not know."""
OLDEST_FEATURES: Final = words("x87" if _ON_X86 else "neon", "+")
"""Those that every processor of the architecture has, and that LLVM does not count."""
MODULE_FLAGS: Final = frozenset(
    {
        *("Debug Info Version", "Dwarf Version", "PIC Level", "PIE Level", "frame-pointer"),
        *("uwtable", "wchar_size"),
    }
)
LOOP_FLAGS: Final = words(
    """
    mustprogress isvectorized unroll.disable unroll.enable unroll.full unroll.runtime.disable
    disable_nonforced
    """
)
LOOP_NUMBERS: Final = words(
    """
    vectorize.enable vectorize.width interleave.count unroll.count isvectorized peeled.count
    estimated_trip_count
    """
)

# ---- MLIR

MLIR_TRANSLATED: Final = words(
    """
    llvm builtin nvvm rocdl xevm omp acc gpu arm_neon arm_sme arm_sve amx x86 x86vector vcix ptr
    dlti
    """
)
"""Dialects that have a translation, and the one of data layouts."""

MLIR_OPERATIONS: Final = (
    words("builtin.module")
    | words(
        """
        func return call br cond_br switch unreachable inline_asm call_intrinsic mlir.addressof
        mlir.constant mlir.global mlir.global_ctors mlir.global_dtors mlir.poison mlir.undef
        mlir.zero intr.assume
        """,
        "llvm.",
    )
    | {f"llvm.{name}" for name in INSTRUCTIONS}
    | {f"llvm.intr.{name}" for name in INTRINSICS}
)
"""Operations whose translation is done or refused, whatever their operands and attributes are."""
