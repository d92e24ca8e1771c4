"""A wrapper that is attached again comes from bytecode, and is what it was when it was built."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

from ffi_builder import attach, attach_ffi_func, runtime, spec
from ffi_builder.builder import reuse
from ffi_builder.errors import BuildError
from ffi_builder.protocol import MEMREF_TYPES
from ffi_builder.providers import (
    CallProvider,
    CheckStatus,
    DirectCallProvider,
    DynamicParamPackCallProvider,
    MemRefCallProvider,
    NestedTensorCallProvider,
    NopCallProvider,
    PackedCallProvider,
)
from tests.builder.samples import EVERY_KIND, MATMUL
from tests.support.printed import printed_wrapper, symbol_names
from tests.support.wrapping import new_module

n = spec.Var("n", "int64")
X = spec.Tensor("x", [n], "float32", device_type="cpu")

pytestmark = pytest.mark.usefixtures("nothing_kept")

PROVIDERS: dict[str, tuple[list[spec.Param], CallProvider]] = {
    "nop": (EVERY_KIND, NopCallProvider()),
    "direct": (MATMUL, DirectCallProvider("callee")),
    "narrow": ([spec.Var("a", "int8"), spec.Var("b", "bool")], DirectCallProvider("callee")),
    "args": (MATMUL, DirectCallProvider("callee", args=["A.data", "n"])),
    "packing": (EVERY_KIND, DynamicParamPackCallProvider("callee")),
    "memref": ([X], MemRefCallProvider("callee", c_interface=True)),
    "nested": ([X], NestedTensorCallProvider("callee")),
    "status": ([X, n], CheckStatus(DirectCallProvider("callee"), message="{callee}: {status}")),
}


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the signatures for which a plan was made: those that were built."""
    from ffi_builder.builder import wrapper

    made: list[str] = []
    make_plan = wrapper.make_plan

    def noted(signature: spec.Signature) -> Any:
        made.append(signature.name)
        return make_plan(signature)

    monkeypatch.setattr(wrapper, "make_plan", noted)
    return made


def attached(
    params: list[spec.Param], provider: CallProvider, text: str = "", *, distribution: str
) -> Any:
    module = new_module(text, distribution)
    attach_ffi_func(module, "f", params, provider)
    return module


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_module_is_the_same(name: str, distribution: str, plans: list[str]) -> None:
    modules = [attached(*PROVIDERS[name], distribution=distribution) for _ in range(4)]
    assert plans == ["f", "f"]
    assert all(module.operation.verify() for module in modules)
    assert len({str(module) for module in modules}) == 1


def test_it_runs_and_fails_as_before() -> None:
    text = "llvm.func @callee(%p: !llvm.ptr, %n: i64) -> i32 { %r = llvm.trunc %n : i64 to i32 llvm.return %r : i32 }"
    messages: set[str] = set()
    for number in range(4):
        module = new_module(text)
        attach(
            module,
            spec.Signature("f", [X]),
            CheckStatus(DirectCallProvider("callee", args=["x.data", "n"])),
            symbol_name=f"f{number}",
        )
        function = runtime.compile(module)[f"f{number}"]
        function(np.zeros(0, "float32"))
        with pytest.raises(RuntimeError) as status:
            function(np.zeros(3, "float32"))
        with pytest.raises(ValueError, match="Mismatched") as mismatch:
            function(np.zeros((3, 1), "float32"))
        messages.add(f"{status.value} {mismatch.value}")
    (only,) = messages
    assert "callee failed with status 3" in only
    assert "f(x: Tensor([n], float32))" in only


def test_many_in_one_module(plans: list[str]) -> None:
    module = new_module()
    provider = NopCallProvider()
    for number in range(5):
        attach_ffi_func(module, f"f{number}", EVERY_KIND, provider, "shown")
        attach_ffi_func(module, f"g{number}", EVERY_KIND, provider)
    assert plans == ["shown", "g0"]
    assert module.operation.verify()


@pytest.mark.parametrize(
    "change", ["params", "provider", "args", "callee", "convention", "location"]
)
def test_another_one_is_built(change: str, plans: list[str]) -> None:
    def make(changed: bool) -> str:
        args: list[Any] = ["x", 1]
        params, text = [X], "llvm.func @callee(!llvm.ptr, i64)"
        provider: Any = DirectCallProvider("callee", args=args)
        location = None
        if changed:
            match change:
                case "params":
                    params = [spec.Tensor("x", [n], "float16", device_type="cpu")]
                case "provider":
                    provider = DirectCallProvider("other", args=args)
                case "args":
                    args[1] = 2
                case "callee":
                    text = "llvm.func @callee(!llvm.ptr, i64) -> i32"
                case "convention":
                    text = "llvm.func fastcc @callee(!llvm.ptr, i64)"
                case _:
                    location = True
        module = new_module(text)
        if location:
            ir: Any = __import__("torch_mlir.ir").ir
            location = ir.Location.file("kernel.py", 7, 1, context=module.context)
        attach(module, spec.Signature("f", params), provider, location=location)
        return str(module)

    before = [make(False) for _ in range(3)]
    assert len(plans) == 2
    after = [make(True) for _ in range(3)]
    assert len(plans) == 4
    assert [len(set(made)) for made in (before, after)] == [1, 1]
    assert before[0] != after[0]
    assert make(False) == before[0]
    assert len(plans) == 4


def test_a_callee_may_be_declared_or_defined(plans: list[str]) -> None:
    """The wrapper is the same, so it is kept for both."""
    params: list[spec.Param] = [spec.Var("a", "int8")]
    wrappers: list[str] = []
    for body in ("", "{ llvm.return }") * 2:
        module = new_module(f"llvm.func @callee(%a: i8 {{llvm.signext}}) {body}")
        attach_ffi_func(module, "f", params, DirectCallProvider("callee"))
        assert module.operation.verify()
        wrappers.append(printed_wrapper(module))
    assert len(set(wrappers)) == 1
    assert plans == ["f", "f"]


@pytest.mark.parametrize("callee", ["__ffi_builder_wrapper", "__ffi_builder_table"])
def test_a_callee_that_is_called_as_a_placeholder_is(callee: str) -> None:
    provider = DirectCallProvider(callee)
    texts = {str(attached([X], provider, distribution="torch_mlir")) for _ in range(4)}
    (text,) = texts
    assert f"call @{callee}(" in text


def test_one_for_another_record_is_built(plans: list[str]) -> None:
    """A kept wrapper was compared with one record of a kernel's types, and fits no other."""

    def make(element: str) -> None:
        callee = "llvm.func @callee(!llvm.ptr, !llvm.ptr, i64, i64, i64)"
        record = f'{{{MEMREF_TYPES} = "(memref<?x{element}>) -> ()"}}'
        module = new_module(f"{callee} attributes {record}")
        attach_ffi_func(module, "f", [X], MemRefCallProvider("callee"))

    for _ in range(4):
        make("f32")
    assert len(plans) == 2
    with pytest.raises(BuildError, match="f64, not float32"):
        make("f64")


@pytest.mark.parametrize("name", ["g", "x", "n", "kernel_0123456789", "l" * 420])
@pytest.mark.parametrize("kind", ["nop", "many", "status"])
def test_a_function_of_another_name_is_what_it_would_be(
    name: str, kind: str, plans: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the letter, and what its errors show: names of all lengths, and of parameters too."""
    params: list[spec.Param] = [X]
    if kind == "many":  # more than errors show
        params += [spec.Var(f"number_{index}", "int32") for index in range(30)]
    provider: CallProvider = NopCallProvider()
    if kind == "status":
        provider = CheckStatus(DirectCallProvider("callee", args=["x.data", "n"]))

    def make(name: str) -> Any:
        module = new_module("llvm.func @callee(!llvm.ptr, i64) -> i32")
        location = module.operation.location.file("kernel.py", 7, 1, context=module.context)
        attach_ffi_func(module, name, params, provider, location=location)
        assert module.operation.verify()
        return module

    # The text of an error of its own has the name in it: there it serves that name alone.
    modules = [make("f" if kind != "status" and index < 2 else name) for index in range(4)]
    assert len(plans) == 2, "the last two were not built"
    monkeypatch.setattr(reuse, "_KEPT", OrderedDict[Any, Any]())
    assert {str(module) for module in modules[2:]} == {str(make(name))}
    if kind != "status":
        compiled = runtime.compile(modules[2])
        with pytest.raises(TypeError) as raised:
            compiled[name](*range(len(params)))
        assert f"`{name}(x: Tensor([n], float32){', ...' * (kind == 'many')})`" in str(raised.value)
        assert compiled.callable(name).__name__ == name


@pytest.mark.parametrize("before", [0, 3])
def test_names_and_files_that_are_too_long(before: int) -> None:
    for _ in range(before):
        attached([X], NopCallProvider(), distribution="torch_mlir")
    module = new_module()
    text = str(module)
    far = module.operation.location.file("f" * 70_000, 7, 1, context=module.context)
    for name, location in (("l" * 70_000, None), ("f", far)):
        with pytest.raises(BuildError, match="over 65535 bytes"):
            attach_ffi_func(module, name, [X], NopCallProvider(), location=location)
        assert str(module) == text


def test_a_list_of_arguments_that_changes_is_seen() -> None:
    args: list[Any] = [1]
    provider = DirectCallProvider("callee", args=args)
    texts: list[str] = []
    for value in (1, 1, 1, 2):
        args[:] = [value]
        texts.append(str(attached([X], provider, distribution="torch_mlir")))
    assert texts[0] == texts[1] == texts[2] != texts[3]
    assert "constant(2 : i64)" in texts[3]
    args[:] = [True]
    with pytest.raises(BuildError, match="args= has True"):
        attached([X], provider, distribution="torch_mlir")


def test_packed_calls_and_results_are_as_they_were() -> None:
    signature = spec.Signature("f", [X], spec.Tensor("y", [n * 2], "float32", device_type="cpu"))
    texts: set[str] = set()
    for _ in range(4):
        module = new_module()
        attach(module, signature, DirectCallProvider("callee"))
        attach(module, spec.Signature("g", [X]), PackedCallProvider(global_function="ffib.none"))
        assert module.operation.verify()
        texts.add(str(module))
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('llvm.mlir.global internal constant @__ffi_builder_table_f("mine")', None),
        ("llvm.func @TVMFFIEnvGetStream(i32)", "@TVMFFIEnvGetStream is needed as"),
        (
            "llvm.mlir.global external @TVMFFIEnvGetStream() : i32",
            "@TVMFFIEnvGetStream is needed as",
        ),
        ("llvm.func @callee(i32)", "@callee takes"),
        ("llvm.func @__tvm_ffi_f()", "declares @__tvm_ffi_f already"),
    ],
)
def test_names_that_are_taken(text: str, error: str | None) -> None:
    provider = DirectCallProvider("callee")
    for _ in range(3):
        attached(EVERY_KIND, provider, distribution="torch_mlir")
    module = new_module(text)
    before = str(module)
    if error is None:
        attach_ffi_func(module, "f", EVERY_KIND, provider)
        assert "@__ffi_builder_table_f_1" in str(module)
        assert text.split("@")[0] in str(module)
    else:
        with pytest.raises(BuildError) as raised:
            attach_ffi_func(module, "f", EVERY_KIND, provider)
        assert error in str(raised.value)
        assert str(module) == before
    assert module.operation.verify()


@pytest.mark.parametrize(
    "taken",
    [
        "llvm.mlir.global external @{} () : i32",
        'llvm.mlir.global private constant @{}("mine")',
        "llvm.func @{}()",
    ],
)
def test_names_of_texts_that_are_taken(taken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrapper gets texts under other names, as one that is built does."""
    params, provider = PROVIDERS["status"]
    modules = [attached(params, provider, distribution="torch_mlir") for _ in range(3)]
    own = [name for name in symbol_names(modules[0]) if name.startswith("__ffi_builder_text_")]
    texts: list[str] = []
    for _ in range(2):
        module = attached(params, provider, taken.format(own[0]), distribution="torch_mlir")
        assert module.operation.verify()
        texts.append(str(module))
        monkeypatch.setattr(reuse, "_KEPT", OrderedDict[Any, Any]())
    assert texts[0] == texts[1]
    assert f"@{own[0]}_1" in texts[0]


def test_a_module_in_which_a_name_was_taken_is_no_pattern_for_others() -> None:
    own = 'llvm.mlir.global internal constant @__ffi_builder_table_f("mine")'
    for _ in range(3):
        attached([X], NopCallProvider(), own, distribution="torch_mlir")
    assert "_table_f_1" not in str(attached([X], NopCallProvider(), distribution="torch_mlir"))


def test_those_that_were_not_used_for_longest_go(
    monkeypatch: pytest.MonkeyPatch, plans: list[str]
) -> None:
    monkeypatch.setattr(reuse, "MOST", 2)

    def make(*names: str) -> list[str]:
        plans.clear()
        for name in names:
            attach_ffi_func(new_module(), name, [spec.Var(name, "int32")], NopCallProvider())
        return list(plans)

    assert make("a", "a", "b", "b") == ["a", "a", "b", "b"]
    assert make("a", "b", "a") == []
    assert make("c", "a", "b") == ["c", "b"]
