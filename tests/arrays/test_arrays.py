"""NumPy and PyTorch arrays of every layout: right results, and right errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.arrays.kernels import kernel

SIGNATURE = (
    "`add(x: Tensor([n, m], float32, strides=[None, None]), y: Tensor([n, m], float32), "
    "out: Tensor([n, m], float32, strides=[None, None]))`"
)
np = pytest.importorskip("numpy", reason="needs NumPy")


@pytest.fixture(params=["numpy", "torch"])
def xp(request: pytest.FixtureRequest) -> Any:
    """NumPy or PyTorch: what these tests use of them is alike."""
    name: str = request.param
    return pytest.importorskip(name, reason=f"needs {name}: `make test-frameworks` installs it")


def counting(xp: Any, *shape: int) -> Any:
    """A float32 array of these dimensions that holds 0, 1, 2, …."""
    count = 1
    for dim in shape:
        count *= dim
    return xp.arange(count, dtype=xp.float32).reshape(shape)


def broadcast(row: Any, count: int) -> Any:
    """The same row several times, with stride 0, writable (NumPy's broadcast_to is not)."""
    if isinstance(row, np.ndarray):
        return np.lib.stride_tricks.as_strided(row, (count, len(row)), (0, row.itemsize))
    return row.expand(count, len(row))


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "contiguous": lambda xp: counting(xp, 3, 4),
    "rows skipped": lambda xp: counting(xp, 6, 4)[::2],
    "columns skipped": lambda xp: counting(xp, 3, 8)[:, ::2],
    "an inner part": lambda xp: counting(xp, 5, 9)[1:4, 3:7],
    "transposed": lambda xp: counting(xp, 4, 3).T,
    "transposed part": lambda xp: counting(xp, 8, 6)[1:8:2, 3:].T,
    "offset": lambda xp: counting(xp, 4, 4)[1:],
    "one row": lambda xp: counting(xp, 3, 4)[1:2],
    "one column": lambda xp: counting(xp, 3, 4)[:, 2:3],
    "one element": lambda xp: counting(xp, 3, 4)[2:, 3:],
    "no rows": lambda xp: counting(xp, 3, 4)[3:],
    "no columns": lambda xp: counting(xp, 3, 0),
    "part of nothing": lambda xp: counting(xp, 0, 6)[:, ::2],
    "broadcast": lambda xp: broadcast(counting(xp, 4), 3),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_input_of_any_layout(xp: Any, layout: str) -> None:
    x = LAYOUTS[layout](xp)
    y, out = counting(xp, *x.shape), xp.full(tuple(x.shape), -1.0, dtype=xp.float32)
    assert kernel("add")(x, y, out) is None
    assert out.tolist() == (x + y).tolist()


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if name != "broadcast"])
def test_an_output_of_any_layout(xp: Any, layout: str) -> None:
    out = LAYOUTS[layout](xp)
    x, y = counting(xp, *out.shape) * 100, counting(xp, *out.shape)
    kernel("add")(x, y, out)
    assert out.tolist() == (x + y).tolist()


def test_an_output_leaves_what_is_beside_it_alone(xp: Any) -> None:
    whole = xp.full((5, 9), -1.0, dtype=xp.float32)
    part = whole[1:4, 3:7]
    kernel("add")(counting(xp, 3, 4), counting(xp, 3, 4), part)
    assert part.tolist() == (counting(xp, 3, 4) * 2).tolist()
    assert float((whole == -1).sum()) == 45 - 12


def test_an_array_without_dimensions(xp: Any) -> None:
    out = xp.zeros((), dtype=xp.float32)
    kernel("copy_scalar")(counting(xp, 3, 4)[1, 2:3].reshape(()), out)
    assert float(out) == 6.0


@pytest.mark.parametrize("step", [1, 2, 5])
def test_one_dimension(xp: Any, step: int) -> None:
    source, target = counting(xp, 21)[3::step], xp.zeros(21, dtype=xp.float32)
    kernel("copy")(source, target[: len(source)])
    assert target.tolist() == source.tolist() + [0.0] * (21 - len(source))


def test_negative_strides() -> None:
    target = np.zeros(5, np.float32)
    kernel("copy")(np.arange(5, dtype=np.float32)[::-1], target)
    assert target.tolist() == [4, 3, 2, 1, 0]


def test_odd_strides_of_size_1_dimensions() -> None:
    base = counting(np, 3, 4)
    for strides in [(9999 * 4, 4), (-7 * 4, 4), (0, 4)]:
        y = np.lib.stride_tricks.as_strided(base, (1, 4), strides)
        out = np.zeros((1, 4), np.float32)
        kernel("add")(y, y, out)
        assert out.tolist() == [[0, 2, 4, 6]]
    column = np.lib.stride_tricks.as_strided(base, (3, 1), (4, 12))
    out = np.zeros((3, 1), np.float32)
    kernel("add")(base[:, :1], column, out)
    assert out.tolist() == [[0], [5], [10]]


def test_odd_strides_of_empty_arrays() -> None:
    y = np.lib.stride_tricks.as_strided(np.zeros(1, np.float32), (0, 4), (12, 8))
    kernel("add")(y, y, np.zeros((0, 4), np.float32))


def test_torch_with_a_storage_offset_and_odd_strides() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
    storage = torch.arange(40, dtype=torch.float32)
    x = storage.as_strided((2, 3), (10, 2), storage_offset=7)
    y = storage.as_strided((2, 3), (3, 1), storage_offset=31)
    row = storage.as_strided((1, 3), (17, 1), storage_offset=5)
    out = torch.zeros(4, 3)[1:3]
    assert out.storage_offset() == 3
    kernel("add")(x, y, out)
    assert torch.equal(out, x + y)
    one = torch.zeros(1, 3)
    kernel("add")(row, row, one)
    assert one.tolist() == [[10, 12, 14]]


def test_the_memory_is_shared_not_copied(xp: Any) -> None:
    x = counting(xp, 2, 3)
    kernel("add")(x, x, x)
    kernel("add")(x, x, x)
    assert x.tolist() == [[0, 4, 8], [12, 16, 20]]


REFUSED: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    # what y is, beside an x of 2 by 3, and the error
    "float64": (lambda xp: xp.zeros((2, 3), dtype=xp.float64), "y.dtype", "float32 but got float64"),
    "int32": (lambda xp: xp.zeros((2, 3), dtype=xp.int32), "y.dtype", "float32 but got int32"),
    "bool": (lambda xp: counting(xp, 2, 3) > 0, "y.dtype", "float32 but got bool"),
    "one dimension": (lambda xp: counting(xp, 3), "y.ndim", "2 but got 1"),
    "another size": (lambda xp: counting(xp, 2, 4), "y.shape[1]", "3 (m = x.shape[1]) but got 4"),
    "transposed": (lambda xp: counting(xp, 3, 2).T, "y.strides[0]", "3 (row-major contiguous) but got 1 (shape=[2, 3], strides=[1, 2])"),
    "columns skipped": (lambda xp: counting(xp, 2, 6)[:, ::2], "y.strides[0]", "3 (row-major contiguous) but got 6 (shape=[2, 3], strides=[6, 2])"),
    "None": (lambda _: None, "type of y", "Tensor but got None"),
    "int": (lambda _: 3, "type of y", "Tensor but got int"),
    "list": (lambda _: [[1.0]], "type of y", "Tensor but got list"),
    "str": (lambda _: "text", "type of y", "Tensor but got str"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(xp: Any, what: str) -> None:
    make, subject, words = REFUSED[what]
    x = counting(xp, 2, 3)
    kind = TypeError if "type" in subject else ValueError
    with pytest.raises(kind) as raised:
        kernel("add")(x, make(xp), x)
    assert str(raised.value) == (
        f"Mismatched {subject} on argument #1 when calling: {SIGNATURE}, expected {words}"
    )


def test_numpy_scalars_are_no_arrays() -> None:
    with pytest.raises(TypeError, match="expected Tensor but got float"):
        kernel("copy_scalar")(np.float32(1), np.zeros((), np.float32))


def test_jax_arrays() -> None:
    jnp = pytest.importorskip("jax.numpy", reason="needs jax: `make test-frameworks` installs it")
    x = jnp.arange(12, dtype=jnp.float32).reshape(3, 4)
    out = np.zeros((3, 4), np.float32)
    kernel("add")(x, x + 1, out)
    assert out.tolist() == (x + x + 1).tolist()
    empty = jnp.zeros((0, 4), dtype=jnp.float32)
    kernel("add")(empty, empty, np.zeros((0, 4), np.float32))
    scalar = np.zeros((), np.float32)
    kernel("copy_scalar")(jnp.float32(2.5), scalar)
    assert float(scalar) == 2.5
    with pytest.raises(ValueError, match=r"Mismatched y\.shape\[1\] .* but got 3"):
        kernel("add")(x, x[:, 1:], out)
    with pytest.raises(TypeError, match="expected float32 but got int32"):
        kernel("add")(x, x.astype(jnp.int32), out)
