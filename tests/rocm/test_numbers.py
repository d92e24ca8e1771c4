"""The numbers of AMD's vendor are those of HIP's header, where it is installed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from ffi_builder.cuda.launch import driver
from ffi_builder.fakecuda.build import CC
from ffi_builder.fakehip.build import header
from tools import numbers_header, rocm_numbers
from tools.rocm_numbers import FUNCTIONS, DeviceAttribute, Result

RESULTS = {"SUCCESS": "hipSuccess", "LAUNCH_FAILED": "hipErrorLaunchFailure"}
CUDAS = ("MISALIGNED_ADDRESS",)
ATTRIBUTES = {"MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": "MaxSharedMemoryPerBlock"}
LAYOUT = {
    "sizeof(HIP_LAUNCH_CONFIG)": driver.CONFIG_SIZE,
    "offsetof(HIP_LAUNCH_CONFIG, blockDimX)": driver.CONFIG_BLOCK,
    "offsetof(HIP_LAUNCH_CONFIG, sharedMemBytes)": driver.CONFIG_SHARED,
    "offsetof(HIP_LAUNCH_CONFIG, hStream)": driver.CONFIG_STREAM,
    "offsetof(HIP_LAUNCH_CONFIG, attrs)": driver.CONFIG_ATTRIBUTES,
    "offsetof(HIP_LAUNCH_CONFIG, numAttrs)": driver.CONFIG_COUNT,
    "sizeof(hipLaunchAttribute)": driver.ATTRIBUTE_SIZE,
    "offsetof(hipLaunchAttribute, val)": driver.ATTRIBUTE_VALUE,
    "sizeof(hipDeviceProp_t)": rocm_numbers.PROPERTIES,
    "offsetof(hipDeviceProp_t, gcnArchName)": rocm_numbers.TARGET_NAME,
    "sizeof(((hipDeviceProp_t *)0)->gcnArchName)": rocm_numbers.TARGET_SIZE,
    "hipLaunchAttributeCooperative": driver.LaunchAttribute.COOPERATIVE,
    "hipStreamCaptureModeRelaxed": numbers_header.CAPTURE_MODE_RELAXED,
    "(long)hipStreamLegacy": 1,
    "(long)hipStreamPerThread": 2,
    "(long)HIP_LAUNCH_PARAM_END": 3,
    **{
        f"HIP_FUNC_ATTRIBUTE_{each.name}": each.value
        for each in numbers_header.FunctionAttribute
        if each in (0, 1, 8)
    },
}


def words(name: str) -> str:
    return "".join(map(str.capitalize, name.lower().split("_")))


def expected() -> Iterable[tuple[str, int]]:
    yield from LAYOUT.items()
    for result in Result:
        if result.name not in CUDAS:
            yield RESULTS.get(result.name, f"hipError{words(result.name)}"), result
    for attribute in DeviceAttribute:
        yield (
            f"hipDeviceAttribute{ATTRIBUTES.get(attribute.name, words(attribute.name))}",
            attribute,
        )


def test_the_header_agrees(tmp_path: Path):
    found = header()
    if found is None:
        pytest.skip("needs hip_runtime_api.h: of ROCm, or of Triton's package")
    checks = "\n".join(
        f'_Static_assert((long)({name}) == {int(value)}L, "{name}");' for name, value in expected()
    )
    # A function is declared where its name can be used.
    uses = "\n".join(f"void *use_{name} = (void *){name};" for name in FUNCTIONS.values())
    source = tmp_path / "numbers.c"
    head = "#define __HIP_PLATFORM_AMD__\n#include <stddef.h>\n#include <hip/hip_runtime_api.h>\n"
    source.write_text(f"{head}{checks}\n{uses}\n".replace("use_hipGetDevicePropertiesR0600", "use"))
    command = [*CC, f"-isystem{found.parent.parent}", "-fsyntax-only", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
