"""Parameters of a signature that a kernel does not get."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ffi_builder import BuildError, spec
from ffi_builder.extending import symbols_in


def mentions(names: Iterable[str], path: str) -> bool:
    """Return whether one is a parameter at that path, or a part of it."""
    return any(re.match(rf"{re.escape(path)}(?!\w)", each) for each in names)


def unused(signature: spec.Signature, names: Sequence[str]) -> list[str]:
    """Return the numbers, tensors and texts, results too, that none of the names is a part of."""
    plain = (spec.Var, spec.Tensor, spec.String, spec.Bytes, spec.Choice)
    own = [each.name for each in signature.params if isinstance(spec.required(each), plain)]
    own += [result.name for result in signature.result_tensors]
    roots = {*re.findall(r"(?m)^\w+", "\n".join(names))}
    return [name for name in own if name not in roots]


def check_reached(
    kernel: str, signature: spec.Signature, names: Sequence[str], elsewhere: str
) -> None:
    """Refuse a parameter that reaches neither the kernel nor anything that is computed or checked.

    The kernel gets ``names``; ``elsewhere`` is a text with names that are used, too. A number may
    be a size of another parameter. A tensor may have a size that no other parameter has.

    Raises:
        BuildError: the first such parameter.
    """
    left = {*unused(signature, names)}
    if not left:
        return
    texts = " ".join([*names, signature.constraints, elsewhere])
    used = {*re.findall(r"(?<![\w.])\w+", texts), *_symbols(signature.results)}
    counts = Counter(name for param in signature.params for name in {*_symbols([param])})
    for param in signature.params:
        own = {*_symbols([param])}
        others = {name for name in own if counts[name] > 1}
        is_number = isinstance(spec.required(param), spec.Var)
        needed = others | used & own if is_number else used & own - others
        if param.name in left and param.name not in used and not needed:
            raise BuildError(
                f"{kernel} gets nothing of `{param.name}` of the signature: leave it out, or list "
                f"what each parameter gets, args=[…]"
            )


def _symbols(params: Sequence[spec.Param]) -> Iterator[str]:
    return (each.name for each in symbols_in(params))
