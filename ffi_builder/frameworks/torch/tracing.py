"""Checks the arguments of an operator while torch traces it, when tensors have no data.

For a symbolic size the hint is checked, which is the size in the traced call. This adds no guard:
a graph serves all sizes, and the wrapper checks them when it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

from ffi_builder import spec
from ffi_builder.extending import ANY, abi
from ffi_builder.frameworks.described import UNKNOWN, Checks, Described
from ffi_builder.frameworks.torch import _torch
from ffi_builder.frameworks.torch.interface import Argument, Interface
from ffi_builder.runtime.extending import position_of


class Tracing:
    """The checks of an operator. Call it with the operator's arguments, in the function's order.

    Raises:
        TypeError, ValueError: exactly the wrapper's error.
        ValueError: some tensors are meta tensors, and others are not.
    """

    def __init__(self, interface: Interface) -> None:
        """Check arguments for this interface."""
        self.interface = interface
        self._passed: object = None
        """The facts of the arguments that passed last, from `_facts`."""

    def __call__(self, *values: Any) -> None:
        """Check the values."""
        # torch traces a call several times.
        facts = [_facts(value) for value in values]
        if facts == self._passed:
            return
        given = [argument for argument in self.interface.arguments if argument.given]
        _check_meta(
            {argument.param.name: value for argument, value in zip(given, values, strict=True)}
        )
        self._checks(
            {
                argument.param.name: self._described(argument, value)
                for argument, value in zip(given, values, strict=True)
            }
        )
        self._passed = facts

    def blame(self, *values: Any) -> None:
        """Check the values after another failure, which is not shown as the error's cause."""
        try:
            self(*values)
        except (TypeError, ValueError) as error:
            raise error from None

    @cached_property
    def _checks(self) -> Checks:
        return Checks(self.interface.checked, self.interface.signature)

    def _described(self, argument: Argument, value: Any) -> object:
        if isinstance(value, _torch.torch.Tensor):
            return _described(argument.described, value)
        if argument.tensor is not None and hasattr(value, "__dlpack__"):
            kind = cast("type[object]", type(value))
            at = position_of(argument.parameter, argument.number, self.interface.info)
            raise at.mismatched_type("Tensor", f"{kind.__module__}.{kind.__qualname__}")
        if isinstance(value, (list, tuple)):
            items = [self._described(argument, each) for each in cast("list[object]", value)]
            return UNKNOWN if any(each is UNKNOWN for each in items) else items
        return _known(value)


def _check_meta(values: Mapping[str, object]) -> None:
    """Refuse a meta tensor among others: a result would have memory that nobody has written."""
    devices = {
        f"{name}[{at}]" if isinstance(value, (list, tuple)) else name: tensor.device
        for name, value in values.items()
        for at, tensor in enumerate(_torch.tensors_in(value))
    }
    meta = [name for name, device in devices.items() if device.type == "meta"]
    if meta and len(meta) < len(devices):
        name, device = next(item for item in devices.items() if item[1].type != "meta")
        raise ValueError(
            f"{meta[0]} is a meta tensor, which has no data, but {name} is on {device}: give "
            f"{meta[0]} its data, or make all arguments meta tensors"
        )


def _facts(value: Any) -> object:
    """Return what is checked of a value, to be compared."""
    if isinstance(value, _torch.torch.Tensor):
        sizes = [_known(each) for each in (*value.shape, *value.stride())]
        return value.dtype, value.device, sizes
    if isinstance(value, (list, tuple)):
        return list(map(_facts, cast("list[object]", value)))
    return repr(_known(value))  # tells 1, 1.0 and True apart


def _described(param: spec.Tensor | None, tensor: Any) -> Described:
    kind = tensor.device.type
    names = _torch.device_types(kind)
    device = next((name for name in names if name in abi.DEVICE_TYPES), "ext_dev")
    if param is not None and (kind == "meta" or param.device in names):
        device = "cpu" if param.device == ANY else param.device
    shape, strides = (tuple(map(_known, each)) for each in (tensor.shape, tensor.stride()))
    dtype = _torch.dtype_name(tensor.dtype)
    return Described(shape, dtype, device, tensor.device.index or 0, strides)


def _known(value: object) -> object:
    """Return a number, or the hint of a symbolic one; `UNKNOWN` if it has none."""
    node: Any = getattr(value, "node", None)
    if node is None:
        return value
    hint = getattr(node, "hint", None)
    return UNKNOWN if hint is None else hint
