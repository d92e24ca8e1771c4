"""Values of one of several types: a number or a tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeGuard, Union, cast, get_args

from typing_extensions import override

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import listed
from ffi_builder.spec.expr import Var
from ffi_builder.spec.numbers import FLOAT_DTYPES, NUMBER_DTYPES
from ffi_builder.spec.param import Metadata
from ffi_builder.spec.params import Array, Bytes, Device, DType, String
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.workspace import Workspace

Alternative: TypeAlias = Union[Var, Tensor, String, Bytes, DType, Device, Array]
"""What a :class:`Variant` may hold."""
_TYPES: Final = cast("tuple[type, ...]", get_args(Alternative))
_WORDS: Final = {
    Tensor: "Tensor",
    String: "str",
    Bytes: "bytes",
    DType: "dtype",
    Device: "device",
    Array: "list",
}


@dataclass(frozen=True, repr=False)
class Variant(Metadata):
    """A value of one of several types, as ``Variant<double, Tensor>`` of TVM-FFI.

    The parameters have one name, that of the Variant. The type index of the argument decides: the
    parameter of its own type is chosen, else the first that converts it, such as a float for an
    int. Then the argument is checked as that parameter; a number in a Variant is no symbol.

    The kernel gets an int32, the number of the chosen parameter from 0 on, then what it would get
    for each of the parameters, with NULL and 0 for those that did not come. The number is -1 if the
    Variant is in an Optional that is None.

    ``default``, ``kw_only`` and ``doc`` are those of the first parameter that has them unless
    given.

    Args:
        params: two or more parameters: numbers, and at most one each of Tensor, String, Bytes,
            DType, Device and Array.

    Raises:
        SpecError: another kind of parameter, different names, two parameters that take values of
            one type, limits of a number, or a tensor that takes its dtype from another argument.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import spec, testing
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n], "float32", device_type="cpu")
        >>> scales = spec.Tensor("scale", [n], "float32", device_type="cpu")
        >>> scale = spec.Variant([spec.Var("scale", "float64"), scales])
        >>> scaled = spec.Signature("scaled", [x, scale])
        >>> ones = np.ones(3, "float32")
        >>> testing.check(scaled, ones, 0.5), testing.check(scaled, ones, ones)
        ({'n': 3}, {'n': 3})
        >>> testing.check(scaled, ones, "0.5")
        Traceback (most recent call last):
        ...
        TypeError: Mismatched type of scale on argument #1 when calling: `...`, expected float or
            Tensor but got str
    """

    params: Sequence[Alternative]

    def __post_init__(self) -> None:
        params = listed("Variant", self.params, "a list of parameters", (Metadata,))
        what = "Variant"
        for param in params:
            if not _is_alternative(param):
                raise SpecError(
                    f"{what}: expected numbers, Tensors, Strings, Bytes, DTypes, Devices and "
                    f"Arrays but got {param!r}; an Optional goes around the Variant"
                )
            what = f"Variant {param.name!r}"
        alternatives = cast("tuple[Alternative, ...]", tuple(params))
        if len(alternatives) < 2:
            raise SpecError(f"{what}: expected two or more parameters but got {len(alternatives)}")
        names = list(dict.fromkeys(param.name for param in alternatives))
        if len(names) > 1:
            raise SpecError(f"{what}: expected one name but got {' and '.join(map(repr, names))}")
        object.__setattr__(self, "params", alternatives)
        for number, param in enumerate(alternatives):
            _check(what, param)
            for other in alternatives[:number]:
                if word_of(other) == word_of(param):
                    raise SpecError(
                        f"{what}: {_shown(other)} and {_shown(param)} are both of type "
                        f"{word_of(param)}, so a call cannot tell them apart; leave one out"
                    )
        self._check_metadata(what)
        for param in alternatives:
            self._inherit(param)

    @property
    def name(self) -> str:
        """The name of the parameter."""
        return self.params[0].name

    @property
    def parts(self) -> Mapping[str, Alternative]:
        """The parameters by their names in ``args=``: ``float`` for ``scale.float``, ``tensor``."""
        return {word_of(param).lower(): param for param in self.params}

    @property
    def text(self) -> str:
        """The types, as errors show them: ``int, float or Tensor``."""
        *before, last = map(word_of, self.params)
        return f"{', '.join(before)} or {last}"

    @override
    def type_text(self, device: str | None = None, *, outline: bool = False) -> str:
        return f"Variant({', '.join(p.type_text(device, outline=outline) for p in self.params)})"


def word_of(param: Alternative) -> str:
    """Return the type that decides for a parameter: ``int``, ``bool``, ``float``, ``Tensor``, …."""
    if not isinstance(param, Var):
        return _WORDS[type(param)]
    if param.dtype in FLOAT_DTYPES:
        return "float"
    return "int" if param.is_integer else "bool"


def _is_alternative(param: object) -> TypeGuard[Alternative]:
    return isinstance(param, _TYPES) and not isinstance(param, Workspace)


def _check(what: str, param: Alternative) -> None:
    """Refuse what a parameter has no use for in a Variant."""
    match param:
        case Var(dtype=dtype) if dtype not in NUMBER_DTYPES:
            raise SpecError(f"{what}: a {dtype} takes None, so it cannot be in a Variant")
        case Var() if any(param.constraints()):
            raise SpecError(f"{what}: {param!r} has limits, and a number in a Variant is no symbol")
        case Tensor() if param.references:
            [given, *_] = (getattr(param, name) for name in param.references)
            raise SpecError(f"{what}: a tensor in a Variant takes nothing from {given!r}")
        case _:
            pass


def _shown(param: Any) -> str:
    return param.type_text() if isinstance(param, Var) else type(param).__name__
