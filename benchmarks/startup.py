"""Measures the CPU time of a process that makes its first wrapper, from the start of Python.

    python benchmarks/startup.py [--rounds N]

Each row is a process, whose steps are the columns: user and system time of all of its threads, the
median of the rounds, with its quartiles. All rows begin with the same imports, so that what
follows can be compared. A row's first process writes Python's bytecode, and is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from typing import TypeAlias

Steps: TypeAlias = "tuple[tuple[str, str], ...]"

COMMON: Steps = (
    ("NumPy, tvm_ffi, torch_mlir.ir", "import numpy, tvm_ffi\nfrom torch_mlir import ir"),
    ("MLIR's LLVM dialect", "import torch_mlir.dialects.llvm"),
    ("llvmlite, orcjit", "import llvmlite.binding as llvm, tvm_ffi_orcjit"),
)
CALL = "array = numpy.zeros(4, 'float32')\nf(array, array)"
OURS: Steps = (
    *COMMON,
    ("import", "from ffi_builder import attach_ffi_func, providers, runtime, spec"),
    (
        "make",
        """
module = ir.Module.parse("", ir.Context())
n = spec.Var("n", "int64")
params = [spec.Tensor(name, [n], "float32", device_type="cpu") for name in "xy"]
attach_ffi_func(module, "f", params, providers.NopCallProvider())
""",
    ),
    ("compile, call", f"f = runtime.compile(module)['f']\n{CALL}"),
)
BARE: Steps = (
    *COMMON,
    ("import", ""),
    ("make", 'ir.Module.parse("", ir.Context())'),
    (
        "compile, call",
        f'''
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine(opt=2, reloc="pic")
parsed = llvm.parse_assembly("""
define i32 @__tvm_ffi_f(ptr %handle, ptr %args, i32 %count, ptr %result) {{
  store i64 0, ptr %result
  %payload = getelementptr i8, ptr %result, i64 8
  store i64 0, ptr %payload
  ret i32 0
}}
""")
parsed.verify()
session = tvm_ffi_orcjit.default_session()
library = session.load_module([machine.emit_object(parsed)], cxx="/dev/null")
f = library.get_function("f")
{CALL}
''',
    ),
)
HIT: Steps = (
    COMMON[0],
    ("import", "from ffi_builder import runtime"),
    (
        "first hit, call",
        f"""
def build():
    from ffi_builder import attach_ffi_func, providers, spec
    module = ir.Module.parse("", ir.Context())
    n = spec.Var("n", "int64")
    params = [spec.Tensor(name, [n], "float32", device_type="cpu") for name in "xy"]
    attach_ffi_func(module, "f", params, providers.NopCallProvider())
    return module
f = runtime.compile_cached("f", build)["f"]
{CALL}
""",
    ),
    ("next hit", "runtime.compile_cached('f', build)['f']"),
)
SPEC: Steps = (
    (
        "of the standard library",
        "import contextvars, dataclasses, difflib, json, re, typing_extensions",
    ),
    ("import ffi_builder.spec", "import ffi_builder.spec"),
)
LAPACKE = Path("/usr/include/lapacke.h")
HEADER, FIRST, SECOND = (
    ("lapacke.h", "LAPACKE_dlamch_work(c: int8)", "LAPACKE_dlamch(c: int8)")
    if LAPACKE.exists()
    else ("math.h", "exp(x: float64)", "log(x: float64)")
)
"""A header of 4,068 functions, or one of C."""
WRAP = f"wrap(exp, '{{}} -> r: float64', prototype='#include <{HEADER}>')"
PROTOTYPE: Steps = (
    (
        "import, wrap without a prototype",
        """
import ctypes
from ffi_builder import providers, wrap
exp = ctypes.CDLL("libm.so.6").exp
wrap(exp, "exp(x: float64) -> r: float64", provider=providers.DirectCallProvider)
""",
    ),
    ("the first function", WRAP.format(FIRST)),
    ("the second", WRAP.format(SECOND)),
)
FUNCTIONS = """
line = "define i32 @f{{}}(i32 %a) {{{{\\n  ret i32 %a\\n}}}}\\n"
functions = LlvmFunctions("".join(line.format(at) for at in range({count})))
"""
LLVM_IR: Steps = (
    (
        "llvmlite",
        "from ffi_builder import CompileError\n"
        "from ffi_builder.wrapping.llvm_ir import LlvmFunctions\n"
        "LlvmFunctions('define void @f() {\\n  ret void\\n}').prototype('f')",
    ),
    *(
        step
        for count in (10, 1_000, 100_000)
        for step in (
            (
                f"types of one of {count:,}",
                FUNCTIONS.format(count=count) + "functions.prototype('f5')",
            ),
            (
                f"one that they lack, of {count:,}",
                FUNCTIONS.format(count=count)
                + "try:\n    functions.prototype('g')\nexcept CompileError:\n    pass",
            ),
        )
    ),
)
TVM_FFI: Steps = (("NumPy", "import numpy"), ("import tvm_ffi", "import tvm_ffi"))
HIDDEN = "import sys; sys.modules['torch'] = None; import tvm_ffi; del sys.modules['torch']"

CACHE = "FFI_BUILDER_CACHE_DIR"
TABLES: dict[str, dict[str, tuple[Steps, dict[str, str]]]] = {
    "The first wrapper of a process": {
        "ffi_builder": (OURS, {}),
        "llvmlite and orcjit alone": (BARE, {}),
    },
    "A hit of `compile_cached`": {"ffi_builder": (HIT, {CACHE: "{folder}"})},
    f"Prototypes in {HEADER}": {"wrap": (PROTOTYPE, {})},
    "Functions in LLVM IR": {"wrap": (LLVM_IR, {})},
    "Specifications alone": {"ffi_builder.spec": (SPEC, {})},
    f"`import tvm_ffi`, PyTorch is {'' if find_spec('torch') else 'not '}installed": {
        "as it is": (TVM_FFI, {}),
        "with PyTorch hidden": ((TVM_FFI[0], (TVM_FFI[1][0], HIDDEN)), {}),
    },
}


def script(steps: Steps) -> str:
    """Return a program that prints the milliseconds of each step, after those of Python itself."""
    lines = ["import time", "times = [time.process_time()]"]
    for _, code in steps:
        lines += [code, "times.append(time.process_time())"]
    lines += ["import json", "print(json.dumps(times))"]
    return "\n".join(lines)


def run(steps: Steps, variables: dict[str, str], folder: Path) -> list[float]:
    """Run the steps in a fresh process; return the milliseconds of Python's start and of each."""
    given = {name: value for name, value in os.environ.items() if name != CACHE}
    given.pop("PYTHONDONTWRITEBYTECODE", None)
    given |= {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    given |= {name: value.format(folder=folder / "cache") for name, value in variables.items()}
    done = subprocess.run(
        [sys.executable, "-c", script(steps)], capture_output=True, text=True, check=True, env=given
    )
    times: list[float] = json.loads(done.stdout)
    steps_of = zip([0.0, *times], times, strict=False)
    return [1e3 * (after - before) for before, after in steps_of]


def shown(values: list[float]) -> str:
    """Return the median with the quartiles."""
    low, _, high = quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return f"{median(values):.1f} ({low:.1f}–{high:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description="What a process pays for its first wrapper.")
    parser.add_argument("--rounds", type=int, default=25, help="processes for each row")
    rounds = parser.parse_args().rounds
    print(f"Python {platform.python_version()} on {platform.machine()}. CPU milliseconds.")
    rows = [(title, name) for title, table in TABLES.items() for name in table]
    samples: dict[tuple[str, str], list[list[float]]] = {row: [] for row in rows}
    with tempfile.TemporaryDirectory() as directory:
        for index in range(rounds + 1):
            for title, name in rows:
                found = run(*TABLES[title][name], Path(directory))
                if index:
                    samples[title, name].append(found)
    for title, table in TABLES.items():
        steps = next(iter(table.values()))[0]
        print(f"\n## {title}\n")
        heads = ["", "Python", *(name for name, _ in steps), "all"]
        print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
        for name in table:
            columns = [*zip(*samples[title, name], strict=True)]
            cells = [shown([*column]) for column in columns]
            cells.append(shown([sum(row) for row in samples[title, name]]))
            print(f"| {' | '.join([name, *cells])} |")


if __name__ == "__main__":
    main()
