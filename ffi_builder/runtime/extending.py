"""The face of the runtime for authors of add-ons; :mod:`ffi_builder.extending` is the core's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ffi_builder.lazy import homes_of, lazy

if TYPE_CHECKING:
    from ffi_builder.runtime.bindings import (
        install as pip_names,
    )
    from ffi_builder.runtime.bindings import (
        ir_of,
    )
    from ffi_builder.runtime.codegen.constants import (
        read as read_constants,
    )
    from ffi_builder.runtime.codegen.device import (
        device_llvm_ir,
    )
    from ffi_builder.runtime.codegen.emit import (
        headers,
    )
    from ffi_builder.runtime.codegen.floats import (
        readable,
    )
    from ffi_builder.runtime.codegen.mlir import (
        clone as clone_mlir,
    )
    from ffi_builder.runtime.codegen.mlir import (
        has_passes,
    )
    from ffi_builder.runtime.codegen.mlir import (
        parse as parse_mlir,
    )
    from ffi_builder.runtime.export.files import (
        Exporter,
        Output,
        write_outputs,
    )
    from ffi_builder.runtime.export.files import (
        options as export_options,
    )
    from ffi_builder.runtime.export.function_info import (
        Described,
    )
    from ffi_builder.runtime.export.header import (
        text as header_text,
    )
    from ffi_builder.runtime.export.inspection import (
        Inspected,
        functions,
        inspected,
    )
    from ffi_builder.runtime.export.stub import (
        docstring,
    )
    from ffi_builder.runtime.export.stub import (
        text as stub_text,
    )
    from ffi_builder.runtime.export.together import (
        write_together,
    )
    from ffi_builder.runtime.files.c_compiler import (
        command as c_compiler,
    )
    from ffi_builder.runtime.files.object_files import (
        Symbol,
        movable,
    )
    from ffi_builder.runtime.isolate.locks import (
        fork_safe_lock,
    )
    from ffi_builder.runtime.isolate.worker import (
        emit_ptx,
    )
    from ffi_builder.runtime.metadata import (
        EMPTY,
        Info,
        Parameter,
        Unwritable,
    )
    from ffi_builder.runtime.metadata import (
        read as read_metadata,
    )
    from ffi_builder.runtime.python.function_table import (
        FunctionTable,
    )
    from ffi_builder.runtime.python.functions import (
        check_defaults,
        info_of,
        made,
        made_careful,
        made_operator,
        reads_arrays,
        same_function,
        watcher,
    )
    from ffi_builder.runtime.python.position import (
        position_of,
    )
    from ffi_builder.runtime.python.reading import (
        Extension,
        Reading,
    )
    from ffi_builder.runtime.sources.links import (
        AddressSource,
        ArchiveSource,
        Item,
        LibrarySource,
        is_name,
        libraries_among,
        mappings,
        path_of,
        read_item,
        symbols_of,
    )
    from ffi_builder.runtime.sources.modules import (
        LlvmSource,
        ObjectSource,
        is_llvm_ir,
    )

__all__ = [
    "EMPTY",
    "AddressSource",
    "ArchiveSource",
    "Described",
    "Exporter",
    "Extension",
    "FunctionTable",
    "Info",
    "Inspected",
    "Item",
    "LibrarySource",
    "LlvmSource",
    "ObjectSource",
    "Output",
    "Parameter",
    "Reading",
    "Symbol",
    "Unwritable",
    "c_compiler",
    "check_defaults",
    "clone_mlir",
    "device_llvm_ir",
    "docstring",
    "emit_ptx",
    "export_options",
    "fork_safe_lock",
    "functions",
    "has_passes",
    "header_text",
    "headers",
    "info_of",
    "inspected",
    "ir_of",
    "is_llvm_ir",
    "is_name",
    "libraries_among",
    "made",
    "made_careful",
    "made_operator",
    "mappings",
    "movable",
    "parse_mlir",
    "path_of",
    "pip_names",
    "position_of",
    "read_constants",
    "read_item",
    "read_metadata",
    "readable",
    "reads_arrays",
    "same_function",
    "stub_text",
    "symbols_of",
    "watcher",
    "write_outputs",
    "write_together",
]

_HOMES = {
    "ffi_builder.runtime.bindings": "install=pip_names ir_of",
    "ffi_builder.runtime.codegen.constants": "read=read_constants",
    "ffi_builder.runtime.codegen.device": "device_llvm_ir",
    "ffi_builder.runtime.codegen.emit": "headers",
    "ffi_builder.runtime.codegen.floats": "readable",
    "ffi_builder.runtime.codegen.mlir": "clone=clone_mlir has_passes parse=parse_mlir",
    "ffi_builder.runtime.export.files": "Exporter Output options=export_options write_outputs",
    "ffi_builder.runtime.export.function_info": "Described",
    "ffi_builder.runtime.export.header": "text=header_text",
    "ffi_builder.runtime.export.inspection": "Inspected functions inspected",
    "ffi_builder.runtime.export.stub": "docstring text=stub_text",
    "ffi_builder.runtime.export.together": "write_together",
    "ffi_builder.runtime.files.c_compiler": "command=c_compiler",
    "ffi_builder.runtime.files.object_files": "Symbol movable",
    "ffi_builder.runtime.isolate.locks": "fork_safe_lock",
    "ffi_builder.runtime.isolate.worker": "emit_ptx",
    "ffi_builder.runtime.metadata": "EMPTY Info Parameter Unwritable read=read_metadata",
    "ffi_builder.runtime.python.function_table": "FunctionTable",
    "ffi_builder.runtime.python.functions": "check_defaults info_of made made_careful "
    "made_operator reads_arrays same_function watcher",
    "ffi_builder.runtime.python.position": "position_of",
    "ffi_builder.runtime.python.reading": "Extension Reading",
    "ffi_builder.runtime.sources.links": "AddressSource ArchiveSource Item LibrarySource is_name "
    "libraries_among mappings path_of read_item symbols_of",
    "ffi_builder.runtime.sources.modules": "LlvmSource ObjectSource is_llvm_ir",
}
"""The names of each module; ``a=b`` is one that is called b here."""

__getattr__, __dir__ = lazy(__name__, homes_of(_HOMES), __all__)
