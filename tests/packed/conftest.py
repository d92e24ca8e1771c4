"""The function that kernels call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import tvm_ffi

from tests.packed.kernels import GLOBAL


class Called:
    """The function that is registered, with the arguments of its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.answer: Callable[[tuple[Any, ...]], Any] = lambda args: None

    def __call__(self, *args: Any) -> Any:
        self.calls.append(args)
        return self.answer(args)

    def returns(self, value: object) -> None:
        """Let the function return a value from now on."""
        self.answer = lambda args: value

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments of the only call."""
        (args,) = self.calls
        return args


@pytest.fixture
def called() -> Iterator[Called]:
    """A registered function that records its arguments, and returns what a test says."""
    function = Called()
    tvm_ffi.register_global_func(GLOBAL, function, override=True)
    yield function
    tvm_ffi.registry.remove_global_func(GLOBAL)
