"""``no_overlap`` in the wrapper: what makes it differ, and what it costs nobody else."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from ffi_builder import attach, attach_ffi_func, spec
from ffi_builder.providers import DirectCallProvider, NopCallProvider
from ffi_builder.spec import Signature, Tensor, Var, dims
from tests.differential.description import DLTensor, Pointer, tensor
from tests.support.printed import printed_wrapper
from tests.support.wrapping import new_module, wrap, wrap_raw

n, m = dims("n m")
EVEN: Final = Var("even", "int64", divisibility=2)
X, Y = (
    Tensor(name, [EVEN], "float32", device_type="cpu", intent=intent)
    for name, intent in (("x", "in"), ("y", "out"))
)


def text(**fields: Any) -> str:
    """The wrapper of a copy from x to y."""
    module = new_module()
    attach(module, Signature("f", [X, Y], **fields), DirectCallProvider("copy"))
    return printed_wrapper(module)


@pytest.mark.usefixtures("nothing_kept")
def test_a_wrapper_is_reused_for_the_same_names_alone() -> None:
    """A wrapper is kept when it is built for the second time."""
    plain, forbidding = text(), text(no_overlap=["y"])
    assert forbidding != plain
    for _ in range(3):
        assert text() == text(no_overlap=False) == plain
        assert text(no_overlap=["y"]) == text(no_overlap=True) == forbidding
        assert text(no_overlap=["x", "y"]) == text(no_overlap=["y", "x"]) != forbidding


def test_the_metadata() -> None:
    def where(**fields: Any) -> str:
        written = Signature("f", [X, Y], **fields).metadata()
        return json.loads(written)["ffi_builder"]["where"]

    assert where(no_overlap=True) == "even % 2 == 0, no_overlap(y)"
    assert where() == "even % 2 == 0"


def test_attach_ffi_func_takes_it() -> None:
    module, signature = new_module(), Signature("f", [X, Y], no_overlap=["y"])
    attach_ffi_func(module, "f", [X, Y], NopCallProvider(), no_overlap=True)
    other = new_module()
    attach(other, signature, NopCallProvider())
    assert printed_wrapper(module) == printed_wrapper(other)


def test_a_dltensor_by_pointer() -> None:
    call = wrap_raw([X, Y], no_overlap=True)
    x = Pointer(DLTensor((4,), None, 0x1000))
    assert call(x, Pointer(DLTensor((4,), None, 0x1010))) is None
    assert call(x, tensor(DLTensor((4,), None, 0x1000, byte_offset=16))) is None
    for y in (DLTensor((4,), None, 0x100C), DLTensor((4,), None, 0xF00, byte_offset=0xFC)):
        kind, message = call(x, Pointer(y)) or ("", "")
        assert kind == "ValueError"
        assert "expected memory apart from that of x (no_overlap) but got 0x" in message
        assert message.endswith("where x has 0x1000 to 0x100f")


def test_packed_tensors_are_compared_as_they_are_stored() -> None:
    """Four float4_e2m1fnx2 are 4 bytes, of 8 elements."""
    params = [
        Tensor(
            name,
            [n],
            "float4_e2m1fn",
            device_type="cpu",
            storage_dtype="float4_e2m1fnx2",
        )
        for name in "xy"
    ]
    call = wrap_raw(params, no_overlap=["y"])

    def stored(data: int) -> Any:
        return tensor(DLTensor((4,), None, data, (17, 4, 2)))

    assert call(stored(0x1000), stored(0x1004)) is None
    assert call(stored(0x1000), stored(0x1003)) is not None


@pytest.mark.parametrize("count", [20, 60])
def test_many_tensors(count: int) -> None:
    """More pairs than sizes are checked together, and than registers hold."""
    params: list[spec.Param] = [
        Tensor(f"x{i}", [n, m], "float32", device_type="cpu") for i in range(count)
    ]
    call = wrap_raw(params, no_overlap=[f"x{i}" for i in range(0, count, 5)], slots=4 * count)
    given = [tensor(DLTensor((2, 3), None, 0x1000 + 24 * i)) for i in range(count)]
    assert call(*given) is None
    for first, second in ((0, count - 1), (count - 1, 5), (7, 5), (11, 12)):
        wrong = [*given]
        wrong[first] = given[second]
        assert (call(*wrong) is None) == (first == 11)


def test_the_first_wrong_thing_is_said() -> None:
    """An overlap is what is looked for last."""
    np = pytest.importorskip("numpy", reason="needs NumPy")
    k = Var("k", "int64")
    params: list[spec.Param] = [
        X,
        Y,
        spec.Shape("dims", [k]),
        Tensor("z", [k // 2], "int8", device_type="cpu"),
    ]
    call: Any = wrap(params, no_overlap=["y"])
    both, z = np.zeros(4, "float32"), np.zeros(3, "int8")
    with pytest.raises(ValueError, match=r"Mismatched z.shape\[0\] .* expected 4 "):
        call(both, both, (8,), z)
    with pytest.raises(ValueError, match=r"Mismatched y on argument #1 .*, where x has 0x"):
        call(both, both, (6,), z)
