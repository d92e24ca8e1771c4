"""Writes the corpus: ``python -m tests.ordinary.make``.

It needs ``make test-frameworks``, ``pip install ziglang xdsl``: Zig's clang compiles C.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from ffi_builder.runtime.codegen import allowlist_mlir, mlir
from ffi_builder.spec import Signature
from tests.ordinary.corpus import PATH
from tests.ordinary.kernels import C_FLAGS, LOWERING, NUMBA, TRITON, XDSL, C


def of_numba() -> Iterator[tuple[str, str]]:
    numba: Any = import_module("numba")
    for name, (function, types) in NUMBA.items():
        given = numba.core.sigutils._parse_signature_string(f"void({types})").args
        compiled = numba.njit(function)
        compiled.compile(given)
        yield f"numba {name}", compiled.inspect_llvm(compiled.signatures[0])


_ADDED_BY_ZIG = re.compile(
    r'(?<=[",])(?:-[^,"]*|\+(?:64bit|allow|false|fast|idivq|macrofusion|nopl|slow|vzeroupper)[^,"]*),?'
)
"""Features that no other clang adds."""


def of_c() -> Iterator[tuple[str, str]]:
    for flags, names in C_FLAGS.items():
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                source, out = Path(folder, "f.c"), Path(folder, "f.ll")
                source.write_text(C[name])
                command = f"-m ziglang cc -w -S -emit-llvm {flags} -g0 -fno-sanitize=all -o {out} {source}"
                cpu = [] if "-march" in flags else ["-mcpu=baseline"]
                subprocess.run([sys.executable, *command.split(), *cpu], check=True)
                text = re.sub(
                    r'"target-features"="[^"]*',
                    lambda own: _ADDED_BY_ZIG.sub("", own[0]),
                    out.read_text(),
                )
                yield f"C {name} {flags}", text.replace(folder, ".")


def lowered(text: str) -> str:
    """What MLIR's passes make of a kernel."""
    module = mlir.parse(text)
    mlir.lowered(module, LOWERING, ())
    return mlir.generic_text(module)


def of_triton() -> Iterator[tuple[str, str]]:
    for name, text in TRITON.items():
        yield f"Triton {name}", lowered(text)


def of_xdsl() -> Iterator[tuple[str, str]]:
    from xdsl.context import Context
    from xdsl.parser import Parser
    from xdsl.printer import Printer
    from xdsl.universe import Universe

    for name, text in XDSL.items():
        context = Context()
        for dialect, make in Universe.get_multiverse().all_dialects.items():
            context.register_dialect(dialect, make)
        with tempfile.TemporaryFile("w+") as file:
            Printer(file, print_generic_format=True).print_op(Parser(context, text).parse_module())
            file.seek(0)
            yield f"xDSL {name}", lowered(file.read())


def of_torch() -> Iterator[tuple[str, str]]:
    from tests.frontends import torch_models

    seen: list[str] = []
    original = allowlist_mlir.translation_hazard

    def kept(module: Any) -> str | None:
        seen.append(module.get_asm(print_generic_op_form=True))
        return original(module)

    allowlist_mlir.translation_hazard = kept
    for name, model in torch_models.MODELS.items():
        program = torch_models.exported(model.eval(), 2)
        signature = torch_models.signatures.signature_of("f", program, ["b", "t"])
        [_, out] = signature.params
        returning = Signature("f", signature.params[:1], out, where=signature.where)
        seen.clear()
        try:
            torch_models.importer.compile_program(program, returning, opt_level=0)
        except Exception as error:  # whatever PyTorch, torch-mlir or MLIR raises
            print(f"without {name}: {error}", file=sys.stderr)
        else:
            yield f"torch-mlir {name}", max(seen, key=len)
    allowlist_mlir.translation_hazard = original


def main() -> None:
    found = dict(each for make in (of_numba, of_c, of_triton, of_xdsl, of_torch) for each in make())
    PATH.write_bytes(lzma.compress(json.dumps(found, indent=0).encode(), preset=9))
    print(len(found), "modules,", PATH.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
