"""Wheels of kernels that are in shared libraries, used where these libraries are gone."""

from __future__ import annotations

import platform
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tvm_ffi import libinfo

from ffi_builder import BuildError, CompileError, package, wrap
from ffi_builder.cli.main import main
from ffi_builder.packaging.manylinux import platform as platform_of
from ffi_builder.runtime.export.inspection import Inspected, inspected
from tests.packaging.environments import Environment
from tests.packaging.wheels import ON_X86, content
from tests.runtime.samples import needs_cc, needs_cxx

FOREIGN = "x86_64" if platform.machine() == "aarch64" else "aarch64"

pytestmark = [needs_cc, pytest.mark.slow]


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment with NumPy and tvm-ffi alone."""
    return Environment(tmp_path / "environment")


def compiled(path: Path, source: str, *flags: str | Path) -> Path:
    """Compile C to an object, an archive or a shared library."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(".o") if path.suffix == ".a" else path
    kind = "-c" if made.suffix == ".o" else "-shared"
    # Libraries come after what needs them.
    command = ["cc", kind, "-O1", "-fPIC", "-x", "c", "-", "-x", "none", *flags, "-o", made]
    subprocess.run(command, input=source, text=True, check=True)
    if made != path:
        subprocess.run(["ar", "rcs", path, made], check=True)
    return path


def times(number: int, name: str = "kernel") -> str:
    """Write a kernel in C that multiplies."""
    return f"double {name}(double x) {{ return {number} * x; }}\n"


def soname(name: str) -> str:
    return f"-Wl,-soname,{name}"


def wrapped(path: Path, name: str = "f", kernel: str = "kernel", **options: Any) -> Any:
    prototype = f"double {kernel}(double x)"
    return wrap(path, f"{name}(x: float64) -> y: float64", prototype=prototype, **options)


def made(folder: Path, modules: Any, name: str = "gains", **options: Any) -> Path:
    return package(modules, folder / "dist", project={"name": name, "version": "1"}, **options)


def libraries(wheel: Path) -> list[str]:
    return [name for name in content(wheel) if ".so" in name]


def found(wheel: Path, name: str, folder: Path) -> Inspected:
    (folder / "extracted.so").write_bytes(content(wheel)[name])
    with (folder / "extracted.so").open("rb") as file:
        return inspected(file)


CALL = "import gains; print(gains.f(1.0))"


class TestTaken:
    """Libraries that were given by paths."""

    def test_wrapped_libraries_of_one_name(self, environment: Environment, tmp_path: Path):
        """Also one without SONAME, or that has the name of the project."""
        flags = [(), (soname("libgains.so"),), (soname("libgains.so.3"),), (soname("./a/b.so"),)]
        paths = [
            compiled(tmp_path / str(at) / "libgains.so", times(at, f"by{at}"), *each)
            for at, each in enumerate(flags)
        ]
        wheel = made(tmp_path, [wrapped(p, f"f{at}", f"by{at}") for at, p in enumerate(paths)])
        for path in paths:
            path.unlink()
        environment.unpack(wheel)
        code = "import gains as g; print(g.f0(1.0), g.f1(1.0), g.f2(1.0), g.f3(1.0))"
        assert environment.run(code) == "0.0 1.0 2.0 3.0\n"
        assert wheel.name == f"gains-1-py3-none-manylinux_2_17_{platform.machine()}.whl"
        own = "gains/lib/libgains.so"
        copies = {*libraries(wheel)} - {own}
        names = [re.fullmatch(r"gains/lib/(libgains|b)\.so\.[0-9a-f]{8}", copy) for copy in copies]
        assert sorted(name[1] for name in names if name) == ["b", *["libgains"] * 3]
        assert {Path(copy).name for copy in copies} <= {*found(wheel, own, tmp_path).needs}
        assert str(tmp_path).encode() not in content(wheel)[own]
        assert {found(wheel, copy, tmp_path).soname for copy in copies} == {""}

    def test_what_an_object_links(self, environment: Environment, tmp_path: Path):
        """Given by a symbolic link, as libraries with versions are."""
        library = compiled(tmp_path / "libby.so.1.2", times(3, "by"), soname("libby.so.1"))
        link = tmp_path / "libby.so"
        link.symlink_to(library.name)
        source = "double by(double x); double kernel(double x) { return by(x); }"
        module = wrapped(compiled(tmp_path / "k.o", source), link=[link])
        wheel = made(tmp_path, module)
        library.unlink()
        environment.install(wheel)
        assert environment.run(CALL) == "3.0\n"
        assert re.fullmatch(r"gains/lib/libby\.so\.[0-9a-f]{8}", libraries(wheel)[0])

    def test_variables_and_versions_of_symbols(self, environment: Environment, tmp_path: Path):
        (tmp_path / "map").write_text("V_1 { global: kernel; scale; local: *; };")
        source = "double scale = 4; double kernel(double x) { return scale * x; }"
        flags = (f"-Wl,--version-script={tmp_path / 'map'}", soname("libv.so"))
        library = compiled(tmp_path / "libv.so", source, *flags)
        caller = (
            "extern double scale; double kernel(double); "
            "double f(double x) { return kernel(x) * scale; }"
        )
        module = wrapped(compiled(tmp_path / "k.o", caller), kernel="f", link=[library])
        wheel = made(tmp_path, module)
        library.unlink()
        environment.unpack(wheel)
        assert environment.run(CALL) == "16.0\n"

    @pytest.mark.parametrize("flags", [(), (soname("libinner.so"),)])
    def test_one_that_another_needs(self, flags: Any, environment: Environment, tmp_path: Path):
        """It keeps its name, and must be given too. Without SONAME, it is needed by its path."""
        inner = compiled(tmp_path / "in" / "libinner.so", times(5, "inner"), *flags)
        source = "double inner(double x); double kernel(double x) { return inner(x); }"
        outer = compiled(tmp_path / "libouter.so", source, inner, f"-Wl,-rpath,{inner.parent}")
        words = rf"would need libinner\.so \(for {re.escape(str(outer))}\), .* external=\['libinner\.so'\]"
        with pytest.raises(BuildError, match=words):
            made(tmp_path, wrapped(outer))
        module = wrapped(outer, link=[inner])
        with pytest.raises(
            BuildError, match=r"keeps its name, libinner\.so, .* rename the project"
        ):
            made(tmp_path, module, name="inner")
        wheel = made(tmp_path, module)
        inner.unlink()
        environment.unpack(wheel)
        assert environment.run(CALL) == "5.0\n"
        assert "gains/lib/libinner.so" in libraries(wheel)

    def test_two_wheels_with_libraries_of_one_name(self, environment: Environment, tmp_path: Path):
        """The loader would take the first of a SONAME for both."""
        for number in (2, 3):
            path = tmp_path / str(number) / "libk.so"
            library = compiled(path, times(number), soname("libk.so"))
            environment.unpack(made(tmp_path / str(number), wrapped(library), name=f"w{number}"))
        assert environment.run("import w2, w3; print(w2.f(1.0), w3.f(1.0))") == "2.0 3.0\n"

    def test_the_same_bytes_from_another_folder(self, tmp_path: Path):
        wheels: list[bytes] = []
        for folder in (tmp_path / "a", tmp_path / "longer"):
            library = compiled(folder / "libk.so", times(2), soname("libk.so"))
            wheels.append(made(folder, wrapped(library)).read_bytes())
        assert wheels[0] == wheels[1]

    @ON_X86
    def test_one_for_each_cpu(self, environment: Environment, tmp_path: Path):
        def modules(cpu: str) -> Any:
            number = 7 if cpu == "baseline" else 8
            path = tmp_path / cpu / "libk.so"
            return wrapped(compiled(path, times(number), soname("libk.so")))

        wheel = made(tmp_path, modules, cpus=["baseline", "x86-64-v2"])
        names = [re.sub(r"[0-9a-f]{8}$", "…", name) for name in libraries(wheel)]
        level = "gains/lib/glibc-hwcaps/x86-64-v2"
        assert names == [
            *(f"{level}/libgains.so", f"{level}/libk.so.…"),
            *("gains/lib/libgains.so", "gains/lib/libk.so.…"),
        ]
        environment.unpack(wheel)
        code = f"""
import sys, tvm_ffi
sys.modules["gains"] = package = type(sys)("gains")
package.__path__ = [{str(environment.site / "gains")!r}]
from gains import _load
for missing in ([], ["popcnt"]):
    _load.missing = lambda _: missing
    print(tvm_ffi.load_module(str(_load.library()))["f"](1.0))
"""
        assert environment.run(code) == "8.0\n7.0\n"

    @needs_cxx
    def test_from_cpp(self, environment: Environment, tmp_path: Path):
        library = compiled(tmp_path / "libk.so", times(2))
        environment.unpack(made(tmp_path, wrapped(library)))
        library.unlink()
        flags = subprocess.check_output([environment.program, "-m", "gains"], text=True).split()
        config = [environment.program, "-m", "tvm_ffi.config"]
        options = ("--cxxflags", "--ldflags", "--libs")
        flags += subprocess.check_output([*config, *options], text=True).split()
        folder = subprocess.check_output([*config, "--libdir"], text=True).strip()
        (tmp_path / "main.cpp").write_text(
            '#include "gains.h"\n#include <cstdio>\n'
            'int main() { std::printf("%g", ffi_builder::gains::f(1.5)); }\n'
        )
        words = ["c++", "-std=c++17", tmp_path / "main.cpp", "-o", tmp_path / "main", *flags]
        subprocess.run([*words, f"-Wl,-rpath,{folder}"], check=True)
        assert subprocess.check_output([tmp_path / "main"], text=True) == "3"


class TestOutside:
    """Libraries that stay outside."""

    @pytest.fixture
    def library(self, tmp_path: Path) -> Path:
        (tmp_path / "libk.so.1").symlink_to("libk.so")
        return compiled(tmp_path / "libk.so", times(2), soname("libk.so.1"))

    def test_one_that_is_found_here(
        self, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
        wheel = made(tmp_path, wrapped(library), external=["libk.so.1"])
        assert wheel.name == f"gains-1-py3-none-linux_{platform.machine()}.whl"
        (own,) = libraries(wheel)
        assert "libk.so.1" in found(wheel, own, tmp_path).needs
        assert str(tmp_path).encode() not in content(wheel)[own]

    def test_one_that_is_not_found_here(self, library: Path, tmp_path: Path):
        words = (
            r"libk\.so\.1: cannot open .*; what external= leaves outside must be found here, too"
        )
        with pytest.raises(BuildError, match=words):
            made(tmp_path, wrapped(library), external=["libk.so.1"])
        with pytest.raises(TypeError, match=r"external: expected a list, but got 'libk\.so\.1'"):
            made(tmp_path, wrapped(library), external="libk.so.1")

    def test_a_library_of_the_system(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
        """The error says what to write, on the command line too."""
        (tmp_path / "gains_of_c.py").write_text(
            "from pathlib import Path\nfrom ffi_builder import wrap\n"
            f"modules = wrap({str(tmp_path / 'k.o')!r}, 'f(x: float64) -> y: float64', "
            "prototype='double kernel(double)', link=['-lgomp'])\n"
        )
        source = "int omp_get_level(void); double kernel(double x) { return x + omp_get_level(); }"
        compiled(tmp_path / "k.o", source)
        command = ["package", str(tmp_path / "gains_of_c.py"), "--name", "gains", "--version", "1"]
        command += ["-o", str(tmp_path / "dist")]
        assert main(command) == 1
        words = capsys.readouterr().err
        assert "would need libgomp.so.1 (for libgains.so), which it does not contain" in words
        option = re.search(r"outside by (--external \S+), and let `(auditwheel .*)` copy", words)
        assert option is not None
        assert main([*command, *shlex.split(option[1])]) == 0
        wheel = Path(capsys.readouterr().out.strip())
        assert option[2] == f"auditwheel repair --exclude libtvm_ffi.so {wheel}"

    def test_what_each_linux_has(self, tmp_path: Path):
        """Two copies of the C library, or of tvm-ffi's, would be wrong."""
        libm = Path(
            subprocess.check_output(["cc", "-print-file-name=libm.so.6"], text=True).strip()
        )
        source = "double cbrt(double x); double kernel(double x) { return cbrt(x); }"
        given = [libm, Path(libinfo.find_libtvm_ffi())]
        wheel = made(tmp_path, wrapped(compiled(tmp_path / "k.o", source), link=given))
        (own,) = libraries(wheel)
        assert {"libm.so.6", "libtvm_ffi.so"} <= {*found(wheel, own, tmp_path).needs}

    @needs_cxx
    def test_the_library_of_cpp(self, tmp_path: Path):
        source = (
            '#include <string>\nextern "C" double kernel(double x) '
            "{ return x * std::to_string(x).size(); }"
        )
        command = ["c++", "-O1", "-fPIC", "-c", "-x", "c++", "-", "-o", tmp_path / "k.o"]
        subprocess.run(command, input=source, text=True, check=True)
        wheel = made(tmp_path, wrapped(tmp_path / "k.o"))
        (own,) = libraries(wheel)
        assert "libstdc++.so.6" in found(wheel, own, tmp_path).needs
        assert "-manylinux_2_" in wheel.name

    def test_another_machine(self, tmp_path: Path):
        library = compiled(tmp_path / "libk.so", times(2))
        words = rf"libk\.so is for {platform.machine()}, and the wheel for {FOREIGN}"
        with pytest.raises(BuildError, match=words):
            made(tmp_path, wrapped(library), triple=f"{FOREIGN}-linux-gnu")


@pytest.mark.parametrize(
    ("needs", "versions", "expected"),
    [
        ((), (), "manylinux_2_17_m"),
        (("libc.so.6", "libtvm_ffi.so"), ("GLIBC_2.2.5", "GLIBC_2.34"), "manylinux_2_34_m"),
        (("libstdc++.so.6",), ("GLIBCXX_3.4.19", "CXXABI_1.3.7"), "manylinux_2_17_m"),
        ((), ("GLIBCXX_3.4.26", "GLIBC_2.17"), "manylinux_2_31_m"),
        ((), ("CXXABI_1.3.8",), "manylinux_2_24_m"),
        ((), ("GCC_7.0.0",), "manylinux_2_27_m"),
        ((), ("GLIBC_ABI_DT_RELR",), "manylinux_2_36_m"),
        ((), ("GLIBCXX_3.5",), "linux_m"),
        (("libgomp.so.1",), (), "linux_m"),
    ],
)
def test_the_platform(needs: tuple[str, ...], versions: tuple[str, ...], expected: str):
    assert platform_of(needs, versions, "m") == expected


class TestKernelsOfOneName:
    """Modules share nothing, so each calls its own kernel, wherever it is."""

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            *(("a.o", "b.o"), ("a.a", "b.a"), ("a.a", "b.o"), ("a.so", "b.o"), ("a.a", "b.so")),
            *(("weak.o", "b.o"), ("a.o", "weak.a"), ("weak.a", "other_weak.o")),
        ],
    )
    def test_two(self, first: str, second: str, tmp_path: Path):
        sources = {
            name: ("__attribute__((weak)) " if "weak" in name else "") + times(number)
            for number, name in ((2, first), (3, second))
        }
        modules = [
            wrapped(compiled(tmp_path / name, source), f"f{number}")
            for number, (name, source) in enumerate(sources.items(), 2)
        ]
        wheel = made(tmp_path, modules)
        assert called(wheel, tmp_path) == ["2.0", "3.0"]

    def test_a_function_that_another_module_has_from_the_c_library(self, tmp_path: Path):
        other = "double cbrt(double x); double kernel(double x) { return cbrt(x); }"
        own = f"{times(2, 'cbrt')}{other}"
        modules = [
            wrapped(compiled(tmp_path / "a.o", own, "-fno-builtin"), "f2"),
            wrapped(compiled(tmp_path / "b.o", other, "-fno-builtin"), "f3"),
        ]
        assert called(made(tmp_path, modules), tmp_path) == ["2.0", "1.0"]

    def test_two_shared_libraries(self, tmp_path: Path):
        modules = [
            wrapped(compiled(tmp_path / f"lib{number}.so", times(number)), f"f{number}")
            for number in (2, 3)
        ]
        words = (
            r"`kernel` of different libraries, .*lib2\.so and .*lib3\.so, .*: rename one of them"
        )
        with pytest.raises(CompileError, match=words):
            made(tmp_path, modules)

    def test_what_two_shared_libraries_call_themselves(self, tmp_path: Path):
        def modules(*flags: str) -> list[Any]:
            folder = tmp_path / f"flags{len(flags)}"
            return [
                wrapped(
                    compiled(
                        folder / f"lib{number}.so",
                        f"double by(void) {{ return {number}; }}\n"
                        f"double k{number}(double x) {{ return x * by(); }}",
                        "-fno-inline",
                        *flags,
                    ),
                    f"f{number}",
                    f"k{number}",
                )
                for number in (2, 3)
            ]

        words = r"`by` of different libraries, .*: link .*lib3\.so with -Wl,-Bsymbolic"
        with pytest.raises(CompileError, match=words):
            made(tmp_path, modules())
        assert called(made(tmp_path, modules("-Wl,-Bsymbolic")), tmp_path) == ["2.0", "3.0"]

    def test_two_modules_of_one_library(self, tmp_path: Path):
        library = compiled(tmp_path / "lib.so", times(2, "a") + times(3, "b"))
        wheel = made(tmp_path, [wrapped(library, "f2", "a"), wrapped(library, "f3", "b")])
        assert called(wheel, tmp_path) == ["2.0", "3.0"]
        assert len(libraries(wheel)) == 2


def called(wheel: Path, folder: Path) -> list[str]:
    """Call `f2` and `f3` of an unpacked wheel."""
    unpacked = folder / "unpacked"
    for name, data in content(wheel).items():
        (unpacked / name).parent.mkdir(parents=True, exist_ok=True)
        (unpacked / name).write_bytes(data)
    path = unpacked / "gains" / "lib" / "libgains.so"
    code = (
        f"import tvm_ffi; m = tvm_ffi.load_module({str(path)!r}); print(m['f2'](1.0), m['f3'](1.0))"
    )
    # Of functions in shared libraries, the loader prefers those that are global in the process.
    return subprocess.check_output([sys.executable, "-c", code], text=True).split()
