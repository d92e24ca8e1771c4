"""Words that errors share: the name that was probably meant, and how to install a package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

_OTHER_NAMES: Final = {
    "cuda": "gpu nvidia",
    "rocm": "hip amd",
    "cpu": "host",
    "float32": "float single",
    "float64": "double",
    "float16": "half",
    "bfloat16": "brainfloat",
    "int8": "char",
    "int16": "short",
    "int32": "int",
    "int64": "long longlong index ssize_t",
    "uint8": "byte",
    "uint32": "uint",
    "uint64": "size_t",
    "bool": "bool_ i1",
    "float8_e4m3fn": "fp8 float8 e4m3 fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8_e5m2": "e5m2 fp8e5",
    "float8_e5m2fnuz": "fp8e5b16",
    "float4_e2m1fn": "fp4 float4",
    "handle": "void* ptr pointer",
    "DataPointer": "ptr pointer",
    "String": "str string",
    "Array": "list",
    "Map": "dict",
    "Function": "callable",
    "Tensor": "array ndarray",
    "C": "c row-major",
    "F": "f column-major",
    "torch": "pytorch",
    "device_type": "device",
    "data_alignment": "align alignment",
    "divisibility": "multiple_of divisible_by",
    "strides": "layout order",
    "kw_only": "keyword_only",
    "doc": "description",
    "ceildiv": "cdiv",
}
"""Our names of dtypes, devices, types, layouts and fields, with others in lower case."""
_SHORT: Final = {"int": "i s", "uint": "u ui", "float": "f fp", "bfloat": "bf", "complex": "c"}
"""Words of dtypes that a width follows, with shorter ones: ``f32``."""


def nearest(given: object, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant, or None if none is similar.

    Args:
        given: any object. A class is compared by its name. A name with dots, ``torch.float32``, is
            also compared by its last part.
        names: the valid names.
    """
    if given is None:
        return None
    word = given.__name__ if isinstance(given, type) else str(given)
    known = list(names)
    for lower in (word.strip().lower(), word.strip().rpartition(".")[2].lower()):
        same = [name for name in known if name.lower() == lower]
        candidates = same or [ours for ours in _ours(lower) if ours in known]
        if candidates:
            return candidates[0]
    import difflib  # half a millisecond, and most processes suggest nothing

    alike = difflib.get_close_matches(word, known, n=1)
    return alike[0] if alike else None


def _ours(other: str) -> Iterator[str]:
    """Yield our names for another one."""
    yield from (ours for ours, others in _OTHER_NAMES.items() if other in others.split())
    word = other.rstrip("0123456789")
    if width := other[len(word) :]:
        yield from (f"{of}{width}" for of, short in _SHORT.items() if word in short.split())


def did_you_mean(given: object, names: Iterable[str], shown: str = "'{}'") -> str:
    """Return ``", did you mean 'x'?"``, or the empty string; ``shown`` formats the name."""
    name = nearest(given, names)
    return "" if name is None else f", did you mean {shown.format(name)}?"


def install(extra: str, package: str = "it") -> str:
    """Say how to install a package of an extra, both from a registry and in a clone.

    Examples:
        >>> from ffi_builder.suggest import install
        >>> install("jit", "llvmlite")
        "install llvmlite, as the extra ffi_builder[jit] does: pip install -e '.[jit]' in a clone"
    """
    return (
        f"install {package}, as the extra ffi_builder[{extra}] does: pip install -e '.[{extra}]' "
        f"in a clone"
    )
