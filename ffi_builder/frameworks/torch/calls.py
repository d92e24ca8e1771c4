"""The object that callers have: the fast entry in eager mode, the operator in everything else."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final, NoReturn

from typing_extensions import Self

from ffi_builder import spec
from ffi_builder.frameworks.torch import _torch
from ffi_builder.frameworks.torch.code import DOUBT
from ffi_builder.runtime.metadata import Info
from ffi_builder.runtime.python.signature import python_signature

_is_traced: Final = _torch.is_traced
_modes: Final = _torch.dispatch_modes
_function_modes: Final = _torch.function_modes


class Operator:
    """An operator of PyTorch that calls a compiled function; `operator` makes it.

    Attributes:
        overload: the operator, `torch.ops.<namespace>.<name>.default`.
        signature: the signature of the function.
    """

    def __init__(
        self,
        name: str,
        overload: Any,
        signature: spec.Signature,
        info: Info,
        eager: Callable[..., Any],
        in_functorch: Callable[..., Any] | None,
    ) -> None:
        """Made by `operator`."""
        self.__name__ = name
        self.__doc__ = info.documentation
        self.overload = overload
        self.signature = signature
        self._info = info
        self._eager = eager
        self._in_functorch = in_functorch

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function; as an operator where anything looks at operators."""
        if _is_traced() or _modes() or _function_modes():
            return self.overload(*args, **keywords)
        result = self._eager(*args, **keywords)
        if result is not DOUBT:
            return result
        if self._in_functorch is not None and not keywords and _torch.in_functorch():
            return self._in_functorch(*args)
        return self.overload(*args, **keywords)

    @property
    def schema(self) -> str:
        """The schema of the operator."""
        return str(self.overload._schema)

    @property
    def __signature__(self) -> inspect.Signature:
        return python_signature(self._info)

    def __repr__(self) -> str:
        return f"<operator {self.schema}>"

    def __copy__(self) -> Self:
        """Return itself, as Python's functions do."""
        return self

    def __deepcopy__(self, memo: object) -> Self:
        """Return itself, as Python's functions do: modules that have one can be copied."""
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle {self!r}: its code is in this process")


class Careful:
    """What a call goes to if the extension does not read it.

    Errors are the wrapper's. Tensors that are more than their data go to the operator.
    """

    def __init__(self, general: Callable[..., Any]) -> None:
        """Made with the function in Python, which says what is wrong with a call."""
        self._general = general

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call the function, or return `DOUBT`."""
        tensor = _torch.torch.Tensor
        for value in (*args, *keywords.values()):
            if isinstance(value, tensor) and not _is_plain(value):
                return DOUBT
        return self._general(*args, **keywords)


def _is_plain(tensor: Any) -> bool:
    """Return whether a tensor is nothing but data, for now."""
    return (
        type(tensor) in (_torch.torch.Tensor, _torch.torch.nn.Parameter)
        and not (tensor.requires_grad and _torch.torch.is_grad_enabled())
        and not _torch.is_functorch_wrapper(tensor)
        and not tensor.is_conj()
        and not tensor.is_neg()
        and not tensor.is_meta
        and _torch.forward_ad._current_level < 0
    )
