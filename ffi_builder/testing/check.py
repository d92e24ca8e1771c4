"""Checking arguments without a kernel, and without MLIR."""

from __future__ import annotations

import ctypes
from typing import Any

from ffi_builder import abi, spec
from ffi_builder.plan import make_plan
from ffi_builder.testing.interpret import Interpreter, Scalar

_SAFE_CALL = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
)
"""The C type of a TVM-FFI function."""


def check_raw(signature: spec.Signature, args_address: int, num_args: int) -> dict[str, Scalar]:
    """Check ``num_args`` arguments that stand in memory as an array of ``TVMFFIAny``.

    Returns:
        The value of every symbol, by name; 0 if only absent Optionals would bind it.

    Raises:
        TypeError, ValueError: with exactly the words that the compiled wrapper has.
    """
    return Interpreter(make_plan(signature), args_address, num_args).run()


def check(signature: spec.Signature, *args: Any) -> dict[str, Scalar]:
    """Check arguments as the compiled wrapper would, and return the symbols that they bind.

    The arguments go through tvm-ffi's own conversion, so they arrive here as they would there. A
    symbol that only absent Optionals would bind is 0::

        >>> check(signature, np.zeros((3, 4), "float32"), …)
        {'n': 3, 'k': 4}

    Raises:
        TypeError, ValueError: exactly the wrapper's error.
    """
    import tvm_ffi

    found: dict[str, Scalar] = {}
    errors: list[Exception] = []

    def receive(_handle: int, address: int | None, num_args: int, result: int) -> int:
        ctypes.memset(result, 0, abi.ANY_SIZE)
        try:
            found.update(check_raw(signature, address or 0, num_args))
        except Exception as error:
            errors.append(error)
        return 0

    callback = _SAFE_CALL(receive)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    function = tvm_ffi.Function.__from_extern_c__(address, keep_alive_object=callback)
    function(*args)
    if errors:
        raise errors[0] from None
    return found
