"""Structs in memory of the call, of which providers know no header: `args=[{"size": "n"}]`."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import BuildError, attach, providers, runtime, spec, testing
from tests.runtime.samples import TORCH_IR, needs_cc

pytestmark = needs_cc

SOURCE: Final = """
#include <stdint.h>
struct s { uint8_t a; double *x; int64_t n; _Bool b; float f; int16_t out; void *p; uint16_t r; };
double f(struct s *s) {
  double sum = s->a + s->b + s->f;
  for (int64_t i = 0; i < s->n; i++) sum += s->x[i];
  s->out = -s->out; s->n = s->r;
  return s->p ? -1 : sum;
}
double pair(const struct { float f; double d; } *p) { return p ? p->f + p->d : -1; }
int many(void **params) { struct s *s = *(struct s **)params[0]; return s->a - 3; }
"""


def library(folder: Path) -> Path:
    path = folder / "libs.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "-xc", "-", "-o", path]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    return path


def compiled(folder: Path, signature: str, provider: Any) -> Any:
    module = TORCH_IR.Module.parse("", TORCH_IR.Context())
    parsed = spec.Signature.parse(signature, device="cpu")
    attach(module, parsed, provider)
    return runtime.compile(module, link=[library(folder)])[parsed.name]


FIELDS: Final[dict[str, Any]] = {
    "a": "uint8(n + 1)",
    "x": "x",
    "n": "n -> left",
    "b": "b",
    "f": "float32(0.5)",
    "out": "o -> out",
    "p": None,
    "r": "uint16(t.length)",
}
SIGNATURE: Final = """
    f(x: Tensor([n], float64), b: bool, o: int16, t: String)
    -> (out: int16, left: int64, r: float64)"""


def test_a_dict_is_laid_out_as_c_does(tmp_path: Path) -> None:
    """Each field has the dtype of what it gets, or the one that its text names."""
    f = compiled(tmp_path, SIGNATURE, providers.DirectCallProvider("f", args=[FIELDS]))
    assert tuple(f(np.arange(4.0), True, 7, "abc")) == (-7, 3, 5 + 1 + 0.5 + 6)
    with pytest.raises(ValueError, match="n \\+ 1 is 301, but uint8 is passed"):
        f(np.zeros(300), True, 7, "abc")


def test_the_elements_of_a_struct(tmp_path: Path) -> None:
    provider = providers.DirectCallProvider("pair", args=["&p"])
    f = compiled(
        tmp_path, "pair(p: Optional(Struct(f: float32, d: float64))) -> r: float64", provider
    )
    assert [f((0.5, 4.0)), f(None)] == [4.5, -1.0]


def test_an_array_of_pointers(tmp_path: Path) -> None:
    """The pointer is to the address of the struct, as for any address."""
    provider = providers.DynamicParamPackCallProvider(
        "many", args=[{"a": "uint8(a)"}], returns_status=True
    )
    f = compiled(tmp_path, "many(a: int64)", provider)
    f(3)
    with pytest.raises(RuntimeError, match="many failed with status 1"):
        f(4)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "a struct without fields; write {'field': entry, …}"),
        ({"a": "t"}, r"field 'a' gets 't', which is not one number or pointer: write 't.c_str', 't.data' or"),
        ({"a": "m"}, "'m', which names no parameter or symbol"),
        ({"a": "float32(b)"}, "but b is bool, and float32 is passed"),
        ({"a": "uint8(300)"}, "but uint8 holds 0 to 255"),
        ({"a": "-> q"}, "field 'a': no number or handle 'q' is a result; .* are out, left, r"),
        ({"a": "int16(o) -> out"}, r"but the result 'out' says the dtype: drop int16\(…\)"),
        ({"a": "->"}, "expected the value of a field, as in 'n', 'int32"),
        ({"a": "x ->"}, "expected the value of a field"),
        ("&t", "but t is not one number or handle"),
        ("&cfg", r"but cfg.t is not one number or pointer: pass a dict with an entry for each field"),
        ("&cfg -> out", r"is a result for each field: write {'field': 'cfg.field -> out', …}"),
    ],
)  # fmt: skip
def test_what_is_refused(entry: Any, words: str) -> None:
    text = SIGNATURE.replace("t: String", "t: String, cfg: Struct(t: String)")
    signature = spec.Signature.parse(text, device="cpu")
    with pytest.raises(BuildError, match=words):
        testing.emit(signature, providers.DirectCallProvider("f", args=[entry]))


def test_providers_of_other_memory() -> None:
    signature = spec.Signature.parse("f(n: int64)")
    words = "an address in memory of the host; only providers of C arg"
    with pytest.raises(BuildError, match=words):
        testing.emit(signature, providers.PackedCallProvider("g", args=[{"a": "n"}]))  # pyright: ignore[reportArgumentType]
