"""Rules of frameworks that DLPack does not carry, on every way from Python to a function."""

from __future__ import annotations

import functools
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
    Tensor,
    TensorList,
    TupleParam,
    Var,
    dims,
)
from tests.entry.functions import Ways, needs_extension, ways
from tests.support.entries import READ_IN_C
from tests.support.wrapping import new_module

np: Any = numpy
n, m = dims("n m")
WAYS: Final = (
    # Without the extension, the function itself is tvm-ffi's, which knows no rules.
    *(["entry"] if READ_IN_C else []),
    *("general", "entry_callable", "general_callable"),
)
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

Call = Callable[..., Any]


def tensor(name: str = "x", intent: str | None = None, **more: Any) -> Tensor:
    return Tensor(name, [n], "float32", device_type="cpu", intent=intent, **more)


@functools.cache  # the kernel writes to the recording, which must live as long as it does
def recorded(intent: str | None, strides: Any = None) -> Ways:
    """A function whose kernel notes the address and the size of `x`."""
    x = tensor(intent=intent, strides=strides)
    return ways([x], ["!llvm.ptr", "i64"], [x, n])


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
        f(array)
        assert recording.unsigned(0) == array.ctypes.data or array.size == 0
        assert recording.signed(1) == array.size
        assert not array.flags.writeable


@needs_extension
def test_read_only_arrays_are_read_in_c() -> None:
    both = recorded("in", strides="any")
    before = both.entry._general_calls
    both.entry(read_only())
    both.entry(np.broadcast_to(np.float32(1), (3,)))
    assert both.entry._general_calls == before


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


# ---- PyTorch


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")


def _complex(way: str) -> Call:
    return getattr(ways([Tensor("x", [n], "complex64", device_type="cpu", intent="in")]), way)


@pytest.mark.parametrize("way", WAYS)
def test_conjugate_and_negative_views(torch: Any, way: str) -> None:
    numbers = torch.ones(3, dtype=torch.complex64)
    f, real = _complex(way), getattr(recorded("in", "any"), way)
    with pytest.raises(ValueError, match=r"a conjugate view, .*: pass x\.resolve_conj\(\)"):
        f(numbers.conj())
    with pytest.raises(ValueError, match=r"a negative view, .*: pass x\.resolve_neg\(\)"):
        real(numbers.conj().imag)
    f(numbers.conj().resolve_conj())
    real(numbers.conj().imag.resolve_neg())


@pytest.mark.parametrize("way", WAYS)
def test_gradients_that_would_be_lost(torch: Any, way: str) -> None:
    f = getattr(recorded("in"), way)
    for lost in (torch.ones(3, requires_grad=True), torch.nn.Parameter(torch.ones(3))):
        with pytest.raises(ValueError, match=r"autograd does not see .* pass x\.detach\(\)"):
            f(lost)
        with pytest.raises(ValueError, match="requires grad"):
            f(lost * 2)
        f(lost.detach())
        with torch.no_grad():
            f(lost)
            f(lost * 2)
        with torch.inference_mode():
            f(lost * 2)


@pytest.mark.parametrize("way", WAYS)
def test_tensors_without_memory(torch: Any, way: str) -> None:
    f = getattr(recorded(None), way)
    fake_tensor = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake_tensor.FakeTensorMode():
        fake = torch.ones(3)
    for odd, layout in (
        (torch.ones(3).to_sparse(), "torch.sparse_coo"),
        (torch.ones(3).to_mkldnn(), "torch._mkldnn"),
    ):
        words = rf"but got a tensor of the layout {layout}, which has none .*: pass x\.to_dense\(\)"
        with pytest.raises(ValueError, match=words):
            f(odd)
        f(odd.to_dense())
    for odd, kind in (
        (torch.ones(3, device="meta"), "a meta tensor"),
        (fake, "a FakeTensor"),
    ):
        words = f"expected a tensor with memory but got {kind}, which has none: pass a dense"
        with pytest.raises(ValueError, match=words):
            f(odd)
    with pytest.raises(ValueError, match="got a tensor that torch traces or maps over, which has"):
        torch.vmap(f)(torch.ones(2, 3))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("layout", ["strided", "jagged"])
def test_nested_tensors(torch: Any, way: str, layout: str) -> None:
    f = getattr(recorded(None), way)
    x = torch.nested.nested_tensor([torch.ones(3), torch.ones(2)], layout=getattr(torch, layout))
    words = (
        r"of one shape but got a nested tensor, .*: pass each of x\.unbind\(\), or torch\.nested"
    )
    with pytest.raises(ValueError, match=words):
        f(x)
    for each in x.unbind():
        f(each)
    f(torch.nested.to_padded_tensor(x, 0.0)[0])


@pytest.mark.parametrize("way", WAYS)
def test_versions_are_raised_once_a_call_has_succeeded(torch: Any, way: str) -> None:
    params = [tensor("x", "in"), tensor("y"), tensor("z", "out"), TupleParam("t", [tensor("w")])]
    f = getattr(ways([*params, Var("k", "int32")]), way)
    x, y, z, w = (torch.zeros(3) for _ in range(4))
    f(x, y, z, (w,), 1)
    assert [each._version for each in (x, y, z, w)] == [0, 1, 1, 1]
    for wrong in ((x, y, z, (w,), "k"), (x, y, torch.zeros(4), (w,), 1)):
        with pytest.raises((TypeError, ValueError)):
            f(*wrong)
    assert [each._version for each in (x, y, z, w)] == [0, 1, 1, 1]


@pytest.mark.parametrize("way", WAYS)
def test_versions_of_tensors_in_lists(torch: Any, way: str) -> None:
    f = getattr(ways([Array("xs"), Map("named")]), way)
    x, y = torch.zeros(3), torch.zeros(3)
    f([x], {"y": [y]})
    assert (x._version, y._version) == (1, 1)


@pytest.mark.parametrize("way", WAYS)
def test_autograd_sees_what_was_written(torch: Any, way: str) -> None:
    f = getattr(ways([TupleParam("t", [tensor()])]), way)
    a = torch.ones(3, requires_grad=True)
    b = a * 1.0
    loss = (b * b).sum()
    f((b.detach(),))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


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
    return [compiled.callable("f"), *([compiled["f"]] if READ_IN_C else [])]


def test_results_are_arrays_of_the_arguments_framework(torch: Any) -> None:
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
