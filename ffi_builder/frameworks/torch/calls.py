"""The object that users call: the fast entry in eager mode, the operator in every other case.

If the extension is available and the form is mutating, the object is an entry. It reads a call in
C, and passes it to the operator if a mode or autocast is on, or if torch sees more in a tensor than
its data, such as a gradient. Otherwise Python code does the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast

from ffi_builder import spec
from ffi_builder.extending import dataclass
from ffi_builder.frameworks.torch import _torch
from ffi_builder.frameworks.torch.code import DOUBT
from ffi_builder.runtime.extending import Info, OfThisProcess

_is_traced: Final = _torch.is_traced
_is_watched: Final = _torch.is_watched
Function = Callable[..., Any]
_Parameter: Final = inspect.Parameter
_KEYWORD_ONLY: Final = _Parameter.KEYWORD_ONLY
_ANYHOW: Final = _Parameter.POSITIONAL_OR_KEYWORD


@dataclass(frozen=True, eq=False)
class OperatorInfo(Info):
    """The description of an operator and of its function."""

    operator_name: str = ""
    schema: str = ""
    overload: Any = None
    spec: spec.Signature | None = None
    eager: Function = lambda *_, **__: DOUBT
    """Calls the function directly, or returns `DOUBT`."""
    recording: Function | None = None
    """Calls the function, and records its derivative where `torch.func` sees it."""


class Operator(OfThisProcess):
    """An operator of PyTorch that calls a compiled function; `operator` makes it.

    Example: see :func:`~ffi_builder.frameworks.torch.operator`.
    """

    __slots__ = ()
    _instead = (
        "its code is in this process; save module.state_dict() of a module that has it, and make "
        "the operator again where that is loaded"
    )
    if TYPE_CHECKING:
        _info: OperatorInfo

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function, through the operator if anything looks at operators."""
        # torch.compile traces this code. An entry is called in C instead.
        return self._info.overload(*args, **keywords)

    @property
    def overload(self) -> Any:
        """The operator, `torch.ops.<namespace>.<name>.default`."""
        return self._info.overload

    @property
    def signature(self) -> spec.Signature:
        """The signature of the function."""
        assert self._info.spec is not None
        return self._info.spec

    @property
    def schema(self) -> str:
        """The schema of the operator."""
        return self._info.schema

    @property
    def __name__(self) -> str:
        return self._info.operator_name  # torch.vmap reads it, and torch.compile traces that

    @property
    def __signature__(self) -> inspect.Signature:
        return self._info.python_signature

    def __repr__(self) -> str:
        return f"<operator {self.schema}>"


class PythonOperator(Operator):
    """An operator whose calls are not read in C."""

    def __init__(self, info: OperatorInfo) -> None:
        """Made by `operator`."""
        self._info = info
        self._overload = info.overload
        self.__doc__ = info.documentation

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function, through the operator if anything looks at operators."""
        # torch.compile traces this code, and guards each attribute on the way.
        if _is_traced():
            return self._overload(*args, **keywords)
        if not _is_watched():
            result = self._info.eager(*args, **keywords)
            if result is not DOUBT:
                return result
        return dispatched(self._info, *args, **keywords)


class OutOperator(Operator):
    """An operator whose outputs may be left out: `op(x)`, `op(x, out=y)`, `op(x, y)`.

    It consists of two, of which one allocates the outputs and the other writes to them.
    """

    def __init__(self, allocating: Operator, writing: Operator, outputs: Sequence[str]) -> None:
        """Made by `operator`. `outputs` are names of arguments of `writing`."""
        self._info = allocating._info
        self._allocating, self._writing = allocating, writing
        self._outputs = tuple(outputs)
        parameters = allocating.__signature__.parameters.values()
        self._names = (*(p.name for p in parameters if p.kind != _KEYWORD_ONLY), *outputs)
        self.__doc__ = allocating.__doc__

    @property
    def __signature__(self) -> inspect.Signature:
        own = list(self._info.python_signature.parameters.values())
        outputs = [_Parameter(name, _ANYHOW, default=None) for name in self._outputs]
        if "out" not in self._outputs:
            own.append(_Parameter("out", _KEYWORD_ONLY, default=None))
        made = sorted([*own, *outputs], key=lambda each: each.kind)
        return self._info.python_signature.replace(parameters=made)

    def __call__(self, *args: Any, out: Any = None, **keywords: Any) -> Any:
        """Call the operator that allocates, or if outputs are given, the one that writes to them.

        Raises:
            TypeError: some outputs are given and others are not.
        """
        # torch.compile traces this code.
        if len(args) > len(self._names):
            raise TypeError(
                f"{self.__name__}() takes at most {len(self._names)} arguments by position "
                f"({', '.join(self._names)}), but got {len(args)}"
            )
        by_position = dict(zip(self._names, args, strict=False))
        given = self._given(by_position, keywords, out)
        if given is None:
            return self._allocating(*by_position.values(), **keywords)
        named = dict(zip(self._outputs, given, strict=True))
        returned = self._writing(**by_position, **keywords, **named)
        if returned is None:
            return given[0] if len(given) == 1 else tuple(given)
        return (*given, *(returned if isinstance(returned, tuple) else (returned,)))

    def _given(
        self, by_position: dict[str, Any], keywords: dict[str, Any], out: Any
    ) -> list[Any] | None:
        """Take the outputs out of the arguments of a call; None if all are left out."""
        names = self._outputs
        if "out" in names:  # it is the name of one, so that none is a tuple of them
            keywords["out"], out = out, None
        by_place = [by_position.pop(name, None) for name in names]
        by_name = [keywords.pop(name, None) for name in names]
        together = list(cast("Sequence[Any]", out)) if isinstance(out, (tuple, list)) else [out]
        given = sum(each is not None for each in (*by_place, *by_name, *together))
        if given == 0:
            return None
        outputs = together
        if out is None:
            pairs = zip(by_place, by_name, strict=True)
            outputs = [named if place is None else place for place, named in pairs]
        if given != len(names) or len(outputs) != given or any(each is None for each in outputs):
            raise TypeError(
                f"{self.__name__}() expects each of its outputs once, or none: {', '.join(names)}; "
                f"out= is a tuple if there are several"
            )
        return outputs


def dispatched(info: OperatorInfo, *args: Any, **keywords: Any) -> Any:
    """Call the operator, or while `torch.func` differentiates, the function that it can see."""
    if info.recording is not None and _torch.is_differentiated_in_functorch():
        return info.recording(*args, **keywords)
    return info.overload(*args, **keywords)


@dataclass(frozen=True)
class Careful:
    """Handles a call that the extension does not read.

    Errors are the wrapper's. Calls that a mode has to see, or with tensors in which torch sees more
    than their data, go to `otherwise`.
    """

    make_general: Callable[[], Function]
    """Makes the function in Python, which reports errors of a call."""
    otherwise: Function
    info: Info

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function, or `otherwise`.

        Raises:
            TypeError: a tensor is given for a number, and torch would drop its gradient.
        """
        if _is_watched():
            return self.otherwise(*args, **keywords)
        if all(map(_is_plain, (*args, *keywords.values()))):
            return self._general(*args, **keywords)
        positional = iter(args)
        for parameter in self.info.parameters:
            value = keywords.get(parameter.name)
            if not parameter.kw_only:
                value = next(positional, value)
            if parameter.kind != "Tensor" and isinstance(value, _torch.torch.Tensor):
                raise TypeError(
                    f"{self.info.name}(): {parameter.name}: expected {parameter.type} but got a "
                    f"tensor, whose gradient would be lost; pass {parameter.name}.item()"
                )
        return self.otherwise(*args, **keywords)

    @cached_property
    def _general(self) -> Function:
        return self.make_general()


def doubt(*args: Any, **keywords: Any) -> object:
    """Return `DOUBT`."""
    return DOUBT


def _is_plain(tensor: Any) -> bool:
    """Return whether torch currently sees no more in a value than the function does."""
    if isinstance(tensor, (list, tuple)):
        return all(map(_is_plain, cast("list[object]", tensor)))
    kind = cast("type[object]", type(tensor))
    if not issubclass(kind, _torch.torch.Tensor):
        return not hasattr(kind, "__torch_function__")  # the proxies of torch.fx have it
    if kind.__module__.startswith("torch.nested."):
        return True  # the function refuses the tensor, and says what to pass instead
    return _torch.is_ordinary(tensor) and not (
        tensor.requires_grad and _torch.torch.is_grad_enabled()
    )
