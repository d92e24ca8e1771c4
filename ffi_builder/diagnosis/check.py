"""Checks arguments without a kernel and without MLIR."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Final, TypeAlias, Union

from ffi_builder import abi, conversion, importing, spec
from ffi_builder.diagnosis.encode import encode
from ffi_builder.diagnosis.evaluate import evaluate
from ffi_builder.diagnosis.native import diagnose
from ffi_builder.diagnosis.writing import Table
from ffi_builder.plan import Plan, make_plan
from ffi_builder.plan.messages import FRAME, signature_text
from ffi_builder.plan.results import DEVICE_ID, MOST_DEVICES, OVERFLOW, SIZE, noun_of
from ffi_builder.records import dataclass
from ffi_builder.spec.composite import takes_more
from ffi_builder.spec.expr import Expr
from ffi_builder.spec.numbers import FLOAT_DTYPES
from ffi_builder.spec.outlines import argument_texts
from ffi_builder.spec.places import symbols_in, symbols_of_elements
from ffi_builder.spec.results import sizes

Scalar: TypeAlias = Union[int, float]

_SAFE_CALL = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p
)
"""The C type of a TVM-FFI function."""

_CLASSES: Final = {"TypeError": TypeError, "ValueError": ValueError}


def check_raw(signature: spec.Signature, args_address: int, num_args: int) -> dict[str, Scalar]:
    """Check arguments in memory, as they arrive at the wrapper.

    This runs the diagnosis, the code that a compiled wrapper runs once a check has failed.

    Args:
        signature: what the wrapper accepts.
        args_address: the address of an array of ``TVMFFIAny``, 16 bytes each; 0 is NULL.
        num_args: the length of the array.

    Returns:
        The value of every symbol, by name; 0 if only absent Optionals or empty lists would bind it.
        Symbols with one value for each element of a list are left out.

    Raises:
        TypeError, ValueError: exactly the wrapper's error.
        BuildError: the signature is too large for a wrapper, or the package was installed without a
            C compiler to link its library.

    Examples:
        An array of one ``TVMFFIAny``: 8 bytes with the type index of an int, 1, and then the value:

        >>> import ctypes
        >>> from ffi_builder import spec
        >>> from ffi_builder.diagnosis.check import check_raw
        >>> scale = spec.Signature("scale", [spec.Var("n", "int32", max=8)])
        >>> args = (ctypes.c_int64 * 2)(1, 7)
        >>> check_raw(scale, ctypes.addressof(args), 1)
        {'n': 7}
    """
    return Checker(signature).raw(args_address, num_args)


@dataclass(frozen=True)
class Checker:
    """The checks of a signature. They are planned and encoded once.

    Raises:
        BuildError: the signature is too large for a wrapper.
    """

    signature: spec.Signature
    plan: Plan = field(init=False)
    table: Table = field(init=False)

    def __post_init__(self) -> None:
        plan = make_plan(self.signature)
        object.__setattr__(self, "plan", plan)
        object.__setattr__(self, "table", encode(plan))

    def raw(self, args_address: int, num_args: int) -> dict[str, Scalar]:
        """Do what :func:`check_raw` does."""
        signature = self.signature
        diagnosis = diagnose(self.table, signature.name, args_address, num_args)
        if diagnosis.kind:
            raise _CLASSES[diagnosis.kind](diagnosis.message)
        slots = dict(zip(self.plan.symbols, diagnosis.slots, strict=False))
        values = {var.name: _value(var.dtype, slots[var]) for var in self._symbols}
        _check_results(signature, values)
        return values

    @cached_property
    def _symbols(self) -> list[spec.Var]:
        """The symbols that have one value."""
        params = self.signature.params
        of_elements = symbols_of_elements(params)
        return [var for var in symbols_in(params) if var not in of_elements]

    def __call__(self, *args: Any) -> dict[str, Scalar]:
        """Do what :func:`check` does."""
        tvm_ffi = importing.load("tvm_ffi")
        values: dict[str, Scalar] = {}
        errors: list[Exception] = []

        def receive(_handle: int, address: int | None, num_args: int, result: int) -> int:
            ctypes.memset(result, 0, abi.ANY_SIZE)
            try:
                values.update(self.raw(address or 0, num_args))
            except Exception as error:
                errors.append(error)
            return 0

        callback = _SAFE_CALL(receive)
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert address is not None
        function = tvm_ffi.Function.__from_extern_c__(address, keep_alive_object=callback)
        self._pass(function, args)
        if errors:
            raise errors.pop() from None  # the callback, which tvm-ffi keeps, no longer has it
        return values

    def _pass(self, function: Any, args: tuple[Any, ...]) -> None:
        """Call a function; errors name an argument that tvm-ffi does not pass."""
        more = takes_more(self.signature.arguments)
        fixed = len(self.signature.arguments) - more
        if len(args) < fixed or (len(args) > fixed and not more):
            args = (None,) * len(args)  # all that counts is how many there are
        number = conversion.deep(args)
        if number is not None:
            raise ValueError(self._words(number, "", conversion.EXPECTED, conversion.GOT))
        try:
            function(*args)
        except Exception as error:
            unconverted = conversion.unconverted(args, error)
            if unconverted is None:
                raise
            number, actual = unconverted
            wanted = spec.outline(self._argument(number))
            raise TypeError(self._words(number, "type of ", wanted, actual)) from error

    def _argument(self, number: int) -> spec.Param:
        """Return the parameter of an argument; the last one may be VarArgs."""
        return self.signature.arguments[min(number, len(self.signature.arguments) - 1)]

    def _words(self, number: int, prefix: str, wanted: str, actual: str) -> str:
        """Return the text of an error about an argument, as the diagnosis makes it."""
        signature = self.signature
        return FRAME.format(
            subject=prefix + self._argument(number).name,
            argument=number,
            signature=signature_text(signature.name, argument_texts(signature), number),
            wanted=wanted,
            actual=actual,
        )


def _value(dtype: str, slot: int) -> Scalar:
    """Return the value of a symbol whose slot holds this int64."""
    if dtype == "bool":
        return bool(slot)
    if dtype in FLOAT_DTYPES:
        return struct.unpack("<d", struct.pack("<q", slot))[0]
    return slot % 2**64 if dtype in ("uint64", "handle") else slot


def check(signature: spec.Signature, *args: Any) -> dict[str, Scalar]:
    """Check arguments as the compiled wrapper would, and return the symbols that they bind.

    tvm-ffi converts the arguments, as for a compiled function. A symbol that only absent Optionals
    would bind is 0. A symbol with one value for each element of a list is left out.

    Args:
        signature: what the wrapper accepts.
        args: the arguments, by position.

    Raises:
        TypeError, ValueError: exactly the wrapper's error.
        BuildError: the signature is too large for a wrapper.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import spec, testing
        >>> n, k = spec.dims("n k")
        >>> x = spec.Tensor("x", [n, k], "float32", device_type="cpu")
        >>> bias = spec.Tensor("bias", [k], "float32", device_type="cpu")
        >>> add_bias = spec.Signature("add_bias", [x, bias])
        >>> testing.check(add_bias, np.zeros((3, 4), "float32"), np.zeros(4, "float32"))
        {'n': 3, 'k': 4}
        >>> testing.check(add_bias, np.zeros((3, 4), "float32"), np.zeros(3, "float32"))
        Traceback (most recent call last):
        ...
        ValueError: Mismatched bias.shape[0] on argument #1 when calling: `...`, expected 4 (k
            = x.shape[1]) but got 3
    """
    return Checker(signature)(*args)


# ---- results and workspaces
#
# Wrappers check results in code of `builder.allocation`, next to the allocation that needs the
# values. The diagnosis does not know results, so this file repeats the rules, and tests compare
# both. Failures of the allocator are not predicted.


def _check_results(signature: spec.Signature, values: Mapping[str, float]) -> None:
    """Check the sizes and devices of results and workspaces, given the symbols' values by name.

    Raises:
        ValueError: exactly the wrapper's error.
    """
    for result in (*signature.results, *signature.workspaces):
        noun = noun_of(result)
        for path, dim in sizes(result):
            if isinstance(dim, (spec.Var, Expr)):
                size = _size(signature, dim, values)
                words = SIZE.format(path=path, dim=dim, noun=noun)
                _require(signature, size >= 0, words.format(size))
        given = result.device_id if isinstance(result, spec.Tensor) else None
        if isinstance(given, spec.Var):
            number = int(values[given.name])
            words = DEVICE_ID.format(given=given, name=result.name, noun=noun)
            _require(signature, 0 <= number < MOST_DEVICES, words.format(_signed(number)))


def _size(signature: spec.Signature, dim: spec.Var | Expr, values: Mapping[str, float]) -> int:
    if isinstance(dim, spec.Var):
        return _signed(int(values[dim.name]))
    size = evaluate(dim, lambda var: values[var.name])
    _require(signature, size is not None, OVERFLOW.format(dim=dim))
    return size or 0


def _signed(value: int) -> int:
    """Return the int64 that has the same bits."""
    return ctypes.c_int64(value).value


def _require(signature: spec.Signature, fine: bool, words: str) -> None:
    if not fine:
        shown = signature_text(signature.name, argument_texts(signature), None)
        raise ValueError(f"{words} when calling: `{shown}`")
