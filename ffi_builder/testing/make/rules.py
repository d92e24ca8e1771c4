"""Rules over symbols: what their values must be, so that arguments can be made and are accepted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ffi_builder import spec
from ffi_builder.records import dataclass
from ffi_builder.testing.check import Scalar
from ffi_builder.testing.evaluate import evaluate, holds
from ffi_builder.testing.make.layout import LIMIT, layout_of, room_for

Env: TypeAlias = dict[spec.Var, Scalar]
Parts: TypeAlias = Sequence[tuple[str, spec.Plain]]
"""Parameters to make, with their paths; elements follow what they are in."""


@dataclass(frozen=True)
class Rule:
    """Something that must hold: ``broken`` returns what is wrong, or None.

    It is called only once all symbols of the rule have values.
    """

    symbols: frozenset[spec.Var]
    broken: Callable[[Env], str | None]


def argument_rules(parts: Parts, devices: Sequence[int] | None) -> Iterator[Rule]:
    """Yield the rules of arguments. ``devices`` are the device ids that exist; None allows any."""
    for path, param in parts:
        match param:
            case spec.Tensor():
                yield from _tensor_rules(param, path, devices)
            case spec.Shape():
                for axis, entry in enumerate(param.shape):
                    yield _entry_rule(f"{path}[{axis}]", entry, low=0)
            case _:
                pass


def allocation_rules(signature: spec.Signature) -> Iterator[Rule]:
    """Yield the rules of what the wrapper makes: sizes are not negative."""
    for result in (*signature.results, *signature.workspaces):
        for path, entry in spec.sizes(result):
            yield _entry_rule(path, entry, low=0)
        if isinstance(result, spec.Tensor):
            yield _device_rule(f"{result.name}.device_id", result.device_id, None)


def _tensor_rules(tensor: spec.Tensor, path: str, devices: Sequence[int] | None) -> Iterator[Rule]:
    for axis, entry in enumerate(tensor.dims):
        packing = tensor.packing if axis == tensor.packed_axis else 1
        yield _entry_rule(f"{path}.shape[{axis}]", entry, low=0, packing=packing)
    for axis, entry in enumerate(tensor.stride_entries or ()):
        packing = tensor.packing if axis != tensor.packed_axis else 1
        yield _entry_rule(f"{path}.strides[{axis}]", entry, low=None, packing=packing)
    yield _device_rule(f"{path}.device_id", tensor.device_id, devices)
    mentioned = [*tensor.dims, *(tensor.stride_entries or ())]
    symbols = frozenset(var for entry in mentioned for var in spec.variables(entry))

    def broken(env: Env) -> str | None:
        shape, strides = layout_of(tensor, env)
        if math.prod(shape) >= 2**63:
            return f"{path} has the shape {list(shape)}, whose product does not fit int64"
        size = room_for(tensor, shape, strides)
        if size > LIMIT:
            return f"{path} needs {size} bytes, and make_args makes {LIMIT} at most"
        return None

    yield Rule(symbols, broken)


def _entry_rule(path: str, entry: spec.Dim | None, *, low: int | None, packing: int = 1) -> Rule:
    symbols = dict.fromkeys(spec.variables(entry))

    def broken(env: Env) -> str | None:
        if entry is None:
            return None
        value = evaluate(entry, lambda var: env[var])
        bindings = ", ".join(f"{var.name} = {env[var]}" for var in symbols)
        place = f"{path} = {entry}" + (f" with {bindings}" if bindings else "")
        if value is None:
            return f"{place} does not fit int64"
        if low is not None and value < low:
            return f"{place} is {value}, and must not be negative"
        if value % packing:
            return f"{place} is {value}, and must be a multiple of {packing}, as so many are packed"
        if packing > 1 and value == -(2**63):  # not the magnitude of any int64
            return f"{place} is {value}, which is too low for packed elements"
        return None

    return Rule(frozenset(symbols), broken)


def relation_rule(relation: spec.Relation) -> Rule:
    """Return the rule that a relation holds."""
    symbols = dict.fromkeys(spec.variables(relation))

    def broken(env: Env) -> str | None:
        if holds(relation, lambda var: env[var]):
            return None
        bindings = ", ".join(f"{var.name} = {env[var]}" for var in symbols)
        return f"{relation} does not hold with {bindings}"

    return Rule(frozenset(symbols), broken)


def _device_rule(path: str, entry: int | spec.Var | None, devices: Sequence[int] | None) -> Rule:
    def broken(env: Env) -> str | None:
        value = env[entry] if isinstance(entry, spec.Var) else entry
        if value is None or (0 <= value < 2**31 if devices is None else value in devices):
            return None
        if devices is None:
            return f"{path} is {value}, and must be from 0 to 2147483647"
        return (
            f"{path} is {value}, and must be 0, where such arrays are; framework='tvm_ffi' takes "
            f"others"
        )

    return Rule(frozenset(spec.variables(entry)), broken)
