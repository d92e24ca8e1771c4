"""Divides the arguments of one call into operands, static values and given outputs.

An argument that contains arrays, such as a list of them, becomes two trees of tuples: its arrays,
which JAX sees as one operand, and its static values, with ``ARRAY`` in place of each array::

    (x, 3, None)    ──►    (x, None, None)  and  (ARRAY, 3, None)
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, cast

from ffi_builder import spec
from ffi_builder.extending import NAMES, dataclass, elements
from ffi_builder.frameworks.jax.form import CONTAINERS, Form
from ffi_builder.frameworks.jax.target import load


class _Array:
    def __repr__(self) -> str:
        return "ARRAY"


ARRAY: Final = _Array()
"""Stands for an array among static values."""


@dataclass(frozen=True)
class Static:
    """A static value. Two are equal if they have the same type and the same repr.

    ``==`` does not tell 0.0 from -0.0, or 1 from True, so JAX would call the code that was compiled
    for the other value.
    """

    value: Any = field(compare=False)
    key: tuple[type, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", (type(self.value), repr(self.value)))


@dataclass(frozen=True)
class Call:
    """All of a call but its arrays, as a key of JAX's caches.

    Each pair starts with the index of an argument.
    """

    statics: tuple[tuple[int, Static], ...]
    outputs: tuple[tuple[int, Any], ...]
    """A ``jax.ShapeDtypeStruct`` for each output whose shape the caller gives."""

    def keywords(self, form: Form) -> dict[str, Any]:
        """Return the static values and given outputs by name, for the author's rules."""
        given = {index: static.value for index, static in self.statics if not form.intents[index]}
        return {
            form.names[index]: value for index, value in {**given, **dict(self.outputs)}.items()
        }


def bind(form: Form, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], Call]:
    """Divide the arguments of a call into the operands and the rest. An absent operand is None.

    Raises:
        TypeError: too few or too many arguments, an unknown name, an operand that is not an array,
            or a traced value where a static one is needed.
    """
    try:
        bound = form.python_signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{form.signature.name}(): {error}") from None
    bound.apply_defaults()
    operands: list[Any] = []
    statics: list[tuple[int, Static]] = []
    outputs: list[tuple[int, Any]] = []
    for index, (name, intent) in enumerate(zip(form.names, form.intents, strict=True)):
        value = bound.arguments[name]
        param = form.signature.arguments[index]
        if not intent:
            statics.append((index, Static(_split(form, name, param, value)[1])))
        elif intent == "out":
            if value is not None:
                outputs.append((index, _described(form, name, value)))
        elif isinstance(spec.required(param), CONTAINERS):
            arrays, rest = _split(form, name, param, value)
            operands.append(arrays)
            statics.append((index, Static(rest)))
        elif value is None and isinstance(param, spec.Optional):
            operands.append(None)
        else:
            operands.append(_array(form, name, value))
    return operands, Call(tuple(statics), tuple(outputs))


def _split(form: Form, path: str, param: spec.Param, value: Any) -> tuple[Any, Any]:
    """Divide an argument into its arrays and the rest."""
    plain = spec.required(param)
    if value is None:
        return None, None
    if isinstance(plain, spec.Tensor) or (
        isinstance(plain, CONTAINERS) and isinstance(value, _arrays())
    ):
        return _array(form, path, value), ARRAY
    items = _items(plain, value)
    if items is None:
        return None, _static(form, path, plain, value)
    pairs = [
        _split(form, *inner, item)
        for inner, item in zip(_elements(plain, path), items, strict=False)
    ]
    # The check of the arguments says that there are more. What they are does not matter.
    more = [(None, 0)] * (len(items) - len(pairs))
    arrays, rest = zip(*pairs, *more, strict=True) if items else ((), ())
    return tuple(arrays), tuple(rest)


def _items(param: spec.Param, value: Any) -> list[Any] | None:
    """Return what a list, tuple or struct contains; None for anything else."""
    if not isinstance(param, CONTAINERS):
        return None
    if isinstance(value, (tuple, list)):
        return list(cast("Sequence[Any]", value))
    if dataclasses.is_dataclass(value) and isinstance(param, spec.Struct):
        return [getattr(value, each.name) for each in dataclasses.fields(value)]
    return None


def _elements(param: spec.Param, path: str) -> Iterable[tuple[str, spec.Param]]:
    if isinstance(param, spec.TensorList):
        return ((f"{path}[{index}]", param.tensor) for index in itertools.count())
    return elements(param, path)


def _arrays() -> tuple[type, ...]:
    """The types of arrays."""
    numpy = load("numpy")
    return (load("jax").Array, numpy.ndarray, numpy.generic)


def _array(form: Form, name: str, value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex)):
        return value
    if isinstance(value, _arrays()):
        _check_dtype(form, name, value)
        return value
    kind = cast("type[object]", type(value))
    actual = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    cure = f"; pass jax.numpy.from_dlpack({name})" if hasattr(kind, "__dlpack__") else ""
    raise TypeError(
        f"{form.signature.name}(): {name!r} expects an array of JAX or NumPy, or a number, but got "
        f"{actual}{cure}"
    )


def _check_dtype(form: Form, name: str, value: Any) -> None:
    """Refuse a dtype that no tensor has, such as that of the keys of ``jax.random``."""
    shown = str(value.dtype)
    if shown in NAMES:
        return
    dtypes = load("jax").dtypes
    if value.dtype == dtypes.float0:
        shown = f"float0, which has no values; pass jax.numpy.zeros({name}.shape)"
    elif dtypes.issubdtype(value.dtype, dtypes.prng_key):
        shown = f"{shown}; pass jax.random.key_data({name})"
    raise TypeError(
        f"{form.signature.name}(): {name!r} expects a dtype that DLPack has, but got {shown}"
    )


def _described(form: Form, name: str, value: Any) -> Any:
    """Return the shape and dtype of an output; anything that has both may be given."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise TypeError(
            f"{form.signature.name}(): the output {name!r} expects its shape and dtype, as "
            f"jax.ShapeDtypeStruct(shape, dtype), but got {type(value).__name__}"
        )
    try:
        made = load("jax").ShapeDtypeStruct(value.shape, value.dtype)
    except TypeError as error:
        raise TypeError(f"{form.signature.name}(): the output {name!r}: {error}") from None
    _check_dtype(form, name, made)
    return made


def _static(form: Form, name: str, param: spec.Param, value: Any) -> Any:
    """Return a static value as a plain Python value, which the wrapper's checks then look at."""
    jax = load("jax")
    if isinstance(value, jax.core.Tracer):
        raise TypeError(
            f"{form.signature.name}(): {name!r} is static, since XLA passes it as an attribute of "
            f"the call, but got a traced value of {str(jax.typeof(value)).lstrip('~')}; name it in "
            f"static_argnames= of jax.jit, close over it, or make it a Tensor of the kernel"
        )
    plain = spec.required(param)
    if isinstance(value, enum.Enum):
        by_name = isinstance(plain, spec.Choice) and not isinstance(value.value, str)
        return value.name if by_name else value.value
    if isinstance(plain, (spec.Shape, spec.List)) and isinstance(value, (tuple, list)):
        items = cast("tuple[object, ...]", value)
        return tuple(_static(form, name, _ENTRY, item) for item in items)
    if isinstance(value, _arrays()):
        if value.shape != ():
            raise TypeError(
                f"{form.signature.name}(): {name!r} is static, so it expects a value of Python, "
                f"but got an array of shape {value.shape}; pass {name}.tolist()"
            )
        return value.item()
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return value
    return operator.index(value)


_ENTRY: Final = spec.Var("entry", "int64")
"""The parameter for one entry of a Shape or List."""
