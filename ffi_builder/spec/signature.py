"""Signatures: a name, parameters and results, checked together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from typing import Any, TypeVar, cast

from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec import places
from ffi_builder.spec._check import NO_DOC, DocField, documentation, identifier, make_plain
from ffi_builder.spec.canonical import canonical_text, constraints_text
from ffi_builder.spec.composite import HIDDEN, Param, check_params, required, takes_more, with_paths
from ffi_builder.spec.conditions import check_conditions
from ffi_builder.spec.defaults import check_default
from ffi_builder.spec.expr import Condition, Var, two_meanings
from ffi_builder.spec.functions import variables
from ffi_builder.spec.metadata import metadata_text
from ffi_builder.spec.overlap import NOTHING, NoOverlap, check_no_overlap
from ffi_builder.spec.param import MISSING, pasteable
from ffi_builder.spec.params import EnvStream, Stream, VarArgs
from ffi_builder.spec.results import Result, check_names, check_results, needed
from ffi_builder.spec.sources import with_known_dtypes, with_sources
from ffi_builder.spec.tensors.tensor import Tensor
from ffi_builder.spec.tensors.tensor_list import TensorList
from ffi_builder.spec.tensors.workspace import Workspace
from ffi_builder.suggest import did_you_mean

AnyParam = TypeVar("AnyParam", bound=Param)


@dataclass(frozen=True, repr=False)
class Signature:
    """The parameters and results of a function. :meth:`parse` reads its ``str()`` back.

    Args:
        name: the name of the function for its callers; an identifier.
        params: the parameters in the order of the arguments. An :class:`EnvStream` is not an
            argument.
        returns: None, a :class:`Var` for a number, bool or pointer, a contiguous :class:`Tensor`
            that the wrapper allocates (the parameters bind the symbols in its dimensions), a
            :class:`String`, :class:`Bytes`, :class:`Object`, :class:`Function`, :class:`Array` or
            :class:`Map` that the call provider hands over, a :class:`Shape` of values of the
            parameters' symbols, or a list of these for a tuple.
        where: conditions that every call must keep, such as ``[n <= m, equal(k, n * 2), one_of(m,
            [64, 128]), when.aligned(x, 16) | (n < 8)]``; :mod:`ffi_builder.providers.when` makes
            conditions about parameters, which are found by name. Conditions are checked after all
            arguments, in this order. A comparison is unknown if it needs an absent Optional, or a
            symbol that is unbound because an Optional is absent. A call is refused if a condition
            is false, and not if it is unknown.
        no_overlap: tensors that must not share memory with any other tensor of the call, by their
            names in errors: ``["y", "cfg[0]", "state.mask"]``. The name of a list stands for each
            of its elements, which must not share memory with one another either. True stands for
            all tensors and lists whose ``intent`` is ``"out"`` or ``"inout"``. It is stored as a
            tuple of names, in the order of the parameters. Other tensors may overlap. Memory is
            compared from the first to the last byte of a tensor, so two views that interleave are
            refused too.
        doc: documentation for callers.

    Raises:
        SpecError: two parameters with the same name, a symbol name with two meanings, a symbol that
            nothing binds, a tensor that takes its dtype from a tensor that is not always checked
            before it, an EnvStream without a tensor on another device than the CPU, a positional
            parameter without a default after a parameter with a default, a default that its
            parameter does not accept, a result that cannot be made or whose size only Optionals
            bind, a result with the name of a parameter or symbol, a condition in ``where`` that has
            a symbol of no parameter, is about something that is not a parameter, or is always true
            or false, or a ``no_overlap`` that names no tensor, or a tensor that no other tensor of
            the signature can share memory with.

    Examples:
        >>> import numpy as np
        >>> from ffi_builder import spec, testing
        >>> n, k, m = spec.dims("n k m")
        >>> with spec.DefaultConfig(device_type="cpu"):
        ...     A = spec.Tensor("A", [n, k], "float32")
        ...     B = spec.Tensor("B", [k, m], "float32")
        ...     C = spec.Tensor("C", [n, m], "float32", intent="out")
        >>> matmul = spec.Signature("matmul", [A, B, C], where=[n * m <= 2**20], no_overlap=True)
        >>> print(matmul.canonical(device="cpu"))
        matmul(A: Tensor([n, k], float32), B: Tensor([k, m], float32), C: Tensor([n, m],
            float32, intent=out)) where n * m <= 1048576, no_overlap(C)
        >>> a, b, c = (np.ones(shape, "float32") for shape in ((2, 3), (3, 4), (2, 4)))
        >>> testing.check(matmul, a, b, c)
        {'n': 2, 'k': 3, 'm': 4}
    """

    name: str
    params: Sequence[Param]
    returns: Result | Sequence[Result] | None = None
    where: Sequence[Condition] = field(default=(), kw_only=True)
    no_overlap: NoOverlap = field(default=NOTHING, kw_only=True)
    doc: DocField = field(default=NO_DOC, kw_only=True, compare=False)

    def __post_init__(self) -> None:
        make_plain(self)
        identifier("Signature name", self.name)
        what = f"Signature {self.name!r}"
        object.__setattr__(self, "params", check_params(f"{what}: params", self.params))
        object.__setattr__(self, "doc", documentation(f"{what}: doc", self.doc))
        places.refuse_references(what, self.params)
        occurrences = list(places.occurrences(self.params))
        symbols = places.check_one_meaning(what, occurrences)
        places.check_bound(what, occurrences)
        object.__setattr__(self, "returns", check_results(f"{what}: returns", self.returns))
        self._find_sources(what)
        self._check_lists(what)
        self._check_results(what, occurrences)
        where = check_conditions(f"{what}: where", self.where, symbols, self.arguments)
        places.check_not_each(f"{what}: where", self.params, [(str(each), each) for each in where])
        object.__setattr__(self, "where", where)
        no_overlap = check_no_overlap(f"{what}: no_overlap", self.params, self.no_overlap)
        object.__setattr__(self, "no_overlap", no_overlap)
        self._check_env_streams(what)
        self._check_workspaces(what)
        self._check_defaults(what)
        self._check_varargs(what)

    @property
    def arguments(self) -> tuple[Param, ...]:
        """The parameters that callers pass: all but EnvStream and Workspaces."""
        return tuple(param for param in self.params if not isinstance(param, HIDDEN))

    @property
    def results(self) -> tuple[Result, ...]:
        """The results, in order: none, one, or the elements of the returned tuple."""
        if self.returns is None:
            return ()
        return tuple(self.returns) if isinstance(self.returns, Sequence) else (self.returns,)

    @property
    def result_tensors(self) -> list[Tensor]:
        """The returned tensors, in the order of their allocation."""
        return [result for result in self.results if isinstance(result, Tensor)]

    @property
    def workspaces(self) -> list[Workspace]:
        """The Workspaces among the parameters, in the order of their allocation."""
        return [param for param in self.params if isinstance(param, Workspace)]

    def with_params(self, /, **changes: Param | Mapping[str, object] | None) -> Signature:
        """Return this signature with some of its parameters and results changed.

        Each keyword is the name of a parameter or result. Its value is the fields to change,
        another parameter to put in its place, or None to leave it out.

        ``dataclasses.replace`` changes the other fields of a signature, and all parameters at once.

        Raises:
            SpecError: there is no parameter or result of that name, or the new signature is not
                valid.
            TypeError: a parameter has no field of that name.

        Examples:
            >>> matmul.with_params(A={"dtype": "float16", "data_alignment": 16}).params[0]
            Tensor('A', [Var('n', 'int64'), Var('k', 'int64')], 'float16', device_type='cpu',
                data_alignment=16)
        """
        known = [param.name for param in (*self.params, *self.results)]
        for name in changes:
            if name not in known:
                raise SpecError(
                    f"Signature {self.name!r}: with_params: expected one of "
                    f"{', '.join(known) or 'no names'} but got {name!r}{did_you_mean(name, known)}"
                )
        params = [*_changed(self.params, changes)]
        results = [cast("Result", each) for each in _changed(self.results, changes)]
        single = bool(results) and not isinstance(self.returns, Sequence)
        return replace(self, params=params, returns=results[0] if single else results or None)

    @classmethod
    def parse(cls, text: str, *, device: str | None = None) -> Signature:
        """Parse a canonical text, or the short form that errors show.

        The grammar is in docs/signatures.md.

        Args:
            text: the text.
            device: the device type of tensors without one in the text. The default is that of the
                active :class:`DefaultConfig`.

        Raises:
            SpecError: the text does not follow the grammar, or its signature is not valid. The
                message shows the line, with carets under the place.

        Examples:
            >>> text = "scale(x: Tensor([n, 4], float32), factor: float32) where n % 16 == 0"
            >>> scale = spec.Signature.parse(text, device="cpu")
            >>> scale.params[0].shape
            (Var('n', 'int64', divisibility=16), 4)
            >>> spec.Signature.parse("scale(x: Tensor([n, 4], float23))", device="cpu")
            Traceback (most recent call last):
            ...
            ffi_builder.errors.SpecError: Signature.parse: dtype: expected a DLPack type name such
                as 'float32', 'bool' or 'float8_e4m3fn' but got 'float23', did you mean 'float32'?
                scale(x: Tensor([n, 4], float23))
                                        ^^^^^^^
        """
        # Many signatures are made in Python.
        from ffi_builder.spec.parsing.parse import parse_signature

        return parse_signature(text, device, cls)

    def canonical(self, *, device: str | None = None) -> str:
        """Return the text from which :meth:`parse` makes an equal signature.

        The text has every field that ``==`` compares. It leaves out ``doc``, and the ``default``,
        ``kw_only`` and ``doc`` of parameters.

        Args:
            device: tensors of this device type do not show it; ``parse`` then needs the same
                ``device``. By default all tensors show their device type.

        Examples:
            >>> scale.canonical(device="cpu")
            'scale(x: Tensor([n, 4], float32), factor: float32) where n % 16 == 0'
            >>> spec.Signature.parse(scale.canonical()) == scale
            True
        """
        return canonical_text(self.name, self.params, self.returns, self.constraints, device)

    def metadata(self, *, borrows_tensors: bool = False) -> str:
        """Return the JSON that describes a function of this signature to Python callers.

        A wrapper has the same text in its attribute ``"ffi-builder-metadata"``. The text includes
        the fields that :meth:`canonical` leaves out; :mod:`ffi_builder.spec.metadata` shows its
        form.

        Args:
            borrows_tensors: whether the function uses tensors only during the call.

        Examples:
            >>> import json
            >>> sorted(json.loads(scale.metadata()))
            ['ffi_builder', 'type_schema']
        """
        text = metadata_text(
            self.params, self.returns, self.doc, self.constraints, borrows_tensors=borrows_tensors
        )
        return text.of(self.name)

    @property
    def constraints(self) -> str:
        """The text behind ``where``: ``n % 2 == 0, no_overlap(y)``; may be empty."""
        return constraints_text(self.params, self.where, self.no_overlap)

    def __str__(self) -> str:
        """Return the canonical text. Error messages show :func:`outline` instead."""
        return self.canonical()

    def __repr__(self) -> str:
        returns = "" if self.returns is None else f", {pasteable(self.returns)}"
        where = f", where={[*self.where]!r}" if self.where else ""
        no_overlap = f", no_overlap={[*self.no_overlap]!r}" if self.no_overlap else ""
        doc = f", doc={self.doc!r}" if self.doc else ""
        return (
            f"Signature({self.name!r}, {pasteable(self.params)}{returns}{where}{no_overlap}{doc})"
        )

    def _find_sources(self, what: str) -> None:
        """Store in each tensor the arguments that it takes fields from."""
        params = with_known_dtypes(what, self.params)
        object.__setattr__(self, "params", params)

        def resolved(param: AnyParam) -> AnyParam:
            if not isinstance(param, Tensor):
                return param
            return cast("AnyParam", with_sources(f"{what}: {param.label}", param, params))

        if not any(tensor.references for tensor in (*self.result_tensors, *self.workspaces)):
            return
        object.__setattr__(self, "params", tuple(map(resolved, params)))
        returns = self.returns
        if isinstance(returns, Sequence):
            object.__setattr__(self, "returns", tuple(map(resolved, returns)))
        elif returns is not None:
            object.__setattr__(self, "returns", resolved(returns))

    def _check_workspaces(self, what: str) -> None:
        streams = [path for path, param in with_paths(self.params) if isinstance(param, Stream)]
        for workspace in self.workspaces:
            workspace.check_zero()
            if streams and workspace.device != "cpu":
                raise SpecError(
                    f"{what}: {workspace.label} is released for the framework's current stream, "
                    f"and Stream {streams[0]!r} may be another one; use an EnvStream"
                )

    def _check_lists(self, what: str) -> None:
        made = needed([*self.results, *self.workspaces])
        known = chain(
            places.occurrences(self.params, elements=False),
            places.shared_entries(self.params),
            ((path, entry) for path, entry, _ in made),
        )
        places.check_not_each(what, self.params, known)
        places.check_lists(what, self.params)

    def _check_results(self, what: str, occurrences: Sequence[tuple[str, object]]) -> None:
        symbols = {var.name: var for _, value in occurrences for var in variables(value)}
        always = places.bound_symbols(places.always_there(self.params))
        check_names(f"{what}: returns", self.results, self.params, list(symbols.values()))
        self._check_needed(what, symbols, always, self.results, "result")
        self._check_needed(what, symbols, always, self.workspaces, "workspace")

    def _check_needed(
        self,
        what: str,
        symbols: Mapping[str, Var],
        always: Collection[Var],
        made: Sequence[Result],
        noun: str,
    ) -> None:
        """Check that the parameters bind every symbol that an allocation needs."""
        for path, entry, var in needed(made):
            known = symbols.get(var.name)
            if known is None:
                raise SpecError(
                    f"{what}: no parameter binds symbol {var.name!r}, which {path} = {entry} "
                    f"of a {noun} needs"
                )
            if known != var:
                raise two_meanings(what, known, "in the parameters", var, f"at {path}")
            if var not in always:
                raise SpecError(
                    f"{what}: {path} = {entry} of a {noun} needs symbol {var.name!r}, which only "
                    f"{self._may_be_missing(var)}; bind it in a parameter that is always there too"
                )

    def _may_be_missing(self, var: Var) -> str:
        """Return the words for why a symbol may be unbound, and that it would then be 0."""
        in_lists = any(
            isinstance(tensors := required(param), TensorList) and var in tensors.symbols
            for _, param in with_paths(self.params)
        )
        if in_lists:
            return "lists or Optionals bind, and would be 0 where they are empty or None"
        return "Optionals bind, and would be 0 where they are None"

    def _check_defaults(self, what: str) -> None:
        """Check each default, and that positional parameters with defaults come last."""
        optional: str | None = None
        for param in self.arguments:
            check_default(what, param)
            if param.kw_only or isinstance(param, VarArgs):
                continue
            if param.default is not MISSING:
                optional = param.name
            elif optional is not None:
                raise SpecError(
                    f"{what}: {param.name!r} has no default, but {optional!r} before it has one; "
                    f"give it one too, or kw_only=True"
                )

    def _check_varargs(self, what: str) -> None:
        """Check that VarArgs come last, since all further arguments are theirs."""
        for param in self.arguments[:-1]:
            if isinstance(param, VarArgs):
                raise SpecError(f"{what}: {param.label} are not the last argument; put them there")
        keywords = [param.name for param in self.arguments if param.kw_only]
        if takes_more(self.arguments) and keywords:
            raise SpecError(
                f"{what}: VarArgs are passed by position, behind all others, so none of these can "
                f"be kw_only, but {', '.join(map(repr, keywords))} is"
            )

    def _check_env_streams(self, what: str) -> None:
        streams = [param for param in self.params if isinstance(param, EnvStream)]
        if len(streams) > 1:
            names = " and ".join(repr(stream.name) for stream in streams)
            raise SpecError(f"{what}: expected at most one EnvStream but got {names}")
        if streams and not places.device_tensors(self.params):
            raise SpecError(
                f"{what}: EnvStream {streams[0].name!r} is the current stream of a tensor's "
                f"device, but no Tensor here is on another device than the CPU"
            )


def _changed(
    params: Sequence[Param | Result], changes: Mapping[str, Param | Mapping[str, object] | None]
) -> Iterator[Param | Result]:
    """Yield what :meth:`Signature.with_params` puts in the place of these."""
    for param in params:
        change = changes.get(param.name, {})
        if isinstance(change, Mapping):
            fields: dict[str, Any] = dict(change)
            yield replace(param, **fields) if fields else param
        elif change is not None:
            yield change
