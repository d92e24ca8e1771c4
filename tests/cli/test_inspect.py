"""`inspect`: what it prints, and files that are damaged or made to do harm."""

from __future__ import annotations

import json
import os
import platform
import random
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ffi_builder import __version__, package, runtime, wrap
from ffi_builder.cli.main import main
from ffi_builder.formats import elf
from ffi_builder.formats.elf import Elf
from ffi_builder.runtime.export import inspection
from tests.runtime.samples import needs_cc
from tests.support.drawn import drawn as examples

NOTHING = "define void @nothing(ptr %x, i64 %n) { ret void }"
FOREIGN = "x86_64" if platform.machine() == "aarch64" else "aarch64"

pytestmark = needs_cc


def nothing(name: str = "nothing") -> runtime.CompiledModule:
    return wrap(NOTHING, f"{name}(x: Tensor([n], float32))", function="nothing", device="cpu")


class Inspect:
    """Runs the command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, path: Path, *options: str) -> tuple[str, list[str]]:
        """Return what is printed, and the errors, of which there are none if it succeeds."""
        status = main(["inspect", *options, str(path)])
        shown = self._capsys.readouterr()
        errors = shown.err.splitlines()
        assert status == (1 if errors else 0)
        assert all(each.startswith(f"error: {path}") for each in errors), errors
        return shown.out, errors

    def shows(self, path: Path, *options: str) -> str:
        shown, errors = self(path, *options)
        assert not errors
        return shown

    def error(self, path: Path) -> str:
        """Return the only error, without what is before it."""
        _, (error,) = self(path)
        return error.removeprefix(f"error: {path}").removeprefix(": ")


@pytest.fixture
def inspect(capsys: pytest.CaptureFixture[str]) -> Inspect:
    return Inspect(capsys)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("library") / "nothing.so"
    nothing().export_library(made)
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return package(nothing(), folder, project={"name": "kernels", "version": "1"})


def compiled(path: Path, source: str, *flags: str) -> Path:
    command = ["cc", "-shared", "-fPIC", *flags, "-x", "c", "-", "-o", path]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def zipped(path: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as opened:
        for name, data in members:
            opened.writestr(name, data)
    return path


class TestWhatItPrints:
    def test_a_library(self, library: Path, inspect: Inspect):
        shown = inspect.shows(library)
        assert shown.startswith(f"nothing.so, for {platform.machine()}\n  made by\n")
        assert re.search(rf"(?m)^    ffi_builder: {__version__} \(LLVM .*, CPU baseline\)$", shown)
        assert "nothing(x: Tensor([n], float32, device_type=cpu)" in shown
        (found,) = json.loads(inspect.shows(library, "--json"))
        assert found["file"] == "nothing.so"
        assert "libtvm_ffi.so" in found["needs"]
        (function,) = found["functions"]
        assert function["name"] == "nothing"
        assert [param["name"] for param in function["params"]] == ["x"]
        assert function["returns"] is None

    @pytest.mark.parametrize("cpu", ["baseline", "host"])
    def test_the_compiler_of_an_object(self, cpu: str, tmp_path: Path, inspect: Inspect):
        nothing().export_object(tmp_path / "nothing.o", cpu=cpu)
        shown = inspect.shows(tmp_path / "nothing.o")
        assert re.search(rf"\n    ffi_builder: {__version__} \(LLVM .*, CPU {cpu}\)\n", shown)

    def test_the_compiler_of_llvm_ir_that_has_one(self, tmp_path: Path, inspect: Inspect):
        text = f'{NOTHING}\n!llvm.ident = !{{!7}}\n!7 = !{{!"other 1.0"}}'
        module = wrap(text, "nothing(x: Tensor([n], float32))", device="cpu")
        module.export_library(tmp_path / "nothing.so")
        shown = inspect.shows(tmp_path / "nothing.so")
        assert "\n    other 1.0\n" in shown
        assert "\n    ffi_builder: " in shown

    def test_an_object_for_another_machine(self, tmp_path: Path, inspect: Inspect):
        nothing().export_object(tmp_path / "nothing.o", triple=f"{FOREIGN}-linux-gnu")
        shown = inspect.shows(tmp_path / "nothing.o")
        assert shown.startswith(f"nothing.o, for {FOREIGN}\n")
        assert "nothing(x: Tensor([n], float32, device_type=cpu)" in shown

    def test_a_library_without_functions(self, tmp_path: Path, inspect: Inspect):
        made = compiled(tmp_path / "none.so", "")
        assert inspect.error(made) == " has no TVM-FFI functions (symbols `__tvm_ffi_*`)"

    def test_what_is_no_library(self, tmp_path: Path, inspect: Inspect):
        made = tmp_path / "kernel.mlir"
        made.write_text("func.func")
        assert inspect.error(made) == "expected an ELF file, but it starts with b'func.fun'"
        made.write_text("")
        assert inspect.error(made) == "expected an ELF file, but it is empty"
        assert inspect.error(tmp_path / "none.so") == "No such file or directory"
        os.mkfifo(tmp_path / "pipe.so")
        assert "but it is no file" in inspect.error(tmp_path / "pipe.so")
        assert "but it is no file" in inspect.error(tmp_path)

    def test_a_terminal_that_lacks_a_character(self, library: Path, tmp_path: Path):
        made = tmp_path / "kä.so"
        made.write_bytes(library.read_bytes())
        done = subprocess.run(
            [sys.executable, "-m", "ffi_builder", "inspect", made],
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith("k\\xe4.so, for ")

    def test_metadata_at_the_end_of_a_chunk(
        self, library: Path, tmp_path: Path, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
    ):
        """The file is searched in chunks. Small ones end in and before each text."""
        whole = inspect.shows(library)
        for size in (100, 997, 4096):
            monkeypatch.setattr(inspection, "_CHUNK", size)
            assert inspect.shows(library) == whole


class TestWheels:
    def test_all_libraries(self, tmp_path: Path, library: Path, inspect: Inspect):
        other = compiled(tmp_path / "o.so", "int f;", "-nostdlib")
        made = zipped(
            tmp_path / "all.whl",
            ("a/nothing.so", library.read_bytes()),
            ("a/libother.so.1.2", other.read_bytes()),
            ("a/x.so/", b""),
            ("a/x.solid", b"no"),
        )
        found = json.loads(inspect.shows(made, "--json"))
        assert [each["file"] for each in found] == ["a/nothing.so", "a/libother.so.1.2"]

    def test_a_bad_file_hides_no_good_one(self, tmp_path: Path, library: Path, inspect: Inspect):
        good = library.read_bytes()
        made = zipped(
            tmp_path / "some.whl",
            *(("a.so", b"no"), ("b.so", good), ("c.so", good[:1000]), ("../d.so", good)),
            ("e\x1b[1m\n.so", b"no"),
        )
        shown, errors = inspect(made)
        assert shown.startswith("b.so, for ")
        assert "\n\n../d.so, for " in shown
        assert [each.removeprefix(f"error: {made}: ").partition(": ")[0] for each in errors] == [
            *("a.so", "c.so", r"e\x1b[1m\n.so"),
        ]
        assert not (tmp_path.parent / "d.so").exists()

    def test_no_libraries(self, tmp_path: Path, inspect: Inspect):
        assert "has no TVM-FFI functions" in inspect.error(zipped(tmp_path / "none.whl"))

    def test_what_is_no_wheel(self, tmp_path: Path, inspect: Inspect):
        made = tmp_path / "no.whl"
        made.write_bytes(b"no")
        assert inspect.error(made).startswith("it is not a wheel, or is damaged: ")

    def test_an_encrypted_file(self, tmp_path: Path, inspect: Inspect):
        made = zipped(tmp_path / "locked.whl", ("k.so", b"secret"))
        data = bytearray(made.read_bytes())
        data[6] = data[data.index(b"PK\x01\x02") + 8] = 1
        made.write_bytes(data)
        assert inspect.error(made) == "k.so: it is encrypted"

    @pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 99])
    def test_other_compression(self, method: int, tmp_path: Path, library: Path, inspect: Inspect):
        known = 0 if method == 99 else method
        made = zipped(tmp_path / "k.whl", ("k.so", library.read_bytes()), method=known)
        if method != known:
            data = bytearray(made.read_bytes())
            data[8] = data[data.index(b"PK\x01\x02") + 10] = method
            made.write_bytes(data)
        assert inspect.error(made) == f"k.so: it is packed by method {method}; wheels have deflate"

    @pytest.mark.filterwarnings("ignore:Duplicate name")
    def test_two_files_of_one_name(self, tmp_path: Path, library: Path, inspect: Inspect):
        good = library.read_bytes()
        made = zipped(tmp_path / "two.whl", ("k.so", b"no"), ("k.so", good), ("l.so", good))
        shown, (error,) = inspect(made)
        assert error.endswith("k.so: the wheel has several files of this name")
        assert shown.startswith("l.so, for ")

    def test_a_symbolic_link(self, tmp_path: Path, inspect: Inspect):
        link = zipfile.ZipInfo("k.so")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        with zipfile.ZipFile(tmp_path / "k.whl", "w") as opened:
            opened.writestr(link, "/etc/passwd")
        words = "k.so: expected an ELF file, but it starts with b'/etc/pas'"
        assert inspect.error(tmp_path / "k.whl") == words

    def test_a_name_that_is_no_text(self, tmp_path: Path, inspect: Inspect):
        made = zipped(tmp_path / "k.whl", ("kä.so", b"no"))
        made.write_bytes(made.read_bytes().replace("ä".encode(), b"\xff\xfe"))
        assert inspect.error(made).startswith("it is not a wheel, or is damaged: 'utf-8' codec")

    def test_sizes_that_are_not_true(self, tmp_path: Path, library: Path, inspect: Inspect):
        made = zipped(tmp_path / "k.whl", ("k.so", library.read_bytes()))
        data = made.read_bytes()
        at = data.index(b"PK\x01\x02") + 24
        for size in (0, 1, 5000, 10**9):
            made.write_bytes(data[:at] + struct.pack("<I", size) + data[at + 4 :])
            assert inspect.error(made).startswith("k.so: it ")


class TestHarm:
    """Files that others made, to do harm."""

    def test_no_code_runs(self, tmp_path: Path, inspect: Inspect):
        ran = tmp_path / "ran"
        source = f"""
        #include <stdio.h>
        __attribute__((constructor)) static void c(void) {{ fclose(fopen("{ran}", "w")); }}
        int __tvm_ffi_f(void *h, void *args, int n, void *r) {{ return 0; }}
        int __tvm_ffi__metadata_f(void *h, void *args, int n, void *r) {{ return 0; }}
        """
        made = compiled(tmp_path / "f.so", source)
        shown = inspect.shows(made)
        assert shown.endswith("f\n    says nothing of its parameters\n")
        assert inspect.shows(zipped(tmp_path / "f.whl", ("f.so", made.read_bytes()))) == shown
        assert not ran.exists()

    def test_a_wheel_that_becomes_large(self, tmp_path: Path, inspect: Inspect):
        made = zipped(tmp_path / "k.whl", ("k.so", bytes(60 << 20)), ("l.so", bytes(60 << 20)))
        first, second = inspect(made)[1]
        assert first.endswith(
            r"k.so: expected an ELF file, but it starts with b'\x00\x00\x00" + r"\x00" * 5 + "'"
        )
        words = f"l.so: it would be {60 << 20} bytes, and of a wheel of this size, at most {100 << 20} are unpacked"
        assert words in second

    def test_memory(self, tmp_path: Path):
        """A library of 90 MB, of which little is in memory at a time."""
        source = "const char zeros[90 << 20] = {1}; int __tvm_ffi_f(void) { return 0; }"
        made = zipped(
            tmp_path / "f.whl", ("f.so", compiled(tmp_path / "f.so", source).read_bytes())
        )
        code = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        command = [sys.executable, "-c", code, sys.executable, "-m", "ffi_builder", "inspect", made]
        shown = subprocess.check_output(command, text=True)
        assert int(shown.split()[-1]) < 80_000, shown  # KiB

    def test_a_table_that_is_large(self, library: Path, tmp_path: Path, inspect: Inspect):
        data = bytearray(library.read_bytes())
        file = Elf(bytes(data), "library", ValueError)
        number = next(at for at, each in enumerate(file.sections) if file.name(each) == ".dynstr")
        at = file.header.sections_at + number * elf.SHDR.size
        elf.SHDR.pack_into(data, at, *file.sections[number]._replace(size=66 << 20))
        made = tmp_path / "large.so"
        made.write_bytes(data)
        os.truncate(made, 67 << 20)
        words = f"a table has {66 << 20} bytes, and at most {64 << 20} are read"
        assert inspect.error(made) == words

    def test_texts_that_are_large(
        self, library: Path, inspect: Inspect, monkeypatch: pytest.MonkeyPatch
    ):
        for what, limit in (("metadata", 300), ("compilers", 80)):
            monkeypatch.setattr(inspection, "_MOST_TEXT", limit)
            words = f"its {what} take more than {limit} bytes, and are not read"
            assert inspect.error(library) == words

    def test_texts_for_a_terminal(self, tmp_path: Path, inspect: Inspect):
        text = json.dumps(
            {
                "type_schema": "{}",
                "ffi_builder": {
                    "format": 1,
                    "name": "f",
                    "params": [],
                    "doc": "red\x1b[31m\ntext \ud800",
                },
            },
            separators=(",", ":"),
        )
        source = (
            f"const char text[] = {json.dumps(text)}; int __tvm_ffi_f(void) {{ return 0; }}\n"
            '__asm__(".ident \\"a\\\\nb\\"");'
        )
        shown = inspect.shows(compiled(tmp_path / "f.so", source))
        assert "    red\\x1b[31m\n    text \\ud800" in shown
        assert "\n    a\\nb\n" in shown

    @pytest.mark.hypothesis  # `make fuzz` draws all
    @pytest.mark.parametrize("suffix", [".so", ".o", ".whl"])
    def test_damage(
        self, suffix: str, wheel: Path, library: Path, tmp_path: Path, inspect: Inspect
    ):
        """Bytes that are changed, cut out or added: errors of one line that name the file."""
        nothing().export_object(tmp_path / "nothing.o")
        good = {".so": library, ".o": tmp_path / "nothing.o", ".whl": wheel}[suffix].read_bytes()
        made = tmp_path / f"damaged{suffix}"
        drawn = random.Random(suffix)
        for _ in range(examples(300)):
            made.write_bytes(damaged(good, drawn))
            inspect(made)


def damaged(data: bytes, drawn: random.Random) -> bytes:
    """Damage bytes anywhere, or where tables are: in the first or last part."""
    found = bytearray(data)
    size = len(found) if drawn.random() < 0.5 else min(len(found), 2000)
    at = drawn.choice([0, len(found) - size]) + drawn.randrange(size - 8)
    match drawn.randrange(4):
        case 0:
            return bytes(found[:at])
        case 1:
            found[at] ^= 1 << drawn.randrange(8)
        case 2:
            found[at : at + 8] = drawn.choice([bytes(8), b"\xff" * 8, b"\xff" * 7 + b"\x7f"])
        case _:
            found[at : at + drawn.randrange(50)] = drawn.randbytes(drawn.randrange(50))
    return bytes(found)
