"""Kernels that do wrong to the elements of a list of tensors."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import attach, explain, runtime, spec
from ffi_builder.providers import DirectCallProvider
from tests.differential.description import DLTensor, Moved, Pointer, list_, tensor
from tests.sanitize.kernels import Function, Kernel, Sanitized, finds, in_use, poke, view
from tests.support.wrapping import RawWrapper, new_module

_ARGS: Final = ["xs.pointers", "out"]
_LIST: Final = "f(xs: TensorList(Tensor([n], {}), length=g), out: Tensor([2], float32))"
_MANY: Final = 150
"""So many that the arrays for the kernel are not on the stack."""


def addresses(pointers: int, count: int) -> list[int]:
    """Return the data of elements."""
    return list((ctypes.c_int64 * count).from_address(pointers)) if count else []


def sanitized(kind: str, kernel: Function) -> Sanitized:
    return Sanitized(_LIST.format(kind), _ARGS, kernel)


def out() -> Any:
    return np.zeros(2, "float32")


@pytest.mark.parametrize("count", [1, 3, _MANY])
def test_a_write_behind_an_element_is_found(count: int) -> None:
    def kernel(pointers: int, _: int) -> None:
        poke(addresses(pointers, count)[-1], 4)

    whole = np.zeros((count, 8), "float32")
    xs = [row[:4] for row in whole]
    with finds(f"writes outside of the elements of xs[{count - 1}]: byte 16 from", "xs: TensorL"):
        sanitized("float32", kernel)(xs, out())
    assert not whole.any()


def test_a_changed_input_is_found() -> None:
    def kernel(pointers: int, _: int) -> None:
        poke(addresses(pointers, 3)[1], 2, 0.5)

    xs = [np.ones(4, "float32") for _ in range(3)]
    with finds("xs[1] is declared intent='in', but the kernel changes xs[1][2] from 1 to 0.5 ("):
        sanitized("float32, intent=in", kernel)(xs, out())
    assert (xs[1] == 1).all()


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_an_element_that_is_not_written_is_found(dtype: str) -> None:
    def kernel(pointers: int, _: int) -> None:
        for address in addresses(pointers, 2):
            view(address, 4, dtype)[:] = 3
        view(addresses(pointers, 3)[2], 4, dtype)[:3] = 3

    xs = [np.full(4, 9, dtype) for _ in range(3)]
    with finds("xs[2] is declared intent='out'", "does not write xs[2][3]"):
        sanitized(f"{dtype}, intent=out", kernel)(xs, out())
    assert all((x == 9).all() for x in xs)


def test_an_element_that_is_copied_from_another_unwritten_one_is_found() -> None:
    """The poisons of elements differ."""

    def kernel(pointers: int, _: int) -> None:
        first, second = addresses(pointers, 2)
        view(first, 4, "int32")[:] = 3
        view(second, 4, "int32")[:] = 3
        view(first, 4, "int32")[3] = view(addresses(pointers, 3)[2], 4, "int32")[0]

    xs = [np.full(4, 9, "int32") for _ in range(3)]
    with finds("does not write xs[2][0]"):
        sanitized("int32, intent=out", kernel)(xs, out())


@pytest.mark.parametrize("count", [0, 1, 3, _MANY])
@pytest.mark.parametrize("intent", ["", ", intent=out", ", intent=inout"])
def test_what_is_written_reaches_the_caller(count: int, intent: str) -> None:
    def kernel(pointers: int, target: int) -> None:
        for number, address in enumerate(addresses(pointers, count)):
            view(address, 4)[:] = number
        poke(target, 1)

    xs, y = [np.full(4, -1, "float32") for _ in range(count)], out()
    function = sanitized(f"float32{intent}", kernel)
    for _ in range(2):
        function(xs, y)
    assert [x.tolist() for x in xs] == [[number] * 4 for number in range(count)]
    assert y.tolist() == [0, 7]


def test_lists_in_structs_and_optionals_are_watched() -> None:
    def kernel(pointers: int, _: int) -> None:
        if pointers:
            poke(addresses(pointers, 2)[1], 4)

    text = (
        "f(c: Struct(k: int64, xs: Optional(TensorList(Tensor([n], float32)))), "
        "out: Tensor([2], float32))"
    )
    function = Sanitized(text, ["c.xs.pointers", "out"], kernel)
    function((1, None), out())
    with finds("outside of the elements of c.xs[1]: byte 16 from"):
        function((1, [np.zeros(4, "float32")] * 2), out())


@pytest.mark.parametrize("offset", [4, 0])
def test_nothing_is_leaked(offset: int) -> None:
    def kernel(pointers: int, _: int) -> None:
        poke(addresses(pointers, _MANY)[7], offset)

    xs, y = [np.zeros(4, "float32") for _ in range(_MANY)], out()
    function = sanitized("float32", kernel)

    def call() -> None:
        if offset:
            with finds("xs[7]"):
                function(xs, y)
        else:
            function(xs, y)

    for _ in range(5):
        call()
    before = in_use()
    for _ in range(20):
        call()
    assert in_use() - before < 20 * 4096  # a copy has three regions with two guard zones


def test_explain_says_what_is_done_to_elements() -> None:
    signature = spec.Signature.parse(_LIST.format("float32, intent=out"), device="cpu")
    shown = explain(signature, sanitize=True)
    around = shown[shown.index("then, around") :].splitlines()[1:]
    assert [line.split("  ")[3].strip() for line in around[:6]] == [
        "xs[i]",
        "4096 bytes around xs[i]",
        "elements of xs[i]",
        "elements of xs[i]",
        "elements of xs[i]",
        "out",
    ]
    assert "memory apart from that of xs[j] or out (no_overlap)" in shown


def test_elements_that_share_memory_are_refused() -> None:
    """Those that are written: with each other, and with other tensors."""

    def kernel(*_: int) -> None:
        pass

    function = sanitized("float32, intent=inout", kernel)
    x = np.zeros(8, "float32")
    function([x[:4], x[4:]], out())
    with pytest.raises(ValueError, match=r"Mismatched xs\[0\] .* apart from that of xs\[1\] "):
        function([x[:4], x[3:7]], out())
    with pytest.raises(ValueError, match=r"Mismatched xs\[1\] .* memory apart from that of out "):
        function([x[:4], x[4:]], x[6:])
    read = sanitized("float32, intent=in", kernel)
    read([x, x], x[:2])  # nobody said that out is written


def test_elements_on_another_device_are_passed_as_they_are() -> None:
    """However an element is passed: as a tensor, moved, or as a DLTensor*."""
    seen: list[int] = []

    def kernel(pointers: int, count: int) -> None:
        seen[:] = addresses(pointers, count)

    found = Kernel(kernel, 2)
    xs = spec.TensorList(spec.Tensor("xs", [2], "float32", device_type="any"))
    called = DirectCallProvider("kernel", args=["xs.pointers", "xs.length"])
    text = found.text.replace("%a1: !llvm.ptr", "%a1: i64")
    module = new_module(text.replace("(!llvm.ptr, !llvm.ptr) ->", "(!llvm.ptr, i64) ->"))
    attach(module, spec.Signature("f", [xs]), called, sanitize=True)
    call = RawWrapper(runtime.compile(module), "f")
    far = DLTensor((2,), device_type=2, data=0x1000, byte_offset=8)
    other = DLTensor((2,), device_type=2, data=0x2000)
    assert call(list_(Moved(tensor(far)), Pointer(other), tensor(far))) is None
    assert seen == [0x1008, 0x2000, 0x1008]
