"""A C program that prints the value of C expressions, compiled from the installed headers."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tvm_ffi import libinfo

HEADERS = ("tvm/ffi/c_api.h", "tvm/ffi/extra/c_env_api.h", "dlpack/dlpack.h")


def include_folders() -> tuple[str, ...]:
    """The folders of apache-tvm-ffi's headers and of DLPack's, in its wheel."""
    return tuple(dict.fromkeys([libinfo.find_include_path(), libinfo.find_dlpack_include_path()]))


@cache
def header(name: str) -> str:
    """The text of an installed header."""
    found = [path for folder in include_folders() if (path := Path(folder, name)).is_file()]
    assert found, f"{name} is in none of {include_folders()}"
    return found[0].read_text(encoding="utf-8")


def evaluate(expressions: Mapping[str, str]) -> dict[str, int]:
    """The value of each C expression, by its key; one compilation for all."""
    prints = "\n".join(
        f'  printf("{key} %lld\\n", (long long)({code}));' for key, code in expressions.items()
    )
    includes = "\n".join(f"#include <{name}>" for name in HEADERS)
    program = (
        f"#include <stddef.h>\n#include <stdio.h>\n{includes}\nint main(void) {{\n{prints}\n}}"
    )
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "probe.c"), Path(folder, "probe")
        source.write_text(program, encoding="utf-8")
        flags = [f"-I{path}" for path in include_folders()]
        subprocess.run(["cc", "-std=c11", *flags, str(source), "-o", str(binary)], check=True)
        shown = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout
    return {key: int(value) for key, value in map(str.split, shown.splitlines())}


def enumerators(file: str, one: str) -> list[str]:
    """The names of the enum of a header that has the enumerator ``one``."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", header(file), flags=re.DOTALL)
    names = (re.findall(r"\bk\w+", block) for block in re.findall(r"\{([^{}]*)\}", code))
    return next(block for block in names if one in block)
