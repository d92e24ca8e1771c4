"""Comparisons before memory is read: each fails where it should."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from ffi_builder.entry import available, layouts
from ffi_builder.entry.layouts import LayoutError
from ffi_builder.spec import Tensor, dims
from tests.entry.functions import needs_extension, ways

(n,) = dims("n")


class Changed:
    """Something with some attributes replaced."""

    def __init__(self, original: Any, **changes: Any) -> None:
        self.__dict__.update(changes)
        self._original = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


# ---- tvm-ffi


def test_the_layout_of_functions() -> None:
    functions = [tvm_ffi.convert(len), tvm_ffi.get_global_func("ffi.Array")]
    layout = layouts.function_layout(functions)
    assert layout.size == tvm_ffi.Function.__basicsize__
    for function in functions:
        assert layouts.words(id(function) + layout.handle, 1) == [function.__chandle__()]
        for value in (False, True):
            function.release_gil = value
            number = ctypes.c_int32.from_address(id(function) + layout.release_gil).value
            assert number == value


def test_functions_of_another_layout() -> None:
    class Handle(tvm_ffi.Function):
        def __chandle__(self) -> int:
            return 1234567

    class NoHandle(tvm_ffi.Function):
        def __chandle__(self) -> int:
            return 0

    class Gil(tvm_ffi.Function):
        release_gil: Any = True

    def made(cls: Any) -> Any:
        result = cls.__new__(cls)
        result.__move_handle_from__(tvm_ffi.convert(len))
        return result

    for cls, words in ((Handle, "no offset"), (NoHandle, "NULL"), (Gil, "release_gil")):
        with pytest.raises(LayoutError, match=words):
            layouts.function_layout([made(cls)])


def test_a_symbol_that_is_not_there() -> None:
    with pytest.raises(LayoutError, match=r"no_such_symbol is not in .*tvm_ffi"):
        layouts.address_of(tvm_ffi.LIB, "no_such_symbol")


# ---- NumPy


def test_numpy_as_it_is() -> None:
    found = layouts.numpy_dtypes(np)
    assert found[np.dtype("float32").num] == (2, 32)
    assert found[np.dtype("bool").num] == (6, 8)
    assert found[np.dtype("complex128").num] == (5, 128)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("shape", (1, 2, 3)),
        ("strides", (1, 2, 3)),
        ("ndim", 17),
        ("dtype", np.dtype("int16")),
        ("flags", SimpleNamespace(aligned=False, writeable=False)),
        ("__array_interface__", {"data": (1234567, False)}),
    ],
)
def test_arrays_of_another_layout(name: str, value: Any) -> None:
    other = type("Other", (np.ndarray,), {name: value})

    def zeros(shape: Any, dtype: Any) -> Any:
        made: Any = np.zeros(shape, dtype)
        return made.view(other) if np.ndim(made) == 3 else made

    with pytest.raises(LayoutError, match="ndarray"):
        layouts.numpy_dtypes(Changed(np, zeros=zeros))


def test_dtypes_of_another_layout() -> None:
    def dtype(text: str) -> Any:
        made = np.dtype(text)
        return Changed(made, num=99) if text == "d" else made

    with pytest.raises(LayoutError, match="number 99"):
        layouts.numpy_dtypes(Changed(np, dtype=dtype))


# ---- PyTorch


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")


def test_torch_as_it_is(torch: Any) -> None:
    layout = layouts.torch_layout(torch)
    assert set(layout.dtypes.values()) >= {(2, 32), (4, 16), (6, 8), (0, 64)}


def _without_api(torch: Any) -> Any:
    return Changed(torch, Tensor=type("Tensor", (), {}))


def _other_keys(torch: Any) -> Any:
    keys = torch._C._dispatch_keys

    def of_another(_: object) -> Any:
        return keys(torch.zeros(1, device="meta"))

    return Changed(torch, _C=Changed(torch._C, _dispatch_keys=of_another))


def _other_versions(torch: Any) -> Any:
    def zeros(*args: Any, **keywords: Any) -> Any:
        made = torch.zeros(*args, **keywords)
        return made.zero_() if args == (2,) and not keywords else made

    return Changed(torch, zeros=zeros)


def _no_graph(torch: Any) -> Any:
    def zeros(*args: Any, requires_grad: bool = False, **keywords: Any) -> Any:
        return torch.zeros(*args, **keywords)

    return Changed(torch, zeros=zeros)


def _no_tangent(torch: Any) -> Any:
    def make(primal: Any, tangent: Any, level: int) -> Any:
        return primal.requires_grad_()

    return Changed(torch, _VF=Changed(torch._VF, _make_dual=make))


def _other_place(torch: Any) -> Any:
    return Changed(torch, __file__="/nowhere/torch/__init__.py")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_without_api, "no exchange API"),
        (_other_keys, "dispatch keys"),
        (_other_versions, "a version"),
        (_no_graph, "autograd metadata"),
        (_no_tangent, "tangent"),
        (_other_place, "libtorch_cpu.so"),
    ],
)
def test_another_torch(torch: Any, change: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(LayoutError, match=words):
        layouts.torch_layout(change(torch))


def test_words_that_are_not_initialised(torch: Any) -> None:
    # Beside the tangent stands a std::string, of which a part is never written.
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    expected = layouts.torch_layout(torch).offsets
    for _ in range(10):
        sizes = [size for size in range(16, 700, 16) for _ in range(8)]
        blocks = [ctypes.c_void_p(libc.malloc(size)) for size in sizes]
        for block, size in zip(blocks, sizes, strict=True):
            ctypes.memset(block, 0xFF, size)
        for block in blocks:
            libc.free(block)
        assert layouts.torch_layout(torch).offsets == expected


def test_torch_without_a_symbol(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "REQUIRES_GRAD", "_ZNK3c1010TensorImpl5otherEv")
    with pytest.raises(LayoutError, match=r"TensorImpl5otherEv is not in libc10.so"):
        layouts.torch_layout(torch)


def test_torch_whose_shim_differs_from_its_exchange_api(
    torch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    borrowed = vars(layouts)["_borrowed"]

    def other(api: int, tensor: Any) -> Any:
        found = borrowed(api, tensor)
        found.data += 4
        return found

    monkeypatch.setattr(layouts, "_borrowed", other)
    with pytest.raises(LayoutError, match="C shim and its exchange API differ"):
        layouts.torch_layout(torch)


# ---- turned off


@pytest.fixture
def parts() -> Iterator[Any]:
    """The extension, and what was tried; afterwards all is tried again."""
    from ffi_builder.entry import _entry
    from ffi_builder.runtime.python import functions

    yield _entry
    available.tried.pop("numpy", None)
    available.tried.pop("torch", None)
    functions.extension()


@needs_extension
def test_a_framework_that_is_not_as_expected_goes_the_general_way(
    parts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ways([Tensor("x", [n], "float32", device_type="cpu")])
    array = np.ones(3, "float32")

    def wrong(_: object) -> Any:
        raise LayoutError("as if it were another")

    parts.use_numpy(None, {}, False)
    available.tried.pop("numpy")
    monkeypatch.setattr(layouts, "numpy_dtypes", wrong)
    available.use_frameworks(parts)
    assert available.Reading("numpy", "as if it were another") in available.readings()
    both.entry(array)
    both.entry(tvm_ffi.from_dlpack(array))
    assert both.entry._general_calls == 1


def _without(code: str, **variables: str) -> str:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{code}\n"
            "from ffi_builder.spec import Var\n"
            "from ffi_builder.runtime.python import functions\n"
            "from tests.runtime.callables import checking\n"
            "f = checking(Var('a', 'int32', default=3))\n"
            "f.callable('f')(); f['f'](1); print(type(f['f']).__name__, functions.extension().reason)",
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "FFI_BUILDER_ENTRY": "", **variables},
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_the_extension_turned_off() -> None:
    assert _without("", FFI_BUILDER_ENTRY="python") == (
        "WrappedFunction turned off by FFI_BUILDER_ENTRY=python"
    )


@pytest.mark.slow
def test_without_the_extension() -> None:
    found = _without("import sys; sys.modules['ffi_builder.entry._entry'] = None")
    assert found.startswith("WrappedFunction the extension was not built for this Python (")


@pytest.mark.slow
def test_free_threaded_builds() -> None:
    """They would load an extension for the limited API."""
    found = _without("import sys\nsys.abiflags = 't'")
    assert found == "WrappedFunction this is a free-threaded build of CPython"


@needs_extension
@pytest.mark.slow
def test_tvm_ffi_of_another_layout() -> None:
    found = _without(
        "from ffi_builder.entry import layouts\n"
        "def wrong(functions): raise layouts.LayoutError('another layout')\n"
        "layouts.function_layout = wrong"
    )
    assert found == "WrappedFunction another layout"
