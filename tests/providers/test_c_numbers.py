"""Numbers of every dtype between wrappers and functions of a C compiler, by value, in registers and on the stack."""

from __future__ import annotations

import ctypes
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

from ffi_builder import spec
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Var
from tests.differential.description import Value
from tests.providers.returning import returning
from tests.providers.values import BYTES, CASES
from tests.support.wrapping import wrap_raw

C_TYPES: Final = {
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "bool": "_Bool",
    "float32": "float",
    "float64": "double",
    "handle": "void *",
    "float16": "_Float16",
    "bfloat16": "__bf16",
}
PRELUDE: Final = "#include <stdint.h>\n#include <string.h>\n"
TWICE: Final = [*CASES, *CASES[::-1]]
"""More integers and more floats than there are registers for, so that all kinds are on the stack too."""


def compiled_in(folder: str, source: str) -> Path | None:
    """Compile C to a library; None if the compiler does not know a type."""
    text, library = Path(folder, "numbers.c"), Path(folder, "libnumbers.so")
    text.write_text(PRELUDE + source)
    command = ["cc", "-O2", "-shared", "-fPIC", str(text), "-o", str(library)]
    done = subprocess.run(command, check=False, capture_output=True, timeout=60)
    return library if done.returncode == 0 else None


@cache
def known_types() -> frozenset[str]:
    """The dtypes that the C compiler has a type for: old ones have no 16-bit floats."""
    with TemporaryDirectory() as folder:
        return frozenset(
            dtype
            for dtype, type_ in C_TYPES.items()
            if not dtype.endswith("float16")
            or compiled_in(folder, f"{type_} f({type_} v) {{ return v; }}")
        )


def source_of(cases: list[tuple[str, Value, bytes]]) -> str:
    parameters = ", ".join(f"{C_TYPES[dtype]} a{i}" for i, (dtype, _, _) in enumerate(cases))
    copies = " ".join(
        f"memcpy(ffib_numbers + {8 * i}, &a{i}, sizeof a{i});" for i in range(len(cases))
    )
    same = "\n".join(
        f"{C_TYPES[dtype]} ffib_same_{dtype}({C_TYPES[dtype]} v) {{ return v; }}"
        for dtype in sorted(known_types())
    )
    size = 8 * len(cases)
    return f"uint8_t ffib_numbers[{size}];\nvoid ffib_take_numbers({parameters}) {{ {copies} }}\n{same}"


# Once in a process: whatever is linked later finds the library that was loaded first.
@pytest.fixture(scope="session")
def numbers() -> tuple[ctypes.CDLL, list[tuple[str, Value, bytes]]]:
    """The library, which compiled modules find, and what its function takes."""
    cases = [case for case in TWICE if case[0] in known_types()]
    with TemporaryDirectory() as folder:
        path = compiled_in(folder, source_of(cases))
        assert path is not None
        return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL), cases


def test_arguments_of_every_dtype(numbers: Any) -> None:
    library, cases = numbers
    params: list[spec.Param] = [Var(f"a{i}", dtype) for i, (dtype, _, _) in enumerate(cases)]
    call = wrap_raw(params, DirectCallProvider("ffib_take_numbers"))
    assert call(*[given for _, given, _ in cases]) is None
    seen = bytes((ctypes.c_uint8 * (8 * len(cases))).in_dll(library, "ffib_numbers"))
    for i, (dtype, _, expected) in enumerate(cases):
        assert (i, dtype, seen[8 * i :][: BYTES[dtype]]) == (i, dtype, expected)


RESULTS: Final[dict[str, list[object]]] = {
    "int8": [-128, 127],
    "uint8": [255, 0],
    "int16": [-32768, 1],
    "uint16": [65535],
    "int32": [-(2**31)],
    "uint32": [2**32 - 1],
    "int64": [-(2**63)],
    "uint64": [2**64 - 1],
    "bool": [True, False],
    "float16": [-1.5, 65504.0],
    "bfloat16": [2.0**-130, -2.0],
    "float32": [0.5],
    "float64": [0.1],
}


@pytest.mark.usefixtures("numbers")
@pytest.mark.parametrize("dtype", RESULTS)
def test_a_result_of_every_dtype(dtype: str) -> None:
    if dtype not in known_types():
        pytest.skip(f"this C compiler has no {C_TYPES[dtype]}")
    function = returning(
        Var("r", dtype), DirectCallProvider(f"ffib_same_{dtype}"), params=[Var("v", dtype)]
    )
    for value in RESULTS[dtype]:
        got = function(value)
        assert (got, type(got)) == (value, type(value))
