"""Reference counts, memory, threads, the garbage collector, fork and the end of the process."""

from __future__ import annotations

import ctypes
import functools
import gc
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach, runtime
from ffi_builder.providers import DirectCallProvider, NopCallProvider
from ffi_builder.spec import (
    Array,
    Bytes,
    Choice,
    List,
    Signature,
    String,
    Tensor,
    TupleParam,
    Var,
    dims,
)
from tests.entry.functions import calling, needs_extension, ways
from tests.support.memory import ALLOWED, lost
from tests.support.threads import together
from tests.support.wrapping import new_module

pytestmark = needs_extension

(n,) = dims("n")
X = Tensor("x", [n], "float32", device_type="cpu")


def _failing(call: Callable[..., object], *args: Any, **keywords: Any) -> Callable[[], None]:
    def outcome() -> None:
        try:
            call(*args, **keywords)
        except (TypeError, ValueError):
            return
        raise AssertionError("no error")

    return outcome


def _failing_capsule(call: Callable[..., object], array: Any) -> Callable[[], None]:
    return lambda: _failing(call, array.__dlpack__(), "x")()


def _ignoring(*_: object) -> None:
    """A callee that keeps nothing."""


def _great(_: int) -> int:
    return 2**64 - 1


@functools.cache
def _outcomes() -> dict[str, Callable[[], object]]:
    numbers = ways([Var("a", "int32"), Var("b", "float32", default=1.5)]).entry
    texts = ways([String("a"), Choice("b", {"eight888": 1})]).entry
    arrays = ways([X, Var("b", "int32", default=1)]).entry
    binary = ways([Bytes("a"), Bytes("b")]).entry
    kept = calling(_ignoring, [Bytes("a"), Var("b", "int32")])
    great = calling(_great, [Var("a", "int32")])
    lists = ways([List("a", "int64"), List("b", "float32")]).entry
    names = ways([List("a", "String"), List("b", List("b", "int64"))]).entry
    strs, rows = [f"number {at} of the texts" for at in range(300)], [[1] * 9] * 300
    many = [*range(300)]
    buffer = memoryview(bytearray(8)).cast("f")
    array, wrong, long = np.ones(3, "float32"), np.ones(3, "int8"), "long enough to be an object"
    found: dict[str, Callable[[], object]] = {
        "ints": lambda: numbers(1, 2.0),
        "a keyword": lambda: numbers(a=1),
        "texts": lambda: texts(long, "eight888"),
        "an array": lambda: arrays(array),
        "a wrong number": _failing(numbers, 2**40),
        "a wrong keyword": _failing(numbers, c=1),
        "a wrong count": _failing(numbers, 1, 2, 3),
        "lists": lambda: lists(many, (0.5, 1)),
        "lists of texts and of lists": lambda: names(strs, rows),
        "a wrong text": _failing(names, [*strs, 1], []),
        "what is no list behind texts": _failing(names, strs, [[1], 2]),
        "what only Python reads behind texts": _failing(names, [*strs, object()], rows),
        "a wrong list behind a right one": _failing(lists, many, [*many, "x"]),
        "a number that is out of range behind a list": _failing(lists, many, [1.0, 2**70]),
        "bytes": lambda: binary(b"long enough to be an object", b"longer than seven"),
        "a buffer": lambda: arrays(buffer),
        "a bytearray": lambda: binary(bytearray(9), b""),
        "a wrong number behind a buffer": _failing(arrays, buffer, "x"),
        "a wrong buffer": _failing(arrays, memoryview(b"1")),
        "a capsule": lambda: arrays(array.__dlpack__()),
        "a wrong number behind a capsule": _failing_capsule(arrays, array),
        "a wrong number behind bytes": _failing(kept, b"long enough to be an object", 2**40),
        "bytes that are kept": lambda: kept(b"long enough to be an object", 1),
        "a great number": lambda: great(1),
        "a wrong text behind a right one": _failing(texts, long, object()),
        "a wrong choice": _failing(texts, long, "another one of these"),
        "a wrong array": _failing(arrays, wrong),
        "a doubt": lambda: numbers(np.int32(1)),
    }
    if "torch" in sys.modules:
        tensor = sys.modules["torch"].ones(3)
        found["a tensor"] = lambda: arrays(tensor)
        found["a tensor behind a doubt"] = _failing(arrays, tensor, "x")
        pairs = ways([TupleParam("p", [X, Array("xs")])]).entry
        found["tensors in a tuple and a list"] = lambda: pairs((tensor, [tensor, 1]))
        found["a wrong tuple of tensors"] = _failing(pairs, (tensor, tensor))
        returns = _returning()
        found["a tensor that comes back"] = lambda: returns(tensor)
        found["a gradient"] = _failing(arrays, sys.modules["torch"].ones(3, requires_grad=True))
    return found


def _returning() -> Callable[..., object]:
    module = new_module()
    signature = Signature("f", [X], returns=Tensor("y", [n], "float32", device_type="cpu"))
    attach(module, signature, NopCallProvider())
    return runtime.compile(module)["f"]


@pytest.mark.parametrize("outcome", _outcomes())
@pytest.mark.slow
def test_many_calls_leave_nothing_behind(outcome: str) -> None:
    call = _outcomes()[outcome]
    shared = [None, int, float, str, type(call), True, 1, 1.5]
    _leaves_nothing_behind(call, *shared)


def _leaves_nothing_behind(call: Callable[[], object], *shared: object) -> None:
    """References are counted too: those of objects that live forever are no memory."""
    call()
    gc.collect()
    before = [sys.getrefcount(item) for item in shared], len(gc.get_objects())
    assert lost(call) < ALLOWED
    counts, objects = [sys.getrefcount(item) for item in shared], len(gc.get_objects())
    assert all(abs(now - then) < 50 for now, then in zip(counts, before[0], strict=True))
    assert objects - before[1] < 50


def test_many_entries_leave_nothing_behind() -> None:
    compiled = runtime.compile(_module())

    def use() -> None:
        for call in (compiled["f"], compiled.callable("f")):
            with pytest.raises(TypeError):
                call("x")

    _leaves_nothing_behind(use, type(compiled["f"]))


def _module() -> Any:
    module = new_module()
    attach(module, Signature("f", [Var("a", "int32", default=3)]), NopCallProvider())
    return module


def test_arguments_keep_their_reference_counts() -> None:
    f = ways([X, Var("b", "int64", default=1)]).entry
    array, number = np.ones(3, "float32"), 10**15
    counts = sys.getrefcount(array), sys.getrefcount(number)
    for _ in range(100):
        f(array, number)
        f(b=number, x=array)
        with pytest.raises(TypeError):
            f(array, "x")
    assert (sys.getrefcount(array), sys.getrefcount(number)) == counts


def test_a_cycle_through_a_default_or_an_attribute_is_collected() -> None:
    ended: list[int] = []

    class Ending:
        def __del__(self) -> None:
            ended.append(1)

    f = ways([Var("a", "int32")]).entry
    f.myself = f, Ending()
    with pytest.raises(TypeError):
        f("x")
    del f
    gc.collect()
    assert ended == [1]


def test_threads_call_one_entry() -> None:
    both = ways([X, Var("b", "int32", default=1, max=10)])
    entry, call = both.entry, both.entry_callable

    def work(index: int) -> None:
        array = np.full(index + 1, index, "float32")
        for count in range(2000):
            entry.release_gil = bool(count % 2)
            assert entry(array) is None
            assert call(b=index % 10, x=array) is None
            if count % 50 == 0:
                with pytest.raises(ValueError, match="but got 11"):
                    entry(array, 11)
                with pytest.raises(TypeError, match="b"):
                    call(array, "x")
                gc.collect(0)

    together(work, count=16)


@pytest.mark.parametrize("release_gil", [True, False])
def test_callbacks_return_raise_and_call_again(release_gil: bool) -> None:
    array = tvm_ffi.from_dlpack(np.ones(3, "float32"))

    def callback(a: int, x: Any) -> Any:
        if a == 0:
            raise KeyError("the end")
        return (
            [None, True, 2.5, "text", "a text that is longer", 2**40, x, f][a - 1]
            if a < 9
            else f(a - 9, x)
        )

    f = calling(callback)
    f.release_gil = release_gil
    before = f._general_calls
    results = [f(a, array) for a in range(1, 9)]
    assert results[:6] == [None, True, 2.5, "text", "a text that is longer", 2**40]
    assert results[6].data_ptr() == array.data_ptr()
    assert results[7].same_as(f)
    assert f(9 * 40 + 3, array) == 2.5
    for depth in (0, 9, 90):
        with pytest.raises(KeyError, match="the end"):
            f(depth, array)
    assert f._general_calls == before


def test_a_list_that_loses_its_tensors_during_the_call() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: `make test-frameworks` installs it")
    tensors: list[Any] = []

    def clear(_: object) -> None:
        tensors.clear()

    call = calling(clear, [Array("xs")])
    for _ in range(100):
        tensors += [torch.zeros(3) for _ in range(9)]
        ended = [weakref.ref(item) for item in tensors]
        call(tensors)
        assert not tensors
        assert not any(item() for item in ended)


def test_what_is_kept_is_not_borrowed() -> None:
    """The packed convention hands the tensor on: it must hold its memory."""
    kept: list[Any] = []

    def keep(_: int, x: Any) -> None:
        kept.append(x)

    f = calling(keep)
    array = np.arange(1000, dtype="float32")
    f(1, array)
    assert f._general_calls == 1
    del array
    gc.collect()
    np.full(1000, -1, "float32")
    assert np.from_dlpack(kept[0]).tolist() == list(range(1000))


def test_subclasses_of_providers_do_not_borrow_unless_they_say_so() -> None:
    class Mine(DirectCallProvider):
        pass

    for provider, borrows in ((DirectCallProvider("k"), True), (Mine("k"), False)):
        module = new_module("llvm.func @k(!llvm.ptr)")
        attach(module, Signature("f", [X]), provider)
        assert '"borrows":true' in str(module).replace("\\22", '"') or not borrows
        assert ("borrows" in str(module)) == borrows


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path.cwd(),
    )


START = """
import os, sys, threading, time
import numpy as np
from tests.entry.functions import ways
from ffi_builder.spec import Tensor, Var, dims
(n,) = dims("n")
f = ways([Tensor("x", [n], "float32", device_type="cpu"), Var("a", "int32", default=1)]).entry
x = np.ones(3, "float32")
f(x)
"""


@pytest.mark.slow
def test_a_forked_process_calls() -> None:
    done = _python(
        START
        + """
pid = os.fork()
for _ in range(100):
    f(x)
try:
    f("x")
except TypeError:
    pass
if pid == 0:
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_process_ends_while_threads_call() -> None:
    done = _python(
        START
        + """
import atexit, builtins
builtins.kept = f  # lives longer than its module
atexit.register(f, x)
class Late:
    def __del__(self):
        f(x)
late = Late()
late.myself = late
def work():
    while True:
        f(x)
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_kernel_returns_while_the_interpreter_ends() -> None:
    """Without the extension, Python before 3.14 ends the process there, in tvm-ffi's code."""
    done = _python(
        """
import sys, threading, time
import numpy as np
from ffi_builder import attach, runtime
from ffi_builder.providers import DirectCallProvider
from ffi_builder.spec import Signature, Tensor, dims

KERNEL = '''
llvm.func @usleep(i32) -> i32
llvm.func @kernel(%x: !llvm.ptr) {
  %time = llvm.mlir.constant(300000 : i32) : i32
  %0 = llvm.call @usleep(%time) : (i32) -> i32
  llvm.return
}'''
(n,) = dims("n")
x = Tensor("x", [n], "float32", device_type="cpu")
provider = DirectCallProvider("kernel", args=[x.data])
hook = lambda module: attach(module, Signature("f", [x]), provider)
compiled = runtime.compile(KERNEL, post_compile_hooks=[hook])
for f in (compiled["f"], compiled.callable("f")):
    threading.Thread(target=f, args=(np.ones(3, "float32"),), daemon=True).start()
time.sleep(0.1)
class Late:
    def __del__(self):
        time.sleep(0.5)
sys.late = Late()
"""
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_function_that_the_garbage_collector_has_cleared() -> None:
    f = ways([Var("a", "int32", default=1)]).entry_callable
    f()
    # `tp_clear` of its type; a finalizer that runs later may still call the function.
    kind = cast("type[object]", type(f))
    clear = ctypes.c_void_p.from_address(id(kind) + 192).value
    assert clear is not None
    ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(clear)(f)
    for args in ((), (1,), ("a",)):
        with pytest.raises(RuntimeError, match="this function was cleared"):
            f(*args)
