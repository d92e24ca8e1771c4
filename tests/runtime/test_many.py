"""`compile_many`: results in order, errors by kernel, the window, interrupts, and the cache."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from random import Random
from traceback import extract_tb
from typing import Any

import numpy as np
import pytest

from ffi_builder import attach, runtime
from ffi_builder.errors import CompileError, LinkError
from ffi_builder.ir import PlainModule
from ffi_builder.providers import DirectCallProvider
from ffi_builder.runtime.isolate import crew, worker
from ffi_builder.spec import Signature
from tests.runtime.samples import ADD_ONE, by_assembly, llvm_entry, mlir_entry, parse, run_child
from tests.runtime.test_worker import INTERRUPTS, SLOW, Alarm, gone, guarded
from tests.support.threads import together
from tests.support.wrapping import new_module

pytestmark = pytest.mark.slow  # most start a child process


def adding(number: int) -> str:
    """MLIR of a function `f` that adds a number."""
    return mlir_entry(
        "f", f"%c = llvm.mlir.constant({number} : i64) : i64\n%x = llvm.add %v, %c : i64"
    )


def value(result: runtime.CompiledModule | Exception) -> int:
    """The result of `f(0)`."""
    if isinstance(result, Exception):
        raise result
    return result["f"](0)


def children() -> list[worker.Child]:
    return list(worker.running.get(crew.KIND, ()))


@pytest.fixture
def no_children() -> Iterator[None]:
    """Let a test start without children, and leave none."""
    worker.kill_children()
    yield
    worker.kill_children()


# ---- results


def test_results_have_the_order_of_the_modules() -> None:
    """Also if an early module takes longer than all that follow."""
    slow = guarded(0, SLOW.replace("3000000", "30000"))
    modules = [slow, *(adding(number) for number in range(1, 20))]
    assert [value(result) for result in runtime.compile_many(modules)] == list(range(20))


def wrapper(number: int) -> Any:
    """A module with a kernel and its wrapper; all wrappers are equal."""
    module = new_module(f"""
      llvm.func @kernel(%x: !llvm.ptr, %n: i64) {{
        %k = llvm.mlir.constant({number} : i32) : i32
        llvm.store %k, %x : i32, !llvm.ptr
        llvm.return
      }}""")
    signature = Signature.parse("fill(x: Tensor([n], int32))", device="cpu")
    attach(module, signature, DirectCallProvider("kernel", args=["x", "n"]))
    return module


def test_equal_wrappers_of_modules_under_way_are_compiled_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[str] = []
    ask = crew.Crew.ask

    def counted(self: crew.Crew, tag: str, message: tuple[object, ...]) -> None:
        sent.append(tag)
        ask(self, tag, message)

    monkeypatch.setattr(crew.Crew, "ask", counted)
    x = np.zeros(1, "int32")
    for number, result in enumerate(runtime.compile_many(map(wrapper, range(20)), workers=2)):
        assert not isinstance(result, Exception), result
        result["fill"](x)
        assert x[0] == number
    assert sum("@__tvm_ffi__unit(" in text for text in sent) <= 1
    assert len(sent) <= 21


def hypot() -> PlainModule:
    module = PlainModule()
    signature = Signature.parse("f(x: float64, y: float64) -> r: float64")
    attach(module, signature, DirectCallProvider("hypot"))
    return module


def test_results_are_those_of_compile() -> None:
    """Whatever is compiled: the same machine code, texts and calls."""
    made = runtime.compile(adding(5)).object
    big = "@w = internal constant [2000 x i64] zeroinitializer, align 8\n"
    modules: list[object] = [
        *(adding(7), parse(adding(8)), llvm_entry("f"), guarded(3), wrapper(4), hypot(), made),
        big + llvm_entry("f", "%w = load i64, ptr @w\n%x = add i64 %v, %w"),
        "module {}",
    ]
    for level in (0, 2):
        expected = [runtime.compile(module, opt_level=level) for module in modules]
        found = list(runtime.compile_many(modules, opt_level=level))
        for one, other in zip(found, expected, strict=True):
            assert isinstance(one, runtime.CompiledModule), one
            assert one.functions == other.functions
            assert one.object == other.object
            assert one.llvm_ir == other.llvm_ir


def test_options_are_those_of_compile() -> None:
    """The pipeline, hooks and `link=`, in the thread that asks for results."""
    seen: list[threading.Thread] = []

    def hook(module: Any) -> None:
        seen.append(threading.current_thread())
        attach(module, Signature.parse("g(x: int64) -> r: int64"), DirectCallProvider("linked"))

    kernels = [f"func.func @k{i}() {{ return }}" for i in range(3)]
    results = runtime.compile_many(
        kernels,
        pipeline="builtin.module(convert-to-llvm)",
        post_compile_hooks=[hook],
        link=["define i64 @linked(i64 %x) {\n %y = mul i64 %x, 3\n ret i64 %y\n}"],
    )
    assert [not isinstance(r, Exception) and r["g"](7) for r in results] == [21] * 3
    assert seen == [threading.current_thread()] * 3


# ---- errors


def failing_build() -> object:
    raise ZeroDivisionError("no such tile")


BAD: dict[str, tuple[object, type[Exception]]] = {
    "MLIR": ("llvm.func @f( {", CompileError),
    "LLVM IR": ("define i32 @f( {", CompileError),
    "verifier": ("define i32 @f() {\n %x = add i32 %x, 1\n ret i32 %x\n}", CompileError),
    "code": (llvm_entry("f", by_assembly(1, "bogus")), CompileError),
    "link": (llvm_entry("f", "%x = call i64 @absent()") + "declare i64 @absent()", LinkError),
    "type": (7, TypeError),
    "a path": ("kernel.mlir", TypeError),
    "triple": ((1, 2, 3), TypeError),
    "key": ((7, lambda: ADD_ONE), TypeError),
    "build": (("key", 7), TypeError),
    "built": (("key", failing_build), ZeroDivisionError),
}


def error_of_compile(module: Any) -> str:
    try:
        match module:
            case (key, build):
                runtime.compile_cached(key, build)
            case _:
                runtime.compile(module)
    except Exception as error:
        return str(error)
    raise AssertionError("it compiles")


def test_a_module_that_fails_costs_no_other_result() -> None:
    """Its result is the exception that `compile` raises."""
    modules = [module for bad, _ in BAD.values() for module in (bad, adding(5))]
    results = list(runtime.compile_many(modules))
    assert [value(good) for good in results[1::2]] == [5] * len(BAD)
    for (bad, kind), result in zip(BAD.values(), results[::2], strict=True):
        assert type(result) is kind
        assert str(result) == error_of_compile(bad)


def test_an_error_of_a_build_says_where_it_arose() -> None:
    (result,) = runtime.compile_many([("key", failing_build)])
    assert isinstance(result, ZeroDivisionError)
    assert extract_tb(result.__traceback__)[-1].name == "failing_build"


def test_an_iterable_that_raises_ends_the_results_after_those_before_it() -> None:
    def modules() -> Iterator[str]:
        yield from map(adding, range(3))
        raise ZeroDivisionError("no more tiles")

    found: list[int] = []
    with pytest.raises(ZeroDivisionError, match="no more tiles"):
        found += (value(result) for result in runtime.compile_many(modules()))
    results = runtime.compile_many(modules())
    assert [value(next(results)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError, match="no more tiles"):
        next(results)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, "Expected at least 1 child process as workers, but got 0"),
        ({"workers": "2"}, "Expected a number of child processes as workers, but got '2'"),
        ({"workers": True}, "Expected a number of child processes as workers, but got True"),
        ({"opt_level": 4}, "Expected opt_level 0, 1, 2 or 3"),
        ({"modules": ADD_ONE}, "Expected many modules, but got one: put it into a list, or call"),
        ({"modules": b"\x7fELF"}, "Expected many modules, but got one"),
        ({"modules": parse(ADD_ONE)}, "Expected many modules, but got one"),
        ({"modules": 7}, "not iterable"),
    ],
)
def test_wrong_arguments_are_refused_at_once(options: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(words)):
        runtime.compile_many(options.pop("modules", []), **options)


def test_a_wrong_time_limit_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(worker.SECONDS_VARIABLE, "soon")
    with pytest.raises(ValueError, match="Expected a number of seconds in"):
        runtime.compile_many([])


# ---- how much is under way


def test_modules_are_taken_when_they_are_needed() -> None:
    taken = 0

    def modules() -> Iterator[str]:
        nonlocal taken
        for taken in range(1, 41):
            yield adding(taken)

    results = runtime.compile_many(modules(), workers=2)
    assert taken == 0
    for number in range(1, 41):
        assert value(next(results)) == number
        assert taken == min(number + 7, 40)
    assert list(results) == []


@pytest.mark.usefixtures("no_children")
def test_no_more_children_than_workers_or_modules() -> None:
    for modules, workers, expected in ((0, 3, 0), (1, 3, 1), (6, 2, 2), (6, 3, 3)):
        results = runtime.compile_many([adding(i) for i in range(modules)], workers=workers)
        assert [value(result) for result in results] == list(range(modules))
        assert len(children()) == expected


@pytest.mark.usefixtures("no_children")
def test_children_are_kept_for_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()
    for _ in range(3):
        list(runtime.compile_many([adding(i) for i in range(4)], workers=2))
        seen |= {child.process.pid for child in children()}
    assert len(seen) == 2
    monkeypatch.setattr(worker, "_MOST_REQUESTS", 3)
    list(runtime.compile_many([adding(i) for i in range(20)], workers=2))
    assert seen.isdisjoint(child.process.pid for child in children())
    assert all(map(gone, seen))


def test_other_compiles_in_the_loop_need_not_wait() -> None:
    """Also such as need a child, and other calls of `compile_many`."""
    for number, result in enumerate(runtime.compile_many(map(adding, range(6)), workers=2)):
        assert value(result) == number
        assert value(runtime.compile(guarded(number))) == number
        inner = runtime.compile_many([guarded(number + i) for i in range(3)], workers=2)
        assert [value(result) for result in inner] == [number, number + 1, number + 2]


def test_threads_have_a_call_each() -> None:
    def work(seed: int) -> None:
        numbers = range(10 * seed, 10 * seed + 5)
        results = runtime.compile_many(map(guarded, numbers), workers=2)
        assert [value(result) for result in results] == [*numbers]

    together(work, 4)


# ---- the end


def busy() -> list[int]:
    """The process ids of children that have not been given back."""
    return [child.process.pid for child in children() if child.owner is not None]


def started(modules: list[str]) -> Generator[runtime.CompiledModule | Exception]:
    """Results of which the first was given, while children compile others."""
    results = runtime.compile_many([adding(1), *modules], workers=2)
    assert value(next(results)) == 1
    return results


@pytest.mark.parametrize("how", ["close", "drop", "raise"])
def test_ending_early_ends_what_is_under_way(how: str) -> None:
    threads = threading.active_count()
    results = started([guarded(i, SLOW) for i in range(6)])
    pids = busy()
    assert len(pids) == 2
    match how:
        case "close":
            results.close()
        case "drop":
            del results
        case _:
            with pytest.raises(ZeroDivisionError):
                results.throw(ZeroDivisionError)
    assert not busy()
    assert any(gone(pid) for pid in pids)
    assert threading.active_count() == threads
    assert [value(result) for result in runtime.compile_many([guarded(2), adding(3)])] == [2, 3]


def test_an_interrupt_ends_what_is_under_way() -> None:
    results = started([guarded(i, SLOW) for i in range(6)])
    with pytest.raises(KeyboardInterrupt), Alarm(0.2):
        list(results)
    assert not busy()
    assert list(results) == []
    assert [value(result) for result in runtime.compile_many([guarded(2), adding(3)])] == [2, 3]


def test_results_that_are_never_asked_for_do_not_keep_the_process() -> None:
    """Nor do the children outlive it."""
    done = run_child("""
        from tests.runtime.test_many import SLOW, busy, guarded, started
        results = started([guarded(i, SLOW * 99) for i in range(6)])
        print(*busy(), flush=True)
        """)
    assert done.returncode == 0, done.stderr
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2
    assert all(map(gone, pids))


def test_children_that_are_killed_cost_one_result_each() -> None:
    results = started([guarded(2, SLOW), *(adding(number) for number in range(3, 9))])
    for pid in busy():
        os.kill(pid, signal.SIGKILL)
    found = list(results)
    errors = [result for result in found if isinstance(result, Exception)]
    assert 1 <= len(errors) <= 2
    assert all("it crashed (status -9) without a word" in str(error) for error in errors)
    assert len(found) == 7
    for number, result in enumerate(found, 2):
        assert result in errors or value(result) == number


def test_a_kernel_that_takes_too_long_costs_one_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(worker.SECONDS_VARIABLE, "1")
    modules = [adding(1), guarded(2, SLOW * 9), *(adding(number) for number in range(3, 9))]
    results = list(runtime.compile_many(modules, workers=2))
    with pytest.raises(CompileError, match=r"LLVM cannot .* did not end within 1 s \(FFI_BUILDER"):
        value(results.pop(1))
    assert [value(result) for result in results] == [1, *range(3, 9)]


# The interpreter drops an interrupt that arrives in a destructor, with a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupts_at_any_point_leave_nothing_wrong(tmp_path: Path) -> None:
    random = Random(0)
    finished = 0
    for start in range(0, INTERRUPTS, 5):
        numbers = range(start, start + 5)
        cache = tmp_path if random.random() < 0.3 else None
        try:
            with Alarm(random.uniform(0.0005, 0.12)):
                results = [*runtime.compile_many(map(adding, numbers), workers=2, cache_dir=cache)]
        except KeyboardInterrupt:
            pass
        else:
            finished += 1
            assert [value(result) for result in results] == [*numbers]
        numbers = range(start + 2, start + 7)
        results = [*runtime.compile_many(map(adding, numbers), workers=2, cache_dir=cache)]
        assert [value(result) for result in results] == [*numbers]
        assert not busy()
    assert 0 < finished < INTERRUPTS / 5


# ---- the cache


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A function after whose call no child is had."""

    def refuse(*_: object) -> None:
        raise AssertionError("a child was asked for")

    return lambda: monkeypatch.setattr(worker, "hire", refuse)


def test_what_the_cache_has_needs_no_child(tmp_path: Path, refusing: Callable[[], None]) -> None:
    """Whether `compile` or `compile_many` has compiled it."""
    modules = [adding(number) for number in range(5)]
    assert value(runtime.compile(modules[0], cache_dir=tmp_path)) == 0
    expected = list(map(value, runtime.compile_many(modules, cache_dir=tmp_path)))
    assert len(list(tmp_path.iterdir())) == 5
    refusing()
    assert list(map(value, runtime.compile_many(modules, cache_dir=tmp_path))) == expected
    assert value(runtime.compile(modules[4], cache_dir=tmp_path)) == 4


def test_keys_find_what_was_built(tmp_path: Path, refusing: Callable[[], None]) -> None:
    built: list[int] = []

    def pair(number: int) -> tuple[object, Callable[[], str]]:
        def build() -> str:
            built.append(number)
            return adding(number)

        return ("my_dsl 1.0", number), build

    key, build = pair(3)
    assert value(runtime.compile_cached(key, build, cache_dir=tmp_path)) == 3  # pyright: ignore
    results = runtime.compile_many(map(pair, range(6)), cache_dir=tmp_path)
    assert [value(result) for result in results] == list(range(6))
    assert built == [3, 0, 1, 2, 4, 5]
    refusing()
    results = runtime.compile_many(map(pair, range(6)), cache_dir=tmp_path)
    assert [value(result) for result in results] == list(range(6))
    assert len(built) == 6
    no_cache = runtime.compile_many([pair(3)])
    with pytest.raises(AssertionError, match="a child was asked for"):
        next(no_cache)
    assert built[6:] == [3]


def test_what_the_cache_cannot_keep_is_a_warning_where_results_are_asked_for(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("")
    results = runtime.compile_many([adding(1)], cache_dir=tmp_path / "file")
    with pytest.warns(RuntimeWarning, match="cannot be written") as caught:
        assert value(next(results)) == 1
    assert [Path(warning.filename) for warning in caught] == [Path(__file__)]
