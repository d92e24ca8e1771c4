"""Lists of strs and bytes: what a kernel gets of them, and the memory that it is in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import BuildError, wrap
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    PackedCallProvider,
)
from tests.providers.test_lists import COUNTED, compiled, counted
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
JOINED: Final = """
llvm.func @join(%names: !llvm.ptr, %n: i64, %out: !llvm.ptr) {
  %second = llvm.getelementptr %names[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %text = llvm.load %second : !llvm.ptr -> !llvm.ptr
  %at = llvm.getelementptr %names[24] : (!llvm.ptr) -> !llvm.ptr, i8
  %size = llvm.load %at : !llvm.ptr -> i64
  "llvm.intr.memcpy"(%out, %text, %size) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
  %end = llvm.getelementptr %out[%size] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  %count = llvm.trunc %n : i64 to i8
  llvm.store %count, %end : i8, !llvm.ptr
  llvm.return
}
llvm.func @pack(%params: !llvm.ptr) {
  %list = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %at = llvm.getelementptr %params[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  %tensor = llvm.load %at : !llvm.ptr -> !llvm.ptr
  %out = llvm.load %tensor : !llvm.ptr -> !llvm.ptr
  %all = llvm.load %list : !llvm.ptr -> !llvm.struct<(ptr, i64)>
  %p = llvm.extractvalue %all[0] : !llvm.struct<(ptr, i64)>
  %n = llvm.extractvalue %all[1] : !llvm.struct<(ptr, i64)>
  llvm.call @join(%p, %n, %out) : (!llvm.ptr, i64, !llvm.ptr) -> ()
  llvm.return
}
"""
"""Writes the second text, and how many there are."""
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


@pytest.mark.parametrize(
    "provider",
    [
        DynamicParamPackCallProvider("pack"),
        NestedTensorCallProvider("join", args=["names", "out.data"]),
        MemRefCallProvider("join", args=["names", "out.data"]),
    ],
)
def test_other_conventions(provider: CallProvider) -> None:
    text = "f(names: List(String), out: Tensor([64], uint8))"
    out = np.zeros(64, "uint8")
    compiled(JOINED, (text, provider))["f"](["ab", "cd"], out)
    assert out[:3].tobytes() == b"cd\x02"


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
    with pytest.raises(
        BuildError, match=r"'names.c_str' is passed as a pointer to pointers to byt"
    ):
        made(tmp_path, "join", text, args=["names.c_str", "n", "out"])
    text = "argv(x: List(int64), out: Tensor([m], uint8)) -> n: int64"
    with pytest.raises(BuildError, match=r"args= has 'x.c_str'"):
        made(tmp_path, "argv", text, args=["x.c_str", "out"])


# ---- memory

BOTH: Final = "f(xs: List(String), ys: List(Bytes), status: int32)"
MANY: Final = ["abc"] * 300
BYTES: Final = [b"abc"] * 300


@pytest.fixture(scope="module")
def functions() -> Any:
    counts = "counts(out: Tensor([2], int64))", DirectCallProvider("counts")
    failing = CheckStatus(DirectCallProvider("nothing", args=["status", "xs.c_str", "ys.c_str"]))
    nothing = "@nothing(%status: i32, %x: !llvm.ptr, %y: !llvm.ptr)"
    module = COUNTED.replace("@nothing(%status: i32)", nothing)
    return compiled(module, (BOTH, failing), counts)


@pytest.mark.parametrize(
    ("xs", "ys", "status", "times", "words"),
    [
        (["a"], [b"a"], 0, 2, None),
        (MANY, BYTES, 0, 4, None),
        (MANY, BYTES, 3, 4, "failed with status 3"),
        (MANY, [*BYTES, "a"], 0, 2, "type of ys[300]"),
        (MANY, [*BYTES, b"\0"], 0, 4, "ys[300] has a NUL at byte 0"),
        ([*MANY, "a\0"], BYTES, 0, 3, "xs[300] has a NUL at byte 1"),
        ([*MANY, b"a"], BYTES, 0, 1, "type of xs[300]"),
    ],
)
def test_memory_is_released_on_every_path(
    functions: Any, xs: Any, ys: Any, status: Any, times: int, words: str | None
) -> None:
    counts, error = counted(functions, xs, ys, status)
    assert counts == [times, times]
    assert (error is None) == (words is None)
    assert (words or "") in str(error)


def test_a_packed_function_gets_the_list_itself() -> None:
    received: list[Any] = []
    tvm_ffi.register_global_func("test.texts.keep", received.append, override=True)
    provider = PackedCallProvider(global_function="test.texts.keep", args=["xs"])
    compiled("", ("f(xs: List(String))", provider))["f"](["ab", "c"])
    assert [list(each) for each in received] == [["ab", "c"]]
