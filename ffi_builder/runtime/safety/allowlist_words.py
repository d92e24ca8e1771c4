"""The words of LLVM IR that are known to be harmless to LLVM's code generator.

Each was tried (tests/runtime/test_allowlists.py, test_unusual.py). `allowlist_llvm` reads the text.
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
TYPES: Final = words("void ptr half bfloat float double i1 i8 i16 i32 i64 i128 opaque")
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
    words("coldcc preserve_allcc") if _ON_X86 else words("")
)
ATTRIBUTES: Final = words(
    """
    alwaysinline argmem captures cold dereferenceable dereferenceable_or_null errnomem hot immarg
    inaccessiblemem initializes inlinehint mem memory minsize mustprogress noalias nobuiltin
    nocallback nocapture nocreateundeforpoison nofree noinline nomerge nonnull norecurse noreturn
    nosync noundef nounwind optnone optsize range read readnone readonly readwrite returned
    signext speculatable target_mem0 target_mem1 uwtable sync async willreturn write writeonly
    zeroext address provenance read_provenance address_is_null ret
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
    # LLVM's passes make these of reference counts, Numba's for example.
    words("x86.atomic.add.cc x86.atomic.sub.cc") if _ON_X86 else words("")
)

KNOWN_METADATA: Final = words(
    """
    alias.scope align dbg dereferenceable invariant.group invariant.load llvm.dbg.cu llvm.ident
    llvm.loop llvm.module.flags noalias nonnull nontemporal noundef numba_exception_output prof
    range tbaa unpredictable
    """,
    "!",
)
