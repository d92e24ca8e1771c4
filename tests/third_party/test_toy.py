"""An add-on of a third party: it launches kernels on a device of its own, from outside."""

from __future__ import annotations

import ast
import ctypes
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, CompileError, SpecError, addons, extending, runtime, wrap
from ffi_builder.runtime import extending as runtime_extending
from tests.runtime.samples import needs_cc
from tests.support.allocating import counting
from tests.third_party.toy import DEVICE
from tests.third_party.toy.launching import Grid

pytestmark = needs_cc

ROOT: Final = Path(__file__).parents[2]
IMAGE: Final = b"TOY\0saxpy float32 float32* float32*\ncount int32* int32* int32\n"
SAXPY: Final = "saxpy(a: float32, x: Tensor([n], float32), y: Tensor([n], float32))"
COUNT: Final = "count(w: Workspace([n], int32, zero=True), out: Tensor([n], int32), by: int32)"
TOY: Final = Path(__file__).parent / "toy"
FACES: Final = {
    "ffi_builder.extending": extending,
    "ffi_builder.runtime.extending": runtime_extending,
}
CAPSULE_NAME: Final = b"dltensor"


class OnToy:
    """Memory of an array as the toy's, as DLPack passes it: its device's memory is the CPU's."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __dlpack__(self, **_: object) -> object:
        capsule = self.array.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        address = get(capsule, CAPSULE_NAME)
        runtime_extending.DLTensor.from_address(address).device_type = self.__dlpack_device__()[0]
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return extending.abi.DEVICE_TYPES[DEVICE], 0


def on_toy(array: np.ndarray[Any, Any]) -> Any:
    return tvm_ffi.from_dlpack(OnToy(array))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runtime of the toy."""
    made = tmp_path_factory.mktemp("toy") / "libtoy.so"
    command = ["gcc", "-O1", "-shared", "-fPIC", str(TOY / "runtime.c"), "-o", str(made)]
    subprocess.run(command, check=True, timeout=60)
    return made


def test_a_launch_computes(library: Path):
    saxpy = wrap(IMAGE, SAXPY, launch=Grid("n"), link=[library])
    x, y = np.arange(4, dtype="float32"), np.ones(4, "float32")
    saxpy(2.0, on_toy(x), on_toy(y))
    assert y.tolist() == [1, 3, 5, 7]
    assert "compared with the types in the toy's image" in repr(saxpy)


def test_a_file_is_an_image_too(library: Path, tmp_path: Path):
    (tmp_path / "kernels.toy").write_bytes(IMAGE)
    signature = "f(x: Tensor([n], float32), a: float32, y: Tensor([n], float32))"
    saxpy = wrap(
        tmp_path / "kernels.toy", signature, function="saxpy", args=["a", "x", "y.data"],
        launch=Grid("n // 2"), link=[library],
    )  # fmt: skip
    y = np.ones(4, "float32")
    saxpy(on_toy(y), 2.0, on_toy(y))
    assert y.tolist() == [3, 3, 1, 1]


def test_tensors_are_checked_to_be_on_the_device(library: Path):
    saxpy = wrap(IMAGE, SAXPY, launch=Grid("n"), link=[library])
    x = np.ones(4, "float32")
    with pytest.raises(
        ValueError, match=r"Mismatched x\.device_type .* expected ext_dev but got cpu"
    ):
        saxpy(2.0, x, on_toy(x))


def test_the_runtime_refuses_a_launch(library: Path):
    saxpy = wrap(IMAGE, SAXPY, launch=Grid("n - 5"), link=[library])
    x = on_toy(np.ones(4, "float32"))
    with pytest.raises(
        RuntimeError, match=r"the toy refused to launch 'saxpy', with status 1 when"
    ):
        saxpy(2.0, x, x)


def test_a_workspace_is_filled_with_zeros(library: Path):
    count = wrap(IMAGE, COUNT, launch=Grid("n"), link=[library])
    out = np.zeros(3, "int32")
    with counting():  # memory full of dirt
        count(on_toy(out), 7)
    assert out.tolist() == [7, 7, 7]


@pytest.mark.parametrize(
    ("image", "signature", "options", "error", "words"),
    [
        (IMAGE, SAXPY.replace("saxpy", "saxpi"), {}, CompileError, "the toy's image has no kernel 'saxpi', did you mean 'saxpy'?"),
        (IMAGE[:5], SAXPY, {}, CompileError, "the toy's image has no kernel 'saxpy'"),
        (b"TOY\0\xff", SAXPY, {}, CompileError, "the toy's image is damaged"),
        (IMAGE, SAXPY, {"launch": None}, SpecError, "a kernel of the toy needs launch=Grid(…), but got None"),
        (IMAGE, SAXPY, {"launch": 3}, SpecError, "a kernel of the toy needs launch=Grid(…), but got 3"),
        (IMAGE, SAXPY, {"launch": Grid("m")}, BuildError, "ToyLaunch: args= has 'm', which names no parameter or symbol of 'saxpy'; it has a, x, y, n"),
        (IMAGE, SAXPY, {"launch": Grid("x")}, BuildError, "Grid: expected an int or an expression but got 'x'"),
        (IMAGE, SAXPY, {"args": ["x", "y"]}, BuildError, "the toy's kernel 'saxpy' takes (float32, float32*, float32*), but gets (x: float32*, y: float32*); choose and order them with args="),
        (IMAGE, SAXPY, {"args": ["n * 2", "x", "y"]}, BuildError, "but gets (n * 2: int64, x: float32*, y: float32*)"),
        (IMAGE, SAXPY.replace("a: float32", "a: float64"), {}, BuildError, "but gets (a: float64, x: float32*, y: float32*)"),
        (IMAGE, SAXPY.replace("([n], float32)", "([n], float32 | int32)"), {}, BuildError, "x: float32* or int32*"),
        (IMAGE, SAXPY, {"args": ["a", "x", None]}, BuildError, "the toy takes tensors and numbers, but NULL is no such"),
        (IMAGE, SAXPY, {"device": "cpu"}, BuildError, "the toy's tensors are on ext_dev: x is not"),
        (IMAGE, SAXPY, {"pipeline": "builtin.module()"}, TypeError, "wrap: pipeline= goes with MLIR, but the source is a kernel image"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_before_a_call(
    library: Path, image: bytes, signature: str, options: Any, error: type[Exception], words: str
):
    given: dict[str, Any] = {"launch": Grid("n"), "link": [library], **options}
    with pytest.raises(error, match=re.escape(words)):
        wrap(image, signature, **given)


def test_a_library_launches(library: Path, tmp_path: Path):
    saxpy = wrap(IMAGE, SAXPY, launch=Grid("n"), link=[library])
    saxpy.export_library(tmp_path / "saxpy.so")
    x, y = np.arange(4, dtype="float32"), np.ones(4, "float32")
    runtime.load(tmp_path / "saxpy.so")["saxpy"](2.0, on_toy(x), on_toy(y))
    assert y.tolist() == [1, 3, 5, 7]


def test_text_that_is_launched_is_first_offered_to_other_add_ons(library: Path):
    """CUDA takes any text for PTX."""

    def read(source: object, data: object, *, launched: bool) -> object:
        if not (launched and isinstance(data, str) and data.startswith("toy:\n")):
            return None
        return addons.find("source", "toy")(source, IMAGE, launched=True)

    addons.register("source", "toy text", read)
    assert wrap("toy:\nsaxpy", SAXPY, launch=Grid("n"), link=[library])["saxpy"]


@pytest.mark.slow
def test_nothing_is_loaded_before_a_kernel_is_wrapped():
    code = f"""
import sys
from ffi_builder import spec, wrap
import tests.third_party.toy as toy
signature = spec.Signature.parse("{COUNT}", device=toy.DEVICE)
wrap("func.func @f() {{ return }}", "f()")["f"]()
assert "tests.third_party.toy.launching" not in sys.modules
try:
    wrap(b"TOY\\0", "f()")
except RuntimeError as error:
    print(error)
assert "tests.third_party.toy.launching" in sys.modules
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "the toy's image has no kernel 'f'\n"


def test_it_imports_public_names_and_the_faces_alone():
    names = re.findall(r"^[^\s(]+", (ROOT / "tests" / "public_names.txt").read_text(), re.MULTILINE)
    public = {
        *names,
        *(f"{face}.{name}" for face, module in FACES.items() for name in module.__all__),
    }
    public |= {name.rpartition(".")[0] for name in names}  # packages
    imported: set[str] = set()
    for path in TOY.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Import(names=names_):
                    imported |= {each.name for each in names_}
                case ast.ImportFrom(module=str(module), names=names_):
                    imported |= {f"{module}.{each.name}" for each in names_}
                case _:
                    pass
    ours = {name for name in imported if name.startswith("ffi_builder")}
    assert len(ours) > 10
    assert ours - public == set()
