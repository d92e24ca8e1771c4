__all__: list[str]
from ffi_builder.runtime.bindings import ir_of as ir_of
from ffi_builder.runtime.bindings import new_capsule as new_capsule
from ffi_builder.runtime.codegen.constants import read as _read_constants
from ffi_builder.runtime.codegen.device import device_llvm_ir as device_llvm_ir
from ffi_builder.runtime.codegen.emit import headers as headers
from ffi_builder.runtime.codegen.floats import readable as readable
from ffi_builder.runtime.codegen.mlir import clone as _clone_mlir
from ffi_builder.runtime.codegen.mlir import has_passes as has_passes
from ffi_builder.runtime.codegen.mlir import parse as _parse_mlir
from ffi_builder.runtime.export.files import Exporter as Exporter
from ffi_builder.runtime.export.files import Output as Output
from ffi_builder.runtime.export.files import options as _export_options
from ffi_builder.runtime.export.files import write_outputs as write_outputs
from ffi_builder.runtime.export.function_info import Described as Described
from ffi_builder.runtime.export.header import text as _header_text
from ffi_builder.runtime.export.inspection import Inspected as Inspected
from ffi_builder.runtime.export.inspection import functions as functions
from ffi_builder.runtime.export.inspection import inspected as inspected
from ffi_builder.runtime.export.inspection import own_symbols as own_symbols
from ffi_builder.runtime.export.stub import docstring as docstring
from ffi_builder.runtime.export.stub import text as _stub_text
from ffi_builder.runtime.export.together import write_together as write_together
from ffi_builder.runtime.files.c_compiler import command as _c_compiler
from ffi_builder.runtime.files.object_files import movable as movable
from ffi_builder.runtime.isolate.locks import fork_safe_lock as fork_safe_lock
from ffi_builder.runtime.isolate.worker import emit_ptx as emit_ptx
from ffi_builder.runtime.metadata import EMPTY as EMPTY
from ffi_builder.runtime.metadata import Info as Info
from ffi_builder.runtime.metadata import Parameter as Parameter
from ffi_builder.runtime.metadata import Unwritable as Unwritable
from ffi_builder.runtime.metadata import read as _read_metadata
from ffi_builder.runtime.python.copies import OfThisProcess as OfThisProcess
from ffi_builder.runtime.python.dlpack import DLTensor as DLTensor
from ffi_builder.runtime.python.dlpack import Managed as Managed
from ffi_builder.runtime.python.function_table import FunctionTable as FunctionTable
from ffi_builder.runtime.python.functions import check_defaults as check_defaults
from ffi_builder.runtime.python.functions import extension as extension
from ffi_builder.runtime.python.functions import info_of as info_of
from ffi_builder.runtime.python.functions import made as made
from ffi_builder.runtime.python.functions import made_careful as made_careful
from ffi_builder.runtime.python.functions import made_operator as made_operator
from ffi_builder.runtime.python.functions import reads_arrays as reads_arrays
from ffi_builder.runtime.python.functions import same_function as same_function
from ffi_builder.runtime.python.functions import watcher as watcher
from ffi_builder.runtime.python.position import position_of as position_of
from ffi_builder.runtime.python.reading import Extension as Extension
from ffi_builder.runtime.python.reading import Reading as Reading
from ffi_builder.runtime.sources.links import AddressSource as AddressSource
from ffi_builder.runtime.sources.links import ArchiveSource as ArchiveSource
from ffi_builder.runtime.sources.links import Item as Item
from ffi_builder.runtime.sources.links import LibrarySource as LibrarySource
from ffi_builder.runtime.sources.links import is_name as is_name
from ffi_builder.runtime.sources.links import libraries_among as libraries_among
from ffi_builder.runtime.sources.links import mappings as mappings
from ffi_builder.runtime.sources.links import path_of as path_of
from ffi_builder.runtime.sources.links import read_item as read_item
from ffi_builder.runtime.sources.links import symbols_of as symbols_of
from ffi_builder.runtime.sources.modules import LlvmSource as LlvmSource
from ffi_builder.runtime.sources.modules import ObjectSource as ObjectSource
from ffi_builder.runtime.sources.modules import is_llvm_ir as is_llvm_ir

read_constants = _read_constants
parse_mlir = _parse_mlir
clone_mlir = _clone_mlir
export_options = _export_options
header_text = _header_text
stub_text = _stub_text
c_compiler = _c_compiler
read_metadata = _read_metadata
