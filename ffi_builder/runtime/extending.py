"""The face of the runtime for authors of add-ons; :mod:`ffi_builder.extending` is the core's."""

from __future__ import annotations

from typing import Final

from ffi_builder.lazy import homes_of, lazy

_HOMES: Final = homes_of(
    {
        "ffi_builder.runtime.bindings": "ir_of new_capsule",
        "ffi_builder.runtime.codegen.constants": "read=read_constants",
        "ffi_builder.runtime.codegen.device": "device_llvm_ir",
        "ffi_builder.runtime.codegen.emit": "headers",
        "ffi_builder.runtime.codegen.floats": "readable",
        "ffi_builder.runtime.codegen.mlir": "clone=clone_mlir has_passes parse=parse_mlir",
        "ffi_builder.runtime.export.files": "Exporter Output options=export_options write_outputs",
        "ffi_builder.runtime.export.function_info": "Described",
        "ffi_builder.runtime.export.header": "text=header_text",
        "ffi_builder.runtime.export.inspection": "Inspected functions inspected own_symbols",
        "ffi_builder.runtime.export.stub": "docstring text=stub_text",
        "ffi_builder.runtime.export.together": "write_together",
        "ffi_builder.runtime.files.c_compiler": "command=c_compiler",
        "ffi_builder.runtime.files.object_files": "movable",
        "ffi_builder.runtime.isolate.locks": "fork_safe_lock",
        "ffi_builder.runtime.isolate.worker": "emit_ptx",
        "ffi_builder.runtime.metadata": "EMPTY Info Parameter Unwritable read=read_metadata",
        "ffi_builder.runtime.python.copies": "OfThisProcess",
        "ffi_builder.runtime.python.dlpack": "DLTensor Managed",
        "ffi_builder.runtime.python.function_table": "FunctionTable",
        "ffi_builder.runtime.python.functions": (
            "check_defaults extension info_of made made_careful made_operator reads_arrays "
            "same_function watcher"
        ),
        "ffi_builder.runtime.python.position": "position_of",
        "ffi_builder.runtime.python.reading": "Extension Reading",
        "ffi_builder.runtime.sources.links": (
            "AddressSource ArchiveSource Item LibrarySource is_name libraries_among mappings "
            "path_of read_item symbols_of"
        ),
        "ffi_builder.runtime.sources.modules": "LlvmSource ObjectSource is_llvm_ir",
    }
)
"""The names of each module; ``a=b`` is one that is called b here."""

__all__ = [*_HOMES]  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__, __dir__ = lazy(__name__, _HOMES, __all__)
