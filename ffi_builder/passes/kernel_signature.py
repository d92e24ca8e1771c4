"""Derives a signature from the types of a kernel.

``signature_of(module, "mm", symbols={"A": ["n", None]})`` reads::

    func.func @mm(%A: memref<?x4xf32> loc("A"), %b: memref<?xi8, strided<[?], offset: ?>> loc("b"),
                  %n: index loc("n")) -> f32

and returns::

    mm(A: Tensor([n, 4], float32), b: Tensor([b_0], int8, strides=any), n: int64) -> result: float32
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from ffi_builder import BuildError, spec
from ffi_builder.extending import (
    FLOAT_DTYPES,
    INT_RANGES,
    KernelValue,
    MemRef,
    Result,
    did_you_mean,
    dtypes_of,
    mistake_of,
    read_kernel,
    variables,
)
from ffi_builder.ir import Module

Size: TypeAlias = "spec.Dim | str | None"
"""An entry of ``symbols=``: a symbol or its name, an expression, an int, or None."""

_POINTER: Final = re.compile(r"!llvm\.ptr(?:<(\d+)>)?")
_ADVICE: Final = {
    r"memref<\*x": "its rank is not known; give it one",
    r"memref<": (
        "its layout is not strided, or its memory space is an attribute; make it a strided layout, "
        "or lower its memory space to a number, before"
    ),
    r"tensor<": (
        "a call passes memory; bufferize the module before, for example with one-shot-bufferize"
    ),
    r"vector<": "a call passes no vectors; take a memref of vectors or of elements",
    r"\(": "a call passes no functions of MLIR; call a symbol instead",
    r"!": "its lowering is not known here; write the signature by hand",
}
"""Advice about types without a parameter, by the beginning of their texts."""
_OTHER_ADVICE: Final = "no scalar argument has this type; take another one, or a memref of it"


def signature_of(
    module: Module | str,
    kernel: str,
    *,
    name: str | None = None,
    names: Sequence[str] | None = None,
    symbols: Mapping[str, Sequence[Size]] | None = None,
    device_type: str | None = None,
) -> spec.Signature:
    """Return the signature that follows from a kernel's types before lowering.

    A memref becomes a Tensor of its element type, static sizes and layout. A size ``?`` is a symbol
    named after argument and axis, such as ``x_0``, unless ``symbols`` names it; a stride ``?`` is
    not checked. ``memref.assume_alignment`` of an argument is its ``data_alignment``. ``index``,
    integers and floats are Vars (integers without a sign are signed, ``i1`` is bool), and a pointer
    is a DataPointer. The function's results become the results; memrefs become Tensors, for a
    lowering that makes them the last arguments (``buffer-results-to-out-params``).

    Names of arguments are taken from their locations, from attributes ``ml_program.identifier``,
    or, if the module is given as text, from the text. Other arguments are ``arg0``, ``arg1``, ….

    Args:
        module: an ``ir.Module`` of any MLIR Python distribution, or MLIR text, which torch-mlir
            parses. After lowering, the types come from the record of
            :func:`~ffi_builder.record_memref_types`; without a record, a memref is pointers and
            integers.
        kernel: the symbol of a ``func.func`` or ``llvm.func``.
        name: the name of the signature; left out, ``kernel``.
        names: a name for each argument, instead of those in the module.
        symbols: entries for the sizes of tensors, by the name of the argument (or of the result:
            ``result``, or ``result0``, ``result1``, … of several), one for each dimension: a name,
            a Var, an expression, an int, or None for the kernel's own. Equal names stand for the
            same symbol: an integer argument if there is one of that name, otherwise an int64.
        device_type: the device type of all tensors; left out, that of the active
            :class:`~ffi_builder.spec.DefaultConfig`.

    Raises:
        BuildError: there is no such function, an argument has a type without a parameter, or
            ``names`` or ``symbols`` do not fit the kernel.
        SpecError: a name is not an identifier, or no device type is given.

    Examples:
        >>> from ffi_builder import signature_of
        >>> KERNEL = '''
        ... func.func @mm(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
        ...   linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>)
        ...                 outs(%C : memref<?x?xf32>)
        ...   return
        ... }'''
        >>> sizes = {"A": ["n", "k"], "B": ["k", "m"], "C": ["n", "m"]}
        >>> matmul = signature_of(KERNEL, "mm", name="matmul", symbols=sizes, device_type="cpu")
        >>> matmul.canonical(device="cpu")
        'matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m],
            float32))'
    """
    if type(module).__module__.startswith("triton."):
        raise BuildError(
            f"signature_of: expected MLIR but got Triton's {type(module).__name__}: "
            f"cuda.triton_signature reads what triton.compile returns"
        )
    function = read_kernel(module, kernel)
    own = _argument_names(kernel, function.arguments) if names is None else list(names)
    if len(own) != len(function.arguments):
        raise BuildError(
            f"signature_of: names: @{kernel} has {len(function.arguments)} arguments, but "
            f"{len(own)} names are given"
        )
    returned = _result_names(function.results, own)
    derived = _Derived(kernel, symbols or {}, device_type, [*own, *returned])
    derived.check_names([*own, *returned])
    values = list(zip(own, function.arguments, strict=True))
    derived.add_scalars(values)
    params = [
        derived.param(name, value, f"argument #{index} ({name!r})")
        for index, (name, value) in enumerate(values)
    ]
    results = [
        derived.result(name, value, f"result #{index}")
        for index, (name, value) in enumerate(zip(returned, function.results, strict=True))
    ]
    returns = results[0] if len(results) == 1 else results
    return spec.Signature(kernel if name is None else name, params, returns or None)


class _Derived:
    """The parameters of one kernel, which share symbols."""

    def __init__(
        self,
        kernel: str,
        sizes: Mapping[str, Sequence[Size]],
        device_type: str | None,
        names: Sequence[str],
    ) -> None:
        self._kernel, self._sizes, self._device_type = kernel, sizes, device_type
        self._scalars: dict[str, spec.Var] = {}
        given = [entry for entries in sizes.values() for entry in entries]
        self._taken = {*names, *(entry for entry in given if isinstance(entry, str))}
        self._taken |= {var.name for entry in given for var in variables(entry)}

    def check_names(self, known: Sequence[str]) -> None:
        """Check that ``symbols=`` names arguments and results only."""
        for name in self._sizes:
            if name not in known:
                raise BuildError(
                    f"signature_of: symbols: @{self._kernel} has no {name!r}; it has "
                    f"{', '.join(known) or 'no arguments'}{did_you_mean(name, known)}"
                )

    def add_scalars(self, values: Sequence[tuple[str, KernelValue]]) -> None:
        """Note the integer arguments, which sizes may refer to by name."""
        for name, value in values:
            var = _scalar(name, value)
            if var is not None and var.dtype in INT_RANGES:
                self._scalars[name] = var

    def param(self, name: str, value: KernelValue, where: str) -> spec.Param:
        """Return the parameter for an argument."""
        pointer = _pointer(value)
        if pointer is not None and name not in self._sizes:
            space = int(pointer[1]) if pointer[1] else None
            return spec.DataPointer(name, address_space=space)
        return self._scalar_or_tensor(name, value, where)

    def result(self, name: str, value: KernelValue, where: str) -> Result:
        """Return the result for a returned value of the kernel."""
        if _pointer(value) is not None:
            return spec.Var(name, "handle")
        if isinstance(value.type, MemRef) and value.type.strides is not None:
            words = (
                "a result is allocated row-major; let it have no layout, for example with "
                "function-boundary-type-conversion=identity-layout-map"
            )
            raise self._wrong(where, value.type.text, words)
        return self._scalar_or_tensor(name, value, where, allocated=True)

    def _scalar_or_tensor(
        self, name: str, value: KernelValue, where: str, *, allocated: bool = False
    ) -> spec.Var | spec.Tensor:
        if isinstance(value.type, MemRef):
            shape = list(self._shape(name, value.type, where, allocated=allocated))
            return self._tensor(name, value.type, shape, value.alignment, where)
        if name in self._sizes:
            words = "symbols= has sizes for it, but only a memref has sizes"
            raise self._wrong(where, value.type, words)
        var = _scalar(name, value)
        if var is None:
            text = value.type
            advice = (words for start, words in _ADVICE.items() if re.match(start, text))
            raise self._wrong(where, text, next(advice, _OTHER_ADVICE))
        return var

    def _tensor(
        self,
        name: str,
        memref: MemRef,
        shape: Sequence[spec.Dim],
        alignment: int | None,
        where: str,
    ) -> spec.Tensor:
        dtypes = dtypes_of(memref.element)
        if not dtypes:
            words = f"DLPack has no dtype for {memref.element}; take another element type"
            raise self._wrong(where, memref.text, words)
        tensor = spec.Tensor(
            name,
            shape,
            dtypes[0],
            strides=_strides(memref),
            device_type=self._device_type,
            data_alignment=alignment,
        )
        mistake = mistake_of(tensor, memref)
        if mistake is not None:
            raise self._wrong(where, memref.text, mistake)
        return tensor

    def _shape(
        self, name: str, memref: MemRef, where: str, *, allocated: bool
    ) -> Iterator[spec.Dim]:
        given = self._sizes.get(name, [None] * memref.rank)
        if isinstance(given, str) or len(given) != memref.rank:
            words = f"symbols={{{name!r}: {given!r}}} must be a list of {memref.rank} entries"
            raise self._wrong(where, memref.text, words)
        for axis, (size, entry) in enumerate(zip(memref.sizes, given, strict=True)):
            if isinstance(entry, str):
                yield self._scalars.get(entry) or spec.Var(entry, "int64")
            elif entry is not None:
                yield entry
            elif size is not None:
                yield size
            elif allocated:
                words = f"it is allocated before the call; say its sizes, symbols={{{name!r}: …}}"
                raise self._wrong(where, memref.text, words)
            else:
                yield self._symbol(f"{name}_{axis}")

    def _symbol(self, name: str) -> spec.Var:
        """Return a symbol of this name, with underscores appended if the name is taken."""
        name = _unique(name, self._taken)
        self._taken.add(name)
        return spec.Var(name, "int64")

    def _wrong(self, where: str, text: str, words: str) -> BuildError:
        return BuildError(f"signature_of: {where} of @{self._kernel} is {text}: {words}")


def _argument_names(kernel: str, values: Sequence[KernelValue]) -> list[str]:
    """Return the names in the module; use ``arg0``, … for names that are not unique identifiers."""
    names = [_identifier(value.name) for value in values]
    single = {name for name in names if name is not None and names.count(name) == 1}
    return [
        name if name in single else _unique(f"arg{index}", single)
        for index, name in enumerate(names)
    ]


def _result_names(values: Sequence[KernelValue], taken: Sequence[str]) -> list[str]:
    several = len(values) > 1
    names: list[str] = []
    for index, value in enumerate(values):
        name = _identifier(value.name) or (f"result{index}" if several else "result")
        names.append(_unique(name, {*taken, *names}))
    return names


def _unique(name: str, taken: Collection[str]) -> str:
    """Return the name, with underscores appended if it is taken."""
    while name in taken:
        name += "_"
    return name


def _identifier(name: str | None) -> str | None:
    """Return a front end's name, with underscores for other characters; None if no identifier."""
    if name is None:
        return None
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII)
    plain = name if plain == name else plain.strip("_")
    return plain if plain.isidentifier() else None


def _pointer(value: KernelValue) -> re.Match[str] | None:
    return _POINTER.fullmatch(value.type) if isinstance(value.type, str) else None


def _scalar(name: str, value: KernelValue) -> spec.Var | None:
    """Return the Var of a scalar type; None for any other type."""
    dtypes = dtypes_of(value.type) if isinstance(value.type, str) else None
    if not dtypes or dtypes[0] not in {*INT_RANGES, *FLOAT_DTYPES, "bool"}:
        return None
    return spec.Var(name, dtypes[0])


def _strides(memref: MemRef) -> str | Sequence[int | None] | None:
    if not memref.strides:
        return None
    return memref.strides if any(s is not None for s in memref.strides) else "any"
