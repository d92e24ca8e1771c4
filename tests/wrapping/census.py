"""Every function of headers, as ``wrap`` reads it and as the C compiler has it.

``python -m tests.wrapping.census /usr/include`` does so for headers and for those in folders, prints
what differs, and why functions are refused.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ffi_builder import CompileError
from ffi_builder.wrapping.c_types import CType
from ffi_builder.wrapping.prototype import Header
from tests.wrapping.witness import contradicted, declared_by, is_true, symbols


@dataclass(frozen=True)
class Compared:
    """What came of the functions that a text declares."""

    symbols: dict[str, str] = field(default_factory=dict[str, str])
    """Of the functions that are read, the symbols that are called."""
    refused: dict[str, str] = field(default_factory=dict[str, str])
    """The errors for the others."""
    differences: list[str] = field(default_factory=list[str])
    """What the compiler denies: of types claims in C, of symbols both."""


def compared(text: str, functions: Mapping[str, Sequence[str]]) -> Compared:
    """Read functions, of which the compiler says the types, and ask it whether they are right."""
    found, claims = Compared(), dict[str, CType]()
    for name, spellings in functions.items():
        try:
            prototype = Header(text).read(name, name)
        except CompileError as error:
            found.refused[name] = f"{error}"
            continue
        found.symbols[name] = prototype.name
        types = [*(type_ for _, type_ in prototype.params), prototype.result]
        given = [each for each in spellings if each not in ("void", "volatile void")]
        known = [type_ for type_ in types if type_ is not None]
        if len(given) != len(known):
            found.differences.append(f"{name} has {len(given)} types, and not {len(known)}")
            continue
        claims |= zip(given, known, strict=True)
    lines = [is_true(type_, f"__typeof__({spelling})") for spelling, type_ in claims.items()]
    own = symbols(text, [*found.symbols])
    found.differences.extend(contradicted(text, lines))
    found.differences.extend(
        f"{name} is {own.get(name)}, and not {symbol}"
        for name, symbol in found.symbols.items()
        if own.get(name) != symbol
    )
    return found


def _of_folders(folders: Sequence[str]) -> Iterator[tuple[Path, Compared]]:
    seen = dict[str, Sequence[str]]()
    paths = (
        path for folder in folders for path in ([*Path(folder).rglob("*.h")] or [Path(folder)])
    )
    for path in sorted(paths):
        text = f'#define _GNU_SOURCE\n#include <stdio.h>\n#include "{path}"\n'
        try:
            declared = declared_by(text)
        except AssertionError:  # no C, or it needs other headers before it
            continue
        new = {name: types for name, types in declared.items() if seen.get(name) != types}
        seen |= new
        yield path, compared(text, new)


def main() -> None:
    """Compare the headers that the command line names, and those in folders."""
    count, read_ones, reasons = 0, 0, Counter[str]()
    for path, found in _of_folders(sys.argv[1:]):
        count += 1
        read_ones += len(found.symbols)
        for difference in found.differences:
            print(f"{path}: {difference}", flush=True)
        for error in found.refused.values():
            reasons[
                re.sub(
                    r"^.*?: (parameter \S+|the result|not read as C: \S+)? *",
                    "",
                    error.partition("\n")[0],
                )
            ] += 1
    print(f"{count} headers, {read_ones} functions read, {reasons.total()} refused")
    for reason, times in reasons.most_common(int(os.environ.get("REASONS", "40"))):
        print(f"{times:6} {reason}")


if __name__ == "__main__":
    main()
