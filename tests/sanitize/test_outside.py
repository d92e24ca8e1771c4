"""Guard zones: what a kernel writes outside of the elements of a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ffi_builder import Sanitize
from tests.sanitize.kernels import Sanitized, finds, poke, view

COPY = "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out))"


def copying(then: Callable[[int, int], object], sanitize: bool | Sanitize = True) -> Sanitized:
    """Copy four floats, and then do something else."""

    def kernel(x: int, y: int) -> None:
        view(y, 4)[:] = view(x, 4)
        then(x, y)

    return Sanitized(COPY, ["x", "y"], kernel, sanitize)


def arrays() -> tuple[Any, Any]:
    return np.arange(4, dtype="float32"), np.full(4, -1, "float32")


def test_a_right_kernel() -> None:
    x, y = arrays()
    assert copying(lambda x, y: None)(x, y) is None
    assert y.tolist() == x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("tensor", [0, 1])
@pytest.mark.parametrize(
    ("at", "byte"), [(4, 16), (4 + 1023, 16 + 4092), (-1, -4), (-1024, -4096), (500, 2000)]
)
def test_a_write_around_an_argument(tensor: int, at: int, byte: int) -> None:
    function = copying(lambda x, y: poke((x, y)[tensor], at))
    x, y = arrays()
    name = "xy"[tensor]
    with finds(
        f"The kernel writes outside of the elements of {name}: byte {byte} from its data has changed (4 in all; the elements are "
        f"the 16 bytes from byte 0 on; check the bounds",
        "when calling: `f(x: Tensor([n], float32), y: Tensor([n], float32))`",
    ):
        function(x, y)
    assert x.tolist() == [0, 1, 2, 3]
    assert y.tolist() == [-1] * 4  # nothing is given back


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
def test_copying_one_element_too_many(dtype: str) -> None:
    """The bytes behind one tensor differ from those behind the other."""
    text = f"f(x: Tensor([n], {dtype}, intent=in), y: Tensor([n], {dtype}, intent=out))"

    def kernel(x: int, y: int) -> None:
        view(y, 5, dtype)[:] = view(x, 5, dtype)

    with finds("outside of the elements of y: "):
        Sanitized(text, ["x", "y"], kernel)(np.zeros(4, dtype), np.zeros(4, dtype))


def test_all_bytes_are_counted() -> None:
    def both(_x: int, y: int) -> None:
        poke(y, 4)
        poke(y, -3)

    with finds("of y: byte -12 from its data has changed (8 in all; "):
        copying(both)(*arrays())


def test_how_far_the_guard_zones_reach() -> None:
    near = copying(lambda x, y: poke(y, 4 + 15), Sanitize(guard_bytes=64))
    with finds("byte 76 from"):
        near(*arrays())
    one = copying(lambda x, y: poke(y, 16, 1, "uint8"), Sanitize(guard_bytes=1))
    with finds("byte 16 from its data has changed (1 in all; "):
        one(*arrays())


def test_without_guard_zones_nothing_outside_is_watched() -> None:
    text = "f(y: Tensor([n], float32, strides=any, intent=out))"
    function = Sanitized(text, ["y"], lambda y: view(y, 3).fill(1), Sanitize(guard_bytes=0))
    memory = np.zeros(4, "float32")
    function(memory[:3:2])
    assert memory.tolist() == [1, 0, 1, 0]


def test_past_a_result() -> None:
    def kernel(y: int) -> None:
        view(y, 5)[:] = 1

    function = Sanitized("f(n: int64) -> y: Tensor([n], float32)", ["y"], kernel)
    with finds("outside of the elements of y: byte 16 from its data has changed (4 in all; "):
        function(4)
    assert function.kept == 0
    assert np.from_dlpack(function(5)).tolist() == [1] * 5


def test_around_a_workspace() -> None:
    for at, byte in ((8, 16), (-1, -2)):
        function = Sanitized(
            "f(n: int64, w: Workspace([n], int16))", ["w"], lambda w, at=at: poke(w, at, 1, "int16")
        )
        with finds(
            f"outside of the elements of w: byte {byte} from its data has changed (2 in all; "
        ):
            function(8)
        assert function.kept == 0
    right = Sanitized(
        "f(n: int64, w: Workspace([n], int16))", ["w"], lambda w: view(w, 8, "int16").fill(1)
    )
    assert right(8) is None


STRIDED = "f(y: Tensor([n, m], float32, strides=[s, t], intent=out))"


def strided() -> tuple[Any, Any]:
    """Return a block of floats, and a view of every other column of two of its rows."""
    memory = np.full((4, 6), -1, "float32")
    return memory, memory[0:3:2, 0:5:2]


def test_writes_into_the_gaps_of_a_view() -> None:
    def every(y: int) -> None:
        view(y, 17)[:] = 1

    memory, y = strided()
    with finds(
        "outside of the elements of y: byte 4 from its data has changed (44 in all; ",
        "68 bytes",
    ):
        Sanitized(STRIDED, ["y"], every)(y)
    assert (memory == -1).all()


def test_a_kernel_that_heeds_the_strides() -> None:
    def own(y: int) -> None:
        for at in (0, 2, 4, 12, 14, 16):
            poke(y, at, at)

    memory, y = strided()
    Sanitized(STRIDED, ["y"], own)(y)
    assert y.tolist() == [[0, 2, 4], [12, 14, 16]]
    assert (memory == -1).sum() == 18


def test_negative_strides() -> None:
    memory = np.zeros(8, "float32")
    text = "f(y: Tensor([n], float32, strides=[s], intent=out))"

    def kernel(y: int) -> None:
        for index in range(4):
            poke(y, -2 * index, index)

    Sanitized(text, ["y"], kernel)(memory[6::-2])
    assert memory.tolist() == [3, 0, 2, 0, 1, 0, 0, 0]
    with finds(
        "byte -20 from its data has changed (4 in all; the elements are the 28 bytes from byte -24 on"
    ):
        Sanitized(text, ["y"], lambda y: poke(y, -5))(memory[6::-2])


def test_empty_tensors_and_numbers() -> None:
    empty: Any = np.zeros(0, "float32")
    copying_nothing = Sanitized(COPY, ["x", "y"], lambda x, y: None)
    copying_nothing(empty, empty.copy())
    with finds("y: byte 0 from its data has changed (4 in all; the elements are the 0 bytes"):
        Sanitized(COPY, ["x", "y"], lambda x, y: poke(y, 0))(empty, empty.copy())
    number = np.zeros((), "float32")
    Sanitized("f(y: Tensor([], float32))", ["y"], lambda y: poke(y, 0))(number)
    assert number == 7
    with finds("byte 4 from"):
        Sanitized("f(y: Tensor([], float32))", ["y"], lambda y: poke(y, 1))(number)


def test_copies_are_aligned_as_the_tensors_are() -> None:
    memory = np.zeros(8192, "uint8")
    seen: list[int] = []
    text = "f(x: Tensor([n], uint8, intent=in))"
    function = Sanitized(text, ["x"], seen.append)
    for start in (0, 1, 24, 63, 100):
        x = memory[start : start + 50]
        function(x)
        assert seen[-1] != x.ctypes.data
        assert seen[-1] % 4096 == x.ctypes.data % 4096
