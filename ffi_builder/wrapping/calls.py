"""How a kernel with a prototype is called, and what has to be checked before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    HalideCallProvider,
)
from ffi_builder.providers.arguments import CONSTANTS, LIST_PARTS
from ffi_builder.spec.composite import elements
from ffi_builder.spec.functions import variables
from ffi_builder.spec.numbers import INT_RANGES
from ffi_builder.spec.places import occurrences
from ffi_builder.wrapping.prototype import (
    DLTENSOR,
    HALIDE_BUFFER,
    CType,
    Prototype,
    bound_args,
    llvm_type,
)

if TYPE_CHECKING:
    from ffi_builder.providers.arguments import Entry

_BYTES: Final = ("int8", "uint8")
"""What a pointer points to that may point to anything, as ``char *``."""
_BITS: Final = {"uint16": ("float16", "bfloat16")}
"""Integers as which C handles floats that it lacks."""
_BY_POSITION: Final = (
    "The signature has none of the kernel's names, so arguments go by position; args=[…] lists "
    "them in another order"
)
_EXPRESSION: Final = r"[A-Za-z_].*[-+*/%(]|[-+*/%(].*[A-Za-z_]"
_OBJECTS: Final = (spec.Object, spec.Function, spec.Array, spec.Map)
_UNWRITTEN: Final = ("cls", "default", "doc", "kw_only")
"""Fields of parameters that the text of a signature does not keep."""


def called(
    declared: Prototype, signature: spec.Signature, args: Sequence[Entry] | None
) -> tuple[spec.Signature, CallProvider]:
    """Return a signature that checks what the prototype's types need, and a provider.

    An integer that the kernel returns is a status, unless it is a result of the signature.

    Raises:
        BuildError: as :func:`bound`; the kernel returns what nobody takes.
    """
    signature, args = bound(declared, signature, args)
    buffers = any(type_.opaque == HALIDE_BUFFER for _, type_ in declared.params)
    provider = (HalideCallProvider if buffers else DirectCallProvider)(declared.name, args=args)
    tensors = {tensor.name for tensor in signature.result_tensors}
    passed = {entry for entry in args or () if isinstance(entry, str)} | tensors
    result = declared.result
    returned = [each for each in signature.results if each.name not in passed]
    match returned:
        case [spec.Var(name, dtype)] if result and _llvm_type(dtype) != result.llvm:
            raise BuildError(
                f"{declared.name} returns {result}, but the result {name!r} is {dtype}: declare "
                f"`-> {name}: {result.dtype or 'handle'}`"
            )
        case _:
            pass
    if result is None or returned:
        return signature, provider
    if result.is_pointer or not re.match("u?int", result.dtype or ""):
        raise BuildError(
            f"{declared.name} returns {result}, which the signature lacks: "
            f"{'drop it by prototype=' + repr('void …') + ', or ' if result.is_pointer else ''}"
            f"add a result, as in `-> r: {'handle' if result.is_pointer else result.dtype}`"
        )
    return signature, provider if buffers else CheckStatus(provider)


def _llvm_type(dtype: str) -> str:
    """Return the type of a returned number or pointer."""
    return "ptr" if dtype == "handle" else llvm_type(dtype)


def check_same(given: Prototype, known: Prototype, who: str) -> None:
    """Raise BuildError if a prototype differs from the types that are known otherwise.

    A pointer may be dropped: Numba's LLVM IR returns one from functions without a result.
    """
    drops = given.result is None and known.result is not None and known.result.is_pointer
    of_given = [*(type_ for _, type_ in given.params), given.result]
    of_known = [*(type_ for _, type_ in known.params), None if drops else known.result]
    if len(of_given) != len(of_known) or not all(map(_fit, of_given, of_known)):
        says, defines = (
            f"({', '.join(map(str, types[:-1]))}) -> {types[-1] or 'void'}"
            for types in (of_given, of_known)
        )
        raise BuildError(f"{given.name}: prototype= says {says}, but {who} {defines}")


def _fit(first: CType | None, second: CType | None) -> bool:
    """Return whether two types are passed alike, and not known to point to other numbers."""
    if first is None or second is None or first.llvm != second.llvm:
        return first is second
    if first.opaque != second.opaque and None not in (first.to, second.to):
        return False
    dtypes = {each.dtype for each in (first, second) if each.dtype not in (None, *_BYTES)}
    return not first.is_pointer or len(dtypes) < 2 or any(_BITS.get(f"{d}") for d in dtypes)


def bound(
    declared: Prototype,
    signature: spec.Signature,
    args: Sequence[Entry] | None,
    apart: tuple[type[spec.Param], ...] = (),
) -> tuple[spec.Signature, Sequence[Entry] | None]:
    """Return a signature that checks what the prototype's types need, and the arguments.

    Parameters of the kernel get the parameter, symbol or result of their name. A size that the
    kernel takes as a narrower integer gets that integer's range. Parameters of the kinds ``apart``
    are not passed to the kernel unless ``args`` has them.

    Raises:
        BuildError: the prototype's types differ from those of the signature; the signature lacks
            some of its names.
    """
    params = {path: spec.required(param) for path, param in spec.with_paths(signature.params)}
    sizes = symbols(signature)
    if args is None:
        results = [result.name for result in signature.results]
        args = bound_args(declared, [*params, *sizes, *results])
    known = {**sizes, **params, **{each.name: each for each in signature.result_tensors}}
    numbers = {each.name: each for each in signature.results if isinstance(each, spec.Var)}
    inner = [each for each in signature.params if not isinstance(spec.required(each), apart)]
    entries = [each.name for each in inner] if args is None else list(args)
    entries += [
        tensor.name for tensor in signature.result_tensors if not _mentions(entries, tensor.name)
    ]
    passed = [each for entry in entries for each in _passed(entry, known)]
    try:
        _check_count(declared, passed)
        _check_outputs(declared, entries, signature)
        checks = _Checks(declared.name, params, numbers)
        for (own, type_), (entry, item) in zip(declared.params, passed, strict=True):
            checks.check(own, type_, entry, item)
    except BuildError as error:
        raise (error if args is not None else BuildError(f"{error}. {_BY_POSITION}")) from None
    unwritten = {name: {"intent": "in"} for name in checks.only_read(signature)}
    return with_conditions(signature.with_params(**unwritten), checks.conditions()), args


def _mentions(entries: Iterable[object], name: str) -> bool:
    """Return whether an entry is a parameter of that name, or a part of it."""
    named = (each if isinstance(each, str) else getattr(each, "name", "") for each in entries)
    return any(re.match(rf"{re.escape(name)}(?!\w)", each) for each in named)


def _passed(entry: object, known: Mapping[str, spec.Param]) -> Iterator[tuple[object, object]]:
    """Yield the C arguments of an entry of ``args=``, each as a name and what is passed.

    That is a parameter, a number, or the entry itself if it is another text, such as ``x.data``.
    """
    item = known.get(entry, entry) if isinstance(entry, str) else entry
    path = entry if isinstance(entry, str) else getattr(entry, "name", entry)
    match spec.required(item) if isinstance(item, spec.Optional) else item:
        case spec.TupleParam() | spec.Struct() as composite:
            for inner, element in elements(composite, str(path)):
                yield from _passed(inner, {inner: element})
        case spec.String() | spec.Bytes() as text:
            yield from ((path, text), (f"{path}'s length", None))
        case spec.TensorList() as tensors:
            yield from ((f"{path}.{part}", tensors) for part in LIST_PARTS)
        case spec.Shape(shape=sizes):
            yield from (
                (f"{path}[{at}]", each)
                for at, each in enumerate(sizes)
                if not isinstance(each, int)
            )
        case plain if not isinstance(plain, CONSTANTS):
            yield path, plain
        case _:
            return


class _Checks:
    """Compares the parameters of a prototype with what is passed, and collects what to check."""

    def __init__(
        self, function: str, params: Mapping[str, spec.Param], numbers: Mapping[str, spec.Var]
    ) -> None:
        self.function, self.numbers = function, numbers
        self.scalars = {each.name for each in params.values() if isinstance(each, spec.Var)}
        self.narrow = dict[str, str]()
        self.ranges = list[str]()
        self.read, self.written = set[str](), set[str]()

    def check(self, own: str, type_: CType, entry: object, item: object) -> None:
        """Compare a parameter with a C argument. Raises BuildError."""
        what = f"{self.function}: parameter {own or entry} is {type_}"
        if isinstance(item, spec.Tensor):
            _check_tensor(what, type_, item)
            (self.read if type_.is_const else self.written).add(item.name)
        elif isinstance(item, spec.Var) and item.dtype != "handle":
            _check_number(what, type_, item.name)
            if item.name not in self.scalars and _is_narrower(type_, item.dtype):
                self.narrow[item.name] = f"{type_.dtype}"
            elif llvm_type(item.dtype) != type_.llvm:
                raise BuildError(
                    f"{what}, but {item.name!r} is {item.dtype}: declare `{item.name}: "
                    f"{type_.dtype}`"
                )
        elif isinstance(item, _OBJECTS):
            _check_object(what, type_, item)
        elif isinstance(item, (spec.String, spec.Bytes)):
            if type_.is_pointer and type_.to not in (None, *_BYTES):
                raise BuildError(f"{what}, but {item.name!r} is passed as the address of bytes")
        elif isinstance(item, spec.TensorList):
            _check_list(what, type_, f"{entry}")
        elif isinstance(entry, str) and entry in self.numbers:
            _check_result(what, type_, self.numbers[entry])
        elif isinstance(item, (int, float)):
            _check_number(what, type_, item)
            _check_constant(what, type_, item)
        elif isinstance(item, str) and re.search(_EXPRESSION, item) and not type_.is_pointer:
            if INT_RANGES.get(f"{type_.dtype}", (-1, 0))[0] == 0:
                self.ranges.append(f"0 <= {item}")  # the provider checks the other end
        elif entry is None and not type_.is_pointer:
            raise BuildError(f"{what}, and None is NULL")

    def conditions(self) -> list[str]:
        """Return what the signature has to check, as text."""
        return [*self.ranges, *(f"{name}: {dtype}" for name, dtype in self.narrow.items())]

    def only_read(self, signature: spec.Signature) -> list[str]:
        """Return the tensors of unknown intent that the kernel gets by const pointers alone."""
        return [
            param.name
            for param in signature.params
            if isinstance(param, spec.Tensor)
            and param.intent is None
            and param.name in self.read - self.written
        ]


def _check_constant(what: str, type_: CType, number: float) -> None:
    """Raise BuildError for a constant that the kernel's type does not hold."""
    low, high = INT_RANGES.get(f"{type_.dtype}", (0, 0))
    is_int = type_.dtype in INT_RANGES
    if is_int != isinstance(number, int) or (is_int and not low <= number <= high):
        raise BuildError(f"{what}, which is not {number!r}: write a number of that type")


def _check_count(declared: Prototype, passed: Sequence[tuple[object, object]]) -> None:
    """Raise BuildError for another number of arguments."""
    count = len(declared.params)
    if len(passed) == count:
        return
    params = ", ".join(f"{name or '_'}: {type_}" for name, type_ in declared.params)
    names = ", ".join(f"{name}" for name, _ in passed)
    is_struct = any(type_.to and type_.to.startswith("struct ") for _, type_ in declared.params)
    raise BuildError(
        f"{declared.name} takes {count} parameters ({params}), but {len(passed)} are passed "
        f"({names}): "
        + (
            "the fields of a Struct are passed one by one; let a function in C take them and make "
            "the struct"
            if is_struct and count < len(passed)
            else "write args=[…] with an entry for each, which may be a size; None passes NULL"
        )
    )


def _check_outputs(
    declared: Prototype, entries: Sequence[object], signature: spec.Signature
) -> None:
    """Raise BuildError for a tensor that the kernel is said to write, and does not get."""
    for path, param in spec.with_paths(signature.params):
        tensor = spec.required(param)
        is_written = isinstance(tensor, spec.Tensor) and tensor.intent in ("out", "inout")
        if (
            is_written
            and not _mentions(entries, path)
            and re.split(r"[.[]", path)[0] not in entries
        ):
            raise BuildError(
                f"{declared.name} gets no pointer to {path!r}, of which the signature says that it "
                f"is written: pass it, or leave it out of the signature"
            )


def _check_object(what: str, type_: CType, param: spec.Param) -> None:
    """Raise BuildError if an object of TVM-FFI is passed for something else."""
    if not type_.is_pointer or type_.to is None or "TVMFFI" in type_.to:
        return
    cure = (
        f"; declare `{param.name}: handle`, for which callers pass "
        f"ctypes.cast(callback, ctypes.c_void_p), or let a function in C call TVMFFIFunctionCall"
    )
    raise BuildError(
        f"{what}, but {param.name!r} is passed as an object of TVM-FFI, which is a `void *` in C"
        f"{cure if isinstance(param, spec.Function) else ''}"
    )


def _check_list(what: str, type_: CType, path: str) -> None:
    """Raise BuildError if a part of a list of tensors is passed for something else."""
    expected = "a pointer" if path.endswith(".pointers") else "int64"
    is_length = path.endswith(".length")
    if is_length == type_.is_pointer or (type_.to not in (None, expected)):
        words = "the number of tensors" if is_length else f"a pointer to {expected}"
        raise BuildError(f"{what}, but {path!r} is passed as {words}")


def _check_number(what: str, type_: CType, number: object) -> None:
    if type_.is_pointer:
        raise BuildError(
            f"{what}, but {number!r} is a number; None passes NULL, and a tensor of rank 0, as "
            f"`a: Tensor([], float64)`, the address of a number"
        )


def symbols(signature: spec.Signature) -> dict[str, spec.Var]:
    """Return the sizes and strides in a signature, by their names."""
    uses = occurrences(signature.params)
    return {variable.name: variable for _, entry in uses for variable in variables(entry)}


def _is_narrower(type_: CType, dtype: str) -> bool:
    if type_.dtype not in INT_RANGES or dtype not in INT_RANGES:
        return False
    return INT_RANGES[type_.dtype][1] < INT_RANGES[dtype][1]


def with_conditions(signature: spec.Signature, conditions: Sequence[str]) -> spec.Signature:
    """Return the signature with more conditions, and dtypes of symbols, as text."""
    if not conditions:
        return signature
    text = str(signature)
    more = ", ".join(conditions)
    parsed = spec.Signature.parse(f"{text}{', ' if ' where ' in text else ' where '}{more}")
    unwritten = {
        each.name: {field: getattr(each, field) for field in _UNWRITTEN if hasattr(each, field)}
        for each in (*signature.params, *signature.results)
    }
    return replace(parsed.with_params(**unwritten), doc=signature.doc)


def _check_result(what: str, type_: CType, result: spec.Var) -> None:
    """Raise BuildError if the kernel does not write a number of the result's dtype by a pointer."""
    if not type_.is_pointer or type_.is_const or type_.opaque is not None:
        raise BuildError(f"{what}, but the kernel writes the result {result.name!r} by a pointer")
    if type_.dtype not in (None, *_BYTES, result.dtype) and result.dtype != "handle":
        raise BuildError(
            f"{what}, but the result {result.name!r} is {result.dtype}: declare "
            f"`-> {result.name}: {type_.dtype}`"
        )


def _check_tensor(what: str, type_: CType, tensor: spec.Tensor) -> None:
    """Raise BuildError if no pointer is passed, or one to other elements, or for other accesses."""
    if not type_.is_pointer:
        raise BuildError(f"{what}, but {tensor.name!r} is a tensor, which is passed as a pointer")
    if type_.opaque == DLTENSOR and not tensor.any_rank:
        raise BuildError(
            f"{what}, which a tensor of any rank is passed as: declare `{tensor.name}: Tensor(..., "
            f"{tensor.dtypes[0]})`, or pass '{tensor.name}.dltensor'"
        )
    if type_.opaque not in (None, HALIDE_BUFFER, DLTENSOR):
        raise BuildError(
            f"{what}, but {tensor.name!r} is passed as the address of its elements; let a function "
            f"in C make what the kernel takes, or write a provider"
        )
    if type_.rank is not None and type_.rank != tensor.ndim:
        raise BuildError(f"{what}, but {tensor.name!r} has rank {tensor.ndim}")
    allowed = (None, *(() if type_.opaque else _BYTES), *tensor.dtypes)
    is_bits = all(dtype in _BITS.get(f"{type_.dtype}", ()) for dtype in tensor.dtypes)
    if type_.dtype not in allowed and not is_bits:
        raise BuildError(
            f"{what}, but the elements of {tensor.name!r} are {' or '.join(tensor.dtypes)}: "
            f"declare `{tensor.name}: Tensor([…], {type_.dtype})`, or change the prototype"
        )
    _check_row(what, type_, tensor)
    if type_.is_const and tensor.intent in ("out", "inout"):
        raise BuildError(
            f"{what}, so the kernel does not write to it, but intent={tensor.intent!r} of "
            f"{tensor.name!r} says that it does"
        )


def _check_row(what: str, type_: CType, tensor: spec.Tensor) -> None:
    """Raise BuildError if ``float x[][5]`` gets rows of another size, or of any."""
    given = tensor.dims[-len(type_.row) :] if type_.row else ()
    if tensor.strides is not None or len(given) != len(type_.row) or len(given) == tensor.ndim:
        return
    if any(size not in (None, entry) for size, entry in zip(type_.row, given, strict=True)):
        row = ", ".join(
            f"{entry if size is None else size}"
            for size, entry in zip(type_.row, given, strict=True)
        )
        raise BuildError(
            f"{what}, but {tensor.name!r} has rows of {', '.join(map(str, given))} elements: "
            f"declare `{tensor.name}: Tensor([…, {row}], {tensor.dtypes[0]})`"
        )
