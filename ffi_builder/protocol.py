"""Names and marks that modules carry from the layer that writes them to the layer that reads them.

``abi.PREFIX`` is TVM-FFI's prefix of exported functions; the rest is here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any, Final

PREFIX: Final = "__ffi_builder_"
"""The prefix of every symbol that is not exported."""
SHARED: Final = f"{PREFIX}shared_"
"""The prefix of support functions. Equal names mean equal bodies, in all modules."""
TABLE: Final = f"{PREFIX}table_"
"""The prefix of a wrapper's table. The function's name follows."""
TEXT: Final = f"{PREFIX}text_"
"""The prefix of constants. A digest of the content follows."""

METADATA: Final = "ffi-builder-metadata"
"""The LLVM function attribute with a wrapper's metadata, as JSON."""
TRUSTED: Final = "ffi-builder-trusted"
"""The LLVM function attribute of a wrapper whose operations are known to translate to LLVM IR."""

MEMREF_TYPES: Final = "ffi_builder.memref_types"
"""The attribute of a function that holds its type before lowering, as text.

MLIR keeps unknown attributes of a function when it lowers it, and copies them to its C interface.
As text, the type can also be read where one of its dialects is not registered.
"""

METADATA_FORMAT: Final = 1
"""The version of the metadata's format: raised when existing readers would misread a new format."""


def helped_by(name: str, functions: Collection[str]) -> tuple[str, str] | None:
    """Return what a function does for another one that launches a CUDA kernel, and this one's name.

    It is ``preload`` or ``release``; None for any other function.

    Examples:
        >>> from ffi_builder.protocol import helped_by
        >>> helped_by("_cuda_preload_axpy", ["axpy", "_cuda_preload_axpy"])
        ('preload', 'axpy')
    """
    match = re.fullmatch(r"_cuda_(preload|release)\d*_(.+)", name)
    return (match[1], match[2]) if match is not None and match[2] in functions else None


def helper_doc(name: str, functions: Collection[str]) -> str:
    """Say what such a helper does; an empty string for any other function.

    Examples:
        >>> from ffi_builder.protocol import helper_doc
        >>> helper_doc("_cuda_release_axpy", ["axpy", "_cuda_release_axpy"])
        'unloads the kernel of axpy'
    """
    match helped_by(name, functions):
        case "preload", function:
            return f"loads the kernel of {function} ahead of calls, on the GPU with this id"
        case _, function:
            return f"unloads the kernel of {function}"
        case None:
            return ""


def escaped(data: bytes) -> str:
    """Return the letters of a string of LLVM IR that has these bytes."""
    plain = range(32, 127)
    return "".join(
        chr(byte) if byte in plain and byte not in b'"\\' else f"\\{byte:02X}" for byte in data
    )


def unescaped(text: str) -> bytes:
    """Undo how MLIR and LLVM print strings: other bytes than letters as two hexadecimal digits."""
    return re.sub(
        rb"\\(\\|[0-9A-Fa-f]{2})",
        lambda found: b"\\" if found[1] == b"\\" else bytes.fromhex(found[1].decode()),
        text.encode(),
    )


def record_memref_types(ir: Any, module: Any) -> None:
    """Set :data:`MEMREF_TYPES` on each ``func.func`` of a module whose type has memrefs.

    Args:
        ir: the ``ir`` module of the MLIR distribution that the module belongs to.
        module: an ``ir.Module``; it is changed.
    """
    for function, text in _function_types(module):
        if "memref<" in text:
            function.attributes[MEMREF_TYPES] = ir.StringAttr.get(text, module.context)


def takes_tensors(module: Any) -> bool:
    """Return whether the type of any ``func.func`` of a module has tensors, of any dialect."""
    return any("tensor<" in text for _, text in _function_types(module))


def _function_types(module: Any) -> Iterator[tuple[Any, str]]:
    """Yield each ``func.func`` of a module with its type as text."""
    for view in module.body.operations:
        function = view.operation
        if function.name == "func.func":
            yield function, str(function.attributes["function_type"])
