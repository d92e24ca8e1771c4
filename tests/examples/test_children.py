"""The kernels of the examples are compiled in this process: they are what lowering passes make."""

from __future__ import annotations

import pytest

from tests.runtime.samples import run_child

RUN = """
import runpy, sys
from ffi_builder.runtime.isolate import worker

def refuse(kind, failure, message):
    raise AssertionError("a child process was asked: " + failure)

worker._request = refuse
sys.argv = [{path!r}]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


# torch_fx is not among them: nothing tells whether the resources of its constants are there, and
# translating one that is not ends the process.
@pytest.mark.parametrize("name", ["quickstart", "inspect_ir", "custom_provider", "numba_kernel"])
def test_no_child_process_is_asked(name: str) -> None:
    if name == "numba_kernel":
        pytest.importorskip("numba", reason="needs numba: `make test-frameworks` installs it")
    done = run_child(RUN.format(path=f"examples/{name}.py"))
    assert done.returncode == 0, done.stderr[-2000:]
