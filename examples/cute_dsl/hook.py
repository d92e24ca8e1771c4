"""Replaces the wrapper builder that CuTe DSL calls with ffi_builder."""

from __future__ import annotations

import importlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from convert import Conversion
from provider import CuteCallProvider

from ffi_builder import attach_ffi_func


@contextmanager
def ffi_builder_wrappers() -> Generator[None]:
    """Make ``cute.compile(…, options="--enable-tvm-ffi")`` use ffi_builder's wrapper.

    This sets an attribute of the package, so it affects all threads.
    """
    theirs: Any = importlib.import_module("cutlass.base_dsl.tvm_ffi_builder")
    before = theirs.attach_ffi_func
    theirs.attach_ffi_func = attach
    try:
        yield
    finally:
        theirs.attach_ffi_func = before


def attach(
    module: Any,
    symbol_name: str,
    params: Sequence[Any],
    call_provider: Any,
    fn_display_name: str | None = None,
) -> None:
    """Attach the wrapper; CuTe DSL calls this when the host function is in the LLVM dialect.

    CuTe DSL's own call provider is used only for the name of the function. Its JIT finds no
    functions but those of the module.
    """
    attach_ffi_func(
        module,
        symbol_name,
        Conversion(params).params,
        CuteCallProvider(call_provider.target_func),
        fn_display_name,
        self_contained=True,
    )
