"""The parts of `make release-check` (tools/release), each made to fail."""

from __future__ import annotations

import gzip
import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from ffi_builder import support
from tests.support.absent import whole
from tools.release import build, contents, environments, pythons
from tools.release.pythons import Python
from tools.release.report import ROOT, Failed, Report, run
from tools.release.uses import USES


def sdist(path: Path, names: list[str], *, time: int, owner: str) -> Path:
    """Pack files as an sdist."""
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.uname = len(name), time, owner
            member.mode = 0o664 if owner == "me" else 0o644
            archive.addfile(member, io.BytesIO(name.encode()))
    return path


def wheel(path: Path, content: bytes = b"", *, without: str = "") -> Path:
    """Pack the extensions of this package, with this content, as a wheel."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in contents.sources():
            if not name.endswith(without or "/"):
                archive.writestr(f"{name}.abi3.so", content)
    return path


class TestReport:
    def test_a_check_that_passes(self, capsys: pytest.CaptureFixture[str]) -> None:
        report = Report()
        assert report.check("what", lambda: "words")
        assert (report.failures, capsys.readouterr().out.split()) == (0, ["ok", "what", "words"])

    def test_a_check_that_fails(self, capsys: pytest.CaptureFixture[str]) -> None:
        report = Report()
        assert not report.check("what", lambda: run(sys.executable, "-c", "exit('reason')"))
        assert report.failures == 1
        assert re.search(r"^no  what +exit status 1: .*\n +reason$", capsys.readouterr().out, re.M)


class TestReproducible:
    def test_order_times_and_owners_make_no_difference(self, tmp_path: Path) -> None:
        first = sdist(tmp_path / "a" / "p-1.tar.gz", ["p/b", "p/a"], time=1, owner="me")
        second = sdist(tmp_path / "b" / "p-1.tar.gz", ["p/a", "p/b"], time=2, owner="you")
        with pytest.raises(Failed, match="two builds differ"):
            contents.same(first, second)
        for path in (first, second):
            build._sort(path)  # pyright: ignore[reportPrivateUsage]
        assert contents.same(first, second).startswith("sha256 ")
        with tarfile.open(first) as archive:
            times = [(member.name, member.mtime) for member in archive]
        assert times == [("p/a", int(build.epoch())), ("p/b", int(build.epoch()))]
        assert gzip.decompress(first.read_bytes())

    def test_contents_make_a_difference(self, tmp_path: Path) -> None:
        first = sdist(tmp_path / "a" / "p-1.tar.gz", ["p/a"], time=1, owner="me")
        second = sdist(tmp_path / "b" / "p-1.tar.gz", ["p/c"], time=1, owner="me")
        for path in (first, second):
            build._sort(path)  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(Failed, match="two builds differ"):
            contents.same(first, second)

    @pytest.mark.parametrize("folder", [b"/home/me/p/_entry.c", b"/opt/python3.12/lib"])
    def test_folders_of_the_machine_in_an_extension(self, tmp_path: Path, folder: bytes) -> None:
        path = wheel(tmp_path / "p.whl", b"\0" + folder + b"\0")
        with pytest.raises(Failed, match=f"so names folders of .*: {folder.decode()}"):
            contents.extensions(path)

    def test_folders_that_every_machine_has(self, tmp_path: Path) -> None:
        names = b"\0/usr/include/bits/types.h\0ffi_builder/entry/_entry.c\0./build/x\0"
        assert "no folder" in contents.extensions(wheel(tmp_path / "p.whl", names))

    def test_an_extension_that_was_not_built(self, tmp_path: Path) -> None:
        path = wheel(tmp_path / "p.whl", without="_gdb")
        with pytest.raises(Failed, match=r"^ffi_builder/runtime/jit/_gdb was not built: is"):
            contents.extensions(path)

    def test_each_source_in_c_is_an_extension(self) -> None:
        declared = (ROOT / "setup.py").read_text()
        for source in contents.sources() - contents.libraries():
            dotted = source.removeprefix("ffi_builder/").replace("/", ".")
            assert f'extension("{dotted}"' in declared

    def test_each_folder_of_support_code_is_a_library(self) -> None:
        code = "import setuptools; setuptools.setup = lambda **given: print(*(e.name for e in given['ext_modules']))"
        done = run(sys.executable, "-c", f"{code}; exec(open('setup.py').read())")
        folders = {str(folder.relative_to(ROOT)) for folder in support.folders().values()}
        assert contents.libraries() == {f"{folder}/_library" for folder in folders}
        assert {name.replace("/", ".") for name in contents.libraries()} <= {*done.split()}


@pytest.mark.parametrize(
    ("name", "version", "fits"),
    [
        ("p-1-cp312-abi3-linux_x86_64.whl", "3.12", True),
        ("p-1-cp312-abi3-linux_x86_64.whl", "3.14", True),
        ("p-1-cp312-abi3-linux_x86_64.whl", "3.11", False),
        ("p-1-cp311-cp311-linux_x86_64.whl", "3.12", False),
    ],
)
def test_which_wheel_is_for_which_python(name: str, version: str, fits: bool) -> None:
    python = Python(Path(sys.executable), f"python{version}")
    assert build._fits(Path(name), python) is fits  # pyright: ignore[reportPrivateUsage]


def test_pythons_that_are_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONS", f"{sys.executable} python3.99")
    found = pythons.look()
    assert found["python3.99"] is None
    python = found[sys.executable]
    assert python is not None
    assert python.name == "python{}.{}".format(*sys.version_info)


def test_all_extras_and_pythons_are_tried() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert environments.extras() == list(project["optional-dependencies"])
    listed = [name for name in project["classifiers"] if "Python :: 3." in name]
    assert [f"python{name.rpartition(' ')[2]}" for name in listed] == pythons.supported()


@whole
def test_each_extra_is_used() -> None:
    assert sorted(USES) == sorted(["", *environments.extras()])
    for extra, use in USES.items():
        assert use.commands or use.pages, extra
        assert {*use.beside} <= {*USES}
        assert [page for page in use.pages if not (ROOT / page).exists()] == []
        assert {*use.left_out_on} <= {*pythons.supported()}


@whole
def test_what_an_sdist_tests_is_there() -> None:
    names = (*environments.CALLS, *environments.SELF_TEST.split())
    assert [name for name in names if not (ROOT / name).exists()] == []
