"""Writes the Python functions of an operator, which allocate its results and call the function.

They are generated, since general Python code would cost more than the call. For the functional form
of ``add(x: Tensor([n], float32, intent=in), y: Tensor([n * 2], float32, intent=out))``::

    def add(x):
        if isinstance(x, __i_Proxy): return __i_doubt
        try:
            __i_symbol_n = x.shape[0]
            __i_tensor_y = x.new_empty(((__i_symbol_n * 2),))
        except Exception:
            __i_blame(x)
            raise
        __i_result = __i_call(x, __i_tensor_y)
        if __i_result is __i_doubt: return __i_doubt
        return __i_tensor_y

Names begin with ``__i_``, which no name of an argument does, and those of the signature's tensors
and symbols with ``__i_tensor_`` and ``__i_symbol_``: an output may be called ``result``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

from ffi_builder import SpecError, spec
from ffi_builder.extending import ANY, Expr, make_plan, variables
from ffi_builder.frameworks.torch import _torch
from ffi_builder.frameworks.torch.interface import Argument, Interface
from ffi_builder.frameworks.torch.symbols import PREFIX, symbol_sources

Function: TypeAlias = Callable[..., Any]
_TENSOR: Final = f"{PREFIX}tensor_"
_SYMBOL: Final = f"{PREFIX}symbol_"
DOUBT: Final = object()
"""Returned by a function that did not make the call: the operator has to be called instead."""

_OF_TORCH: Final = (
    *("empty", "empty_like", "empty_strided", "scalar_tensor", "Tensor", "is_grad_enabled"),
)
_OWN: Final = (
    *("host", "Proxy", "is_proxy", "first", "requires_grad", "tensors_in", "device_in"),
    "are_ordinary",
)
"""Names of PyTorch, and of `_torch`, that the written functions use."""


class Writer:
    """Writes functions that take the arguments of an operator.

    Raises:
        SpecError: the size, dtype or device of a tensor to allocate is not known.
    """

    def __init__(self, interface: Interface, checks: Function, blame: Function) -> None:
        """Write functions for an interface.

        `checks` raises an error for wrong arguments. `blame` does the same after an allocation has
        failed.
        """
        self._interface = interface
        self._scope: dict[str, Any] = {
            **{f"{PREFIX}{name}": getattr(_torch.torch, name) for name in _OF_TORCH},
            **{f"{PREFIX}{name}": getattr(_torch, name) for name in _OWN},
            f"{PREFIX}checks": checks,
            f"{PREFIX}blame": blame,
        }
        self._used: dict[str, str] = {}
        """The symbols used so far, with the lines that define them."""
        self._allocations = self._allocating()
        """The lines that allocate or copy what the functional form returns."""

    @cached_property
    def _symbols(self) -> dict[str, str]:
        """The symbols that every call binds, each with an expression for its value."""
        return dict(symbol_sources(make_plan(self._interface.checked), self._interface))

    def calling(
        self, function: Function, *, careful: bool = False, recorded: Function | None = None
    ) -> Function:
        """Write a function that allocates, calls `function`, and returns outputs and results.

        A `careful` function gets keyword-only arguments by keyword. If it returns `DOUBT`, so does
        the result. `recorded` is called instead of all that where a gradient is wanted, if torch
        sees no more in the arguments.
        """
        scope: dict[str, Any] = {f"{PREFIX}call": function}
        values = ", ".join(self._values(by_name=careful))
        lines = [f"{PREFIX}result = {PREFIX}call({values})"]
        if careful:
            lines.append(f"if {PREFIX}result is {PREFIX}doubt: return {PREFIX}doubt")
            scope[f"{PREFIX}doubt"] = DOUBT
        returned = [*self._returned(), *self._results(f"{PREFIX}result")]
        first = self._blaming(self._allocations)
        if careful and first:
            first.insert(0, self._leaving_proxies())
        if recorded is not None:
            first.insert(0, self._recording())
            scope[f"{PREFIX}recorded"] = recorded
        return self._made(first, lines, returned, scope)

    def _results(self, returned: str) -> list[str]:
        """Return expressions for what a call has returned, numbers as tensors."""
        results = self._interface.signature.returns
        if not isinstance(results, Sequence):
            return [] if results is None else [self._result(results, returned)]
        if not self._interface.numbers:
            return [f"*{returned}"]
        return [self._result(each, f"{returned}[{at}]") for at, each in enumerate(results)]

    def _result(self, result: object, value: str) -> str:
        if not isinstance(result, spec.Var):
            return value
        return f"{PREFIX}scalar_tensor({value}, dtype={self._dtype_of(result)}, device='cpu')"

    def _dtype_of(self, number: spec.Var) -> str:
        """Return an expression for the dtype of a number as a tensor."""
        what = f"{self._interface.what}: {number.name!r}"
        self._scope[f"{PREFIX}dtype_{number.name}"] = _torch.dtype_of(what, number.dtype)
        return f"{PREFIX}dtype_{number.name}"

    def passing(self, function: Function) -> Function:
        """Write a function that passes all arguments on by position, defaults too."""
        names = ", ".join(argument.name for argument in self._interface.given)
        return self._made([], [], [f"{PREFIX}call({names})"], {f"{PREFIX}call": function})

    def _recording(self) -> str:
        """Return the line that calls `recorded` if a gradient is wanted."""
        given = self._interface.given
        tensors = [argument for argument in given if argument.tensor]
        lists = [argument.name for argument in given if argument.described and not argument.tensor]
        required = " or ".join(
            [
                *(
                    f"isinstance({a.name}, {PREFIX}Tensor) and {a.name}.requires_grad"
                    for a in tensors
                ),
                *(f"{PREFIX}requires_grad({name})" for name in lists),
            ]
        )
        inner = [f"*{PREFIX}tensors_in({name})" for name in lists]
        conditions = [
            f"{PREFIX}is_grad_enabled()",
            f"({required})",
            # A tensor for a number would lose its gradient.
            *(f"not isinstance({a.name}, {PREFIX}Tensor)" for a in given if not a.tensor),
            f"{PREFIX}are_ordinary({', '.join([*(a.name for a in tensors), *inner])})",
        ]
        names = ", ".join(argument.name for argument in given)
        return f"if {' and '.join(conditions)}: return {PREFIX}recorded({names})"

    def _leaving_proxies(self) -> str:
        """Return the line that leaves proxies of `torch.fx` to the operator.

        Otherwise `torch.fx` would trace the code that reads sizes.
        """
        proxies = " or ".join(
            f"isinstance({argument.name}, {PREFIX}Proxy)"
            if argument.tensor or not argument.described
            else f"{PREFIX}is_proxy({argument.name})"
            for argument in self._interface.given
        )
        return f"if {proxies}: return {PREFIX}doubt"

    def _blaming(self, lines: list[str]) -> list[str]:
        """Return the lines that read the arguments; if they fail, the wrapper's error is raised."""
        lines = [*self._used.values(), *lines]
        if not lines:
            return []
        handler = ["except Exception:", f"    {self._checking('blame')}", "    raise"]
        return ["try:", *(f"    {line}" for line in lines), *handler]

    def _checking(self, function: str) -> str:
        given = sorted(self._interface.given, key=lambda argument: argument.number)
        return f"{PREFIX}{function}({', '.join(argument.name for argument in given)})"

    def _values(self, *, by_name: bool) -> list[str]:
        """Return the arguments of the compiled function."""
        passed = sorted(self._interface.arguments, key=lambda a: by_name and a.kw_only)
        return [
            f"{argument.name}={self._value(argument)}"
            if by_name and argument.kw_only
            else self._value(argument)
            for argument in passed
        ]

    def allocating(self) -> Function:
        """Write a function that checks the arguments, and allocates and returns all outputs."""
        lines = [*self._allocations]
        results: list[str] = []
        for result in self._interface.signature.results:
            if isinstance(result, spec.Tensor):
                number = len(self._interface.arguments)
                lines.append(self._allocation(result.name, number, result))
            else:
                assert isinstance(result, spec.Var)
                lines.append(self._number(result))
            results.append(f"{_TENSOR}{result.name}")
        returned = [*self._returned(), *results]
        return self._made([self._checking("checks"), *self._used.values()], lines, returned, {})

    def _made(
        self, first: list[str], lines: list[str], returned: list[str], scope: dict[str, Any]
    ) -> Function:
        interface = self._interface
        if returned:
            one = len(returned) == 1 and not returned[0].startswith("*")
            lines = [*lines, f"return {''.join(returned) if one else _tuple(returned)}"]
        body = "".join(f"    {line}\n" for line in [*first, *lines] or ["pass"])
        source = f"def {PREFIX}made({', '.join(self._arguments())}):\n{body}"
        scope = {**self._scope, **scope}
        exec(compile(source, f"<operator {interface.signature.name}>", "exec"), scope)
        made = scope[f"{PREFIX}made"]
        made.__name__ = made.__qualname__ = interface.signature.name  # Python's errors show it
        return made

    def _arguments(self) -> Iterator[str]:
        """Yield the parameters, with defaults: torch leaves out arguments that equal them."""
        by_position = True
        for argument in self._interface.given:
            if argument.kw_only and by_position:
                by_position = False
                yield "*"
            if argument.parameter.has_default:
                self._scope[f"{PREFIX}default_{argument.name}"] = argument.parameter.default
                yield f"{argument.name}={PREFIX}default_{argument.name}"
            else:
                yield argument.name

    def _returned(self) -> list[str]:
        if not self._interface.functional:
            return []
        return [f"{_TENSOR}{argument.name}" for argument in self._interface.written]

    def _value(self, argument: Argument) -> str:
        made = self._interface.functional and argument.written
        return f"{_TENSOR}{argument.name}" if made else argument.name

    def _allocating(self) -> list[str]:
        lines: list[str] = []
        for argument in self._interface.written if self._interface.functional else ():
            tensor = argument.tensor
            assert tensor is not None
            if argument.given:
                lines.append(f"{_TENSOR}{argument.name} = {argument.name}.clone()")
            else:
                lines.append(self._allocation(argument.name, argument.number, tensor))
        return lines

    def _allocation(self, name: str, number: int, tensor: spec.Tensor) -> str:
        """Return the line that allocates a tensor, which may use the arguments up to `number`."""
        what = f"{self._interface.what}: {name!r}"
        made = f"{_TENSOR}{name} = "
        sources = self._sources(tensor)
        if tensor.any_rank and "shape" not in sources:
            raise SpecError(f"{what}: its shape is ..., so its size is not known: form='mutating'")
        dtype = sources.get("dtype") or self._dtype(what, name, tensor)
        device = sources.get("device_type") or self._device(what, tensor)
        options = f", dtype={dtype}, device={device}"
        if "shape" in sources:
            return f"{made}{PREFIX}empty({sources['shape']}{options})"
        alike = list(self._alike(number, tensor, dtype, device))
        for like in alike:
            if like.tensor and _same_layout(like.tensor, tensor):
                return f"{made}{PREFIX}empty_like({like.name})"  # by far the fastest way
        new = PREFIX
        if alike:
            new, options = f"{alike[0].name}.new_", ""  # faster than passing options
        sizes = [self._size(what, tensor, axis, dim) for axis, dim in enumerate(tensor.dims)]
        shape = _tuple(sizes)
        if tensor.order == "C":
            return f"{made}{new}empty({shape}{options})"
        strides = _tuple(self._strides(tensor, sizes))
        return f"{made}{new}empty_strided({shape}, {strides}{options})"

    def _number(self, number: spec.Var) -> str:
        """Return the line that makes a tensor for a number, of which no value is known."""
        tensors = ", ".join(a.name for a in self._interface.given if a.described)
        return (
            f"{_TENSOR}{number.name} = {PREFIX}empty((), dtype={self._dtype_of(number)}, "
            f"device={PREFIX}host({tensors}))"
        )

    def _sources(self, tensor: spec.Tensor) -> dict[str, str]:
        """Return expressions for the fields that a tensor takes from arguments of the operator."""
        names = {argument.param.name: argument.name for argument in self._interface.given}
        return {
            field: f"{names[path]}.{'device' if field == 'device_type' else field}"
            for field, path in tensor.references.items()
            if path in names
        }

    def _alike(
        self, number: int, tensor: spec.Tensor, dtype: str, device: str
    ) -> Iterator[Argument]:
        """Yield the arguments that have the same dtype and device whenever they are valid.

        They precede the tensor, so that the wrapper reports their errors first.
        """
        for argument in self._interface.given:
            like = argument.tensor
            if like is None or argument.optional or argument.number > number:
                continue
            one_dtype = len(like.element_dtypes) == 1
            same_dtype = one_dtype and like.element_dtypes == tensor.element_dtypes
            same_device = tensor.source("device_type") is None and like.device == tensor.device
            if (same_dtype or dtype == f"{argument.name}.dtype") and (
                same_device or device == f"{argument.name}.device"
            ):
                yield argument

    def _size(self, what: str, tensor: spec.Tensor, axis: int, dim: spec.Dim | None) -> str:
        if dim is None or not self._known(dim):
            raise SpecError(
                f"{what}: nothing that is given tells its size shape[{axis}] = {dim}; use "
                f"form='mutating', where callers allocate it"
            )
        text = self._text(dim)
        return text if axis != tensor.packed_axis else f"{text} // {tensor.packing}"

    def _strides(self, tensor: spec.Tensor, sizes: list[str]) -> list[str]:
        axes = range(tensor.ndim)
        if tensor.order == "F":
            return ["*".join(sizes[:axis]) or "1" for axis in axes]
        strides: list[str] = []
        for axis, entry in enumerate(tensor.stride_entries or ()):
            if entry is None or not self._known(entry):  # any stride fits: use row-major
                strides.append("*".join(f"({size})" for size in sizes[axis + 1 :]) or "1")
            elif tensor.packing > 1 and axis != tensor.packed_axis:
                strides.append(f"{self._text(entry)} // {tensor.packing}")
            else:
                strides.append(self._text(entry))
        return strides

    def _dtype(self, what: str, name: str, tensor: spec.Tensor) -> str:
        dtypes, source = tensor.element_dtypes, tensor.source("dtype")
        if len(dtypes) > 1:
            given = [argument for argument in self._interface.given if not argument.optional]
            alike = [each for each in given if each.tensor and each.tensor.element_dtypes == dtypes]
            for argument in (*(each for each in alike if each.tensor == source), *alike):
                return f"{argument.name}.dtype"
            raise SpecError(
                f"{what}: nothing that is given tells which of its dtypes it has: "
                f"{', '.join(dtypes)}; use form='mutating'"
            )
        self._scope[f"{PREFIX}dtype_{name}"] = _torch.dtype_of(what, next(iter(dtypes)))
        return f"{PREFIX}dtype_{name}"

    def _device(self, what: str, tensor: spec.Tensor) -> str:
        for argument in self._interface.given:
            like = argument.tensor
            if like is not None and not argument.optional and like.device == tensor.device:
                return f"{argument.name}.device"
        for argument in self._interface.given:
            like = argument.described
            if like is not None and not argument.tensor and like.device == tensor.device:
                default = None if tensor.device == ANY else _torch.device_name(tensor.device)
                return f"{PREFIX}device_in({argument.name}, {argument.name!r}, {default!r})"
        if tensor.device == ANY:
            raise SpecError(f"{what}: nothing that is given tells its device; use form='mutating'")
        return repr(_torch.device_name(tensor.device))

    def _known(self, dim: spec.Dim) -> bool:
        return all(var.name in self._symbols for var in variables(dim))

    def _text(self, dim: spec.Dim) -> str:
        match dim:
            case int():
                return str(dim)
            case spec.Var(name=name):
                self._used[name] = f"{_SYMBOL}{name} = {self._symbols[name]}"
                return f"{_SYMBOL}{name}"
            case Expr("ceildiv", lhs, rhs):
                return f"(-(-{self._text(lhs)} // {self._text(rhs)}))"
            case Expr(("max" | "min") as op, lhs, rhs):
                self._scope[f"{PREFIX}{op}"] = getattr(_torch.torch, f"sym_{op}")
                return f"{PREFIX}{op}({self._text(lhs)}, {self._text(rhs)})"
            case Expr(op, lhs, rhs):
                return f"({self._text(lhs)} {op} {self._text(rhs)})"


def _same_layout(like: spec.Tensor, tensor: spec.Tensor) -> bool:
    """Return whether two tensors have the same sizes, and are row-major."""
    same = like.dims == tensor.dims and None not in tensor.dims
    return same and not like.any_rank and like.order == tensor.order == "C"


def _tuple(items: Sequence[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
