"""*A list of tensors* of docs/checks.md."""

from __future__ import annotations

from typing import Final

from ffi_builder.abi import TypeIndex
from ffi_builder.spec import Param, Shape, Tensor, TensorList, Var, dims
from tests.differential.description import NONE, Elements, Object, array, list_, shape
from tests.rules.calls import accepted, f32, fault, values

g, m, k = dims("g m k")


def cpu(name: str, *sizes: Var) -> Tensor:
    return Tensor(name, list(sizes), "float32", device_type="cpu")


AS: Final = TensorList(cpu("A", m, k), length=g, each=[m])
BOTH: Final[list[Param]] = [AS, TensorList(cpu("B", m), length=g, each=[m])]


def test_what_is_right():
    found = accepted(BOTH, array(f32(2, 3), f32(5, 3)), list_(f32(2), f32(5)))
    assert found.values == {"g": 2, "k": 3}
    assert [tensor.shape for tensor in found.lists["B"]] == [(2,), (5,)]
    assert values(BOTH, array(), array()) == {"g": 0, "k": 0}


def test_the_list_itself():
    kind = "TypeError #0 type of A: list of tensors | {}"
    assert fault([AS], NONE) == kind.format("None")
    assert fault([AS], shape(2)) == kind.format("ffi.Shape")
    negative = Object(TypeIndex.ARRAY, Elements((), -1))
    assert fault([AS], negative) == "ValueError #0 length of A: a non-negative value | -1"
    missing = Object(TypeIndex.ARRAY, Elements(None, 2))
    assert fault([AS], missing) == "ValueError #0 A: non-NULL elements | NULL"


def test_each_element():
    assert fault([AS], array(f32(2, 3), NONE)) == "TypeError #0 type of A[1]: Tensor | None"
    assert fault([AS], array(f32(2, 3), f32(2))) == "ValueError #0 A[1].ndim: 2 | 1"


def test_symbols():
    rows = array(f32(2, 3), f32(5, 3))
    assert fault([AS], array(f32(2, 3), f32(5, 4))).endswith(
        "A[1].shape[1]: 3 (k = A[0].shape[1]) | 4"
    )
    assert fault(BOTH, rows, array(f32(2))).endswith("#1 length of B: 2 (g = length of A) | 1")
    other = array(f32(2), f32(4))
    assert fault(BOTH, rows, other).endswith("#1 B[1].shape[0]: 5 (m = A[1].shape[0]) | 4")


def test_what_follows_an_empty_list():
    params: list[Param] = [AS, Shape("s", [k])]
    assert values(params, array(), shape(7)) == {"g": 0, "k": 7}
    assert fault(params, array(f32(2, 3)), shape(7)).endswith("s[0]: 3 (k = A[0].shape[1]) | 7")
