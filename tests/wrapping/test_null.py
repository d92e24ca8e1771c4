"""NULL for a kernel that reads what a pointer points to: refused in every way of calling it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from ffi_builder import runtime, spec, testing, wrap
from ffi_builder.runtime import CompiledModule
from tests.runtime.samples import c_object, needs_cc

pytestmark = needs_cc

SOURCE: Final = """
struct context { int number; };
int use(const struct context *c, const int *p, int n) {
  int sum = c->number;
  for (int i = 0; i < n; ++i) sum += p[i];
  return sum;
}
"""
SIGNATURE: Final = (
    "use(c: handle, p: DataPointer, n: int32) -> r: int32 where c.present, p.present or n == 0"
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> CompiledModule:
    kernel = c_object(tmp_path_factory.mktemp("null"), SOURCE)
    return wrap(kernel, SIGNATURE, prototype="int use(const void *c, const int *p, int n)")


def check(call: Callable[..., Any]) -> None:
    """Call it with and without NULL."""
    numbers = (ctypes.c_int * 3)(4, 5, 6)
    context = ctypes.c_void_p(ctypes.addressof(ctypes.c_int.from_buffer(numbers)))
    assert call(context, ctypes.addressof(numbers), 3) == 4 + 4 + 5 + 6
    assert call(context, None, 0) == call(context, 0, 0) == 4
    with pytest.raises(ValueError, match=r"c on argument #0 .*present \(an.*\) but got c = None"):
        call(None, ctypes.addressof(numbers), 3)
    for null, shown in ((None, "None"), (0, "0x0")):
        with pytest.raises(ValueError, match=rf"or n == 0 but got p = {shown}, n = 3 from n"):
            call(context, null, 3)


def test_positions(compiled: CompiledModule) -> None:
    check(compiled["use"])
    check(compiled.callable("use"))


def test_keywords(compiled: CompiledModule) -> None:
    function = compiled.callable("use")

    def by_keyword(c: object, p: object, n: int) -> int:
        return function(n=n, p=p, c=c)

    check(by_keyword)


def test_a_library(compiled: CompiledModule, tmp_path: Path) -> None:
    compiled.export_library(tmp_path / "use.so", stub=tmp_path / "use.pyi")
    loaded = runtime.load(tmp_path / "use.so")
    check(loaded["use"])
    check(loaded.callable("use"))
    info = loaded.info("use")
    assert info is not None
    assert spec.Signature.parse(info.signature) == spec.Signature.parse(SIGNATURE)
    stub = (tmp_path / "use.pyi").read_text()
    assert "(c: c_void_p, p: c_void_p | int | None, n: " in stub


def test_check_kernel(compiled: CompiledModule) -> None:
    """Its calls have no NULL where the kernel reads: the process lives."""
    signature = spec.Signature.parse(SIGNATURE)

    def sum_of_zeros(*_: object) -> int:
        return 0

    testing.check_kernel(compiled["use"], signature, sum_of_zeros, examples=20)


NAMED: Final = """
struct context; typedef void session;
int use(struct context *c); int look(session *c); int any(void *c); int call(int (*c)(void));
int some(struct context *c, int n);
"""


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    names = ("use", "look", "any", "call", "some")
    bodies = (f"int {name}(const char *c) {{ return c ? *c : -1; }}" for name in names)
    return c_object(tmp_path_factory.mktemp("named"), "\n".join(bodies))


@pytest.mark.parametrize(
    ("signature", "takes_null"),
    [
        ("use(c: handle) -> r: int32", False),
        ("look(c: handle) -> r: int32", False),
        ("use(c: Optional(handle)) -> r: int32", True),
        ("some(c: handle, n: int32) -> r: int32 where c.present or n == 0", True),
        ("any(c: handle) -> r: int32", True),
        ("call(c: handle) -> r: int32", True),
    ],
)
def test_a_pointer_to_what_has_a_name(named: bytes, signature: str, *, takes_null: bool) -> None:
    """A kernel gets NULL for it only if the signature says so."""
    call = wrap(named, signature, prototype=NAMED)
    rest = (0,) if "n:" in signature else ()
    text = ctypes.create_string_buffer(b"A")
    assert call(ctypes.c_void_p(ctypes.addressof(text)), *rest) == ord("A")
    for null in (None, ctypes.c_void_p(0)):
        if takes_null:
            assert call(null, *rest) == -1
            continue
        words = r"expected c\.present \(an Optional\(handle\) may be NULL\) but got c = (None|0x0)"
        with pytest.raises(ValueError, match=words):
            call(null, *rest)


def test_the_parts_of_an_optional_handle(named: bytes) -> None:
    """It is checked like a handle, and says whether it is there."""
    signature = "use(c: Optional(handle), n: int32) -> r: int32 where c.present or n == 0"
    call = wrap(named, signature, prototype=NAMED, function="use", args=["c"])
    assert call(None, 0) == -1
    with pytest.raises(ValueError, match=r"c\.present or n == 0 but got c\.present = False, n = 3"):
        call(None, 3)
    with pytest.raises(TypeError, match="expected opaque pointer or None but got int"):
        call(3, 3)
