"""Modules with launches: shared, taken back, printed and read again, cached, composed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import BuildError, attach_ffi_func, runtime, spec
from ffi_builder.ir import Block
from ffi_builder.providers import CallContext, CallProvider, CudaLaunchCallProvider
from tests.cuda.launching import compiled, provider
from tests.fakecuda import FakeDriver, KernelImage, make_cubin
from tests.fakecuda.kernels import EMPTY
from tests.support.wrapping import attached, new_module
from tests.support.wrapping import wrap as wrap_with

N = spec.Var("n", "int32")
FIRST, SECOND = KernelImage("first", (4,)), KernelImage("second")


@dataclass(frozen=True)
class Several:
    """Calls one provider after the other."""

    providers: tuple[CallProvider, ...]

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        for each in self.providers:
            context.builder.block = each(current_block, context)
            current_block = context.builder.block
        return current_block


class Failing:
    """Emits nothing."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        raise BuildError("no")


@pytest.mark.parametrize("distribution", ["torch_mlir", "jaxlib.mlir"])
def test_in_each_distribution(driver: FakeDriver, distribution: str):
    launch = provider(EMPTY, grid=16, cluster=16, dynamic_smem_bytes=100_000)
    module = attached([], launch, distribution=distribution)
    runtime.compile(module)["f"]()
    [found] = driver.launches()
    assert (found.cluster, found.shared) == ((16, 1, 1), 100_000)


@pytest.mark.parametrize("before", [False, True])
def test_a_failure_takes_everything_back(before: bool):
    module = attached([], provider(EMPTY), name="g") if before else new_module()
    text = str(module)
    with pytest.raises(BuildError, match="no"):
        attach_ffi_func(module, "f", [N], Several((provider(FIRST), Failing())))
    assert str(module) == text


def test_a_module_that_was_printed_and_read_again(driver: FakeDriver):
    """Parts that the module has already are found by their names."""
    image = make_cubin([FIRST, SECOND])
    module = attached([N], provider(FIRST, image=image))
    module = module.__class__.parse(str(module), module.context)
    attach_ffi_func(module, "g", [], provider(SECOND, image=image))
    text = str(module)
    assert text.count("llvm.mlir.global_dtors") == 1
    assert (
        text.count("@__ffi_builder_cuda_image_")
        == text.count("addressof @__ffi_builder_cuda_image_") + 1
    )
    both = runtime.compile(module)
    both["f"](3)
    both["g"]()
    assert [launch.kernel for launch in driver.launches()] == ["first", "second"]
    assert driver.count("cuLibraryLoadData") == 1


def test_several_launches_in_one_wrapper(driver: FakeDriver):
    both = Several((provider(FIRST), provider(SECOND, args=[])))
    module = runtime.compile(attached([N], both))
    module["f"](7)
    assert [launch.kernel for launch in driver.launches()] == ["first", "second"]
    assert sorted(module.functions) == [
        "_cuda_preload2_f",
        "_cuda_preload_f",
        "_cuda_release2_f",
        "_cuda_release_f",
        "f",
    ]
    module["_cuda_release2_f"]()
    assert driver.live("library") == 1


@pytest.mark.parametrize("names", [("f", "f_2"), ("f_2", "f")])
def test_further_launches_are_not_taken_for_those_of_another_wrapper(
    driver: FakeDriver, names: tuple[str, str]
):
    both = Several((provider(FIRST), provider(SECOND, args=[])))
    module = new_module()
    for name in names:
        attach_ffi_func(module, name, [N], both if name == "f" else provider(EMPTY, args=[]))
    found = runtime.compile(module)
    found["_cuda_preload_f_2"]()
    [call] = driver.calls("cuLibraryGetKernel")
    assert call.arguments["name"] == "empty"
    assert set(found.functions) == {
        *("f", "f_2", "_cuda_preload_f_2", "_cuda_release_f_2"),
        *(f"_cuda_{what}_f" for what in ("preload", "preload2", "release", "release2")),
    }


def test_what_stands_behind_a_launch_is_not_reached_if_it_fails(driver: FakeDriver):
    function = wrap_with([N], Several((provider(FIRST), provider(SECOND, args=[]))))
    driver.fail("cuLaunchKernelEx", 1)
    with pytest.raises(RuntimeError, match="for kernel 'first'"):
        function(7)
    assert driver.launches() == []


def test_modules_are_cached(driver: FakeDriver, tmp_path: Path):
    def hook(module: Any) -> None:
        attach_ffi_func(module, "f", [], provider(EMPTY))

    for _ in range(2):
        found = runtime.compile("module {}", post_compile_hooks=[hook], cache_dir=tmp_path)
        found["f"]()
    assert len(driver.launches()) == 2


@pytest.mark.parametrize("level", range(4))
def test_every_level_of_optimisation(driver: FakeDriver, level: int):
    module = attached([N], provider(FIRST, grid=N, cluster=N, dynamic_smem_bytes=N * 30_000))
    runtime.compile(module, opt_level=level)["f"](2)
    [launch] = driver.launches()
    assert (launch.grid, launch.cluster, launch.shared) == ((2, 1, 1), (2, 1, 1), 60_000)


def test_equal_providers_are_equal():
    image = make_cubin([EMPTY])
    one, other = (CudaLaunchCallProvider(image, "empty", grid=N, block=1) for _ in range(2))
    assert one == other
    assert "image" not in repr(one)


def test_nothing_of_a_launch_is_outside_but_its_functions(driver: FakeDriver):
    assert set(compiled(EMPTY, []).functions) == {"f", "_cuda_preload_f", "_cuda_release_f"}
