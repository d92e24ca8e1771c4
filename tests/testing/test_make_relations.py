"""``testing.make_args`` keeps the relations of a signature."""

from __future__ import annotations

import pytest

from ffi_builder import testing
from ffi_builder.spec import Signature


@pytest.mark.parametrize(
    "where",
    [
        "n <= m",
        "n > m, m > k, k > 5",
        "n < m, m < k, k <= 3",
        "n == m * 100, k != n",
        "n in {63, 101}, m in {9, 1000}, n > m",
        "n * m == 143, k in {-7}",
        "n * m <= 2147483647, n * m > 1000000",
        "n % 7 == 3, n % 11 == 5",
        "n + m + k == 100, m - n == 30",
        "max(n, m) == 5, min(n, m) == 4, k < m",
        "n % 16 == 0, n > m * 5, 30 <= m",
        "n * n == 10000, n * m == 300",
        "k < 0 - n * 50, k % 3 == 0",
    ],
)
def test_relations_are_kept(where: str) -> None:
    signature = Signature.parse(f"f(k: int32, x: Tensor([n, m], int8)) where {where}", device="cpu")
    found = testing.check(signature, *testing.make_args(signature, framework="tvm_ffi"))
    assert testing.check(signature, *testing.make_args(signature, {"n": found["n"]}, "tvm_ffi"))


@pytest.mark.parametrize(
    ("where", "symbols", "words"),
    [
        ("n <= m", {"n": 5, "m": 4}, "n <= m does not hold with n = 5, m = 4"),
        ("n * m <= 8", {"n": 2**40, "m": 2**40}, r"n \* m <= 8 does not hold"),
        ("n < m, m < n", {}, "found no values of n, m that fit f: .* does not hold with "),
        ("n in {3, 4}, m in {7}, n == m", {}, "found no values of n, m that fit f: .*dims="),
    ],
)
def test_relations_that_cannot_be_kept(where: str, symbols: dict[str, int], words: str) -> None:
    signature = Signature.parse(f"f(n: int64, m: int64) where {where}")
    with pytest.raises(ValueError, match=f"make_args: {words}"):
        testing.make_args(signature, symbols, "tvm_ffi")


def test_a_relation_with_an_absent_symbol_is_left_out() -> None:
    signature = Signature.parse("f(n: int64, m: Optional(int64)) where n > m, m > 100")
    assert testing.check(signature, *testing.make_args(signature))["m"] > 100
    absent = testing.make_args(signature, {"n": 3}, values={"m": None})
    assert testing.check(signature, *absent)["n"] == 3
