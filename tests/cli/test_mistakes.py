"""The command line answers in its own words, whatever part of the library refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ffi_builder.cli.main import main

KERNEL = """
func.func @add_one(%x: memref<?xf32>, %y: memref<?xf32>) { return }
func.func @ret(%x: memref<?xf32>) -> f32 {
  %c = arith.constant 0.0 : f32
  return %c : f32
}
func.func @code(%x: memref<?xf32>) -> i32 {
  %c = arith.constant 0 : i32
  return %c : i32
}
llvm.func @direct(%x: !llvm.ptr, %n: i64) { llvm.return }
llvm.func @pack(%x: !llvm.ptr) { llvm.return }
llvm.func @counted(%x: !llvm.ptr, %count: i32) { llvm.return }
llvm.func @cute(%x: !llvm.struct<(ptr, struct<(i64, struct<()>)>)>) { llvm.return }
"""
X = "x: Tensor([n], float32)"
CPU = ("--device", "cpu")
DIRECT = ("--convention", "direct")
PYTHON = re.compile(
    r"\w=[\['\"(]|\w=(?:True|False|None)|spec\.|providers\.|Provider|CheckStatus|with Def|RTLD|\w=[,;. ]"
)
"""A pattern of Python's syntax."""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "k.mlir"
    path.write_text(KERNEL)
    return path


@pytest.mark.parametrize(
    ("signature", "options", "words"),
    [
        (f"add_one({X})", (), "Say device_type=cpu (or cuda, …) in its brackets, or --device cpu"),
        (f"add_one({X})", ("--device", "gpu"), "error: --device: expected one of cpu, cuda"),
        ("add_one(x: Tensor([n], fp32))", CPU, "--signature: dtype: .* did you mean 'float32'?"),
        (f"ad_one({X})", CPU, "has no @ad_one, did you mean 'add_one'?; it has add_one, ret, "),
        (f"add_one({X})", CPU, "--convention memref: the callee @add_one takes 10 arguments, but"),
        (
            f"add_one({X}, y: Tensor([n], float32))",
            (*CPU, *DIRECT),
            "--convention memref passes wh",
        ),
        (f"direct({X})", CPU, "The types fit with --args 'x, n'"),
        (f"direct({X})", (*CPU, *DIRECT), "The types fit with --args 'x, n'"),
        (
            f"pack({X}, n: int64)",
            (*CPU, *DIRECT),
            "--convention pack calls it if that is an array of",
        ),
        (
            f"counted({X})",
            (*CPU, *DIRECT),
            "Choose and order them with --args, or change the signature or the callee\n",
        ),
        (f"cute({X})", (*CPU, *DIRECT), "No --convention calls such a function"),
        ("add_one(x: Tensor(..., float32))", CPU, "pass its DLTensor* with --args 'x.dltensor'"),
        (f"ret({X})", CPU, "returns f32, which the signature lacks: add a result, as in `-> r"),
        (f"add_one({X})", (*CPU, "--pipeline", "none"), "before attaching (by --pipeline)"),
        (f"direct({X})", (*CPU, *DIRECT, "--args", "x, m"), "--args has 'm', which names no"),
        (
            f"direct({X})",
            (*CPU, *DIRECT, "--args", "x, q + 1"),
            "--args has 'q + 1': there is no symbol 'q', but n\n    q + 1\n    ^",
        ),
        (f"direct({X})", (*CPU, *DIRECT, "--args", "x,"), "--args 'x,': an entry is empty\n"),
        (
            f"direct({X})",
            (*CPU, "--convention", "nop", "--args", "x"),
            "error: --args goes with a --convention that calls something\n",
        ),
        (
            "f(x: Tensro([n], float32))",
            CPU,
            "error: --signature: expected a type .* did you mean 'Tensor'? .* ^^^^^^\n",
        ),
        (f"direct({X})", (*CPU, *DIRECT, "--args", "x.present"), "but x is not an Optional"),
        (f"direct({X})", (*CPU, *DIRECT, "--callee", "@direct"), "without '@', but got '@direct'"),
        (f"pack({X}) -> a: int32", (*CPU, *DIRECT), "for which it must return i32"),
        (
            f"direct({X}, a: int32 = 3)",
            (*CPU, *DIRECT),
            "--signature: a text has no defaults: leave",
        ),
        (f"pack({X})", (*CPU, *DIRECT, "--cpu", "haswel"), "did you mean `haswell`?"),
    ],
)
def test_no_python(
    signature: str,
    options: tuple[str, ...],
    words: str,
    kernel: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = kernel.with_name("k.so")
    assert main(["wrap", str(kernel), "--signature", signature, "-o", str(output), *options]) == 1
    said = capsys.readouterr().err
    assert all(part in said for part in words.split(" .* ")), said
    assert PYTHON.search(said.replace("device_type=cpu", "").replace("functions=1", "")) is None, (
        said
    )
    assert list(kernel.parent.iterdir()) == [kernel]


def test_the_suggestion_works(kernel: Path, tmp_path: Path) -> None:
    output = str(tmp_path / "k.so")
    given = ["wrap", str(kernel), *CPU, "--signature", f"direct({X})", "-o", output]
    assert main([*given, *DIRECT, "--args", "x, n"]) == 0


def test_what_is_looked_for_is_found_in_python() -> None:
    for words in ("with args=['x']", "c_interface=True", "MemRefCallProvider", "spec.Var('y')"):
        assert PYTHON.search(words)


def test_source_code_as_a_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "k.c"
    source.write_text("int f;")
    given = ["wrap", str(source), *CPU, *DIRECT, "--signature", f"f({X})", "-o", "f.so"]
    assert main(given) == 1
    assert "k.c is C: compile it, and give the object" in capsys.readouterr().err
