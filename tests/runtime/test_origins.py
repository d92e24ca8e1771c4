"""Symbols of compilers' libraries: errors say what to write, and that is found."""

from __future__ import annotations

import ctypes.util
import json
import re
from pathlib import Path

import pytest

from ffi_builder import LinkError, runtime
from tests.runtime.samples import c_object, llvm_entry, needs_cc, needs_x86_64, run_child

WRITE = {
    "_ZGVbN2v_exp_of_mine": "-lmvec",
    "_ZGVsMxv_cosh_of_mine": "-lmvec",
    "__atomic_load_of_mine": "-latomic",
    "__cpu_model": "-lgcc",
    "__cpu_indicator_init": "-lgcc",
    "__morestack": "-lgcc",
    "__bid_adddd3": "-lgcc",
    "__mulotf4": "-lgcc",
    "GOMP_of_mine": "-lgomp",
    "omp_of_mine": "-lgomp",
    "GOACC_of_mine": "-lgomp",
    "__kmpc_fork_call": "-lomp",
    "_gfortran_runtime_error": "-lgfortran",
    "__grid_MOD_step": "link their objects",
    "_FortranAStopStatement": "-lflang_rt.runtime",
    "__gnat_rcheck_CE_Range_Check": "-lgnat",
    "ada__text_io__put_line": "-lgnat",
    "system__val_lli__impl__value_integer": "-lgnat",
    "expm1q": "-lquadmath",
    "csqrtq": "-lquadmath",
    "_ITM_beginTransaction": "-litm",
    "objc_msgSend": "-lobjc",
    "_Block_copy": "-lBlocksRuntime",
    "swift_retain": "-lswiftCore",
    "__cilkrts_enter_frame": "-lcilkrts",
    "_ZNSt3__16localeC1Ev": "-lc++",
    "__cxa_of_mine": "-lstdc++",
    "_ZNSt7nothing3at2Ev": "-lstdc++",
    "__ubsan_handle_add_overflow": "-lubsan",
    "__gcov_init": "-lgcov",
    "__svml_exp2": "-lsvml",
    "Sleef_expd4": "-lsleef",
    "printMemrefF32": "-lmlir_runner_utils",
    "printNewline": "-lmlir_c_runner_utils",
    "mgpuModuleLoad": "-lmlir_cuda_runtime",
    "cblas_dgemm": "-lopenblas",
    "cudaMalloc": "-lcudart",
    "cuLaunchKernel": "-lcuda",
    "hipMalloc": "-lamdhip64",
    "__asan_init": "LD_PRELOAD=$(cc -print-file-name=libasan.so)",
    "__tsan_func_entry": "LD_PRELOAD=$(cc -print-file-name=libtsan.so)",
    "__sanitizer_cov_trace_pc": "without -fsanitize-coverage",
    "__llvm_profile_runtime": "libclang_rt.profile.a",
    "__x86_indirect_thunk_rax": "without -mindirect-branch=thunk-extern",
    "__exp_finite": "compile anew, or without -ffast-math",
    "_ZN4core9panicking5panic17h0123456789abcdefE": "--crate-type=staticlib",
    "_D3std5stdio6stdoutS": "-betterC",
    "__zig_probe_stack": "-fcompiler-rt",
    "_cgo_panic": "-buildmode=c-archive",
    "ISPCLaunch": "tasksys.cpp",
    "halide_malloc": "hl.compile_standalone_runtime",
}


def declaring(*names: str) -> str:
    """LLVM IR that needs functions that nothing defines."""
    calls = "\n".join(f'  call void @"{name}"()' for name in names)
    declared = "".join(f'declare void @"{name}"()\n' for name in names)
    return declared + llvm_entry("f", f"{calls}\n  %x = add i64 %v, 1")


# Other tests of this process may have loaded the libraries.
SAID = """
import json
from tests.runtime.test_origins import WRITE, declaring
from ffi_builder import LinkError, runtime
said = {}
for name in WRITE:
    try:
        runtime.compile(declaring(name))
    except LinkError as error:
        said[name] = str(error)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What the errors of a new process say, by symbols."""
    done = run_child(SAID)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("symbol", WRITE)
def test_an_error_says_what_to_write(symbol: str, said: dict[str, str]) -> None:
    assert f"define: `{symbol}`; " in said[symbol]
    assert WRITE[symbol] in said[symbol]
    assert "pass what defines" not in said[symbol]


@needs_cc
def test_a_library_has_the_same_errors(tmp_path: Path) -> None:
    of_other_compilers = ("omp_of_mine", "GOMP_of_mine", "GOACC_of_mine")  # clang's has them too
    names = [name for name in WRITE if name not in of_other_compilers]
    with pytest.raises(LinkError) as raised:
        runtime.lower(declaring(*names)).export_library(tmp_path / "f.so")
    known = {"__cpu_model", "__cpu_indicator_init", "__morestack", "__bid_adddd3"}  # GCC links them
    missing = [WRITE[name] for name in names if name not in known]
    assert [words for words in missing if words not in str(raised.value)] == []


@pytest.mark.parametrize(
    "name",
    [
        "freq",
        "__printf",
        "ada_main",
        "system_call",
        "current",
        "acc_sum",
        "rust_add",
        "_ZGVZ4mainE1a",
    ],
)
def test_names_that_are_alike_come_from_nowhere(name: str) -> None:
    with pytest.raises(LinkError) as raised:
        runtime.compile(declaring(name))
    assert "pass what defines them with link=: LLVM IR, an object" in str(raised.value)
    assert "-l" not in str(raised.value).partition("define")[2]


def test_several_libraries_and_others() -> None:
    with pytest.raises(LinkError) as raised:
        runtime.compile(declaring("mine", "__kmpc_fork_call", "omp_of_mine", "__cpu_model"))
    assert (
        'link=["-lomp", "-lgcc"] (-lomp: clang\'s OpenMP; -lgcc: GCC\'s own functions); '
        "pass what defines `mine` with link="
    ) in str(raised.value)


CPU = """
ENTRY(f) {
  __builtin_cpu_init();
  RETURN(args[1] + (__builtin_cpu_supports("sse2") != 0));
}"""


@needs_cc
@needs_x86_64
def test_an_archive_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gcc's own library is static, and in a folder that only gcc knows."""
    data = c_object(tmp_path, CPU)
    compiled = runtime.compile(data, link=["-lgcc"])
    assert compiled["f"](6) == 7
    compiled.export_library(tmp_path / "f.so")
    assert runtime.load(tmp_path / "f.so")["f"](6) == 7
    with pytest.raises(LinkError, match="-lnone_of_that_name: the system has no library"):
        runtime.compile(data, link=["-lnone_of_that_name"])
    monkeypatch.setenv("CC", "no-such-compiler")
    words = "-lgcc: .* no library `libgcc`, and no C compiler says where libgcc.a is: .*no-such-com"
    with pytest.raises(LinkError, match=words):
        runtime.compile(data, link=["-lgcc"])


@needs_cc
@needs_x86_64
def test_profiles_of_gcc(tmp_path: Path) -> None:
    """libgcov.a has thread-local variables, so the system's linker links it."""
    c_object(tmp_path, "int64_t kernel(int64_t n) { return n + 1; }", "--coverage")
    text = "declare i64 @kernel(i64)\n" + llvm_entry("f", "%x = call i64 @kernel(i64 %v)")
    assert runtime.compile(text, link=[tmp_path / "part.o", "-lgcov"])["f"](6) == 7


@pytest.mark.parametrize("name", ["asan", "tsan"])
def test_a_sanitizer_is_not_loaded_late(name: str) -> None:
    """ASan ends the process then."""
    if ctypes.util.find_library(name) is None:
        pytest.skip(f"needs lib{name}")
    words = re.escape(f"start Python with LD_PRELOAD=$(cc -print-file-name=lib{name}.so")
    with pytest.raises(LinkError, match=f"first library that a process loads.*{words}"):
        runtime.compile(llvm_entry("f"), link=[f"-l{name}"])
