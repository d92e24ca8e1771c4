"""Makes arguments that fit a signature."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ffi_builder import spec
from ffi_builder.plan import check_signature
from ffi_builder.spec.param import MISSING
from ffi_builder.suggest import did_you_mean
from ffi_builder.testing.check import check
from ffi_builder.testing.evaluate import evaluate
from ffi_builder.testing.make.arrays import FRAMEWORKS, Array
from ffi_builder.testing.make.choose import choose
from ffi_builder.testing.make.layout import layout_of, room_for, stored
from ffi_builder.testing.make.memory import free_memory
from ffi_builder.testing.make.objects import make_object, nothing
from ffi_builder.testing.make.rules import Env, Parts
from ffi_builder.testing.make.unfold import Dims, lengths, unfold


def make_args(
    signature: spec.Signature,
    dims: Dims | None = None,
    framework: str = "numpy",
    values: Mapping[str, object] | None = None,
) -> list[Any]:
    """Make arguments that :func:`check` and the compiled wrapper accept.

    Tensors hold zeros in memory of their own, aligned to ``data_alignment`` and at least to 64
    bytes, with exactly the strides that the signature asks for and the first of several dtypes
    (that of ``x`` for ``dtype="x.dtype"``, also if ``x`` is in ``values``).
    Tuples, structs and lists of tensors become tuples; Optionals are present. Lists have two
    elements, unless the signature or ``dims`` says otherwise. Streams and pointers are NULL;
    strings, Arrays and Maps are empty; a Choice is its first one, a DType float32, and a Device the
    first CPU.

    Args:
        signature: what the function accepts. Its tensors must be allowed on the CPU.
        dims: values of symbols, by name. The others get small ones that fit: ints from 2 on,
            different if possible, strides without overlap, True, 0.5, 1.5, …, NULL. A symbol with
            a value for each element of a list may have a list of values.
        framework: makes the tensors: ``"numpy"``, ``"torch"`` or ``"tvm_ffi"``. With
            ``"numpy"``, dtypes that NumPy cannot export (bfloat16, float8, float4, sub-byte ints,
            several lanes) come as ``tvm_ffi.Tensor``, whether or not ml_dtypes is installed.
        values: arguments, elements and fields to take as they are, by their names in errors:
            ``"mask"``, ``"cfg[1]"``, ``"cfg.alpha"``. None makes an Optional absent. Only their
            dtypes are looked at: give the values of symbols that they bind in ``dims``.

    Raises:
        ValueError: an unknown framework or name in ``dims`` or ``values``, a value in ``dims`` that
            the signature does not accept; a tensor that is not on the CPU, that the framework
            cannot represent or that needs more than 1 GiB; tensors that need more memory together
            than is free; an object of a type that cannot be made; or no values that fit were found;
            or not one value for each element of a list.
        SpecError: ``signature`` is not a Signature.
        ModuleNotFoundError: the framework, or NumPy, which allocates the memory, is not installed.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> axpy = spec.Signature.parse(
        ...     "axpy(a: float32, x: Tensor([n], float32), y: Optional(Tensor([n], float32)))",
        ...     device="cpu",
        ... )
        >>> a, x, y = testing.make_args(axpy, {"n": 1000, "a": 2.0}, values={"y": None})
        >>> a, x.shape, y
        (2.0, (1000,), None)
    """
    check_signature("make_args: ", signature)
    if framework not in FRAMEWORKS:
        raise ValueError(
            f"make_args: framework: expected one of {', '.join(FRAMEWORKS)} but got {framework!r}"
            f"{did_you_mean(framework, FRAMEWORKS)}"
        )
    given, whole = dict(values or {}), signature
    unfolded = unfold(signature, lengths(signature, dims or {}))
    signature = unfolded.signature
    _check_names(signature, given)
    parts: list[tuple[str, spec.Plain]] = []
    for index, param in enumerate(signature.arguments):
        made = list(_parts([(param.name, param)], given))
        _check_devices(made, index)
        parts += made
    devices = None if framework == "tvm_ffi" else (0,)
    symbols = choose(signature, parts, unfolded.dims(dims or {}), devices)
    _check_memory(parts, symbols)
    maker = _Maker(framework, symbols, given)
    made = [maker.argument(param.name, param) for param in signature.arguments]
    _check_lengths(whole, signature, made)
    return made


def _check_lengths(
    signature: spec.Signature, unfolded: spec.Signature, made: Sequence[object]
) -> None:
    """Refuse lengths of lists that a relation does not allow: they were not chosen by it."""
    left = [each for each in signature.where if each not in unfolded.where]
    try:
        if left:
            check(signature, *made)
    except ValueError:
        raise ValueError(
            f"make_args: {', '.join(map(str, left))} does not hold with the lengths of lists that "
            f"were chosen; give others with dims="
        ) from None


def _check_names(signature: spec.Signature, given: Mapping[str, object]) -> None:
    known = [path for path, _ in spec.with_paths(signature.arguments)]
    for name in given:
        if name not in known:
            raise ValueError(
                f"make_args: values: {signature.name} has no parameter {name!r}; it has "
                f"{', '.join(known) or 'none'}{did_you_mean(name, known)}"
            )


def _parts(
    params: Iterable[tuple[str, spec.Param]], given: Mapping[str, object]
) -> Iterator[tuple[str, spec.Plain]]:
    """Yield the parameters that are not given, with their paths."""
    for path, param in params:
        if path not in given:
            yield path, spec.required(param)
            yield from _parts(spec.elements(param, path), given)


def _check_devices(parts: Parts, index: int) -> None:
    for path, param in parts:
        if isinstance(param, spec.Tensor) and param.device not in ("cpu", spec.ANY):
            raise ValueError(
                f"make_args: {path} on argument #{index} is on {param.device}, and make_args makes "
                f"CPU arrays only; test with a signature whose device_type is 'cpu'"
            )


def _check_memory(parts: Parts, symbols: Env) -> None:
    """Refuse to make more than there is memory for, before anything is made."""
    rooms = {
        path: room_for(param, *layout_of(param, symbols))
        for path, param in parts
        if isinstance(param, spec.Tensor)
    }
    needed, free = sum(rooms.values()), free_memory()
    if free is not None and needed > free:
        largest = max(rooms, key=lambda path: rooms[path])
        raise ValueError(
            f"make_args: the tensors need {needed} bytes together, and {free} bytes of memory are "
            f"free; the largest is {largest} with {rooms[largest]} bytes; give smaller dims="
        )


class _Maker:
    def __init__(self, framework: str, symbols: Env, given: Mapping[str, object]) -> None:
        self._framework, self._symbols, self._given = framework, symbols, given
        self._device_id: int | None = None
        """Device id of the first tensor, and of tensors without one of their own."""
        self._dtypes: dict[str, spec.DataType] = {}
        """The dtypes of the tensors that were made, by path."""

    def argument(self, path: str, param: spec.Param) -> Any:
        if path in self._given:
            return self._given[path]
        match required := spec.required(param):
            case spec.Var():
                value = self._symbols[required]
                return _pointer(int(value)) if required.dtype == "handle" else value
            case spec.Tensor():
                return self._tensor(required, path)
            case spec.Shape():
                return tuple(self._value(entry) for entry in required.shape)
            case spec.TupleParam() | spec.Struct():
                return tuple(self.argument(*element) for element in spec.elements(param, path))
            case spec.Object():
                return make_object(path, required.type_key)
            case spec.TensorList():
                raise AssertionError("lists are tuples by now")
            case _:
                return _plain(required)

    def _tensor(self, tensor: spec.Tensor, path: str) -> Any:
        shape, strides = stored(tensor, *layout_of(tensor, self._symbols))
        device_id = self._device_id or 0
        if tensor.device_id is not None:
            device_id = self._value(tensor.device_id)
        if self._device_id is None:
            self._device_id = device_id
        dtype = self._dtypes[path] = self._dtype(tensor)
        alignment = tensor.data_alignment or 1
        return Array(path, dtype, shape, strides, alignment, device_id).make(self._framework)

    def _dtype(self, tensor: spec.Tensor) -> spec.DataType:
        """Return the first dtype, or that of the tensor, made or given, that it is taken from."""
        path = tensor.references.get("dtype", "")
        if path in self._dtypes:
            return self._dtypes[path]
        return spec.parse_dtype(getattr(self._given.get(path), "dtype", tensor.element_dtypes[0]))

    def _value(self, entry: spec.Dim) -> int:
        value = evaluate(entry, lambda var: self._symbols[var])
        assert value is not None, "a rule has made sure of it"
        return value


def _plain(param: spec.Plain) -> Any:
    """Make an argument for a parameter without symbols or elements."""
    match param:
        case spec.ConstInt() | spec.ConstBool() | spec.ConstFloat():
            return param.value
        case spec.Stream() | spec.DataPointer() | spec.ConstNone():
            return None
        case spec.Choice():
            return next(iter(param.choices))
        case spec.Function():
            return nothing
        case spec.Array():
            return []
        case spec.Map():
            return {}
        case spec.DType():
            import tvm_ffi

            return tvm_ffi.dtype("float32")
        case spec.Device():
            import tvm_ffi

            return tvm_ffi.device("cpu", 0)
        case spec.EnvStream():
            raise AssertionError("an EnvStream is no argument")
        case _:
            assert param.accepts.example is not MISSING, "the class of a parameter has an example"
            return param.accepts.example


def _pointer(address: int) -> ctypes.c_void_p | None:
    """Return an address in the form that tvm_ffi takes; None is NULL."""
    return ctypes.c_void_p(address) if address else None
