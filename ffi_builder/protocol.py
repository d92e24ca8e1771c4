"""Names that travel in modules, for those that write them and those that read them."""

from __future__ import annotations

from typing import Any, Final

MEMREF_TYPES: Final = "ffi_builder.memref_types"
"""The attribute of a function that holds its type before lowering, as text.

MLIR keeps unknown attributes of a function when it lowers it, and copies them to its C interface.
It is text, so that the module can be read where a dialect of one of the types is not registered.
"""

METADATA_FORMAT: Final = 1
"""The form of the metadata of wrappers: raised when readers would misunderstand a new one."""


def record_memref_types(ir: Any, module: Any) -> None:
    """Give each ``func.func`` of a module that has memrefs in its type the attribute.

    Args:
        ir: the ``ir`` module of the MLIR distribution that the module belongs to.
        module: an ``ir.Module``; it is changed.
    """
    for view in module.body.operations:
        function = view.operation
        if function.name != "func.func":
            continue
        text = str(function.attributes["function_type"])
        if "memref<" in text:
            function.attributes[MEMREF_TYPES] = ir.StringAttr.get(text, module.context)
