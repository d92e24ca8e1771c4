"""Elements of every dtype, read and made."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from ffi_builder.spec.dtypes import NAMES, parse_dtype
from ffi_builder.testing.kernels.elements import CONTENTS, make, tolerance, values

np = pytest.importorskip("numpy", reason="needs NumPy")
ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")


@pytest.mark.parametrize("name", ["bfloat16", "float4_e2m1fn", "int2", "int4", "uint2", "uint4"])
def test_every_value_is_that_of_ml_dtypes(name: str) -> None:
    dtype = parse_dtype(name)
    codes = np.arange(2**dtype.bits, dtype="uint16" if dtype.bits > 8 else "uint8")
    expected = codes.view(getattr(ml_dtypes, name)).astype("float32")
    found = values(dtype, codes[:, None].view("uint8"))
    assert found.dtype == ("float32" if "float" in name else name[:-1] + "8")
    np.testing.assert_array_equal(found, expected)
    numbers = ~np.isnan(expected)
    assert (np.signbit(found) == np.signbit(expected))[numbers].all()


@pytest.mark.parametrize("kind", CONTENTS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_made(name: str, kind: str) -> None:
    random = np.random.default_rng(0)
    dtype = parse_dtype(name)
    for shape in [(), (0,), (40,), (2, 3)]:
        contents = make(dtype, shape, kind, random, limits=False)
        assert (contents.shape, contents.dtype) == ((*shape, -(-dtype.bits // 8)), "uint8")
        found = values(dtype, contents)
        assert found.shape == shape
        if kind == "limits":
            continue
        assert np.isfinite(found).all()
        is_narrow = name in ("int8", "uint8", "int16", "uint16") and kind == "random"
        assert is_narrow or (np.abs(found) <= 64).all()
        if kind == "ones" and name not in ("int1", "handle64") and "complex" not in name:
            assert (found == 1).all()
    if kind in ("limits", "random") and "float" in name and dtype.bits >= 8:
        contents = make(dtype, (100,), kind, random, limits=True)
        assert not np.isfinite(values(dtype, contents)).all()


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16"])
def test_narrow_ints_have_any_value_in_some_tensors(name: str) -> None:
    """A kernel may be wrong for large pixels or samples alone."""
    random = np.random.default_rng(0)
    dtype = parse_dtype(name)
    tensors = [
        values(dtype, make(dtype, (1000,), "random", random, limits=False)) for _ in range(20)
    ]
    small = [np.abs(found.astype("int64")).max() <= 8 for found in tensors]
    assert 4 <= sum(small) <= 16
    limits = np.iinfo(name)
    assert max(found.max() for found in tensors) > limits.max * 0.9
    assert min(found.min() for found in tensors) <= limits.min * 0.9


def test_lanes() -> None:
    dtype = parse_dtype("int4x2")
    contents = np.array([[0xF1], [0x72]], "uint8")
    assert values(dtype, contents).tolist() == [[1, -1], [2, 7]]
    assert values(dtype, contents, packed_axis=0).tolist() == [1, -1, 2, 7]
    rows = np.array([[[0xF1], [0x72]]], "uint8")
    assert values(dtype, rows, packed_axis=1).tolist() == [[1, -1, 2, 7]]
    assert values(dtype, rows, packed_axis=0).tolist() == [[1, 2], [-1, 7]]
    made = make(dtype, (50,), "counting", np.random.default_rng(0), limits=False)
    assert values(dtype, made, packed_axis=0).tolist()[:8] == [1, 2, 3, 4, 5, 6, 7, 1]


def test_a_bool_is_0_or_1() -> None:
    dtype = parse_dtype("bool")
    assert values(dtype, np.array([[0], [1]], "uint8")).dtype == "bool"
    assert values(dtype, np.array([[0], [2]], "uint8")).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *[("float64", 1e-9), ("float32", 1e-5), ("float16", 2**-10), ("bfloat16", 2**-7)],
        *[("float8_e4m3fn", 1 / 8), ("float8_e5m2", 1 / 4), ("complex64", 1e-5), ("int8", 0)],
    ],
)
def test_tolerance(name: str, expected: Any) -> None:
    assert tolerance(parse_dtype(name)) == expected


def test_narrow_floats_need_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    words = r"testing needs ml_dtypes here: install ml_dtypes, as the extra ffi_builder\[testing\]"
    with pytest.raises(ModuleNotFoundError, match=words):
        tolerance(parse_dtype("float8_e5m2"))
    random = np.random.default_rng(0)
    assert make(parse_dtype("bfloat16"), (3,), "random", random, limits=True).shape == (3, 2)
