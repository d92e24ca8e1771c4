from __future__ import annotations

from typing import Any

import pytest

from ffi_builder import SpecError, abi
from ffi_builder.spec import (
    Tensor,
    Var,
    ceildiv,
    create_map_tensor_dtype_f4x2_to_f4_spec,
    dims,
)

n, k = dims("n k")


def tensor(shape: Any = (4, 8), dtype: Any = "float32", **fields: Any) -> Tensor:
    fields = {"device_type": "cpu", **fields}
    return Tensor("A", shape, dtype, **fields)


def test_fields():
    made = tensor([n, k * 2, 4, None], data_alignment=16, device_id=1, intent="inout")
    assert made.shape == (n, k * 2, 4, None)
    assert made.ndim == 4
    assert (made.device_type, made.device) == ("cpu", "cpu")
    assert made.strides is made.stride_entries is None
    assert made.dtypes == made.element_dtypes == ("float32",)
    assert (made.packing, made.packed_axis) == (1, None)
    assert made.dims == made.shape
    assert (made.order, made.any_rank) == ("C", False)


def test_any_rank():
    made = tensor(...)
    assert made.shape is Ellipsis
    assert (made.any_rank, made.dims, made.ndim) == (True, (), 0)
    assert made.order == "C"
    assert made.stride_entries is None
    assert made != tensor([])
    # Without a rank, the number of entries is unknown.
    assert tensor(..., strides="any").stride_entries == ()


@pytest.mark.parametrize(
    ("strides", "kept", "order", "entries"),
    [
        (None, None, "C", None),
        ("C", None, "C", None),
        ("F", "F", "F", None),
        ("any", "any", None, (None, None)),
        ([None, None], (None, None), None, (None, None)),
        ([n, 1], (n, 1), None, (n, 1)),
    ],
)
def test_layouts(strides: Any, kept: Any, order: str | None, entries: Any):
    made = tensor(strides=strides)
    assert (made.strides, made.order, made.stride_entries) == (kept, order, entries)


def test_layouts_differ():
    assert len({tensor(strides=strides) for strides in (None, "C", "F", "any")}) == 3
    assert tensor(strides="any") != tensor(strides=[None, None])


def test_several_dtypes():
    made = tensor(dtype=["float16", "float32"])
    assert made.dtype == made.dtypes == made.element_dtypes == ("float16", "float32")
    assert made == tensor(dtype=("float16", "float32"))
    assert hash(made) == hash(tensor(dtype=("float16", "float32")))
    # The order is that in which errors list them.
    assert made != tensor(dtype=("float32", "float16"))
    assert tensor(dtype=["float32"]) == tensor()


def test_lists_and_tuples_are_alike():
    assert tensor([n, 4], strides=[1, n]) == tensor((n, 4), strides=(1, n))
    assert hash(tensor([n, 4])) == hash(tensor((n, 4)))
    assert tensor(strides="C") == tensor(strides=None) == tensor()


def test_only_name_shape_and_dtype_are_positional():
    with pytest.raises(TypeError, match="positional"):
        Tensor("A", [1], "float32", "cpu")  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("device", [*abi.DEVICE_TYPES, "any"])
def test_devices(device: str):
    assert tensor(device_type=device).device == device


@pytest.mark.parametrize(
    "fields",
    [
        {"shape": []},
        {"shape": [0]},
        {"shape": [2**63 - 1]},
        {"shape": [ceildiv(n, 4), n % 8, n // 2]},
        {"shape": [Var("b", "uint8")]},
        {"strides": [-8, 1]},
        {"strides": [None, n]},
        {"strides": [n * 2, 0]},
        {"data_alignment": 1},
        {"data_alignment": 4096},
        {"device_id": Var("d", "int32")},
        {"device_id": 0},
        {"intent": "out"},
        {"storage_dtype": "float32"},
        {"storage_dtype": "int32"},
        {"dtype": ("float16", "float16x2", "int4")},
        {"shape": ..., "strides": "F"},
        {"shape": ..., "dtype": ("int8", "bool"), "strides": "any", "device_type": "any"},
        {"shape": [], "strides": "F"},
        {"device_type": "any", "device_id": 1},
    ],
)
def test_accepted(fields: dict[str, Any]):
    tensor(**fields)


class TestPacked:
    def packed(self, shape: Any, **fields: Any) -> Tensor:
        return tensor(shape, "float4_e2m1fn", storage_dtype="float4_e2m1fnx2", **fields)

    def test_the_last_dimension_is_packed(self):
        made = self.packed([n, k])
        assert made.element_dtypes == ("float4_e2m1fnx2",)
        assert made.dtypes == ("float4_e2m1fn",)
        assert (made.packing, made.packed_axis) == (2, 1)

    def test_of_a_column_major_tensor_the_first_is(self):
        assert self.packed([4, 3], strides="F").packed_axis == 0

    def test_the_dimension_with_stride_1_is_packed(self):
        assert self.packed([k, n], strides=[1, k]).packed_axis == 0

    def test_any_whole_number_of_elements(self):
        made = tensor([k], "int8", storage_dtype="int32")
        assert (made.packing, made.packed_axis) == (4, 0)

    def test_what_cannot_be_known_yet_is_accepted(self):
        self.packed([3, n])
        self.packed([3, 4], strides=[n + 1, 1])
        self.packed([3, None])

    def test_the_f4x2_function(self):
        plain = tensor([n, k], "float4_e2m1fn", data_alignment=16, doc="weights")
        mapped = create_map_tensor_dtype_f4x2_to_f4_spec(plain)
        assert mapped == self.packed([n, k], data_alignment=16)
        assert mapped.doc == "weights"
        assert create_map_tensor_dtype_f4x2_to_f4_spec(mapped) == mapped

    def test_the_f4x2_function_refuses_other_dtypes(self):
        with pytest.raises(SpecError) as caught:
            create_map_tensor_dtype_f4x2_to_f4_spec(tensor([n, k]))
        assert str(caught.value) == (
            "Tensor 'A': expected dtype 'float4_e2m1fn' to map from float4_e2m1fnx2 but it is "
            "'float32'"
        )


def test_as_many_dimensions_as_can_be():
    tensor = Tensor("A", [n] * 255, "float32", device_type="cpu")
    assert tensor.ndim == 255
    for count in (256, 1000):
        with pytest.raises(SpecError) as caught:
            Tensor("A", [n] * count, "float32", device_type="cpu")
        words = f"Tensor 'A': shape: expected at most 255 dimensions but got {count}"
        assert str(caught.value) == words


def test_other_names_of_the_device_type() -> None:
    for device, number in (("cpu", 1), ("cuda", 2), ("rocm", 10), ("any", None)):
        x = Tensor("x", [4], "float32", device_type=device)
        assert (x.device_type_name, x.dlpack_device_type) == (device, number)
