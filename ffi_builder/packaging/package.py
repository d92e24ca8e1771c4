"""`package`: a wheel of compiled kernels, or a build of the Kernel Hub."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Final, TypeAlias, Union, cast

from ffi_builder import BuildError
from ffi_builder.extending import dataclass, did_you_mean, helped_by
from ffi_builder.packaging import hub, manylinux
from ffi_builder.packaging.choices import BASELINE, CPUS, FRAMEWORKS, LAYOUTS
from ffi_builder.packaging.contents import modules as python_modules
from ffi_builder.packaging.copies import Linked, copied, with_copies
from ffi_builder.packaging.project import Project, Table, read_project, read_table
from ffi_builder.packaging.template import _load
from ffi_builder.packaging.wheel import wheel
from ffi_builder.runtime import LoweredModule
from ffi_builder.runtime.extending import (
    Described,
    Output,
    export_options,
    header_text,
    inspected,
    stub_text,
    write_outputs,
    write_together,
)

Modules: TypeAlias = Union[LoweredModule, Sequence[LoweredModule]]
_IMPORT: Final = """
import importlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    print(name, file=sys.stderr, flush=True)
    importlib.import_module(name)
"""
"""Imports modules, and prints the name of each before."""
_ATTRIBUTES: Final = """
__version__: str
_library: object
"""


def package(
    modules: Modules | Callable[[str], Modules],
    folder: str | os.PathLike[str],
    *,
    project: Table | Mapping[str, object] | str | os.PathLike[str],
    frameworks: Iterable[str] = (),
    cpus: Iterable[str] = (BASELINE,),
    include: Mapping[str, str | os.PathLike[str]] | None = None,
    external: Iterable[str] = (),
    triple: str | None = None,
    layout: str = "wheel",
    backend: str = "cpu",
) -> Path:
    """Write a wheel with the functions of compiled modules; return its path.

    Importing the package loads its library, and installs an allocator if a function makes tensors.
    Its functions take NumPy arrays and arrays of other frameworks. The modules `torch` and `jax` of
    the package have operators of PyTorch, in the package's namespace, and functions of JAX. The
    wheel also has a header for C and C++, and type stubs.

    Shared libraries that the modules wrap or link, and that were given by paths, are copied into
    the wheel, where its library finds them.

    The same modules give the same bytes, with the same compilers. The package is imported in a
    child process before the wheel is written, if it is for this machine.

    Args:
        modules: compiled or lowered modules, or a function that returns them for one of `cpus`.
        folder: where the wheel is written. It is made if it does not exist.
        project: the path of a pyproject.toml, or the fields of its table `[project]`, such as
            `name` and `version`.
        frameworks: `torch` and `jax`. With one of these, or if a function makes tensors, the wheel
            depends on `ffi_builder`, else on apache-tvm-ffi alone.
        cpus: `baseline`, `x86-64-v2`, `x86-64-v3`, `x86-64-v4`. The package has a library for each,
            and loads the best for the CPU. On a CPU that none is for, importing it is an error.
        include: more files of the package by their names in it, as `{"torch.py": "my_torch.py"}`.
            They replace files that `package` would write.
        external: the names of libraries that stay outside of the wheel, as `["libgomp.so.1"]`. What
            is needed must be in the wheel, here, or on each Linux that has apache-tvm-ffi.
        triple: `x86_64-linux-gnu` or `aarch64-linux-gnu`; by default this machine's.
        layout: `wheel`, or `hub` for a folder that Hugging Face's `kernels` loads, with a build
            for apache-tvm-ffi of the installed version: `folder` is the repository's, and the path
            that of the build. Its version is the first number of the project's.
        backend: for the Hub, what the kernels run on: `cpu`, or a version of CUDA or ROCm such as
            `cu128` or `rocm63`.

    Raises:
        BuildError: `project` is not valid, a function cannot be in a package, a library that is
            needed is neither in the wheel nor `external`, the package cannot be imported, or
            pyproject-metadata, of the extra `package`, is not installed.
        CompileError, LinkError: a library cannot be made, as for `export_library`.
        OSError: a file cannot be read or written.
        TypeError, ValueError: an invalid argument.

    Examples:
        >>> import tempfile
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, package, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> hypot = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> attach(module, hypot, providers.DirectCallProvider("hypot"))
        >>> lowered = runtime.lower(module)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = package(lowered, folder, project={"name": "my-hypot", "version": "1.0"})
        >>> made.name.split("-")[:3]
        ['my_hypot', '1.0', 'py3']
    """
    included = include or {}
    chosen = _among("frameworks", frameworks, FRAMEWORKS)
    # A module that is given needs what one that is written needs.
    chosen = tuple(each for each in FRAMEWORKS if each in chosen or f"{each}.py" in included)
    levels = _among("cpus", cpus, CPUS)
    if not levels:
        raise ValueError("cpus: expected one at least")
    (kind,) = _among("layout", (layout,), LAYOUTS)
    if kind != "hub" and backend != "cpu":
        raise ValueError(f"backend: {backend!r} is for layout='hub'; a wheel is for all")
    outside = _listed("external", external)
    with tempfile.TemporaryDirectory(prefix="ffi_builder-") as scratch:
        made = _WheelParts(Path(scratch), read_table(project), chosen, triple, outside)
        for level in levels:
            made.add_library(level, _for(level, modules))
        content = made.content(included)
        own = made.project
        path = Path(folder, f"{own.name}-{own.version}-{made.tag}.whl")
        if kind == "hub":
            files = hub.files(
                own, content, backend=backend, machine=made.machine, needs_own=made.needs_own
            )
            path = Path(folder, *next(iter(files)).split("/")[:2])
        else:
            files = {path.name: wheel(own.name, own.version, made.tag, content, own.about)}
        made.check_needs(path)
        if made.runs_here:
            _check(own, content, [*chosen, *_modules_among(included)], Path(scratch))
    outputs = [Output(Path(folder, name), data) for name, data in files.items()]
    for each in outputs:
        each.path.parent.mkdir(parents=True, exist_ok=True)
    write_outputs(outputs)
    return path


def _modules_among(included: Iterable[str]) -> list[str]:
    """Return the names of modules among files, other than those that are imported anyway."""
    known = ("__init__.py", "__main__.py", *(f"{each}.py" for each in FRAMEWORKS))
    return [each[:-3] for each in included if each.endswith(".py") and each not in known]


def _for(level: str, given: object) -> list[LoweredModule]:
    """Return the modules for a CPU."""
    if callable(given) and not isinstance(given, LoweredModule):
        given = given(level)
    listed = [given] if not isinstance(given, (list, tuple)) else cast("list[object]", given)
    modules = [each for each in listed if isinstance(each, LoweredModule)]
    if len(modules) < len(listed):
        wrong = next(each for each in listed if not isinstance(each, LoweredModule))
        raise TypeError(f"modules: expected compiled or lowered modules, but got {wrong!r}")
    return modules


def _listed(what: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError(f"{what}: expected a list, but got {given!r}: put it into one")
    return tuple(dict.fromkeys(given))


def _among(what: str, given: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    chosen = _listed(what, given)
    for each in chosen:
        if each not in known:
            raise ValueError(
                f"{what}: expected some of {', '.join(known)}, but got {each!r}"
                f"{did_you_mean(each, known)}"
            )
    return chosen


@dataclass
class _WheelParts:
    """The libraries of a wheel, and what is known of them."""

    scratch: Path
    table: Table
    frameworks: Sequence[str]
    triple: str | None
    external: Collection[str]
    _functions: tuple[Described, ...] = ()
    _libraries: dict[str, Linked] = field(default_factory=dict[str, Linked])

    def __post_init__(self) -> None:
        # The name of the library is that of the project, which is checked first.
        self._named = read_project(self.table, (), needs_own=False)

    def add_library(self, level: str, modules: Sequence[LoweredModule]) -> None:
        """Link the modules to the library for a level of the CPU."""
        path = self.scratch / level / f"lib{self._named.name}.so"
        path.parent.mkdir()
        options = export_options(level, self.triple, None, None, None, ())
        exporters = [each._exporter for each in modules]  # pyright: ignore[reportPrivateUsage]
        links = [item for each in exporters for item in each.links]
        copies = copied(links, path, options.target.machine, self.external)
        functions = write_together(path, [with_copies(e, copies) for e in exporters], options)
        if self._libraries and functions != self._functions:
            names = (
                ", ".join(each.name for each in every) for every in (functions, self._functions)
            )
            raise BuildError(
                f"package: modules: those for {level} have other functions than those before: "
                f"{' instead of '.join(names)}"
            )
        self._functions = functions
        with path.open("rb") as file:
            self._libraries[level] = Linked(path, inspected(file), copies)

    def check_needs(self, wheel: Path) -> None:
        """Raise BuildError if a library is needed that other machines may lack."""
        lacking = {
            name: by
            for each in self._libraries.values()
            for name, by in each.outside
            if name not in self.external and not manylinux.is_everywhere(name)
        }
        if lacking:
            needed = ", ".join(f"{name} (for {by})" for name, by in lacking.items())
            raise BuildError(
                f"package: the wheel would need {needed}, which it does not contain and not each "
                f"Linux has: give its path in link=[…], and the wheel gets a copy; or leave it "
                f"outside by external={list(lacking)}, and let `auditwheel repair --exclude "
                f"libtvm_ffi.so {shlex.quote(str(wheel))}` copy what your users cannot install"
            )

    @property
    def needs_own(self) -> bool:
        makes_tensors = any(each.info and each.info.allocates for each in self._functions)
        return bool(self.frameworks) or makes_tensors or self.table.needs_own

    @property
    def project(self) -> Project:
        """The project, with what the wheel depends on."""
        return read_project(self.table, self.frameworks, needs_own=self.needs_own)

    def content(self, include: Mapping[str, str | os.PathLike[str]]) -> dict[str, bytes]:
        """Return all files of the package, by their paths in the wheel."""
        name = self._named.name
        names = [each.name for each in self._functions]
        shown = [each for each in self._functions if helped_by(each.name, names) is None]
        files: dict[str, bytes] = {
            key: text.encode()
            for key, text in python_modules(
                self._named, shown, self.frameworks, own=self.needs_own
            ).items()
        }
        files["py.typed"] = b""
        files["__init__.pyi"] = (stub_text(shown, name) + _ATTRIBUTES).encode()
        library = f"lib{self._named.name}.so"
        files[f"include/{name}.h"] = header_text(self._functions, library, f"{name}.h").encode()
        for level, each in self._libraries.items():
            at = "lib" if level == BASELINE else f"lib/glibc-hwcaps/{level}"
            files |= {f"{at}/{path.name}": path.read_bytes() for path in each.files}
        for key, path in include.items():
            files[key] = Path(path).read_bytes()
        return {f"{name}/{key}": data for key, data in files.items()}

    @property
    def tag(self) -> str:
        """The tags of the wheel: manylinux if the libraries need nothing that it lacks."""
        needs = [name for each in self._libraries.values() for name, _ in each.outside]
        parts = [part for each in self._libraries.values() for _, part in each.parts]
        versions = [version for part in parts for version in part.versions]
        return f"py3-none-{manylinux.platform(needs, versions, self.machine)}"

    @property
    def machine(self) -> str:
        return next(iter(self._libraries.values())).inspection.machine

    @property
    def runs_here(self) -> bool:
        """Whether this machine can import the package."""
        lowest = min(self._libraries, key=CPUS.index)
        fits = lowest == BASELINE or not _load.missing(lowest)
        return fits and self.machine == platform.machine()


def _check(
    project: Project, content: Mapping[str, bytes], modules: Sequence[str], scratch: Path
) -> None:
    """Import the package and its modules in a child process. Raises BuildError."""
    for path, data in content.items():
        (scratch / "import" / path).parent.mkdir(parents=True, exist_ok=True)
        (scratch / "import" / path).write_bytes(data)
    names = [project.name, *(f"{project.name}.{each}" for each in modules)]
    command = [sys.executable, "-B", "-c", _IMPORT, str(scratch / "import"), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return
    lines = done.stderr.splitlines()
    name = next((each for each in reversed(names) if each in lines), names[0])
    words = done.stderr.strip().rpartition("\n")[2]
    if words == name:
        words = f"it ended with {done.returncode}"
    hint = ""
    if words.endswith("cannot open shared object file: No such file or directory"):
        hint = "; what external= leaves outside must be found here, too ($LD_LIBRARY_PATH)"
    elif words.startswith("ModuleNotFoundError"):
        hint = "; install it, since each module is imported before the wheel is written"
    elif name != project.name:
        hint = f"; another {name.rpartition('.')[2]}.py in include= can leave that out"
    raise BuildError(f"package: {name} cannot be imported: {words}{hint}")
