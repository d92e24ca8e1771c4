"""Handles: what a function has made, with the function that destroys it."""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, NoReturn, cast

from ffi_builder.runtime.metadata import Info, Parameter
from ffi_builder.runtime.python.copies import OfThisProcess

_SIGNED = 1 << 63


class _Watch(weakref.ref["Handle"]):
    """Sees the end of a handle. It is faster than `weakref.finalize`, and does nothing at exit."""

    __slots__ = ("needs",)

    needs: tuple[Callable[..., Any], int, int, tuple[Handle, ...]] | None
    """What destroys, the address, the process, and the parents, until it is destroyed."""


_open: Final[dict[int, _Watch]] = {}
"""Those of open handles, by `id`. Whoever takes one out, in one step, destroys or has destroyed."""


def _destroyed(watch: _Watch, *, at_exit: Callable[[], bool] = sys.is_finalizing) -> None:
    """Destroy what a handle points to, unless that has been done, or the process ends."""
    if at_exit() or _open.pop(id(watch), None) is None:
        return
    assert watch.needs is not None
    (destroy, address, process, _), watch.needs = watch.needs, None
    if os.getpid() == process:
        destroy(ctypes.c_void_p(address))


class Handle(OfThisProcess):
    """A pointer that a function has made, and another function destroys: `destroy=` of `wrap`.

    Functions take it for a `handle`; in C it is the pointer. It is destroyed once: by :meth:`close`
    or the end of a ``with`` block, or else with the last reference to it. Until then it keeps the
    code, and the handles that were arguments of the call which made it. What is left at the end of
    the process is not destroyed, nor is anything in a forked child.

    Examples:
        >>> import ffi_builder
        >>> file = ffi_builder.wrap(
        ...     "-lc",
        ...     "tmpfile() -> file: handle",
        ...     prototype="#include <stdio.h>",
        ...     destroy="fclose",
        ... )
        >>> with file["tmpfile"]() as opened:
        ...     print(opened)
        <Handle file of tmpfile>
        >>> opened
        <Handle file of tmpfile, closed>
    """

    __slots__ = ("__weakref__", "_address", "_destroyer", "_name", "_watch", "pointee")
    # Calls that are read in C look at `_address` and `pointee` where they are in the object.
    _instead = "what it points to is in this process; make it again"

    def __init__(
        self,
        address: int,
        maker: str,
        made: Parameter,
        destroy: Callable[..., Any],
        parents: tuple[Handle, ...],
    ) -> None:
        """Made by functions whose result `made` has `destroy`."""
        self._address: int | None = address
        self._name = maker, made.name
        self._destroyer, self.pointee = made.destroy, made.pointee
        self._watch = watch = _Watch(self, _destroyed)
        watch.needs = destroy, address, os.getpid(), parents
        _open[id(watch)] = watch

    @property
    def closed(self) -> bool:
        """Whether it was destroyed."""
        return self._address is None

    @property
    def value(self) -> int | None:
        """The address, as of a `ctypes.c_void_p`; None once it is closed."""
        return self._address

    def close(self) -> None:
        """Destroy what it points to; a second call does nothing. No call may still use it.

        Raises the error of the function that destroys, for its status. The handle is closed then,
        too: whether the library has freed something is not known.
        """
        self._address = None
        _destroyed(self._watch)

    def __enter__(self) -> Handle:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Handle {self._of}{', closed' if self.closed else ''}>"

    @property
    def _of(self) -> str:
        return "{1} of {0}".format(*self._name)

    def __call__(self, *args: object, **keywords: object) -> NoReturn:
        """Raise TypeError. C leaves what can be called to Python, which looks at the pointee."""
        raise TypeError(f"{self!r} is no function")

    def __tvm_ffi_opaque_ptr__(self) -> int:
        """Return the address as a signed number, which tvm-ffi passes."""
        if self._address is None:
            raise ValueError(f"the handle {self._of} is closed")
        return (self._address ^ _SIGNED) - _SIGNED

    def _given_up(self, to: str, name: str, destroyer: str) -> ctypes.c_void_p:
        """Return the address for the call of a destroyer; nothing else will destroy it."""
        if destroyer != self._destroyer:
            raise TypeError(
                f"Mismatched {name} when calling: `{to}`, expected a handle that {destroyer} "
                f"destroys but got {self!r}, which {self._destroyer} destroys"
            )
        address, self._address = self._address, None
        if _open.pop(id(self._watch), None) is None:
            raise ValueError(f"{to}: the handle {self._of} is closed")
        self._watch.needs = None
        return ctypes.c_void_p(address)


def with_handles(
    call: Callable[..., Any], info: Info, find: Callable[[str], Callable[..., Any]]
) -> Callable[..., Any]:
    """Wrap a function that returns handles with a destroyer, or that destroys some.

    `find` returns the destroyers.
    """
    found = {name: find(name) for each in info.results if (name := each.destroy)}
    destroyed = dict(zip(info.python_names, info.parameters, strict=True))

    def passed(name: str, value: Any) -> Any:
        destroy = destroyed[name].destroy if name in destroyed else ""
        if not destroy or not isinstance(value, Handle):
            return value
        return value._given_up(info.name, name, destroy)  # pyright: ignore[reportPrivateUsage]

    def returned(param: Parameter, result: Any, parents: tuple[Handle, ...]) -> Any:
        """Return a handle for an address; NULL is None."""
        if not param.destroy:
            return result
        address = cast("ctypes.c_void_p", result).value
        return address and Handle(address, info.name, param, found[param.destroy], parents)

    def handled(*args: Any, **keywords: Any) -> Any:
        given = [*args, *keywords.values()]
        parents = tuple(value for value in given if isinstance(value, Handle))
        args = (*map(passed, destroyed, args), *args[len(destroyed) :])
        keywords = {name: passed(name, value) for name, value in keywords.items()}
        result = call(*args, **keywords)
        match info.results:
            case ():
                return result
            case (one,) if not info.returns.startswith("("):
                return returned(one, result, parents)
            case several:
                pairs = zip(several, cast("tuple[Any, ...]", result), strict=True)
                return tuple([returned(param, each, parents) for param, each in pairs])

    return handled
