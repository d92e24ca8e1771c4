"""A pytest plugin: tvm-ffi's test functions ``testing.*`` become functions of this package.

Each is described by a signature, checked by its wrapper, and passed on to tvm-ffi's own function.
With it, tvm-ffi's own tests run on our functions::

    cd apache_tvm_ffi-0.1.15.post2/tests && PYTHONPATH=<this clone> \
        python -m pytest -p tests.abi.own_functions python

``test_tvm_ffi_suite.py`` does so where the sources are.
"""

from __future__ import annotations

import ctypes
import json
from typing import Any, Final

import tvm_ffi
from tvm_ffi import libinfo

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import PackedCallProvider
from tests.support.wrapping import new_module


def _same(type_: str) -> str:
    return f"(x: {type_}) -> y: {type_}"


SIGNATURES: Final = {
    "test_raise_error": "(kind: String, msg: String)",
    "add_one": "(x: int32) -> y: int32",
    "nop": "(*args: Any) -> y: Any",
    "echo": "(*args: Any) -> y: Any",
    "apply": "(f: Function, *args: Any) -> y: Any",
    "run_check_signal": "(nsec: int32)",
    "object_use_count": "(obj: Object) -> count: int64",
    "make_unregistered_object": "() -> y: Object",
    "get_add_one_c_symbol": "() -> address: int64",
    "get_mlir_add_one_c_symbol": "() -> address: int64",
    "optional_tensor_view_has_value": "(t: Optional(Object('ffi.Tensor'))) -> y: bool",
    "enum_variant_get": "(index: String) -> y: Object('ffi.Enum')",
    "TestIntPairSum": "(pair: Object('testing.TestIntPair')) -> y: int64",
    "make_array_with_tensor": "(t: Object('ffi.Tensor')) -> y: Array",
    "make_array_with_mixed": "(t: Object('ffi.Tensor'), x: int64) -> y: Array",
    "make_nested_array_with_tensor": "(t: Object('ffi.Tensor')) -> y: Array",
    "make_list_with_tensor": "(t: Object('ffi.Tensor'), x: int64) -> y: Object('ffi.List')",
    "make_map_with_tensor": "(t: Object('ffi.Tensor')) -> y: Map(String, Any)",
    "make_dict_with_tensor": "(t: Object('ffi.Tensor')) -> y: Map(String, Any, mutable=True)",
    "make_empty_array_with_tensor_input": "(t: Object('ffi.Tensor')) -> y: Array",
    "make_nested_map_with_tensor": "(t1: Object('ffi.Tensor'), t2: Object('ffi.Tensor')) "
    "-> y: Map(String, Any)",
    "schema_id_int": _same("int64"),
    "schema_id_float": _same("float64"),
    "schema_id_bool": _same("bool"),
    "schema_id_device": _same("Device"),
    "schema_id_dtype": _same("DType"),
    "schema_id_string": _same("String"),
    "schema_id_bytes": _same("Bytes"),
    "schema_id_func": _same("Function"),
    "schema_id_func_typed": _same("Function([int64, float32, Function])"),
    "schema_id_any": _same("Any"),
    "schema_id_object": _same("Object"),
    "schema_id_dltensor": _same("Object('ffi.Tensor')"),
    "schema_id_tensor": _same("Object('ffi.Tensor')"),
    "schema_tensor_view_input": "(t: Object('ffi.Tensor'))",
    "schema_id_opt_int": _same("Optional(int64)"),
    "schema_id_opt_str": _same("Optional(String)"),
    "schema_id_opt_obj": _same("Optional(Object)"),
    "schema_id_arr_int": _same("List(int64)"),
    "schema_id_arr_str": _same("List(String)"),
    "schema_id_arr_obj": _same("Array(Object)"),
    "schema_id_arr": _same("Array"),
    "schema_id_list_int": _same("List(int64, mutable=True)"),
    "schema_id_list_str": _same("List(String, mutable=True)"),
    "schema_id_list_obj": _same("Object('ffi.List')"),
    "schema_id_map_str_int": _same("Map(String, int64)"),
    "schema_id_map_str_str": _same("Map(String, String)"),
    "schema_id_map_str_obj": _same("Map(String, Object)"),
    "schema_id_map": _same("Map"),
    "schema_id_dict_str_int": _same("Map(String, int64, mutable=True)"),
    "schema_id_dict_str_str": _same("Map(String, String, mutable=True)"),
    "schema_id_variant_int_str": _same("Variant(int64, String)"),
    "schema_packed": "(*args: Any) -> y: Any",
    "schema_arr_map_opt": "(arr: Array(Optional(int64)), mp: Map(String, Array(int64)), "
    "os: Optional(String)) -> y: Map(String, Array(int64))",
    "schema_variant_mix": _same("Variant(int64, String, Array(int64))"),
    "schema_no_args": "() -> y: int64",
    "schema_no_return": "(x: int64)",
    "schema_no_args_no_return": "()",
}
"""The signature of each ``testing.…``."""


class _ByteArray(ctypes.Structure):
    _fields_ = (("data", ctypes.c_char_p), ("size", ctypes.c_size_t))

    @classmethod
    def of(cls, text: str) -> _ByteArray:
        data = text.encode()
        return cls(data, len(data))


class _Any(ctypes.Structure):
    _fields_ = (
        ("type_index", ctypes.c_int32),
        ("padding", ctypes.c_uint32),
        ("v", ctypes.c_void_p),
    )


class _MethodInfo(ctypes.Structure):
    _fields_ = (
        ("name", _ByteArray),
        ("doc", _ByteArray),
        ("metadata", _ByteArray),
        ("flags", ctypes.c_int64),
        ("method", _Any),
    )


def pytest_configure() -> None:
    """Replace the functions before any test is read."""
    for name, text in SIGNATURES.items():
        replace(f"testing.{name}", spec.Signature.parse(f"f{text}", device="cpu"))


def replace(name: str, signature: spec.Signature) -> None:
    """Register a function with this signature in place of another, which it calls.

    Its metadata has what else tvm-ffi's own has.
    """
    own = tvm_ffi.get_global_func(name)
    metadata: dict[str, Any] = tvm_ffi.get_global_func_metadata(name)
    kept = f"ffib.kept.{name}"
    tvm_ffi.register_global_func(kept, own, override=True)
    module = new_module()
    attach(module, signature, PackedCallProvider(global_function=kept))
    ours: Any = runtime.compile(module)["f"]
    described = json.loads(signature.metadata())["type_schema"]
    text = described if isinstance(described, str) else json.dumps(described)
    if metadata:
        metadata["type_schema"] = text
    _register(name, ours, json.dumps(metadata))


def _register(name: str, function: Any, metadata: str) -> None:
    library = ctypes.CDLL(libinfo.find_libtvm_ffi())
    info = _MethodInfo(
        name=_ByteArray.of(name),
        doc=_ByteArray.of(""),
        metadata=_ByteArray.of(metadata),
        method=_Any(68, 0, function.__chandle__()),
    )
    if library.TVMFFIFunctionSetGlobalFromMethodInfo(ctypes.byref(info), 1):
        raise RuntimeError(f"{name} was not registered")
