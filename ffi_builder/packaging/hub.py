"""Writes a folder in the layout of Hugging Face's Kernel Hub, instead of a wheel.

The layout is that of https://huggingface.co/docs/kernels/kernel-requirements: a repository has a
folder for each build, here ``build/tvm-ffi01-cpu-x86_64-linux``, with a Python package and
``metadata.json``. The package ``kernels`` loads it by its path, so that a process may have several
versions of one kernel.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Final

import tvm_ffi

from ffi_builder import BuildError
from ffi_builder.packaging.project import OWN, Project

_NAME: Final = r"[a-z][-a-z0-9]*[a-z0-9]"
_BACKEND: Final = r"cpu|(cu|rocm)\d{2,4}"
_TYPES: Final = {"cpu": "cpu", "cu": "cuda", "rocm": "rocm"}


def files(
    project: Project, content: Mapping[str, bytes], *, backend: str, machine: str, needs_own: bool
) -> dict[str, bytes]:
    """Return the files of a build, by their paths in the repository.

    Args:
        project: what the metadata say.
        content: the files of the package, by their paths in a wheel.
        backend: as the Hub writes it: ``cpu``, ``cu128``, ``rocm63``.
        machine: of the library, such as ``x86_64``.
        needs_own: whether the package imports ``ffi_builder``.

    Raises:
        BuildError: the Hub does not take the name or the backend, or what the package needs.
    """
    name = project.name.replace("_", "-")
    if re.fullmatch(_NAME, name) is None:
        raise BuildError(
            f"package: project: name: expected letters, digits and dashes, two at least, as the "
            f"Hub's kernels have, but got {name!r}"
        )
    if re.fullmatch(_BACKEND, backend) is None:
        raise BuildError(
            f"package: backend: expected cpu, or a version of CUDA or ROCm such as cu128 or "
            f"rocm63, but got {backend!r}"
        )
    if not project.license:
        raise BuildError(
            'package: project: license: the Hub needs one, such as license = "Apache-2.0" in the '
            "table [project]"
        )
    if needs_own:
        raise BuildError(
            f"package: layout: the Hub's kernels can need apache-tvm-ffi, but not {OWN}, which "
            f"operators of torch and jax, functions that make tensors and some defaults need: "
            f"leave frameworks= out, and pass the results' tensors as parameters"
        )
    digest = hashlib.sha256()
    for path, data in sorted(content.items()):
        digest.update(f"{path}\0{len(data)}\0".encode() + data)
    about = {
        "id": f"_{project.name}_{digest.hexdigest()[:16]}",
        "name": name,
        "version": int(re.split(r"\D", project.version.rpartition("!")[2], maxsplit=1)[0]),
        "license": project.license,
        "python-depends": ["tvm-ffi"],
        "backend": {"type": _TYPES[backend.rstrip("0123456789")]},
    }
    major, minor = tvm_ffi.__version__.split(".")[:2]
    build = f"build/tvm-ffi{major}{minor}-{backend}-{machine}-linux"
    placed = {f"{build}/{path}": data for path, data in content.items()}
    return placed | {f"{build}/metadata.json": f"{json.dumps(about, indent=2)}\n".encode()}
