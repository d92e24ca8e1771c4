"""The oracle: docs/checks.md read a second time, straight over raw memory, with no plan between.

It imports :mod:`ffi_builder.spec` and :mod:`ffi_builder.abi` and nothing else of the package, so
that a mistake in planning or emitting the checks cannot be a mistake here too.
"""

from tests.oracle.judge import Accepted, Rejected, Verdict, judge

__all__ = ["Accepted", "Rejected", "Verdict", "judge"]
