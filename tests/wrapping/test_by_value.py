"""Structs and complex numbers that C takes and returns by value, as the ABI of each machine says."""

from __future__ import annotations

import platform
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from ctypes import c_void_p
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

from ffi_builder import BuildError, CompileError, wrap
from tests.runtime.samples import c_object, needs_cc
from tests.wrapping.libraries import read

pytest.importorskip("clang.native")
pytestmark = needs_cc

DTYPES: Final = {
    "signed char": "int8",
    "unsigned short": "uint16",
    "int": "int32",
    "long": "int64",
    "float": "float32",
    "double": "float64",
    "_Bool": "bool",
}
CLANG: Final = "clang-19"


# ---- functions with drawn structs


class Drawn(NamedTuple):
    """A function in C, and the values that it gets and returns."""

    name: str
    c: str
    signature: str
    given: list[Any]
    seen: list[float]
    returned: tuple[float, ...]

    @property
    def declared(self) -> str:
        """What comes before its body."""
        return self.c.partition(") {")[0] + ");"


def drawn(rng: random.Random, at: int) -> Drawn:
    """Draw a function: some structs among numbers, which may be more than the registers."""
    structs, params, texts, given, code = [""], ["double *seen"], [""], list[Any](), list[str]()
    values, name = list[float](), f"f{at}"

    def value(type_: str) -> float:
        low = 0 if type_ in ("_Bool", "unsigned short") else -9
        found = rng.randint(low, 1 if type_ == "_Bool" else 99)
        return found + 0.5 if type_ in ("float", "double") else found

    def struct(of: str, types: list[str]) -> None:
        fields = " ".join(f"{type_} a{i};" for i, type_ in enumerate(types))
        structs.append(f"struct {of} {{ {fields} }};")

    for param in range(rng.choice([1, 2, 3, 9, 14])):
        p = f"p{param}"
        if rng.random() < 0.4:
            params.append(f"{(type_ := rng.choice([*DTYPES]))} {p}")
            texts.append(f"{p}: {DTYPES[type_]}")
            values.append(value(type_))
            given.append(bool(values[-1]) if type_ == "_Bool" else values[-1])
            code.append(f"seen[{len(code)}] = {p};")
            continue
        some = rng.choice([["float"], ["double"], ["int", "float"], [*DTYPES]])
        types = [rng.choice(some) for _ in range(rng.choice([1, 2, 2, 3, 4, 6]))]
        struct(f"{name}_{p}", types)
        params.append(f"struct {name}_{p} {p}")
        fields = ", ".join(f"{p}_{i}: {DTYPES[t]}" for i, t in enumerate(types))
        texts.append(f"{p}: Struct({fields})")
        own = [value(t) for t in types]
        values += own
        given.append(tuple(bool(v) if t == "_Bool" else v for v, t in zip(own, types, strict=True)))
        code += [f"seen[{len(code) + i}] = {p}.a{i};" for i in range(len(types))]
    types = [rng.choice([*DTYPES]) for _ in range(rng.choice([1, 2, 3, 4, 6]))]
    if rng.random() < 0.3:
        types = [rng.choice(["float", "double"])] * len(types)
    struct(f"{name}_r", types)
    own = [value(t) for t in types]
    code.append(f"return (struct {name}_r){{{', '.join(map(str, own))}}};")
    results = ", ".join(f"r{i}: {DTYPES[t]}" for i, t in enumerate(types))
    results = results if len(types) == 1 else f"({results})"
    signature = f"{name}(seen: Tensor([n], float64, intent=out){', '.join(texts)}) -> {results}"
    c = f"struct {name}_r {name}({', '.join(params)}) {{ {' '.join(code)} }}"
    return Drawn(name, f"{' '.join(structs)}\n{c}", signature, given, values, tuple(own))


@pytest.mark.slow
def test_structs_arrive_as_the_compiler_passes_them(tmp_path: Path) -> None:
    functions = [drawn(random.Random(at), at) for at in range(24)]
    data = c_object(tmp_path, "\n".join(each.c for each in functions))
    prototype = "\n".join(each.declared for each in functions)
    wrapped = wrap(data, [f.signature for f in functions], prototype=prototype, device="cpu")
    for each in functions:
        seen = np.zeros(len(each.seen))
        found = wrapped[each.name](seen, *each.given)
        assert seen.tolist() == each.seen, each.c
        assert (tuple(found) if len(each.returned) > 1 else (found,)) == each.returned, each.c


@pytest.mark.skipif(shutil.which(CLANG) is None, reason=f"needs {CLANG}")
@pytest.mark.parametrize("target", ["x86_64-linux-gnu", "aarch64-linux-gnu"])
def test_the_types_are_those_of_clang(target: str) -> None:
    """They are the same registers: an ``i24`` in an ``i64``, a ``float`` in a ``double``."""
    functions = [drawn(random.Random(at), at) for at in range(80)]
    source = "\n".join(each.c for each in functions)
    command = [CLANG, "-target", target, "-O0", "-S", "-emit-llvm", "-xc", "-", "-o-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    found = re.findall(r"^define dso_local (.*) @(f\d+)\((.*)\) #", done.stdout, re.MULTILINE)
    lines = {name: (result, [*split(params)]) for result, name, params in found}
    prototype = "\n".join(each.declared for each in functions)
    for each in functions:
        declared = read(prototype, each.name, each.name, (), target)
        _, own_result, own = declared.declaration()
        result, wanted = lines[each.name]
        attributes = [attribute(t.attribute) for _, t in declared.params for _ in t.passed_as]
        if own_result == "void":
            assert declared.result is not None
            attributes = [attribute(declared.result.attribute), *attributes]
        assert len(own) == len(wanted), each.c
        for ours, theirs, kind in zip(own, wanted, attributes, strict=True):
            if kind == "byval" and theirs.startswith("i"):
                continue  # no register is left, so an integer is in memory, too
            assert alike(ours, theirs), (each.c, ours, theirs)
            assert kind == next((k for k in ("byval", "sret") if k in theirs), ""), each.c
        assert alike(own_result, result), (each.c, own_result, result)


def attribute(text: str) -> str:
    found = re.match(r"llvm\.(\w+)", text)
    return found[1] if found else ""


def split(text: str) -> Iterator[str]:
    """Yield the types between commas, with their attributes."""
    start = depth = 0
    for at, letter in enumerate(f"{text},"):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1


def alike(ours: str, theirs: str) -> bool:
    """Return whether two types, of MLIR and of LLVM IR, are passed in the same registers."""
    theirs = re.sub(r"^((noundef|signext|zeroext) )+", "", theirs)
    if ours.startswith("struct<("):
        inner = re.fullmatch(r"\{ (.*) \}", theirs)
        of_both = zip(ours[8:-2].split(", "), split(inner[1] if inner else ""), strict=True)
        return all(alike(one, other) for one, other in of_both)
    if ours.startswith("array<"):
        count, _, element = ours[6:-1].partition(" x ")
        names = {"f32": "float", "f64": "double", "i64": "i64"}
        return theirs.startswith((f"[{count} x {names[element]}]", "%struct."))
    known = {
        "i64": r"i\d+|ptr",
        "f64": r"double|float|<2 x float>",
        "f32": "float",
        "ptr": "ptr",
        "void": "void",
    }
    return re.match(known.get(ours, ours), theirs) is not None


# ---- functions of C and of its libraries

COMPLEX: Final = "#include <complex.h>"


def test_functions_of_libc_and_libm() -> None:
    div = wrap(
        "-lc",
        "div(numer: int32, denom: int32) -> (rem: int32, quot: int32)",
        prototype="#include <stdlib.h>",
    )
    assert tuple(div(17, 5)) == (2, 3)
    cabs = wrap("-lm", "cabs(z: Tuple(a: float64, b: float64)) -> r: float64", prototype=COMPLEX)
    assert cabs((3.0, -4.0)) == 5.0
    with pytest.raises(TypeError, match="Mismatched type of z"):
        cabs(3 - 4j)
    csqrt = wrap(
        "-lm",
        "csqrtf(z: Struct(re: float32, im: float32)) -> (x: float32, y: float32)",
        prototype=COMPLEX,
    )
    assert tuple(csqrt((-4.0, 0.0))) == (0.0, 2.0)
    cpow = wrap(
        "-lm",
        "cpow(x: Struct(a: float64, b: float64), c: float64, d: float64) -> (re: float64, im: float64)",
        prototype=COMPLEX,
        args={"x": "x", "y": {"re": "c", "im": "d"}},
    )
    assert tuple(cpow((0.0, 0.0), 1.0, 0.0)) == (0.0, 0.0)


def test_a_struct_of_several_kinds(tmp_path: Path) -> None:
    """Elements of arrays and of structs inside have paths, and pointers are handles."""
    struct = "struct in { short at[2]; }; struct out { struct in in; float x; const char *of; };"
    data = c_object(
        tmp_path,
        f"""
        {struct}
        struct out f(struct in a, const char *text) {{
          struct out made = {{{{{{a.at[1], a.at[0]}}}}, 0.5f, text}};
          return made;
        }}
        double g(struct out o, float _Complex *z) {{
          *z += 1;
          return o.in.at[0] * 100 + o.in.at[1] + o.x + (o.of != 0);
        }}
        """,
    )
    prototype = f"{struct} struct out f(struct in a, const char *text);"
    f = wrap(
        data,
        "f(a: Struct(at: Tuple(x: int16, y: int16)), of: handle)"
        " -> (first: int16, second: int16, x_: float32, to: handle)",
        prototype=prototype,
        args=["a", "of"],
    )
    *numbers, to = f["f"](((1, 2),), c_void_p(4096))
    assert [*numbers, to.value] == [2, 1, 0.5, 4096]
    g = wrap(
        data,
        "g(first: int16, x: float32, re: float32) -> (r: float64, a: float32, b: float32)",
        prototype=f"{struct} double g(struct out o, float _Complex *z);",
        args=[{"in.at[0]": "first", "in.at[1]": 7, "x": "x"}, {"re": "re -> a", "im": "-> b"}],
    )
    assert tuple(g["g"](3, 0.25, 1.5)) == (307.25, 2.5, 0.0)


S: Final = "struct s { int a; double b; };"


@pytest.mark.parametrize(
    ("prototype", "signature", "options", "words"),
    [
        ("void f(struct s x)", "x: int32", {}, "f: parameter x is struct s, but 'x' is no Struct or Tuple: pass a dict .* as in {'a': …, 'b': …}"),
        ("void f(struct s x)", "x: Struct(a: int64, b: float64)", {}, "field a of struct s is int32, but 'a' is int64: declare `a: int32`"),
        ("void f(struct s x)", "x: Struct(c: int32)", {}, r"with 2 fields \(a, b\), but 'x' has 1 of other names"),
        ("void f(struct s x)", "x: Optional(Struct(a: int32, b: float64))", {}, "is struct s, but 'x' may be absent"),
        ("void f(struct s x)", "a: int32", {"args": [{"a": "a", "c": 1}]}, "which has no field 'c'; it has a, b"),
        ("void f(struct s x)", "a: int32) -> (r: int32", {"args": [{"a": "-> r"}]}, "is passed by value, but 'r' is to be written"),
        ("struct s f(void)", "", {}, r"f returns struct s, which the signature lacks: declare `-> \(a: int32, b: float64\)`"),
        ("struct s f(void)", ") -> (a: int32, c: float64", {}, r"f returns struct s, which has no field 'c': declare `-> \(a: int"),
        ("struct s f(void)", ") -> (a: int32, b: int64", {}, "whose field b is float64, but the result 'b' is int64: declare `-> b: float64`"),
        ("struct s f(void)", ") -> (a: int32, b: float64", {"success": 1}, "success= needs a status, but `f` returns none"),
        ("struct s f(void)", ") -> (a: int32, b: float64", {"free": "free"}, "and not a text that is freed"),
        ("double _Complex f(void)", ") -> (r: float64", {}, r"which has no field 'r': declare `-> \(re: float64, im: float64\)`"),
        ("void f(struct { int a : 3; } x)", "", {}, "whose field a is a bit field, which is not passed by value; let a function in C"),
        ("void f(struct { union { int a; float b; } u; } x)", "", {}, "whose field u.a is in a union, which is not passed by value"),
        ("void f(union { int a; float b; } u)", "", {}, "whose field a is in a union"),
        ("void f(struct { long double a; } x)", "", {}, "whose field a is a long double"),
        ("void f(struct { char a[17]; } x)", "", {}, "whose field a is an array, which is not passed by value"),
        ("void f(struct __attribute__((packed)) { char a; int b; } x)", "", {}, "whose field b is at an odd address"),
        ("void f(struct { _Alignas(16) int b; } x)", "", {}, "which is aligned to 16 bytes; let"),
        ("void f(struct t x)", "", {}, "as its fields are not known"),
        ("void f(struct t { idx_t i; } x)", "", {}, "unknown type name 'idx_t'"),
    ],
)  # fmt: skip
def test_what_does_not_fit(
    nothing: bytes, prototype: str, signature: str, options: Any, words: str
) -> None:
    with pytest.raises((BuildError, CompileError), match=words):
        wrap(nothing, f"f({signature})", prototype=f"{S} {prototype};", **options)


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return an object whose functions are not called."""
    return c_object(tmp_path_factory.mktemp("nothing"), "void f(void) {}")


def test_sources_with_types_of_their_own() -> None:
    """LLVM IR has other types for a struct: those of registers."""
    text = "define double @f(double %a, double %b) {\n ret double %a\n}"
    with pytest.raises(BuildError, match="by value, which is compared with nothing that the LLVM"):
        wrap(
            text,
            "f(z: Struct(re: float64, im: float64)) -> r: float64",
            prototype="double f(double _Complex z)",
        )


def test_another_machine(tmp_path: Path) -> None:
    """A module with structs by value is for one machine."""
    div = wrap(
        "-lc",
        "div(numer: int32, denom: int32) -> (rem: int32, quot: int32)",
        prototype="#include <stdlib.h>",
    )
    other = {"x86_64": "aarch64", "aarch64": "x86_64"}[platform.machine()]
    with pytest.raises(CompileError, match=r"The module is for target .*, but is compiled for"):
        div.export_object(tmp_path / "div.o", triple=f"{other}-linux-gnu", cpu="baseline")
    div.export_object(tmp_path / "div.o")
    words = "passed by value on x86-64 and AArch64, and not on risc"
    with pytest.raises(CompileError, match=words):
        read("void f(struct s { int a; } x);", None, "f", (), "riscv64-linux-gnu")
