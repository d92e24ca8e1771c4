"""Registers compiled functions with XLA, through jax-tvm-ffi.

XLA cannot undo a registration, so registered functions stay in the process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ffi_builder.extending import dataclass, importing, install
from ffi_builder.frameworks.jax.adapter import Adapter
from ffi_builder.runtime.extending import fork_safe_lock

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


MARK: Final = "#"
"""Separates a target's name from what calls differ in. The name must not contain it."""

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

    def register(self, marks: Iterable[str], adapter: Adapter, attributes: Iterable[str]) -> str:
        """Register the function for calls of one form, unless it is registered already.

        Args:
            marks: what the calls differ in from others of the function.
            adapter: what the function gets and returns.
            attributes: the names of the attributes, which XLA passes last.

        Returns:
            The name by which XLA finds it. No other function has this name, since the names of
            targets have no ``MARK``.
        """
        name = MARK.join([self.name, *marks])
        with _lock:
            if name in _registered:
                return name
            made = adapter.adapted(self.function)
            specification = ["args", "rets", *(f"attrs.{attribute}" for attribute in attributes)]
            for platform in self.platforms:
                load("jax_tvm_ffi").register_ffi_target(
                    name, made, specification, platform, allow_cuda_graph=self.cuda_graph
                )
            _registered[name] = (self.function, made)
            return name
