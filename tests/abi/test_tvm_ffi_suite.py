"""tvm-ffi's own tests, with its test functions ``testing.*`` made by this package.

``TVM_FFI_SOURCES`` is the folder of its source distribution, of the version that is installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
OTHER: Final = {
    "test_object.py::test_opaque_type_error",  # the words of the error
    "test_object.py::test_get_registered_type_keys",  # those of apache-tvm-ffi-orcjit, too
    "test_function.py::test_typed_device_arg_accepts_string",  # "cuda:1" is no Device here
}
"""The tests that fail, and why."""


@pytest.mark.slow
def test_the_suite_passes_with_our_functions() -> None:
    sources = os.environ.get("TVM_FFI_SOURCES")
    if not sources:
        pytest.skip("TVM_FFI_SOURCES is not set")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tests.abi.own_functions", "python"]
    more = {"PYTHONPATH": f"{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command,
        cwd=Path(sources, "tests"),
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = set(re.findall(r"^FAILED python/(\S+)", done.stdout, re.MULTILINE))
    assert re.search(r"\d+ passed", done.stdout), done.stdout[-2000:] + done.stderr[-2000:]
    assert failed == OTHER
