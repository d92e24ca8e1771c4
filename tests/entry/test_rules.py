"""Rules of frameworks that DLPack does not carry, on every way from Python to a function."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy
import pytest
import tvm_ffi

from ffi_builder import attach, runtime
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import (
    Array,
    Map,
    Object,
    Optional,
    Signature,
    Struct,
    TensorList,
    TupleParam,
    Var,
)
from tests.entry.functions import read_in_c, ways
from tests.entry.rules import WAYS, Call, recorded, tensor
from tests.support.wrapping import new_module

np: Any = numpy
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script")


def read_only() -> Any:
    array = np.ones(3, "float32")
    array.flags.writeable = False
    return array


# ---- NumPy


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("intent", [None, "in", "out", "inout"])
def test_masked_arrays(way: str, intent: str | None) -> None:
    f = getattr(recorded(intent), way)
    with pytest.raises(ValueError, match=r"Mismatched x on argument #0 .* whose mask f would not"):
        f(np.ma.masked_array(np.ones(3, "float32"), [0, 1, 0]))
    f(np.ma.masked_array(np.ones(3, "float32"), [0, 1, 0]).filled(0))


@pytest.mark.parametrize(
    ("intent", "words"),
    [
        (None, r'\(x is not declared intent="in"\) but got a read-only array: pass a copy'),
        ("out", r'\(x is declared intent="out"\) but got a read-only array: pass another array'),
        ("inout", r'\(x is declared intent="inout"\) but got a read-only array'),
    ],
)
@pytest.mark.parametrize("way", WAYS)
def test_a_read_only_array_that_may_be_written(way: str, intent: str | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        getattr(recorded(intent), way)(read_only())


@pytest.mark.parametrize("way", WAYS)
def test_read_only_arrays_that_are_only_read(way: str, tmp_path: Path) -> None:
    both = recorded("in", strides="any")
    f, recording = getattr(both, way), both.recording
    assert recording is not None
    file = tmp_path / "x"
    file.write_bytes(np.ones(3, "float32").tobytes())
    with file.open("rb") as opened:
        mapped = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    for array in (
        read_only(),
        np.broadcast_to(np.float32(1), (3,)),
        np.frombuffer(b"\0" * 12, "float32"),
        np.frombuffer(mapped, "float32"),
        np.memmap(file, "float32", mode="r"),
        read_only()[::-1],
        read_only()[:0],
    ):
        recording.clear()
        with read_in_c(*[f] * (type(array) is np.ndarray)):
            f(array)
        assert recording.unsigned(0) == array.ctypes.data or array.size == 0
        assert recording.signed(1) == array.size
        assert not array.flags.writeable


# ---- where arrays stand


STRUCT: Final = Struct("cfg", [Struct("inner", [tensor()]), Var("k", "int32")])
TUPLE: Final = TupleParam("pair", [Optional(tensor()), tensor("y")])


INSIDE: Final[dict[str, tuple[Any, Callable[[Any], Any]]]] = {
    r"cfg\.inner\.x": (STRUCT, lambda array: ((array,), 1)),
    r"pair\[1\]": (TUPLE, lambda array: (None, array)),
    r"xs\[1\]\[0\]": (Array("xs"), lambda array: [1, (array,)]),
    r"named\['a'\]": (Map("named"), lambda array: {"a": array}),
    "x": (Optional(tensor()), lambda array: array),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("path", INSIDE)
def test_arrays_within_arguments(way: str, path: str) -> None:
    param, make = INSIDE[path]
    f = getattr(ways([Var("first", "int32"), param]), way)
    f(1, make(np.ones(3, "float32")))
    with pytest.raises(ValueError, match=f"Mismatched {path} on argument #1 when calling: `f"):
        f(1, make(np.ma.masked_array(np.ones(3, "float32"), [0, 1, 0])))


class Holder:
    """An object that tvm-ffi passes another value for. It counts how often it was asked."""

    def __init__(self, value: object) -> None:
        self.value = value
        self.asked = 0

    def __tvm_ffi_value__(self) -> object:
        self.asked += 1
        return self.value


HELD: Final[list[tuple[Any, str, Callable[[Any], object]]]] = [
    (tensor("x"), "x", lambda array: array),
    (tensor("x"), "x", Holder),
    (TensorList(tensor("x")), r"x\[0\]", lambda array: Holder([Holder(array)])),
    (TupleParam("x", [tensor("y")]), r"x\[0\]", lambda array: (array,)),
    (TupleParam("x", [tensor("y")]), r"x\[0\]", lambda array: (Holder(array),)),
    (TensorList(tensor("x")), r"x\[1\]", lambda array: [array.copy(), array]),
    (Array("x"), r"x\[0\]", lambda array: [Holder(array)]),
    (Map("x"), r"x\['k'\]", lambda array: {"k": array}),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("param", "path", "around"), HELD)
def test_arrays_that_an_object_holds(
    way: str, param: Any, path: str, around: Callable[[Any], object]
) -> None:
    f = getattr(ways([param]), way)
    good = Holder(around(np.ones(3, "float32")))
    f(good)
    assert good.asked == 1
    with pytest.raises(ValueError, match=f"Mismatched {path} on argument #0 .* a read-only array"):
        f(Holder(around(read_only())))


def test_long_signatures_are_shortened() -> None:
    params = [Var(f"a_long_name_of_a_number_{index}", "int32") for index in range(20)]
    f = ways([*params[:10], tensor(), *params[10:]]).general_callable
    with pytest.raises(ValueError, match=r"calling: `f\(\.\.\., x: Tensor\(\[n\], [^)]*\), \.\.\."):
        f(*range(10), read_only(), *range(10))


# ---- JAX


@pytest.fixture
def jnp() -> Any:
    reason = "needs jax: `make test-frameworks` installs it"
    return pytest.importorskip("jax.numpy", reason=reason)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("intent", ["out", "inout"])
def test_jax_arrays_never_change(jnp: Any, way: str, intent: str) -> None:
    f = getattr(recorded(intent), way)
    with pytest.raises(ValueError, match=f'intent="{intent}"\\) but got an array of JAX'):
        f(jnp.zeros(3))
    f(np.zeros(3, "float32"))


@pytest.mark.parametrize("way", WAYS)
def test_jax_arrays_that_are_only_read(jnp: Any, way: str) -> None:
    both = recorded("in")
    array = jnp.zeros(3)
    getattr(both, way)(array)
    assert both.recording is not None
    assert both.recording.unsigned(0) == array.unsafe_buffer_pointer()


@pytest.mark.parametrize("way", WAYS)
def test_tracers_of_jax(jnp: Any, way: str) -> None:
    jax = pytest.importorskip("jax")
    f = getattr(recorded("in"), way)
    with pytest.raises(ValueError, match=r"expected an array with values but got a \w*Tracer"):
        jax.jit(f)(jnp.zeros(3))


# ---- what comes back


RETURNS: Final = {
    "one": "f(x: Tensor([n], float32), o: Optional(Tensor([n], float32))) -> y: Tensor([n], int32)",
    "two": (
        "f(x: Tensor([n], float32), o: Optional(Tensor([n], float32)))"
        " -> (y: Tensor([n], int32), z: Tensor([n], float64))"
    ),
    "bfloat16": "f(x: Tensor([n], float32)) -> y: Tensor([n], bfloat16)",
    "made": "f(n: int32) -> y: Tensor([4], float32)",
}


def returning(which: str) -> list[Call]:
    module = new_module()
    attach(module, Signature.parse(RETURNS[which], device="cpu"), NopCallProvider())
    compiled = runtime.compile(module, opt_level=0)
    return [compiled.callable("f"), compiled["f"]]


def test_results_are_arrays_of_the_arguments_framework() -> None:
    torch: Any = pytest.importorskip(
        "torch", reason="needs torch: `make test-frameworks` installs it"
    )
    ones = np.ones(3, "float32")
    arrays = {
        np.ndarray: ones,
        torch.Tensor: torch.ones(3),
        tvm_ffi.Tensor: tvm_ffi.from_dlpack(ones),
    }
    with runtime.install_allocator():
        for f, g in zip(returning("one"), returning("two"), strict=True):
            for cls, x in arrays.items():
                assert type(f(x, None)) is cls
                assert type(f(x, x)) is cls
                y, z = g(x, None)
                assert (type(y), type(z)) == (cls, cls)
                assert (str(y.dtype)[-5:], str(z.dtype)[-7:]) == ("int32", "float64")
            assert type(f(ones, tvm_ffi.from_dlpack(ones))) is tvm_ffi.Tensor


def test_results_of_numpy_can_be_written_and_own_their_memory() -> None:
    with runtime.install_allocator():
        y = returning("one")[0](np.ones(3, "float32"), None)
    y[:] = 7
    assert y.tolist() == [7, 7, 7]


def test_results_that_numpy_cannot_have_stay_tensors() -> None:
    with runtime.install_allocator():
        assert type(returning("bfloat16")[0](np.ones(3, "float32"))) is tvm_ffi.Tensor
        assert type(returning("made")[0](3)) is tvm_ffi.Tensor


@pytest.mark.parametrize("way", WAYS)
def test_arrays_that_are_passed_as_objects(way: str) -> None:
    f = getattr(ways([Object("o")]), way)
    masked = np.ma.masked_array(np.ones(3, "float32"), [0, 1, 0])
    for given in (masked, [masked], {"a": masked}):
        with pytest.raises(ValueError, match="whose mask f would not"):
            f(given)
    with pytest.raises(ValueError, match="a read-only array"):
        f(read_only())
    for given in (
        np.ones(3),
        [np.ones(3)],
        tvm_ffi.get_global_func("ffi.Array"),
        "long enough " * 3,
    ):
        f(given)
    torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
    with pytest.raises(ValueError, match="requires grad"):
        f(torch.ones(3, requires_grad=True))
    written = torch.ones(3)
    f(written)
    assert written._version == 1
