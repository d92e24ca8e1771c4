"""Enumerators and macros in ``args=``, by the names that a header gives them."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ffi_builder import BuildError, SpecError, wrap
from tests.runtime.samples import c_object, needs_cc
from tests.wrapping.libraries import needs_header

pytest.importorskip("clang.native")
pytestmark = needs_cc

HEADER = """
#include <stdint.h>
enum order { ROW_MAJOR = 101, COLUMN_MAJOR };
#define READ 1
#define WRITE (READ << 1)
#define NAME "text"
#define HALF 0.5
#define NOWHERE ((void (*)(void *))-1)
enum wide { BIG = 0x100000000, SMALL = -5 };
int64_t add(enum order order, int64_t flags, int64_t n);
"""
ADD = "enum order { A }; int64_t add(enum order o, int64_t f, int64_t n) { return o * 1000 + f * 10 + n; }"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Path]:
    folder = tmp_path_factory.mktemp("constants")
    header = folder / "add.h"
    header.write_text(HEADER)
    return c_object(folder, ADD), header


@pytest.mark.parametrize(
    ("order", "flags", "expected"),
    [
        ("ROW_MAJOR", "READ", 101010),
        ("COLUMN_MAJOR", "READ | WRITE", 102030),
        (7, "~READ + 2", 7000),
        ("ROW_MAJOR", "SMALL", 101000 - 50),
        ("ROW_MAJOR", "BIG", 101000 + 10 * 2**32),
    ],
)
def test_names(order: Any, flags: Any, expected: int, files: tuple[bytes, Path]) -> None:
    code, header = files
    signature = "add(n: int64) -> r: int64"
    by_name: Any = {"order": order, "flags": flags}
    for args, prototype in ((by_name, header), ([order, flags, "n"], HEADER)):
        assert wrap(code, signature, prototype=prototype, args=args)(3) == expected + 3


def test_names_of_the_signature_come_first(files: tuple[bytes, Path]) -> None:
    code, header = files
    signature = "add(READ: int64) -> r: int64"
    args = ["ROW_MAJOR", "READ", "READ + 1"]
    assert wrap(code, signature, prototype=header, args=args)(3) == 101000 + 30 + 4


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("REED", r"REED is neither in the signature nor .* declares, did you mean 'READ'\?"),
        ("READ | ROW_MAJR", r"has 'READ \| ROW_MAJR', and ROW_MAJR is .*did you mean 'ROW_MAJOR'"),
        ("nn", "and nn is neither in the signature nor a constant that prototype= declares"),
        ("NAME", "args= has 'NAME', which is no integer of C: .*; a text is passed as bytes, as"),
        ("HALF", "args= has 'HALF', which is no integer of C: "),
        ("NOWHERE", "is no integer of C: .*; a pointer that is a number is an intptr_t in a prot"),
    ],
)
def test_mistakes(flags: str, words: str, files: tuple[bytes, Path]) -> None:
    code, header = files
    args = {"order": "ROW_MAJOR", "flags": flags}
    with pytest.raises(BuildError, match=words):
        wrap(code, "add(n: int64) -> r: int64", prototype=header, args=args)


def test_a_constant_that_does_not_fit(files: tuple[bytes, Path]) -> None:
    code, header = files
    args = {"order": "BIG", "flags": 0}
    words = "order is uint32, which is not 4294967296: write a number"
    with pytest.raises(BuildError, match=words):
        wrap(code, "add(n: int64) -> r: int64", prototype=header, args=args)


@pytest.mark.parametrize(
    ("enum", "declared"),
    [
        ("order", "enum order { ROW = 101, COLUMN };"),
        ("enum order", "enum order { ROW = 101, COLUMN };"),
        ("Order", "typedef enum { ROW = 101, COLUMN } Order;"),
        ("Old", "enum other { X }; typedef enum order { ROW = 101, COLUMN } Order; typedef Order Old;"),
        ("Macro", "typedef enum order { ROW = 101, COLUMN } Order;\n#define Macro Order\n"),
    ],
)  # fmt: skip
def test_a_choice_of_an_enum(enum: str, declared: str, files: tuple[bytes, Path]) -> None:
    code, _ = files
    order = "order" if "order {" in declared else "Order"
    type_ = f"enum {order}" if order == "order" else order
    prototype = f"{declared} long add({type_} order, long flags, long n);"
    add = wrap(
        code, f"add(order: Choice({enum}), flags: int64, n: int64) -> r: int64", prototype=prototype
    )
    assert [add("ROW", 0, 1), add("COLUMN", 1, 2)] == [101001, 102012]
    with pytest.raises(ValueError, match=r"expected one of 'ROW', 'COLUMN' but got 'RO' \(did you"):
        add("RO", 0, 1)


TWO = """
typedef enum { OK, BAD = 2 } error; enum edge { CLAMP, WRAP }; enum mode { FAST, SLOW };
#define USUAL CLAMP
struct both { enum edge edge; int64_t n; };
int64_t add(enum edge order, int64_t flags, int64_t n); int64_t first(struct both *b);
"""


@pytest.mark.parametrize(
    ("param", "other"),
    [
        ("Choice(edge)", None),
        ("Choice({'CLAMP': 0})", None),
        ("Choice({'USUAL': 0, 'own': 1})", None),
        ("Choice({'a': 0, 'b': 7})", None),
        ("int32", None),
        ("Choice(error)", "OK"),
        ("Choice(mode)", "FAST"),
        ("Optional(Choice(mode))", "FAST"),
        ("Choice({'CLAMP': 0, 'SLOW': 1})", "SLOW"),
    ],
)
def test_a_choice_of_another_enum(param: str, other: str | None, files: tuple[bytes, Path]) -> None:
    words = (
        f"add: parameter order is the enum edge, but 'o' has {other}, which is of another: declare "
        rf"`o: Choice\(edge\)`"
    )
    signature = f"add(o: {param}, flags: int64, n: int64) -> r: int64"
    prototype = f"#include <stdint.h>\n{TWO}"
    with pytest.raises(BuildError, match=words) if other else nullcontext():
        wrap(files[0], signature, prototype=prototype, args={"order": "o"})
    plain = prototype.replace("enum edge order", "int order")  # nothing says which enum it is
    wrap(
        files[0],
        signature.replace("Optional(Choice(mode))", "int32"),
        prototype=plain,
        args={"order": "o"},
    )


def test_a_choice_of_another_enum_in_a_struct(tmp_path: Path) -> None:
    code = c_object(tmp_path, f"{TWO} int64_t first(struct both *b) {{ return b->edge; }}")
    prototype, args = f"#include <stdint.h>\n{TWO}", {"b": {"edge": "o"}}
    first = wrap(code, "first(o: Choice(edge)) -> r: int64", prototype=prototype, args=args)
    assert first("WRAP") == 1
    with pytest.raises(BuildError, match=r"parameter b\.edge is the enum edge, but 'o' has FAST"):
        wrap(code, "first(o: Choice(mode)) -> r: int64", prototype=prototype, args=args)


def test_an_enum_whose_enumerators_are_not_found(files: tuple[bytes, Path]) -> None:
    prototype = 'enum other { A }; enum class edge : int { A }; extern "C" long add(edge order, long, long);'
    signature = "add(o: Choice({'A': 0}, int32), f: int64, n: int64) -> r: int64"
    assert wrap(files[0], signature, prototype=prototype)("A", 0, 3) == 3


def test_choices_that_are_none(files: tuple[bytes, Path]) -> None:
    code, header = files
    for enum in ("odrer", "int64_t", "READ"):
        signature = f"add(order: Choice({enum}), flags: int64, n: int64) -> r: int64"
        meant = r", did you mean 'order'\?$" if enum == "odrer" else "$"
        words = (
            rf"Choice\({enum}\): prototype= declares no enum of that name with enumerators{meant}"
        )
        with pytest.raises(BuildError, match=words):
            wrap(code, signature, prototype=header)


def test_a_typedef_that_was_meant(files: tuple[bytes, Path]) -> None:
    prototype = (
        "typedef enum { ROW, METHODS } nl_method; long add(nl_method order, long f, long n);"
    )
    signature = "add(order: Choice(nl_metod), f: int64, n: int64) -> r: int64"
    with pytest.raises(BuildError, match=r"with enumerators, did you mean 'nl_method'\?"):
        wrap(files[0], signature, prototype=prototype)
    with pytest.raises(
        SpecError, match=r"got 'nl_metod': only `wrap` with prototype= reads the en"
    ):
        wrap(files[0], signature)


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ("{'ROW': 101, 'COLUMN': 102}", None),
        (
            "{'ROW': 102, 'COLUMN': 101}",
            "add: 'order' has 102 for 'ROW', which is 101 in prototype",
        ),
        ("{'ROW': 101, 'BOTH': 4}", "has 4 for 'BOTH', which is 3 in prototype=; `Choice"),
        ("{'ALL': -1, 'BOTH': 3}", None),
        ("{'ALL': -2}", "has -2 for 'ALL', which is 4294967295 in prototype="),
        # What the prototype does not say in numbers is left alone.
        ("{'ROW': 1, 'OTHER': 2}", None),
        ("{'row': 7}", None),
        ("{'NAME': 7}", None),
    ],
)
def test_numbers_of_a_choice(choice: str, words: str | None, files: tuple[bytes, Path]) -> None:
    prototype = """
    #define BOTH (1 | 2)
    #define ALL 0xffffffffu
    #define NAME "name"
    enum order { ROW = 101, COLUMN };
    long add(int order, long flags, long n);
    """
    signature = f"add(order: Choice({choice}), flags: int64, n: int64) -> r: int64"
    with pytest.raises(BuildError, match=words) if words else nullcontext():
        wrap(files[0], signature, prototype=prototype)


@needs_header("cblas.h")
def test_cblas() -> None:
    dgemv = wrap(
        "-lblas",
        """cblas_dgemv(A: Tensor([m, n], float64), X: Tensor([n], float64),
                       Y: Tensor([m], float64, intent=out))""",
        prototype="#include <cblas.h>",
        args=["CblasRowMajor", "CblasNoTrans", "m", "n", 1.0, "A", "n", "X", 1, 0.0, "Y", 1],
        device="cpu",
    )
    a, x, y = np.array([[0.0, 1, 2], [3, 4, 5]]), np.ones(3), np.zeros(2)
    dgemv(a, x, y)
    assert y.tolist() == [3, 12]
