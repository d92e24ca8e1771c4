"""How functions look to Python, and calling them with keywords and defaults."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from ffi_builder import attach, rename_tvm_ffi_function, runtime
from ffi_builder.providers import DirectCallProvider, NopCallProvider
from ffi_builder.spec import EnvStream, Optional, Param, Signature, Tensor, Var, dims
from tests.runtime.callables import checking, float32, recorded
from tests.runtime.samples import TORCH_IR, llvm_entry
from tests.support.printed import name_of, operations
from tests.support.wrapping import new_module

(n,) = dims("n")
A, B = Var("a", "int32"), Var("b", "int32")
SCALE = [
    Tensor("x", [n], "float32", device_type="cpu", doc="is changed in place"),
    Var("factor", "float32", default=2.0, doc="what it is multiplied by"),
    Var("times", "int32", default=1, kw_only=True),
]
TYPES = "x: Tensor([n], float32, device_type=cpu), factor: float32, times: int32"


def called(*params: Param) -> Any:
    """A callable of int32 parameters, which gives back what the kernel got."""
    compiled, recording = recorded(params, ["i32"] * len(params))
    call = compiled.callable("f")

    def function(*args: Any, **kwargs: Any) -> list[int]:
        recording.clear()
        call(*args, **kwargs)
        return [recording.signed(index, 4) for index in range(len(params))]

    return function


# ---- what they show


def test_the_callable_shows_its_signature() -> None:
    scale = checking(*SCALE, doc="Multiply in place.").callable("f")
    assert str(inspect.signature(scale)) == (
        "(x: Tensor([n], float32, device_type=cpu), factor: float32 = 2.0, *, times: int32 = 1)"
    )
    assert scale.__name__ == "f"
    assert repr(scale).startswith(f"<function f{inspect.signature(scale)} at 0x")
    assert isinstance(scale, tvm_ffi.Function)


def test_the_function_shows_what_it_takes_by_position() -> None:
    scale = checking(*SCALE)["f"]
    assert isinstance(scale, tvm_ffi.Function)
    assert inspect.signature(scale) == inspect.signature(checking(*SCALE).callable("f"))
    assert scale.__name__ == "f"
    assert repr(scale) == f"<function f({TYPES})>"


@pytest.mark.parametrize("args", [[np.ones(2, "float32")], [tvm_ffi.from_dlpack(np.ones(2, "f4"))]])
def test_several_results_without_tensors_are_a_tuple(args: list[Any]) -> None:
    text = "f(x: Tensor([n], float32), m: int64) -> (a: int64, b: int64)"
    signature = Signature.parse(text, device="cpu")
    kernel = """llvm.func @k(%n: i64, %m: i64) -> !llvm.struct<(i64, i64)> {
      %none = llvm.mlir.undef : !llvm.struct<(i64, i64)>
      %one = llvm.insertvalue %n, %none[0] : !llvm.struct<(i64, i64)>
      %both = llvm.insertvalue %m, %one[1] : !llvm.struct<(i64, i64)>
      llvm.return %both : !llvm.struct<(i64, i64)>
    }"""
    module = new_module(kernel)
    attach(module, signature, DirectCallProvider("k", args=["n", "m"]))
    compiled = runtime.compile(module)
    for function in (compiled.callable("f"), compiled["f"]):
        assert function(*args, 7) == (2, 7)
        assert type(function(*args, 7)) is tuple


def test_documentation() -> None:
    compiled = checking(*SCALE, doc="Multiply in place.")
    words = (
        "Multiply in place.\n\nArgs:\n    x: is changed in place\n    factor: what it is multiplied by"
        "\n\nf"
    )
    assert compiled["f"].__doc__ == f"{words}({TYPES})"
    whole = inspect.signature(compiled.callable("f"))  # with defaults
    assert compiled.callable("f").__doc__ == f"{words}{whole}"
    shown = pydoc.plain(pydoc.render_doc(compiled.callable("f")))
    assert "f(x: Tensor([n], float32, device_type=cpu), factor: float32 = 2.0, *, " in shown
    assert "    Multiply in place." in shown


def test_constraints_are_shown_and_the_stream_of_the_environment_is_not() -> None:
    rows = Var("rows", "int64", divisibility=4)
    x = Tensor("x", [rows], "float32", device_type="cuda")
    function = checking(EnvStream("stream"), x)["f"]
    text = "f(x: Tensor([rows], float32, device_type=cuda)) where rows % 4 == 0"
    assert repr(function) == f"<function {text}>"
    assert function.__doc__ == text
    assert list(inspect.signature(function).parameters) == ["x"]


def test_names_are_those_in_the_module() -> None:
    module = new_module()
    attach(module, Signature("shown", [A]), NopCallProvider(), symbol_name="f")
    rename_tvm_ffi_function(module, "f", "g")
    compiled = runtime.compile(module)
    assert repr(compiled["g"]) == "<function g(a: int32)>"
    assert compiled.callable("g").__name__ == "g"
    with pytest.raises(TypeError, match=r"when calling: `shown\(a: int32\)`"):
        compiled["g"]()


@pytest.mark.parametrize("name", ["a.b", "a-b", "if", "1st", 'qu"ote', "back\\slash", "é"])
def test_names_that_are_no_identifiers(name: str) -> None:
    """Other tools and linkers know such names; ours refuse to attach them."""
    module = new_module()
    attach(module, Signature("f", [A]), NopCallProvider())
    wrapper = next(o for o in operations(module) if name_of(o) == "__tvm_ffi_f")
    wrapper.attributes["sym_name"] = TORCH_IR.StringAttr.get(f"__tvm_ffi_{name}", module.context)
    compiled = runtime.compile(module)
    assert compiled.functions == (name,)
    for again in (compiled, runtime.compile(compiled.llvm_ir)):
        function, call = again[name], again.callable(name)
        assert (function.__name__, call.__name__) == (name, name)
        assert repr(function) == f"<function {name}(a: int32)>"
        function(1)
        call(a=1)


def test_a_function_that_says_nothing_of_itself() -> None:
    compiled = runtime.compile(llvm_entry("f"))
    f = compiled["f"]
    assert f(41) == 42
    assert (f.__name__, f.__doc__, repr(f)) == ("f", None, "<function f(…)>")
    with pytest.raises(AttributeError):
        f.__signature__  # noqa: B018
    with pytest.raises(
        TypeError, match="`f` in the compiled module says nothing of its parameters"
    ):
        compiled.callable("f")


def test_an_unknown_callable() -> None:
    with pytest.raises(KeyError, match="No function `g` in the compiled module, which has: f"):
        checking(A).callable("g")


def test_functions_are_not_copied_and_not_pickled() -> None:
    compiled = checking(A)
    f, call = compiled["f"], compiled.callable("f")
    for function in (f, call):
        assert copy.copy(function) is function
        assert copy.deepcopy([function])[0] is function
    with pytest.raises(TypeError, match=r"cannot pickle <function f\(a: int32\)>: its code is in"):
        pickle.dumps(f)
    with pytest.raises(
        (TypeError, pickle.PicklingError), match=r"<function f(\(a: int32\))? at 0x"
    ):
        pickle.dumps(call)


def test_modules_are_not_copied_and_not_pickled() -> None:
    compiled, lowered = checking(A), runtime.lower("define void @f() {\n ret void\n}")
    for module in (compiled, lowered):
        assert copy.copy(module) is module
        assert copy.deepcopy([module])[0] is module
    words = "its code is in this process; compile the module again, or export it, where it is ne"
    with pytest.raises(TypeError, match=f"cannot pickle <CompiledModule f>: {words}"):
        pickle.dumps(compiled)
    words = "lower the module again, or export it, where it is needed"
    with pytest.raises(TypeError, match=rf"cannot pickle <.*\.LoweredModule object .*>: {words}"):
        pickle.dumps([lowered])


def test_documentation_with_every_kind_of_letter() -> None:
    """It goes through MLIR's text and LLVM's, which write some of them in other ways."""
    doc = 'Say "hi" \\ \\22 \\n \n\ttab \x01 é 漢 🙂 \u2028 % @ # { } \' `'
    compiled = checking(Var("a", "int32", doc=doc), doc=doc)
    assert str(compiled["f"].__doc__).startswith(f"{doc}\n\nArgs:\n    a: {doc}")
    for text in (compiled.mlir, compiled.llvm_ir):
        assert runtime.compile(text)["f"].__doc__ == compiled["f"].__doc__


# ---- calling them


CALLS: list[tuple[list[Param], list[tuple[tuple[int, ...], dict[str, int], list[int]]]]] = [
    # parameters, and calls with what the kernel gets
    ([A, B], [((1, 2), {}, [1, 2]), ((1,), {"b": 2}, [1, 2]), ((), {"b": 2, "a": 1}, [1, 2])]),
    (
        [A, Var("b", "int32", default=7), Var("c", "int32", default=8)],
        [((1,), {}, [1, 7, 8]), ((1,), {"c": 3}, [1, 7, 3]), ((1, 2), {}, [1, 2, 8])],
    ),
    (
        [Var("a", "int32", kw_only=True), B, Var("c", "int32", kw_only=True, default=9)],
        [((2,), {"a": 1}, [1, 2, 9]), ((), {"b": 2, "c": 3, "a": 1}, [1, 2, 3])],
    ),
]


@pytest.mark.parametrize(
    ("params", "calls"), CALLS, ids=["keywords", "defaults", "keyword-only ones anywhere"]
)
def test_what_the_kernel_gets(params: list[Param], calls: Any) -> None:
    f = called(*params)
    for args, kwargs, expected in calls:
        assert f(*args, **kwargs) == expected


def test_a_function_without_parameters() -> None:
    compiled = checking()
    assert repr(compiled["f"]) == "<function f()>"
    assert compiled.callable("f")() is None


WRONG: list[tuple[Any, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    ([], (1,), {}, TypeError, "takes 0 positional arguments but 1 was given"),
    ([A, Var("b", "int32", kw_only=True)], (1, 2), {}, TypeError, "takes 1 positional argument but 2 were given"),
    (SCALE, (), {}, TypeError, r"^f\(\) missing 1 required positional argument: 'x'"),
    (SCALE, (1,), {"y": 2}, TypeError, r"^f\(\) got an unexpected keyword argument 'y'$"),
    (SCALE, (1,), {"x": 2}, TypeError, r"^f\(\) got multiple values for argument 'x'"),
    (SCALE, (), {"x": np.zeros(3, "int32")}, TypeError, r"Mismatched x.dtype on argument #0 when calling: `f\("),
    ([A, Var("b", "int8")], (), {"b": 300, "a": 1}, ValueError, "Mismatched b on argument #1 .* but got 300"),
]  # fmt: skip


@pytest.mark.parametrize(("params", "args", "kwargs", "error", "words"), WRONG)
def test_what_python_or_the_wrapper_says_of_a_wrong_call(
    params: list[Param], args: Any, kwargs: Any, error: type[Exception], words: str
) -> None:
    call: Any = checking(*params).callable("f")
    with pytest.raises(error, match=words):
        call(*args, **kwargs)


def test_names_that_python_has_for_itself() -> None:
    names = ["from", "None", "from_", "__debug__", "__i_target_func", "self", "wrapper", "match"]
    f = called(*(Var(name, "int32") for name in names))
    python = ["from__", "None_", "from_", "debug___", "i_target_func_", "self", "wrapper", "match"]
    assert f(**dict(zip(python, range(8), strict=True))) == list(range(8))
    assert f(*range(8)) == list(range(8))
    with pytest.raises(
        TypeError, match=r"f\(\) got .* argument 'from', .* reserves: it is 'from__'"
    ):
        f(**{"from": 1})


def test_many_parameters() -> None:
    """More than CPython's 255 of once."""
    params = [Var(f"p{index}", "int32", default=index) for index in range(300)]
    call = checking(*params).callable("f")
    call()
    call(*range(300))
    call(p299=1)


def test_optional_defaults() -> None:
    params = [
        Optional(Tensor("x", [n], "float32", device_type="cpu"), default=None),
        Optional(Var("a", "int32", default=3)),
    ]
    compiled, recording = recorded(params, ["!llvm.ptr", "i32"])
    call = compiled.callable("f")
    call()
    assert (recording.unsigned(0), recording.signed(1, 4)) == (0, 3)
    call(np.ones(2, "float32"), None)
    assert recording.unsigned(0) != 0
    assert recording.signed(1, 4) == 0


def test_floats_arrive() -> None:
    compiled, recording = recorded([Var("a", "float32", default=0.5)], ["f32"])
    call = compiled.callable("f")
    for args, value in [((), 0.5), ((2,), 2.0), ((True,), 1.0), ((np.float32(1.5),), 1.5)]:
        call(*args)
        assert float32(recording, 0) == value
