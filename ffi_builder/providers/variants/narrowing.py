"""Narrows tensors by the conditions of a variant: which dtypes, which rank, layout and sizes.

Whether a variant may get a dtype is asked by making the graph of tests for that dtype alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from ffi_builder import spec
from ffi_builder.providers.fixed_symbols import with_values
from ffi_builder.providers.variants.choice import choose, leaves
from ffi_builder.providers.variants.conditions import AllOf, Compare, Condition, used
from ffi_builder.providers.variants.facts import Domains
from ffi_builder.providers.variants.subject import Domain, Subject
from ffi_builder.providers.variants.subjects import (
    Contiguous,
    DTypeOf,
    Ndim,
    Number,
    Present,
    dtype_word,
)
from ffi_builder.records import dataclass


@dataclass(frozen=True)
class Narrowing:
    """The tensors of which variants get only some dtypes, one rank, layout or size.

    Args:
        conditions: those of all variants, in order.
        tensors: the tensors of the signature.
        domains: the possible values of subjects.
        known: what is known of tensors before any condition.
    """

    conditions: Sequence[Condition | None]
    tensors: Sequence[spec.Tensor]
    domains: Domains
    known: Mapping[spec.Tensor, spec.Tensor]
    _chosen: dict[frozenset[tuple[Subject, Domain]], set[int | None]] = field(
        default_factory=dict["frozenset[tuple[Subject, Domain]]", "set[int | None]"], init=False
    )

    def of(self, index: int) -> dict[spec.Tensor, spec.Tensor]:
        """Return those tensors for a variant, each as the variant gets it."""
        found: dict[spec.Tensor, spec.Tensor] = {}
        for subject in self._subjects():
            if not isinstance(subject, (DTypeOf, Ndim, Contiguous)):
                continue
            # The signature's own tensor knows where its dtype is taken from.
            own = next((each for each in self.tensors if each == subject.param), subject.param)
            tensor = found.get(own, self.known.get(own, own))
            if isinstance(subject, DTypeOf):
                left = self._dtypes(index, subject, tensor)
                if left and len(left) < len(tensor.dtypes):
                    found[own] = replace(tensor, dtype=left)
            elif isinstance(subject, Contiguous):
                if self._is_only_contiguous(index, subject, tensor):
                    found[own] = tensor.changed(strides=None)
            elif tensor.any_rank:
                rank = self._only_rank(index, subject)
                if rank is not None:
                    found[own] = tensor.changed(shape=[None] * rank)
        values = _fixed_by(self.conditions[index])
        for own in self.tensors if values else ():
            tensor = found.get(own, self.known.get(own, own))
            if (sized := with_values(tensor, values)) != tensor:
                found[own] = sized
        return found

    def _subjects(self) -> list[Subject]:
        """Return the subjects of all conditions, each once."""
        conditions = [when for when in self.conditions if when is not None]
        return list(dict.fromkeys(subject for when in conditions for subject in used(when)))

    def _dtypes(self, index: int, subject: DTypeOf, tensor: spec.Tensor) -> list[str]:
        """Return the dtypes with which a variant may be chosen."""
        words = {dtype: frozenset((dtype_word(dtype),)) for dtype in tensor.dtypes}
        return [dtype for dtype, word in words.items() if self._is_chosen(index, {subject: word})]

    def _only_rank(self, index: int, subject: Ndim) -> int | None:
        """Return the rank that the tensor has wherever a variant is chosen, if it is one."""
        low, high = sorted(self.domains(subject))
        compared = [atom for when in self.conditions if when is not None for atom in when.atoms()]
        numbers = {a.number for a in compared if isinstance(a, Compare) and a.subject == subject}
        for rank in sorted({number + more for number in numbers for more in (-1, 0, 1)}):
            if 0 <= rank <= spec.MOST_DIMENSIONS and self._is_chosen(
                index, {subject: (rank, rank)}
            ):
                others = (low, rank - 1), (rank + 1, high)
                is_only = not any(
                    o[0] <= o[1] and self._is_chosen(index, {subject: o}) for o in others
                )
                return rank if is_only else None
        return None

    def _is_only_contiguous(self, index: int, subject: Contiguous, tensor: spec.Tensor) -> bool:
        """Return whether a variant gets the tensor only row-major contiguous, or not at all."""
        if tensor.order == "C" or tensor.packed_axis not in (None, tensor.ndim - 1):
            return False  # without strides, the last dimension would be the packed one
        given: dict[Subject, Domain] = {
            other: frozenset((1,))
            for other in self._subjects()
            if isinstance(other, Present) and spec.required(other.param) == subject.param
        }
        return not self._is_chosen(index, {**given, subject: frozenset((0,))})

    def _is_chosen(self, index: int, given: Mapping[Subject, Domain]) -> bool:
        """Return whether a variant may be chosen if subjects have values of these domains."""

        def restricted(other: Subject) -> Domain:
            return given[other] if other in given else self.domains(other)

        key = frozenset(given.items())
        if key not in self._chosen:
            self._chosen[key] = leaves(choose(self.conditions, restricted))
        return index in self._chosen[key]


def _fixed_by(condition: Condition | None) -> dict[spec.Var, int]:
    """Return the symbols that are equal to an int wherever a condition holds."""
    match condition:
        case Compare(Number(spec.Var() as var), "==", number):
            return {var: number}
        case AllOf(conditions):
            return {var: value for each in conditions for var, value in _fixed_by(each).items()}
        case _:
            return {}
