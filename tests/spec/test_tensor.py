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


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"shape": [4, -1]}, r"Tensor 'A': shape\[1\]: expected a non-negative int but got -1"),
        ({"shape": [2**63]}, r"shape\[0\]: expected an int that fits int64 but got 9223372036854775808"),
        ({"shape": [4.0]}, r"shape\[0\]: expected an int, a Var or an expression .* got 4.0 \(float\)"),
        ({"shape": [True]}, r"shape\[0\]: expected an int, .* got True \(bool\)"),
        ({"shape": ["n"]}, r"shape\[0\]: expected an int, a Var .* got 'n' \(str\)"),
        ({"shape": [(n, 4)]}, r"shape\[0\]: .* \(tuple\); each entry is one dimension, so unpack it$"),
        ({"shape": [Var("a", "float32")]}, r"shape\[0\]: 'a' is a float32 symbol, not an integer"),
        ({"shape": 4}, "Tensor 'A': shape: expected a list or tuple .* but got 4"),
        ({"shape": "nk"}, "Tensor 'A': shape: expected a list or tuple .* but got 'nk'"),
        ({"shape": b"nk"}, "Tensor 'A': shape: expected a list or tuple .* but got b'nk'"),
        ({"shape": n}, "Tensor 'A': shape: expected a list or tuple .* but got Var"),
        ({"shape": [n, ...]}, r"Tensor 'A': shape\[1\]: \.\.\. is the whole shape of a Tensor and cannot"),
        ({"shape": {4, 8}}, "Tensor 'A': shape: expected a list or tuple"),
        ({"device_type": "gpu"}, "Tensor 'A': device_type: expected one of cpu, cuda, .* got 'gpu'"),
        ({"device_type": 2}, "Tensor 'A': device_type: expected one of cpu, cuda, .* got 2"),
        ({"device_type": "CPU"}, "device_type: .* got 'CPU'"),
        ({"device_id": -1}, "Tensor 'A': device_id: expected a non-negative int but got -1"),
        ({"device_id": "0"}, "Tensor 'A': device_id: expected an int, a Var or None but got '0'"),
        ({"device_id": n + 1}, "Tensor 'A': device_id: expected an int, a Var or None but got"),
        ({"device_id": Var("a", "float32")}, "device_id: 'a' is a float32 symbol"),
        ({"strides": [1]}, r"Tensor 'A': strides: expected 2 entries, one for each dimension of "
                           r"\[4, 8\], but got 1: \[1\]"),
        ({"strides": []}, r"strides: expected 2 entries, .* but got 0: \[\]"),
        ({"strides": [n, k, 1]}, r"strides: expected 2 entries, .* but got 3: \[n, k, 1\]"),
        ({"strides": "f"}, "Tensor 'A': strides: expected None, 'C', 'F', 'any' or a list but got 'f'"),
        ({"strides": [1, ...]}, r"strides\[1\]: \.\.\. is the whole shape of a Tensor"),
        ({"strides": ...}, "strides: expected a list or tuple .* but got Ellipsis"),
        ({"shape": ..., "strides": [1]}, r"Tensor 'A': strides: expected None, 'C', 'F' or 'any', as "
                                         r"the shape is \.\.\., but got \[1\]"),
        ({"shape": ..., "strides": []}, r"as the shape is \.\.\., but got \[\]"),
        ({"dtype": ()}, r"Tensor 'A': dtype: expected one dtype or several different ones but got \[\]"),
        ({"dtype": ["int8", "int8"]}, r"dtype: expected .* different ones but got \['int8', 'int8'\]"),
        ({"dtype": ("int8", "int8x1")}, r"dtype: expected .* different ones but got \['int8', 'int8x1'\]"),
        ({"dtype": ["int8", "float23"]}, "Tensor 'A': dtype: .* but got 'float23', did you mean 'float32'"),
        ({"dtype": [8]}, "Tensor 'A': dtype: expected a DLPack type name .* but got 8"),
        ({"dtype": [["int8"]]}, r"dtype: expected a DLPack type name .* but got \['int8'\]"),
        ({"dtype": {"int8"}}, "dtype: expected a DLPack type name .* but got {'int8'}"),
        ({"dtype": ("int4", "int8"), "storage_dtype": "int8"}, "Tensor 'A': storage_dtype: expected a single "
                                                               "dtype but the tensor has int4, int8"),
        ({"shape": ..., "dtype": "int4", "storage_dtype": "int8"}, r"Tensor 'A': storage_dtype: expected "
                                                                   r"a shape of known rank but it is \.\.\."),
        ({"strides": 1}, "Tensor 'A': strides: expected a list or tuple .* but got 1"),
        ({"strides": [8, 1.0]}, r"strides\[1\]: expected an int, .* got 1.0"),
        ({"strides": [2**63, 1]}, r"strides\[0\]: expected an int that fits int64"),
        ({"data_alignment": 0}, "Tensor 'A': data_alignment: expected a positive int but got 0"),
        ({"data_alignment": -16}, "Tensor 'A': data_alignment: expected a positive int but got -16"),
        ({"data_alignment": 24}, "Tensor 'A': data_alignment: expected a power of two but got 24"),
        ({"data_alignment": 16.0}, "data_alignment: expected an int but got 16.0"),
        ({"data_alignment": True}, "data_alignment: expected an int but got True"),
        ({"intent": "read"}, "Tensor 'A': intent: expected one of in, out, inout but got 'read'"),
        ({"storage_dtype": "f4"}, "Tensor 'A': storage_dtype: .*expected a DLPack type name"),
        ({"storage_dtype": "float32x0"}, "Tensor 'A': storage_dtype: .*expected a DLPack type name"),
        ({"storage_dtype": "float16"}, "Tensor 'A': storage_dtype: float16 is 16 bits, which is not a "
                                       "multiple of the 32 bits of float32"),
        ({"doc": 3}, r"Tensor 'A': doc: expected a str but got 3 \(int\)"),
    ],
)  # fmt: skip
def test_refused(fields: dict[str, Any], words: str):
    with pytest.raises(SpecError, match=words):
        tensor(**fields)


@pytest.mark.parametrize("name", ["", "A.B", "1st", "Ä", None])
def test_names(name: Any):
    with pytest.raises(SpecError, match="Tensor name: expected a name of ASCII letters"):
        Tensor(name, [1], "float32", device_type="cpu")


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

    @pytest.mark.parametrize(
        ("shape", "fields", "words"),
        [
            ([], {}, "storage_dtype: a tensor without dimensions cannot be packed"),
            ([n, 3], {}, r"storage_dtype: shape\[1\] is 3, but 2 elements of float4_e2m1fn share "
                         "one float4_e2m1fnx2, so it must be a multiple of 2"),
            ([n, 4], {"strides": [5, 1]}, r"strides\[0\] is 5, but 2 elements of float4_e2m1fn"),
            ([n, 4], {"strides": [n, k]}, r"exactly one stride must be 1, .* are \[n, k\]"),
            ([n, 4], {"strides": [1, 1]}, r"exactly one stride must be 1, .* are \[1, 1\]"),
            ([n, 4], {"strides": "any"}, r"exactly one stride must be 1, .* the strides are any"),
            ([3, n], {"strides": "F"}, r"storage_dtype: shape\[0\] is 3, .* must be a multiple of 2"),
        ],
    )  # fmt: skip
    def test_refused(self, shape: Any, fields: dict[str, Any], words: str):
        with pytest.raises(SpecError, match=f"Tensor 'A': .*{words}"):
            self.packed(shape, **fields)

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
