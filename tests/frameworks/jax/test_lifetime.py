"""Registered functions: how long their code lives, their names, threads, pickling."""

# Functions that JAX calls are typed as Any.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import copy
import gc
import pickle
import re
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import runtime
from ffi_builder.frameworks import jax as ffi_jax
from tests.frameworks.jax.support import Recorded, compile_kernels, compiled, jax, jnp
from tests.runtime.samples import needs_cc, run_child
from tests.support.threads import together


def test_code_lives_as_long_as_programs_that_call_it() -> None:
    for name, args in (("scale", (jnp.ones(3), 2.0)), ("add_to", (jnp.ones(3), jnp.ones(3)))):
        made = ffi_jax.function(compile_kernels()[name])
        program = jax.jit(lambda made=made, args=args: made(*args)).lower().compile()
        del made
        gc.collect()
        assert program().tolist() == [2, 2, 2]


def test_two_functions_have_two_targets() -> None:
    first, second = (ffi_jax.function(compiled()["scale"]) for _ in range(2))
    assert first.target != second.target
    assert re.fullmatch(r"ffi_builder\.scale\.[0-9a-f]{32}", first.target)


def test_a_target_stands_for_one_function() -> None:
    kernels = compile_kernels()
    name = "tests.frameworks.one_function"
    first = ffi_jax.function(kernels["scale"], target=name)
    assert first(jnp.ones(1), 2.0).tolist() == [2]
    again = ffi_jax.function(kernels["scale"], target=name)
    assert again(jnp.ones(1), 3.0).tolist() == [3]
    words = f"^the target '{name}' is registered for another function, and XLA cannot forget it; "
    with pytest.raises(ValueError, match=words):
        ffi_jax.function(kernels["add_to"], target=name)
    with pytest.raises(ValueError, match=words):
        ffi_jax.function(compile_kernels()["scale"], target=name)


@needs_cc
def test_a_library_that_is_loaded_twice_has_one_target(tmp_path: Path) -> None:
    path, name = tmp_path / "kernels.so", "tests.frameworks.twice"
    compiled().export_library(path)
    for _ in range(2):
        made = ffi_jax.function(runtime.load(path)["scale"], target=name)
        assert made(jnp.ones(2), 2.0).tolist() == [2, 2]


def test_absent_arguments_have_a_target_of_their_own() -> None:
    text = (
        "f(x: Optional(Tensor([n], float32, intent=in)), c: Optional(int32), "
        "y: Tensor([2], float32, intent=out))"
    )
    made = Recorded(text).function
    shown = jax.jit(lambda: made(None, None)).lower().as_text()
    assert f'@"{made.target}#without.x.c"(' in shown


def test_absent_arguments_do_not_lead_to_another_function() -> None:
    def made(target: str) -> Recorded:
        text = (
            "f(x: Tensor([n], float32, intent=in), mask: Optional(Tensor([n], float32, intent=in)),"
            " y: Tensor([n], float32, intent=out))"
        )
        return Recorded(text, target=target)

    mine = made("tests.frameworks.mine")
    others = [made("tests.frameworks.mine.without.mask"), made("tests.frameworks.mine.mask")]
    for recorded in (mine, *others):
        recorded.function(jnp.ones(1), None)
        assert len(recorded.calls) == 1
    with pytest.raises(ValueError, match=r"^function: target: expected a name without '#', which"):
        made("tests.frameworks.mine#without.mask")


@pytest.mark.parametrize(("target", "error"), [("", ValueError), (7, TypeError)])
def test_a_target_is_a_name(target: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"^function: target: expected .* but got {target!r}$"):
        ffi_jax.function(compiled()["scale"], target=target)


EXPORTED = """
import jax, jax.numpy as jnp
from ffi_builder.frameworks import jax as ffi_jax
from tests.frameworks.jax.support import compile_kernels
ffi_jax.function(compile_kernels()["scale"], target="tests.frameworks.exported")
call = jax.ffi.ffi_call("tests.frameworks.exported", jax.ShapeDtypeStruct((2,), "float32"))
print(jax.jit(lambda x: call(x, factor=2.0))(jnp.ones(2)))
"""


def test_a_process_that_makes_the_function_runs_programs_of_others() -> None:
    done = run_child(EXPORTED)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[2. 2.]\n"


DEVICES = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
from jax.sharding import NamedSharding, PartitionSpec
from tests.frameworks.jax.support import Recorded, jnp
recorded = Recorded("f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out))")
mesh = jax.make_mesh((2,), ("d",))
spec = PartitionSpec("d")
x = jax.device_put(jnp.ones(8), NamedSharding(mesh, spec))
shards = jax.shard_map(recorded.function, mesh=mesh, in_specs=spec, out_specs=spec)
for function in (recorded.function, shards):
    jax.block_until_ready(jax.jit(function)(x))
    print(recorded.calls)
    recorded.calls.clear()
"""


def test_sharded_operands() -> None:
    done = run_child(DEVICES)
    assert done.returncode == 0, done.stderr
    whole, shards = [["float32[8]"] * 2] * 2, [["float32[4]"] * 2] * 2
    assert done.stdout == f"{whole}\n{shards}\n"


def test_threads() -> None:
    kernels = compile_kernels()
    scale = ffi_jax.function(kernels["scale"], target="tests.frameworks.threads")

    def work(index: int) -> None:
        own = ffi_jax.function(kernels["scale"], target="tests.frameworks.threads")
        for made in (scale, own):
            x = jnp.ones(index + 1)
            assert jax.jit(lambda x, made=made: made(x, 2.0))(x).tolist() == [2] * (index + 1)

    together(work, 8)


def test_copies_are_the_function_and_pickles_are_refused() -> None:
    scale = ffi_jax.function(compiled()["scale"])
    assert copy.copy(scale) is scale
    assert copy.deepcopy([scale]) == [scale]
    with pytest.raises(
        TypeError, match=r"cannot pickle <function of JAX scale\(x, factor, \*, y=N"
    ):
        pickle.dumps(scale)


WITHOUT = """
import sys
sys.modules[{module!r}] = None
import tvm_ffi
from ffi_builder.frameworks import jax as ffi_jax
from ffi_builder import spec
text = "f(x: Tensor([n], float32, intent=inout))"
try:
    ffi_jax.function(tvm_ffi.convert(print), signature=spec.Signature.parse(text, device="cpu"))
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.parametrize("module", ["jax", "jax_tvm_ffi"])
def test_what_is_not_installed_is_named(module: str) -> None:
    done = run_child(WITHOUT.format(module=module))
    assert done.returncode == 0, done.stderr
    assert f"a function of JAX needs {module}, which cannot be imported" in done.stdout
    assert "as the extra ffi_builder[jax] does: pip install -e '.[jax]' in a clone" in done.stdout


def test_importing_it_imports_no_jax() -> None:
    done = run_child(
        "import sys, ffi_builder.frameworks.jax; print({'jax', 'tvm_ffi'} & set(sys.modules))"
    )
    assert done.stdout == "set()\n", done.stderr
