"""The MLIR Python distributions that are tried, and which of them are installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from dataclasses import dataclass
from typing import Final

VARIABLE: Final = "FFI_BUILDER_DISTRIBUTION"
"""The environment variable that says which distribution the tests of this process are run with."""
REPORT: Final = "FFI_BUILDER_DISTRIBUTION_REPORT"
"""And the one with the file into which they write what they found out."""


@dataclass(frozen=True)
class Known:
    """``root`` is the package of the bindings, ``package`` what pip installs, if that does."""

    root: str
    package: str | None

    @property
    def installed(self) -> str | None:
        """The installed package, with its version; None if there is none."""
        if self.package is None:
            return "a build of LLVM" if _is_there(f"{self.root}.ir") else None
        if not _is_there(self.root.partition(".")[0]):
            return None
        try:
            return f"{self.package} {importlib.metadata.version(self.package)}"
        except importlib.metadata.PackageNotFoundError:
            return None

    @property
    def needs(self) -> str:
        """Why it is skipped where it is not installed."""
        if self.package is None:
            return f"needs {self.root}.ir, which pip does not install: a build of LLVM on the path"
        return f"needs {self.package}: make test-distributions"


KNOWN: Final = (
    Known("mlir", None),
    Known("torch_mlir", "torch-mlir"),
    Known("jaxlib.mlir", "jaxlib"),
    Known("iree.compiler", "iree-base-compiler"),
    Known("flydsl._mlir", "flydsl"),
    Known("cutlass._mlir", "nvidia-cutlass-dsl"),
)


def root() -> str:
    """The distribution of this process."""
    return os.environ[VARIABLE]


def _is_there(module: str) -> bool:
    """Tell whether a module can be found; its package is imported, but not the module."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False
