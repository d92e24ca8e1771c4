"""Functions by name: the common part of compiled modules and loaded libraries."""

from __future__ import annotations

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from ffi_builder import importing
from ffi_builder.protocol import helped_by
from ffi_builder.runtime import metadata
from ffi_builder.runtime.metadata import Info
from ffi_builder.runtime.python.copies import OfThisProcess
from ffi_builder.suggest import did_you_mean

if TYPE_CHECKING:
    from ffi_builder.runtime.python.classes import WrappedFunction


class UnknownFunctionError(KeyError):
    """There is no function of that name.

    Examples:
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("rms_norm", []), providers.NopCallProvider())
        >>> try:
        ...     runtime.compile(module)["rmsnorm"]
        ... except KeyError as error:
        ...     print(error)
        No function `rmsnorm` in the compiled module, which has: rms_norm, did you mean
            `rms_norm`?
    """

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show the repr


class FunctionTable(OfThisProcess, ABC):
    """Functions by their names, without the `__tvm_ffi_` prefix."""

    _kind = "the compiled module"

    @property
    @abstractmethod
    def functions(self) -> tuple[str, ...]:
        """Names of all functions."""

    @abstractmethod
    def _function(self, name: str) -> Any:
        """Return a new reference to the function `name`, which exists."""

    @abstractmethod
    def _metadata(self, name: str) -> str | None:
        """Return the metadata of the function `name`, if it has any."""

    def __getitem__(self, name: str) -> WrappedFunction:
        """Return the function `name`: a `tvm_ffi.Function` that takes keywords and defaults.

        It has `__signature__`, `__doc__` and `__name__`. Raises UnknownFunctionError, a KeyError.
        """
        self._check(name)
        return python_functions().made(
            self._function(name), name, self._info(name), self.__getitem__
        )

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the only function as a `callable`; what loads its CUDA kernel is not counted.

        Raises TypeError if there are several, or none.
        """
        return self._called(*args, **keywords)

    if not TYPE_CHECKING:  # found without a call of Python: a call takes half the time
        __call__ = property(operator.attrgetter("_called"), doc=__call__.__doc__)

    def __setattr__(self, name: str, value: object) -> None:
        """Raise AttributeError for what is set on a function, and would have no effect here."""
        if name == "release_gil":
            raise AttributeError(
                "release_gil is an attribute of each function: f = compiled['f']; "
                "f.release_gil = False"
            )
        super().__setattr__(name, value)

    @functools.cached_property
    def _called(self) -> Callable[..., Any]:
        """The only function, as a callable if its metadata allow that."""
        if self.only is None:
            return self._refuse
        try:
            return self.callable(self._own[0])
        except TypeError:
            return self.only

    def _refuse(self, *args: Any, **keywords: Any) -> None:
        """Raise TypeError for a call, not for tools that only look `__call__` up."""
        names = ", ".join(f"`{name}`" for name in self.functions) or "none"
        raise TypeError(
            f"{self._kind.capitalize()} is called if it has one function, but it has {names}: "
            f"choose one, as in compiled['f'](…)"
        )

    @functools.cached_property
    def only(self) -> WrappedFunction | None:
        """The only function; None if there are several, or none."""
        return self[self._own[0]] if len(self._own) == 1 else None

    @functools.cached_property
    def _own(self) -> list[str]:
        """The functions without those that load and unload the kernels of others, or destroy."""
        names = [name for name in self.functions if helped_by(name, self._names) is None]
        infos = [info for info in map(self._info, names) if info is not None]
        destroyers = {each.destroy for info in infos for each in info.results}
        return [name for name in names if name not in destroyers]

    def callable(self, name: str) -> Callable[..., Any]:
        """Return the function `name` as one that converts its arguments.

        It takes dataclasses and NamedTuples as structs and tuples, enumerators as their values or
        names, and any framework's stream as a Stream.

        Raises UnknownFunctionError, a KeyError. Raises TypeError if the code has no metadata, or if
        metadata cannot contain one of the defaults.
        """
        self._check(name)
        info = check_described(name, self._info(name), self._metadata(name), self._kind)
        return python_functions().made_callable(self._function(name), name, info, self.__getitem__)

    def info(self, name: str) -> Info | None:
        """Return the signature, documentation and parameters of the function `name`.

        None if the code has no metadata. Raises UnknownFunctionError, a KeyError.
        """
        self._check(name)
        return self._info(name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self.functions)

    if not TYPE_CHECKING:  # type checkers must not take every name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Raise AttributeError; for the name of a function, the error says how to get it."""
            if name == "__signature__" and self.only is not None:
                return self._called.__signature__
            words = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_") and name in self.functions:
                words += f"; its function is [{name!r}], or .callable({name!r})"
            raise AttributeError(words, name=name, obj=self)

    @functools.cached_property
    def _infos(self) -> dict[str, Info | None]:
        """The metadata read so far."""
        return {}

    def _info(self, name: str) -> Info | None:
        if name not in self._infos:
            text = self._metadata(name)
            self._infos[name] = None if text is None else metadata.read(name, text)
        return self._infos[name]

    @functools.cached_property
    def _names(self) -> dict[str, None]:
        """The functions, to be looked up in constant time."""
        return dict.fromkeys(self.functions)

    def _check(self, name: str) -> None:
        check_name(name, self._names, self._kind)


def python_functions() -> Any:
    """Return the module that makes function objects. It imports tvm-ffi."""
    return importing.load("ffi_builder.runtime.python.functions")


def check_name(name: str | None, functions: Collection[str], kind: str) -> None:
    """Raise UnknownFunctionError if `name` is not among the `functions` of `kind`.

    The name is None if the caller wanted the only function, and there is none.
    """
    if name not in functions:
        what = "No function" if name is None else f"No function `{name}`"
        raise UnknownFunctionError(f"{what} in {kind}, {_what_it_has(name, functions)}")


def check_described(name: str, info: Info | None, text: str | None, kind: str) -> Info:
    """Return the info that was read from `text`. Raises TypeError if there is none."""
    if info is not None:
        return info
    if metadata.is_of_another_format(text):
        raise TypeError(
            f"`{name}` in {kind} was attached by another version of ffi_builder, whose "
            f"description of parameters this one does not read: attach and export it again "
            f"with this version, or call it by position"
        )
    raise TypeError(
        f"`{name}` in {kind} says nothing of its parameters: it was not attached by "
        f"ffi_builder, or its attributes were dropped on the way; call it by position"
    )


def _what_it_has(name: object, functions: Collection[str]) -> str:
    prefix = metadata.PREFIX
    if not functions:
        return (
            f"which has none: it defines no `{prefix}*`; a hook of compile attaches them, to the "
            f"module that it is called with"
        )
    if isinstance(name, str) and name.removeprefix(prefix) in functions:
        return f"whose names are without `{prefix}`: `{name.removeprefix(prefix)}`"
    return f"which has: {', '.join(functions)}{did_you_mean(name, functions, '`{}`')}"
