"""Traces one call: checks its arguments, and makes the call of the target."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

from ffi_builder import spec
from ffi_builder.extending import ANY, elements, fold
from ffi_builder.frameworks.described import Described
from ffi_builder.frameworks.jax.call import ARRAY, Call
from ffi_builder.frameworks.jax.form import DTYPES, Form, entries_of, solve
from ffi_builder.frameworks.jax.passing import Passed, sort
from ffi_builder.frameworks.jax.target import Target, load


def lower(form: Form, target: Target, call: Call, operands: Sequence[Any], vmap: object) -> Any:
    """Call a target with traced operands. An absent operand is None.

    Returns the result, or a tuple of results.

    Raises:
        TypeError, ValueError: the arguments do not fit.
    """
    values = _values(form, call, operands)
    unknown = _derive(form, values)
    _check_width(form, values)
    names = (param.name for param in form.signature.arguments)
    form.checks(dict(zip(names, values, strict=True)))
    if unknown:  # without an error of an argument: the lists that tell it are empty
        raise TypeError(
            f"{form.signature.name}(): the shape of the output {unknown!r} does not follow from "
            f"the arguments: give {unknown}=jax.ShapeDtypeStruct(shape, dtype)"
        )
    _check_dtypes(form, values)
    name, passed = register(form, target, values)
    jax = load("jax")
    results = [
        jax.ShapeDtypeStruct(each.shape, jax.numpy.dtype(each.dtype)) for each in passed.results
    ]
    if not results:
        raise TypeError(f"{form.signature.name}(): no result is asked for: every output is None")
    called = jax.ffi.ffi_call(
        name,
        results,
        vmap_method=vmap if isinstance(vmap, str) else None,
        input_output_aliases=passed.aliases,
    )
    returned: list[Any] = list(called(*jax.tree.leaves(operands), **passed.attributes))
    first = len(returned) - len(form.numbers)
    for at, number in enumerate(form.numbers, first):
        returned[at] = returned[at].astype(number.dtype)  # of float16 as float32, for example
    axes = varying_axes(operands)  # `ffi_call` leaves them out of the types of its results
    varied = [vary(result, axes) for result in returned]
    return tuple(varied) if len(varied) > 1 else varied[0]


def register(form: Form, target: Target, values: Sequence[Any]) -> tuple[str, Passed]:
    """Register the function for calls with such arguments; see `passing.sort`.

    Returns the name of the target, and what XLA passes to it.
    """
    passed = sort(form, values)
    return target.register(passed.marks, passed.adapter, passed.attributes), passed


def _values(form: Form, call: Call, operands: Sequence[Any]) -> list[Any]:
    """Return the value of each argument: Described, a static value, a tuple of these, or None."""
    device = "cpu" if form.device == ANY else form.device
    given = iter(operands)
    statics, outputs = dict(call.statics), dict(call.outputs)
    values: list[Any] = []
    for index, intent in enumerate(form.intents):
        arrays = next(given) if intent in ("in", "inout") else outputs.get(index)
        rest = ARRAY if arrays is not None else None
        if index in statics:
            rest = statics[index].value
        values.append(_merged(rest, arrays, device))
    return values


def _derive(form: Form, values: list[Any]) -> str | None:
    """Describe the outputs that are not given, by what the arguments tell.

    Returns the name of the first output of which a size is not known; it is 1 for now.
    """
    device = "cpu" if form.device == ANY else form.device
    pairs = list(zip(form.signature.arguments, values, strict=True))
    symbols = solve([entry for param, value in pairs for entry in entries_of(param, value)])
    unknown = None
    for index, (param, value) in enumerate(pairs):
        if form.intents[index] != "out" or value is not None or isinstance(param, spec.Optional):
            continue
        assert isinstance(param, spec.Tensor)
        sizes = [_size_of(dim, symbols) for dim in param.dims]
        if None in sizes:
            unknown = unknown or form.names[index]
        shape = tuple(1 if size is None else size for size in sizes)
        values[index] = Described(shape, _dtype_of(param, form, values), device)
    return unknown


def _merged(rest: Any, arrays: Any, device: str) -> Any:
    """Put arrays into the tree of the rest, as :class:`Described`."""
    if rest is ARRAY:
        return Described(arrays.shape, str(arrays.dtype), device)
    if isinstance(rest, tuple):
        items = cast("tuple[Any, ...]", rest)
        empty: tuple[Any, ...] = (None,) * len(items)
        inner = empty if arrays is None else cast("tuple[Any, ...]", arrays)
        return tuple(_merged(each, array, device) for each, array in zip(items, inner, strict=True))
    return rest


def _tensors(
    pairs: Iterable[tuple[tuple[str, spec.Param], Any]],
) -> Iterator[tuple[str, spec.Tensor, Described]]:
    """Yield the tensors of arguments, each with its path."""
    for (path, param), value in pairs:
        match spec.required(param):
            case spec.Tensor() as tensor if isinstance(value, Described):
                yield path, tensor, value
            case spec.TensorList(tensor=tensor) if isinstance(value, tuple):
                items = enumerate(cast("tuple[Any, ...]", value))
                yield from _tensors(((f"{path}[{at}]", tensor), item) for at, item in items)
            case (spec.TupleParam() | spec.Struct()) as container if isinstance(value, tuple):
                items = cast("tuple[Any, ...]", value)
                yield from _tensors(zip(elements(container, path), items, strict=False))
            case _:
                pass


def _given(form: Form, values: Sequence[Any]) -> Iterator[tuple[str, spec.Tensor, Described]]:
    named = ((param.name, param) for param in form.signature.arguments)
    return _tensors(zip(named, values, strict=True))


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
    tensors = [(path, tensor.dtypes, value.dtype) for path, tensor, value in _given(form, values)]
    numbers = [(number.name, [number.dtype], number.dtype) for number in form.numbers]
    for path, dtypes, dtype in (*tensors, *numbers):
        if dtype in dtypes and dtype not in missing:
            continue
        for wide, narrow in missing.items():
            if wide in dtypes and dtype in (wide, narrow):
                is_wide = dtype == wide
                raise TypeError(
                    f"{form.signature.name}(): {path!r} {'is' if is_wide else 'expects'} "
                    f"{wide}, which JAX has only within `with jax.enable_x64(True):`, or after "
                    f"jax.config.update('jax_enable_x64', True)"
                    f"{'' if is_wide else f', but got {narrow}'}"
                )


def _check_dtypes(form: Form, values: Sequence[object]) -> None:
    """Refuse dtypes that the signature accepts, but jax-tvm-ffi cannot pass."""
    for path, _, value in _given(form, values):
        if value.dtype not in DTYPES:
            raise TypeError(
                f"{form.signature.name}(): jax-tvm-ffi cannot pass {path!r}, whose dtype is "
                f"{value.dtype}"
            )


def _size_of(dim: spec.Dim | None, symbols: dict[spec.Var, Any]) -> Any:
    assert dim is not None, "such an output is given"
    return fold(dim, symbols.get)


# ---- axes of a mesh, over which arrays vary within jax.shard_map

_VARYING: Final = re.compile(r"\{V:\(?([^(){}]+)\)?\}")


def varying_axes(arrays: Iterable[Any]) -> list[Any]:
    """Return the names of the mesh axes over which any array of these trees varies."""
    names = {name for array in load("jax").tree.leaves(list(arrays)) for name in _axes(array)}
    return sorted(names, key=str)


def vary(arrays: Any, axes: Iterable[Any]) -> Any:
    """Cast the arrays of a tree to types that vary over these axes, too.

    The transpose of the cast sums over the axes. So the gradient of an operand that is the same on
    all devices is the sum over the devices.
    """
    jax, wanted = load("jax"), tuple(axes)

    def cast_one(array: Any) -> Any:
        missing = tuple(axis for axis in wanted if axis not in _axes(array))
        return jax.lax.pcast(array, missing, to="varying") if missing else array

    return jax.tree.map(cast_one, arrays)


def _axes(array: Any) -> frozenset[Any]:
    kind = load("jax").typeof(array)
    if hasattr(kind, "vma"):  # before JAX 0.10
        return kind.vma
    if hasattr(kind, "manual_axis_type"):
        return kind.manual_axis_type.varying
    # JAX documents the format: float32[2]{V:i}, float32[1]{V:(i,j)}. These names are strs.
    shown = _VARYING.search(str(kind))
    return frozenset(shown[1].split(",") if shown else ())
