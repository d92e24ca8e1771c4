"""Makes a variant of a kernel that Triton has compiled, with what Triton relies on as condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ffi_builder import BuildError, Launch, spec
from ffi_builder.cuda import triton
from ffi_builder.cuda.launch.entries import LaunchEntry
from ffi_builder.cuda.tools.triton import signature_known
from ffi_builder.extending import Condition, check_signature
from ffi_builder.providers import Variant
from ffi_builder.providers import when as conditions
from ffi_builder.wrapping import sources
from ffi_builder.wrapping.calls import symbols


def triton_variant(
    compiled: Any,
    signature: spec.Signature,
    *,
    launch: Launch,
    args: Sequence[LaunchEntry] | Mapping[str, LaunchEntry] | None = None,
    when: Condition | None = None,
    name: str = "",
) -> Variant:
    """Return a kernel that Triton has compiled as one of several of ``VariantsCallProvider``.

    All is compared and added as by ``wrap(compiled, signature, launch=launch, args=args)``. Where
    the signature leaves open what the kernel relies on, a dtype, an alignment, a divisibility or
    the value of a constexpr, this is the condition of the variant.

    Args:
        compiled: what ``triton.compile`` returns.
        signature: the signature of all variants.
        launch: the grid in Triton's programs, and the stream.
        args: what Triton's arguments get, if not what has their names: as for ``wrap``.
        when: a further condition.
        name: the name in errors; left out, that of the kernel.

    Raises:
        BuildError: the kernel has other types than the signature, or relies on something that no
            condition of a variant says: scratch memory, a narrower size, an alignment of a result.
        SpecError: ``signature`` is not a Signature, or the kernel cannot be launched so.

    Examples:
        >>> from ffi_builder import Launch, cuda, spec
        >>> from ffi_builder.providers import VariantsCallProvider
        >>> signature = spec.Signature.parse(
        ...     "copy(x: Tensor([n], float32 | float16)) where n: int32", device="cuda"
        ... )
        >>> def of_two(k32, k16):  # what triton.compile returns
        ...     half = cuda.triton_variant(k16, signature, launch=Launch(grid="ceildiv(n, 512)"))
        ...     full = cuda.triton_variant(k32, signature, launch=Launch(grid="ceildiv(n, 256)"))
        ...     return VariantsCallProvider([half, full])
    """
    check_signature("triton_variant: ", signature)
    known = signature_known(compiled)
    given, args = triton.entries_of(known, signature, args)
    dtypes = dict(_dtypes(known, signature, given))
    narrowed = signature.with_params(**{each: {"dtype": dtype} for each, dtype in dtypes.items()})
    texts = [f"{each}.dtype == {dtype}" for each, dtype in dtypes.items()]
    texts += [f"{each} == {value!r}" for each, value in triton.constants(compiled, signature)]
    checked, entries = triton.checked(compiled, narrowed, args, launch, f"{texts} {when}")
    _check_same(f"triton_variant: Triton's kernel {known.name!r}", narrowed, checked)
    image: Any = sources.read(compiled, sources.UNOWNED, launched=True)
    metadata = compiled.metadata
    provider = image.provider(metadata.name, entries, triton.launched(metadata, launch))
    texts += [text for text in _limits(checked) if text not in {*_limits(narrowed)}]
    needed = [conditions.parse(text, signature) for text in texts]
    needed += [] if when is None else [when]
    return Variant(provider, conditions.all_of(*needed) if needed else None, name)


def _dtypes(
    known: spec.Signature, signature: spec.Signature, given: Sequence[LaunchEntry]
) -> Iterator[tuple[str, str]]:
    """Yield the tensors that declare several dtypes, each with that of the kernel's pointer."""
    params = {each.name: each for each in signature.params}
    for param, entry in zip(known.params, given, strict=False):
        tensor = params.get(f"{getattr(entry, 'name', entry)}".removesuffix(".data"))
        if isinstance(param, spec.Tensor) and isinstance(tensor, spec.Tensor):
            (dtype,) = param.dtypes
            if len(tensor.dtypes) > 1 and dtype in tensor.dtypes:
                yield (tensor.source("dtype") or tensor).name, dtype


def _limits(signature: spec.Signature) -> list[str]:
    """Return the conditions of a signature, and the limits of its symbols, as texts."""
    limits = [text for each in symbols(signature).values() for text in each.constraints()]
    return [*limits, *map(str, signature.where)]


def _check_same(what: str, given: spec.Signature, checked: spec.Signature) -> None:
    """Raise BuildError for what is checked beside conditions."""
    if extra := checked.workspaces[len(given.workspaces) :]:
        names = " and ".join(each.name for each in extra)
        raise BuildError(
            f"{what} needs scratch memory, {names}, which no variant has: wrap it alone"
        )
    before = symbols(given)
    for name, symbol in symbols(checked).items():
        if symbol.dtype != before[name].dtype:
            raise BuildError(
                f"{what} takes {name!r} as {symbol.dtype}: let the signature say "
                f"`where {name}: {symbol.dtype}`"
            )
    for old, new in zip(given.result_tensors, checked.result_tensors, strict=True):
        if old.data_alignment != new.data_alignment:
            raise BuildError(
                f"{what} relies on the alignment of the result {new.name!r}: declare it with "
                f"data_alignment={new.data_alignment}"
            )
