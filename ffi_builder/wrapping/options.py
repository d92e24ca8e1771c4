"""The options of ``wrap``: which go with which source, and what names of C in them stand for."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from ffi_builder import BuildError, CompileError, spec
from ffi_builder.extending import ERROR_KINDS, INT_RANGES, dataclass, did_you_mean
from ffi_builder.providers import CallProvider, CheckStatus, VariantsCallProvider
from ffi_builder.runtime.extending import AddressSource
from ffi_builder.wrapping import several, sources, statuses
from ffi_builder.wrapping.c_types import Prototype
from ffi_builder.wrapping.comparison import Passed
from ffi_builder.wrapping.prototype import Header
from ffi_builder.wrapping.sources import CODE
from ffi_builder.wrapping.statuses import Errors

if TYPE_CHECKING:
    from ffi_builder import Sanitize

_ENUM: Final = r"\bChoice\(\s*(?:enum\s+)?([A-Za-z_]\w*)\s*\)"
_OPTIONS: Final = {
    "pipeline": (sources.Mlir,),
    "prototype": CODE,
    "owner": (AddressSource,),
    "launch": (sources.Image,),
    **dict.fromkeys(("errors", "success", "errno"), (sources.Mlir, *CODE)),
    "free": CODE,
    "destroy": CODE[:-1],
    "provider": (sources.Mlir, *CODE),
    "release_gil": (sources.Mlir, *CODE),
    "function": (sources.Mlir, sources.Image, *CODE),
}
"""The sources that options go with. The others go with all. An address is of one function alone."""


_LISTS: Final = {"link": "", "include": " of folders", "args": ", or a dict"}
"""Options that are no single value, and what else to say of them."""


@dataclass(frozen=True)
class Options:
    """How a kernel is called: the options of :func:`~ffi_builder.wrap`, which documents them."""

    device: str | None = None
    function: str | None = None
    prototype: str | os.PathLike[str] | None = None
    include: Iterable[str | os.PathLike[str]] = ()
    args: Sequence[Any] | Mapping[str, Any] | None = None
    errors: Errors | None = None
    success: int | str | Sequence[int | str] | None = None
    errno: bool = False
    free: str | None = None
    destroy: str | Mapping[str, str] | None = None
    provider: CallProvider | type[Any] | None = None
    launch: object = None
    owner: object = sources.UNOWNED
    release_gil: bool | None = None
    pipeline: str | None = None
    link: Iterable[str | bytes | os.PathLike[str]] = ()
    sanitize: bool | Sanitize = False
    target: str | None = None
    """The triple of the machine for which a prototype is read; None for this one."""

    @cached_property
    def header(self) -> Header | None:
        """The declarations of ``prototype=``."""
        prototype = self.prototype
        return None if prototype is None else Header(prototype, self.include, self.target)

    def with_numbers(self) -> Options:
        """Return the options with numbers for statuses that the prototype gives names."""
        success = self.success
        listed = [success] if isinstance(success, str) else success
        given: list[Any] = [*listed] if isinstance(listed, Sequence) else []
        errors = statuses.by_status(self.errors)
        names = [each for each in [*errors, *given] if isinstance(each, str)]
        if self.header is None or not names:
            return self
        values = self.header.constants(names, (), "errors= or success=")
        successes = [values.get(each, each) for each in given]
        by_number = {values.get(k, k): error for k, error in errors.items()}
        return replace(self, errors=by_number or self.errors, success=successes or success)

    def texts(self) -> Iterator[Prototype]:
        """Yield the functions that say the words of errors.

        Raises:
            BuildError: one returns no text, or has other parameters.
            CompileError: the prototype has no such function.
        """
        if self.header is None:
            return
        for name, given in statuses.functions(self.errors):
            try:
                prototype = self.header.read(name, name)
            except CompileError as error:
                words, _, has = f"{error}".partition("; it has ")
                meant = has and did_you_mean(name, ERROR_KINDS)
                raise CompileError(f"errors= has {name!r}: {words}{meant}") from error
            types = [None if type_.is_pointer else type_.dtype for _, type_ in prototype.params]
            fits = given != "" and len(types) == 1 and types[0] in several.STATUSES
            fits = fits or (not given and not types)
            if not fits or prototype.result is None or not prototype.result.is_char:
                raise BuildError(
                    f"wrap: errors= has {name!r}, which is no function that returns the text of a "
                    f"status, as `const char *{name}({'void' if given == '' else 'int'})`"
                )
            yield prototype

    def text_of(self, signature: str) -> str:
        """Return a signature with the choices of enums, which the prototype declares."""
        header = self.header
        if header is None:
            return signature

        def choice(match: re.Match[str]) -> str:
            names = header.choices(match[1])
            fit = (dtype for dtype in ("int32", "uint32", "int64") if _fit(dtype, names.values()))
            return f"Choice({names}, {next(fit, 'uint64')})"

        return re.sub(_ENUM, choice, signature)

    def check_choices(self, signature: spec.Signature, passed: Collection[Passed]) -> None:
        """Raise BuildError if C has other numbers for the names of a Choice, or another enum."""
        if self.header is None:
            return
        enums = {each.entry: each for each in passed if each.type_.enum}
        for path, param in spec.with_paths(signature.params):
            choice = spec.required(param)
            if not isinstance(choice, spec.Choice):
                continue
            to = enums.get(path)
            if to and (others := self.header.of_another_enum(to.type_.enum, choice.choices)):
                raise BuildError(
                    f"{signature.name}: parameter {to.own} is the enum {to.type_.enum}, but "
                    f"{path!r} has {others[0]}, which is of another: declare "
                    f"`{path}: Choice({to.type_.enum})`"
                )
            low, high = INT_RANGES[choice.dtype]
            of_c = self.header.numbers(choice.choices)
            for name, number in choice.choices.items() if of_c else ():
                if (number - of_c[name]) % (high - low + 1):  # -1 is 0xffffffff of 32 bits
                    raise BuildError(
                        f"{signature.name}: {path!r} has {number} for {name!r}, which is "
                        f"{of_c[name]} in prototype=; `Choice(…)` with the name of an enum takes "
                        f"its numbers"
                    )

    def check(self, kernel: sources.Kernel, functions: int) -> None:
        """Raise TypeError for options that go neither with the source nor with each other."""
        if not isinstance(self.release_gil, (bool, type(None))):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"wrap: release_gil= is a bool, but got {self.release_gil!r}")
        for option, kinds in _OPTIONS.items():
            value = getattr(self, option)
            is_given = bool(value) if option == "errno" else value not in (None, sources.UNOWNED)
            if is_given and sources.kind_of(kernel) not in kinds:
                raise TypeError(
                    f"wrap: {option}= goes with {' or '.join(sources.WORDS[k] for k in kinds)}, "
                    f"but the source is {sources.WORDS[sources.kind_of(kernel)]}"
                )
        if not functions:
            raise TypeError("wrap: expected a signature, or a list of them, but the list is empty")
        is_dict, is_code = isinstance(self.args, Mapping), type(kernel) in CODE
        for option in ("function", "args"):
            if (
                functions > 1
                and getattr(self, option) is not None
                and not (is_dict and is_code and option == "args")
            ):
                hint = "; name the others after their kernels" if option == "function" else ""
                raise TypeError(f"wrap: {option}= goes with one signature{hint}")
        statuses.check(self.errors, errno=self.errno)
        for option, words in _LISTS.items():
            value = getattr(self, option)
            is_one = isinstance(value, (str, bytes, os.PathLike))
            if is_one or not isinstance(value, (Iterable, type(None))):
                shown = "…" if isinstance(value, bytes) else f"'{value}'"
                cure = f": write {option}=[{shown}]" if is_one else f", but got {value!r}"
                raise TypeError(f"wrap: {option}= is a list{words}{cure}")
        if self.function is not None and not isinstance(self.function, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"wrap: function= is a name, but got {self.function!r}")
        if self.include and self.prototype is None:
            raise TypeError("wrap: include= has folders of headers, and goes with prototype=")
        has_names = is_code or getattr(kernel, "has_names", False)
        if is_dict and (self.provider is not None or not has_names):
            raise TypeError(
                "wrap: args= as a dict goes with prototype=, or with LLVM IR or a kernel of "
                "Triton's or FlyDSL's"
            )
        if self.provider is not None:
            self._check_provider(kernel)

    def _check_provider(self, kernel: sources.Kernel) -> None:
        """Raise TypeError for options that do not go with ``provider=``."""
        if self.destroy is not None:
            raise TypeError(
                "wrap: destroy= goes without provider=, which does not say how to destroy: wrap "
                "the other function, too, and give the result spec.Var(…, 'handle', destroy=…)"
            )
        if self.free is not None:
            raise TypeError(
                "wrap: free= goes without provider=: give it to the provider, as in "
                "DirectCallProvider('f', free='free')"
            )
        if self.success is not None or self.errno:
            raise TypeError(
                "wrap: success= and errno= go without provider=: give them to the provider, as in "
                "CheckStatus(provider, success=1, error='OSError')"
            )
        inner = self.provider.provider if isinstance(self.provider, CheckStatus) else None
        if self.prototype is not None and isinstance(inner, VariantsCallProvider):
            raise TypeError(
                "wrap: prototype= is compared with each variant: put CheckStatus around the "
                "provider of each, as in Variant(CheckStatus(DirectCallProvider('f')), when=…), "
                "and not around the VariantsCallProvider"
            )
        of_variants = isinstance(self.provider, VariantsCallProvider)
        of_variants = of_variants and not isinstance(kernel, AddressSource)
        if (self.prototype is not None and not of_variants) or self.errors is not None:
            raise TypeError(
                "wrap: prototype= and errors= go without provider=, which says itself how to call: "
                "a prototype would not be compared, unless it is that of the functions of a "
                "VariantsCallProvider, and CheckStatus(provider, errors=…) has errors"
            )
        if self.args is not None and not isinstance(self.provider, type):
            raise TypeError("wrap: args= goes with a class in provider=; give them to the provider")


def _fit(dtype: str, numbers: Iterable[int]) -> bool:
    low, high = INT_RANGES[dtype]
    return all(low <= number <= high for number in numbers)
