"""``testing.check_raw``, which runs the diagnosis in Python, as an implementation to compare."""

from __future__ import annotations

from dataclasses import dataclass

from ffi_builder.diagnosis.check import check_raw
from ffi_builder.spec import Signature
from tests.differential.memory import Memory
from tests.differential.outcome import Outcome, show_values


@dataclass(frozen=True)
class Diagnosed:
    """The checks of a signature, without its fast path."""

    signature: Signature

    def call(self, args_address: int, num_args: int, memory: Memory) -> Outcome:
        try:
            values = check_raw(self.signature, args_address, num_args)
        except (TypeError, ValueError) as error:
            return Outcome(type(error).__name__, str(error))
        return Outcome("accepted", "", show_values(self.signature, values))
