"""Making right arguments for a signature."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from typing_extensions import assert_never

from ffi_builder import spec
from ffi_builder.errors import SpecError
from ffi_builder.testing.arrays import FRAMEWORKS, Array
from ffi_builder.testing.choose import Env, Scalar, choose
from ffi_builder.testing.evaluate import evaluate
from ffi_builder.testing.layout import layout_of, stored


def make_args(
    signature: spec.Signature,
    dims: Mapping[str, Scalar] | None = None,
    framework: str = "numpy",
) -> list[Any]:
    """Arguments that :func:`check` and the compiled wrapper accept.

    Tensors are zeros, with just the strides that are asked for, in memory of their own, aligned to
    ``data_alignment`` and at least to 64 bytes. Streams and pointers are NULL::

        >>> x, y, factor = make_args(axpy, {"n": 1000, "factor": 2.0})

    Args:
        signature: what the function accepts; its tensors must be on the CPU.
        dims: the value of any symbol, by name. The others get small ones that are right: ints from
            2 on, different where they can be, strides without overlap, True, 0.5, 1.5, …, NULL.
        framework: ``"numpy"``, ``"torch"`` or ``"tvm_ffi"``: what tensors are made with. With
            ``"numpy"``, dtypes that NumPy cannot export (bfloat16, float8, float4, sub-byte ints,
            several lanes) come as ``tvm_ffi.Tensor``, whether or not ml_dtypes is installed.

    Raises:
        ValueError: an unknown framework or name in ``dims``, a value in it that the signature does
            not accept, a tensor that is not on the CPU, that the framework cannot have or that
            needs more than 1 GiB, or if no right values were found.
        SpecError: if ``signature`` is none.
        ModuleNotFoundError: NumPy, which makes the memory, or the framework is not installed.
    """
    if not isinstance(signature, spec.Signature):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise SpecError(f"make_args: expected a Signature but got {signature!r}")
    if framework not in FRAMEWORKS:
        raise ValueError(
            f"make_args: framework: expected one of {', '.join(FRAMEWORKS)} but got {framework!r}"
        )
    for index, param in enumerate(signature.arguments):
        _check_devices(param, param.name, index)
    devices = None if framework == "tvm_ffi" else (0,)
    symbols = choose(signature, dims or {}, devices)
    maker = _Maker(framework, symbols)
    return [maker.argument(param, param.name) for param in signature.arguments]


def _check_devices(param: spec.Param, path: str, index: int) -> None:
    if isinstance(param, spec.Tensor) and param.device != "cpu":
        raise ValueError(
            f"make_args: {path} on argument #{index} is on {param.device}, and make_args makes CPU "
            f"arrays only; test with a signature whose device_type is 'cpu'"
        )
    if isinstance(param, spec.TupleParam):
        for element, inner in enumerate(param.params):
            _check_devices(inner, f"{path}[{element}]", index)


class _Maker:
    def __init__(self, framework: str, symbols: Env) -> None:
        self._framework, self._symbols = framework, symbols
        self._device_id: int | None = None
        """That of the first tensor, on which those are that say nothing."""

    def argument(self, param: spec.Param, path: str) -> Any:
        match param:
            case spec.Var():
                value = self._symbols[param]
                return _pointer(int(value)) if param.dtype == "handle" else value
            case spec.Tensor():
                return self._tensor(param, path)
            case spec.Shape():
                return tuple(self._value(entry) for entry in param.shape)
            case spec.TupleParam():
                return tuple(
                    self.argument(inner, f"{path}[{index}]")
                    for index, inner in enumerate(param.params)
                )
            case spec.ConstInt() | spec.ConstBool() | spec.ConstFloat():
                return param.value
            case spec.Stream() | spec.DataPointer() | spec.ConstNone():
                return None
            case spec.EnvStream():
                raise AssertionError("an EnvStream is no argument")
            case _:
                assert_never(param)

    def _tensor(self, tensor: spec.Tensor, path: str) -> Any:
        shape, strides = stored(tensor, *layout_of(tensor, self._symbols))
        device_id = self._device_id or 0
        if tensor.device_id is not None:
            device_id = self._value(tensor.device_id)
        if self._device_id is None:
            self._device_id = device_id
        dtype = spec.parse_dtype(tensor.element_dtype)
        alignment = tensor.data_alignment or 1
        return Array(path, dtype, shape, strides, alignment, device_id).make(self._framework)

    def _value(self, entry: spec.Dim) -> int:
        value = evaluate(entry, lambda var: self._symbols[var])
        assert value is not None, "the rules say so"
        return value


def _pointer(address: int) -> ctypes.c_void_p | None:
    """As tvm_ffi takes addresses; None is NULL."""
    return ctypes.c_void_p(address) if address else None
