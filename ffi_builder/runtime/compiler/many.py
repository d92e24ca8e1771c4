"""`compile_many`: compile many modules on all cores.

Everything but LLVM runs in the thread that asks for the results: building modules, MLIR, and the
JIT. So no context of MLIR is in two threads, and hooks and functions that build modules run where
their author expects it. LLVM's part runs in child processes, where neither the interpreter's lock
nor llvmlite's is shared.
"""

from __future__ import annotations

import functools
import operator
import os
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ffi_builder.errors import CompileError
from ffi_builder.runtime.codegen import emit, mlir
from ffi_builder.runtime.codegen.constants import LlvmIr
from ffi_builder.runtime.codegen.emit import Steps
from ffi_builder.runtime.compiler.compile import (
    Hooks,
    Links,
    Made,
    Options,
    cache_in,
    checked,
    made,
    made_cached,
)
from ffi_builder.runtime.compiler.compiled import CompiledModule
from ffi_builder.runtime.isolate.crew import Answer, Crew
from ffi_builder.runtime.isolate.worker import most_children

if TYPE_CHECKING:
    from ffi_builder.runtime.compiler.cache import Cache

_WINDOW = 4
"""How many modules per worker are taken before the first of them is given back."""


def compile_many(
    modules: Iterable[object],
    *,
    workers: int | None = None,
    pipeline: str | None = None,
    post_compile_hooks: Hooks = (),
    opt_level: int = 2,
    link: Links = (),
    cache_dir: str | os.PathLike[str] | None = None,
) -> Generator[CompiledModule | Exception]:
    """Compile modules side by side, on all cores. Yield a result for each, in their order.

    A result is what `compile` returns for the module, or the exception that it raises. So a kernel
    that fails does not cost the others.

    Args:
        modules: any iterable. An element is what `compile` takes, or a tuple of a key and a
            function, which `compile_cached` takes. Elements are taken when they are needed: at
            most four per worker, before the first of their results is given back.
        workers: the number of child processes in which LLVM runs; by default the number of cores
            that this process may use.
        pipeline: as for `compile`.
        post_compile_hooks: as for `compile`.
        opt_level: as for `compile`.
        link: as for `compile`.
        cache_dir: as for `compile` and `compile_cached`. What the cache has needs no child.

    Everything but LLVM runs in the thread that asks for the next result: so does the code of
    `modules`, the functions in it, and the hooks. If `modules` itself raises an exception, the
    results of the elements before are given first. Closing the generator, or an interrupt, ends the
    children that are at work.

    Raises:
        TypeError, ValueError: as `compile`, for the other arguments; or `workers` is no positive
            number, or `modules` is a module.

    Examples:
        >>> from ffi_builder import runtime
        >>> modules = ["llvm.func @k() { llvm.return }", "llvm.func @k() { llvm.retrun }"]
        >>> for result in runtime.compile_many(modules):
        ...     print(type(result).__name__)
        CompiledModule
        CompileError
    """
    options = checked(pipeline, post_compile_hooks, opt_level, link)
    most = _checked_workers(workers)
    if isinstance(modules, (str, bytes, bytearray)) or mlir.is_module(modules):
        raise TypeError("Expected many modules, but got one: put it into a list, or call compile")
    crew = Crew(min(most, operator.length_hint(modules, most)))
    many = _Many(iter(modules), options, cache_in(cache_dir), crew)
    return many.results(_WINDOW * most)


def _checked_workers(workers: object) -> int:
    if workers is None:
        return most_children()
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise TypeError(f"Expected a number of child processes as workers, but got {workers!r}")
    if workers < 1:
        raise ValueError(f"Expected at least 1 child process as workers, but got {workers}")
    return workers


class _Task:
    """The compilation of a module."""

    def __init__(self, steps: Steps[Made]) -> None:
        self.steps = steps
        self.result: Made | Exception | None = None


_Waiting: TypeAlias = list[tuple[_Task, LlvmIr]]


class _Many:
    """Compilations of which several are under way."""

    def __init__(
        self, modules: Iterator[object], options: Options, cache: Cache | None, crew: Crew
    ) -> None:
        self._modules: Iterator[object] | None = modules
        self._options = options
        self._cache = cache
        self._crew = crew
        self._tasks: deque[_Task] = deque()
        self._waiting: dict[str, _Waiting] = {}
        """Who needs the object of LLVM IR that is in the crew. Equal wrappers need the same."""
        self._failure: Exception | None = None
        """The exception that `modules` raised."""

    def results(self, window: int) -> Generator[CompiledModule | Exception]:
        """Yield the results, and keep up to `window` compilations under way."""
        try:
            while True:
                while self._modules is not None and len(self._tasks) < window:
                    self._take()
                    self._serve(wait=False)
                if not self._tasks:
                    break
                while (result := self._tasks[0].result) is None:
                    self._serve(wait=True)
                self._tasks.popleft()
                yield result if isinstance(result, Exception) else result.kept()
        finally:
            self._crew.close()
            for task in self._tasks:
                task.steps.close()
        if self._failure is not None:
            raise self._failure

    def _take(self) -> None:
        """Begin to compile the next of the modules, if there is one."""
        assert self._modules is not None
        try:
            task = _Task(self._steps(next(self._modules)))
        except StopIteration:
            self._modules = None
        except Exception as error:
            self._modules, self._failure = None, error
        else:
            self._tasks.append(task)
            self._go_on(task, functools.partial(next, task.steps))

    def _steps(self, module: object) -> Steps[Made]:
        if isinstance(module, tuple) and len(pair := cast("tuple[Any, ...]", module)) == 2:
            return made_cached(*pair, self._options, self._cache)
        return made(cast("object", module), self._options, self._cache)

    def _serve(self, *, wait: bool) -> None:
        """Go on with the compilations for which the crew has an answer."""
        for answer in self._crew.answers(wait=wait):
            for task, ir in self._waiting.pop(answer.tag):
                self._go_on(task, functools.partial(_resumed, task, ir, answer))

    def _go_on(self, task: _Task, resume: Callable[[], LlvmIr]) -> None:
        """Run a compilation until it needs LLVM again, or ends."""
        try:
            ir = resume()
        except StopIteration as end:
            task.result = end.value
        except Exception as error:
            traceback.clear_frames(error.__traceback__)  # they hold modules
            task.result = error
        else:
            if ir.text not in self._waiting:
                self._crew.ask(ir.text, emit.request(ir, self._options.level))
            self._waiting.setdefault(ir.text, []).append((task, ir))


def _resumed(task: _Task, ir: LlvmIr, answer: Answer) -> LlvmIr:
    """Give a compilation the object of `ir`, or LLVM's error, and return what it needs next."""
    if answer.error is None:
        return task.steps.send(emit.answered(ir, answer.result))
    error: CompileError = emit.refused(ir, answer.error, ended=answer.ended)
    return task.steps.throw(error)
