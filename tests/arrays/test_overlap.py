"""Arrays that share memory, of every layout, where the signature forbids it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
import tvm_ffi
from hypothesis import assume, given
from hypothesis import strategies as st

from ffi_builder import attach, runtime, testing
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature
from tests.support.wrapping import new_module

np = pytest.importorskip("numpy", reason="needs NumPy")

SIGNATURES: Final = {
    "contiguous": "(x: Tensor([n], float32), y: Tensor([m], float32, intent=out))",
    "matrices": "(x: Tensor([n, k], float32), y: Tensor([m, k], float32, strides=F))",
    "strided": "(x: Tensor([n, k], float32, strides=[s, t]), y: Tensor([m, k], float32))",
    "any strides": "(x: Tensor([n, k], float32, strides=any), y: Tensor([m, l], float32, strides=any))",
    "any rank": "(x: Tensor(..., float32 | int8, strides=any), y: Tensor(..., int8 | float32, strides=any))",
    "inout": "(y: Tensor([n], float32, intent=inout))",
    "optional": "(x: Optional(Tensor([n], float32)), y: Tensor([m], float32))",
    "tuple": "(x: Tuple(a: Tensor([n], float32)), y: Struct(a: Tensor([m], float32)))",
}
NAMES: Final = {"tuple": "y.a", "inout": None}


def signature(name: str) -> Signature:
    path = NAMES.get(name, "y")
    where = "" if path is None else f" where no_overlap({path})"
    return Signature.parse(f"f{SIGNATURES[name]}{where}", device="cpu")


@pytest.fixture(scope="module")
def functions() -> dict[str, tvm_ffi.Function]:
    module = new_module()
    names = {name: f"f{number}" for number, name in enumerate(SIGNATURES)}
    for name, symbol in names.items():
        attach(module, signature(name), NopCallProvider(), symbol_name=symbol)
    compiled = runtime.compile(module)
    return {name: compiled[symbol] for name, symbol in names.items()}


def overlaps(call: Callable[..., object], *args: Any) -> bool:
    """Return whether the call is refused because of an overlap."""
    try:
        call(*args)
    except ValueError as error:
        message = str(error)
    else:
        return False
    assert "(no_overlap) but got 0x" in message
    return True


def refused(functions: dict[str, tvm_ffi.Function], name: str, *args: Any) -> bool:
    """Ask the wrapper, and ``testing.check``, which must agree."""
    found = overlaps(functions[name], *args)
    assert overlaps(lambda *args: testing.check(signature(name), *args), *args) == found
    return found


MEMORY: Final = np.zeros(64, "float32")
GRID: Final = MEMORY[:48].reshape(6, 8)

APART: Final[dict[str, tuple[str, Any, Any]]] = {
    "one behind the other": ("contiguous", MEMORY[:8], MEMORY[8:16]),
    "one before the other": ("contiguous", MEMORY[8:16], MEMORY[:8]),
    "no elements": ("contiguous", MEMORY[4:4], MEMORY[:8]),
    "no elements in the output": ("contiguous", MEMORY[:8], MEMORY[4:4]),
    "rows": ("matrices", GRID[:2], MEMORY[16:].reshape(8, 6).T),
    "rows that are skipped": ("strided", GRID[0:3:2], GRID[3:6]),
    "reversed rows": ("any strides", GRID[2::-1], GRID[3:]),
    "reversed columns": ("any strides", GRID[3:, ::-1], GRID[:3, ::-1]),
    "a scalar": ("any rank", MEMORY[3:4].reshape(()), MEMORY[4:]),
    "bytes": ("any rank", MEMORY.view("int8")[:5], MEMORY.view("int8")[5:]),
    "absent": ("optional", None, MEMORY),
    "present": ("optional", MEMORY[:4], MEMORY[4:]),
    "elements of tuples": ("tuple", (MEMORY[:4],), (MEMORY[4:],)),
}
TOGETHER: Final[dict[str, tuple[str, Any, Any]]] = {
    "the same": ("contiguous", MEMORY, MEMORY),
    "the last element": ("contiguous", MEMORY[:8], MEMORY[7:16]),
    "the first element": ("contiguous", MEMORY[7:16], MEMORY[:8]),
    "inside": ("contiguous", MEMORY, MEMORY[5:6]),
    "transposed": ("matrices", GRID[:2], MEMORY[8:].reshape(8, 7).T),
    "skipped rows": ("strided", GRID[::2], GRID[3:5]),
    "columns that interleave": ("any strides", GRID[:, :4], GRID[:, 4:]),
    "reversed rows": ("any strides", GRID[3::-1], GRID[3:]),
    "reversed columns": ("any strides", GRID[:4, ::-1], GRID[3:, ::-1]),
    "broadcast": ("any strides", np.lib.stride_tricks.as_strided(MEMORY, (4, 2), (0, 4)), GRID[:2]),
    "a scalar": ("any rank", MEMORY[3:4].reshape(()), MEMORY[:4]),
    "bytes": ("any rank", MEMORY.view("int8")[:6], MEMORY.view("int8")[5:]),
    "elements of two sizes": ("any rank", MEMORY.view("int8")[:5], MEMORY[1:]),
    "present": ("optional", MEMORY[:5], MEMORY[4:]),
    "elements of tuples": ("tuple", (MEMORY[:5],), (MEMORY[4:],)),
}


@pytest.mark.parametrize("name", APART)
def test_memory_apart_is_accepted(name: str, functions: dict[str, tvm_ffi.Function]) -> None:
    kind, x, y = APART[name]
    assert not refused(functions, kind, x, y)


@pytest.mark.parametrize("name", TOGETHER)
def test_shared_memory_is_refused(name: str, functions: dict[str, tvm_ffi.Function]) -> None:
    kind, x, y = TOGETHER[name]
    assert refused(functions, kind, x, y)


def test_a_tensor_may_be_read_and_written(functions: dict[str, tvm_ffi.Function]) -> None:
    assert not overlaps(functions["inout"], MEMORY)


def test_inputs_may_overlap() -> None:
    text = "f(x: Tensor([n], int8), w: Tensor([n], int8), y: Tensor([n], int8, intent=out), "
    given = Signature.parse(f"{text}z: Tensor([n], int8, intent=inout))", device="cpu")
    made = Signature("f", given.params, no_overlap=True)
    one, y, z = (np.zeros(4, "int8") for _ in range(3))
    testing.check(made, one, one, y, z)
    for args in ((one, one, y, y), (one, one, one, z), (one, z, y, z), (y, one, y, z)):
        assert overlaps(lambda *args: testing.check(made, *args), *args)


def test_the_message(functions: dict[str, tvm_ffi.Function]) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 # the whole message is compared
        functions["contiguous"](MEMORY[:8], MEMORY[4:16])
    start = MEMORY.ctypes.data
    assert str(raised.value) == (
        "Mismatched y on argument #1 when calling: "
        "`f(x: Tensor([n], float32), y: Tensor([m], float32))`, "
        "expected memory apart from that of x (no_overlap) "
        f"but got {start + 16:#x} to {start + 63:#x}, where x has {start:#x} to {start + 31:#x}"
    )


@st.composite
def views(draw: st.DrawFn) -> Any:
    """A view of MEMORY, of any layout."""
    dtype = draw(st.sampled_from(["float32", "int8"]))
    size = np.dtype(dtype).itemsize
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 4, 0]), max_size=3))
    strides = draw(st.lists(st.integers(-9, 9), min_size=len(shape), max_size=len(shape)))
    start = draw(st.integers(0, MEMORY.nbytes // size))
    try:
        found = np.ndarray(shape, dtype, MEMORY, start * size, [size * s for s in strides])
    except ValueError:  # it reaches out of the memory
        found = None
    assume(found is not None)
    return found


@given(views(), views())
def test_as_numpy_says(functions: dict[str, tvm_ffi.Function], x: Any, y: Any) -> None:
    """NumPy compares bounds too, unless it is asked for an exact answer."""
    assert refused(functions, "any rank", x, y) == np.may_share_memory(x, y)


@given(*(st.tuples(st.integers(0, 63), st.integers(0, 64)) for _ in range(2)))
def test_as_numpy_says_of_slices(
    functions: dict[str, tvm_ffi.Function], one: tuple[int, int], other: tuple[int, int]
) -> None:
    x, y = MEMORY[slice(*one)], MEMORY[slice(*other)]
    assert refused(functions, "contiguous", x, y) == np.may_share_memory(x, y)


def test_torch(functions: dict[str, tvm_ffi.Function]) -> None:
    torch: Any = pytest.importorskip(
        "torch", reason="needs torch: `make test-frameworks` installs it"
    )
    memory = torch.zeros(16)
    halves = memory.chunk(2)
    assert not refused(functions, "contiguous", *halves)
    assert refused(functions, "contiguous", memory, halves[1])
    assert refused(functions, "any strides", memory.view(4, 4)[:, :2], memory.view(4, 4)[:, 2:])
