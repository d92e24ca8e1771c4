"""Conditions in a signature: their parameters, the values that these may have, their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.providers.variants.conditions import parts_of
from ffi_builder.providers.variants.facts import Domains
from ffi_builder.providers.variants.subject import Domain, Name, Subject
from ffi_builder.providers.variants.subjects import Contiguous, DTypeOf, Ndim
from ffi_builder.providers.variants.variant import PROVIDER, Variant
from ffi_builder.suggest import did_you_mean


def domains_in(
    may_be_absent: Callable[[spec.Param], bool], known: Mapping[spec.Tensor, spec.Tensor]
) -> Domains:
    """Return the possible values of subjects in a signature."""

    def domain(subject: Subject) -> Domain:
        absent = any(may_be_absent(part) for part in subject.parts)
        if isinstance(subject, (DTypeOf, Ndim, Contiguous)) and subject.param in known:
            subject = type(subject)(known[subject.param])
        return subject.domain(absent=absent)

    return domain


def may_be_absent_in(signature: spec.Signature, part: spec.Param) -> bool:
    """Return whether a parameter is an Optional or within one."""

    def absent(params: Sequence[spec.Param], *, inside: bool) -> bool:
        for param in params:
            own = inside or isinstance(param, spec.Optional)
            if own and part in (param, spec.required(param)):
                return True
            inner = [element for _, element in spec.elements(param, "")]
            if absent(inner, inside=own):
                return True
        return False

    return absent(signature.params, inside=False)


def paths_in(signature: spec.Signature) -> Name:
    """Return the function that gives parameters their paths in the signature."""
    paths: dict[spec.Param, str] = {}
    for path, param in spec.with_paths(signature.params):
        paths.setdefault(param, path)
        paths.setdefault(spec.required(param), path)
    return lambda param: paths.get(param, param.name)


def check_parts(variants: Sequence[Variant], signature: spec.Signature) -> None:
    """Check that a signature has the parameters and symbols of all conditions.

    Raises:
        BuildError: if it does not; the message has what it has instead.
    """
    params = [param for _, param in spec.with_paths(signature.params)]
    params += [param.param for param in params if isinstance(param, spec.Optional)]
    symbols = dict.fromkeys(
        var for _, entry in spec.occurrences(signature.params) for var in spec.variables(entry)
    )
    for variant in variants:
        for part in () if variant.when is None else parts_of(variant.when):
            if part in (symbols if isinstance(part, spec.Var) else params):
                continue
            names = [path for path, _ in spec.with_paths(signature.params)]
            names += [var.name for var in symbols if var.name not in names]
            if part in signature.results:
                raise BuildError(
                    f"{PROVIDER}: variant {variant.name!r} needs {variant.when}, but {part.name!r} "
                    f"is a result of {signature.name!r}; conditions are about what is passed, "
                    f"{', '.join(names) or 'nothing'}. The wrapper allocates a tensor that it "
                    f"returns with the data_alignment= of its Tensor"
                )
            same = [known for known in (*params, *symbols) if known.name == part.name]
            hint = f": its {part.name!r} is {same[0]!r}" if same else ""
            raise BuildError(
                f"{PROVIDER}: variant {variant.name!r} needs {variant.when}, but {part!r} is not a "
                f"parameter or symbol of {signature.name!r}, which has "
                f"{', '.join(names) or 'none'}{hint or did_you_mean(part.name, names)}"
            )
