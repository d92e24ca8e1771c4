"""How launching wrappers come to both bundles of functions in C: the core's and CUDA's own."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import pytest
from tvm_ffi import libinfo

from ffi_builder import LinkError, attach_ffi_func, runtime, support
from ffi_builder.providers import NopCallProvider
from ffi_builder.runtime.files.object_files import ObjectFile, read_object
from ffi_builder.runtime.jit import supplied
from tests.cuda.launching import STREAM, N, provider
from tests.fakecuda import FakeDriver, KernelImage, environment, library, missing
from tests.runtime.samples import c_object, needs_cc, run_child
from tests.support.bundles import no_library as no_library
from tests.support.wrapping import new_module

KERNEL = KernelImage("count", (8,))
PREFIX = "__ffi_builder_shared_"


def launching(*, self_contained: bool = False) -> Any:
    """A module with a wrapper ``f(n, stream)``, which has an argument to refuse and a launch."""
    module = new_module()
    launch = provider(KERNEL, block=N, args=["n"])
    attach_ffi_func(module, "f", [N, STREAM], launch, self_contained=self_contained)
    return module


def supporting(file: ObjectFile) -> tuple[set[str], set[str]]:
    """The support functions that an object has, and those that it lacks, by their digests."""
    named = [symbol for symbol in file.symbols if symbol.name.startswith(PREFIX)]
    has, lacks = ({s.name for s in named if s.defined is wanted} for wanted in (True, False))
    return {name[-8:] for name in has}, {name[-8:] for name in lacks}


BOTH = {bundle.digest for bundle in support.bundles() if bundle.name in ("", "cuda")}


@pytest.mark.parametrize("machine", support.MACHINES)
def test_an_exported_object_has_functions_of_both(machine: str, tmp_path: Path) -> None:
    path = tmp_path / "f.o"
    runtime.lower(launching()).export_object(path, triple=f"{machine}-linux-gnu")
    assert supporting(read_object(path.read_bytes(), machine)) == (BOTH, set())


def test_a_wrapper_that_launches_nothing_has_none_of_cuda(tmp_path: Path) -> None:
    module = new_module()
    attach_ffi_func(module, "f", [N], NopCallProvider())
    runtime.lower(module).export_object(tmp_path / "f.o")
    assert supporting(read_object((tmp_path / "f.o").read_bytes()))[0] == {
        support.bundles()[0].digest
    }


JIT = """
import sys
import llvmlite.binding as llvm
from ffi_builder import runtime, support
from tvm_ffi import libinfo

text, way = open(sys.argv[1]).read(), sys.argv[2]
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
llvm.initialize_native_asmparser()
machine = llvm.Target.from_default_triple().create_target_machine()
engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
llvm.load_library_permanently(str(libinfo.find_libtvm_ffi()))
if way == "libraries":
    llvm.load_library_permanently(str(support.library()))
    llvm.load_library_permanently(str(support.library(of="cuda")))
if "object" in way:
    engine.add_object_file(llvm.ObjectFileRef.from_data(support.object_code()))
if way == "objects":
    engine.add_object_file(llvm.ObjectFileRef.from_data(support.object_code(of="cuda")))
engine.finalize_object()
f = runtime.function_at(engine.get_function_address("__tvm_ffi_f"), owner=engine, module=text)
f(3, 0)
for wrong in ("3", 2048):
    try:
        f(wrong, 0)
    except (TypeError, RuntimeError) as error:
        print(error)
engine.run_static_destructors()
"""
"""Another JIT, in a process that has no support functions yet."""


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("way", ["objects", "libraries", "contained", "core's object alone"])
def test_another_jit(way: str, tmp_path: Path) -> None:
    path = tmp_path / "f.ll"
    path.write_text(runtime.llvm_ir(launching(self_contained=way == "contained")))
    done = run_child(JIT, path, way, env=environment(library()))
    if way == "core's object alone":
        assert done.returncode != 0  # this JIT calls functions that nothing defines
        return
    assert done.returncode == 0, done.stderr
    refused, failed = done.stdout.splitlines()
    assert "expected int but got" in refused  # says the core's code
    assert "; block.x is 2048, at most 1024 on this device" in failed  # says CUDA's


@pytest.mark.usefixtures("no_library")
def test_without_the_libraries_both_objects_are_linked(driver: FakeDriver) -> None:
    compiled = runtime.compile(launching())
    compiled["f"](3, 0)
    assert [launch.block for launch in driver.launches()] == [(3, 1, 1)]
    with pytest.raises(TypeError, match="expected int but got"):
        compiled["f"]("3", 0)


def test_each_library_is_loaded_only_if_a_wrapper_needs_it() -> None:
    core, cuda = (support.symbol(name) for name in ("raise", "cuda_launch"))
    needed = supplied._bundles  # pyright: ignore[reportPrivateUsage]
    assert [bundle.name for bundle in needed([core])] == [""]
    assert [bundle.name for bundle in needed([cuda])] == ["cuda"]
    assert [bundle.name for bundle in needed([cuda, core, "malloc"])] == ["", "cuda"]


@needs_cc
def test_what_is_said_of_functions_that_nothing_defines(tmp_path: Path) -> None:
    """An object of another compiler names functions that this version does not have."""
    digests = [bundle.digest for bundle in support.bundles() if bundle.name in ("", "cuda")]
    calls = "".join(f"void {PREFIX}unknown_{d}(void); " for d in digests)
    body = "".join(f"{PREFIX}unknown_{d}(); " for d in digests)
    linked = c_object(tmp_path, f"{calls} void kernel(void) {{ {body} }}")
    words = (
        r"load support.library\(\) and support.library\(of='cuda'\) with ctypes.RTLD_GLOBAL, "
        r"link support.object_code\(\) and support.object_code\(of='cuda'\), or attach\("
    )
    with pytest.raises(LinkError, match=words):
        runtime.compile(launching(), link=[linked])


def test_the_library_has_no_undefined_support_functions() -> None:
    """It needs tvm-ffi and libc alone, so that it loads before the core's."""
    ctypes.CDLL(str(libinfo.find_libtvm_ffi()), ctypes.RTLD_GLOBAL)
    library = ctypes.CDLL(str(support.library(of="cuda")))
    assert library[support.symbol("cuda_launch")]
