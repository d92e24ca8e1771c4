"""The verdict on a call, of the oracle and of a compiled wrapper, as a short text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ffi_builder import attach, runtime
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Param, Signature
from tests.differential.description import Arguments, DLTensor, Value, tensor
from tests.differential.memory import shared
from tests.oracle import Accepted, Rejected, Verdict, judge
from tests.oracle.words import Value as Bound
from tests.support.wrapping import RawWrapper, new_module


def verdict(params: Sequence[Param], *values: Value) -> Verdict:
    """Return the verdict on ``f(*values)``, which is the same twice, to the letter."""
    return judge_call(Signature("f", params), Arguments(values))


def judge_call(signature: Signature, arguments: Arguments) -> Verdict:
    found = judge(signature, shared().place(arguments), arguments.count)
    expected = (found.kind, found.message) if isinstance(found, Rejected) else None
    assert wrapper(signature).with_arguments(arguments) == expected
    return found


def wrapper(signature: Signature) -> RawWrapper:
    module = new_module()
    attach(module, signature, NopCallProvider())
    return RawWrapper(runtime.compile(module), signature.name)


def accepted(params: Sequence[Param], *values: Value) -> Accepted:
    found = verdict(params, *values)
    assert isinstance(found, Accepted), found
    return found


def values(params: Sequence[Param], *given: Value) -> Mapping[str, Bound]:
    """Return the values of the symbols of a valid call."""
    return accepted(params, *given).values


def fault(params: Sequence[Param], *given: Value) -> str:
    """Return an error as ``ValueError #0 A.ndim: 2 | 3``: class, argument, part, expected, given."""
    found = verdict(params, *given)
    assert isinstance(found, Rejected), found
    parts = re.fullmatch(
        r"Mismatched (.*?)(?: on argument (#\d+))? when calling: `.*`, expected (.*) but got (.*)",
        found.message,
    )
    assert parts is not None, found.message
    subject, argument, expected, got = parts.groups()
    where = f"{argument} {subject}" if argument else subject
    return f"{found.kind} {where}: {expected} | {got}"


def f32(
    *dims: int, strides: Sequence[int] | None = None, device_id: int = 0, data: int = 0x1000
) -> Value:
    """Return a float32 tensor on the CPU."""
    given = None if strides is None else tuple(strides)
    return tensor(DLTensor(dims, given, device_id=device_id, data=data))
