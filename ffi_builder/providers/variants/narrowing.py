"""What the conditions leave a variant of tensors: which of several dtypes, which rank.

Whether a variant may get a dtype is asked by making the graph of tests for that dtype alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ffi_builder import spec
from ffi_builder.providers.variants.choice import choose, leaves
from ffi_builder.providers.variants.conditions import Compare, Condition, used
from ffi_builder.providers.variants.facts import Domains
from ffi_builder.providers.variants.subject import Domain, Subject
from ffi_builder.providers.variants.subjects import DTypeOf, Ndim, dtype_word


def narrowed(
    conditions: Sequence[Condition | None],
    index: int,
    domains: Domains,
    known: Mapping[spec.Tensor, spec.Tensor],
) -> dict[spec.Tensor, spec.Tensor]:
    """Return the tensors of which a variant gets only some dtypes or one rank, as it gets them.

    Args:
        conditions: those of all variants, in order.
        index: the variant.
        domains: the possible values of subjects.
        known: what is known of tensors before any condition.
    """
    variant = _Variant(conditions, index, domains)
    found: dict[spec.Tensor, spec.Tensor] = {}
    subjects = [subject for when in conditions if when is not None for subject in used(when)]
    for subject in dict.fromkeys(subjects):
        if not isinstance(subject, (DTypeOf, Ndim)):
            continue
        own = subject.tensor
        tensor = found.get(own, known.get(own, own))
        if isinstance(subject, DTypeOf):
            left = variant.dtypes(subject, tensor)
            if left and len(left) < len(tensor.dtypes):
                found[own] = replace(tensor, dtype=left)
        elif tensor.any_rank:
            rank = variant.only_rank(subject)
            if rank is not None:
                found[own] = replace(tensor, shape=[None] * rank)
    return found


@dataclass(frozen=True)
class _Variant:
    conditions: Sequence[Condition | None]
    index: int
    domains: Domains

    def dtypes(self, subject: DTypeOf, tensor: spec.Tensor) -> list[str]:
        """Return the dtypes with which the variant may be chosen."""
        words = {dtype: frozenset((dtype_word(dtype),)) for dtype in tensor.dtypes}
        return [dtype for dtype, word in words.items() if self._is_chosen(subject, word)]

    def only_rank(self, subject: Ndim) -> int | None:
        """Return the rank that the tensor has wherever the variant is chosen, if it is one."""
        low, high = sorted(self.domains(subject))
        compared = [atom for when in self.conditions if when is not None for atom in when.atoms()]
        numbers = {a.number for a in compared if isinstance(a, Compare) and a.subject == subject}
        for rank in sorted({number + more for number in numbers for more in (-1, 0, 1)}):
            if 0 <= rank <= spec.MOST_DIMENSIONS and self._is_chosen(subject, (rank, rank)):
                others = (low, rank - 1), (rank + 1, high)
                is_only = not any(o[0] <= o[1] and self._is_chosen(subject, o) for o in others)
                return rank if is_only else None
        return None

    def _is_chosen(self, subject: Subject, domain: Domain) -> bool:
        """Return whether the variant may be chosen if the subject has a value of a domain."""

        def restricted(other: Subject) -> Domain:
            return domain if other == subject else self.domains(other)

        return self.index in leaves(choose(self.conditions, restricted))
