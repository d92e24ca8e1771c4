"""Names and marks that modules carry from the layer that writes them to the layer that reads them.

``abi.PREFIX`` is TVM-FFI's prefix of exported functions; the rest is here.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

PREFIX: Final = "__ffi_builder_"
"""The prefix of every symbol that is not exported."""
SHARED: Final = f"{PREFIX}shared_"
"""The prefix of support functions. Equal names mean equal bodies, in all modules."""
TABLE: Final = f"{PREFIX}table_"
"""The prefix of a wrapper's table. The function's name follows."""
TEXT: Final = f"{PREFIX}text_"
"""The prefix of constants, which are named by what they hold."""

METADATA: Final = "ffi-builder-metadata"
"""The LLVM function attribute with a wrapper's metadata, as JSON."""
TRUSTED: Final = "ffi-builder-trusted-"
"""The prefix of an LLVM function attribute; :func:`checksum` follows, in 8 hexadecimal digits.

All operations of such a function are known to translate to LLVM IR.
"""

MEMREF_TYPES: Final = "ffi_builder.memref_types"
"""The attribute of a function that holds its type before lowering, as text.

MLIR keeps unknown attributes of a function when it lowers it, and copies them to its C interface.
It is text, so that the module can be read where a dialect of one of the types is not registered.
"""

METADATA_FORMAT: Final = 1
"""The form of the metadata of wrappers: raised when readers would misunderstand a new one."""


def checksum(names: Iterable[str]) -> int:
    """Return the checksum of a function's operations: which there are, and how many of each.

    It does not depend on their order. It makes the mark void once a pass or a hook has added
    operations to the function.
    """
    return zlib.crc32(repr(sorted(Counter(names).items())).encode())


def record_memref_types(ir: Any, module: Any) -> None:
    """Give each ``func.func`` of a module that has memrefs in its type the attribute.

    Args:
        ir: the ``ir`` module of the MLIR distribution that the module belongs to.
        module: an ``ir.Module``; it is changed.
    """
    for function, text in _function_types(module):
        if "memref<" in text:
            function.attributes[MEMREF_TYPES] = ir.StringAttr.get(text, module.context)


def takes_tensors(module: Any) -> bool:
    """Return whether a ``func.func`` of a module has tensors in its type, of any dialect."""
    return any("tensor<" in text for _, text in _function_types(module))


def _function_types(module: Any) -> Iterator[tuple[Any, str]]:
    """Yield each ``func.func`` of a module with its type as text."""
    for view in module.body.operations:
        function = view.operation
        if function.name == "func.func":
            yield function, str(function.attributes["function_type"])
