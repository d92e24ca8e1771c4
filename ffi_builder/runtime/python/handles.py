"""Handles: what a function has made, with the function that destroys it."""

from __future__ import annotations

import ctypes
import itertools
import os
import sys
import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

from ffi_builder.runtime.metadata import Info, Parameter
from ffi_builder.runtime.python.copies import OfThisProcess

_SIGNED = 1 << 63


class _Watch(weakref.ref["Handle"]):
    """Sees the end of a handle. It is faster than `weakref.finalize`, and does nothing at exit."""

    __slots__ = ("needs",)

    needs: tuple[Callable[..., Any], int, int, tuple[object, ...]] | None
    """What destroys, the address, the process, and what it came from, until it is destroyed."""


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

    Without ``destroy=`` it is borrowed: a pointer whose kind is known, that nothing destroys.

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

    __slots__ = ("__weakref__", "_address", "_destroyer", "_keeps", "_name", "_watch", "pointee")
    # Calls that are read in C look at `_address` and `pointee` where they are in the object.
    _instead = "what it points to is in this process; make it again where it is needed"

    def __init__(
        self,
        address: int,
        maker: str,
        made: Parameter,
        destroy: Callable[..., Any] | None,
        keeps: tuple[object, ...],
    ) -> None:
        """Made by functions whose result `made` is destroyed by `destroy`, or by nothing."""
        self._address: int | None = address
        self._name = maker, made.name
        self._destroyer, self.pointee = made.destroy, made.pointee
        self._keeps, self._watch = keeps, None
        if destroy is not None:
            self._keeps, self._watch = (), _Watch(self, _destroyed)
            self._watch.needs = destroy, address, os.getpid(), keeps
            _open[id(self._watch)] = self._watch

    @property
    def closed(self) -> bool:
        """Whether it was destroyed."""
        return self._address is None

    @property
    def is_borrowed(self) -> bool:
        """Whether nothing destroys it, as its function has no ``destroy=``."""
        return self._watch is None

    @property
    def value(self) -> int | None:
        """The address, as of a `ctypes.c_void_p`; None once it is closed."""
        return self._address

    def close(self) -> None:
        """Destroy what it points to; a second call does nothing. No call may still use it.

        Raises the error of the function that destroys, for its status. The handle is closed then,
        too: whether the library has freed something is not known. A borrowed one is a TypeError.
        """
        if self._watch is None:
            raise TypeError(
                f"{self!r} is borrowed, so nothing destroys it: name the function that does by "
                f"destroy={{{self._name[1]!r}: …}}, or leave it to its owner"
            )
        self._address = None
        _destroyed(self._watch)

    def __enter__(self) -> Handle:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
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
        return (self._opened ^ _SIGNED) - _SIGNED

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        """The address, as functions of ctypes take it."""
        return ctypes.c_void_p(self._opened)

    @property
    def _opened(self) -> int:
        if self._address is None:
            raise ValueError(f"the handle {self._of} is closed")
        return self._address

    def _given_up(self, to: str, name: str, destroyer: str) -> ctypes.c_void_p:
        """Return the address for the call of a destroyer; nothing else will destroy it.

        It keeps what it came from until `_destroyed_by_hand`.
        """
        if destroyer != self._destroyer and not self.is_borrowed:
            raise TypeError(
                f"Mismatched {name} when calling: `{to}`, expected a handle that {destroyer} "
                f"destroys but got {self!r}, which {self._destroyer} destroys"
            )
        address, self._address = self._address, None
        watch = self._watch
        if address is None or (watch is not None and _open.pop(id(watch), None) is None):
            raise ValueError(f"{to}: the handle {self._of} is closed")
        return ctypes.c_void_p(address)

    def _destroyed_by_hand(self) -> None:
        """Let go of what it came from."""
        self._keeps = ()
        if self._watch is not None:
            self._watch.needs = None


def fits(handle: Handle, param: Parameter) -> bool:
    """Return whether a handle points to what a parameter takes, as far as both are known."""
    return not (param.pointee and handle.pointee) or param.pointee == handle.pointee


def with_handles(
    call: Callable[..., Any], info: Info, find: Callable[[str], Callable[..., Any]]
) -> Callable[..., Any]:
    """Wrap a function that returns handles whose kind is known, or that destroys some.

    `find` returns the destroyers.
    """
    for at, (name, param) in enumerate(zip(info.python_names, info.parameters, strict=True)):
        if param.destroy:
            call = _giving_up(call, info, at, name)
    return _making(call, info, find) if any(each.has_kind for each in info.results) else call


def _giving_up(call: Callable[..., Any], info: Info, at: int, name: str) -> Callable[..., Any]:
    """Wrap a function that destroys the handle which is an argument."""
    param = info.parameters[at]
    destroyer = param.destroy

    def destroying(*args: Any, **keywords: Any) -> Any:
        given = args[at] if len(args) > at else keywords.get(name)
        if type(given) is not Handle or (given.is_borrowed and not fits(given, param)):
            return call(*args, **keywords)  # which refuses a handle of another kind
        address = given._given_up(info.name, name, destroyer)  # pyright: ignore[reportPrivateUsage]
        if len(args) > at:
            args = (*args[:at], address, *args[at + 1 :])
        else:
            keywords[name] = address
        try:
            return call(*args, **keywords)
        finally:
            given._destroyed_by_hand()  # pyright: ignore[reportPrivateUsage]

    return destroying


def _owners(given: Iterable[object]) -> tuple[object, ...]:
    """Return what keeps the handles among arguments: themselves, or what borrowed ones keep."""
    kept = [value._keeps or (value,) for value in given if type(value) is Handle]  # pyright: ignore[reportPrivateUsage]
    return tuple(dict.fromkeys(itertools.chain.from_iterable(kept)))


def _making(
    call: Callable[..., Any], info: Info, find: Callable[[str], Callable[..., Any]]
) -> Callable[..., Any]:
    """Wrap a function of whose results some are handles whose kind or destroyer is known."""
    results = [
        (each if each.has_kind else None, find(each.destroy) if each.destroy else None)
        for each in info.results
    ]
    [(one, destroy), *_] = results
    maker, code = info.name, (call,)

    def returned(
        made: Parameter | None,
        destroy: Callable[..., Any] | None,
        result: Any,
        given: Iterable[object],
    ) -> Any:
        """Return a handle for an address; NULL is None."""
        if result is None or made is None:
            return result
        if (address := result.value) is None:
            return None
        keeps = _owners(given) if given else ()
        return Handle(address, maker, made, destroy, keeps if destroy else code + keeps)

    def making(*args: Any, **keywords: Any) -> Any:
        result = call(*args, **keywords)
        return returned(one, destroy, result, (*args, *keywords.values()) if keywords else args)

    def making_several(*args: Any, **keywords: Any) -> Any:
        given = (*args, *keywords.values())
        pairs = zip(results, call(*args, **keywords), strict=True)
        return tuple([returned(*how, each, given) for how, each in pairs])

    return making_several if info.returns.startswith("(") else making
