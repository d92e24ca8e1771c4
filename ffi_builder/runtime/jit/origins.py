"""Says where symbols come from that nothing defines, and what to write for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from ffi_builder.runtime import bindings
from ffi_builder.runtime.jit import supplied


class Origin(NamedTuple):
    """Symbols that compilers make calls of, by their names."""

    symbols: str
    """A pattern of whole names; those of C++ also as linkers print them."""
    words: str
    """Says what the symbols are; without a library, also what to do."""
    library: str = ""
    """What defines them, after `-l`."""


_PRELOADED: Final = (
    "are of a sanitizer, whose library has to be the first that a process loads: compile without "
    "-fsanitize, or start Python with LD_PRELOAD=$(cc -print-file-name=lib{0}.so), and export "
    'libraries with link=["-l{0}"]'
)

_ORIGINS: Final = (
    # ---- C
    Origin(
        r"_ZGV[a-z][NM](\d+|x)\w+",
        "glibc's vector functions, for -ffast-math and `omp simd`",
        "mvec",
    ),
    Origin(r"__atomic_\w+", "atomic operations that the CPU has no instruction for", "atomic"),
    Origin(
        r"__(cpu_model|cpu_indicator_init|cpu_features2|init_cpu_features\w*)|__morestack\w*"
        r"|__(bid|dpd)_\w+|__(gcc_nested_func_ptr|aarch64|emutls)_\w+|__enable_execute_stack"
        r"|__(u?(div|mod|divmod|mulo?|cmp)|(add|sub|neg)v?|absv|ash[lr]|lshr|ffs|c[lt]z|parity"
        r"|popcount|bswap|clrsb|pow|fix(uns)?|float(un)?|extend|trunc|eq|ne|[lg][te]|unord)"
        r"[a-z]{2,4}\d?",
        "GCC's own functions",
        "gcc",
    ),
    Origin(
        r"(c?(a?(sin|cos|tan)h?|exp|log|log10|pow|sqrt)|atan2|cbrt|ceil|fabs|floor|fma|fmax|fmin"
        r"|fmod|hypot|l?l?rint|l?l?round|nearbyint|trunc|erfc?|[lt]gamma|ldexp|frexp|exp[2m]1?"
        r"|log[21]p?|cabs|carg|remainder|copysign|scalbl?n|isnan|isinf|finite)q"
        r"|strtoflt128|quadmath_\w+",
        "functions of numbers of 128 bits",
        "quadmath",
    ),
    Origin(r"__\w+_finite", "were in glibc until 2.31: compile anew, or without -ffast-math"),
    Origin(r"_ITM_\w+", "the runtime of -fgnu-tm", "itm"),
    Origin(r"__objc_\w+|objc_\w+", "the runtime of Objective-C", "objc"),
    Origin(r"_Block_\w+|_NSConcrete\w+", "the runtime of -fblocks", "BlocksRuntime"),
    Origin(
        r"__(x86_(indirect|return)_thunk|llvm_retpoline|llvm_lvi)\w*",
        "are thunks of the kernel: compile without -mindirect-branch=thunk-extern, "
        "-mfunction-return=thunk-extern and -mretpoline-external-thunk",
    ),
    # ---- C++
    Origin(r"_ZN?K?St3__1.*|_ZT\w+St3__1.*|std::__1::.*", "libc++, of clang -stdlib=libc++", "c++"),
    Origin(
        r"_ZN\w+17h[0-9a-f]{16}E|_R[A-Z]\w+|__rust_\w+|rust_eh_personality|(core|alloc)::.*",
        "are of Rust's library: compile with --crate-type=staticlib",
    ),
    Origin(
        r"__cxa_\w+|__gxx_\w+|_ZN?K?S[abdiost].*|_ZT\w(N10__cxxabi|S)\w+|_Z(n[wa]|d[la])\w+"
        r"|(non-virtual thunk to |vtable for |typeinfo for )?(std|__cxxabiv1)::.*"
        r"|operator (new|delete).*",
        "the runtime of C++",
        "stdc++",
    ),
    # ---- OpenMP and its like
    Origin(
        r"GOMP_\w+|GOACC_\w+|omp_\w+|acc_(get|set)_\w+|acc_on_device",
        "GCC's OpenMP and OpenACC",
        "gomp",
    ),
    Origin(r"__kmpc_\w+|__tgt_\w+", "clang's OpenMP", "omp"),
    Origin(r"__cilkrts_\w+", "Cilk; opencilk in OpenCilk", "cilkrts"),
    Origin(
        r"ISPC(Alloc|Launch|Sync|Instrument)",
        "are what `launch` of ISPC calls: compile tasksys.cpp of its examples, and link the object",
    ),
    # ---- what compilers measure and check
    *(
        Origin(rf"__{name}_\w+", _PRELOADED.format(name))
        for name in ("asan", "hwasan", "lsan", "msan", "tsan")
    ),
    Origin(r"__ubsan_\w+", "what -fsanitize=undefined calls; not with -fsanitize-trap", "ubsan"),
    Origin(
        r"__sanitizer_cov_\w+|__sancov_\w+|__afl_\w+",
        "are of a fuzzer: compile without -fsanitize-coverage",
    ),
    Origin(r"__safestack_\w+|__cfi_\w+", "are of clang: compile without -fsanitize"),
    Origin(r"__xray_\w+", "are of clang: compile without -fxray-instrument"),
    Origin(r"__gcov_\w+", "what --coverage and -fprofile-generate of GCC call", "gcov"),
    Origin(
        r"__llvm_(profile|gcov)_\w+|llvm_(gcov|gcda)_\w+",
        "are of clang's profiles: compile without -fprofile-generate, -fprofile-instr-generate "
        "and --coverage, or link the path of libclang_rt.profile.a",
    ),
    # ---- other languages
    Origin(r"_gfortrani?_\w+", "the runtime of gfortran", "gfortran"),
    Origin(r"__\w+_MOD_\w+", "are of modules of Fortran: link their objects"),
    Origin(
        r"_Fortran[AEC]\w+",
        "the runtime of flang; FortranRuntime and FortranDecimal before LLVM 21",
        "flang_rt.runtime",
    ),
    Origin(
        r"for_(write|read|stop|open|close|alloc|dealloc|concat|cpystr|emit)\w*",
        "the runtime of Intel's Fortran",
        "ifcore",
    ),
    Origin(r"__gnat_\w+|(ada|gnat|interfaces|system)__\w+", "the runtime of Ada", "gnat"),
    Origin(
        r"_d_\w+|_D\d\w+",
        'are of D\'s runtime: link=["-lgdruntime"] for gdc, link=["-ldruntime-ldc-shared"] for '
        "ldc2, or compile with -betterC",
    ),
    Origin(
        r"swift_(retain|release|(de)?alloc|once|get)\w*|\$s\w+", "the runtime of Swift", "swiftCore"
    ),
    Origin(r"__zig_\w+", "are of Zig's runtime: compile with -fcompiler-rt"),
    Origin(
        r"runtime\..*|_cgo_\w+|crosscall2", "are of Go's runtime: build with -buildmode=c-archive"
    ),
    Origin(
        r"halide_\w+",
        "are Halide's runtime: pass the object that hl.compile_standalone_runtime writes with "
        "link=, or compile without no_runtime",
    ),
    # ---- MLIR
    Origin(
        r"memrefCopy|print(Open|Close|Comma|Newline|String|Flops|[BF]F?\d+|[IU]64)|rt(clock|\w*rand)",
        "MLIR's functions for copies and output",
        "mlir_c_runner_utils",
    ),
    Origin(r"(_mlir_ciface_)?printMemref\w+", "MLIR's functions for output", "mlir_runner_utils"),
    Origin(r"mlirAsyncRuntime\w+", "MLIR's async runtime", "mlir_async_runtime"),
    Origin(r"mgpu\w+", "MLIR's runtime for GPUs", "mlir_cuda_runtime"),
    # ---- libraries of vendors
    Origin(r"__svml_\w+", "Intel's vector functions", "svml"),
    Origin(r"_?_intel_\w+", "the runtime of Intel's compilers", "irc"),
    Origin(r"Sleef_\w+", "SLEEF's vector functions", "sleef"),
    Origin(r"amd_vr[sd]\d\w+", "AMD's vector functions", "alm"),
    Origin(r"armpl_v\w+", "Arm's vector functions", "amath"),
    Origin(r"cblas_\w+|[sdcz](ge|sy|tr|he)[ms][mv]_", "BLAS, as in OpenBLAS", "openblas"),
    Origin(r"LAPACKE_\w+", "LAPACK for C", "lapacke"),
    Origin(r"cuda[A-Z]\w+|__cuda[A-Z]\w+", "CUDA's runtime", "cudart"),
    Origin(r"cu[A-Z]\w+", "CUDA's driver", "cuda"),
    Origin(r"hip[A-Z]\w+|__hip[A-Z]\w+", "HIP's runtime", "amdhip64"),
)


def hint_for(missing: Collection[str]) -> str:
    """Say how to supply functions that nothing defines."""
    return bindings.lacking(missing) or supplied.missing_support(missing) or _hint(missing)


def _hint(missing: Collection[str]) -> str:
    known: dict[Origin, list[str]] = {}
    others: list[str] = []
    for name in missing:
        origin = next((each for each in _ORIGINS if re.fullmatch(each.symbols, name)), None)
        (others if origin is None else known.setdefault(origin, [])).append(name)
    if any(origin.library == "omp" for origin in known):  # which has GCC's functions too
        known = {origin: names for origin, names in known.items() if origin.library != "gomp"}
    hints: list[str] = []
    libraries = [origin for origin in known if origin.library]
    if libraries:
        link = ", ".join(f'"-l{origin.library}"' for origin in libraries)
        words = "; ".join(
            f"-l{origin.library}: {origin.words}" if len(libraries) > 1 else origin.words
            for origin in libraries
        )
        hints.append(f"pass the library that defines them: link=[{link}] ({words})")
    is_one = len(known) + bool(others) == 1
    hints += [
        f"{'they' if is_one else listed(names)} {origin.words}"
        for origin, names in known.items()
        if not origin.library
    ]
    if others:
        what = listed(others) if known else "them"
        hints.append(
            f"pass what defines {what} with link=: LLVM IR, an object, an archive or a library"
        )
    return "; ".join(hints)


def listed(names: Iterable[object]) -> str:
    """Return names for an error."""
    return ", ".join(f"`{name}`" for name in names)
