"""Divides the parameters of a signature into operands, results and static values.

    f(x: Tensor(…, intent=in), y: Tensor(…, intent=out), s: Tensor(…, intent=inout), c: float32)
    s', y' = f(x, s, c)      x and s are operands, y and s' results, c is static

The arrays in a list, tuple or struct are operands, and everything else in it is static.

This module refuses what XLA cannot pass, before anything is traced.
"""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

from ffi_builder import SpecError, spec
from ffi_builder.extending import ANY, Expr, Result, contiguous, dataclass, linear, variables
from ffi_builder.frameworks.described import Checks, Described
from ffi_builder.frameworks.numbers import Results, check_number

DTYPES: Final = frozenset(
    {
        "bool",
        *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
        *("float16", "bfloat16", "float32", "float64"),
        *("float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"),
        *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
    }
)
"""Dtypes that JAX has and jax-tvm-ffi passes."""

PLATFORMS: Final = {"cpu": "cpu", "cuda": "gpu"}
"""The names of platforms in jax-tvm-ffi, by device type."""

_Parameter = inspect.Parameter
_CONSTANTS: Final = (spec.ConstNone, spec.ConstInt, spec.ConstBool, spec.ConstFloat)
_STATIC: Final = (spec.Var, spec.String, spec.Choice, spec.Shape, spec.List, *_CONSTANTS)
CONTAINERS: Final = (spec.TensorList, spec.TupleParam, spec.Struct)
"""Kinds of parameters that may contain arrays."""


@dataclass(frozen=True)
class Form:
    """A signature, divided into what XLA passes, what it allocates, and what is static.

    Raises:
        SpecError: XLA cannot call such a function; the message says what to change.
    """

    signature: spec.Signature
    results: Results | None = None
    """How numbers are returned."""

    def __post_init__(self) -> None:
        signature = self.signature
        for result in signature.results:
            _check_result(self.what, result, self.results)
        if signature.workspaces:
            names = ", ".join(repr(workspace.name) for workspace in signature.workspaces)
            raise SpecError(
                f"{self.what}: the wrapper allocates the workspaces {names}, but XLA has no "
                f"allocator for it; make each a Tensor parameter with intent='out'"
            )
        for path, param in spec.with_paths(signature.arguments):
            _check_kind(self.what, path, param)
        for param in signature.arguments:
            for path, tensor in tensors_in([param]):
                _check_tensor(f"{self.what}: {path!r}", tensor)
                if tensor.intent != "in" and isinstance(spec.required(param), CONTAINERS):
                    raise SpecError(
                        f"{self.what}: {path!r} is written, but XLA passes no lists of results; "
                        f"make it a parameter of its own"
                    )
        if not signature.results and not any(tensor.intent != "in" for tensor in self.tensors):
            raise SpecError(
                f"{self.what}: nothing is written, and a JAX function is called for its results; "
                f"give what the kernel writes intent='out' or 'inout'"
            )
        devices = {tensor.device for tensor in self.tensors} - {ANY}
        if len(devices) > 1:
            raise SpecError(
                f"{self.what}: tensors on {' and '.join(sorted(devices))}, but XLA passes all "
                f"tensors of a call on one device"
            )
        if self.numbers and "cuda" in devices:
            raise SpecError(
                f"{self.what}: the result {self.numbers[0].name!r} is a number, which is returned "
                f"on the host, but results of XLA are on the device of the tensors, cuda; write it "
                f"into a Tensor with intent='out'"
            )

    @property
    def what(self) -> str:
        """The prefix of errors about the signature."""
        return f"JAX function {self.signature.name!r}"

    @property
    def tensors(self) -> list[spec.Tensor]:
        """The tensors, in the order of the arguments."""
        return [tensor for _, tensor in tensors_in(self.signature.arguments)]

    @functools.cached_property
    def numbers(self) -> list[spec.Var]:
        """The results that are numbers."""
        return [result for result in self.signature.results if isinstance(result, spec.Var)]

    @functools.cached_property
    def device(self) -> str:
        """The device type of the tensors: ``"cpu"``, ``"cuda"`` or ``"any"``."""
        return next((t.device for t in self.tensors if t.device != ANY), ANY)

    @property
    def platforms(self) -> list[str]:
        """The platforms to register the function for, by jax-tvm-ffi's names."""
        if self.numbers:  # code of the host writes them
            return [PLATFORMS["cpu"]]
        return list(PLATFORMS.values()) if self.device == ANY else [PLATFORMS[self.device]]

    @functools.cached_property
    def checks(self) -> Checks:
        """The checks of calls that are traced."""
        return Checks(self.signature, self.signature)

    @functools.cached_property
    def names(self) -> list[str]:
        """The Python names of the arguments, in order; ``from_`` where Python has no ``from``."""
        return [
            f"{param.name}_" if keyword.iskeyword(param.name) else param.name
            for param in self.signature.arguments
        ]

    @functools.cached_property
    def intents(self) -> list[str]:
        """The intent of each argument: ``"in"``, ``"out"``, ``"inout"``, or ``""`` if static.

        What contains arrays has that of the arrays, ``"in"``.
        """
        tensors = [next(tensors_in([param]), None) for param in self.signature.arguments]
        return ["" if each is None else each[1].intent or "" for each in tensors]

    @property
    def of_any_length(self) -> bool:
        """Whether there is a list of arrays whose length only a call tells."""
        lists = [spec.required(param) for _, param in spec.with_paths(self.signature.arguments)]
        return any(isinstance(p, spec.TensorList) and not isinstance(p.length, int) for p in lists)

    @functools.cached_property
    def mixed(self) -> list[str]:
        """The names of the arguments that contain both arrays and static values."""
        return [
            param.name
            for param in self.signature.arguments
            if any(tensors_in([param]))
            and any(
                isinstance(each, (spec.Optional, *_STATIC))
                for path, each in spec.with_paths([param])
                if path != param.name
            )
        ]

    @functools.cached_property
    def python_signature(self) -> inspect.Signature:
        """The parameters of callers. An output is required only if nothing determines its shape."""
        signature = self.signature
        positional: list[_Parameter] = []
        keywords: list[_Parameter] = []
        for name, intent, param in zip(self.names, self.intents, signature.arguments, strict=True):
            default = _Parameter.empty if param.default is spec.MISSING else param.default
            if intent == "out":
                needed = not isinstance(param, spec.Optional) and not self.derived(param)
                default = _Parameter.empty if needed else None
            if intent == "out" or param.kw_only:
                keywords.append(_Parameter(name, _Parameter.KEYWORD_ONLY, default=default))
            else:
                kind = _Parameter.POSITIONAL_OR_KEYWORD
                positional.append(_Parameter(name, kind, default=default))
        return inspect.Signature([*positional, *keywords])

    def derived(self, param: spec.Param) -> bool:
        """Return whether the other arguments determine the shape and dtype of an output."""
        tensor = spec.required(param)
        assert isinstance(tensor, spec.Tensor)
        if tensor.any_rank or None in tensor.dims:
            return False
        if len(tensor.dtypes) > 1 and self.like(tensor) is None:
            return False
        return all(var in self._known for dim in tensor.dims for var in variables(dim))

    def like(self, output: spec.Tensor) -> int | None:
        """Return the position of the operand that determines the dtype of the output, if any.

        If the output names none, this is the first operand that allows the same several dtypes.
        An Optional does not count, as it may be absent.
        """
        alike = [
            index
            for index, param in enumerate(self.signature.arguments)
            if isinstance(param, spec.Tensor)
            and param.intent != "out"
            and len(param.dtypes) > 1
            and param.dtypes == output.dtypes
        ]
        source = output.source("dtype")
        own = [index for index in alike if self.signature.arguments[index] == source]
        return next(iter([*own, *alike]), None)

    @functools.cached_property
    def _known(self) -> frozenset[spec.Var]:
        """The symbols that operands and static values bind, without those in Optionals.

        An empty list of arrays binds none: the call tells.
        """
        entries: list[tuple[object, int]] = []
        for param, intent in zip(self.signature.arguments, self.intents, strict=True):
            if intent != "out" and not isinstance(param, spec.Optional):
                entries += entries_of(param, example(param, optional=False))
        return frozenset(solve(entries))


def tensors_in(params: Sequence[spec.Param]) -> Iterator[tuple[str, spec.Tensor]]:
    """Yield the tensors of parameters, and of what they contain, each with its path."""
    for path, param in spec.with_paths(params):
        match spec.required(param):
            case spec.Tensor() as tensor:
                yield path, tensor
            case spec.TensorList(tensor=tensor):
                yield path, tensor
            case _:
                pass


def _check_result(what: str, result: Result, results: Results | None) -> None:
    match result:
        case spec.Var():
            check_number(what, result, results)
        case spec.Tensor():
            raise SpecError(
                f"{what}: the wrapper makes the result {result.name!r}, but XLA allocates all "
                f"results of a JAX function; make it a Tensor parameter with intent='out'"
            )
        case _:
            raise SpecError(
                f"{what}: the result {result.name!r} is a {type(result).__name__}, which XLA "
                f"cannot return; make a function without it"
            )


def _check_kind(what: str, path: str, param: spec.Param) -> None:
    plain = spec.required(param)
    handle = isinstance(plain, spec.Var) and plain.dtype == "handle"
    if isinstance(plain, (spec.Tensor, *CONTAINERS)):
        return
    if isinstance(plain, _STATIC) and not handle:
        return
    kind = "handle Var" if handle else type(plain).__name__
    hint = "make a function without it"
    if isinstance(plain, spec.Variant):
        hint = "make a function for each of its types"
    elif isinstance(plain, spec.Stream):
        hint = "use an EnvStream, which is XLA's stream in such a call"
    raise SpecError(
        f"{what}: {path!r} is of kind {kind}, but XLA passes tensors, numbers, bools, strs, and "
        f"lists and tuples of these only; {hint}"
    )


def _check_tensor(where: str, tensor: spec.Tensor) -> None:
    if tensor.intent is None:
        raise SpecError(
            f"{where} does not say whether it is read or written; give it intent='in', 'out' or "
            f"'inout'"
        )
    if tensor.device not in (*PLATFORMS, ANY):
        raise SpecError(
            f"{where}: device_type: jax-tvm-ffi passes tensors on cpu and cuda, but got "
            f"{tensor.device!r}"
        )
    if tensor.storage_dtype is not None:
        raise SpecError(
            f"{where}: storage_dtype: JAX has no {tensor.storage_dtype}; pass the bytes as uint8"
        )
    unknown = [dtype for dtype in tensor.dtypes if dtype not in DTYPES]
    if len(unknown) == len(tensor.dtypes):
        raise SpecError(
            f"{where}: dtype: jax-tvm-ffi does not pass {' or '.join(unknown)}; it passes "
            f"{', '.join(sorted(DTYPES))}"
        )
    entries = tensor.stride_entries
    last = entries[-1] if entries else 1
    if (tensor.order == "F" and tensor.ndim != 1) or (isinstance(last, int) and last != 1):
        raise SpecError(
            f"{where}: strides: XLA passes row-major arrays, whose last stride is 1, but the spec "
            f"has strides={tensor.strides!r}; swap the dimensions, and pass x.T"
        )


# ---- sizes


def entries_of(param: spec.Param | None, value: Any) -> Iterator[tuple[object, Any]]:
    """Yield each symbol, dimension and stride of a parameter with its value.

    ``value`` is the argument, with a Described for each array, which is contiguous. A value of
    another type or length yields nothing, or less: the check of the arguments reports it.
    """
    match param:
        case spec.Optional(param=inner):
            yield from entries_of(inner, value)
        case spec.Var() if isinstance(value, int):
            yield param, value
        case spec.Shape() if isinstance(value, tuple):
            entries = cast("tuple[object, ...]", value)
            pairs = zip(param.shape, entries, strict=False)
            yield from (pair for pair in pairs if isinstance(pair[1], int))
        case spec.List() if isinstance(value, tuple):
            yield param.length, len(cast("tuple[object, ...]", value))
        case spec.Tensor() if isinstance(value, Described):
            yield from zip(param.dims, value.shape, strict=False)
            yield from zip(param.stride_entries or (), contiguous(value.shape), strict=False)
        case spec.TensorList() if isinstance(value, tuple):
            items = cast("tuple[object, ...]", value)
            yield param.length, len(items)
            for item in items:
                for entry, size in entries_of(param.tensor, item):
                    if not isinstance(entry, (spec.Var, Expr)) or not (
                        set(variables(entry)) & set(param.each)
                    ):
                        yield entry, size
        case spec.TupleParam(params=params) | spec.Struct(fields=params):
            if isinstance(value, tuple):
                for inner, item in zip(params, cast("tuple[object, ...]", value), strict=False):
                    yield from entries_of(inner, item)
        case _:
            return


def example(param: spec.Param, *, optional: bool = True) -> Any:
    """Return a value in place of an argument, with one element of a list of any length.

    With `optional`, what may be None is present.
    """
    match param:
        case spec.Optional(param=inner):
            return example(inner) if optional else None
        case spec.Tensor():
            return Described((1,) * param.ndim, param.dtypes[0], "cpu")
        case spec.TensorList():
            return (example(param.tensor),) * (param.length if isinstance(param.length, int) else 1)
        case spec.TupleParam(params=params) | spec.Struct(fields=params):
            return tuple(example(each, optional=optional) for each in params)
        case spec.Shape():
            return (1,) * len(param.shape)
        case spec.List():
            return ()
        case spec.ConstNone():
            return None
        case _:
            return 1


def solve(entries: Iterable[tuple[object, Any]]) -> dict[spec.Var, Any]:
    """Return the symbols that the entries bind: those that stand alone, or in ``a * n + b``.

    The first value of a symbol counts. The check of the arguments finds later values that differ,
    and expressions without an integer solution.
    """
    values: dict[spec.Var, Any] = {}
    for entry, value in entries:
        match entry:
            case spec.Var():
                values.setdefault(entry, value)
            case Expr():
                form = linear(entry)
                if form is not None:
                    scale, symbol, offset = form
                    values.setdefault(symbol, (value - offset) // scale)
            case _:
                pass
    return values
