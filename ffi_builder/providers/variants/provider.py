"""``VariantsCallProvider``: one function over several kernels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from ffi_builder import spec
from ffi_builder.errors import BuildError
from ffi_builder.ir import Block
from ffi_builder.providers.context import CallContext, ModuleContext
from ffi_builder.providers.provider import describe_callee, is_ambiguous
from ffi_builder.providers.variants.choice import Choice, atoms, explain, leaves
from ffi_builder.providers.variants.emit import Chooser, End, OfCall, emit_variant, fail, join
from ffi_builder.providers.variants.variant import PROVIDER, Variant
from ffi_builder.records import dataclass
from ffi_builder.spec.expr import Condition, Name
from ffi_builder.spec.functions import variables
from ffi_builder.spec.places import symbols_in
from ffi_builder.spec.properties import Property
from ffi_builder.suggest import did_you_mean

_MOST_COMPARISONS: Final = 256
"""The most comparisons in all conditions together: the code that orders them is recursive."""


@dataclass(frozen=True)
class VariantsCallProvider:
    """Calls the kernel of the first variant whose condition holds.

    The conditions become branches of the wrapper, after all checks of the signature. If none holds,
    the call raises a ValueError that shows the given values and the variants' conditions. A variant
    without a condition takes all remaining calls.

    If the conditions restrict the dtypes of a tensor, its rank, sizes or strides in a variant, the
    variant's kernel is compared with the restricted tensor: see :meth:`explain`.

    Args:
        variants: the variants, in the order in which they are tried.

    Raises:
        BuildError: if there are no variants, or if earlier variants leave no calls to one of them;
            when attached, if the signature does not have a parameter of a condition, or if the
            variants return statuses or results that differ in type.

    Examples:
        >>> from ffi_builder import spec
        >>> from ffi_builder.providers import DirectCallProvider, Variant, VariantsCallProvider
        >>> from ffi_builder.providers import when
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n], ("float16", "float32"), device_type="cpu")
        >>> half = when.dtype(x) == "float16"
        >>> provider = VariantsCallProvider(
        ...     [
        ...         Variant(DirectCallProvider("relu_f16x8"), when=half & when.divisible(n, 8)),
        ...         Variant(DirectCallProvider("relu_f16"), when=half),
        ...         Variant(DirectCallProvider("relu_f32")),
        ...     ]
        ... )
        >>> print(provider.explain(spec.Signature("relu", [x])))
        variants, in order:
          relu_f16x8: x.dtype == float16 and n % 8 == 0 (x: Tensor([n], float16))
          relu_f16: x.dtype == float16 (x: Tensor([n], float16))
          relu_f32: otherwise (x: Tensor([n], float32))
        tests:
          1: x.dtype == float16? yes: test 2; no: relu_f32
          2: n % 8 == 0? yes: relu_f16x8; no: relu_f16
    """

    variants: Sequence[Variant]

    def __post_init__(self) -> None:
        given = cast("object", self.variants)
        if isinstance(given, str) or not isinstance(given, Sequence) or not given:
            raise BuildError(f"{PROVIDER}: expected a list of variants but got {given!r}")
        for variant in cast("Sequence[object]", given):
            if not isinstance(variant, Variant):
                raise BuildError(
                    f"{PROVIDER}: expected a Variant, such as Variant(provider, when=condition), "
                    f"but got {variant!r}"
                )
        object.__setattr__(self, "variants", tuple(self.variants))
        self._check_size()
        self._check_reachable()

    # ---- before a call

    def explain(self, signature: spec.Signature) -> str:
        """Show the variants, and the tests that choose one in a call of this signature.

        Raises:
            BuildError: if the signature does not have a parameter of a condition.
        """
        check_params(self.variants, signature)
        name, choice = paths_in(signature), self._choice(signature)
        lines = ["variants, in order:"]
        for index, variant in enumerate(self.variants):
            when = "otherwise" if variant.when is None else variant.when.text(name)
            known = choice.narrowed(index).items()
            shown = ", ".join(f"{name(tensor)}: {spec.outline(left)}" for tensor, left in known)
            lines.append(f"  {variant.name}: {when}" + (f" ({shown})" if shown else ""))
        tests = explain(choice.outcome, [variant.name for variant in self.variants], name)
        return "\n".join([*lines, "tests:", *(f"  {line}" for line in tests)])

    def _choice(self, signature: spec.Signature) -> Choice:
        numbers = numbers_in(lambda param: may_be_absent_in(signature, param), {})
        return Choice(self._conditions, numbers, _tensors(signature))

    @property
    def _conditions(self) -> list[Condition | None]:
        return [variant.when for variant in self.variants]

    def _check_size(self) -> None:
        conditions = [condition for condition in self._conditions if condition is not None]
        size = sum(1 for condition in conditions for _ in condition.atoms())
        if max(size, len(self.variants)) > _MOST_COMPARISONS:
            raise BuildError(
                f"{PROVIDER}: expected at most {_MOST_COMPARISONS} variants and comparisons but "
                f"got {len(self.variants)} and {size}; nest providers, or look the kernel up in a "
                f"table of your own"
            )

    def _check_reachable(self) -> None:
        choice = Choice(self._conditions, lambda of: of.numbers(absent=True))
        reached = leaves(choice.outcome)
        for index, variant in enumerate(self.variants):
            if index in reached:
                continue
            before = [other.name for other in self.variants[:index] if other.when is None]
            why = f"its condition, {variant.when}, never holds where no earlier variant fits"
            if before:
                why = f"{before[0]!r} before it has no condition, and takes every call"
            raise BuildError(f"{PROVIDER}: variant {variant.name!r} can never be chosen: {why}")

    # ---- the protocol of call providers

    @property
    def callee(self) -> str | None:
        """The callee of all variants, if they have the same one."""
        names = {variant.members.callee for variant in self.variants}
        return names.pop() if len(names) == 1 else None

    @property
    def one_at_a_time(self) -> bool:
        """Whether this holds for all variants."""
        return all(variant.members.one_at_a_time for variant in self.variants)

    @property
    def forwards(self) -> bool:
        """Whether a variant or a condition reads an argument."""
        return any(v.when is not None or v.members.forwards for v in self.variants)

    @property
    def trusted(self) -> bool:
        """Whether this holds for all variants: the choice itself is known to translate."""
        return all(variant.members.trusted for variant in self.variants)

    @property
    def borrows_tensors(self) -> bool:
        """Whether this holds for all variants."""
        return all(variant.members.borrows_tensors for variant in self.variants)

    def prepare(self, context: ModuleContext) -> None:
        """Check the parameters of conditions, and prepare the providers."""
        check_params(self.variants, context.signature)
        for variant in self.variants:
            variant.members.prepare(context)

    def cache_key(self, context: ModuleContext) -> Hashable | None:
        """Return the conditions, and the keys and callees of the providers if all have one."""
        adds_symbols = any(isinstance(atom.of, OfCall) for atom in atoms(self._conditions))
        if adds_symbols or is_ambiguous(params_of(*self._conditions), context.signature):
            return None
        parts: list[Hashable] = []
        for variant in self.variants:
            key, callee = variant.members.cache_key(context), variant.members.callee
            if key is None:
                return None
            operation = None if callee is None else context.symbols.find(callee)
            parts.append((variant.name, variant.when, callee, describe_callee(operation), key))
        return tuple(parts)

    def __call__(self, current_block: Block, context: CallContext) -> Block:
        """Emit the choice, and the call of each variant."""
        numbers = numbers_in(context.may_be_absent, context.known)
        choice = Choice(self._conditions, numbers, _tensors(context.signature), context.known)
        if leaves(choice.outcome) == {None}:
            raise BuildError(f"{PROVIDER}: no variant can be chosen in {context.fn_name!r}")
        ends: list[End] = []

        def emit_one(index: int) -> None:
            known = {**context.known, **choice.narrowed(index)}
            known |= dict(_taking(context.signature, known))
            ends.append(emit_variant(context, self.variants[index], known))

        def emit_failure() -> None:
            named = [(v.name, v.when) for v in self.variants if v.when is not None]
            fail(context, named, paths_in(context.signature))

        Chooser(context, emit_one, emit_failure).emit(choice.outcome)
        join(context, ends)
        return context.builder.block


def signatures_of(
    provider: VariantsCallProvider, signature: spec.Signature
) -> Iterator[spec.Signature]:
    """Yield the signature of each variant, in which tensors have the dtypes that are left.

    Raises:
        BuildError: if the signature does not have a parameter of a condition.
    """
    check_params(provider.variants, signature)
    choice = provider._choice(signature)  # pyright: ignore[reportPrivateUsage] # of this module
    for index in range(len(provider.variants)):
        left, changed = choice.narrowed(index), dict[str, spec.Param]()
        for param in (*signature.params, *signature.results):
            tensor = spec.required(param)
            if isinstance(tensor, spec.Tensor) and tensor in left:
                tensor = replace(tensor, dtype=left[tensor].dtypes)
                is_inside = isinstance(param, spec.Optional)
                changed[param.name] = replace(param, param=tensor) if is_inside else tensor
        yield signature.with_params(**changed)


def _taking(
    signature: spec.Signature, known: Mapping[spec.Tensor, spec.Tensor]
) -> Iterator[tuple[spec.Tensor, spec.Tensor]]:
    """Yield the tensors that take fields from restricted tensors, each with its restricted form."""
    for tensor in _tensors(signature):
        sources = {name: tensor.source(name) for name in tensor.references}
        narrowed = {name: known.get(each, each) for name, each in sources.items() if each}
        if narrowed != sources:
            yield tensor, known.get(tensor, tensor).with_sources(narrowed)


def _tensors(signature: spec.Signature) -> list[spec.Tensor]:
    """Return all tensors: results, parameters, and elements of parameters."""
    params = (spec.required(param) for _, param in spec.with_paths(signature.params))
    tensors = [param for param in params if isinstance(param, spec.Tensor)]
    return [*signature.result_tensors, *tensors]


def params_of(*conditions: Condition | None) -> list[spec.Param]:
    """Return the parameters and symbols that conditions need, each once, in order."""
    params: list[spec.Param] = []
    for atom in atoms(conditions):
        for of in atom.of if isinstance(atom.of, tuple) else (atom.of,):
            params += of.params if isinstance(of, Property) else variables(of)
    return list(dict.fromkeys(params))


def numbers_in(
    may_be_absent: Callable[[spec.Param], bool], known: Mapping[spec.Tensor, spec.Tensor]
) -> Callable[[Property], Collection[int]]:
    """Return a function that gives the values that a property may have in a signature."""

    def numbers(of: Property) -> Collection[int]:
        absent = any(map(may_be_absent, of.params))
        return replace(of, param=known.get(of.param, of.param)).numbers(absent=absent)

    return numbers


def may_be_absent_in(signature: spec.Signature, part: spec.Param) -> bool:
    """Return whether a parameter is an Optional or inside an Optional."""
    params = [param for _, param in spec.with_paths(signature.params)]
    optionals = [param for param in params if isinstance(param, spec.Optional)]
    inside = [param for _, param in spec.with_paths(optionals)]
    return part in [each for param in inside for each in (param, spec.required(param))]


def paths_in(signature: spec.Signature) -> Name:
    """Return a function that gives the path of a parameter in the signature."""
    paths: dict[spec.Param, str] = {}
    for path, param in spec.with_paths(signature.params):
        paths.setdefault(param, path)
        paths.setdefault(spec.required(param), path)
    return lambda param: paths.get(param) or str(param.name)


def check_params(variants: Sequence[Variant], signature: spec.Signature) -> None:
    """Check that a signature has the parameters and symbols of all conditions.

    Raises:
        BuildError: if one is missing; the message lists those that the signature has.
    """
    params = [param for _, param in spec.with_paths(signature.params)]
    params += [param.param for param in params if isinstance(param, spec.Optional)]
    symbols = symbols_in(signature.params)
    for variant in variants:
        for part in params_of(variant.when):
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
