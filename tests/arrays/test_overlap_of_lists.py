"""Arrays in lists that share memory with other arrays, where the signature forbids it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, product
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffi_builder import SpecError, attach, runtime, testing
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature
from tests.arrays.test_overlap import MEMORY, overlaps, views
from tests.support.wrapping import new_module

np = pytest.importorskip("numpy", reason="needs NumPy")

TENSOR: Final = "Tensor([n{0}, m{0}], float32 | int8, strides=any)"
LIST: Final = f"TensorList({TENSOR}, each=[n{{0}}, m{{0}}])"
PARAMS: Final = f"xs: {LIST.format(1)}, y: {TENSOR.format(2)}, zs: Optional({LIST.format(3)})"
NAMES: Final = ("y", "xs", "y, zs", "xs, zs", "xs, y, zs")


def signature(names: str) -> Signature:
    return Signature.parse(f"f({PARAMS}) where no_overlap({names})", device="cpu")


@pytest.fixture(scope="module")
def functions() -> dict[str, Callable[..., object]]:
    module = new_module()
    for number, names in enumerate(NAMES):
        attach(module, signature(names), NopCallProvider(), symbol_name=f"f{number}")
    compiled = runtime.compile(module)
    return {names: compiled[f"f{number}"] for number, names in enumerate(NAMES)}


def share(names: str, xs: Sequence[Any], y: Any, zs: Sequence[Any] | None) -> bool:
    """Ask NumPy about the pairs of which one is named."""
    groups = {"xs": xs, "y": [y], "zs": zs or []}
    named = names.split(", ")
    pairs = [pair for name in named for pair in combinations(groups[name], 2)]
    for one, other in combinations(groups, 2):
        if one in named or other in named:
            pairs += product(groups[one], groups[other])
    return any(np.may_share_memory(one, other) for one, other in pairs)


def refused(functions: dict[str, Callable[..., object]], names: str, *args: Any) -> bool:
    """Ask the wrapper, and ``testing.check``, which must agree."""
    found = overlaps(functions[names], *args)
    assert overlaps(lambda *args: testing.check(signature(names), *args), *args) == found
    return found


@pytest.mark.parametrize("names", NAMES)
@given(data=st.data())
def test_as_numpy_says(
    functions: dict[str, Callable[..., object]], names: str, data: st.DataObject
) -> None:
    """Most memory is apart: pieces of one array, of which now and then one is any view."""
    order = data.draw(st.permutations(range(8)))
    pieces = [MEMORY[8 * at : 8 * at + 8].reshape(2, 4) for at in order]
    if data.draw(st.booleans()):
        view = data.draw(views().filter(lambda view: view.ndim == 2))
        pieces[data.draw(st.integers(0, 7))] = view
    first, second = (data.draw(st.integers(0, 3)) for _ in range(2))
    xs, y, zs = pieces[:first], pieces[first], pieces[first + 1 :][:second]
    # All elements of a list have one of the dtypes.
    xs, zs = ([piece for piece in some if piece.dtype == some[0].dtype] for some in (xs, zs))
    args = xs, y, data.draw(st.sampled_from([None, zs]))
    assert refused(functions, names, *args) == share(names, *args)


@pytest.mark.parametrize("count", [2, 36, 37, 1000])
def test_long_lists(count: int) -> None:
    """Those whose extents are on the stack, and those that need memory; in every order."""
    text = "f(xs: TensorList(Tensor([n], float32)), ys: TensorList(Tensor([m], float32)))"
    made = Signature.parse(f"{text} where no_overlap(xs)", device="cpu")
    module = new_module()
    attach(module, made, NopCallProvider())
    function = runtime.compile(module)["f"]
    rows = list(np.zeros((2 * count, 4), "float32"))
    shuffled = [rows[at] for at in np.random.default_rng(count).permutation(2 * count)]
    for some in (rows, rows[::-1], shuffled):
        xs, ys = some[:count], some[count:]
        function(xs, ys)
        function(xs, [ys[0]] * count)
        assert overlaps(function, [*xs, xs[-1]], ys)
        assert overlaps(function, [xs[0], *xs], ys)
        assert overlaps(function, xs, [*ys, xs[0]])
        assert overlaps(function, xs, [xs[-1], *ys])


def test_what_was_accepted_before() -> None:
    """The output is among the inputs."""
    text = (
        "f(xs: TensorList(Tensor([n], float32, intent=in)), out: Tensor([n], float32, intent=out))"
    )
    params = Signature.parse(text, device="cpu").params
    made = Signature("f", params, no_overlap=True)
    assert made.no_overlap == ("out",)
    x, out = np.zeros(4, "float32"), np.zeros(4, "float32")
    testing.check(made, [x, x], out)
    with pytest.raises(ValueError) as raised:  # noqa: PT011 # the whole message is compared
        testing.check(made, [x, out], out)
    start = out.ctypes.data
    memory = f"{start:#x} to {start + 15:#x}"
    assert str(raised.value) == (
        "Mismatched out on argument #1 when calling: "
        "`f(xs: TensorList(Tensor([n], float32)), out: Tensor([n], float32))`, expected memory "
        f"apart from that of xs[1] (no_overlap) but got {memory}, where xs[1] has {memory}"
    )


def test_make_args_makes_no_overlaps() -> None:
    """Whatever the length of the lists."""
    made = signature("xs, y, zs")
    lengths: list[list[int]] = [[], [3], [1, 2, 3, 4]]
    testing.check(made, *testing.make_args(made))
    for sizes in lengths:
        testing.check(made, *testing.make_args(made, {"n1": sizes, "m1": sizes, "n2": 3}))


def test_a_list_of_one_element_is_compared_with_nothing() -> None:
    text = "f(xs: TensorList(Tensor([n], int8, intent=out), length=1))"
    params = Signature.parse(text, device="cpu").params
    with pytest.raises(SpecError, match="no_overlap: there are no two tensors on cpu, cuda"):
        Signature("f", params, no_overlap=True)
