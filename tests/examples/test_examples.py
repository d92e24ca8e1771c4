"""Every example runs, in a process of its own, and prints what it promises."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

from ffi_builder.spec import Signature, outline
from tests.examples.running import CC, CXX, EXAMPLES, differences, run, sections

FILES = sorted(
    path.relative_to(EXAMPLES).as_posix()
    for path in EXAMPLES.rglob("*")
    if path.suffix in {".py", ".c", ".cpp"}
)
LONGEST = 100
"""Lines of an example: it should be read in one go."""

MATMUL = (
    "matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m], float32))"
)


@pytest.fixture(scope="module")
def quickstart() -> dict[str, str]:
    return sections(run("quickstart.py", in_one_process=True))


def test_quickstart_shows_the_signature_and_the_plan(quickstart: dict[str, str]):
    shown = Signature.parse(quickstart["The signature"].strip())
    assert outline(shown) == MATMUL
    plan = next(text for heading, text in quickstart.items() if heading.startswith("The plan"))
    assert re.search(r"\d+  A\.shape\[1\] +binds k\n", plan)
    assert re.search(r"\d+  B\.shape\[0\] +\{k\} \(k = A\.shape\[1\]\) +ValueError\n", plan)


def test_quickstart_computes_what_numpy_does(quickstart: dict[str, str]):
    [difference] = differences(quickstart["NumPy"])
    assert difference < 1e-5


def test_quickstart_takes_torch_tensors_where_there_is_torch(quickstart: dict[str, str]):
    if importlib.util.find_spec("torch") is None:
        assert "not installed" in quickstart["PyTorch"]
    else:
        [difference] = differences(quickstart["PyTorch"])
        assert difference < 1e-5


def test_quickstart_shows_the_error_of_a_mistake(quickstart: dict[str, str]):
    mistake = next(text for heading, text in quickstart.items() if heading.startswith("A mistake"))
    assert mistake.strip() == (
        f"ValueError: Mismatched B.shape[0] on argument #1 when calling: `{MATMUL}`, "
        "expected 4 (k = A.shape[1]) but got 5"
    )


def test_inspect_ir():
    pytest.importorskip("filecheck")
    tests = re.findall(r"^def (test_\w+)", (EXAMPLES / "inspect_ir.py").read_text(), re.MULTILINE)
    assert tests
    assert run("inspect_ir.py", in_one_process=True).splitlines() == [
        f"{name}: passed" for name in tests
    ]


def test_custom_provider_counts_launches():
    assert run("custom_provider.py", in_one_process=True).splitlines() == [
        str([[launches] * 3] * 2) for launches in (0.0, 1.0, 2.0)
    ]


@pytest.mark.skipif(shutil.which(CC) is None, reason=f"needs a C compiler: no {CC}")
def test_stable_abi_runs_without_python(tmp_path: Path):
    output = run("stable_abi/build.py", str(tmp_path))
    assert output.splitlines() == [
        "4 5",
        "10 11",
        f"ValueError: Mismatched B.shape[0] on argument #1 when calling: `{MATMUL}`, "
        "expected 3 (k = A.shape[1]) but got 4",
    ]
    program = (tmp_path / "main").read_bytes()
    assert b"libtvm_ffi.so" in program
    assert b"libpython" not in program


@pytest.mark.skipif(
    shutil.which(CC) is None or shutil.which(CXX) is None, reason=f"needs {CC} and {CXX}"
)
def test_export_library_is_called_from_three_languages(tmp_path: Path):
    printed = sections(run("export_library/build.py", str(tmp_path)))
    shown = "scale(x: Tensor([n], float32), factor: float32)"
    mismatched = (
        f"Mismatched x.{{}} on argument #0 when calling: `{shown}`, expected {{}} but got {{}}"
    )
    assert printed == {
        "C": f"10 20 30\nValueError: {mismatched.format('ndim', 1, 2)}\n",
        "C++": f"10 20 30\nTypeError: {mismatched.format('dtype', 'float32', 'float64')}\n",
        "Python": "[20. 40. 60.]\n",
    }
    assert {"kernels.so", "kernels.h", "kernels.pyi"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("path", FILES)
def test_examples_are_short(path: str):
    assert len((EXAMPLES / path).read_text().splitlines()) < LONGEST


def test_every_example_is_run():
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    scripts = [path for path in FILES if "__main__" in (EXAMPLES / path).read_text()]
    assert [name for name in scripts if f'run("{name}"' not in tests] == []
