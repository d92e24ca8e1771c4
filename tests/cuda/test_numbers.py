"""The numbers of the provider, and of the tests, are those of the real cuda.h."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from enum import IntEnum
from functools import cache
from pathlib import Path

import pytest

from ffi_builder.cuda.launch import driver, map_rules
from ffi_builder.fakecuda import constants
from ffi_builder.fakecuda.build import headers
from tests.fakecuda import missing, numbers
from tests.fakecuda.building import compile_c
from tools import numbers_header

pytestmark = pytest.mark.skipif(missing() is not None, reason=str(missing()))

PREFIXES = {
    "DeviceAttribute": "CU_DEVICE_ATTRIBUTE_",
    "FunctionAttribute": "CU_FUNC_ATTRIBUTE_",
    "LaunchAttribute": "CU_LAUNCH_ATTRIBUTE_",
    "CaptureMode": "CU_STREAM_CAPTURE_MODE_",
    "CaptureStatus": "CU_STREAM_CAPTURE_STATUS_",
    "JitOption": "CU_JIT_",
    "Result": "CUDA_ERROR_",
}
LAYOUT = {
    "sizeof(CUlaunchConfig)": driver.CONFIG_SIZE,
    "offsetof(CUlaunchConfig, gridDimX)": driver.CONFIG_GRID,
    "offsetof(CUlaunchConfig, blockDimX)": driver.CONFIG_BLOCK,
    "offsetof(CUlaunchConfig, sharedMemBytes)": driver.CONFIG_SHARED,
    "offsetof(CUlaunchConfig, hStream)": driver.CONFIG_STREAM,
    "offsetof(CUlaunchConfig, attrs)": driver.CONFIG_ATTRIBUTES,
    "offsetof(CUlaunchConfig, numAttrs)": driver.CONFIG_COUNT,
    "sizeof(CUlaunchAttribute)": driver.ATTRIBUTE_SIZE,
    "offsetof(CUlaunchAttribute, value)": driver.ATTRIBUTE_VALUE,
    "offsetof(CUlaunchAttribute, value.clusterDim.z) - offsetof(CUlaunchAttribute, value)": 8,
    "sizeof(CUtensorMap)": driver.TENSOR_MAP_SIZE,
    "_Alignof(CUtensorMap)": driver.TENSOR_MAP_ALIGN,
    "(long)CU_STREAM_LEGACY": numbers.LEGACY,
    "(long)CU_STREAM_PER_THREAD": numbers.PER_THREAD,
    "CU_STREAM_NON_BLOCKING": constants.NON_BLOCKING,
    "CU_STREAM_CAPTURE_MODE_RELAXED": numbers_header.CAPTURE_MODE_RELAXED,
}

MAPS = {
    "DATA_TYPE_": map_rules.TYPES,
    "SWIZZLE_": map_rules.SWIZZLES,
    "INTERLEAVE_": map_rules.INTERLEAVES,
    "L2_PROMOTION_": ["none", *(f"L2_{name}" for name in map_rules.PROMOTIONS[1:])],
    "FLOAT_OOB_FILL_": [{"nan": "nan_request_zero_fma"}.get(n, n) for n in map_rules.FILLS],
    "IM2COL_WIDE_MODE_": map_rules.WIDE,
}


def enumerations() -> Iterable[tuple[str, int]]:
    """Each member of each enumeration, by its name in the header."""
    for prefix, names in MAPS.items():
        for number, name in enumerate(names):
            yield f"CU_TENSOR_MAP_{prefix}{name.upper()}", number
    for module in (driver, constants, numbers, numbers_header):
        for family in vars(module).values():
            if isinstance(family, type) and issubclass(family, IntEnum) and family is not IntEnum:
                for member in family:
                    name = f"{PREFIXES[family.__name__]}{member.name}"
                    yield name.replace("ERROR_SUCCESS", "SUCCESS"), int(member)


@cache
def header() -> str:
    folder = headers()
    assert folder is not None
    return (folder / "cuda.h").read_text()


def test_numbers_and_layouts(tmp_path: Path):
    expected = {**LAYOUT, **dict(enumerations())}
    prints = "".join(f'  printf("%ld\\n", (long)({text}));\n' for text in expected)
    includes = "#include <cuda.h>\n#include <stddef.h>\n#include <stdio.h>\n"
    (tmp_path / "a.c").write_text(f"{includes}int main(void) {{\n{prints}}}\n")
    compile_c(tmp_path / "a.c", "-o", tmp_path / "a")
    printed = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True).stdout
    found = dict(zip(expected, map(int, printed.split()), strict=True))
    assert found == expected


def test_functions_are_exported_by_these_names(tmp_path: Path):
    """The header's macros say which version of a function a name means."""
    plain = [name.removesuffix("_v2") for name in driver.FUNCTIONS]
    assert [name for name in plain if not re.search(rf"CUDAAPI {name}\(", header())] == []
    prints = "".join(f"  puts(S({name}));\n" for name in plain)
    head = "#include <cuda.h>\n#include <stdio.h>\n#define T(x) #x\n#define S(x) T(x)\n"
    (tmp_path / "a.c").write_text(f"{head}int main(void) {{\n{prints}}}\n")
    compile_c(tmp_path / "a.c", "-o", tmp_path / "a")
    printed = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True).stdout
    assert printed.split() == list(driver.FUNCTIONS)


def test_names_fit_their_table():
    assert max(map(len, driver.FUNCTIONS)) < numbers_header.NAME_STRIDE
    assert driver.FUNCTIONS[0] == "cuLaunchKernelEx"
