"""Rules of every kind of parameter, dtype and device, which would be long as a table."""

from __future__ import annotations

import pytest

from ffi_builder.abi import DEVICE_TYPES, UNIFIED_DEVICES, TypeIndex
from ffi_builder.spec.dtypes import parse_dtype
from ffi_builder.spec.numbers import INT_RANGES
from tests.differential.description import (
    NONE,
    DLTensor,
    Elements,
    Moved,
    Object,
    Plain,
    Value,
    array,
    of_bool,
    of_float,
    of_int,
    of_pointer,
    shape,
    tensor,
)
from tests.oracle import Accepted
from tests.rules.calls import Function
from tests.rules.table import TYPES, arguments
from tests.support.raw import kept, words

NULL = "a non-NULL object | NULL"
OBJECTS = {
    "Tensor([], float32)": "Tensor",
    "Shape([])": "Shape or list of ints",
    "Tuple()": "tuple",
    "Struct()": "tuple",
    "String": "str",
    "Bytes": "bytes",
    "Choice({'relu': 1})": "str",
    "Object('ffi.Module')": "ffi.Module",
    "Object('tests.Base')": "tests.Base",
    "Function": "Function",
    "Array": "Array",
    "Map": "Map",
}
"""Types of objects, and how errors call them."""
VALUES: dict[str, Value] = {
    "None": Plain(TypeIndex.NONE, 99),
    "int": of_int(1),
    "bool": of_bool(True),
    "float": of_float(1.0),
    "opaque pointer": of_pointer(16),
    "int beyond int64": of_int(2**63),
    "dtype": Plain(TypeIndex.DATA_TYPE),
    "device": Plain(TypeIndex.DEVICE),
    "str": Plain(TypeIndex.SMALL_STR),
    "moved object": Moved(Object(TypeIndex.BIG_INT)),
}
SCALARS = {
    "uint64": ("int, bool, int beyond int64", "int"),
    "bool": ("int, bool", "bool"),
    "float32": ("int, bool, float", "float"),
    "handle": ("opaque pointer, None", "opaque pointer or None"),
    "Stream": ("opaque pointer, None, int", "opaque pointer, None or int"),
    "DataPointer": (
        "opaque pointer, None, int, int beyond int64",
        "opaque pointer, None or int",
    ),
    "DType": ("dtype", "dtype"),
    "Device": ("device", "device"),
    "None": ("None", "None"),
    "Literal[1]": ("int", "int"),
    "Literal[True]": ("bool", "bool"),
    "Literal[1.0]": ("float, int", "float"),
}
"""Types of numbers and the like: what they take, and how errors call them."""


@pytest.mark.parametrize("kind", SCALARS)
def test_what_a_scalar_takes(kind: str) -> None:
    takes, name = SCALARS[kind]
    call = Function(f"f(x: {kind})")
    for given, value in VALUES.items():
        accepted = "Error" not in call(value)
        assert accepted == (given in takes.split(", ")), given
        if not accepted:
            assert call(value) == f"TypeError #0 type of x: {name} | {given}"


@pytest.mark.parametrize("kind", [*OBJECTS, "Object"])
def test_moved_objects(kind: str) -> None:
    call = Function(f"f(x: {kind})")
    for given in (Plain(TypeIndex.OBJECT_RVALUE_REF), Moved(None)):
        assert call(given) == f"ValueError #0 x: {NULL}"
    held = {TypeIndex.ERROR: "ffi.Error", TypeIndex.BIG_INT: "int beyond int64"}
    held |= {79: "type index 79", TYPES["Other"]: "tests.Other"}
    for index, shown in held.items() if kind != "Object" else ():
        assert call(Moved(Object(index))) == f"TypeError #0 type of x: {OBJECTS[kind]} | {shown}"


@pytest.mark.parametrize("kind", [*OBJECTS, "Object", *SCALARS])
def test_an_optional_says_so(kind: str) -> None:
    name = OBJECTS.get(kind) or SCALARS.get(kind, ("", kind))[1]
    if "None" in name:
        return  # it is None itself
    call = Function(f"f(x: Optional({kind}))")
    shown = f"TypeError #0 type of x: {name} or None | Unchanged"
    assert call(Plain(TypeIndex.UNCHANGED)) == shown
    assert call(NONE).split("; ")[-1] == "x is absent"


def test_any_object() -> None:
    call = Function("f(x: Object)")
    for index in (64, 65, 70, 74, 78, 79, 127, 128, TYPES["Base"], 2**31 - 1):
        assert call(Object(index, says=0)) == "x=address"
        assert call(Plain(index)) == f"ValueError #0 x: {NULL}"


@pytest.mark.parametrize(("kind", "index"), [("Function", 68), ("Array", 71), ("Map", 72)])
def test_one_type(kind: str, index: int) -> None:
    call = Function(f"f(x: {kind})")
    assert call(Plain(index, words(0, 0, 0))) == "x=address"
    assert call(Plain(index)) == f"ValueError #0 x: {NULL}"
    for other, shown in [(64, "ffi.Object"), (75, "ffi.List"), (76, "ffi.Dict"), (0, "None")]:
        assert call(Plain(other)) == f"TypeError #0 type of x: {kind} | {shown}"


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "uint16", "int64", "uint64"])
def test_fits(dtype: str) -> None:
    low, high = INT_RANGES[dtype]
    call = Function(f"f(x: {dtype})")
    assert call(of_int(low)) == f"x={low}"
    assert call(of_int(high)) == f"x={high}"
    for beyond in (low - 1, high + 1):
        shown = beyond if -(2**63) <= beyond < 2**64 else "an int beyond 64 bits"
        expected = f"ValueError #0 x: a value that fits {dtype} ({low} to {high}) | {shown}"
        assert call(of_int(beyond)) == expected


@pytest.mark.parametrize("kind", ["handle", "DataPointer"])
def test_a_pointer_may_be_null_where_nothing_says_that_it_is_present(kind: str) -> None:
    free = Function(f"f(c: {kind})")
    present = Function(f"f(c: {kind}) where c.present")
    absent = Function(f"f(c: {kind}) where not c.present")
    nulls = {"None": (NONE, Plain(TypeIndex.NONE, 77)), "0x0": (of_pointer(0),)}
    for shown, given in nulls.items():
        for null in given:
            assert "Error" not in free(null) + absent(null)
            found = present(null)
            assert found.startswith("ValueError #0 c: c.present ")
            assert found.endswith(f" | c = {shown}")
    for pointer, shown in ((0x40, "0x40"), (-8, "0xfffffffffffffff8")):
        assert "Error" not in present(of_pointer(pointer))
        assert absent(of_pointer(pointer)) == f"ValueError #0 c: not c.present | c = {shown}"


@pytest.mark.parametrize("kind", ["{}", "Optional({})"])
def test_each_row_of_a_list_of_lists(kind: str) -> None:
    call = Function(f"f(groups: {kind.format('List(List(uint8), n)')})")
    wrong: list[tuple[Value, str]] = [
        (of_int(1), "TypeError #0 type of groups[1]: list of ints | int"),
        (Plain(TypeIndex.ARRAY), f"ValueError #0 groups[1]: {NULL}"),
        (
            Object(TypeIndex.ARRAY, Elements(None, 2)),
            "ValueError #0 groups[1]: non-NULL elements | NULL",
        ),
        (
            Object(TypeIndex.ARRAY, Elements((), -1)),
            "ValueError #0 length of groups[1]: a non-negative value | -1",
        ),
        (
            array(of_int(1), of_int(256)),
            "ValueError #0 groups[1][1]: a value that fits uint8 (0 to 255) | 256",
        ),
        (shape(1, -1), "ValueError #0 groups[1][1]: a value that fits uint8 (0 to 255) | -1"),
        (array(of_int(1), array()), "TypeError #0 type of groups[1][1]: int | list"),
    ]
    for given, outcome in wrong:
        for first in (array(), shape(1, 2), array(*[of_int(1)] * 60)):
            assert call(array(first, given, array())) == outcome


ALIGNMENTS = {
    "float64": 8,
    "int64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "complex64": 4,
    "complex128": 8,
    "float32x4": 4,
    "int16x3": 2,
    "int8": 1,
    "bool": 1,
    "float8_e4m3fn": 1,
    "int4x2": 1,
    "uint8x16": 1,
}


@pytest.mark.parametrize("dtype", ALIGNMENTS)
def test_alignment_of_elements(dtype: str) -> None:
    alignment, given = ALIGNMENTS[dtype], parse_dtype(dtype)

    def at(address: int, *dims: int, offset: int = 0) -> Value:
        code = (given.code, given.bits, given.lanes)
        fields = DLTensor(dims or (3,), None, dtype=code, data=address, byte_offset=offset)
        return tensor(fields)

    call = Function(f"f(x: Tensor([n], {dtype}))")
    assert call(at(0x7F00 + alignment)) == "n=3"
    if alignment == 1:
        return
    words = f"an address aligned to {alignment} bytes, as elements of x are"
    for wrong in (at(0x7F01), at(0x7F00, offset=1)):
        assert call(wrong) == f"ValueError #0 x.data: {words} | 0x7f01 (aligned to 1)"
    assert call(at(0x7F01, offset=alignment - 1)) == "n=3"
    assert call(at(0x7F01, 0)) == "n=0"
    assert Function(f"f(x: Tensor([n], {dtype}, data_alignment=1))")(at(0x7F01)) == "n=3"
    aligned = Function(f"f(x: Tensor([n], {dtype}, data_alignment=16))")
    assert "(data_alignment of x)" in aligned(at(0x7F01))


def test_alignment_of_one_of_several_dtypes() -> None:
    call = Function("f(x: Tensor([n], uint8 | float32 | float64))")
    for code, size in (((1, 8, 1), 1), ((2, 32, 1), 4), ((2, 64, 1), 8)):
        for address in range(0x7F00, 0x7F09):
            found = call(tensor(DLTensor((3,), None, dtype=code, data=address)))
            wrong = f"aligned to {size} bytes, as elements of x" in found
            assert (found == "n=3", wrong) == (address % size == 0, address % size != 0)


@pytest.mark.parametrize("device", DEVICE_TYPES)
def test_alignment_on_devices(device: str) -> None:
    given = tensor(DLTensor((3,), None, data=0x7F01, device_type=DEVICE_TYPES[device]))
    for device_type in (device, "any"):
        found = Function(f"f(x: Tensor([n], float32, device_type={device_type}))")(given)
        checked = "aligned to 4 bytes, as elements of x" in found
        assert (checked, found == "n=3") == (device in UNIFIED_DEVICES, not checked)


@pytest.mark.parametrize(("ndim", "cut"), [(64, ""), (65, ", ...")])
def test_lists_of_more_than_64_entries_are_cut(ndim: int, cut: str) -> None:
    call = Function("f(A: Tensor(..., float32))")
    ones, strides = ", ".join(["2"] + ["1"] * 63), ", ".join(["7"] * 64)
    given = tensor(DLTensor((2,) + (1,) * (ndim - 1), (7,) * ndim))
    shown = f"(shape=[{ones}{cut}], strides=[{strides}{cut}])"
    assert call(given) == f"ValueError #0 A.strides[0]: 1 (row-major contiguous) | 7 {shown}"
    found = call(tensor(DLTensor((2,) * ndim)))
    twos = ", ".join(["2"] * 64)
    assert found.endswith(f"A.shape: a product of dimensions that fits int64 | [{twos}{cut}]")


def test_the_address_of_the_dltensor() -> None:
    """It is what a kernel gets, after the header of an object."""
    content = bytes.fromhex("4000000000000000 01000000 07000000 02000000 02 20 0100")
    content += words(3, 4).to_bytes(8, "little") + bytes(8) + (4).to_bytes(8, "little")
    header = bytes(8) + TypeIndex.TENSOR.to_bytes(4, "little") + bytes(12)
    call = Function("f(A: Tensor(..., float32))")
    for kind, before in ((TypeIndex.DL_TENSOR_PTR, b""), (TypeIndex.TENSOR, header)):
        address = kept(before + content)
        found = call.verdict(arguments(f"Plain({int(kind)}, {address})"))
        assert isinstance(found, Accepted)
        each = found.tensors["A"]
        assert (each.address, each.data) == (address + len(before), 68)
        assert (each.device_type, each.device_id) == (1, 7)
