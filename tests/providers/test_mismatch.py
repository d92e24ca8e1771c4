"""A callee that takes other arguments: the error says which, and what would fit."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, attach, runtime
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
)
from ffi_builder.spec import Signature
from tests.support.wrapping import refused, wrapped

MEMREF = "!llvm.ptr, !llvm.ptr, i64, "
RANK_1 = f"{MEMREF}i64, i64"
RANK_2 = f"{MEMREF}i64, i64, i64, i64"
CHOOSE = "Choose and order them with args=, or change the signature or the callee"


def words(signature: str, provider: CallProvider, *parameters: str) -> str:
    """Return the error of attaching to a module with the callee ``k``, without its start."""
    said = refused(f"f({signature})", provider, f"llvm.func @k({', '.join(parameters)})")
    start = f"{type(provider).__name__}: the callee @k takes "
    assert said.startswith(start)
    return said.removeprefix(start)


X = "x: Tensor([n], float32)"
Y = "y: Tensor([n, m], float32)"
SIZED = "x: Tensor([n, m], float32), a: float32"


def table(*rows: str) -> str:
    """Return the lines of the comparison, as errors show them, with the end of the first line."""
    return "\n".join([":", "       expected  passed", *rows, ""])


OTHER: Final = "arguments of other types than 'f' passes"
PTR_X: Final = "   #0  ptr       ptr (x)"
PLAIN: Final[list[tuple[str, str, str, list[str], str]]] = [
    # parameters, types of the callee, the error, the rows of its table, and its end
    (
        *(f"{X}, a: float32", "!llvm.ptr i64 f32", "3 arguments, but 2 are passed for 'f'"),
        [PTR_X, ">  #1  i64       nothing; n would fit", "   #2  f32       f32 (a)"],
        "The types fit with args=['x', 'n', 'a']",
    ),
    (
        *(SIZED, "!llvm.ptr i64 i64 f32", "4 arguments, but 2 are passed for 'f'"),
        [PTR_X, *(f">  #{i}  i64       nothing; n, m would fit" for i in (1, 2)), "   #3  f32       f32 (a)"],
        "The types fit with args=['x', 'n', 'm', 'a'], if those of one type come in this order",
    ),
    (f"a: float32, {X}", "!llvm.ptr f32", OTHER, [">  #0  ptr       f32 (a)", ">  #1  f32       ptr (x)"], CHOOSE),
    (
        *(f"{X}, a: float64", "!llvm.ptr f32", OTHER),
        [PTR_X, ">  #1  f32       f64 (a): declare `a: float32`, or pass 'float32(a)'"],
        CHOOSE,
    ),
    (
        *(f"{X}, s: String", "!llvm.ptr", "1 argument, but 3 are passed for 'f'"),
        [PTR_X, ">      nothing   ptr (s)", ">      nothing   i64 (s)"],
        f"{CHOOSE}. DynamicParamPackCallProvider calls it if that is an array of pointers to its parameters",
    ),
    (
        *(f"{X}, s: String", "!llvm.ptr f64", "2 arguments, but 3 are passed for 'f'"),
        [PTR_X, ">  #1  f64       ptr (s)", ">      nothing   i64 (s)"],
        CHOOSE,
    ),
    (
        *(f"{X}, t: Tuple(a: int8, b: int16)", "!llvm.ptr i16 i16", OTHER),
        [PTR_X, ">  #1  i16       i8 (a): declare `a: int16`, or pass 'int16(a)'", "   #2  i16       i16 (b)"],
        CHOOSE,
    ),
    (
        *("a: float32, b: float32, c: float64, d: int32, e: int64, g: bool", "f32 f32 f64 i64 i32 i1", OTHER),
        ["   #2  f64       f64 (c)", ">  #3  i64       i32 (d)", ">  #4  i32       i64 (e)", "   #5  i1        i1 (g)"],
        CHOOSE,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("signature", "taken", "start", "rows", "end"), PLAIN)
def test_plain_arguments(signature: str, taken: str, start: str, rows: list[str], end: str) -> None:
    found = words(signature, DirectCallProvider("k"), *taken.split())
    assert found == start + table(*rows) + end


def test_a_number_that_two_parameters_take() -> None:
    """Declaring it as one of them takes it makes it wrong for the other."""
    rows = table("   #0  i32       i32 (n)", ">  #1  i64       i32 (n): pass 'int64(n)'")
    provider = DirectCallProvider("k", args=["n", "n"])
    expected = OTHER + rows + CHOOSE
    assert words("n: int32", provider, "i32", "i64") == expected


IMAGE = (
    "src: Tensor([h, w, c], uint8, strides=[ss, c, 1]), "
    "dst: Tensor([h, w, c], uint8, strides=[ds, c, 1]), radius: int32"
)
BLUR = ["src", "dst", "h", "w", "c", "ss", "ds", "radius"]
OF_BLUR = ["!llvm.ptr", "!llvm.ptr", *["i64"] * 5, "i32"]


@pytest.mark.parametrize("left_out", [(), *((name,) for name in BLUR[2:7]), ("h", "ss")])
def test_symbols_that_are_missing_are_added_in_the_order_of_the_signature(
    left_out: tuple[str, ...],
) -> None:
    args = [name for name in BLUR if name not in left_out] if left_out else None
    found = words(IMAGE, DirectCallProvider("k", args=args), *OF_BLUR)
    missing = ", ".join(left_out or BLUR[2:7])
    assert f"nothing; {missing} would fit" in found
    assert found.endswith(
        f"The types fit with args={BLUR}, if those of one type come in this order"
    )


@pytest.mark.parametrize(
    ("signature", "args", "taken"),
    [
        (f"{X}, k: int64", None, ["!llvm.ptr", "i64", "i64"]),
        (Y, None, ["!llvm.ptr", "i64"]),
        (f"{Y}, k: int64", ["y", "k"], ["!llvm.ptr", "i64", "i64", "i64"]),
    ],
)
def test_no_choice_is_made_among_symbols_of_one_type(
    signature: str, args: list[str] | None, taken: list[str]
) -> None:
    found = words(signature, DirectCallProvider("k", args=args), *taken)
    assert found.endswith(CHOOSE)
    assert "nothing; n" in found


def test_an_order_of_the_author_other_than_that_of_the_signature() -> None:
    provider = DirectCallProvider("k", args=["src", "dst", "w", "h", "c", "ss", "radius"])
    whole = ["src", "dst", "w", "h", "c", "ss", "ds", "radius"]
    expected = f"The types fit with args={whole}, if those of one type come in this order"
    assert words(IMAGE, provider, *OF_BLUR).endswith(expected)


def test_entries_in_another_order() -> None:
    signature = f"a: float32, {X}, y: Tensor([n], float32)"
    found = words(signature, MemRefCallProvider("k"), RANK_1, RANK_1, "f32")
    rows = found.splitlines()
    assert rows[1:6] == [
        "       expected  passed",
        ">  #0  ptr       f32 (a)",
        "   #1  ptr       ptr (x)",
        ">  #2  i64       ptr (x)",
        "   #3  i64       i64 (x)",
    ]
    assert rows[-1] == CHOOSE


def test_many_differences_are_cut_short() -> None:
    signature = ", ".join(f"a{index}: int32" for index in range(15))
    found = words(signature, DirectCallProvider("k"), *["f32"] * 15)
    assert found.endswith(f"> #11  f32       i32 (a11)\n  … and 3 more\n{CHOOSE}")


@pytest.mark.parametrize(
    ("signature", "taken", "expected"),
    [
        (X, [RANK_2], r"> +#6 +i64 +nothing"),
        (Y, [RANK_1], r"> +nothing +i64 \(y\)"),
        (f"{X}, i: int64", [RANK_2, "i64"], r"> +#6 +i64 +nothing"),
        (f"{Y}, {X}", [RANK_1, RANK_2], r"> +#5 +ptr +i64 \(y\)"),
        (X, [MEMREF.rstrip(", ")], r"> +nothing +i64 \(x\)\n"),
        (X, [RANK_1, RANK_2], r"> +#5 +ptr +nothing\n> +#6 +ptr +nothing"),
        (f"{X}, {Y}", [RANK_1], r"> +nothing +ptr \(y\)\n> +nothing +i64 \(y\)"),
    ],
)
def test_memrefs_of_another_rank(signature: str, taken: list[str], expected: str) -> None:
    found = words(signature, MemRefCallProvider("k"), *taken)
    assert re.search(expected, found), found
    assert found.endswith(CHOOSE)


DIRECT, PACK = DirectCallProvider("k"), DynamicParamPackCallProvider("k")
NESTED: Final = "!llvm.struct<(ptr, struct<(struct<(i64, i64)>, i64)>)>"
PASSES: Final[list[tuple[CallProvider, list[str], str]]] = [
    *((provider, [RANK_2, "f32"], "MemRefCallProvider passes what it takes") for provider in (DIRECT, PACK)),
    (MemRefCallProvider("k"), ["!llvm.ptr", "f32"], "DirectCallProvider passes what it takes$"),
    (MemRefCallProvider("k"), ["!llvm.ptr", "i64", "i64", "f32"], r"DirectCallProvider passes what it takes, with args=\['x', 'n', 'm', 'a'\]"),
    (DIRECT, ["!llvm.struct<(ptr, i64, i64)>", "f32"], "DynamicParamPackCallProvider with struct_call=True passes what it takes"),
    (DIRECT, [NESTED, "f32"], "NestedTensorCallProvider passes what it takes"),
    (NestedTensorCallProvider("k"), ["!llvm.ptr"], "DynamicParamPackCallProvider calls it if that is an array of pointers"),
    (MemRefCallProvider("k"), ["!llvm.ptr", "i32"], "DynamicParamPackCallProvider with include_num_args=True calls it if that is an array"),
    (DIRECT, ["!llvm.ptr", "!llvm.ptr", "i32", "!llvm.ptr"], "PackedCallProvider passes what it takes"),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "taken", "expected"), PASSES)
def test_another_provider(provider: Any, taken: list[str], expected: str) -> None:
    found = words(SIZED, provider, *taken)
    assert re.search(expected, found), found


def test_what_is_suggested_fits() -> None:
    """``args=`` as in the error, and the numbers arrive."""
    text = """
    llvm.func @k(%x: !llvm.ptr, %n: i64, %a: f32) {
      llvm.store %a, %x : f32, !llvm.ptr
      llvm.return
    }
    """
    x = np.zeros(2, "float32")
    wrapped(f"f({X}, a: float32)", DirectCallProvider("k", args=["x", "n", "a"]), text)(x, 3)
    assert x[0] == 3


def test_one_argument_for_all_parameters() -> None:
    """The array of pointers is named, and what is put in it has no order that would fit."""
    found = words(SIZED, DynamicParamPackCallProvider("k"), "f64")
    assert found == OTHER + table(">  #0  f64       ptr (the array of pointers)") + CHOOSE


def test_a_tensor_of_any_rank_is_no_memref() -> None:
    found = words("x: Tensor(..., float32)", DirectCallProvider("k"), "!llvm.ptr", "f32")
    assert found.endswith(f">  #1  f32       nothing\n{CHOOSE}")


def test_constants_are_not_passed() -> None:
    found = words(f"{X}, c: Literal[2]", DirectCallProvider("k"), "!llvm.ptr", "i64", "i64")
    assert ">  #2  i64       nothing; n would fit" in found


@pytest.mark.parametrize(
    ("memref", "passed", "expected"),
    [
        ("memref<*xf32>", "", "No provider passes a memref without a rank: give the kernel memref"),
        ("memref<?xf32>", ", a: int64", ">      nothing   i64 (a)"),
    ],
)
def test_a_kernel_of_memrefs_is_only_called_with_memrefs(
    memref: str, passed: str, expected: str
) -> None:
    """Its types are recorded; a rank and a pointer would fit a call with n and x."""

    def hook(module: Any) -> None:
        signature = Signature.parse(f"f({X}{passed})", device="cpu")
        attach(module, signature, MemRefCallProvider("k"))

    kernel = f"func.func @k(%x: {memref}) {{ return }}"
    lowering = "builtin.module(convert-func-to-llvm,finalize-memref-to-llvm)"
    with pytest.raises(BuildError) as raised:
        runtime.lower(kernel, pipeline=lowering, post_compile_hooks=[hook])
    assert expected in str(raised.value)
    assert "passes what it takes" not in str(raised.value)


BARE: Final = (
    "builtin.module(convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},finalize-memref-to-llvm,"
    "reconcile-unrealized-casts)"
)
TWO: Final = "x: Tensor([4], float32), y: Tensor([4], float32))"


def with_bare_pointers(signature: str, types: str, provider: CallProvider) -> None:
    """Attach to a kernel whose memrefs were lowered to one pointer each."""

    def hook(module: Any) -> None:
        attach(module, Signature.parse(f"f({signature}", device="cpu"), provider)

    runtime.lower(f"func.func @k({types}) {{ return }}", pipeline=BARE, post_compile_hooks=[hook])


PASSED: Final = "DirectCallProvider passes what it takes"


@pytest.mark.parametrize(
    ("signature", "types", "expected"),
    [
        (TWO, "%x: memref<4xf32>, %y: memref<4xf32>", PASSED),
        ("x: Tensor([4], float32))", "%x: memref<4xf32>", PASSED),
        (
            *("x: Tensor([n], float32)) where n == 4", "%x: memref<4xf32>, %n: i64"),
            f"{PASSED}, with args=['x', 'n']",
        ),
        (TWO, "%x: memref<4xf32>", "nothing   ptr (x)\n>      nothing   i64 (x)"),
    ],
)
def test_bare_pointers(signature: str, types: str, expected: str) -> None:
    with pytest.raises(BuildError, match=re.escape(expected)):
        with_bare_pointers(signature, types, MemRefCallProvider("k"))
    args = ["x", "n"] if "[" in expected else None
    if expected.startswith("Direct"):
        with_bare_pointers(signature, types, DirectCallProvider("k", args=args))


@pytest.mark.parametrize(
    ("type_", "dtype", "expected"),
    [
        ("f64", "float32", "the kernel's elements are f64, not float32"),
        ("i4", "int4", "the tensor packs int4"),
        ("f32", "float32", "the kernel's size 0 is 5, but shape[0] is 4"),
    ],
)
def test_bare_pointers_are_compared(type_: str, dtype: str, expected: str) -> None:
    types = f"%x: memref<{5 if type_ == 'f32' else 4}x{type_}>"
    with pytest.raises(BuildError, match=f"takes 'x' as memref<.*{re.escape(expected)}"):
        with_bare_pointers(f"x: Tensor([4], {dtype}))", types, DirectCallProvider("k"))
