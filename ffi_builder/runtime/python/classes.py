"""The classes of compiled functions: what they show, and how they are called from Python."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tvm_ffi

from ffi_builder.runtime.metadata import Info, documentation
from ffi_builder.runtime.python.copies import OfThisProcess


class Described(OfThisProcess):
    """The attributes of functions that show a signature; subclasses have the fields."""

    __slots__ = ()
    if TYPE_CHECKING:
        _info: Info | None
        _name: str
        _by_position: bool

    @property
    def __name__(self) -> str:
        """The name in the module."""
        return self._name

    @property
    def __signature__(self) -> inspect.Signature:
        """The signature for `inspect.signature`."""
        if self._info is None:
            raise AttributeError(f"`{self._name}` says nothing of its parameters")
        return self._info.python_signature

    def __repr__(self) -> str:
        if not self._by_position:  # like the repr of a Python function
            return f"<function {self._name}{self.__signature__} at {id(self):#x}>"
        return f"<function {self._info.text if self._info else f'{self._name}(…)'}>"


# A docstring in the class body would be the documentation of the class.
def _documentation(self: Described) -> str | None:
    info = self._info  # pyright: ignore[reportPrivateUsage]
    if info is None or self._by_position:  # pyright: ignore[reportPrivateUsage]
        return info.documentation if info else None
    return documentation(info)


Described.__doc__ = property(_documentation)  # pyright: ignore[reportAttributeAccessIssue]


class UndescribedFunction(Described, tvm_ffi.Function):
    """A `tvm_ffi.Function` with a name, of code that says nothing of its parameters."""

    __slots__ = ("__weakref__", "_info", "_name")
    _by_position = True


class WrappedFunction(Described, tvm_ffi.Function):
    """A `tvm_ffi.Function` whose calls are read in Python, as an entry's are in C."""

    __slots__ = ("__weakref__", "_by_position", "_call", "_function", "_info", "_name")
    _call: Callable[..., Any]
    _function: tvm_ffi.Function
    """Calls the code, without rules. Were it `self`, the code would live until a collection."""

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """Call the function by the rules of frameworks."""
        # Where torch.compile is in use, it would compile the code that reads the arguments.
        call = self._untraced if "torch._dynamo" in sys.modules else self._call
        return call(*args, **keywords)

    @functools.cached_property
    def _untraced(self) -> Callable[..., Any]:
        return sys.modules["torch"].compiler.disable(self._call)

    @property
    def release_gil(self) -> bool:
        """Whether a call releases the GIL while the checks and the kernel run."""
        return self._function.release_gil

    @release_gil.setter
    def release_gil(self, value: bool) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._function.release_gil = value


class EntryFunction(Described):
    """The face of an entry, whose calls are read in C."""

    __slots__ = ()

    def __call__(self, /, *args: Any, **keywords: Any) -> Any:
        """Call the function. Only tools look this method up: calls of the object do not."""
        return self(*args, **keywords)


for _class in (UndescribedFunction, WrappedFunction, EntryFunction):
    _class.__doc__ = Described.__dict__["__doc__"]
for _call in (WrappedFunction.__call__, EntryFunction.__call__):
    # torch.compile does not trace the call, and shows the reason where it may not break the graph.
    _call.__dict__["_torchdynamo_disable"] = True
    _call.__dict__["_torchdynamo_disable_msg"] = (
        "it is no operator of PyTorch: ffi_builder.frameworks.torch.operator makes one of it"
    )


class NumberedError(OSError):
    """Makes an OSError of a message such as ``[Errno 2] No such file or directory``."""

    def __new__(cls, *args: object) -> OSError:
        """Return an instance of the class that Python has for the number."""
        match = re.fullmatch(r"\[Errno (\d+)\] (.*)", f"{args[0]}", re.DOTALL)
        return OSError(*args) if match is None else OSError(int(match[1]), match[2])
