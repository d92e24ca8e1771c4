"""Finds the arguments that fields are taken from: the ``x`` of ``dtype="x.dtype"``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ffi_builder.errors import SpecError
from ffi_builder.spec import composite
from ffi_builder.spec.composite import Param
from ffi_builder.spec.places import every
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.workspace import Workspace
from ffi_builder.suggest import did_you_mean


def with_known_dtypes(what: str, params: Sequence[Param]) -> Sequence[Param]:
    """Return the parameters, with ``x`` stored in each tensor of ``dtype="x.dtype"``.

    Parameters without such a tensor are returned as the same objects.

    Raises:
        SpecError: ``x`` is not a tensor that every call checks before this one, or has a
            ``storage_dtype``.
    """
    inner = (composite.required(param) for _, param in composite.with_paths(params))
    if not any(isinstance(each, Tensor) and each.references for each in inner):
        return params
    arguments = _Arguments(what, params)
    return tuple(arguments.known(param.name, param, always=True) for param in params)


class _Arguments:
    """Goes through the arguments in the order of the checks."""

    def __init__(self, what: str, params: Sequence[Param]) -> None:
        self._what, self._params = what, params
        self._before: dict[str, Tensor] = {}
        """The tensors before this argument that every call has, by path."""

    def known(self, path: str, param: Param, *, always: bool) -> Param:
        """Return a parameter whose tensors store the tensor that their dtype is taken from."""
        match param:
            case composite.Optional(param=inner):
                made = self.known(path, inner, always=False)
                return param if made is inner else replace(param, param=made)
            case composite.TupleParam() | composite.Struct():
                inner = [
                    self.known(*each, always=always) for each in composite.elements(param, path)
                ]
                if all(new is old for new, old in zip(inner, param.params, strict=True)):
                    return param
                name = "params" if isinstance(param, composite.TupleParam) else "fields"
                return replace(param, **{name: inner})
            case Tensor() if not isinstance(param, Workspace):
                if "dtype" in param.references:
                    source = self._source(path, param.references["dtype"])
                    param = param.with_sources({"dtype": source})
                if always:
                    self._before[path] = param
                return param
            case _:
                return param

    def _source(self, path: str, given: str) -> Tensor:
        where = f"{self._what}: {path}: dtype: {given}.dtype"
        if given in self._before:
            return _checked(where, "dtype", given, self._before[given])
        _always_there(where, given, self._params, [*self._before], "before it")
        hint = f"swap the two, or let {given} take {path}.dtype"
        if given == path:
            hint = "name another tensor, or say its dtypes"
        raise SpecError(f"{where}: {given} is not checked before {path}; {hint}")


def with_sources(what: str, tensor: Tensor, params: Sequence[Param]) -> Tensor:
    """Return a tensor to allocate, with the arguments that it takes fields from stored in it.

    ``params`` are the parameters that :func:`with_known_dtypes` returned.

    Raises:
        SpecError: there is no such argument, it may be absent, or the field cannot be taken.
    """
    if not tensor.references:
        return tensor
    known = [
        path for path, param in _arguments(params) if isinstance(composite.required(param), Tensor)
    ]
    sources: dict[str, Tensor] = {}
    for name, path in tensor.references.items():
        where = f"{what}: {name}: {path}.{name}"
        source = _always_there(where, path, params, known)
        sources[name] = _checked(where, name, path, source)
    return tensor.with_sources(sources)


def _arguments(params: Sequence[Param]) -> Iterator[tuple[str, Param]]:
    return composite.with_paths(
        [param for param in params if not isinstance(param, composite.HIDDEN)]
    )


def _always_there(
    where: str, path: str, params: Sequence[Param], tensors: Sequence[str], which: str = ""
) -> Tensor:
    """Return the tensor at a path; errors list ``tensors`` as the ones to choose from."""
    source = dict(_arguments(params)).get(path)
    if source is None or not isinstance(composite.required(source), Tensor):
        among = f"the arguments {which}".rstrip()
        raise SpecError(
            f"{where}: expected a Tensor among {among}: {', '.join(tensors) or 'none'}"
            f"{did_you_mean(path, tensors)}"
        )
    source = {item.path: item.param for item in every(params) if not item.optional}.get(path)
    if not isinstance(source, Tensor):
        raise SpecError(f"{where}: {path} may be absent; expected a Tensor that is always there")
    return source


def _checked(where: str, name: str, path: str, source: Tensor) -> Tensor:
    """Return the tensor that holds the value of the field, if ``source`` can provide it."""
    if source.storage_dtype is not None and name != "device_type":
        raise SpecError(
            f"{where}: {path} has a storage_dtype, so its {name} is not the one that came; say "
            f"it yourself"
        )
    return source.source(name) or source
