"""Parameters that hold others (tuples, structs, Optionals), their parts, and unions of kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any, ClassVar, Final, TypeAlias, TypeGuard, Union, cast, get_args

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec import params as kinds
from ffi_builder.spec._check import listed, one_of
from ffi_builder.spec.expr import Var
from ffi_builder.spec.lists import List
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.param import Metadata, Named, PlainValues
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.tensor_list import TensorList
from ffi_builder.spec.tensors.workspace import Workspace
from ffi_builder.spec.variant import Variant

DEEPEST: Final = 50
"""The most levels of tuples and structs; the code that reads them is recursive."""
_TUPLE: Final = PlainValues("a tuple", (list,))


@dataclass(frozen=True, repr=False)
class TupleParam(Named):
    """An Array or List with these elements, in this order; they may be tuples themselves.

    Args:
        name: an identifier.
        params: a parameter for each element, in order.

    Raises:
        SpecError: two elements with the same name, an EnvStream, or tuples and structs nested more
            than 50 deep.

    Examples:
        >>> from ffi_builder import spec, testing
        >>> rows, cols = spec.dims("rows cols", "int32")
        >>> tile = spec.TupleParam("tile", [rows, cols])
        >>> testing.check(spec.Signature("transpose", [tile]), (32, 8))
        {'rows': 32, 'cols': 8}
        >>> testing.check(spec.Signature("transpose", [tile]), (32,))
        Traceback (most recent call last):
        ...
        ValueError: Mismatched length of tile on argument #0 when calling: `...`, expected 2
            but got 1
    """

    type_name: ClassVar[str] = "Tuple"
    accepts: ClassVar[PlainValues] = _TUPLE

    params: Sequence[Param]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "params", _elements(self.label, "params", self.params))
        object.__setattr__(self, "_depth", _depth_around(self.label, self.params))

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return f"Tuple({params_text(self.params, device, outline=outline)})"


@dataclass(frozen=True, repr=False)
class Struct(Named):
    """An Array or List whose elements are named fields: errors say ``cfg.alpha``.

    Args:
        name: an identifier.
        fields: a parameter for each field, in order. Its name is the name of the field.
        cls: a dataclass or NamedTuple with these fields in this order, whose instances Python
            callers may pass; None: tuples only. The ABI does not carry it.

    Raises:
        SpecError: two fields with the same name, an EnvStream, a ``cls`` with other fields, or
            tuples and structs nested more than 50 deep.

    Examples:
        >>> from typing import NamedTuple
        >>> from ffi_builder import spec, testing
        >>> class Adam(NamedTuple):
        ...     rate: float
        ...     steps: int
        >>> rate, steps = spec.Var("rate", "float32"), spec.Var("steps", "int32")
        >>> step = spec.Signature("step", [spec.Struct("cfg", [rate, steps], cls=Adam)])
        >>> testing.check(step, Adam(0.5, 100))
        {'rate': 0.5, 'steps': 100}
        >>> testing.check(step, (0.5, 2**40))
        Traceback (most recent call last):
        ...
        ValueError: Mismatched cfg.steps on argument #0 when calling: `...`, expected a value
            that fits int32 (-2147483648 to 2147483647) but got 1099511627776
    """

    accepts: ClassVar[PlainValues] = _TUPLE

    fields: Sequence[Param]
    cls: type | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "fields", _elements(self.label, "fields", self.fields))
        object.__setattr__(self, "_depth", _depth_around(self.label, self.fields))
        if self.cls is not None:
            self._check_class(f"{self.label}: cls", self.cls)

    @property
    def params(self) -> Sequence[Param]:
        """The fields, under the name that a :class:`TupleParam` has for its elements."""
        return self.fields

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return f"Struct({params_text(self.params, device, outline=outline)})"

    def _check_class(self, what: str, cls: type) -> None:
        given = _class_fields(cls)
        if given is None:
            raise SpecError(f"{what}: expected a dataclass or a NamedTuple but got {cls!r}")
        names = [param.name for param in self.fields]
        if given != names:
            raise SpecError(
                f"{what}: {cls.__name__} has the fields {', '.join(given) or 'none'}, but the "
                f"Struct has {', '.join(names) or 'none'}"
            )


def _class_fields(cls: object) -> list[str] | None:
    """Return the names of the fields of a dataclass or NamedTuple; None for anything else."""
    if not isinstance(cls, type):
        return None
    if is_dataclass(cls):
        return [item.name for item in fields(cls)]
    if not issubclass(cls, tuple):  # nodes of ast, for example, have `_fields` too
        return None
    names: Any = getattr(cast("object", cls), "_fields", None)
    return None if names is None else list(names)


@dataclass(frozen=True, repr=False)
class Optional(Metadata):
    """None, or a value that ``param`` accepts.

    If the argument is None, the kernel gets NULL for each pointer and 0 for each number; a
    :class:`Field` ``present`` tells it that the argument is absent. Checks of an absent parameter
    are skipped. A symbol that only absent parameters would bind is 0, and checks that need its
    value are skipped.

    ``default``, ``kw_only`` and ``doc`` are taken from ``param`` unless given.

    Raises:
        SpecError: ``param`` accepts None itself, or is not an argument.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import spec, testing
        >>> n, d = spec.dims("n d")
        >>> with spec.DefaultConfig(device_type="cpu"):
        ...     x = spec.Tensor("x", [n, d], "float32")
        ...     weight = spec.Optional(spec.Tensor("weight", [d], "float32"), default=None)
        >>> rms_norm = spec.Signature("rms_norm", [x, weight])
        >>> testing.check(rms_norm, np.ones((2, 3), "float32"), None)
        {'n': 2, 'd': 3}
        >>> testing.check(rms_norm, np.ones((2, 3), "float32"), np.ones(4, "float32"))
        Traceback (most recent call last):
        ...
        ValueError: Mismatched weight.shape[0] on argument #1 when calling: `...`, expected 3
            (d = x.shape[1]) but got 4
    """

    param: Param

    def __post_init__(self) -> None:
        given: object = self.param
        if not is_param(given):
            raise SpecError(
                f"Optional: expected a parameter such as Tensor('x', …) but got {given!r}"
            )
        what, word = f"Optional {given.name!r}", type(given).__name__
        kind = f"an {word}" if word[0] in "AEIOU" else f"a {word}"
        if isinstance(given, HIDDEN):
            raise SpecError(f"{what}: {kind} is not an argument")
        if isinstance(given, kinds.VarArgs):
            raise SpecError(f"{what}: VarArgs may be none at all; leave the Optional out")
        takes_none = (Optional, kinds.Any, kinds.ConstNone, kinds.DataPointer, kinds.Stream)
        if isinstance(given, takes_none):
            raise SpecError(f"{what}: {kind} takes None already")
        self._check_metadata(what)
        self._inherit(given)

    @property
    def name(self) -> str:
        """The name of the parameter."""
        return self.param.name

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return f"Optional({self.param.type_text(device, outline=outline)})"


Plain: TypeAlias = Union[
    Var,
    Tensor,
    TupleParam,
    Struct,
    TensorList,
    List,
    kinds.Shape,
    kinds.Stream,
    kinds.EnvStream,
    Workspace,
    kinds.DataPointer,
    Variant,
    kinds.Constant,
    kinds.Value,
]
"""Every kind of parameter but :class:`Optional`.

Examples:
    >>> from ffi_builder import spec
    >>> from ffi_builder.spec.composite import Plain
    >>> mask = spec.Optional(spec.Tensor("mask", [64], "bool", device_type="cpu"))
    >>> plain: Plain = spec.required(mask)
"""

Param: TypeAlias = Union[Plain, Optional]
"""Every kind of parameter.

Examples:
    A tool that shows each parameter in its own way:

    >>> from ffi_builder import spec
    >>> def shown(param: spec.Param) -> str:
    ...     match param:
    ...         case spec.Optional():
    ...             return f"[{shown(param.param)}]"
    ...         case spec.Tensor():
    ...             return f"{param.name}, of {param.ndim} dimensions"
    ...         case _:
    ...             return param.name
    >>> shown(spec.Optional(spec.Tensor("mask", [64, 64], "bool", device_type="cpu")))
    '[mask, of 2 dimensions]'
"""

HIDDEN: Final = (kinds.EnvStream, Workspace)
"""The kinds of parameters that callers do not pass.

Examples:
    >>> from ffi_builder import spec
    >>> from ffi_builder.spec.composite import HIDDEN
    >>> x = spec.Tensor("x", [1024], "float32", device_type="cuda")
    >>> relu = spec.Signature("relu", [x, spec.EnvStream("stream")])
    >>> [param.name for param in relu.params if not isinstance(param, HIDDEN)]
    ['x']
"""

PARAM_TYPES: Final = cast("tuple[type[Metadata], ...]", get_args(Param))
"""The classes in :data:`Param`.

Examples:
    >>> from ffi_builder import spec
    >>> from ffi_builder.spec.composite import PARAM_TYPES
    >>> isinstance(spec.Stream("stream"), PARAM_TYPES)
    True
"""


def is_param(value: object) -> TypeGuard[Param]:
    """Return whether ``value`` is a :data:`Param`."""
    return isinstance(value, PARAM_TYPES)


def required(param: Param) -> Plain:
    """Return the parameter that an Optional holds, or any other parameter itself.

    Raises:
        SpecError: ``param`` is no parameter.

    Examples:
        >>> from ffi_builder import spec
        >>> eps = spec.Var("eps", "float32")
        >>> spec.required(spec.Optional(eps)) is eps, spec.required(eps) is eps
        (True, True)
    """
    if isinstance(param, Optional):
        return required(param.param)
    if not isinstance(cast("object", param), Metadata):
        raise SpecError(
            f"required: expected a parameter, of which it returns what an Optional holds, but got "
            f"{param!r}; conditions of calls go into where= of a Signature"
        )
    return param


def takes_more(arguments: Sequence[Param]) -> bool:
    """Return whether the last of all arguments are VarArgs.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.composite import takes_more
        >>> takes_more([spec.Var("n", "int64"), spec.VarArgs("rest")]), takes_more([])
        (True, False)
    """
    return bool(arguments) and isinstance(arguments[-1], kinds.VarArgs)


def elements(param: Param, path: str) -> Iterator[tuple[str, Param]]:
    """Yield the elements of a tuple or struct, each with its path in error messages.

    Paths are ``cfg[0]`` or ``cfg.alpha``, where ``path`` is ``cfg``. For an Optional, yields the
    elements of the parameter that it holds; for a Variant, the parameters that are no numbers:
    ``cfg.tensor``. Other parameters have no elements.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.composite import elements
        >>> alpha, beta = spec.dims("alpha beta", "float32")
        >>> cfg = spec.Struct("cfg", [alpha, beta])
        >>> [path for path, _ in elements(cfg, "cfg")]
        ['cfg.alpha', 'cfg.beta']
    """
    match required(param):
        case TupleParam(params=params):
            yield from ((f"{path}[{index}]", element) for index, element in enumerate(params))
        case Struct(fields=params):
            yield from ((f"{path}.{element.name}", element) for element in params)
        case Variant(parts=parts):
            yield from ((f"{path}.{p}", e) for p, e in parts.items() if not isinstance(e, Var))
        case _:
            return


def with_paths(params: Sequence[Param]) -> Iterator[tuple[str, Param]]:
    """Yield every parameter with its path in error messages, and elements after their container.

    Examples:
        >>> from ffi_builder import spec
        >>> rows, cols, alpha = spec.dims("rows cols alpha")
        >>> params = [spec.TupleParam("tile", [rows, cols]), spec.Struct("cfg", [alpha])]
        >>> [path for path, _ in spec.with_paths(params)]
        ['tile', 'tile[0]', 'tile[1]', 'cfg', 'cfg.alpha']
    """
    for param in params:
        yield from _with_elements(param.name, param)


def _with_elements(path: str, param: Param) -> Iterator[tuple[str, Param]]:
    yield path, param
    for inner_path, element in elements(param, path):
        yield from _with_elements(inner_path, element)


def params_text(
    params: Sequence[Param], device: str | None = None, *, outline: bool = False
) -> str:
    """Return ``name: type`` of each parameter, with commas; see :meth:`Metadata.type_text`."""
    return ", ".join(param_text(param, device, outline=outline) for param in params)


def param_text(param: Param, device: str | None = None, *, outline: bool = False) -> str:
    """Return ``name: type`` of a parameter, or ``*rest: Any``."""
    star = "*" if isinstance(param, kinds.VarArgs) else ""
    return f"{star}{param.name}: {param.type_text(device, outline=outline)}"


def _elements(label: str, what: str, params: object) -> tuple[Param, ...]:
    checked = check_params(f"{label}: {what}", params)
    for param in checked:
        if isinstance(param, HIDDEN):
            role = "a field of a struct" if what == "fields" else "an element of a tuple"
            raise SpecError(
                f"{label}: {type(param).__name__} {param.name!r} is not an argument, so it cannot "
                f"be {role}; put it into the parameter list itself"
            )
        if isinstance(param, kinds.VarArgs):
            raise SpecError(
                f"{label}: VarArgs {param.name!r} are the last arguments of a function; for a "
                f"value of any type, take Any, and for a list Array"
            )
    return checked


def _depth_around(label: str, params: Sequence[Param]) -> int:
    """Return the levels of nesting of a tuple or struct with these elements."""
    inner = max((getattr(required(param), "_depth", 0) for param in params), default=0)
    if inner >= DEEPEST:
        raise SpecError(
            f"{label}: tuples and structs may be nested at most {DEEPEST} deep; make fewer levels"
        )
    return int(inner) + 1


def check_params(what: str, params: object) -> tuple[Param, ...]:
    """Return ``params`` as a tuple, if all are parameters with different names."""
    hint = "; put it into a list" if isinstance(params, PARAM_TYPES) else ""
    given = listed(what, params, "a list of parameters", PARAM_TYPES, hint)
    seen: dict[str, int] = {}
    checked: list[Param] = []
    for index, param in enumerate(given):
        if not is_param(param):
            hint = (
                f" (the class {param.__name__} itself: give it a name, as in "
                f"{param.__name__}('x', …))"
                if isinstance(param, type)
                else ""
            )
            raise SpecError(
                f"{what}[{index}]: expected a parameter such as Tensor or Var but got "
                f"{param!r}{hint}"
            )
        if param.name in seen:
            raise SpecError(
                f"{what}: two parameters are named {param.name!r}, at {seen[param.name]} and "
                f"{index}; names must differ"
            )
        seen[param.name] = index
        checked.append(param)
    return tuple(checked)


@dataclass(frozen=True)
class Field:
    """A part of a parameter, as an argument for a callee (see the ``args=`` of call providers).

    Args:
        param: an Optional, a Tensor, a TensorList, a List, a Variant, a String, Bytes or VarArgs.
        part: for an Optional, ``present``: a bool, whether the argument is not None. For a Tensor,
            ``dtype`` (the ``DLDataType``, 32 bits), ``device_type``, ``device_id``, ``ndim`` (32
            bits each) or ``dltensor`` (the ``DLTensor*``). For a TensorList, ``pointers`` (a
            ``void**``), ``shapes`` and ``strides`` (an ``int64_t*`` each), arrays in the memory of
            the host that are valid during the call, or ``length``. For a List, ``data``, a pointer
            to its elements, or ``length``; for VarArgs likewise. For a String or Bytes, ``data`` (a
            pointer), ``length``, in bytes, or ``c_str``: a pointer to text that ends in a NUL, as C
            has it. A List of these has ``c_str`` too: a ``const char *const *``, behind whose
            elements is a NULL. A List of lists has ``pointers``, ``lengths`` (an ``int64_t *``) and
            ``length``, a Map of numbers ``keys``, ``values`` and ``length``. For a Variant,
            ``which``, the number of the parameter that came, an int32, and ``int``, ``float`` and
            ``bool``, its numbers, which are 0 if they did not come.
        dtype: the integer as which a ``length`` is passed. A call whose length does not fit it is
            a ValueError.

    Raises:
        SpecError: the parameter has no such part, or the part no such dtype.

    Examples:
        >>> from ffi_builder import providers, spec, testing
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n], ("float16", "float32"), device_type="cpu")
        >>> bias = spec.Optional(spec.Tensor("bias", [n], "float32", device_type="cpu"))
        >>> add_bias = spec.Signature("add_bias", [x, bias])
        >>> args = [x, spec.Field(x, "dtype"), bias, spec.Field(bias, "present"), n]
        >>> wrapper = testing.emit(add_bias, providers.DirectCallProvider("kernel", args=args))
        >>> [line] = [line for line in wrapper.splitlines() if "call @kernel" in line]
        >>> line.rpartition(" : ")[2]
        '(!llvm.ptr, i32, !llvm.ptr, i1 {llvm.zeroext}, i64) -> ()'
    """

    param: Param
    part: str
    dtype: str = "int64"

    def __post_init__(self) -> None:
        given: object = self.param
        if not is_param(given):
            raise SpecError(f"Field: expected a parameter such as Tensor('x', …) but got {given!r}")
        parts = parts_of(given)
        if not parts:
            raise SpecError(
                f"{given.label}: part: a {type(given).__name__} has no parts, but got {self.part!r}"
            )
        if self.part == "present" and "present" not in parts:
            raise SpecError(
                f"{given.label}: part: only an Optional has the part 'present'; this is always "
                f"present"
            )
        one_of(f"{given.label}: part", self.part, parts)
        one_of(f"{given.label}: dtype", self.dtype, tuple(INT_RANGES))
        if self.dtype != "int64" and self.part != "length":
            raise SpecError(
                f"{given.label}: dtype: only a length is passed as another integer, but the part "
                f"is {self.part!r}"
            )

    def __str__(self) -> str:
        return f"{self.param.name}.{self.part}"


_PARTS_OF_LISTS: Final[dict[type, tuple[str, ...]]] = {
    Var: ("data", "length"),
    **dict.fromkeys((kinds.String, kinds.Bytes), ("data", "length", "c_str")),
    List: ("pointers", "lengths", "length"),
}


def parts_of(param: Param) -> tuple[str, ...]:
    """Return the ``part`` values that a :class:`Field` of this parameter may have.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.spec.composite import parts_of
        >>> parts_of(spec.Tensor("x", ..., "float32", device_type="cpu"))
        ('dtype', 'device_type', 'device_id', 'ndim', 'dltensor')
    """
    present = ("present",) if isinstance(param, Optional) else ()
    match required(param):
        case Tensor():
            return (*present, "dtype", "device_type", "device_id", "ndim", "dltensor")
        case TensorList():
            return (*present, "pointers", "shapes", "strides", "length")
        case kinds.Map(key=str()):
            return (*present, "keys", "values", "length")
        case kinds.VarArgs():
            return "data", "length"
        case List() as items:
            return (*present, *_PARTS_OF_LISTS[type(items.element)])
        case kinds.String() | kinds.Bytes():
            return (*present, "data", "length", "c_str")
        case Variant(parts=parts):
            numbers = (part for part, each in parts.items() if isinstance(each, Var))
            return (*present, "which", *numbers)
        case _:
            return present
