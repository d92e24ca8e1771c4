"""Positional arguments, keywords and defaults, as Python itself binds them."""

from __future__ import annotations

import copy
import gc
import inspect
import itertools
import pickle
import pydoc
import weakref
from typing import Any, cast

import numpy as np
import pytest
import tvm_ffi
from hypothesis import given, settings
from hypothesis import strategies as st

from ffi_builder import attach, runtime
from ffi_builder.providers import DirectCallProvider, NopCallProvider
from ffi_builder.runtime.python.functions import info_of, same_function, wrapped
from ffi_builder.spec import DType, Optional, Signature, Tensor, Var, dims
from tests.entry.functions import Ways, both_ways, needs_extension, ways
from tests.entry.rules import WAYS
from tests.support.drawn import drawn
from tests.support.wrapping import new_module

(n,) = dims("n")
NAMES = ("a", "b", "c", "d", "e")


@st.composite
def signatures(draw: st.DrawFn) -> Ways:
    """Functions of up to five ints, of which some have defaults and some are keyword-only."""
    count = draw(st.integers(0, 5))
    kw_only = draw(st.lists(st.booleans(), min_size=count, max_size=count))
    required = draw(st.integers(0, count))
    params: list[Any] = []
    positional = 0
    for name, keyword_only in zip(NAMES, kw_only, strict=False):
        has_default = draw(st.booleans()) if keyword_only else positional >= required
        positional += not keyword_only
        default: dict[str, Any] = {"default": draw(st.integers(0, 99))} if has_default else {}
        params.append(Var(name, "int32", kw_only=keyword_only, **default))
    if not params:
        return ways([])
    return ways(params, ["i32"] * count)


CALLS = st.tuples(
    st.lists(st.integers(100, 199), max_size=6),
    st.dictionaries(st.sampled_from([*NAMES, "f"]), st.integers(200, 299), max_size=5),
)


@needs_extension
@settings(max_examples=drawn(60), deadline=None)
@given(signatures(), st.lists(CALLS, min_size=5, max_size=5))
@pytest.mark.slow
def test_arguments_are_bound_as_python_binds_them(
    both: Ways, calls: list[tuple[list[int], dict[str, int]]]
) -> None:
    signature = inspect.signature(both.entry_callable)
    assert signature == inspect.signature(both.general_callable)
    for args, keywords in calls:
        expected = both.outcome(both.general_callable, *args, **keywords)
        before = both.entry_callable._general_calls
        assert both.outcome(both.entry_callable, *args, **keywords) == expected
        read = both.entry_callable._general_calls == before
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError:
            assert not read
            assert expected[0] is TypeError
        else:
            bound.apply_defaults()
            assert read
            assert expected[0] is type(None)
            kinds = {param.kind for param in signature.parameters.values()}
            if not keywords and inspect.Parameter.KEYWORD_ONLY not in kinds:
                assert both.outcome(both.entry, *args) == expected
        assert both.outcome(both.entry, *args, **keywords) == both.outcome(
            both.general, *args, **keywords
        )


@needs_extension
def test_names_that_are_not_interned() -> None:
    both = ways([Var("alpha", "int32"), Var("beta", "int32")], ["i32", "i32"])
    keywords = {"".join(["al", "pha"]): 1, "".join(["be", "ta"]): 2}
    both.entry(**keywords)
    assert both.recording is not None
    assert [both.recording.signed(index, 4) for index in (0, 1)] == [1, 2]
    assert both.entry._general_calls == 0


def test_the_function_takes_keywords_and_defaults_and_keyword_only_ones_by_position() -> None:
    params = [Var("a", "int32", kw_only=True), Var("b", "int32", default=7)]
    both = ways(params, ["i32", "i32"])
    assert both.recording is not None
    calls: list[tuple[tuple[int, ...], dict[str, int]]] = [
        ((1, 7), {}),
        ((), {"a": 1}),
        ((), {"b": 7, "a": 1}),
    ]
    for way, (args, keywords) in itertools.product((both.entry, both.general), calls):
        both.recording.clear()
        way(*args, **keywords)
        assert [both.recording.signed(index, 4) for index in (0, 1)] == [1, 7]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ([Var("a", "int32"), Var("b", "int32", default=1), Var("c", "int32", default=2)], "1 to 3"),
        ([Var("a", "int32", default=1)], "0 to 1"),
        ([Var("a", "int32"), Var("b", "int32")], "2"),
        # The last one can be left out by keyword alone.
        ([Var("a", "int32", default=1, kw_only=True), Var("b", "int32")], "2"),
    ],
)
def test_how_many_arguments_are_needed_is_said(params: list[Any], expected: str) -> None:
    both = ways(params)
    for args in ((), (1,) * (len(params) + 1)):
        for call in (both.entry, both.general):
            kind, words, _ = both.outcome(call, *args)
            if kind is not type(None):  # all may be left out
                assert kind is TypeError
                assert str(words).startswith("Mismatched number of arguments when calling: `f(a: ")
                assert str(words).endswith(f"`, expected {expected} but got {len(args)}")


@needs_extension
def test_none_as_a_default() -> None:
    both = ways([Optional(Var("a", "int32"), default=None), Var("b", "int32", default=2)])
    both.entry()
    both.entry_callable(b=3)
    assert both.entry._general_calls == 0


@pytest.mark.parametrize("way", WAYS)
def test_what_a_function_is(way: str) -> None:
    both = ways([Var("a", "int32", doc="a number"), Var("b", "int32", default=2, kw_only=True)])
    function: Any = getattr(both, way)
    assert issubclass(type(function), tvm_ffi.Function)
    assert function.__name__ == "f"
    assert str(inspect.signature(function)) == "(a: int32, *, b: int32 = 2)"
    assert "a: a number" in (function.__doc__ or "")
    by_position = way in ("entry", "general")
    shown = "a: int32, b: int32" if by_position else "a: int32, *, b: int32 = 2"
    assert f"f({shown})" in pydoc.plain(pydoc.render_doc(function))
    assert repr(function).startswith(f"<function f({shown})")
    assert copy.copy(function) is function
    assert copy.deepcopy(function) is function
    assert function in {function: 1}
    function.note = "an attribute"
    assert function.note == "an attribute"
    with pytest.raises(AttributeError):
        function.__name__ = "g"
    with pytest.raises(TypeError, match=r"cannot pickle .* its code is in this process"):
        pickle.dumps(function)


@pytest.mark.parametrize("way", WAYS)
def test_names_that_methods_use(way: str) -> None:
    names = ["self", "args", "keywords", "function", "a0"]
    both = ways([Var(name, "int32") for name in names], ["i32"] * len(names))
    numbers = range(len(names))
    getattr(both, way)(**dict(zip(names, numbers, strict=True)))
    assert both.recording is not None
    assert [both.recording.signed(index, 4) for index in numbers] == list(numbers)


@pytest.mark.parametrize("way", WAYS)
def test_what_tools_look_up(way: str) -> None:
    function = getattr(ways([Var("a", "int32", default=2)]), way)
    assert function.__call__(a=1) is None
    assert function.__call__() is None
    with pytest.raises(TypeError, match="unexpected keyword argument 'b'"):
        function.__call__(b=1)


@pytest.mark.parametrize("way", WAYS)
def test_whether_a_call_releases_the_gil(way: str) -> None:
    module = new_module()
    signature = Signature.parse("f() -> held: int32")
    attach(module, signature, DirectCallProvider("PyGILState_Check"))
    f = getattr(both_ways(runtime.compile(module)), way)
    assert f.release_gil is True
    assert f() == 0
    f.release_gil = False
    assert (f.release_gil, f()) == (False, 1)


class Owner: ...


@pytest.mark.parametrize("way", WAYS)
def test_a_function_and_its_code_end_together(way: str) -> None:
    """No cycle has to be collected first: the code may have large constants."""
    signature = Signature("f", [Tensor("x", [n], "float32", device_type="cpu")])
    module = new_module()
    attach(module, signature, NopCallProvider())
    compiled = runtime.compile(module)
    owner = Owner()
    made: Any = (runtime.callable_at if "callable" in way else runtime.function_at)(
        compiled.address("f"), owner=owner, signature=signature
    )
    if "general" in way:
        made = wrapped(same_function(made), "f", info_of(made), converts="callable" in way)
    lives = weakref.ref(owner)
    del owner
    gc.disable()
    try:
        made(np.ones(3, "float32"))
        assert lives() is not None
        del made
        assert lives() is None
    finally:
        gc.enable()


@needs_extension
def test_an_entry_has_no_subclasses() -> None:
    both = ways([])
    for function in (both.entry, both.entry_callable):
        cls = cast("type[object]", type(function))
        with pytest.raises(TypeError):
            type("Mine", (cls,), {})


def test_weak_references() -> None:
    f = ways([Var("a", "int32")]).entry
    ended: list[object] = []
    reference = weakref.ref(f, ended.append)
    assert reference() is f
    del f
    gc.collect()
    assert reference() is None
    assert ended == [reference]


@needs_extension
def test_an_entry_that_is_nothing_yet_says_so() -> None:
    empty: Any = type(ways([]).entry)()
    with pytest.raises(RuntimeError, match="is not made yet"):
        empty(1)
    with pytest.raises(AttributeError):
        empty.__name__  # noqa: B018


@needs_extension
def test_a_function_whose_handle_was_taken_away() -> None:
    both = ways([Var("a", "int32")])
    other = tvm_ffi.Function.__new__(tvm_ffi.Function)
    other.__move_handle_from__(both.entry)
    other(1)
    # tvm-ffi's own functions end the process if they call NULL.
    assert both.entry.__chandle__() == 0
    for args in ((1,), ("x",), (1, 2)):
        with pytest.raises(RuntimeError, match="moved elsewhere"):
            both.entry(*args)


@pytest.mark.slow
def test_entries_are_passed_to_functions() -> None:
    both = ways([Var("a", "int32")])

    def call_it(function: Any, value: object) -> Any:
        return function(value)

    call = tvm_ffi.convert(call_it)
    assert call(both.entry, 3) is None
    with pytest.raises(TypeError, match="expected int but got str"):
        call(both.entry, "x")


@pytest.mark.parametrize("count", [32, 33])
def test_defaults_by_position_of_however_many_parameters(count: int) -> None:
    names = [f"a{index}" for index in range(count)]
    params = [Var(name, "int32", default=7, kw_only=name == "a1") for name in names]
    both = ways(params, ["i32"] * count)
    for way in (both.entry, both.general):
        for args, keywords in (((), {}), ((1, 2, 3), {}), ((1, 2), {"a5": 4}), ((), {"a1": 4})):
            values = [*args, *(keywords.get(name, 7) for name in names[len(args) :])]
            expected = both.outcome(both.plain, *values)
            assert both.outcome(way, *args, **keywords) == expected
        for args, keywords in (((1,), {"a0": 1}), ((), {"b": 1}), ((1,) * (count + 1), {})):
            with pytest.raises(TypeError):
                way(*args, **keywords)


def test_a_default_that_did_not_travel_is_not_passed() -> None:
    module = new_module()
    params = [Var("a", "int32"), DType("b", default=np.dtype("float32"))]
    attach(module, Signature("f", params), NopCallProvider())
    f: Any = runtime.compile(module)["f"]
    f(1, np.dtype("float32"))
    with pytest.raises(TypeError, match="expected 2 but got 1"):
        f(1)
    with pytest.raises(TypeError, match="cannot travel with the code"):
        f(a=1)
