"""Large constants: every byte is in the code, whichever way it came, and however it leaves."""

from __future__ import annotations

import ctypes
import random
import re
import struct
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from ffi_builder import runtime
from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import constants, dense, floats
from ffi_builder.runtime.files import object_files
from ffi_builder.runtime.isolate import worker
from tests.runtime.samples import parse_with_jaxlib

COUNT: Final = 4099
ADDRESS: Final = """
llvm.func @__tvm_ffi_at(%h: !llvm.ptr, %a: !llvm.ptr, %n: i32, %r: !llvm.ptr) -> i32 {
  %address = llvm.mlir.addressof @w : !llvm.ptr
  %pointer = llvm.mlir.constant(4 : i64) : i64
  llvm.store %pointer, %r : i64, !llvm.ptr
  %payload = llvm.getelementptr %r[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %address, %payload : !llvm.ptr, !llvm.ptr
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
"""
"""A function that returns the address of @w."""
ADDRESS_LLVM: Final = """
define i32 @__tvm_ffi_at(ptr %h, ptr %a, i32 %n, ptr %r) {
  store i64 4, ptr %r
  %payload = getelementptr i8, ptr %r, i64 8
  store ptr @w, ptr %payload
  ret i32 0
}
"""

TYPES: Final = {
    "f16": ("f16", 2),
    "bf16": ("bf16", 2),
    "f32": ("f32", 4),
    "f64": ("f64", 8),
    "i8": ("i8", 1),
    "i16": ("i16", 2),
    "i32": ("i32", 4),
    "i64": ("i64", 8),
    "index": ("i64", 8),
    "f8E4M3FN": ("i8", 1),
    "complex<f32>": ("struct<(f32, f32)>", 8),
    "complex<f64>": ("struct<(f64, f64)>", 16),
}
"""Types of elements: in LLVM, and in bytes."""


def random_bytes(size: int, seed: int = 0) -> bytes:
    """Every pattern of bits, so NaNs with payloads too."""
    return random.Random(seed).randbytes(size)


def variable(data: bytes, element: str = "f32", rest: str = "", linkage: str = "private") -> str:
    """A variable @w of MLIR, with `data` as its value."""
    inner, size = TYPES[element]
    count = len(data) // size
    value = f'dense<"0x{data.hex()}"> : tensor<{count}x{element}>'
    return f"llvm.mlir.global {linkage} @w({value}) {rest} : !llvm.array<{count} x {inner}>\n"


def content(compiled: Any, size: int) -> bytes:
    """What is at @w."""
    return ctypes.string_at(compiled["at"]().value, size)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """LLVM gets all values."""
    for module in (dense, constants):
        monkeypatch.setattr(module, "SMALLEST", 1 << 60)
    return monkeypatch


# ---- MLIR


@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("linkage", ["private constant", "internal", "external constant"])
def test_every_bit_of_dense(element: str, linkage: str) -> None:
    data = random_bytes(COUNT * TYPES[element][1])
    compiled = runtime.compile(variable(data, element, linkage=linkage) + ADDRESS)
    assert content(compiled, len(data)) == data


@pytest.mark.parametrize("data", [random_bytes(40), bytes(40), random_bytes(8 * COUNT)])
def test_complex_values_of_any_size(data: bytes) -> None:
    """The bindings of torch-mlir end the process when they show such a value."""
    compiled = runtime.compile(variable(data, "complex<f32>") + ADDRESS)
    assert content(compiled, len(data)) == data


@pytest.mark.parametrize(
    ("element", "values"), [("i1", ["false", "true"]), ("i4", ["-8", "-1", "0", "1", "7"])]
)
def test_small_integers_are_laid_out_as_by_llvm(
    element: str, values: list[str], alone: pytest.MonkeyPatch
) -> None:
    listed = ", ".join(random.Random(0).choices(values, k=COUNT))
    text = (
        f"llvm.mlir.global private constant @w(dense<[{listed}]> : tensor<{COUNT}x{element}>) "
        f": !llvm.array<{COUNT} x {element}>\n{ADDRESS}"
    )
    expected = content(runtime.compile(text), COUNT)
    assert len(set(expected)) == len(values)
    alone.undo()
    lowered = runtime.lower(text)
    assert 'c"\\0' in str(lowered.llvm_ir)
    assert content(runtime.compile(text), COUNT) == expected


def test_arrays_of_arrays() -> None:
    data = random_bytes(4 * 60 * 70)
    text = variable(data).replace("tensor<4200xf32>", "tensor<60x70xf32>")
    text = text.replace("array<4200 x f32>", "array<60 x array<70 x f32>>")
    assert content(runtime.compile(text + ADDRESS), len(data)) == data


@pytest.mark.parametrize("align", [1, 4, 64, 4096])
def test_alignment_is_kept(align: int) -> None:
    data = random_bytes(8192)
    text = variable(data, rest=f"{{alignment = {align} : i64}}")
    more = text.replace("@w", "@v").replace(f"{align} : i64", "1 : i64")
    compiled = runtime.compile(more + text + ADDRESS)
    assert compiled["at"]().value % max(align, constants.ALIGN) == 0
    assert content(compiled, len(data)) == data


def test_splats() -> None:
    """Zeros are no bytes of the object if they may be written, and others are all of them."""

    def splat(value: str, kind: str) -> str:
        array = "!llvm.array<500000 x f32>"
        value = f"dense<{value}> : tensor<500000xf32>"
        return f"llvm.mlir.global private {kind} @w({value}) : {array}\n{ADDRESS}"

    assert content(runtime.compile(splat("1.5", "constant")), 2_000_000) == (
        struct.pack("<f", 1.5) * 500_000
    )
    zeros = runtime.lower(splat("0.0", ""))
    assert "zeroinitializer" in str(zeros.llvm_ir)
    assert len(zeros.object) < 100_000
    assert content(runtime.compile(splat("0.0", "")), 2_000_000) == bytes(2_000_000)


def test_variables_may_be_written() -> None:
    data = random_bytes(8192)
    compiled = runtime.compile(variable(data, linkage="private") + ADDRESS)
    ctypes.memset(compiled["at"]().value, 7, len(data))
    assert content(compiled, len(data)) == bytes([7]) * len(data)


@pytest.mark.parametrize("element", [name for name in TYPES if "f8" not in name])
@pytest.mark.parametrize("count", [1, COUNT])
def test_every_bit_of_dense_resource(
    element: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "translate", None)  # no child process is needed
    data = random_bytes(count * TYPES[element][1])
    assert content(runtime.compile(resource(data, element)), len(data)) == data


def resource(data: bytes, element: str = "f32") -> str:
    """A module whose @w is a resource."""
    inner, size = TYPES[element]
    count = len(data) // size
    return (
        f"llvm.mlir.global private constant @w(dense_resource<weights> : "
        f"tensor<{count}x{element}>) : !llvm.array<{count} x {inner}>\n{ADDRESS}\n"
        f'{{-# dialect_resources: {{ builtin: {{ weights: "0x{size:02x}000000{data.hex()}" }} }} #-}}'
    )


REFUSED: Final[dict[str, tuple[str, str, str]]] = {
    # a pattern of the text, what stands there instead, and the error
    "another size": ("2048", "2049", "size"),
    "nothing": (r"\{-#(?s:.*)", "", "resource does not exist"),
    "no bytes": (r'"0x04000000\w+"', '"0x04000000"', "size"),
    # MLIR does not say whether bools are bits.
    "bools": ("2048(x.*)f32(.*)f32", r"8192\1i1\2i1", "no known conversion for innermost"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_resources_that_are_refused(what: str) -> None:
    pattern, instead, words = REFUSED[what]
    with pytest.raises(CompileError, match=words):
        runtime.compile(re.sub(pattern, instead, resource(random_bytes(8192))))


def test_text_of_a_long_constant_takes_little_memory() -> None:
    data = random_bytes(1 << 20)
    text = variable(data) + ADDRESS
    runtime.lower(variable(data[:8192]) + ADDRESS)  # imports what it needs
    tracemalloc.start()
    try:
        runtime.lower(text)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(data)


# ---- LLVM IR


def llvm_array(values: Any, element: str, count: int, rest: str = "") -> str:
    """A variable @w of LLVM IR."""
    listed = ", ".join(f"{element} {value}" for value in values)
    return f"@w = private constant [{count} x {element}] [{listed}]{rest}\n{ADDRESS_LLVM}"


SIZES: Final = {"half": 2, "bfloat": 2, "float": 4, "double": 8}


def hexadecimals(data: bytes, element: str) -> list[str]:
    """Floats as LLVM 22 writes them."""
    size = SIZES[element]
    bits = [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]
    return [floats._hexadecimal(element, each) for each in bits]  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("element", SIZES)
@pytest.mark.parametrize("form", ["older", "newer"])
def test_every_bit_of_llvm_ir(element: str, form: str) -> None:
    size = SIZES[element]
    data = random_bytes(COUNT * size)
    values = hexadecimals(data, element)
    if form == "newer":
        values = [
            f"f0x{int.from_bytes(data[at : at + size], 'little'):0{2 * size}X}"
            for at in range(0, len(data), size)
        ]
    text = llvm_array(values, element, COUNT)
    assert "x float]" not in constants.read(text).text or element == "float"
    assert constants.read(text).constants["w"].data == data
    assert content(runtime.compile(text), len(data)) == data


@pytest.mark.parametrize("element", SIZES)
def test_decimals_beside_hexadecimals(element: str) -> None:
    """LLVM 22 writes what is exact as a decimal, LLVM 24 also what is not."""
    random_ = random.Random(1)
    kinds = ["1.000000e+00", "-2.500000e-01", "0.000000e+00", "-0.000000e+00", "1.000000e-01"]
    width = SIZES[element]
    kinds += [f"f0x{random_.getrandbits(8 * width):0{2 * width}X}" for _ in range(5)]
    kinds += ["+inf", "-inf", "+qnan", "-nan(0x1)", "+snan(0x2)"]
    values = random_.choices(kinds, k=COUNT)
    expected = b"".join(floats.bits(element, value).to_bytes(width, "little") for value in values)
    assert content(runtime.compile(llvm_array(values, element, COUNT)), len(expected)) == expected


@pytest.mark.parametrize(
    ("element", "size", "values"),
    [
        ("i1", 1, ["true", "false"]),
        ("i4", 1, ["-8", "0", "7", "15"]),
        ("i8", 1, ["-128", "0", "127", "255"]),
        ("i16", 2, ["-32768", "0", "65535"]),
        ("i32", 4, ["-2147483648", "0", "4294967295"]),
        ("i64", 8, ["-9223372036854775808", "0", "18446744073709551615"]),
    ],
)
def test_integers_of_llvm_ir(
    element: str, size: int, values: list[str], alone: pytest.MonkeyPatch
) -> None:
    text = llvm_array(random.Random(0).choices(values, k=COUNT), element, COUNT)
    expected = content(runtime.compile(text), COUNT * size)
    alone.undo()
    assert constants.read(text).constants["w"].data == expected
    assert content(runtime.compile(text), COUNT * size) == expected


NESTED: Final = {
    "rows": "[2 x [3000 x float]] [[3000 x float] [A], [3000 x float] zeroinitializer]",
    "deep": "[2 x [1 x [3000 x float]]] [[1 x [3000 x float]] [[3000 x float] [A]], "
    "[1 x [3000 x float]] zeroinitializer]",
    "pairs": "[3000 x { float, float }] [P]",
    "one string": r'[6000 x i8] c"S"',
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_arrays_and_strings_of_llvm_ir(name: str, alone: pytest.MonkeyPatch) -> None:
    random_ = random.Random(0)
    listed = [f"float {random_.choice(['1.000000e+00', '-2.500000e-01'])}" for _ in range(6000)]
    pairs = ", ".join(
        f"{{ float, float }} {{ {a}, {b} }}" for a, b in zip(listed[::2], listed[1::2], strict=True)
    )
    string = "".join(random_.choices(["a", "\\\\", "\\00", "\\fF", "é", "[", ","], k=5000))
    string += "x" * (6000 - len(constants.string_bytes(string, 0, len(string))))
    value = NESTED[name].replace("A", ", ".join(listed[:3000])).replace("P", pairs)
    text = f"@w = private constant {value.replace('S', string)}, align 8\n{ADDRESS_LLVM}"
    size = 6000 if name == "one string" else 24000
    expected = content(runtime.compile(text), size)
    alone.undo()
    assert constants.read(text).constants["w"].data == expected
    assert content(runtime.compile(text), size) == expected


def test_long_text_is_cut_between_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(random.Random(0).choices(["a", "\\\\", "\\00", "\\5c", "\\22"], k=3000))
    whole = constants.string_bytes(text, 0, len(text))
    for piece in range(1, 50):
        monkeypatch.setattr(constants, "_PIECE", piece)
        assert constants.string_bytes(text, 0, len(text)) == whole


@pytest.mark.parametrize(
    "value", ["nan", "1", "1_0.0", "0x12", "0x3FB999999999999A", "undef", "i32 1", "0.1e", ""]
)
def test_what_llvm_refuses_is_refused(value: str) -> None:
    text = llvm_array(["1.000000e+00"] * (COUNT - 1) + [value], "float", COUNT)
    if value == "undef":
        assert content(runtime.compile(text), 4) == struct.pack("<f", 1.0)
        return
    with pytest.raises(CompileError, match="does not parse"):
        runtime.compile(text)


def test_arrays_of_the_wrong_length_are_refused() -> None:
    for count in (COUNT - 1, COUNT + 1):
        with pytest.raises(CompileError, match="does not parse"):
            runtime.compile(llvm_array(["1.000000e+00"] * count, "float", COUNT))


def test_aliases_of_constants() -> None:
    """LLVM has none of what is only declared."""
    data = random_bytes(8192)
    alias = """llvm.mlir.alias external @alias : !llvm.array<2048 x f32> {
      %address = llvm.mlir.addressof @w : !llvm.ptr
      llvm.return %address : !llvm.ptr
    }"""
    text = variable(data) + ADDRESS.replace("@w", "@alias") + alias
    assert content(runtime.compile(text), len(data)) == data


def test_bindings_that_give_no_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(root: str) -> None: ...

    monkeypatch.setattr(dense, "_api", none)
    data = random_bytes(8192)
    assert content(runtime.compile(variable(data) + ADDRESS), len(data)) == data
    assert content(runtime.compile(resource(data)), len(data)) == data


@pytest.mark.parametrize(
    "words",
    [
        'private constant A, section ".special"',
        "private thread_local constant A",
        "weak constant A",
        "hidden constant A",
        "private constant A, comdat",
        "private addrspace(3) constant A",
        "private constant A\n@a = alias ptr, ptr @w",
    ],
)
def test_other_variables_are_left_to_llvm(words: str) -> None:
    array = f"[2048 x float] [{', '.join(['float 1.0'] * 2048)}]"
    text = f"@w = {words.replace('A', array)}\n"
    assert constants.read(text) == (text, {})


def test_debug_information_is_kept() -> None:
    text = llvm_array(["7"] * 2048, "i16", 2048, ", align 2, !dbg !0") + DEBUG
    assert "!dbg !0" in str(runtime.lower(text).llvm_ir)
    assert content(runtime.compile(text), 4096) == b"\7\0" * 2048


DEBUG: Final = """
!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!6}
!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression())
!1 = distinct !DIGlobalVariable(name: "w", scope: !2, file: !3, line: 1, type: !5, isLocal: true,
  isDefinition: true)
!2 = distinct !DICompileUnit(language: DW_LANG_C99, file: !3, producer: "x", emissionKind: FullDebug,
  globals: !4)
!3 = !DIFile(filename: "a.c", directory: "/")
!4 = !{!0}
!5 = !DIBasicType(name: "short", size: 16, encoding: DW_ATE_signed)
!6 = !{i32 2, !"Debug Info Version", i32 3}
"""


# ---- what is made of a module


MADE: Final[dict[str, Callable[[bytes], str]]] = {
    "dense": lambda data: variable(data) + ADDRESS,
    "resource": resource,
    "llvm": lambda data: llvm_array(hexadecimals(data, "float"), "float", 2048),
}
each_text = pytest.mark.parametrize("made", MADE)


@each_text
def test_texts_are_complete(made: str, tmp_path: Path) -> None:
    data = random_bytes(8192)
    text = MADE[made](data)
    lowered = runtime.lower(text)
    for shown in (lowered.mlir, lowered.llvm_ir, runtime.llvm_ir(text)):
        if shown is not None:
            assert content(runtime.compile(shown), len(data)) == data
    (tmp_path / "a.s").write_text(str(lowered.assembly))
    subprocess.run(["cc", "-c", "a.s", "-o", "a.o"], cwd=tmp_path, check=True)
    assert content(runtime.compile((tmp_path / "a.o").read_bytes()), len(data)) == data


@each_text
@pytest.mark.parametrize("only", [None, ["at"]])
def test_exports_are_complete(made: str, only: list[str] | None, tmp_path: Path) -> None:
    data = random_bytes(8192)
    lowered = runtime.lower(MADE[made](data))
    lowered.export_object(tmp_path / "a.o", export_only=only)
    assert content(runtime.compile((tmp_path / "a.o").read_bytes()), len(data)) == data
    lowered.export_library(tmp_path / "a.so", export_only=only)
    assert content(runtime.load(tmp_path / "a.so"), len(data)) == data


@each_text
def test_exports_for_another_machine_are_complete(made: str, tmp_path: Path) -> None:
    path = tmp_path / "a.o"
    lowered = runtime.lower(MADE[made](random_bytes(8192)))
    lowered.export_object(path, triple="aarch64-linux-gnu")
    file = path.read_bytes()
    assert object_files.content_of(file, "w", "aarch64") == random_bytes(8192)
    page = 275  # R_AARCH64_ADR_PREL_PG_HI21
    relocations = object_files.read_object(file, "aarch64").relocations
    assert object_files.Relocation(page, object_files.Reach.OBJECT) in relocations


def test_local_constants_are_local() -> None:
    """So that objects with constants of one name can be linked."""
    one, other = random_bytes(8192, 1), random_bytes(8192, 2)
    first = variable(one) + ADDRESS
    second = (variable(other) + ADDRESS).replace("__tvm_ffi_at", "__tvm_ffi_other")
    compiled = runtime.compile(first, link=[runtime.lower(second).object])
    assert content(compiled, 8192) == one
    assert ctypes.string_at(compiled["other"]().value, 8192) == other


def test_external_constants_are_seen_by_others() -> None:
    data = random_bytes(8192)
    holder = runtime.lower(variable(data, linkage="external constant")).object
    declared = ADDRESS_LLVM + "@w = external constant [2048 x float]\n"
    assert content(runtime.compile(declared, link=[holder]), 8192) == data
    shown = runtime.lower(variable(data, linkage="external constant")).llvm_ir
    assert content(runtime.compile(declared, link=[str(shown)]), 8192) == data


def test_constants_that_nothing_uses_are_left_out() -> None:
    unused = variable(random_bytes(1 << 17)).replace("@w", "@unused")
    lowered = runtime.lower(unused + variable(random_bytes(8192)) + ADDRESS)
    assert len(lowered.object) < 1 << 16


@each_text
def test_the_cache_tells_weights_apart(made: str, tmp_path: Path) -> None:
    for _ in range(2):
        for seed in range(3):
            data = random_bytes(8192, seed)
            assert content(runtime.compile(MADE[made](data), cache_dir=tmp_path), 8192) == data
    assert len(list(tmp_path.glob("**/*"))) >= 3


def test_the_cache_has_all_values(tmp_path: Path) -> None:
    data = random_bytes((1 << 20) + 8)
    for _ in range(2):
        compiled = runtime.compile_cached(
            "key", lambda: variable(data) + ADDRESS, cache_dir=tmp_path
        )
        assert content(compiled, len(data)) == data
        assert data in compiled.object
        assert data.hex().upper() in str(compiled.mlir).upper()


@pytest.mark.parametrize("linkage", ["private", "external"])
def test_loads_are_as_in_llvm_alone(linkage: str, alone: pytest.MonkeyPatch) -> None:
    """The constant is in the same object, so its address needs no table."""
    text = variable(random_bytes(8192), linkage=f"{linkage} constant") + ADDRESS
    expected = str(runtime.lower(text).assembly)
    alone.undo()
    instructions = [
        [line for line in assembly.splitlines() if "w" in line and "%rip" in line]
        for assembly in (expected, str(runtime.lower(text).assembly))
    ]
    places = [re.sub(r"\.L", "", "".join(each)) for each in instructions]
    assert places[0] == places[1] != ""


def test_a_child_that_generates_code_gets_no_values() -> None:
    data = random_bytes(8192)
    assembly = (
        'llvm.func @asm() { llvm.inline_asm has_side_effects "nop", "" : () -> () llvm.return }'
    )
    compiled = runtime.compile(variable(data) + ADDRESS + assembly)
    assert content(compiled, 8192) == data


def test_modules_of_other_bindings() -> None:
    data = random_bytes(8192)
    module = parse_with_jaxlib(variable(data) + ADDRESS)
    lowered = runtime.lower(module)
    assert 'c"\\' in str(lowered.llvm_ir)
    assert content(runtime.compile(module), 8192) == data
