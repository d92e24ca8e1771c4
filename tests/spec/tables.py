"""Tables of signatures and of Python that makes specs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from ffi_builder import spec
from ffi_builder.spec import Signature, dims
from ffi_builder.spec.expr import Expr, Relation
from tests.support import tables

PLACES: Final = Signature.parse(
    "f(x: Tensor([n], float32, intent=in), y: Tensor([n], float32, intent=out), "
    "t: Tuple(a: Tensor([n], float32), b: Optional(Tensor([n], float32, intent=inout))), "
    "s: Optional(Struct(c: Tensor([n], float32), u: Tuple(d: Tensor([n], float32, intent=out)))), "
    "k: int64)",
    device="cpu",
).params
NAMES: Final[dict[str, Any]] = {
    **vars(spec),
    **{var.name: var for var in dims("n k g m s")},
    "Expr": Expr,
    "Relation": Relation,
    "PLACES": PLACES,
    "np": np,
}
"""The names that the tables use."""


def rows(name: str, count: int) -> list[list[str]]:
    """Return the entries of a file of this folder."""
    return tables.rows(Path(__file__).with_name(name), count)
