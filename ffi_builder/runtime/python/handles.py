"""Handles: what a function has made, with the function that destroys it."""

from __future__ import annotations

import ctypes
import os
import sys
import weakref
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final, NoReturn

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
    for at, (name, param) in enumerate(zip(info.python_names, info.parameters, strict=True)):
        if param.destroy:
            call = _giving_up(call, info, at, name)
    return _making(call, info, find) if any(each.destroy for each in info.results) else call


def _giving_up(call: Callable[..., Any], info: Info, at: int, name: str) -> Callable[..., Any]:
    """Wrap a function that destroys the handle which is an argument."""
    destroyer = info.parameters[at].destroy

    def passed(value: Any) -> Any:
        if type(value) is not Handle:
            return value
        return value._given_up(info.name, name, destroyer)  # pyright: ignore[reportPrivateUsage]

    def destroying(*args: Any, **keywords: Any) -> Any:
        if len(args) > at:
            args = (*args[:at], passed(args[at]), *args[at + 1 :])
        elif name in keywords:
            keywords[name] = passed(keywords[name])
        return call(*args, **keywords)

    return destroying


def _making(
    call: Callable[..., Any], info: Info, find: Callable[[str], Callable[..., Any]]
) -> Callable[..., Any]:
    """Wrap a function of whose results some are handles with a destroyer."""
    results = [(each, find(each.destroy) if each.destroy else None) for each in info.results]
    [(one, destroy), *_] = results

    def returned(
        param: Parameter, destroy: Callable[..., Any] | None, result: Any, given: Iterable[object]
    ) -> Any:
        """Return a handle for an address; NULL is None."""
        if destroy is None or (address := result.value) is None:
            return None if destroy else result
        parents = tuple([value for value in given if type(value) is Handle])
        return Handle(address, info.name, param, destroy, parents)

    def making(*args: Any, **keywords: Any) -> Any:
        result = call(*args, **keywords)
        return returned(one, destroy, result, (*args, *keywords.values()) if keywords else args)

    def making_several(*args: Any, **keywords: Any) -> Any:
        given = (*args, *keywords.values())
        pairs = zip(results, call(*args, **keywords), strict=True)
        return tuple([returned(*how, each, given) for how, each in pairs])

    return making_several if info.returns.startswith("(") else making
