"""``testing.check_raw``: memory that Python values never make, but that other callers may."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ffi_builder import spec
from ffi_builder.abi import TypeIndex
from ffi_builder.spec import (
    Choice,
    Object,
    Optional,
    Param,
    Shape,
    String,
    Struct,
    Tensor,
    TupleParam,
    Var,
    dims,
)
from tests.differential.description import (
    NONE,
    DLTensor,
    Elements,
    Moved,
    Plain,
    Pointer,
    Value,
    array,
    list_,
    of_int,
    shape,
    tensor,
)
from tests.differential.description import Object as RawObject
from tests.testing.raising import Raw, mismatch, refused, small

n, m = dims("n m")
NULL = "NULL"
NON_NULL = "a non-NULL object"
FLOAT16 = (2, 16, 1)


@pytest.fixture(scope="module")
def raw() -> Raw:
    return Raw()


def cpu(
    name: str, entries: Any, dtype: Any = "float32", device: str = "cpu", **more: Any
) -> Tensor:
    return Tensor(name, entries, dtype, device_type=device, **more)


def fails(
    raw: Raw, param: Param, value: Value, at: str, expected: str, got: str, kind: Any = ValueError
) -> None:
    message = mismatch([param], at, expected, got)
    refused(lambda: raw.check([param], value), kind, message)


OBJECTS: list[Param] = [
    cpu("x", [2]), Shape("x", [2]), TupleParam("x", [n]), Struct("x", [n]), String("x"), spec.Bytes("x"),
    Choice("x", {"a": 1}), Object("x"), Object("x", "ffi.Module"), Object("x", "my.Type"),
    spec.Function("x"), spec.Array("x"), spec.Map("x"),
]  # fmt: skip


class TestMoved:
    @pytest.mark.parametrize("param", OBJECTS, ids=repr)
    def test_null(self, raw: Raw, param: Param):
        for value in (Moved(None), Plain(TypeIndex.OBJECT_RVALUE_REF)):
            fails(raw, param, value, "x", NON_NULL, NULL)
            fails(raw, Optional(param), value, "x", NON_NULL, NULL)

    @pytest.mark.parametrize(
        ("param", "held"),
        [
            (cpu("x", [n]), tensor(DLTensor((3,)))),
            (Shape("x", [n]), shape(3)),
            (Shape("x", [n]), list_(of_int(3))),
            (TupleParam("x", [n]), array(of_int(3))),
        ],
    )
    def test_it_is_what_it_holds(self, raw: Raw, param: Param, held: RawObject):
        assert raw.check([param], Moved(held)) == raw.check([param], held) == {"n": 3}

    @pytest.mark.parametrize("param", OBJECTS[:7], ids=repr)
    def test_another_kind(self, raw: Raw, param: Param):
        [expected] = {
            "Tensor": ["Tensor"], "Shape": ["Shape or list of ints"], "TupleParam": ["tuple"], "Struct": ["tuple"],
            "String": ["str"], "Bytes": ["bytes"], "Choice": ["str"],
        }[type(param).__name__]  # fmt: skip
        for held, got in ((68, "ffi.Function"), (74, "Python object"), (90, "type index 90")):
            fails(raw, param, Moved(RawObject(held)), "type of x", expected, got, TypeError)

    def test_elements(self, raw: Raw):
        param = TupleParam("x", [cpu("a", [n]), String("s")])
        value = Moved(array(Moved(tensor(DLTensor((3,)))), Moved(None)))
        fails(raw, param, value, "x[1]", NON_NULL, NULL)
        entries = array(Moved(array()))
        fails(raw, Shape("x", [n]), entries, "type of x[0]", "int", "moved object", TypeError)

    def test_a_pointer_cannot_be_moved(self, raw: Raw):
        held = RawObject(TypeIndex.DL_TENSOR_PTR)
        fails(raw, cpu("x", [n]), Moved(held), "type of x", "Tensor", "DLTensor*", TypeError)


class TestText:
    CHOICE = Choice("x", {"relu": 1, "a longer choice": 2})

    def test_every_way_to_hold_one(self, raw: Raw):
        for value in (
            small(TypeIndex.SMALL_STR, b"relu"),
            raw.char_pointer(b"relu"),
            raw.byte_array(TypeIndex.STR, b"relu"),
        ):
            raw.check([self.CHOICE], value)
            raw.check([Optional(String("x"))], value)
        raw.check([self.CHOICE], raw.char_pointer(b"a longer choice"))
        for index in (TypeIndex.BYTE_ARRAY_PTR, TypeIndex.BYTES):
            raw.check([spec.Bytes("x")], raw.byte_array(index, b"bytes"))
        raw.check([spec.Bytes("x")], small(TypeIndex.SMALL_BYTES, b"\0" * 7))

    @pytest.mark.parametrize("index", [8, 65, 9, 66])
    def test_null(self, raw: Raw, index: int):
        param = spec.Bytes("x") if index in (9, 66) else String("x")
        fails(raw, param, Plain(index), "x", NON_NULL, NULL)

    @pytest.mark.parametrize("index", [65, 9, 66])
    def test_null_elements(self, raw: Raw, index: int):
        param = spec.Bytes("x") if index in (9, 66) else String("x")
        raw.check([param], raw.byte_array(index, None, 0))
        for size in (1, 2**64 - 1):
            value = raw.byte_array(index, None, size)
            fails(raw, param, value, "x", "non-NULL elements", NULL)

    def test_empty_ones_may_have_no_elements(self, raw: Raw):
        empty = raw.byte_array(TypeIndex.STR, None, 0)
        raw.check([String("x")], empty)
        fails(raw, self.CHOICE, empty, "x", "one of 'relu', 'a longer choice'", "''")

    @pytest.mark.parametrize(
        ("param", "index"), [(String("x"), 11), (CHOICE, 11), (spec.Bytes("x"), 12)]
    )
    def test_too_long_for_its_place(self, raw: Raw, param: Param, index: int):
        for length in (8, 9, 2**32 - 1):
            value = small(index, b"relu", length)
            got = str(length)
            fails(raw, param, value, "length of x", "at most 7, as it is held in place", got)

    @pytest.mark.parametrize(
        ("param", "index", "expected", "got"),
        [
            (String("x"), 9, "str", "TVMFFIByteArray*"),
            (String("x"), 12, "str", "bytes"),
            (spec.Bytes("x"), 8, "bytes", "char*"),
            (spec.Bytes("x"), 65, "bytes", "str"),
            (String("x"), 7, "str", "DLTensor*"),
            (String("x"), 13, "str", "Unchanged"),
            (String("x"), 67, "str", "ffi.Error"),
            (String("x"), -1, "str", "type index -1"),
            (String("x"), 14, "str", "type index 14"),
            (Object("x"), 8, "Object", "char*"),
            (Object("x"), 63, "Object", "type index 63"),
        ],
    )
    def test_kinds(self, raw: Raw, param: Param, index: int, expected: str, got: str):
        fails(raw, param, Plain(index), "type of x", expected, got, TypeError)

    def test_no_choice(self, raw: Raw):
        expected = "one of 'relu', 'a longer choice'"
        for value in (
            small(TypeIndex.SMALL_STR, b"rel"),
            raw.char_pointer(b"rel"),
            raw.byte_array(TypeIndex.STR, b"rel"),
        ):
            fails(raw, self.CHOICE, value, "x", expected, "'rel' (did you mean 'relu'?)")
        fails(raw, self.CHOICE, raw.char_pointer(b"x" * 300), "x", expected, f"'{'x' * 64}'...")
        # More than that is not read.
        huge = raw.byte_array(TypeIndex.STR, b"x" * 256, 2**62)
        fails(raw, self.CHOICE, huge, "x", expected, f"'{'x' * 64}'...")


class TestObjects:
    def test_static_ones(self, raw: Raw):
        raw.check([Object("x", "ffi.Error")], RawObject(TypeIndex.ERROR))
        raw.check([Object("x", "ffi.Object")], RawObject(TypeIndex.ERROR))
        raw.check([spec.Function("x")], RawObject(TypeIndex.FUNCTION))

    @pytest.mark.parametrize("index", [64, 73, 90, 127, 128, 2**31 - 1])
    def test_null(self, raw: Raw, index: int):
        for key in (None, "ffi.Object"):
            fails(raw, Object("x", key), Plain(index), "x", NON_NULL, NULL)

    @pytest.mark.parametrize("index", [90, 200])
    def test_of_no_known_type(self, raw: Raw, index: int):
        for key in (None, "ffi.Object"):
            raw.check([Object("x", key)], raw.object_that_says(64, index))
        for value in (Plain(index), raw.object_that_says(64, index)):
            for param, expected in (
                (Object("x", "ffi.Module"), "ffi.Module"),
                (spec.Map("x"), "Map"),
                (Var("x", "int64"), "int"),
                (String("x"), "str"),
            ):
                got = f"type index {index}"
                fails(raw, param, value, "type of x", expected, got, TypeError)


class TestOptional:
    def test_what_is_in_an_absent_one_is_not_looked_at(self, raw: Raw):
        params = [Optional(TupleParam("t", [cpu("x", [n])])), Optional(String("s"))]
        garbage = Plain(TypeIndex.NONE, 0x77)
        assert raw.check(params, garbage, garbage) == {"n": 0}

    def test_elements(self, raw: Raw):
        param = Optional(TupleParam("t", [Optional(n)]))
        assert raw.check([param], array(NONE)) == {"n": 0}
        null = RawObject(TypeIndex.ARRAY, Elements(None, 1))
        fails(raw, param, null, "t", "non-NULL elements", NULL)


class TestTensors:
    ANY = cpu("x", ..., ("float32", "float16"), device="any")

    def test_any_rank(self, raw: Raw):
        for value in (
            DLTensor(None),
            DLTensor((2, 3)),
            DLTensor((2, 3), (3, 1), dtype=FLOAT16, device_type=99),
            DLTensor((2, 0, 4), (9, 9, 9), data=0),
            DLTensor((1,) * 65, (7,) * 65),
        ):
            raw.check([self.ANY], tensor(value))
            raw.check([self.ANY], Pointer(value))

    @pytest.mark.parametrize(
        ("value", "at", "expected", "got"),
        [
            (DLTensor(None, ndim=-1), "x.ndim", "a non-negative value", "-1"),
            (DLTensor(None, ndim=2), "x.shape", "a non-NULL pointer", NULL),
            (DLTensor((2, -3, -4)), "x.shape[1]", "a non-negative value", "-3"),
            (DLTensor((2, 3), (3, 2)), "x.strides[1]", "1 (row-major contiguous)", "2 (shape=[2, 3], strides=[3, 2])"),
            (DLTensor((2, 3), (4, 2)), "x.strides[0]", "3 (row-major contiguous)", "4 (shape=[2, 3], strides=[4, 2])"),
            (DLTensor((2**62, 2)), "x.shape", "a product of dimensions that fits int64", f"[{2**62}, 2]"),
            (DLTensor((2,), data=0), "x.data", "a non-NULL pointer, as x has elements", NULL),
            (DLTensor(None, data=0), "x.data", "a non-NULL pointer, as x has elements", NULL),
            (DLTensor((2,), data=16, byte_offset=-1), "x.byte_offset",
             "data + byte_offset within the address space", "0x10 + 0xffffffffffffffff"),
            (DLTensor((2**40,) + (1,) * 62 + (2**40, 1)), "x.shape", "a product of dimensions that fits int64",
             f"[{2**40}, {'1, ' * 62}{2**40}, ...]"),
            (DLTensor((2,) + (1,) * 64, (3,) * 65), "x.strides[0]", "1 (row-major contiguous)",
             f"3 (shape=[2{', 1' * 63}, ...], strides=[3{', 3' * 63}, ...])"),
        ],
    )  # fmt: skip
    def test_mismatched(self, raw: Raw, value: DLTensor, at: str, expected: str, got: str):
        fails(raw, self.ANY, tensor(value), at, expected, got)

    def test_dtypes(self, raw: Raw):
        value = tensor(DLTensor((2,), dtype=(99, 3, 1)))
        got = "dtype(code=99, bits=3, lanes=1)"
        fails(raw, self.ANY, value, "x.dtype", "one of float32, float16", got, TypeError)

    def test_dims_come_before_strides_but_behind_ndim_and_dtype(self, raw: Raw):
        wrong = DLTensor((-1, -1), (5, 5), dtype=(0, 8, 1), ndim=-2)
        for at, expected, got, kind in [
            ("x.ndim", "a non-negative value", "-2", ValueError),
            ("x.dtype", "one of float32, float16", "int8", TypeError),
            ("x.shape[0]", "a non-negative value", "-1", ValueError),
        ]:
            fails(raw, self.ANY, tensor(wrong), at, expected, got, kind)
            wrong = replace(wrong, ndim=None) if at == "x.ndim" else replace(wrong, dtype=FLOAT16)

    def test_column_major(self, raw: Raw):
        for param in (cpu("x", [2, 3, None], strides="F"), cpu("x", ..., strides="F")):
            raw.check([param], tensor(DLTensor((2, 3, 4), (1, 2, 6))))
            raw.check([param], tensor(DLTensor((2, 3, 1), (1, 2, 77))))
            raw.check([param], tensor(DLTensor((2, 3, 0))))
            fails(raw, param, tensor(DLTensor((2, 3, 4))), "x.strides[0]",
                  "1 (column-major contiguous)", "12 (shape=[2, 3, 4], strides=NULL)")  # fmt: skip
        # NULL strides stand for row-major, which is column-major too where one dimension counts.
        raw.check([cpu("x", [1, n], strides="F")], tensor(DLTensor((1, 4))))
        # 2^64 + 2^32, modulo 2^64.
        odd = 2**32 + 1
        wrapped = tensor(DLTensor((odd, 2**32, 2), (1, odd, 1)))
        fails(raw, cpu("x", [None, None, 2], strides="F"), wrapped, "x.strides[2]",
              f"{2**32} (column-major contiguous)",
              f"1 (shape=[{odd}, {2**32}, 2], strides=[1, {odd}, 1])")  # fmt: skip

    def test_packed_column_major(self, raw: Raw):
        param = cpu("x", [n, m], "float4_e2m1fn", storage_dtype="float4_e2m1fnx2", strides="F")
        value = DLTensor((2, 3), (1, 2), dtype=(17, 4, 2))
        assert raw.check([param], tensor(value)) == {"n": 4, "m": 3}
        fails(raw, param, tensor(replace(value, shape=(2**62, 0))), "x.shape[0]",
              f"at most {(2**63 - 1) // 2} in magnitude, as elements are packed", str(2**62))  # fmt: skip


class TestSameDevice:
    def on(self, device_type: int, device_id: int) -> Value:
        return tensor(DLTensor((2,), device_type=device_type, device_id=device_id))

    def test_the_first_that_is_on_it(self, raw: Raw):
        params = [cpu(name, [2], device="any") for name in "abc"]
        raw.check(params, self.on(1, 0), self.on(2, 1), self.on(2, 1))
        raw.check(params, self.on(1, 0), self.on(2, 1), self.on(99, 7))
        values = [self.on(1, 0), self.on(2, 1), self.on(2, 0)]
        message = mismatch(params, "c.device_id", "1 (the device of b)", "0", 2)
        refused(lambda: raw.check(params, *values), ValueError, message)
        values = [self.on(2, 3), self.on(2, 3), self.on(2, 0)]
        message = mismatch(params, "c.device_id", "3 (the device of a)", "0", 2)
        refused(lambda: raw.check(params, *values), ValueError, message)

    def test_absent_ones_do_not_count(self, raw: Raw):
        a, b, c = (cpu(name, [2], device="cuda") for name in "abc")
        params = [Optional(TupleParam("t", [a])), b, c]
        raw.check(params, NONE, self.on(2, 1), self.on(2, 1))
        message = mismatch(params, "c.device_id", "1 (the device of b)", "0", 2)
        refused(lambda: raw.check(params, NONE, self.on(2, 1), self.on(2, 0)), ValueError, message)
        message = mismatch(params, "b.device_id", "4 (the device of t[0])", "1", 1)
        values = [array(self.on(2, 4)), self.on(2, 1), self.on(2, 1)]
        refused(lambda: raw.check(params, *values), ValueError, message)
        raw.check([Optional(a), Optional(b)], NONE, self.on(2, 9))
