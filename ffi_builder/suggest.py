"""Words that errors share: the name that was probably meant, and how to install a package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_ALIASES: Final = {
    "gpu": ("cuda",),
    "nvidia": ("cuda",),
    "hip": ("rocm",),
    "amd": ("rocm",),
    "host": ("cpu",),
    "float": ("float32",),
    "single": ("float32",),
    "double": ("float64",),
    "half": ("float16",),
    "brainfloat": ("bfloat16",),
    "short": ("int16",),
    "int": ("int32",),
    "long": ("int64",),
    "longlong": ("int64",),
    "index": ("int64",),
    "ssize_t": ("int64",),
    "uint": ("uint32",),
    "size_t": ("uint64",),
    "char": ("int8",),
    "byte": ("uint8",),
    "bool_": ("bool",),
    "i1": ("bool",),
    "fp8": ("float8_e4m3fn",),
    "float8": ("float8_e4m3fn",),
    "e4m3": ("float8_e4m3fn",),
    "e5m2": ("float8_e5m2",),
    "fp8e4nv": ("float8_e4m3fn",),
    "fp8e4b8": ("float8_e4m3fnuz",),
    "fp8e5": ("float8_e5m2",),
    "fp8e5b16": ("float8_e5m2fnuz",),
    "fp4": ("float4_e2m1fn",),
    "float4": ("float4_e2m1fn",),
    "void*": ("handle",),
    "ptr": ("handle", "DataPointer"),
    "pointer": ("handle", "DataPointer"),
    "str": ("String",),
    "string": ("String",),
    "list": ("Array",),
    "dict": ("Map",),
    "callable": ("Function",),
    "array": ("Tensor",),
    "ndarray": ("Tensor",),
    "c": ("C",),
    "row-major": ("C",),
    "f": ("F",),
    "column-major": ("F",),
    "pytorch": ("torch",),
    "device": ("device_type",),
    "align": ("data_alignment",),
    "alignment": ("data_alignment",),
    "multiple_of": ("divisibility",),
    "divisible_by": ("divisibility",),
    "layout": ("strides",),
    "order": ("strides",),
    "keyword_only": ("kw_only",),
    "description": ("doc",),
    "cdiv": ("ceildiv",),
    **{
        f"{short}{bits}": (f"{name}{bits}",)
        for short, name, widths in (
            ("i", "int", (2, 4, 8, 16, 32, 64)),
            ("s", "int", (8, 16, 32, 64)),
            ("u", "uint", (1, 2, 4, 8, 16, 32, 64)),
            ("ui", "uint", (8, 16, 32, 64)),
            ("f", "float", (16, 32, 64)),
            ("fp", "float", (16, 32, 64)),
            ("bf", "bfloat", (16,)),
            ("c", "complex", (64, 128)),
        )
        for bits in widths
    },
}
"""Other names of dtypes, devices, types, layouts and fields, in lower case, with ours."""


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
        candidates = same or [alias for alias in _ALIASES.get(lower, ()) if alias in known]
        if candidates:
            return candidates[0]
    import difflib  # half a millisecond, and most processes suggest nothing

    alike = difflib.get_close_matches(word, known, n=1)
    return alike[0] if alike else None


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
