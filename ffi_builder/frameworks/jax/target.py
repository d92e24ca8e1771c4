"""Registers compiled functions with XLA, through jax-tvm-ffi.

jax-tvm-ffi passes all operands, then all results, then attributes. If the function takes them in
another order, or needs None for an absent one, XLA calls generated code that rearranges them::

    define i32 @__tvm_ffi_scale(ptr %self, ptr %given, i32 %count, ptr %result) {
      %arguments = alloca [3 x [2 x i64]], align 8           ; a TVMFFIAny is 16 bytes
      %from0 = getelementptr [2 x i64], ptr %given, i64 1       ; what XLA passes second
      %value0 = load [2 x i64], ptr %from0, align 8
      %to0 = getelementptr [2 x i64], ptr %arguments, i64 0
      store [2 x i64] %value0, ptr %to0, align 8
      …
      %function = inttoptr i64 140…472 to ptr                   ; the tvm_ffi.Function
      %status = call i32 @TVMFFIFunctionCall(ptr %function, ptr %arguments, i32 3, ptr %result)
      ret i32 %status
    }

XLA cannot undo a registration, so registered functions stay in the process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ffi_builder import importing, runtime
from ffi_builder.abi import PREFIX
from ffi_builder.errors import CompileError
from ffi_builder.records import dataclass
from ffi_builder.runtime.isolate.locks import fork_safe_lock
from ffi_builder.suggest import install

if TYPE_CHECKING:
    import tvm_ffi


def load(name: str) -> Any:
    """Import ``name``, a module of JAX or of jax-tvm-ffi.

    Raises:
        ModuleNotFoundError: it is not installed; the message says how to install it.
    """
    try:
        return importing.load(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"a function of JAX needs {name.partition('.')[0]}, which cannot be imported "
            f"({error}): {install('jax')}, with Python 3.11 or later",
            name=error.name,
        ) from error


Order: TypeAlias = Sequence["int | None"]
"""The index of each argument among those that XLA passes; None for an absent one."""

MARK: Final = "#"
"""Separates a target's name from the arguments that a call lacks. The name must not contain it."""

_lock = fork_safe_lock()
_owners: dict[str, tuple[object, ...]] = {}
"""The function of each target, so that no name is registered for two functions."""
_registered: dict[str, tuple[tvm_ffi.Function, ...]] = {}
"""The functions of each registered target. XLA may call them as long as the process lives."""


def check_target(target: object) -> None:
    """Check a name that an author chose.

    Raises:
        TypeError: it is not a str.
        ValueError: it is empty, or contains ``MARK``.
    """
    if not isinstance(target, str):
        raise TypeError(f"function: target: expected a str but got {target!r}")
    if not target or MARK in target:
        raise ValueError(
            f"function: target: expected a name without {MARK!r}, which marks the names of calls "
            f"without some arguments, but got {target!r}"
        )


def reserve(target: str, owner: tuple[object, ...]) -> None:
    """Take a name for a function.

    If a name were registered twice, XLA would report a broken backend when it next starts.

    Raises:
        ValueError: another function has the name.
    """
    with _lock:
        if _owners.setdefault(target, owner) != owner:
            raise ValueError(
                f"the target {target!r} is registered for another function, and XLA cannot forget "
                f"it; choose another target="
            )


@dataclass(frozen=True)
class Target:
    """A compiled function, and how XLA finds it."""

    name: str
    function: tvm_ffi.Function
    platforms: Sequence[str]
    cuda_graph: bool

    def register(self, absent: Iterable[str], order: Order, attributes: Iterable[str]) -> str:
        """Register the function for calls without some arguments, unless it is registered already.

        Args:
            absent: the names of these arguments.
            order: the index of each argument among those that XLA passes.
            attributes: the names of the attributes, which XLA passes last.

        Returns:
            The name by which XLA finds it. No other function has this name, since the names of
            targets have no ``MARK``.
        """
        without = ".".join(absent)
        name = f"{self.name}{MARK}without.{without}" if without else self.name
        with _lock:
            if name in _registered:
                return name
            made = self.function
            if list(order) != list(range(len(order))):
                made = _rearranged(self.function, order)
            specification = ["args", "rets", *(f"attrs.{attribute}" for attribute in attributes)]
            for platform in self.platforms:
                load("jax_tvm_ffi").register_ffi_target(
                    name, made, specification, platform, allow_cuda_graph=self.cuda_graph
                )
            _registered[name] = (self.function, made)
            return name


_ANY: Final = "[2 x i64]"


def _rearranged(function: tvm_ffi.Function, order: Order) -> tvm_ffi.Function:
    """Return a function that calls another one with its arguments in another order."""
    name = "rearranged"
    text = "\n".join(_code(name, function.__chandle__(), order))
    try:
        # Objects are not cached on disk: the address in this code is of no use to other processes.
        return runtime.compile(runtime.lower(text).object)[name]
    except CompileError as error:
        raise CompileError(
            f"XLA passes operands, then outputs, then numbers, and the function takes them in "
            f"another order, so one that reorders them is compiled: {error}"
        ) from error


def _code(name: str, function: int, order: Order) -> Iterator[str]:
    size = len(order)
    yield "declare i32 @TVMFFIFunctionCall(ptr, ptr, i32, ptr)"
    yield f"define i32 @{PREFIX}{name}(ptr %self, ptr %given, i32 %count, ptr %result) {{"
    yield f"  %arguments = alloca [{size} x {_ANY}], align 8"
    for index, source in enumerate(order):
        value = "zeroinitializer"  # None
        if source is not None:
            value = f"%value{index}"
            yield f"  %from{index} = getelementptr {_ANY}, ptr %given, i64 {source}"
            yield f"  {value} = load {_ANY}, ptr %from{index}, align 8"
        yield f"  %to{index} = getelementptr {_ANY}, ptr %arguments, i64 {index}"
        yield f"  store {_ANY} {value}, ptr %to{index}, align 8"
    yield f"  %function = inttoptr i64 {function} to ptr"
    yield (
        f"  %status = call i32 @TVMFFIFunctionCall(ptr %function, ptr %arguments, i32 {size}, "
        f"ptr %result)"
    )
    yield "  ret i32 %status"
    yield "}"
