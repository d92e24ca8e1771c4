"""Objects that FlyDSL has exported: in C with the same symbols, and by FlyDSL itself."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, Launch, SpecError, runtime, spec, testing, wrap
from ffi_builder.cli.main import main
from ffi_builder.fakehip.build import library
from tests.fakecuda import missing
from tests.rocm.arrays import OnRocm
from tests.rocm.images.compilers import exported_by_flydsl, lacks
from tests.runtime.samples import needs_cc

HERE: Final = Path(__file__).parent
FACTS: Final = (
    "facts(x: Tensor([n, m], float32, strides=[s, 1]), factor: float32, options_flag: bool, "
    "half: float16, out: Tensor([9], int64))"
)
pytestmark = needs_cc


def compiled(path: Path, *options: str) -> Path:
    subprocess.run(["cc", "-c", "-fPIC", *options, HERE / "exported.c", "-o", path], check=True)
    return path


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("exported") / "facts.o")


def x_of(rows: int, columns: int, width: int) -> Any:
    return np.zeros((rows, width), "float32")[:, :columns]


def test_what_the_function_gets(exported: Path):
    facts = wrap(exported, FACTS)["facts"]
    x, out = x_of(3, 5, 8), np.zeros(9, "int64")
    facts(OnRocm(x, 2), 1.5, True, 2.0, OnRocm(out, 2))
    (half,) = struct.unpack("<H", struct.pack("<e", 2))
    assert out.tolist() == [x.ctypes.data, 5, 8, 6, 1, half, 2, 2, 1]
    with pytest.raises(RuntimeError, match=r"facts failed with status 42 when calling"):
        facts(OnRocm(x, 3), -1.0, False, 2.0, OnRocm(out, 3))
    assert out.tolist()[6:] == [3, 3, 2]
    with pytest.raises(RuntimeError, match=r"hipSetDevice failed with status 101"):
        facts(OnRocm(x, 9), 1.0, False, 2.0, OnRocm(out, 9))


def test_the_device_is_restored(exported: Path):
    with pytest.raises(RuntimeError, match="status 42"):
        wrap(exported, FACTS)["facts"](
            OnRocm(x_of(1, 1, 1), 3), -1.0, True, 1.0, OnRocm(np.zeros(9, "int64"), 3)
        )
    text = "define i32 @now() {\n %p = alloca i32\n call i32 @hipGetDevice(ptr %p)\n %v = load i32, ptr %p\n ret i32 %v\n}\ndeclare i32 @hipGetDevice(ptr)"
    now = wrap(text, "now() -> device: int32", link=[exported])["now"]
    assert now() == 7


def test_a_stream_of_the_signature_is_passed(exported: Path):
    facts = wrap(exported, FACTS[:-1] + ", queue: Stream)")["facts"]
    arguments = (OnRocm(x_of(1, 1, 1)), 1.0, True, 1.0, OnRocm(np.zeros(9, "int64")))
    facts(*arguments, 0)
    with pytest.raises(RuntimeError, match="status 43"):
        facts(*arguments, 64)


def test_arguments_by_name_and_from_symbols(exported: Path):
    text = "f(out: Tensor([9], int64), x: Tensor([n, m], float32), h: float16, a: float32)"
    wrapped = wrap(exported, text, function="facts", args=["x", "a", True, "h", "out"])
    out = np.zeros(9, "int64")
    wrapped["f"](OnRocm(out), OnRocm(np.zeros((2, 6), "float32")), 1.0, 2.0)
    assert out.tolist()[1:5] == [6, 6, 8, 1]


def test_some_arguments_by_name(exported: Path):
    text = FACTS.replace("factor: float32, options_flag: bool, ", "")
    args = {"factor": 1.5, "options_flag": True}
    out = np.zeros(9, "int64")
    wrap(exported, text, args=args)["facts"](OnRocm(x_of(3, 5, 8)), 2.0, OnRocm(out))
    assert out.tolist()[1:5] == [5, 8, 6, 1]
    with pytest.raises(BuildError, match=r"args= has 'facto', but .* mean 'factor'"):
        wrap(exported, text, args={"facto": 1.5})


def test_its_module_can_be_loaded_ahead_of_calls_and_unloaded(exported: Path):
    load, unload = "facts__module_load(device: int32)", "facts__module_unload()"
    wrapped = wrap(exported, [FACTS, load, unload])
    wrapped["facts__module_load"](5)
    with pytest.raises(RuntimeError, match=r"^facts__module_unload failed with status 5 when"):
        wrapped["facts__module_unload"]()


def test_a_size_that_no_int32_holds(exported: Path):
    facts = wrap(exported, FACTS.replace(", strides=[s, 1]", ""))["facts"]
    x = np.zeros((0, 2**31), "float32")
    words = r"x\.shape\[1\] is 2147483648, which no int32 holds, as this function of FlyDSL"
    with pytest.raises(ValueError, match=words):
        facts(OnRocm(x), 1.0, True, 1.0, OnRocm(np.zeros(9, "int64")))


X: Final = "x: Tensor([n, m], float32)"


@pytest.mark.parametrize(
    ("signature", "options", "error", "words"),
    [
        (f"fact({X})", {}, SpecError, r"No function 'fact' in FlyDSL's object, which has facts, did you mean 'facts'\?; say which with function="),
        (FACTS, {"launch": Launch(grid=1)}, TypeError, "launches its kernel: leave out launch="),
        (FACTS, {"prototype": "int f()"}, TypeError, "prototype= goes with"),
        (FACTS[:-1] + ", a: Stream, b: Stream)", {}, BuildError, "take one stream, but got a, b"),
        (f"facts({X})", {}, BuildError, "facts has parameters that the signature lacks: factor, options_flag"),
        (FACTS.replace("factor: float32", "factor: int32"), {}, BuildError, "'?factor'? is .*float32"),
        (FACTS.replace("[n, m]", "[n]").replace("[s, 1]", "[s]"), {}, BuildError, "'x' has 1 dimensions, but .* of axis 1"),
        (FACTS.replace("[n, m], float32, strides=[s, 1]", "..., float32, strides=any"), {}, BuildError, "any rank"),
        (FACTS.replace("strides=[s, 1]", "device_type=cpu"), {}, BuildError, "'x' is a tensor on rocm, but gets"),
        (FACTS.replace("half: float16", "half: Optional(float16)"), {}, BuildError, "may be absent"),
    ],
)  # fmt: skip
def test_mistakes(exported: Path, signature: str, options: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        wrap(exported, signature, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-DVERSION=\"3\""], "'facts' have version 3; expected 2, which FlyDSL 0.5 writes"),
        (["-DVERSION=\"\""], "metadata of FlyDSL's function 'facts' are damaged: JSONDecodeError"),
        (["-DABI=\"5\""], "are damaged: TypeError"),
        (['-DABI="{\\"kind\\":\\"image\\"}"'], "are damaged: ValueError: 'image' is no kind"),
        (['-DABI="{\\"kind\\":\\"stream\\"}"'], "are damaged: KeyError: 'ctype'"),
        (['-DABI="{\\"kind\\":\\"scalar\\",\\"ctype\\":\\"int7\\"}"'], "are damaged: ValueError: 'int7' is no type of"),
    ],
)  # fmt: skip
def test_damaged_metadata(options: list[str], words: str, tmp_path: Path):
    with pytest.raises(CompileError, match=words):
        wrap(compiled(tmp_path / "facts.o", *options), FACTS)


def test_a_function_without_tensors_has_no_device(tmp_path: Path):
    abi = '-DABI="{\\"arg_name\\":\\"n\\",\\"kind\\":\\"scalar\\",\\"ctype\\":\\"int32\\"}"'
    exported = compiled(tmp_path / "facts.o", abi)
    with pytest.raises(BuildError, match="'facts' has no tensor on rocm"):
        wrap(exported, "facts(n: int32, stream: Stream)")


def test_a_library_has_the_object(exported: Path, tmp_path: Path):
    wrap(exported, FACTS).export_library(tmp_path / "facts.so")
    out = np.zeros(9, "int64")
    loaded = runtime.load(tmp_path / "facts.so")
    loaded["facts"](OnRocm(x_of(2, 3, 4)), 1.0, True, 1.0, OnRocm(out))
    assert out.tolist()[1:3] == [3, 4]


def test_the_command_line(exported: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    given = ["wrap", str(exported), "--signature", FACTS, "-o"]
    assert main([*given, str(tmp_path / "wrapper.o")]) == 0
    assert f"has the wrapper; link {exported} with it" in capsys.readouterr().err
    assert main([*given, str(tmp_path / "facts.so")]) == 0
    assert "facts" in runtime.load(tmp_path / "facts.so")


@pytest.mark.slow
@pytest.mark.skipif(bool(lacks("flydsl")), reason=lacks("flydsl") or "-")
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.filterwarnings("ignore:The C compiler has linked what the JIT cannot load")
def test_what_flydsl_exports(tmp_path: Path):
    exported = exported_by_flydsl("gfx942", tmp_path)
    n = spec.Var("n", "int32")
    tensors = [spec.Tensor(name, [n], "float32", device_type="rocm") for name in ("x", "y", "out")]
    wrapped = wrap(exported, spec.Signature("add", [*tensors, n]), link=[str(library())])
    with testing.FakeHip("gfx942", "gfx942") as gpu:

        @gpu.kernel("add_kernel_0", ["float32*", "int32"] * 3)
        def emulated(launch: Any, x: Any, n: int, y: Any, _: int, out: Any, __: int) -> None:  # pyright: ignore[reportUnusedFunction]
            out[:n] = x[:n] + y[:n]

        for device in (0, 1, 1):
            x, y, out = (
                gpu.array(np.arange(256, dtype="float32") * factor, device=device)
                for factor in (1, 2, 0)
            )
            wrapped["add"](x, y, out, 256)
            np.testing.assert_array_equal(out.numpy(), np.arange(256) * 3)
    assert [launch.device for launch in gpu.launches] == [0, 1, 1]
    assert {(launch.grid, launch.block) for launch in gpu.launches} == {((2, 1, 1), (128, 1, 1))}
