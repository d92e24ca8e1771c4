"""The modules `torch` and `jax` of wheels, in an environment without compilers."""

from __future__ import annotations

import re
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

import ffi_builder
from ffi_builder import BuildError, package, wrap
from tests.packaging.environments import TVM_FFI, Environment
from tests.packaging.kernels import negate, scale
from tests.packaging.wheels import PROJECT
from tests.packaging.wheels import metadata as metadata_of
from tests.runtime.samples import needs_cc

pytestmark = [needs_cc, pytest.mark.slow]


def environment(folder: Path, *distributions: str) -> Environment:
    """Make one with what a framework needs, and this ffi_builder."""
    made = Environment(folder, (*TVM_FFI, *distributions))
    (made.site / "ffi_builder").symlink_to(Path(ffi_builder.__file__).parent)
    own = made.site / "ffi_builder-0.dist-info"
    own.mkdir()
    version = metadata.version("ffi_builder")
    (own / "METADATA").write_text(f"Name: ffi_builder\nVersion: {version}\n")
    return made


@cache
def installed() -> set[str]:
    """Return the names of the distributions of this Python."""
    return {each.name for each in metadata.distributions()}


def with_all(folder: Path, *roots: str) -> Environment:
    """Make one with distributions and everything that they need."""
    found, wanted = set[str](), list(roots)
    while wanted:
        name = wanted.pop()
        if name in found or name not in installed():
            continue
        found.add(name)
        needs = [each for each in metadata.requires(name) or [] if "extra ==" not in each]
        wanted += [re.split(r"[^\w.-]", each)[0] for each in needs]
    return environment(folder, *sorted(found - set(TVM_FFI)))


def test_operators(tmp_path: Path):
    pytest.importorskip("torch")
    wheel = package(scale(), tmp_path, project=PROJECT, frameworks=["torch"])
    user = with_all(tmp_path / "environment", "torch")
    user.install(wheel)
    shown = user.run(
        "import pickle, torch\n"
        "import my_kernels\n"
        "assert pickle.loads(pickle.dumps(my_kernels.scale)) is my_kernels.scale\n"
        "print(hasattr(torch.ops.my_kernels, 'scale'))\n"
        "import my_kernels.torch as kernels\n"
        "print(kernels.scale)\n"
        "print(kernels.scale(torch.ones(2)))\n"
        "print(torch.compile(lambda x: kernels.scale(x, 3.0) + 1, backend='aot_eager', "
        "fullgraph=True)(torch.ones(2)))\n"
    )
    assert shown == (
        "False\n<operator my_kernels::scale(Tensor x, float factor=2.0) -> Tensor>\n"
        "tensor([2., 2.])\ntensor([4., 4.])\n"
    )


def test_functions_of_jax(tmp_path: Path):
    pytest.importorskip("jax_tvm_ffi")
    wheel = package([scale(), negate()], tmp_path, project=PROJECT, frameworks=["jax"])
    user = with_all(tmp_path / "environment", "jax", "jax-tvm-ffi")
    user.install(wheel)
    shown = user.run(
        "import jax, jax.numpy as np\n"
        "import my_kernels.jax as kernels\n"
        "print(kernels.scale.target)\n"
        "print(jax.jit(lambda x: kernels.scale(x, factor=3.0) + kernels.negate(x))(np.ones(2)))\n"
    )
    assert shown == "my_kernels.scale\n[2. 2.]\n"


def test_functions_of_jax_whose_arguments_are_reordered(tmp_path: Path):
    """XLA passes what is written last, by code that is compiled where the wheel is used."""
    pytest.importorskip("jax_tvm_ffi")
    code = (
        "define void @update(ptr %x, float %a) {\n"
        "  %old = load float, ptr %x\n  %new = fadd float %old, %a\n"
        "  store float %new, ptr %x\n  ret void\n}"
    )
    update = wrap(code, "update(x: Tensor([1], float32, intent=inout), a: float32)", device="cpu")
    wheel = package(update, tmp_path, project=PROJECT, frameworks=["jax"])
    assert "Requires-Dist: ffi_builder[jit]<" in metadata_of(wheel)
    needs = ("jax", "jax-tvm-ffi", "llvmlite", "apache-tvm_ffi_orcjit")
    user = with_all(tmp_path / "environment", *needs)
    user.install(wheel)
    shown = user.run(
        "import jax, jax.numpy as np\n"
        "import my_kernels.jax as kernels\n"
        "print(jax.jit(lambda x: kernels.update(x, a=3.0))(np.ones(1)))\n"
    )
    assert shown == "[4.]\n"


def test_what_cannot_be_an_operator(tmp_path: Path):
    pytest.importorskip("torch")
    module = wrap(
        "define double @norm(double %x) {\n  ret double %x\n}", "norm(x: float64) -> y: float64"
    )
    with pytest.raises(BuildError, match=r"my_kernels\.torch cannot be imported: .*SpecError: "):
        package(module, tmp_path / "dist", project=PROJECT, frameworks=["torch"])
    own = tmp_path / "torch.py"
    own.write_text("from my_kernels import norm\n")
    wheel = package(module, tmp_path / "dist", project=PROJECT, include={"torch.py": own})
    assert "Provides-Extra: torch" in metadata_of(wheel)
