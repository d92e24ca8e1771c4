"""Check what is in an sdist or a wheel."""

from __future__ import annotations

import email
import hashlib
import re
import sys
import tarfile
import time
import zipfile
from email.message import Message
from pathlib import Path

from tools.release import build
from tools.release.report import ROOT, Failed, run

_PATH = re.compile(rb"(?<![\w.+-])/[\w.+-]+(?:/[\w.+-]+)+")
_SYSTEM = re.compile(rb"/usr/(?:include|lib)\b")
"""Folders with the headers of the compiler and libc, on every machine."""


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def same(first: Path, second: Path) -> str:
    """Compare two builds of a file."""
    if (first.name, digest(first)) != (second.name, digest(second)):
        raise Failed(f"two builds differ: {first} and {second}; diffoscope shows where")
    return f"sha256 {digest(first)}"


def metadata(path: Path) -> str:
    """Check the metadata: twine's rules, the version, the licence and its text."""
    strict = run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", path)
    if "PASSED" not in strict:
        raise Failed(strict)
    read = _sdist if path.name.endswith(".tar.gz") else _wheel
    found, licence = read(path)
    version = re.search(r'__version__ = "(.*)"', (ROOT / "ffi_builder/__init__.py").read_text())
    if version is None or found["Version"] != version[1]:
        raise Failed(f"the version is {found['Version']}, not that of ffi_builder/__init__.py")
    if (found["License-Expression"], found["License-File"]) != ("Apache-2.0", "LICENSE"):
        raise Failed("License-Expression and License-File are not Apache-2.0 and LICENSE")
    if licence != (ROOT / "LICENSE").read_bytes():
        raise Failed("LICENSE is another text")
    return f"version {found['Version']}, {found['License-Expression']} with its text"


def _sdist(path: Path) -> tuple[Message, bytes]:
    top = path.name.removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        files = [archive.extractfile(f"{top}/{name}") for name in ("PKG-INFO", "LICENSE")]
        described, licence = (file.read() for file in files if file)
    return email.message_from_bytes(described), licence


def _wheel(path: Path) -> tuple[Message, bytes]:
    info = "-".join(path.name.split("-")[:2]) + ".dist-info"
    with zipfile.ZipFile(path) as archive:
        described = archive.read(f"{info}/METADATA")
        licence = archive.read(f"{info}/licenses/LICENSE")
    return email.message_from_bytes(described), licence


def files(path: Path) -> str:
    """Check the files of a wheel: check-wheel-contents' rules, all modules, and their times."""
    run(sys.executable, "-m", "check_wheel_contents", path)
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    names = {entry.filename for entry in entries}
    package = ROOT / "ffi_builder"
    sources = [*package.rglob("*.py"), *package.rglob("*.pyi"), package / "py.typed"]
    sources += [*(package / "fakecuda/c").iterdir()]
    sources += [*package.rglob("*.o"), *package.rglob("functions.txt")]
    missing = {str(source.relative_to(ROOT)) for source in sources} - names
    if missing:
        raise Failed(f"not in the wheel: {', '.join(sorted(missing))}")
    moment = time.gmtime(max(int(build.epoch()), 315532800))[:6]
    wrong = [entry.filename for entry in entries if entry.date_time[:5] != moment[:5]]
    if wrong:
        raise Failed(f"{len(wrong)} files are not of SOURCE_DATE_EPOCH; the first is {wrong[0]}")
    return f"{len(names)} files, each of SOURCE_DATE_EPOCH"


def extensions(path: Path) -> str:
    """Check that every extension is there, and names no folder of this machine."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".so")]
        contents = [archive.read(name) for name in names]
    for name, content in zip(names, contents, strict=True):
        found = {each for each in _PATH.findall(content) if not _SYSTEM.match(each)}
        if found:
            shown = ", ".join(sorted(each.decode() for each in found))
            raise Failed(f"{name} names folders of this machine: {shown}")
    built = {name.partition(".")[0] for name in names}
    if missing := sorted(sources() - built):
        raise Failed(f"{', '.join(missing)} was not built: is there a compiler?")
    shown = ", ".join(Path(name).name for name in names)
    return f"{shown} name no folder of this machine"


def sources() -> set[str]:
    """Return the extensions of the package, each of a C file, and those of the support code."""
    found = (ROOT / "ffi_builder").rglob("_*.c")
    return {str(path.relative_to(ROOT).with_suffix("")) for path in found} | libraries()


def libraries() -> set[str]:
    """Return the extensions of the support code, that of the core and those of add-ons."""
    found = (ROOT / "ffi_builder").rglob("functions.txt")
    return {str(path.relative_to(ROOT).with_name("_library")) for path in found}
