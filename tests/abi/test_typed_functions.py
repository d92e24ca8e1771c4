"""tvm-ffi's own typed functions, described by our signatures: same schemas, same answers."""

from __future__ import annotations

import json
from typing import Any, cast

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach, runtime, spec
from ffi_builder.providers import PackedCallProvider
from tests.support.wrapping import new_module

Values = list[tuple[Any, ...]]
X = np.ones(3, "float32")
WORDS = "more than seven bytes"
OBJECT = tvm_ffi.Array([1])


def _same(name: str, type_: str, right: list[Any], wrong: list[Any]) -> Any:
    values = [(value,) for value in right], [(value,) for value in wrong]
    return pytest.param(name, f"f(x: {type_}) -> y: {type_}", *values, id=name)


FUNCTIONS = [
    _same("schema_id_int", "int64", [-5, True], ["a", 1.5, None]),
    _same("schema_id_float", "float64", [1.5, 2, True], ["a", None]),
    _same("schema_id_bool", "bool", [True, False], ["a", 1.5]),
    _same("schema_id_device", "Device", [tvm_ffi.device("cuda", 1)], [5]),
    _same("schema_id_dtype", "DType", [tvm_ffi.dtype("float16")], [5]),
    _same("schema_id_string", "String", ["a", WORDS], [b"a", 5, None]),
    _same("schema_id_bytes", "Bytes", [b"a", WORDS.encode()], [5]),
    _same("schema_id_func", "Function", [tvm_ffi.get_global_func("testing.nop")], [5]),
    _same("schema_id_object", "Object", [OBJECT], [5]),
    _same("schema_id_any", "Any", [5, None, "a", OBJECT], []),
    _same("schema_id_opt_int", "Optional(int64)", [5, None], ["a"]),
    _same("schema_id_opt_str", "Optional(String)", [WORDS, None], [5]),
    _same("schema_id_opt_obj", "Optional(Object)", [OBJECT, None], [5]),
    _same("schema_id_arr_int", "List(int64)", [[1, 2], [], (3,)], [["a"], [1.5], 5, None]),
    _same("schema_id_arr_str", "List(String)", [["a", WORDS], []], [[1], 5]),
    _same("schema_id_arr", "Array", [[1, "a"]], [5]),
    _same("schema_id_map", "Map", [{1: "a"}], [5, [1]]),
    _same("schema_id_variant_int_str", "Variant(int64, String)", [5, WORDS], [1.5, [1]]),
    pytest.param("schema_no_args", "f() -> y: int64", [()], [(1,)]),
    pytest.param("schema_no_return", "f(x: int64)", [(1,)], [("a",), ()]),
    pytest.param("schema_no_args_no_return", "f()", [()], [(1,)]),
]


@pytest.mark.parametrize(("name", "text", "right", "wrong"), FUNCTIONS)
def test_typed_functions(name: str, text: str, right: Values, wrong: Values) -> None:
    own = tvm_ffi.get_global_func(f"testing.{name}")
    module = new_module()
    signature = spec.Signature.parse(text, device="cpu")
    attach(module, signature, PackedCallProvider(global_function=f"testing.{name}"))
    ours = runtime.compile(module)["f"]
    described = tvm_ffi.get_global_func_metadata(f"testing.{name}")["type_schema"]
    schema = _filled(json.loads(signature.metadata())["type_schema"])
    if "named_args" not in described:
        schema = _unnamed(schema)
    assert schema == _filled(json.loads(described))
    for args in right:
        assert _plain(ours(*args)) == _plain(own(*args))
    for args in wrong:
        for function in (own, ours):
            with pytest.raises(TypeError):
                function(*args)


def test_the_intent_of_a_tensor_in_a_variant() -> None:
    array = np.ones(3, "float32")
    array.flags.writeable = False
    for intent in "in", "out":
        module = new_module()
        text = f"f(x: Variant(float64, Tensor([n], float32, intent={intent})))"
        signature = spec.Signature.parse(text, device="cpu")
        attach(module, signature, PackedCallProvider(global_function="testing.nop"))
        f = runtime.compile(module)["f"]
        f(1.0)
        f(np.ones(3, "float32"))
        if intent == "in":
            f(array)
            continue
        with pytest.raises(ValueError, match='x is declared intent="out"'):
            f(array)


def _filled(schema: Any) -> Any:
    """Return a schema in which containers of anything say so."""
    if isinstance(schema, list):
        return [_filled(each) for each in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Any] = {key: _filled(value) for key, value in cast("Any", schema).items()}
    size = {"ffi.Array": 1, "ffi.Map": 2}.get(found.get("type", ""), 0)
    return {"args": [{"type": "Any"}] * size, **found} if size else found


def _unnamed(schema: Any) -> Any:
    """Return the schema of a function as older versions of tvm-ffi write it."""
    named = schema["named_args"]
    return {"type": schema["type"], "args": [*named["return"], *named["params"]]}


def _plain(value: Any) -> Any:
    if isinstance(value, tvm_ffi.Array):
        return [_plain(item) for item in cast("tvm_ffi.Array[Any]", value)]
    if isinstance(value, tvm_ffi.Map):
        pairs = cast("tvm_ffi.Map[Any, Any]", value).items()
        return {_plain(key): _plain(item) for key, item in pairs}
    return value
