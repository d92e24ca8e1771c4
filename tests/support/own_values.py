"""Values like those of CUTLASS, whose class defines `==` to emit an operation."""

from __future__ import annotations

from typing import Any

TYPES = ("i1", "!llvm.ptr", "f16", "bf16", "f32", "f64", "!llvm.struct<()>")
REFUSED = (
    "eq",
    "ne",
    "bool",
    "hash",
    "lt",
    "add",
    "radd",
    "mul",
    "index",
    "len",
    "iter",
    "contains",
)


def register(distribution: Any) -> None:
    """Make comparing values of these types, or taking their truth value, an error."""
    ir = distribution.ir

    def refuse(self: object, *others: object) -> None:
        raise AssertionError(
            "a value is a name, and not to be compared or asked whether it is true"
        )

    own: Any = type("Own", (ir.Value,), {f"__{name}__": refuse for name in REFUSED})
    context = ir.Context()
    distribution.load_llvm(context)
    for text in TYPES:
        typeid = ir.Type.parse(text, context).typeid
        try:
            ir.register_value_caster(typeid, replace=True)(own)
        except RuntimeError as error:  # CUTLASS has registered its own class
            print(error)
