"""A call that must fail, and the whole message it must fail with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from ffi_builder import attach, runtime, spec
from ffi_builder.diagnosis.check import check_raw
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature
from ffi_builder.spec.expr import Condition
from tests.differential.description import Arguments, Value
from tests.differential.memory import shared
from tests.support.wrapping import RawWrapper, new_module


@dataclass(frozen=True)
class Failure:
    """Parameters, what is passed for them, and the error.

    ``subject`` is what stands behind "Mismatched", ``text`` the signature as it is shown.
    """

    params: Sequence[spec.Param]
    given: Sequence[Value] | Arguments
    kind: str
    subject: str
    text: str
    expected: str
    got: str
    where: Sequence[Condition] = ()
    no_overlap: Sequence[str] = ()

    @property
    def signature(self) -> Signature:
        """The parameters of the wrapper."""
        return Signature("f", self.params, where=self.where, no_overlap=self.no_overlap)

    @property
    def message(self) -> str:
        """The whole message."""
        return (
            f"Mismatched {self.subject} when calling: `{self.text}`, "
            f"expected {self.expected} but got {self.got}"
        )

    @property
    def arguments(self) -> Arguments:
        """The arguments of the call."""
        return self.given if isinstance(self.given, Arguments) else Arguments(tuple(self.given))


def compile_all(failures: dict[str, Failure]) -> dict[str, RawWrapper]:
    """All their wrappers, one for each signature, in one module."""
    module = new_module()
    symbols = {failure.signature: "" for failure in failures.values()}
    for number, signature in enumerate(symbols):
        symbols[signature] = f"f{number}"
        attach(module, signature, NopCallProvider(), symbol_name=f"f{number}")
    compiled = runtime.compile(module)
    return {
        name: RawWrapper(compiled, symbols[failure.signature]) for name, failure in failures.items()
    }


def check_both(failure: Failure, wrapper: RawWrapper) -> None:
    """The compiled wrapper and ``testing.check_raw`` fail with this error, word for word."""
    assert wrapper.with_arguments(failure.arguments) == (failure.kind, failure.message)
    address = shared().place(failure.arguments)
    with pytest.raises((TypeError, ValueError)) as raised:
        check_raw(failure.signature, address, failure.arguments.count)
    assert (type(raised.value).__name__, str(raised.value)) == (failure.kind, failure.message)
