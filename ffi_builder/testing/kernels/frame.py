"""The arguments of calls, with guarded copies of the given or made tensors."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, Protocol, TypeVar, cast, runtime_checkable

from ffi_builder import spec
from ffi_builder.extending import contiguous, elements, parse_dtype
from ffi_builder.testing.kernels.elements import Generator, float_bits, make
from ffi_builder.testing.kernels.guarded import Guarded, read
from ffi_builder.testing.make import devices
from ffi_builder.testing.make.arrays import Array, FakeArray, check_framework, numpy
from ffi_builder.testing.make.parts import alignments_of

np: Final = numpy()

_T = TypeVar("_T")
Relayout = Callable[[str, spec.Tensor, Array], Array]
"""Returns a tensor's array with another layout, given the path, the parameter and the array."""
_MOST: Final = 16
"""The greatest number of elements of a tensor that errors show completely."""


@runtime_checkable
class Functions(Protocol):
    """Functions by name: a compiled or loaded module."""

    def __getitem__(self, name: str, /) -> Callable[..., Any]: ...


def function_of(
    compiled: Callable[..., Any] | Functions, signature: spec.Signature
) -> Callable[..., Any]:
    """Return the function itself, or the function of a module that has the signature's name."""
    return compiled[signature.name] if isinstance(compiled, Functions) else compiled


class Frame:
    """Arguments for a signature, with every tensor in guarded memory.

    All calls get the same objects; only the contents of the memory change between them.

    Args:
        signature: what the function accepts.
        arguments: one for each of ``signature.arguments``. They are copied, and not changed.
        framework: makes the tensors; None for the framework of each given tensor.
        relayout: replaces the given strides and alignment.

    Raises:
        ValueError: an unknown framework, a wrong number of arguments or elements, or a tensor that
            is neither on the CPU nor on a fake device.
    """

    def __init__(
        self,
        signature: spec.Signature,
        arguments: Sequence[Any],
        framework: str | None,
        relayout: Relayout = lambda path, tensor, array: array,
    ) -> None:
        if framework is not None:
            check_framework("", framework)
        self.signature = signature
        self.tensors: list[Guarded] = []
        """The tensors, in the order of the parameters; absent ones are left out."""
        self._framework, self._relayout = framework, relayout
        self._alignments = alignments_of(signature)
        self.arguments = map_tensors(self.signature, arguments, self._tensor)

    @property
    def outputs(self) -> list[Guarded]:
        """The tensors that a call writes."""
        return [tensor for tensor in self.tensors if tensor.intent in ("out", "inout")]

    def randomize(
        self, kind: str, random: Generator, *, limits: bool = False, kept: Collection[str] = ()
    ) -> None:
        """Give new contents to all tensors except those at or inside the paths ``kept``.

        Random elements of one tensor of float64 or complex128 are fine, so that a kernel that
        computes in float32 is found, unless an output has a narrower float: its tolerance is for
        sums without rounding. See :func:`~ffi_builder.testing.kernels.elements.make`.
        """
        inside = tuple(f"{path}{mark}" for path in kept for mark in ".[")
        new = [t for t in self.tensors if t.path not in kept and not t.path.startswith(inside)]
        for tensor in new:
            tensor.give(make(tensor.dtype, tensor.array.shape, kind, random, limits=limits))
        wide = [t for t in new if t.intent != "out" and float_bits(t.dtype) == 64]
        if kind == "random" and wide and not self._has_narrow_outputs():
            tensor = wide[int(random.integers(len(wide)))]
            shape = tensor.array.shape
            tensor.give(make(tensor.dtype, shape, kind, random, limits=limits, fine=True))

    def _has_narrow_outputs(self) -> bool:
        """Return whether an output has floats of less than 64 bits."""
        narrow = range(1, 64)
        if any(float_bits(tensor.dtype) in narrow for tensor in self.outputs):
            return True
        results = (r for r in self.signature.results if isinstance(r, (spec.Var, spec.Tensor)))
        names = [(r.dtype,) if isinstance(r, spec.Var) else r.element_dtypes for r in results]
        return any(all(float_bits(parse_dtype(n)) in narrow for n in each) for each in names)

    def write_given(self) -> None:
        """Write its given contents into every tensor, and zeros into outputs that are not read."""
        for tensor in self.tensors:
            tensor.prepare(tensor.given * (tensor.intent != "out"), 0)

    def read_given(self) -> None:
        """Make the current contents of the tensors their given contents."""
        for tensor in self.tensors:
            tensor.given = tensor.read()

    def with_tensors(self, of: Callable[[Guarded], Any]) -> list[Any]:
        """Return the arguments with other objects in place of the tensors."""
        made = map(of, self.tensors)
        return map_tensors(
            self.signature, self.arguments, lambda _path, _tensor, _value: next(made)
        )

    def _tensor(self, path: str, tensor: spec.Tensor, value: Any) -> Any:
        alignment = max(tensor.data_alignment or 0, self._alignments.get(path, 0)) or None
        array, contents = read(path, value, alignment)
        placed = self._relayout(path, tensor, array)
        framework = self._framework or _framework_of(value)
        made = Guarded(tensor, placed, contents, framework, len(self.tensors))
        self.tensors.append(made)
        return made.tensor


def call(function: Callable[..., Any], signature: spec.Signature, arguments: Iterable[Any]) -> Any:
    """Call a function, and wait for fake devices. What a kernel raises there comes first.

    Keyword-only arguments are passed by keyword if the function has keyword-only parameters.
    """
    try:
        return _called(function, signature, arguments)
    finally:
        devices.settle()


def _called(
    function: Callable[..., Any], signature: spec.Signature, arguments: Iterable[Any]
) -> Any:
    pairs = list(_named(signature, list(arguments)))
    keywords = [value for param, value in pairs if param.kw_only]
    names = _keyword_only(function) if keywords else []
    if len(names) != len(keywords):
        return function(*(value for _, value in pairs))
    positional = [value for param, value in pairs if not param.kw_only]
    return function(*positional, **dict(zip(names, keywords, strict=True)))


def _keyword_only(function: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # it does not say
        return []
    return [param.name for param in parameters if param.kind is param.KEYWORD_ONLY]


def _framework_of(value: Any) -> str:
    if isinstance(value, FakeArray):
        return "numpy"
    module = type(value).__module__.partition(".")[0]
    return module if module in ("numpy", "torch") else "tvm_ffi"


def map_tensors(
    signature: spec.Signature, arguments: Sequence[Any], of: Callable[[str, spec.Tensor, Any], Any]
) -> list[Any]:
    """Return the arguments with ``of(path, tensor, value)`` in place of each tensor."""

    def replaced(path: str, param: spec.Param, value: Any) -> Any:
        plain = spec.required(param)
        if value is None and plain is not param:
            return None
        if isinstance(plain, spec.Variant):
            inner = dict(elements(plain, path)).get(f"{path}.tensor")
            is_tensor = isinstance(value, FakeArray) or hasattr(value, "__dlpack__")
            return (
                value
                if inner is None or not is_tensor
                else replaced(f"{path}.tensor", inner, value)
            )
        if isinstance(plain, spec.Tensor):
            return of(path, plain, value)
        if isinstance(plain, (spec.TupleParam, spec.Struct)):
            pairs = _zipped(path, list(elements(plain, path)), _items(value))
            return _rebuilt(value, [replaced(*element, item) for element, item in pairs])
        if isinstance(plain, spec.TensorList):
            items = enumerate(_items(value))
            return tuple(of(f"{path}[{index}]", plain.tensor, item) for index, item in items)
        return value

    return [replaced(param.name, param, value) for param, value in _named(signature, arguments)]


def _named(signature: spec.Signature, arguments: Sequence[Any]) -> Iterable[tuple[spec.Param, Any]]:
    """Return each value with its parameter, which VarArgs are for any number of values."""
    params = list(signature.arguments)
    if params and isinstance(params[-1], spec.VarArgs):
        params[-1:] = [params[-1]] * (len(arguments) - len(params) + 1)
    return _zipped(signature.name, params, arguments)


def _zipped(path: str, params: Sequence[_T], values: Sequence[Any]) -> Iterable[tuple[_T, Any]]:
    if len(params) != len(values):
        raise ValueError(f"{path} takes {len(params)} values but {len(values)} are given")
    return zip(params, values, strict=True)


def _items(value: Any) -> list[Any]:
    """Return the elements of a tuple, a list, an Array, or a dataclass."""
    names = _fields(value)
    return list(value) if names is None else [getattr(value, name) for name in names]


def _rebuilt(value: Any, items: list[Any]) -> Any:
    """Return a value of the same class with other elements."""
    names = _fields(value)
    if names is not None:
        return dataclasses.replace(value, **dict(zip(names, items, strict=True)))
    make = getattr(cast("object", value), "_make", tuple[Any, ...])  # of a NamedTuple
    return make(items)


def _fields(value: Any) -> list[str] | None:
    """Return the names of the fields of a dataclass; None for anything else."""
    if not dataclasses.is_dataclass(cast("object", value)):
        return None
    return [field.name for field in dataclasses.fields(value)]


# ---- texts


def shown_arguments(frame: Frame) -> str:
    """Return a line for each argument: its name, and its value or its layout and elements."""
    texts = frame.with_tensors(lambda tensor: _Text(_shown(tensor)))
    pairs = _named(frame.signature, texts)
    return "\n".join(f"  {param.name} = {text!r}" for param, text in pairs) or "  none"


class _Text(str):
    """A text that is its own repr, also within a tuple."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _shown(tensor: Guarded) -> str:
    array = tensor.array
    text = f"{array.dtype}{list(array.shape)}"
    if array.strides != contiguous(array.shape, "C"):
        text += f" with strides {list(array.strides)}"
    if array.least_aligned:
        text += f" aligned to {array.least} bytes alone"
    if tensor.intent == "out":
        return text
    return f"{text}: {shown_values(tensor.values(tensor.given))}"


def shown_values(array: Any) -> str:
    """Return the values of an array as one line, shortened if there are many."""
    text = np.array2string(array, threshold=_MOST, edgeitems=3, separator=", ")
    return " ".join(text.split()).replace("[ ", "[")
