"""Traces one call: checks its arguments, and makes the call of the target.

XLA passes operands, results and attributes::

    f(c, y: out, x, s: inout, mask: absent)    ──►    args = [x, s], rets = [y, s'], attrs = {c}
                                                      s' is s, and the function gets s'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.diagnosis.evaluate import fold
from ffi_builder.frameworks.described import Described
from ffi_builder.frameworks.jax.call import Call
from ffi_builder.frameworks.jax.form import DTYPES, Form, entries_of, solve
from ffi_builder.frameworks.jax.target import Target, load
from ffi_builder.records import dataclass
from ffi_builder.spec.tensors.devices import ANY


def lower(form: Form, target: Target, call: Call, operands: Sequence[Any], vmap: object) -> Any:
    """Call a target with traced operands. An absent operand is None.

    Returns the result, or a tuple of results.

    Raises:
        TypeError, ValueError: the arguments do not fit.
    """
    values = _values(form, call, operands)
    _check_width(form, values)
    names = (param.name for param in form.signature.arguments)
    form.checks(dict(zip(names, values, strict=True)))
    _check_dtypes(form, values)
    name, places = register(form, target, [value is not None for value in values])
    attributes = {form.names[i]: _attribute(values[i]) for i in places.attributes}
    jax = load("jax")
    results = [
        jax.ShapeDtypeStruct(value.shape, jax.numpy.dtype(value.dtype))
        for value in (values[index] for index in places.results)
    ]
    if not results:
        raise TypeError(f"{form.signature.name}(): no result is asked for: every output is None")
    called = jax.ffi.ffi_call(
        name,
        results,
        vmap_method=vmap if isinstance(vmap, str) else None,
        input_output_aliases=places.aliases,
    )
    returned = called(*(given for given in operands if given is not None), **attributes)
    axes = varying_axes(operands)  # `ffi_call` leaves them out of the types of its results
    varied = [vary(result, axes) for result in returned]
    return tuple(varied) if len(varied) > 1 else varied[0]


@dataclass(frozen=True)
class Places:
    """The indices of the arguments that XLA passes, in its order."""

    operands: list[int]
    results: list[int]
    attributes: list[int]

    @property
    def aliases(self) -> dict[int, int]:
        """The number of each result that shares an operand's memory, by the operand's number."""
        numbers = {index: at for at, index in enumerate(self.operands)}
        return {numbers[i]: at for at, i in enumerate(self.results) if i in numbers}

    def order(self, count: int) -> list[int | None]:
        """Return the index of each argument among the values that XLA passes; None if absent.

        XLA passes a tensor that is read and written twice. The function gets the result.
        """
        passed = [*self.operands, *self.results, *self.attributes]
        places = {index: at for at, index in enumerate(passed)}
        return [places.get(index) for index in range(count)]


def register(form: Form, target: Target, given: Sequence[bool]) -> tuple[str, Places]:
    """Register the function for calls with these arguments and without the others.

    Returns the name of the target, and the arguments that XLA passes to it.
    """
    present = [(i, intent) for i, intent in enumerate(form.intents) if given[i]]
    places = Places(
        [index for index, intent in present if intent in ("in", "inout")],
        [index for index, intent in present if intent in ("out", "inout")],
        [index for index, intent in present if not intent],
    )
    absent = [
        param.name
        for param, is_given in zip(form.signature.arguments, given, strict=True)
        if not is_given and isinstance(param, spec.Optional)
    ]
    attributes = [form.names[i] for i in places.attributes]
    return target.register(absent, places.order(len(given)), attributes), places


def _values(form: Form, call: Call, operands: Sequence[Any]) -> list[Any]:
    """Return the value of each argument: :class:`Described`, a static value, or None."""
    device = "cpu" if form.device == ANY else form.device
    given = iter(operands)
    statics, outputs = dict(call.statics), dict(call.outputs)
    values: list[Any] = []
    entries: list[tuple[object, Any]] = []
    for index, (param, intent) in enumerate(
        zip(form.signature.arguments, form.intents, strict=True)
    ):
        value = known = statics[index].value if not intent else None
        array = next(given) if intent in ("in", "inout") else outputs.get(index)
        if array is not None:
            known = array.shape
            value = Described(known, str(array.dtype), device)
        values.append(value)
        if known is not None:
            entries += entries_of(spec.required(param), known)
    symbols = solve(entries)
    for index, param in enumerate(form.signature.arguments):
        if (
            form.intents[index] == "out"
            and index not in outputs
            and not isinstance(param, spec.Optional)
        ):
            tensor = spec.required(param)
            assert isinstance(tensor, spec.Tensor)
            shape = tuple(_size_of(dim, symbols) for dim in tensor.dims)
            values[index] = Described(shape, _dtype_of(tensor, form, values), device)
    return values


def _dtype_of(output: spec.Tensor, form: Form, values: Sequence[Any]) -> str:
    like = form.like(output)
    if like is not None and values[like].dtype in output.dtypes:
        return values[like].dtype
    return output.dtypes[0]


def _check_width(form: Form, values: Sequence[object]) -> None:
    """Refuse 64-bit dtypes of the signature that JAX does not have, or has narrowed."""
    canonical = load("jax").dtypes.canonicalize_dtype
    narrowed = {wide: str(canonical(wide)) for wide in ("int64", "uint64", "float64")}
    missing = {wide: narrow for wide, narrow in narrowed.items() if wide != narrow}
    for param, value in zip(form.signature.arguments, values, strict=True):
        if not isinstance(value, Described):
            continue
        tensor = spec.required(param)
        assert isinstance(tensor, spec.Tensor)
        if value.dtype in tensor.dtypes and value.dtype not in missing:
            continue
        for wide, narrow in missing.items():
            if wide in tensor.dtypes and value.dtype in (wide, narrow):
                is_wide = value.dtype == wide
                raise TypeError(
                    f"{form.signature.name}(): {param.name!r} {'is' if is_wide else 'expects'} "
                    f"{wide}, which JAX has only within `with jax.enable_x64(True):`, or after "
                    f"jax.config.update('jax_enable_x64', True)"
                    f"{'' if is_wide else f', but got {narrow}'}"
                )


def _check_dtypes(form: Form, values: Sequence[object]) -> None:
    """Refuse dtypes that the signature accepts, but jax-tvm-ffi cannot pass."""
    name = form.signature.name
    for param, value in zip(form.signature.arguments, values, strict=True):
        if not isinstance(value, Described):
            continue
        if value.dtype not in DTYPES:
            raise TypeError(
                f"{name}(): jax-tvm-ffi cannot pass {param.name!r}, whose dtype is {value.dtype}"
            )


def _size_of(dim: spec.Dim | None, symbols: dict[spec.Var, Any]) -> Any:
    assert dim is not None, "such an output is given"
    size = fold(dim, symbols.get)
    return 1 if size is None else size  # an argument does not fit, and the check says which


def _attribute(value: Any) -> Any:
    """Return a static value in the type with which XLA passes all of its bits."""
    numpy = load("numpy")
    match value:
        case bool() | str():
            return value
        case int():
            return numpy.int64(value)
        case float():
            return numpy.float64(value)
        case _:
            return numpy.array(value, "int64")


# ---- axes of a mesh, over which arrays vary within jax.shard_map

_VARYING: Final = re.compile(r"\{V:\(?([^(){}]+)\)?\}")


def varying_axes(arrays: Iterable[Any]) -> list[Any]:
    """Return the names of the mesh axes over which any of the arrays varies. Skip None."""
    found = {name for array in arrays if array is not None for name in _axes(array)}
    return sorted(found, key=str)


def vary(array: Any, axes: Iterable[Any]) -> Any:
    """Cast an array to a type that varies over these axes, too. None stays None.

    The transpose of the cast sums over the axes. So the gradient of an operand that is the same on
    all devices is the sum over the devices.
    """
    if array is None:
        return None
    missing = tuple(axis for axis in axes if axis not in _axes(array))
    return load("jax").lax.pcast(array, missing, to="varying") if missing else array


def _axes(array: Any) -> frozenset[Any]:
    kind = load("jax").typeof(array)
    if hasattr(kind, "vma"):  # before JAX 0.10
        return kind.vma
    if hasattr(kind, "manual_axis_type"):
        return kind.manual_axis_type.varying
    # JAX documents the format: float32[2]{V:i}, float32[1]{V:(i,j)}. These names are strs.
    shown = _VARYING.search(str(kind))
    return frozenset(shown[1].split(",") if shown else ())
