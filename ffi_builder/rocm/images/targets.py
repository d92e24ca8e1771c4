"""The target of a code object, by the flags in its header: ``gfx90a:sramecc+:xnack-``.

The triple in the metadata has several spellings, so it is not read. Numbers are those of LLVM 22
(``EF_AMDGPU_…`` in ELF.h), whose assembler writes each of them in the tests.
"""

from __future__ import annotations

from typing import Final

_PROCESSORS: Final = {
    0x20: "600 601 700 701 702 703 704 - 801 802 803 810 900 902 904 906",
    0x30: "908 909 90c 1010 1011 1012 1030 1031 1032 1033 602 705 805 1035 1034 90a",
    0x40: "940 1100 1013 1150 1103 1036 1101 1102 1200 1250 1151 941 942 - 1201 950",
    0x50: "- 9-generic 10-1-generic 10-3-generic 11-generic 1152 - - 1153 12-generic 1251 - - - - "
    "9-4-generic",
}
"""What follows ``gfx``, from each of these numbers on."""
_NAMES: Final = {
    first + index: f"gfx{name}"
    for first, names in _PROCESSORS.items()
    for index, name in enumerate(names.split())
    if name != "-"
}
_FEATURES: Final = (("sramecc", 10), ("xnack", 8))
_SIGNS: Final = {2: "-", 3: "+"}
"""Code that runs with either setting has 1, and processors without the feature 0."""


def target_of(flags: int) -> str | None:
    """Return HIP's name of a target by ``e_flags``; None if they have no processor.

    Examples:
        >>> from ffi_builder.rocm.images.targets import target_of
        >>> target_of(0x54C), target_of(0xE3F)
        ('gfx942', 'gfx90a:sramecc+:xnack-')
    """
    number = flags & 0xFF
    if not number:
        return None
    settings = [
        f":{feature}{_SIGNS[flags >> shift & 3]}"
        for feature, shift in _FEATURES
        if flags >> shift & 3 in _SIGNS
    ]
    return "".join([_NAMES.get(number, f"processor {number:#x}"), *settings])
