"""Tensor maps that a kernel makes or changes."""

from __future__ import annotations

from typing import Final

from ffi_builder.ptx.table import Form, form

# The order of ``Field`` in tensormap.c: the bits of values, and what there is of each dimension.
_FIELDS: Final = {
    "global_address": (64, False),
    "rank": (32, False),
    "box_dim": (32, True),
    "global_dim": (32, True),
    "global_stride": (64, True),
    "element_stride": (32, True),
    "elemtype": (32, False),
    "interleave_layout": (32, False),
    "swizzle_mode": (32, False),
    "swizzle_atomicity": (32, False),
    "fill_mode": (32, False),
}
_SPACES: Final = "[.global|.shared::cta]"

FORMS: Final[tuple[Form, ...]] = (
    *(
        form(
            f"tensormap.replace.tile.{name}{_SPACES}.b1024.b{bits}  @ {'# ' * has_element}b{bits}",
            *("tensormap_replace", at, int(has_element)),
        )
        for at, (name, (bits, has_element)) in enumerate(_FIELDS.items())
    ),
    form(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release"
        ".<cta|cluster|gpu|sys>.sync.aligned  @ @ #",
        "tensormap_copy",
    ),
)
