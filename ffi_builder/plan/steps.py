"""The steps of a plan: pure data, each with its checks.

Steps run in order, and the first check that fails ends the call. ``free`` marks checks of strides;
they do not apply to dimensions of size 1 and to empty tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias, Union, get_args

from ffi_builder.plan.checks import *  # noqa: F403
from ffi_builder.plan.checks import LimitCheck, SymbolCheck, ValueCheck, ValuePart
from ffi_builder.plan.decode import *  # noqa: F403
from ffi_builder.plan.decode import Decoding, Kind
from ffi_builder.plan.messages import Words
from ffi_builder.plan.step import Instruction
from ffi_builder.plan.tensor_checks import *  # noqa: F403
from ffi_builder.plan.tensor_checks import CheckLayout, ReadDim, TensorCheck, TensorPart

_Both: TypeAlias = Union[Decoding, ValueCheck, LimitCheck, SymbolCheck, TensorCheck]
AnyStep: TypeAlias = Union[_Both, ReadDim, CheckLayout]
"""Every step of a plan, for ``match``."""
AnyCheck: TypeAlias = Union[_Both, ValuePart, TensorPart]
"""Every check of a plan; each has a line in ``explain``."""


def named_words() -> dict[str, Words]:
    """Return the words of all errors by name: ``CHECK_NDIM`` for those of ``CheckNdim``.

    Words in an attribute other than ``words`` append its name: ``EQUAL_INT_OF_STRIDE``.
    """
    return dict(_named_words())


def _named_words() -> Iterator[tuple[str, Words]]:
    for step in get_args(AnyCheck):
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", step.__name__).upper()
        for attribute in dir(step):
            if isinstance(words := getattr(step, attribute), Words):
                yield name if attribute == "words" else f"{name}_{attribute.upper()}", words
    for kind in Kind:
        yield f"KIND_{kind.name}", kind.words


def named_operations() -> dict[str, type[Instruction]]:
    """Return the instructions by name, each with the first check that declares it."""
    operations: dict[str, type[Instruction]] = {}
    for check in get_args(AnyCheck):
        if issubclass(check, Instruction):
            operations.setdefault(check.op, check)
    return operations
