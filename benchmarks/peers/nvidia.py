"""NVIDIA's builder in CuTe DSL, called by its public names.

Its module is compiled in two ways, and both are measured: as LLVM IR text through llvmlite and
orcjit, like ffi_builder's, and by the ExecutionEngine of its own MLIR.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import tvm_ffi_orcjit
from peers import base

builder: Any = import_module("cutlass.base_dsl.tvm_ffi_builder")
llvm: Any = import_module("llvmlite.binding")
ir: Any = import_module("cutlass._mlir.ir")
llvm_dialect: Any = import_module("cutlass._mlir.dialects.llvm")
engine: Any = import_module("cutlass._mlir.execution_engine")
spec: Any = builder.spec

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
llvm.initialize_native_asmparser()

GETTER = """
define i32 @__tvm_ffi_address(ptr %0, ptr %1, i32 %2, ptr %3) {{
  store i64 1, ptr %3
  %5 = getelementptr i8, ptr %3, i64 8
  store ptr @__tvm_ffi_{name}, ptr %5
  ret i32 0
}}
"""


def sizes(names: str) -> list[Any]:
    return [spec.Var(name, "int64") for name in names.split()]


def matmul() -> list[Any]:
    n, k, m = sizes("n k m")
    shapes = [[n, k], [k, m], [n, m]]
    return [spec.Tensor(name, shape, "float32") for name, shape in zip("ABC", shapes, strict=True)]


def eight() -> list[Any]:
    shape = sizes("a b c d")
    strides = [sizes(" ".join(f"s{i}_{axis}" for axis in range(4))) for i in range(8)]
    return [spec.Tensor(f"x{i}", shape, "float32", strides=strides[i]) for i in range(8)]


def nested() -> list[Any]:
    (n,) = sizes("n")
    a, b = (spec.Tensor(name, [n], "float32") for name in "AB")
    inner = spec.TupleParam("q", [spec.Var("x", "int32"), b])
    return [spec.TupleParam("p", [a, inner])]


def pointers() -> list[Any]:
    n, m = sizes("n m")
    return [spec.Shape("shape", [n, m, 4]), spec.DataPointer("data"), spec.Stream("stream")]


MAKERS: dict[str, Callable[[], list[Any]]] = {
    "scalar": lambda: [spec.Var("x", "int32")],
    "mm": matmul,
    "t8_strided": eight,
    "nested": nested,
    "ptrs": pointers,
}


def provider(case: str, how: str) -> Any:
    match how:
        case "nop":
            return builder.NopCallProvider()
        case "pointers":
            return builder.DynamicParamPackCallProvider("kernel_pointers")
        case "structs":
            callee = f"kernel_{case}_structs"
            return builder.DynamicParamPackCallProvider(callee, struct_call=True)
        case _:
            raise base.Unsupported("NVIDIA's builder passes structs, or pointers to them")


class Peer(base.Peer):
    """Builds wrappers, compiled in both ways."""

    packages = ("nvidia-cutlass-dsl", "llvmlite", "apache-tvm-ffi-orcjit", "apache-tvm-ffi")

    def __init__(self, native: Any) -> None:
        super().__init__(native)
        self._numbers = itertools.count(1000)
        target = llvm.Target.from_triple(llvm.get_process_triple())
        self._machine: Any = target.create_target_machine(
            cpu=llvm.get_host_cpu_name(),
            features=llvm.get_host_cpu_features().flatten(),
            opt=2,
            reloc="pic",
        )
        self._session = tvm_ffi_orcjit.ExecutionSession(orc_rt=None)

    def build(self, case: str, how: str, again: bool) -> dict[str, float]:
        """Return the milliseconds to a callable; `compile` is the quicker of both ways."""
        name = f"{case}_0000" if again else f"{case}_{next(self._numbers)}"
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse(base.declaration(case, how))
            before = base.operations(module.operation)
            clock = base.Clock()
            with spec.DefaultConfig(device_type="cpu"):
                params = MAKERS[case]()
            clock.step("describe")
            builder.attach_ffi_func(module, name, params, provider(case, how))
            clock.step("attach")
            ops = base.operations(module.operation) - before
            clock.skip()
            code = self._object(llvm_dialect.translate_module_to_llvmir(module.operation))
            loaded = self._session.load_module(code)
            function = loaded.get_function(name)
            clock.step("llvmlite")
            del function, loaded
            clock.skip()
            compiled = engine.ExecutionEngine(module, opt_level=2)
            compiled.raw_lookup(f"__tvm_ffi_{name}")
            clock.step("engine")
            entry = ir.SymbolTable(module.operation)[f"__tvm_ffi_{name}"]
            entry_ops = base.operations(entry.operation)
        times = clock.times
        times["compile"] = min(times["llvmlite"], times["engine"])
        return {**times, "ops": ops, "entry_ops": entry_ops, "bytes": len(code)}

    def build_many(self, count: int) -> dict[str, float]:
        """Do the same for many matmul wrappers in one module, through llvmlite."""
        names = [f"mm_{next(self._numbers)}" for _ in range(count)]
        with ir.Context(), ir.Location.unknown(), spec.DefaultConfig(device_type="cpu"):
            module = ir.Module.parse(base.declaration("mm", "pointers"))
            clock = base.Clock()
            for name in names:
                builder.attach_ffi_func(module, name, MAKERS["mm"](), provider("mm", "pointers"))
            clock.step("attach")
            code = self._object(llvm_dialect.translate_module_to_llvmir(module.operation))
            loaded = self._session.load_module(code)
            _ = [loaded.get_function(name) for name in names]
            clock.step("compile")
        return {**clock.times, "bytes": len(code)}

    def make(self, case: str, how: str) -> base.Callee:
        """Compile through llvmlite, with an added function that returns the address."""
        with ir.Context(), ir.Location.unknown(), spec.DefaultConfig(device_type="cpu"):
            module = ir.Module.parse(base.declaration(case, how))
            builder.attach_ffi_func(module, case, MAKERS[case](), provider(case, how))
            text = llvm_dialect.translate_module_to_llvmir(module.operation)
        loaded = self._session.load_module(self._object(text + GETTER.format(name=case)))
        address = loaded.get_function("address")()
        return base.Callee(address, base.from_address(address, loaded), loaded)

    def export(self, path: str, functions: dict[str, tuple[str, str]]) -> None:
        """Write an object for any CPU: functions by name, each for a case and a way."""
        machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
            cpu="x86-64", opt=2, reloc="pic"
        )
        texts = dict.fromkeys(base.declaration(*each) for each in functions.values())
        with ir.Context(), ir.Location.unknown(), spec.DefaultConfig(device_type="cpu"):
            module = ir.Module.parse("\n".join(texts))
            for name, (case, how) in functions.items():
                builder.attach_ffi_func(module, name, MAKERS[case](), provider(case, how))
            text = llvm_dialect.translate_module_to_llvmir(module.operation)
        Path(path).write_bytes(self._object(text, machine))

    def _object(self, text: str, machine: Any = None) -> bytes:
        machine = machine or self._machine
        parsed = llvm.parse_assembly(text)
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        llvm.create_pass_builder(machine, options).getModulePassManager().run(
            parsed, llvm.create_pass_builder(machine, options)
        )
        return machine.emit_object(parsed)
