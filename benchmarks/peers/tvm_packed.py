"""TVM: a PrimFunc with an entry by MakePackedAPI, compiled for the target `llvm`."""

from __future__ import annotations

import itertools
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

from peers import base, shared

tvm: Any = import_module("tvm")
tirx: Any = import_module("tvm.tirx")


def sizes(names: str) -> list[Any]:
    return [tirx.Var(name, "int64") for name in names.split()]


def tensor(name: str, shape: list[Any], strides: list[Any] | None = None) -> Any:
    return tirx.decl_buffer(shape, "float32", name=name, strides=strides)


def described(case: str) -> tuple[list[Any], list[Any]]:
    """Return the parameters, and the values that `direct` passes."""
    match case:
        case "scalar":
            x = tirx.Var("x", "int32")
            return [x], [x]
        case "mm":
            n, k, m = sizes("n k m")
            tensors = [tensor("A", [n, k]), tensor("B", [k, m]), tensor("C", [n, m])]
            return tensors, [*(each.data for each in tensors), n, k, m]
        case "t8_strided":
            shape = sizes("a b c d")
            strides = [sizes(" ".join(f"s{i}_{axis}" for axis in range(4))) for i in range(8)]
            tensors = [tensor(f"x{i}", shape, strides[i]) for i in range(8)]
            every = [stride for tensor in strides for stride in tensor]
            return tensors, [*(each.data for each in tensors), *shape, *every]
        case _:
            raise base.Unsupported("a PrimFunc takes no tuple and no Shape")


def function(case: str, how: str, name: str) -> Any:
    params, forwarded = described(case)
    match how:
        case "nop":
            body = tirx.const(0, "int32")
        case "direct":
            body = tirx.call_extern("void", f"kernel_{case}_direct", *forwarded)
        case _:
            raise base.Unsupported("the kernel is the function's own body")
    return tirx.PrimFunc(params, tirx.Evaluate(body)).with_attr("global_symbol", name)


class Peer(base.Peer):
    """Builds packed functions."""

    packages = ("apache-tvm", "apache-tvm-ffi")

    def __init__(self, native: Any) -> None:
        super().__init__(native)
        self._numbers = itertools.count(1000)

    def build(self, case: str, how: str, again: bool) -> dict[str, float]:
        """Return the milliseconds to a callable; attaching and compiling are not separate."""
        name = f"{case}_0000" if again else f"{case}_{next(self._numbers)}"
        clock = base.Clock()
        made = function(case, how, name)
        clock.step("describe")
        compiled = tvm.compile(tvm.IRModule({name: made}), target="llvm")
        compiled[name]
        clock.step("compile")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "code.o"
            compiled.mod.write_to_file(str(path))
            return {**clock.times, "bytes": path.stat().st_size}

    def make(self, case: str, how: str) -> base.Callee:
        """Return TVM's function for Python, and its linked object for C."""
        made = tvm.IRModule({case: function(case, how, case)})
        compiled = tvm.compile(made, target="llvm")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "code.o"
            compiled.mod.write_to_file(str(path))
            address = shared.address_in(path, f"__tvm_ffi_{case}", Path(folder))
        return base.Callee(address, compiled[case], compiled)
