"""``args=`` of parts of parameters: by their path, and as ``Field`` objects."""

from __future__ import annotations

import struct
from typing import Final

import pytest

from ffi_builder import attach_ffi_func, spec
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.providers import (
    CallProvider,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
)
from ffi_builder.providers.arguments import Entry
from ffi_builder.spec import Field, Optional, String, Struct, Tensor, TupleParam, Var, dims
from tests.differential.description import DLTensor, Pointer, array, of_float, of_int, tensor
from tests.differential.description import Value as Given
from tests.support.raw import small
from tests.support.recording import Recording, c_callees
from tests.support.wrapping import new_module, wrap_raw

n, m = dims("n m")
POINTER: Final = "!llvm.ptr"
ANY: Final = Tensor("A", ..., ("float32", "int8", "bfloat16"), device_type="any")
ALPHA: Final = Var("alpha", "float32")
CFG: Final = Struct(
    "cfg", [ALPHA, ANY, TupleParam("t", [Optional(Var("k", "int16")), String("s")])]
)
X: Final = Tensor("x", [n, m], "float32", device_type="cpu", strides="F")
PARTS: Final = {"dtype": "i32", "device_type": "i32", "device_id": "i32", "ndim": "i32"}


def body(dtype: tuple[int, int, int] = (0, 8, 1), device: tuple[int, int] = (2, 5)) -> DLTensor:
    kind, number = device
    return DLTensor((2, 3, 4), None, 0x40, dtype, kind, number, byte_offset=2)


@pytest.mark.parametrize("make", [DirectCallProvider, MemRefCallProvider])
@pytest.mark.parametrize("as_objects", [False, True])
def test_parts_of_a_tensor(make: type[DirectCallProvider], as_objects: bool) -> None:
    args: list[Entry] = [f"A.{part}" for part in PARTS]
    if as_objects:
        args = [Field(ANY, part) for part in PARTS]
    recording = Recording("callee", [*PARTS.values(), POINTER, POINTER])
    provider = make("callee", args=[*args, "A.dltensor", ANY.data])
    call = wrap_raw([ANY], provider, recording.text)
    for given in (tensor(body()), Pointer(body())):
        assert call(given) is None
        assert struct.unpack("<BBH", recording.read(0, 4)) == (0, 8, 1)
        assert [recording.signed(i, 4) for i in (1, 2, 3)] == [2, 5, 3]
        assert recording.unsigned(5) == 0x42
    assert call(tensor(body((4, 16, 1), (1, 0)))) is None
    assert struct.unpack("<BBH", recording.read(0, 4)) == (4, 16, 1)
    assert [recording.signed(i, 4) for i in (1, 2, 3)] == [1, 0, 3]
    error = call(tensor(body((0, 16, 1))))
    assert error is not None
    assert error[1].endswith("expected one of float32, int8, bfloat16 but got int16")


def test_packed_parts_are_values() -> None:
    callees = c_callees()
    callees.expect(4, 4, 4, 4, 8, 8)
    args = [*(f"A.{part}" for part in PARTS), "A.dltensor", "A.data"]
    call = wrap_raw([ANY], DynamicParamPackCallProvider("ffib_test_pack", args=args))
    given = Pointer(body())
    assert call(given) is None
    assert struct.unpack("<BBH", callees.read(0, 4)) == (0, 8, 1)
    assert [int.from_bytes(callees.read(i, 4), "little") for i in (1, 2, 3)] == [2, 5, 3]
    assert int.from_bytes(callees.read(5, 8), "little") == 0x42
    # "A" itself is the DLTensor, and "A.dltensor" a pointer to it.
    callees.expect(8, 48)
    twice = DynamicParamPackCallProvider("ffib_test_pack", args=["A.dltensor", "A"])
    assert wrap_raw([ANY], twice)(given) is None
    assert callees.read(1, 8 + 40)[:8] == struct.pack("<Q", 0x40)


def test_paths() -> None:
    paths = ["cfg.t[1]", "cfg.A.data", "cfg.alpha", "cfg.t[0].present", "cfg.A.ndim", "cfg.t[0]"]
    types = [POINTER, "i64", POINTER, "f32", "i1", "i32", "i16"]
    recording = Recording("callee", types)
    call = wrap_raw([CFG], DirectCallProvider("callee", args=paths), recording.text)
    given = array(of_float(0.5), tensor(body()), array(of_int(-9), small(b"abc")))
    assert call(given) is None
    assert (recording.signed(1), recording.unsigned(2)) == (3, 0x42)
    assert recording.read(3, 4) == struct.pack("<f", 0.5)
    assert (recording.read(4, 1), recording.signed(5, 4)) == (b"\1", 3)
    assert recording.signed(6, 2) == -9


def test_objects_of_parts_within_others() -> None:
    count = Optional(Var("k", "int16"))
    args: list[Entry] = [ALPHA, Field(count, "present"), count, ANY, Field(ANY, "ndim"), ANY.data]
    recording = Recording("callee", ["f32", "i1", "i16", POINTER, "i32", POINTER])
    call = wrap_raw([CFG], DirectCallProvider("callee", args=args), recording.text)
    given = array(of_float(2.0), tensor(body()), array(of_int(7), small(b"")))
    assert call(given) is None
    assert recording.read(0, 4) == struct.pack("<f", 2.0)
    assert (recording.read(1, 1), recording.signed(2, 2)) == (b"\1", 7)
    assert (recording.signed(4, 4), recording.unsigned(5)) == (3, 0x42)


def test_a_whole_struct_by_its_path() -> None:
    recording = Recording("callee", ["i16", POINTER, "i64", "f32"])
    provider = DirectCallProvider("callee", args=["cfg.t", "cfg.alpha"])
    call = wrap_raw([CFG], provider, recording.text)
    assert call(array(of_float(1.0), tensor(body()), array(of_int(-1), small(b"a")))) is None
    assert (recording.signed(0, 2), recording.signed(2)) == (-1, 1)


def test_a_fields_name_comes_before_a_parts() -> None:
    cfg = Struct("cfg", [Var("data", "int8"), Optional(Var("present", "int8"))])
    recording = Recording("callee", ["i8", "i8", "i1"])
    args = ["cfg.data", "cfg.present", "cfg.present.present"]
    call = wrap_raw([Optional(cfg)], DirectCallProvider("callee", args=args), recording.text)
    assert call(array(of_int(3), of_int(4))) is None
    assert (recording.signed(0, 1), recording.signed(1, 1), recording.read(2, 1)) == (3, 4, b"\1")


LAYOUTS: Final[list[tuple[Tensor, DLTensor, list[int]]]] = [
    (X, DLTensor((2, 3), (1, 2)), [2, 3, 1, 2]),
    (X, DLTensor((1, 3), (99, 1)), [1, 3, 1, 1]),
    (X, DLTensor((2, 0), (9, 9)), [2, 0, 1, 2]),
    (X, DLTensor((2, 1)), [2, 1, 1, 2]),
    (Tensor("x", [n, m], "float32", device_type="cpu", strides="any"), DLTensor((2, 3), (-7, 0)), [2, 3, -7, 0]),
    (Tensor("x", [n, 3], "float32", device_type="cpu", strides="any"), DLTensor((2, 3)), [2, 3, 3, 1]),
    (
        Tensor(
            "x",
            [n, m],
            "float4_e2m1fn",
            device_type="cpu",
            strides="F",
            storage_dtype="float4_e2m1fnx2",
        ),
        DLTensor((2, 3), (1, 2), dtype=(17, 4, 2)),
        [4, 3, 1, 4],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("param", "given", "expected"), LAYOUTS)
def test_sizes_and_strides(param: Tensor, given: DLTensor, expected: list[int]) -> None:
    recording = Recording("callee", [POINTER, POINTER, *["i64"] * 5])
    call = wrap_raw([param], MemRefCallProvider("callee"), recording.text)
    assert call(tensor(given)) is None
    assert [recording.signed(3 + i) for i in range(4)] == expected


def test_any_strides_are_in_the_struct_and_column_major_ones_are_not() -> None:
    loose = Tensor("y", [n, m], "float32", device_type="cpu", strides="any")
    callees = c_callees()
    callees.expect(24, 40)
    call = wrap_raw([X, loose], DynamicParamPackCallProvider("ffib_test_pack"))
    values: list[Given] = [
        tensor(DLTensor((2, 3), (1, 2), 0x40)),
        tensor(DLTensor((2, 3), (0, -5), 0x80)),
    ]
    assert call(*values) is None
    assert struct.unpack("<3q", callees.read(0, 24)) == (0x40, 2, 3)
    assert struct.unpack("<5q", callees.read(1, 40)) == (0x80, 2, 3, 0, -5)


@pytest.mark.parametrize(
    "make", [DirectCallProvider, MemRefCallProvider, DynamicParamPackCallProvider]
)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cfg", "which names no parameter or symbol of 'f'; it has A, alpha, s, x, y, z, n"),
        ("cfg.alpha.data", "which names no parameter or symbol of 'f'; it has A, alpha, s, x, y, z, n"),
        ("alhpa", "which names no parameter or symbol of 'f'; it has A, alpha, s, x, y, z, n, did you mean 'alpha'?"),
        ("A.present", "but A is not an Optional, so it is always present"),
        ("alpha.present", "but alpha is not an Optional, so it is always present"),
        ("alpha.length", "but alpha is a Var, which has no parts"),
        ("s.lenght", "but the parts of s, a String, are data, length, c_str, did you mean 'length'?"),
        ("x.dypte", "but the parts of x, a Tensor, are dtype, device_type, device_id, ndim, dltensor, data, did you mean 'dtype'?"),
        ("A.shape", "but the parts of A, a Tensor, are dtype, device_type, device_id, ndim, dltensor, data"),
        ("x.shape", "but x.shape is passed by its symbols, such as 'n'"),
        ("x.shape[0]", "but x.shape is passed by its symbols, such as 'n'"),
        ("x.strides[0]", "but x.strides is passed by its symbols, and it has none; name them: strides=[s0, s1], which other layouts fit too"),
        ("y.strides", "but y.strides is passed by its symbols, and it has none; name them: strides=[s0]"),
        ("z.strides", "but z.strides is passed by its symbols, and it has none"),
    ],
)  # fmt: skip
def test_names_of_no_part(name: str, words: str, make: type[DirectCallProvider]) -> None:
    x = Tensor("x", [n, 4], "float32", device_type="cpu")
    y = Tensor("y", [n], "float32", device_type="cpu", strides="any")
    z = Tensor("z", [], "float32", device_type="cpu")
    params: list[spec.Param] = [ANY, ALPHA, String("s"), x, y, z]
    provider: CallProvider = make("callee", args=[name])
    with pytest.raises(BuildError) as raised:
        attach_ffi_func(new_module(), "f", params, provider)
    assert str(raised.value) == f"{make.__name__}: args= has {name!r}, {words}"


@pytest.mark.parametrize(
    ("param", "part", "words"),
    [
        (ANY, "shape", "Tensor 'A': part: expected one of .* but got 'shape'"),
        (ANY, "present", "Tensor 'A': part: only an Optional has the part 'present'; this is"),
        (ALPHA, "dtype", "Var 'alpha': part: a Var has no parts, but got 'dtype'"),
        (Optional(ALPHA), "dtype", "Optional 'alpha': part: expected one of present but got 'dtype'"),
        (CFG, "alpha", "Struct 'cfg': part: a Struct has no parts, but got 'alpha'"),
    ],
)  # fmt: skip
def test_fields_that_cannot_be(param: spec.Param, part: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        Field(param, part)


def test_a_field_of_another_parameter() -> None:
    field = Field(Tensor("B", [n], "float32", device_type="cpu"), "ndim")
    with pytest.raises(BuildError) as raised:
        attach_ffi_func(new_module(), "f", [ANY], DirectCallProvider("callee", args=[field]))
    assert str(raised.value) == (
        f"DirectCallProvider: args= has {field!r}, which is not a parameter of 'f'; it has A"
    )


def test_a_memref_has_a_rank() -> None:
    words = (
        "MemRefCallProvider: '{0}' may have any number of dimensions, and a memref has a rank; pass "
        "its DLTensor* with args=['{0}.dltensor']"
    )
    for params, path in (([ANY], "A"), ([Optional(ANY)], "A"), ([CFG], "cfg.A")):
        with pytest.raises(BuildError) as raised:
            attach_ffi_func(new_module(), "f", params, MemRefCallProvider("callee"))
        assert str(raised.value) == words.format(path)
