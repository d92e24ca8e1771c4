"""The C compiler as a witness: what it says of types and symbols that ``wrap`` has read."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ffi_builder.wrapping.c_types import CType, Layout

CC: Final = "gcc"
_HALVES: Final = {"float16": "_Float16", "bfloat16": "__bf16"}
_REAL, _COMPLEX = 8, 9
"""The classes of types that GCC's ``__builtin_classify_type`` returns."""


def is_true(type_: CType, name: str) -> str:
    """Return an expression in C: whether the type of that name is what was read."""
    if type_.layout is not None:
        struct = f"__typeof__(*({name})0)" if type_.is_pointer else name
        return " && ".join(_facts(type_.layout, struct))
    if not type_.is_pointer:
        return _is_number(f"(({name})0)", type_.dtype)
    to = f"(*({name})0)"
    element = f"({to}{'[0]' * len(type_.row)})"
    if type_.opaque == "a pointer":
        inner = f" && {_is_number(f'(*{element})', type_.dtype)}" if type_.dtype else ""
        return f"__builtin_classify_type({element}) == 5{inner}"
    if type_.opaque is not None or type_.dtype is None:
        return f"sizeof({name}) == 8"
    count = 1
    for size in type_.row:
        count *= size if isinstance(size, int) else 1
    is_const = (
        f"__builtin_types_compatible_p(__typeof__(&{element}), const __typeof__({element}) *)"
    )
    facts = [
        _is_number(element, type_.dtype),
        f"sizeof({to}) == {count} * sizeof({element})",
        f"{'' if type_.is_const else '!'}{is_const}",
    ]
    return " && ".join(facts)


def _facts(layout: Layout, struct: str) -> Iterator[str]:
    """Yield what was read of a struct: its size, and each field, as expressions in C."""
    # A name of the struct may say that it is aligned to more.
    yield f"sizeof({struct}) == {layout.size} && _Alignof({struct}) % {layout.align} == 0"
    for each in layout.members:
        # Names of fields in unions may be macros, as si_pid of glibc is.
        is_known = not each.lacks and not each.is_shared and "omplex" not in layout.name
        if not is_known or re.search(r"\b(re|im)$", each.name):
            continue
        yield f"__builtin_offsetof({struct}, {each.name}) == {each.offset}"
        value = f"((({struct} *)0)->{each.name})"
        known = _is_number(value, each.type_.dtype) if not each.type_.is_pointer else "1"
        yield f"(sizeof({value}) == 8 && {known})" if each.type_.is_pointer else known


def _is_number(value: str, dtype: str | None) -> str:
    kind, bits = re.findall(r"[a-z]+|\d+", f"{dtype} 1")[:2]
    type_, is_bool = (
        f"__typeof__({value})",
        f"__builtin_types_compatible_p(__typeof__({value}), _Bool)",
    )
    if kind == "bool":
        return is_bool
    if dtype in _HALVES:
        return f"__builtin_types_compatible_p({type_}, {_HALVES[dtype]})"
    has_size = f"sizeof({value}) * 8 == {bits}"
    if kind in ("float", "complex"):
        return f"{has_size} && __builtin_classify_type({value}) == {_REAL if kind == 'float' else _COMPLEX}"
    return f"{has_size} && ({type_})1 / 2 == 0 && (({type_})-1 < ({type_})1) == {int(kind == 'int')} && !{is_bool}"


def declared_by(text: str) -> Mapping[str, Sequence[str]]:
    """Return the functions that GCC has read, with the types of their parameters and result.

    Functions that return functions are left out, and those that have a body.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "out")
        done = _compiled(text, "-fsyntax-only", "-aux-info", f"{path}")
        assert done.returncode == 0, done.stderr
        out = path.read_text()
    for nameless in ("__va_list_tag", r"(struct|union) \{[^{}]*\}"):  # no type of a name
        while out != (out := re.sub(rf"{nameless} (?=\*)", "void ", out)):
            pass
    out = re.sub(r"\bcomplex (?=float|double|long)", "_Complex ", out)
    lines = re.findall(r":NC \*/ extern ([^(;]*?)(\w+) \(((?!\*).*)\);", out)
    return {name: [*_split(params), result.strip()] for result, name, params in lines}


def _split(params: str) -> Iterator[str]:
    start = depth = 0
    for at, letter in enumerate(f"{params},"):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            yield params[start:at].strip()
            start = at + 1


def contradicted(before: str, claims: Sequence[str], *options: str) -> list[str]:
    """Return the claims, constant expressions in C, that the compiler denies."""
    claims = [*dict.fromkeys(claims)]
    lines = (f'#line {at} "claim"\n_Static_assert({each}, "");\n' for at, each in enumerate(claims))
    done = _compiled(f"{before}\n{''.join(lines)}", "-fsyntax-only", *options)
    assert done.returncode == 0 or "claim:" in done.stderr, done.stderr
    found = {int(at) for at in re.findall(r"^claim:(\d+):\d+: error", done.stderr, re.MULTILINE)}
    return [claims[at] for at in sorted(found)]


def symbols(before: str, functions: Sequence[str], *options: str) -> Mapping[str, str]:
    """Return the symbols that the compiler calls for functions."""
    text = "".join(f"#undef {name}\nvoid *take_{name} = (void *){name};\n" for name in functions)
    done = _compiled(f"{before}\n{text}", "-S", "-o-", *options)
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r"^take_(\w+):\s+\.(?:quad|xword)\s+(\S+)$", done.stdout, re.MULTILINE))


def _compiled(text: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [CC, "-w", "-fmax-errors=0", *options, "-xc", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True)
