"""The steps of a plan: pure data in a straight line, each with the errors that it may raise.

Steps run in order, and the first that fails ends the call. A step reads the value at its
``place``. ``free`` marks checks of strides; they do not apply to dimensions of size 1 and to empty
tensors. What back ends do together is one step, whose ``checks`` are those that ``explain`` shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias, Union, get_args

from ffi_builder.plan.decode import *  # noqa: F403
from ffi_builder.plan.decode import Decoding, Kind
from ffi_builder.plan.limits import *  # noqa: F403
from ffi_builder.plan.limits import LimitCheck
from ffi_builder.plan.messages import Words
from ffi_builder.plan.symbol_checks import *  # noqa: F403
from ffi_builder.plan.symbol_checks import SymbolCheck
from ffi_builder.plan.tensor_checks import *  # noqa: F403
from ffi_builder.plan.tensor_checks import CheckLayout, TensorCheck, TensorPart
from ffi_builder.plan.value_checks import *  # noqa: F403
from ffi_builder.plan.value_checks import ValueCheck, ValuePart

Either: TypeAlias = Union[Decoding, ValueCheck, LimitCheck, SymbolCheck, TensorCheck]
"""Every step that is a check, too."""
AnyStep: TypeAlias = Union[Either, CheckLayout]
"""Every step of a plan, for ``match``."""
AnyCheck: TypeAlias = Union[Either, ValuePart, TensorPart]
"""Every check of a plan, each with one error."""


def named_words() -> dict[str, Words]:
    """Return the words of all errors by name: those of ``CheckNdim`` are ``CHECK_NDIM``.

    Others of the same step have the name of the attribute behind it: ``EQUAL_INT_OF_STRIDE``.
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


def named_operations() -> tuple[str, ...]:
    """Return the instructions that steps declare, in the order of the steps."""
    found: Iterator[object] = (getattr(step, "op", None) for step in get_args(AnyCheck))
    return tuple(dict.fromkeys(op for op in found if isinstance(op, str)))
