"""The verdict on a call, which the oracle, a wrapper and ``testing.check_raw`` agree on."""

from __future__ import annotations

from ffi_builder import attach, runtime
from ffi_builder.diagnosis.check import check_raw
from ffi_builder.providers import NopCallProvider
from ffi_builder.spec import Signature
from tests.differential.description import Arguments, Value
from tests.differential.memory import shared
from tests.oracle import Accepted, Verdict, judge
from tests.rules.table import in_short, said
from tests.support.wrapping import RawWrapper, new_module


def verdict(signature: Signature, wrapper: RawWrapper, given: Arguments) -> Verdict:
    found = judge(signature, shared().place(given), given.count)
    error = None if isinstance(found, Accepted) else (found.kind, found.message)
    assert wrapper.with_arguments(given) == error
    assert checked(signature, given) == error
    return found


def checked(signature: Signature, given: Arguments) -> tuple[str, str] | None:
    try:
        check_raw(signature, shared().place(given), given.count)
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return None


class Function:
    """A compiled function that nothing is done in; tensors are on the CPU."""

    def __init__(self, signature: str | Signature) -> None:
        if isinstance(signature, str):
            signature = Signature.parse(signature, device="cpu")
        self.signature = signature
        module = new_module()
        attach(module, self.signature, NopCallProvider())
        self._wrapper = RawWrapper(runtime.compile(module), self.signature.name)

    def verdict(self, given: Arguments) -> Verdict:
        return verdict(self.signature, self._wrapper, given)

    def __call__(self, *values: Value) -> str:
        """Return the result or the error of a call, as the table writes it."""
        found = self.verdict(Arguments(values))
        if isinstance(found, Accepted):
            return "; ".join(said(found)[0]) or "right"
        return in_short(found.kind, found.message)
