"""``args=`` of parts of parameters: by their path, and as ``Field`` objects."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any, Final

import pytest

from ffi_builder import attach_ffi_func, spec
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.providers import (
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
)
from ffi_builder.spec import Field, Optional, String, Struct, Tensor, TupleParam, Var, dims
from tests.differential.description import DLTensor, Pointer, array, of_float, of_int, tensor
from tests.differential.description import Value as Given
from tests.providers.arriving import packed, parameters, recorded
from tests.support.raw import small
from tests.support.wrapping import new_module, refused

(n,) = dims("n")
ANY: Final = Tensor("A", ..., ("float32", "int8", "bfloat16"), device_type="any")
ALPHA: Final = Var("alpha", "float32")
COUNT: Final = Optional(Var("k", "int16"))
CFG: Final = Struct("cfg", [ALPHA, ANY, TupleParam("t", [COUNT, String("s")])])
PARTS: Final = ("dtype", "device_type", "device_id", "ndim")


def body(dtype: tuple[int, int, int] = (0, 8, 1), device: tuple[int, int] = (2, 5)) -> DLTensor:
    kind, number = device
    return DLTensor((2, 3, 4), None, 0x40, dtype, kind, number, byte_offset=2)


@pytest.mark.parametrize("make", [DirectCallProvider, MemRefCallProvider])
@pytest.mark.parametrize("parts", [[f"A.{part}" for part in PARTS], [Field(ANY, p) for p in PARTS]])
def test_parts_of_a_tensor(make: type[DirectCallProvider], parts: list[Any]) -> None:
    provider = make("callee", args=[*parts, "A.dltensor", ANY.data])
    call, recording = recorded([ANY], "i32 i32 i32 i32 ptr ptr", provider)
    int8, bfloat16 = (struct.unpack("<i", bytes(code))[0] for code in ([0, 8, 1, 0], [4, 16, 1, 0]))
    for given, expected in (
        (tensor(body()), [int8, 2, 5, 3]),
        (Pointer(body()), [int8, 2, 5, 3]),
        (tensor(body((4, 16, 1), (1, 0))), [bfloat16, 1, 0, 3]),
    ):
        assert call(given) is None
        *ints, dltensor, data = recording.values
        assert (ints, data) == (expected, 0x42)
        assert ctypes.c_uint64.from_address(dltensor).value == 0x40
    error = call(tensor(body((0, 16, 1))))
    assert error is not None
    assert error[1].endswith("expected one of float32, int8, bfloat16 but got int16")


def test_packed_parts_are_values() -> None:
    args = [*(f"A.{part}" for part in PARTS), "A.data"]
    call = packed([ANY], DynamicParamPackCallProvider("ffib_test_pack", args=args))
    expected = [(0, 8, 1), (2,), (5,), (3,), (0x42,)]
    assert call("BBH i i i Q", Pointer(body())) == expected
    # "A" itself is the DLTensor, and "A.dltensor" a pointer to it.
    twice = DynamicParamPackCallProvider("ffib_test_pack", args=["A.dltensor", "A"])
    _, whole = packed([ANY], twice)("Q 6q", Pointer(body()))
    assert whole[0] == 0x40


GIVEN: Final = array(of_float(0.5), tensor(body()), array(of_int(-9), small(b"abc")))
DATA: Final = "cfg: Optional(Struct(data: int8, present: Optional(int8)))"
ARRIVES: Final[list[tuple[Sequence[spec.Param] | str, list[Any], str, Given, list[Any]]]] = [
    # parameters, args, types, an argument, and what arrives; None: some address
    ([CFG], ["cfg.t[1]", "cfg.A.data", "cfg.alpha", "cfg.t[0].present", "cfg.A.ndim", "cfg.t[0]"], "ptr i64 ptr f32 i1 i32 i16", GIVEN, [None, 3, 0x42, 0.5, 1, 3, -9]),
    ([CFG], [ALPHA, Field(COUNT, "present"), COUNT, ANY, Field(ANY, "ndim"), ANY.data], "f32 i1 i16 ptr i32 ptr", GIVEN, [0.5, 1, -9, None, 3, 0x42]),
    ([CFG], ["cfg.t", "cfg.alpha"], "i16 ptr i64 f32", GIVEN, [-9, None, 3, 0.5]),
    # A field's name comes before a part's.
    (DATA, ["cfg.data", "cfg.present", "cfg.present.present"], "i8 i8 i1", array(of_int(3), of_int(4)), [3, 4, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("params", "args", "types", "given", "expected"), ARRIVES)
def test_paths_and_objects(
    params: Any, args: list[Any], types: str, given: Given, expected: list[Any]
) -> None:
    call, recording = recorded(params, types, DirectCallProvider("callee", args=args))
    assert call(given) is None
    both = zip(recording.values, expected, strict=True)
    assert [value if wanted is not None else None for value, wanted in both] == expected


NAMES: Final = "which names no parameter or symbol of 'f'; it has A, alpha, s, x, y, z, n"
TENSOR: Final = "a Tensor, are dtype, device_type, device_id, ndim, dltensor, data"
OTHERS: Final = """s: String, x: Tensor([n, 4], float32), y: Tensor([n], float32, strides=any),
    z: Tensor([], float32)"""


@pytest.mark.parametrize(
    "make", [DirectCallProvider, MemRefCallProvider, DynamicParamPackCallProvider]
)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cfg", NAMES),
        ("cfg.alpha.data", NAMES),
        ("alhpa", f"{NAMES}, did you mean 'alpha'?"),
        ("A.present", "but A is not an Optional, so it is always present"),
        ("alpha.present", "but alpha is not an Optional, so it is always present"),
        ("alpha.length", "but alpha is a Var, which has no parts"),
        ("s.lenght", "but the parts of s, a String, are data, length, c_str, did you mean 'length'?"),
        ("x.dypte", f"but the parts of x, {TENSOR}, did you mean 'dtype'?"),
        ("A.shape", f"but the parts of A, {TENSOR}"),
        ("x.shape", "but x.shape is passed by its symbols, such as 'n'"),
        ("x.shape[0]", "but x.shape is passed by its symbols, such as 'n'"),
        ("x.strides[0]", "but x.strides is passed by its symbols, and it has none; name them: strides=[s0, s1], which other layouts fit too"),
        ("y.strides", "but y.strides is passed by its symbols, and it has none; name them: strides=[s0]"),
        ("z.strides", "but z.strides is passed by its symbols, and it has none"),
    ],
)  # fmt: skip
def test_names_of_no_part(name: str, words: str, make: type[DirectCallProvider]) -> None:
    signature = spec.Signature("f", [ANY, ALPHA, *parameters(OTHERS)])
    said = refused(signature, make("callee", args=[name]))
    assert said == f"{make.__name__}: args= has {name!r}, {words}"


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
    words = f"args= has {field!r}, which is not a parameter of 'f'; it has A"
    said = refused(spec.Signature("f", [ANY]), DirectCallProvider("callee", args=[field]))
    assert said == f"DirectCallProvider: {words}"


@pytest.mark.parametrize(("param", "path"), [(ANY, "A"), (Optional(ANY), "A"), (CFG, "cfg.A")])
def test_a_memref_has_a_rank(param: spec.Param, path: str) -> None:
    with pytest.raises(BuildError) as raised:
        attach_ffi_func(new_module(), "f", [param], MemRefCallProvider("callee"))
    assert str(raised.value) == (
        f"MemRefCallProvider: '{path}' may have any number of dimensions, and a memref has a rank; "
        f"pass its DLTensor* with args=['{path}.dltensor']"
    )
