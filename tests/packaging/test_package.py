"""Wheels of kernels, as their authors make them and their users install them."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ffi_builder import BuildError, CompileError, wrap
from ffi_builder.cli.main import main
from tests.packaging.environments import Environment
from tests.packaging.kernels import SCALE, making, negate, scale
from tests.packaging.wheels import ON_X86, PROJECT, content, made, metadata
from tests.runtime.samples import needs_cc

USE = """
import numpy as np
import my_kernels
x, y = np.arange(3, dtype="float32"), np.zeros(3, "float32")
my_kernels.scale(x, y)
print(y)
my_kernels.scale(x, factor=3.0, y=y)
print(y)
"""

pytestmark = [needs_cc, pytest.mark.slow]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of two modules, whose kernels have one name."""
    return made(tmp_path_factory.mktemp("dist"), [scale(), negate()])


@pytest.fixture(scope="module")
def levels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel for two levels of x86-64."""
    return made(tmp_path_factory.mktemp("levels"), cpus=["x86-64-v2", "x86-64-v3"])


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment with NumPy and tvm-ffi alone."""
    return Environment(tmp_path / "environment")


class TestWithTvmFfiAlone:
    def test_what_it_has(self, wheel: Path):
        machine = platform.machine()
        assert wheel.name == f"my_kernels-1.0-py3-none-manylinux_2_17_{machine}.whl"
        files = {name.partition("/")[2] for name in content(wheel) if "dist-info" not in name}
        assert files == {
            *("__init__.py", "__init__.pyi", "__main__.py", "_load.py", "py.typed"),
            *("include/my_kernels.h", "lib/libmy_kernels.so"),
        }
        assert "Summary: Kernels for tests." in metadata(wheel)
        assert "Requires-Dist: apache-tvm-ffi" in metadata(wheel)
        assert "ffi_builder" not in metadata(wheel)

    def test_installed_called_upgraded_and_uninstalled(
        self, wheel: Path, environment: Environment, tmp_path: Path
    ):
        environment.install(wheel)
        assert environment.run(USE) == "[0. 2. 4.]\n[0. 3. 6.]\n"
        shown = environment.run("import my_kernels; help(my_kernels.scale)")
        assert "scale(x, y, factor=2.0)" in shown
        refused = environment.ran("import my_kernels; my_kernels.negate(1, 2)")
        assert "TypeError: Mismatched type of x on argument #0" in refused.stderr
        code = (
            "import pickle, sys, my_kernels as k\n"
            "print(k.__version__, {'torch', 'jax', 'ffi_builder'} & set(sys.modules))\n"
            "print(pickle.loads(pickle.dumps(k.scale)) is k.scale)"
        )
        assert environment.run(code) == "1.0 set()\nTrue\n"
        newer = made(tmp_path, negate(), project={**PROJECT, "version": "1.1"})
        environment.install(newer)
        shown = environment.run("import my_kernels; print(my_kernels.__all__)")
        assert shown == "['negate']\n"
        environment.pip("uninstall", "--yes", "--quiet", "my-kernels")
        assert "No module named 'my_kernels'" in environment.ran("import my_kernels").stderr
        assert not list(environment.site.glob("my_kernels*"))

    def test_a_parameter_with_a_name_of_the_package(self, environment: Environment, tmp_path: Path):
        text = (
            "scale(_scale: Tensor([n], float32), _library: Tensor([n], float32), factor: float32)"
        )
        module = wrap(
            SCALE, text, function="kernel", args=["_scale", "_library", "n", "factor"], device="cpu"
        )
        environment.unpack(made(tmp_path, module))
        code = "import numpy as np, my_kernels\nx, y = np.ones((2, 3), 'float32')\n"
        shown = environment.run(f"{code}my_kernels.scale(x, y, 2.0)\nprint(y)")
        assert shown == "[2. 2. 2.]\n"

    def test_two_beside_each_other(self, wheel: Path, environment: Environment, tmp_path: Path):
        environment.unpack(wheel)
        five = scale(default=5.0)
        environment.unpack(made(tmp_path, five, project={**PROJECT, "name": "five"}))
        shown = environment.run(USE + "import five; five.scale(x, y); print(y)\n" + USE)
        assert shown.split("\n")[2:4] == ["[ 0.  5. 10.]", "[0. 2. 4.]"]

    def test_the_same_content_gives_the_same_bytes(self, wheel: Path, tmp_path: Path):
        again = made(tmp_path / "again", [scale(), negate()])
        assert again.read_bytes() == wheel.read_bytes()


class TestVersions:
    def test_of_tvm_ffi(self, wheel: Path, environment: Environment):
        environment.unpack(wheel)
        (own,) = environment.site.glob("apache_tvm_ffi-*.dist-info")
        own.unlink()
        own.mkdir()
        (own / "METADATA").write_text("Name: apache-tvm-ffi\nVersion: 0.3.0\n")
        words = environment.ran("import my_kernels").stderr
        assert "ImportError: my_kernels needs apache-tvm-ffi" in words
        assert "but 0.3.0 is installed: pip install 'apache-tvm-ffi" in words

    def test_of_ffi_builder(self, environment: Environment, tmp_path: Path):
        environment.unpack(made(tmp_path, making()))
        words = environment.ran("import my_kernels").stderr
        assert "ImportError: my_kernels needs ffi_builder" in words
        assert "but it is not installed: pip install 'ffi_builder" in words


@ON_X86
class TestLevels:
    def flags(self, level: str) -> str:
        v2 = "flags : cx16 lahf_lm pni popcnt sse4_1 sse4_2 ssse3"
        v3 = f"{v2} abm avx avx2 bmi1 bmi2 f16c fma movbe xsave"
        return {"none": "flags : sse2", "v2": v2, "v3": v3}[level]

    def chosen(self, environment: Environment, flags: str) -> subprocess.CompletedProcess[str]:
        """Choose a library for a CPU with these flags."""
        (environment.folder / "cpuinfo").write_text(f"model name : fake\n{flags}\n")
        code = f"""
import importlib.util, sys, types
sys.modules["my_kernels"] = package = types.ModuleType("my_kernels")
package.__path__ = [{str(environment.site / "my_kernels")!r}]
from my_kernels import _load
_load.CPU = "cpuinfo"
print(_load.library().parent.name)
"""
        return environment.ran(code)

    def test_the_best_is_loaded(self, levels: Path, environment: Environment):
        environment.unpack(levels)
        assert self.chosen(environment, self.flags("v2")).stdout == "x86-64-v2\n"
        assert self.chosen(environment, self.flags("v3")).stdout == "x86-64-v3\n"

    def test_a_cpu_that_none_is_for(self, levels: Path, environment: Environment):
        environment.unpack(levels)
        words = self.chosen(environment, self.flags("none")).stderr
        assert (
            "ImportError: my_kernels needs a CPU of level x86-64-v2, and this one has no" in words
        )
        assert "cx16, lahf_lm, pni" in words

    def test_with_a_baseline(self, environment: Environment, tmp_path: Path):
        environment.unpack(made(tmp_path, cpus=["x86-64-v3", "baseline"]))
        assert self.chosen(environment, self.flags("v2")).stdout == "lib\n"
        assert self.chosen(environment, self.flags("v3")).stdout == "x86-64-v3\n"

    def test_modules_for_each(self, tmp_path: Path):
        asked: list[str] = []

        def modules(cpu: str) -> Any:
            asked.append(cpu)
            return [scale()]

        made(tmp_path, modules, cpus=["baseline", "x86-64-v4"])
        assert asked == ["baseline", "x86-64-v4"]


def test_a_pyproject(tmp_path: Path):
    (tmp_path / "README.md").write_text("How to scale.")
    (tmp_path / "LICENSE").write_text("As is.")
    file = tmp_path / "pyproject.toml"
    file.write_text(PYPROJECT)
    wheel = made(tmp_path, project=file)
    assert wheel.name.startswith("a_b-2-py3-none-")
    assert "How to scale." in metadata(wheel)
    assert content(wheel)["a_b-2.dist-info/licenses/LICENSE"] == b"As is."
    scripts = content(wheel)["a_b-2.dist-info/entry_points.txt"].decode()
    assert scripts == "[console_scripts]\nscale = a_b:scale\n"
    file.write_text("[build-system]\n")
    with pytest.raises(BuildError, match=r"has no table \[project\]"):
        made(tmp_path, project=file)
    file.write_text("name")
    with pytest.raises(BuildError, match=r"pyproject\.toml: "):
        made(tmp_path, project=file)


def test_the_command_says_what_the_wheel_depends_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only if it is more than apache-tvm-ffi."""
    for maker, words in ((making, "note: the wheel depends on ffi_builder<"), (negate, "")):
        (tmp_path / "k.py").write_text(
            f"from tests.packaging.kernels import {maker.__name__}\nmodules = {maker.__name__}()\n"
        )
        command = ["package", str(tmp_path / "k.py"), "--name", "k", "--version", "1"]
        assert main([*command, "-o", str(tmp_path)]) == 0
        out, err = capsys.readouterr()
        assert Path(out.strip()).is_file()
        assert err.startswith(words)
        assert err.endswith(", for functions that make tensors (twice)\n" if words else "")
        assert bool(err) == bool(words)
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["ffi_builder"]\n')
    assert main([*command, "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().err.endswith(", for what its project says\n")


PYPROJECT = """
[project]
name = "a.b"
version = "2"
readme = "README.md"
license = "MIT"
license-files = ["LICENSE"]
scripts = { scale = "a_b:scale" }
"""


class TestErrors:
    def test_two_functions_of_one_name(self, tmp_path: Path):
        with pytest.raises(CompileError, match="Two modules have a function 'scale': rename one"):
            made(tmp_path, [scale(), scale()])

    def test_what_is_no_module(self, tmp_path: Path):
        with pytest.raises(TypeError, match=r"compiled or lowered modules, but got 'scale\.so'"):
            made(tmp_path, ["scale.so"])

    @pytest.mark.parametrize(
        ("project", "words"),
        [
            ({"name": "a b", "version": "1"}, "project: .*name"),
            ({"name": "f", "version": "one"}, "version"),
            ({"name": "f"}, "version"),
            ({"name": "1f", "version": "1"}, "becomes '1f', which Python cannot import"),
            ({"name": "", "version": "1"}, "which Python cannot import"),
            ({"name": "class", "version": "1"}, "which Python cannot import"),
            ({"name": "os", "version": "1"}, "'os' would hide another module"),
        ],
    )
    def test_a_wrong_project(self, project: dict[str, str], words: str, tmp_path: Path):
        with pytest.raises(BuildError, match=words):
            made(tmp_path, project=project)

    @pytest.mark.parametrize("name", ["torch", "_hidden"])
    def test_a_function_that_cannot_be_in_a_package(self, name: str, tmp_path: Path):
        module = scale(f"{name}(x: Tensor([n], float32), y: Tensor([n], float32), factor: float32)")
        with pytest.raises(BuildError, match=f"function '{name}' cannot be a name in the package"):
            made(tmp_path, module)

    def test_unknown_choices(self, tmp_path: Path):
        with pytest.raises(ValueError, match="cpus: expected some of baseline, x86-64-v2"):
            made(tmp_path, cpus=["haswell"])
        with pytest.raises(ValueError, match="got 'tourch', did you mean 'torch'"):
            made(tmp_path, frameworks=["tourch"])
        with pytest.raises(TypeError, match="expected a list, but got 'torch'"):
            made(tmp_path, frameworks="torch")

    def test_a_package_that_cannot_be_imported(self, tmp_path: Path):
        own = tmp_path / "own.py"
        own.write_text("raise RuntimeError('no')")
        with pytest.raises(BuildError, match="my_kernels cannot be imported: RuntimeError: no"):
            made(tmp_path / "dist", include={"__init__.py": own})
        with pytest.raises(
            BuildError, match=r"my_kernels\.own cannot be imported: RuntimeError: no"
        ):
            made(tmp_path / "dist", include={"own.py": own})
        assert not (tmp_path / "dist").exists()


def test_a_wheel_for_another_machine(tmp_path: Path):
    machine = "x86_64" if platform.machine() == "aarch64" else "aarch64"
    try:
        found = made(tmp_path, triple=f"{machine}-linux-gnu")
    except CompileError as error:
        pytest.skip(str(error))
    assert found.name.endswith(f"_{machine}.whl")
