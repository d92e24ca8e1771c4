"""The cost of importing, each time in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from suite.environments import HERE, variables
from suite.samples import Samples

LAZY = """
import time, tvm_ffi
start = time.perf_counter()
import ffi_builder
print(1e3 * (time.perf_counter() - start))
"""
MLIR = "import tvm_ffi, torch_mlir.ir, torch_mlir.dialects.llvm"
FIND = f"""
{MLIR}
import json, sys, time
before = set(sys.modules)
from torch_mlir import ir
from ffi_builder import attach_ffi_func, providers, runtime, spec
module = ir.Module.parse("", ir.Context())
attach_ffi_func(module, "f", [spec.Var("x", "int32")], providers.NopCallProvider())
runtime.compile(module)["f"](1)
print(json.dumps([name for name in sys.modules if name not in before]))
"""
TIMED = f"""
{MLIR}
import json, sys, time
from importlib import import_module
names = json.loads(sys.argv[1])
start = time.perf_counter()
for name in names:
    try:
        import_module(name)
    except ImportError:
        pass  # a name that is no module's own
print(1e3 * (time.perf_counter() - start))
"""


def run(cache: Path, code: str, *arguments: str) -> str:
    """Run code and return its output; `cache` has bytecode, as for an installed package."""
    command = [sys.executable, "-c", code, *arguments]
    given = variables(Path(sys.executable), own=True, torch=None)
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    given["PYTHONPYCACHEPREFIX"] = str(cache)
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE, env=given)
    return done.stdout


def importing(samples: Samples, cache: Path, rounds: int) -> None:
    """Measure `import ffi_builder` after `import tvm_ffi`, and what a compile imports but MLIR."""
    names = json.dumps(own(json.loads(run(cache, FIND))))
    run(cache, LAZY)
    for _ in range(rounds):
        samples.add(("import ffi_builder",), "ours", float(run(cache, LAZY)))
        samples.add(("import for a compile",), "ours", float(run(cache, TIMED, names)))


def own(names: list[str]) -> list[str]:
    """Leave out MLIR's own modules, which the first operation imports."""
    return [name for name in names if name.partition(".")[0] != "torch_mlir"]


def machine() -> str:
    """Return the CPU model according to Linux, and the number of CPUs."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(models)} x {models[0]}" if models else "an unknown CPU"
