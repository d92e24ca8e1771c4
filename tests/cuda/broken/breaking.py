"""Replacing parts of the provider, and of the helpers that it emits, for one test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from ffi_builder.ir import bytecode_cache
from ffi_builder.providers.cuda import driver
from ffi_builder.providers.cuda.emitted import define, steps

Replace = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Breakage:
    """A rule of ``tests.cuda.fake.rules`` to break, the scenario, and how it ends there."""

    rule: str
    name: str
    scenario: Callable[..., None]
    ends: str
    """A regular expression: for the failure, or for the name of a violation."""
    replace: Replace


def forget_helpers(patch: pytest.MonkeyPatch, version: str) -> None:
    """Build the helpers anew, under names that no other module of the process has."""
    patch.setattr(steps, "__version__", version)
    patch.setattr(bytecode_cache, "_GROUPS", {})
    steps.helper_name.cache_clear()


def body(name: str, emitter: Callable[..., None]) -> Replace:
    """Another body of a helper."""

    def replace(patch: pytest.MonkeyPatch) -> None:
        letters, _ = define._BODIES[name]  # pyright: ignore[reportPrivateUsage]
        patch.setitem(define._BODIES, name, (letters, emitter))  # pyright: ignore[reportPrivateUsage]

    return replace


def part(where: Any, name: str, instead: Any) -> Replace:
    """Another function, constant or attribute of a module or class."""
    return lambda patch: patch.setattr(where, name, instead)


def number(name: str, instead: object) -> Replace:
    """Another constant of the driver."""
    return part(driver, name, instead)


def without_call(where: Any, *names: str) -> Replace:
    """The module ``where`` does not make these calls of the driver, and takes them for successes."""

    def replace(patch: pytest.MonkeyPatch) -> None:
        real = where.call_driver

        def call_driver(b: Any, state: Any, name: str, operands: Any) -> Any:
            return b.i32(0) if name in names else real(b, state, name, operands)

        patch.setattr(where, "call_driver", call_driver)

    return replace
