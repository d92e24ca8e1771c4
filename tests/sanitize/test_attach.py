"""Which tensors are copied, what is refused, and what ``sanitize=`` leaves as it is."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from ffi_builder import (
    BuildError,
    Sanitize,
    SpecError,
    attach,
    attach_ffi_func,
    explain,
    runtime,
)
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    DirectCallProvider,
    NopCallProvider,
    PackedCallProvider,
    Variant,
    VariantsCallProvider,
)
from tests.differential.description import DLTensor, Pointer
from tests.sanitize.kernels import Kernel, Sanitized, attached, finds, in_use, poke, signature, view
from tests.support.printed import printed_wrapper
from tests.support.wrapping import RawWrapper, new_module

COPY: Final = "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out))"
ONE: Final = "f(x: Tensor([n], float32))"


# ---- options


def test_the_repr() -> None:
    options = Sanitize(guard_bytes=64, nan=True)
    assert repr(options) == (
        "Sanitize(guard_bytes=64, inputs=True, poison=True, overlap=True, nan=True)"
    )
    assert eval(repr(options)) == options


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"guard_bytes": -1}, "guard_bytes: expected an int from 0 to 1073741824 but got -1"),
        ({"guard_bytes": 2**31}, "but got 2147483648"),
        ({"guard_bytes": True}, "but got True"),
        ({"guard_bytes": 1.5}, "but got 1.5"),
        ({"nan": 1}, "Sanitize: nan: expected a bool but got 1"),
        ({"poison": "y"}, "Sanitize: poison: expected a bool but got 'y'"),
        (
            {"guard_bytes": 0, "inputs": False, "poison": False, "overlap": False},
            "nothing is to be checked; leave out sanitize=, or set a field",
        ),
    ],
)
def test_wrong_options(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError) as error:
        Sanitize(**fields)
    assert words in str(error.value)


def test_something_else_than_options() -> None:
    for given in ("nan", None, 1):
        with pytest.raises(SpecError) as error:
            attached(COPY, given)
        assert str(error.value) == (
            f"sanitize: expected True, False or a Sanitize but got {given!r}"
        )
        with pytest.raises(SpecError):
            explain(signature(COPY), sanitize=given)  # pyright: ignore[reportArgumentType]


# ---- what is refused


class Keeping(NopCallProvider):
    """Says nothing of what the kernel may keep."""

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        return current_block


@pytest.mark.parametrize(
    "provider",
    [
        PackedCallProvider(global_function="testing.echo"),
        Keeping(),
        VariantsCallProvider([Variant(PackedCallProvider(global_function="testing.echo"))]),
    ],
)
def test_a_provider_that_may_hand_over_the_callers_tensors(provider: Any) -> None:
    module = new_module()
    before = str(module)
    with pytest.raises(BuildError) as error:
        attach(module, signature(COPY), provider, sanitize=True)
    assert str(module) == before
    assert f"{type(provider).__name__} may hand over the caller's own tensors" in str(error.value)
    assert "has borrows_tensors = True" in str(error.value)
    overlap = Sanitize(guard_bytes=0, inputs=False, poison=False)
    attach(module, signature(COPY), provider, sanitize=overlap)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("f(n: int64)", True),
        ("f(x: Tensor([n], float32, device_type=cuda))", True),
        ("f(x: Tensor([n], float32), y: Tensor([n], float32))", Sanitize(0, False, False)),
    ],
)
def test_nothing_to_check(text: str, options: Any) -> None:
    with pytest.raises(BuildError) as error:
        attached(text, options)
    assert "sanitize: 'f' has nothing that could be checked; guard zones, poison," in str(
        error.value
    )


# ---- overlap


def test_tensors_that_share_memory_are_refused() -> None:
    function = Sanitized(COPY, ["x", "y"], lambda x, y: view(y, 4).fill(0))
    x = np.zeros(8, "float32")
    with pytest.raises(ValueError, match="expected memory apart from that of x"):
        function(x[:4], x[2:6])
    function(x[:4], x[4:])


def test_tensors_that_may_share_memory() -> None:
    """Their copies do not, and what is written to one of them reaches the caller."""
    apart = Sanitize(overlap=False)
    x = np.arange(4, dtype="float32")
    Sanitized(COPY, ["x", "y"], lambda x, y: view(y, 4).fill(view(x, 4)[3]), apart)(x, x)
    assert x.tolist() == [3] * 4
    text = "f(x: Tensor([n], float32), y: Tensor([n], float32))"  # nobody said who writes
    Sanitized(text, ["x", "y"], lambda x, y: poke(x, 1))(x, x)
    assert x.tolist() == [3, 7, 3, 3]
    Sanitized(text, ["x", "y"], lambda x, y: poke(y, 2))(x, x)
    assert x.tolist() == [3, 7, 7, 3]


# ---- which tensors are copied


def test_optional_tensors_and_elements_of_tuples() -> None:
    text = (
        "f(a: Optional(Tensor([n], float32, intent=out)), "
        "t: Tuple(p: Tensor([2], int32, intent=in), q: Optional(Tensor([2], int32))))"
    )
    seen: list[tuple[int, ...]] = []

    def kernel(*given: int) -> None:
        seen.append(given)
        for address in given:
            if address:
                poke(address, 2, 1, "int32")

    function = Sanitized(text, ["a", "t[0]", "t[1]"], kernel)
    one: Any = np.zeros(2, "int32")
    two: Any = np.zeros(2, "int32")
    for args, name in (((None, (one, None)), "t[0]"), ((None, (one, two)), "t[0]")):
        with finds(
            f"outside of the elements of {name}: byte 8 from its data has changed (4 in all; "
        ):
            function(*args)
    assert [bool(address) for address in seen[0]] == [False, True, False]
    assert [bool(address) for address in seen[1]] == [False, True, True]
    with finds("outside of the elements of a: byte "):
        function(np.zeros(2, "float32"), (one, None))
    right = Sanitized(
        text, ["a", "t[0]", "t[1]"], lambda a, b, c: [view(p, 2).fill(5) for p in (a, c) if p]
    )
    a = np.zeros(2, "float32")
    right(a, (one, None))
    right(None, (one, two))
    assert a.tolist() == [5, 5]
    assert two.view("float32").tolist() == [5, 5]


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 3), (0, 2)])
def test_any_rank(shape: tuple[int, ...]) -> None:
    """The kernel gets a DLTensor with the address of the copy."""
    text = "f(y: Tensor(..., float32, strides=any, intent=out))"
    y = np.zeros((*shape, 2), "float32")[..., 0]
    places: list[int] = []

    def kernel(tensor: int) -> None:
        data, _, ndim = (int(word) for word in view(tensor, 3, "int64"))
        assert ndim & 0xFFFFFFFF == len(shape)
        places.append(data)
        for index in range(y.size):
            poke(data, 2 * index, index)

    Sanitized(text, ["y"], kernel)(y)
    assert places[0] != y.ctypes.data
    assert y.ravel().tolist() == list(range(y.size))
    if y.size:
        with finds("outside of the elements of y: byte "):
            Sanitized(text, ["y"], lambda t: poke(int(view(t, 1, "int64")[0]), 2 * y.size))(y)


def raw(text: str, kernel: Kernel, args: list[str]) -> RawWrapper:
    module = attached(text, True, DirectCallProvider("kernel", args=args), kernel.text)
    return RawWrapper(runtime.compile(module), "f")


def test_a_tensor_on_another_device_is_passed_as_it_is() -> None:
    seen: list[int] = []
    kernel = Kernel(seen.append, 1)
    call = raw("f(x: Tensor([n], float32, device_type=any, intent=in))", kernel, ["x"])
    x = np.zeros(4, "float32")
    for device, is_own in ((2, True), (1, False), (3, True)):
        tensor = DLTensor((4,), data=x.ctypes.data, device_type=device)
        assert call(Pointer(tensor)) is None
        assert (seen.pop() == x.ctypes.data) is is_own


def test_a_byte_offset() -> None:
    kernel = Kernel(lambda x: poke(x, 0, view(x, 1)[0] + 1), 1)
    x = np.arange(4, dtype="float32")
    tensor = DLTensor((2,), data=x.ctypes.data, byte_offset=8)
    assert raw(ONE, kernel, ["x"])(Pointer(tensor)) is None
    assert x.tolist() == [0, 1, 3, 3]


def test_more_memory_than_there_is() -> None:
    kernel = Kernel(lambda x: None, 1)
    shape = DLTensor((2**45,), data=0x1000)
    found = raw("f(x: Tensor([n], float32, intent=in))", kernel, ["x"])(Pointer(shape))
    assert found is not None
    assert found[0] == "MemoryError"
    assert found[1].startswith("There is no memory for the copy of x that sanitize makes when")


def test_nothing_is_kept() -> None:
    x, y = np.zeros(4, "float32"), np.zeros(4, "float32")
    right = Sanitized(COPY, ["x", "y"], lambda x, y: view(y, 4).fill(1), Sanitize(2**20))
    wrong = Sanitized(COPY, ["x", "y"], lambda x, y: poke(y, 0), Sanitize(2**20))

    def call() -> None:
        right(x, y)
        with finds("does not write y[1]"):
            wrong(x, y)

    call()
    before = in_use()
    for _ in range(10):
        call()
    assert in_use() - before < 2**22


# ---- what stays as it is


def test_attach_ffi_func_takes_it() -> None:
    given = signature(COPY)
    module, other = new_module(), new_module()
    attach_ffi_func(module, "f", given.params, DirectCallProvider("kernel"), sanitize=True)
    attach(other, given, DirectCallProvider("kernel"), sanitize=True)
    assert printed_wrapper(module) == printed_wrapper(other)


def test_explain_shows_it() -> None:
    text = (
        "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, device_type=any, intent=out), "
        "g: Tensor([1], int8, device_type=cuda), w: Workspace([n], int8))"
    )
    shown = explain(signature(text), sanitize=Sanitize(guard_bytes=64, nan=True))
    _, heading, rows = shown.partition("then, around the call of the kernel (sanitize):\n")
    assert heading
    assert [" ".join(row.split()) for row in rows.splitlines() if row.startswith(" ")] == [
        "x copied MemoryError",
        "64 bytes around x as before the call AssertionError",
        "elements of x as before the call AssertionError",
        "y copied if it is on the CPU MemoryError",
        "64 bytes around y as before the call AssertionError",
        "elements of y filled with poison before the call",
        "elements of y all written AssertionError",
        "elements of y not computed from poison AssertionError",
        "elements of y no NaN AssertionError",
        "g passed as it is, since cuda tensors are not copied",
        "w copied MemoryError",
        "64 bytes around w as before the call AssertionError",
        "elements of w filled with poison before the call",
    ]
    assert "memory apart from that of x or g (no_overlap)" in shown
    assert explain(signature(text), sanitize=False) == explain(signature(text))
