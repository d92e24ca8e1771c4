"""Which tensors are copied, what is refused, and what ``sanitize=`` leaves as it is."""

from __future__ import annotations

import gc
import weakref
from typing import Any, ClassVar, Final

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
    spec,
)
from ffi_builder.ir import Block
from ffi_builder.providers import (
    CallContext,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
    PackedCallProvider,
    Variant,
    VariantsCallProvider,
    when,
)
from tests.differential.description import DLTensor, Pointer
from tests.sanitize.kernels import Kernel, Sanitized, finds, in_use, poke, view
from tests.support.allocating import counting
from tests.support.printed import printed_wrapper
from tests.support.wrapping import RawWrapper, new_module

COPY: Final = "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out))"
ONE: Final = "f(x: Tensor([n], float32))"


def signature(text: str) -> spec.Signature:
    return spec.Signature.parse(text, device="cpu")


def attached(text: str, sanitize: Any, provider: Any = None, kernel: str = "") -> Any:
    module = new_module(kernel)
    attach(module, signature(text), provider or DirectCallProvider("kernel"), sanitize=sanitize)
    return module


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


# ---- providers


MEMREF: Final = """
llvm.func @kernel(%a: !llvm.ptr, %x: !llvm.ptr, %o: i64, %n: i64, %s: i64) {
  %v = llvm.mlir.constant(7 : i32) : i32
  %at = llvm.getelementptr %x[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  llvm.store %v, %at : i32, !llvm.ptr
  llvm.return
}
"""
PACKED: Final = """
llvm.func @kernel(%params: !llvm.ptr) {
  %x = llvm.load %params : !llvm.ptr -> !llvm.ptr
  %data = llvm.load %x : !llvm.ptr -> !llvm.ptr
  %v = llvm.mlir.constant(7 : i32) : i32
  %at = llvm.getelementptr %data[4] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %at : i32, !llvm.ptr
  llvm.return
}
"""
NESTED: Final = """
llvm.func @kernel(%x: !llvm.struct<(ptr, struct<(i64, struct<()>)>)>) {
  %data = llvm.extractvalue %x[0] : !llvm.struct<(ptr, struct<(i64, struct<()>)>)>
  %v = llvm.mlir.constant(7 : i32) : i32
  %at = llvm.getelementptr %data[4] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %v, %at : i32, !llvm.ptr
  llvm.return
}
"""


@pytest.mark.parametrize(
    ("provider", "kernel"),
    [
        (MemRefCallProvider("kernel"), MEMREF),
        (DynamicParamPackCallProvider("kernel"), PACKED),
        (NestedTensorCallProvider("kernel"), NESTED),
        (
            VariantsCallProvider(
                [
                    Variant(
                        MemRefCallProvider("kernel"), when=when.divisible(spec.Var("n", "int64"), 2)
                    ),
                    Variant(NopCallProvider()),
                ]
            ),
            MEMREF,
        ),
    ],
)
def test_every_provider_passes_the_copies(provider: Any, kernel: str) -> None:
    x = np.zeros(5, "float32")
    function = runtime.compile(attached(ONE, True, provider, kernel))["f"]
    with finds("outside of the elements of x: byte 16 from its data has changed (4 in all; "):
        function(x[:4])
    assert not x.any()


def test_a_kernel_that_fails() -> None:
    """The copies are freed, and the caller's tensors are as before."""
    kernel = """
    llvm.func @kernel(%x: !llvm.ptr) -> i32 {
      %v = llvm.mlir.constant(7 : i32) : i32
      llvm.store %v, %x : i32, !llvm.ptr
      llvm.return %v : i32
    }"""
    provider = CheckStatus(DirectCallProvider("kernel", args=["x"]))
    function = runtime.compile(attached(ONE, Sanitize(2**20), provider, kernel))["f"]
    x = np.zeros(4, "float32")

    def fail() -> None:
        with pytest.raises(RuntimeError, match="kernel failed with status 7"):
            function(x)

    fail()
    before = in_use()
    for _ in range(20):
        fail()
    assert in_use() - before < 2**22
    assert not x.any()


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


# ---- results


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_a_result_like_an_argument(dtype: str) -> None:
    text = (
        "f(x: Tensor(..., float32 | float16 | int64, device_type=any, intent=in)) "
        "-> y: Tensor(x.shape, x.dtype, device_type=x.device_type)"
    )

    def data(tensor: int) -> int:
        return int(view(tensor, 1, "int64")[0])

    x = np.array([[0, 1, 2], [3, 4, 5]], dtype)
    wrong = Sanitized(text, ["x", "y"], lambda x, y: poke(data(y), 0, 1, dtype))
    with finds("The kernel does not write y[0, 1] of the result y"):
        wrong(x)
    assert wrong.kept == 0

    def copy(x: int, y: int) -> None:
        view(data(y), 6, dtype)[:] = view(data(x), 6, dtype)

    got = np.from_dlpack(Sanitized(text, ["x", "y"], copy)(x))
    assert (got == x).all()
    assert got.dtype == x.dtype


def test_a_str_that_is_in_a_workspace() -> None:
    """The kernel returns an address in a copy, which lives until the str has been made."""
    word = int.from_bytes(b"scratchy", "little")
    kernel = f"""
    llvm.func @kernel(%w: !llvm.ptr) -> !llvm.struct<(ptr, i64)> {{
      %text = llvm.mlir.constant({word} : i64) : i64
      llvm.store %text, %w : i64, !llvm.ptr
      %eight = llvm.mlir.constant(8 : i64) : i64
      %empty = llvm.mlir.undef : !llvm.struct<(ptr, i64)>
      %first = llvm.insertvalue %w, %empty[0] : !llvm.struct<(ptr, i64)>
      %pair = llvm.insertvalue %eight, %first[1] : !llvm.struct<(ptr, i64)>
      llvm.return %pair : !llvm.struct<(ptr, i64)>
    }}"""
    text = "f(w: Workspace([8], uint8)) -> s: String"
    function = runtime.compile(attached(text, True, None, kernel))["f"]
    with counting() as allocator:
        assert function() == "scratchy"
        assert not allocator.alive


class Handing(NopCallProvider):
    """Calls the kernel, and hands over what came as ``o``, with a reference of its own."""

    borrows_tensors: ClassVar[bool] = True

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        b, t = context.builder, context.builder.types
        b.call("kernel", [context.data(context.params[0])], t.void)
        given = context.scalar(context.params[1])
        context.symbols.declare("TVMFFIObjectIncRef", t.i32, [t.ptr])
        b.call("TVMFFIObjectIncRef", [given], t.i32)
        context.results = [given]
        return b.block


class Watched:
    """Something whose life Python can watch."""


@pytest.mark.parametrize("size", [1, 2])
def test_an_object_that_was_handed_over_is_released(size: int) -> None:
    """The kernel is right for two elements only."""
    kernel = Kernel(lambda x: poke(x, 1), 1)
    text = "f(x: Tensor([n], float32), o: Function) -> r: Function"
    function = runtime.compile(attached(text, True, Handing(), kernel.text))["f"]
    kept, x = Watched(), np.zeros(size, "float32")
    watch = weakref.ref(kept)
    if size == 2:
        assert function(x, lambda kept=kept: 5)() == 5
    else:
        with finds("outside of the elements of x"):
            function(x, lambda kept=kept: 5)
    del kept
    gc.collect()
    assert watch() is None


# ---- what stays as it is


def test_attach_ffi_func_takes_it() -> None:
    given = signature(COPY)
    module, other = new_module(), new_module()
    attach_ffi_func(module, "f", given.params, DirectCallProvider("kernel"), sanitize=True)
    attach(other, given, DirectCallProvider("kernel"), sanitize=True)
    assert printed_wrapper(module) == printed_wrapper(other)


@pytest.mark.parametrize("distribution", ["torch_mlir", "jaxlib.mlir"])
def test_other_distributions(distribution: str) -> None:
    module = new_module(MEMREF, distribution)
    attach(module, signature(ONE), MemRefCallProvider("kernel"), sanitize=True)
    function = runtime.compile(module)["f"]
    with finds("outside of the elements of x: byte "):
        function(np.zeros(4, "float32"))


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
