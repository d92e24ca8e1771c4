"""Lists of strs and bytes: what a kernel gets of them, and the memory that it is in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, wrap
from tests.runtime.samples import c_object, needs_cc

pytestmark = needs_cc

JOIN: Final = """
#include <stddef.h>
#include <stdint.h>
#include <string.h>
struct text { const char *data; size_t size; };
int64_t join(const struct text *names, int64_t n, char *out) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; sum += names[i++].size)
    if (names[i].size) memcpy(out + sum, names[i].data, names[i].size);
  return sum;
}
int64_t argv(const char *const *names, char *out) {
  if (!names) return -1;
  int64_t n = 0;
  for (*out = 0; names[n]; ++n) strcat(out, names[n]);
  return n;
}
"""
PROTOTYPES: Final = {
    "join": "struct text; int64_t join(const struct text *names, int64_t n, char *out)",
    "argv": "int64_t argv(const char *const *names, char *out)",
}
NAMES: Final = ["ab", "", "a name that is no small str", "ünï"]
LENGTHS: Final = (0, 1, 127, 128, 129, 3000)


def made(tmp_path: Path, name: str, signature: str, **options: Any) -> Any:
    data = c_object(tmp_path, JOIN)
    return wrap(data, signature, device="cpu", prototype=PROTOTYPES[name], **options)[name]


@pytest.mark.parametrize(
    ("given", "args"),
    [
        ("names: List(String, n)", ["names", "out"]),
        ("names: List(String)", ["names.data", "names.length", "out"]),
        ("names: List(String, n)", None),
    ],
)
def test_the_kernel_gets_pairs(given: str, args: Any, tmp_path: Path) -> None:
    text = f"join({given}, out: Tensor([m], uint8)) -> size: int64"
    join = made(tmp_path, "join", text, args=args)
    out = np.zeros(9000, "uint8")
    for names in (NAMES, tuple(NAMES), tvm_ffi.Array(NAMES), tvm_ffi.List(NAMES)):
        size = join(names, out)
        assert out[:size].tobytes().decode() == "".join(NAMES)
    for length in LENGTHS:
        assert join(["abc"] * length, out) == 3 * length


def test_bytes(tmp_path: Path) -> None:
    text = "join(names: List(Bytes, n), out: Tensor([m], uint8)) -> size: int64"
    join, out = made(tmp_path, "join", text), np.zeros(90, "uint8")
    size = join([b"a\0b", b"", b"0123456789"], out)
    assert out[:size].tobytes() == b"a\x00b0123456789"
    with pytest.raises(TypeError, match=r"type of names\[1\] .*, expected bytes but got str"):
        join([b"a", "b"], out)


# ---- texts that end in a NUL


ARGV: Final = "argv(names: Optional(List(String)), out: Tensor([m], uint8)) -> n: int64"


def test_c_strings(tmp_path: Path) -> None:
    argv = made(tmp_path, "argv", ARGV, args=["names.c_str", "out"])
    out = np.zeros(9001, "uint8")
    for given in (NAMES, [], ["abc"] * 3000):
        assert argv(given, out) == len(given)
        assert out.tobytes().partition(b"\0")[0].decode() == "".join(given)
    assert argv(None, out) == -1
    long = "a NUL \0 in it"
    for at, given in ((1, ["a", "b\0"]), (6, ["a", long])):
        with pytest.raises(ValueError, match=rf"names\[1\] has a NUL at byte {at}, where its text"):
            argv(given, out)


def test_what_the_kernel_takes(tmp_path: Path) -> None:
    text = "argv(names: List(String), out: Tensor([m], uint8)) -> n: int64"
    with pytest.raises(BuildError, match=r"'names.data' is passed as a pointer to struct TVMFFI"):
        made(tmp_path, "argv", text, args=["names.data", "out"])
    text = "join(names: List(String, n), out: Tensor([m], uint8)) -> size: int64"
    words = r"'names.c_str' is passed as a pointer to pointers to byt"
    with pytest.raises(BuildError, match=words):
        made(tmp_path, "join", text, args=["names.c_str", "n", "out"])
    text = "argv(x: List(int64), out: Tensor([m], uint8)) -> n: int64"
    with pytest.raises(BuildError, match=r"args= has 'x.c_str'"):
        made(tmp_path, "argv", text, args=["x.c_str", "out"])
