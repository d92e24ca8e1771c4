"""Attaching a wrapper to a module: additions, and parts that stay the same."""

from __future__ import annotations

import re
from importlib import import_module
from itertools import pairwise
from typing import Any

import pytest

from ffi_builder import (
    abi,
    attach,
    attach_ffi_func,
    rename_tvm_ffi_function,
    runtime,
    spec,
    support,
)
from ffi_builder.errors import BuildError, SpecError
from ffi_builder.ir.distribution import named
from ffi_builder.providers import (
    DirectCallProvider,
    DynamicParamPackCallProvider,
    NopCallProvider,
    PackedCallProvider,
)
from ffi_builder.runtime.jit import link
from ffi_builder.spec import Signature, Tensor, TupleParam, Var
from tests.builder.samples import EVERY_KIND, LISTS, MATMUL
from tests.support.printed import name_of, operations, printed, symbol_names
from tests.support.wrapping import attached, new_module

NOP = NopCallProvider()
SAMPLES = pytest.mark.parametrize(
    "params", [MATMUL, EVERY_KIND, LISTS], ids=["matmul", "every kind", "lists"]
)
LIBC = {"snprintf", "strtod", "malloc", "free"}
TVM_FFI = {
    "TVMFFIErrorCreate",
    "TVMFFIErrorSetRaised",
    "TVMFFIGetTypeInfo",
    "TVMFFIObjectDecRef",
    "TVMFFIEnvGetStream",
}
A = Var("a", "int32")


def is_internal(operation: Any) -> bool:
    linkage = str(operation.attributes["linkage"])
    return "internal" in linkage or "private" in linkage


def is_declaration(operation: Any) -> bool:
    return operation.name == "llvm.func" and len(operation.regions[0].blocks) == 0


@SAMPLES
def test_the_module_verifies(distribution: str, params: list[spec.Param]) -> None:
    module = attached(params, DirectCallProvider("callee"), distribution=distribution)
    assert module.operation.verify()
    assert f"{type(module).__module__}.".startswith(f"{distribution}.")


@SAMPLES
def test_both_distributions_get_the_same(params: list[spec.Param]) -> None:
    pytest.importorskip("jaxlib.mlir.ir", reason="needs the MLIR bindings of jaxlib")
    texts = [
        printed(attached(params, DirectCallProvider("callee"), distribution=root))
        for root in ("torch_mlir", "jaxlib.mlir")
    ]
    assert texts[0] == texts[1]


@SAMPLES
def test_all_but_the_wrapper_is_internal_or_a_declaration(params: list[spec.Param]) -> None:
    module = attached(params, DynamicParamPackCallProvider("callee"))
    for operation in operations(module):
        if name_of(operation) == "__tvm_ffi_f":
            assert not is_internal(operation)
        else:
            assert is_internal(operation) or is_declaration(operation), name_of(operation)


@SAMPLES
def test_what_is_declared_is_of_tvm_ffi_libc_or_the_callee(params: list[spec.Param]) -> None:
    text = "llvm.func @callee(!llvm.ptr) -> i32"
    module = attached(params, DynamicParamPackCallProvider("callee"), text)
    declared = {name_of(item) for item in operations(module) if is_declaration(item)}
    supported = {support.symbol(name) for name in support.functions()}
    assert declared <= TVM_FFI | LIBC | supported | {"callee"}


def test_display_name_and_symbol_name() -> None:
    module = new_module()
    attach_ffi_func(module, "sm90_f", [A], NOP, "f")
    attach(module, Signature("g", [A]), NOP, symbol_name="sm90_g")
    attach(module, Signature("h", [A]), NOP)
    wrappers = [name for name in symbol_names(module) if name.startswith("__tvm_ffi_")]
    assert wrappers == ["__tvm_ffi_sm90_f", "__tvm_ffi_sm90_g", "__tvm_ffi_h"]
    tables = {name_of(o): str(o) for o in operations(module) if "_table_" in name_of(o)}
    assert 'a: int32)f(")' in tables["__ffi_builder_table_f"]
    assert 'a: int32)g(")' in tables["__ffi_builder_table_g"]


def test_a_signature_that_makes_no_sense_changes_nothing() -> None:
    module = new_module()
    before = str(module)
    with pytest.raises(SpecError, match="two parameters are named 'a'"):
        attach_ffi_func(module, "f", [A, A], NOP)
    assert str(module) == before


def test_other_operations_are_left_alone(distribution: str) -> None:
    text = """
      func.func @kernel(%x: memref<?xf32>, %y: index) -> index attributes {note = "mine"} {
        %0 = arith.addi %y, %y : index
        return %0 : index
      }
      module @nested { func.func private @f() }
      llvm.mlir.global external @state(7 : i64) : i64
      llvm.func @own(%a: i32) { llvm.return }"""
    module = new_module(text, distribution)
    before = [str(operation) for operation in operations(module)]
    attach_ffi_func(module, "f", [A], DirectCallProvider("own"))
    assert module.operation.verify()
    after = [str(operation) for operation in operations(module)]
    assert after[: len(before)] == before


def test_names_that_are_taken_are_avoided() -> None:
    text = """
      llvm.mlir.global internal constant @__ffi_builder_table_f("mine")
      llvm.func @f() { llvm.return }"""
    module = attached([A], text=text)
    assert "__ffi_builder_table_f_1" in symbol_names(module)
    assert 'constant @__ffi_builder_table_f("mine")' in str(module)


def test_a_symbol_clash(distribution: str) -> None:
    module = attached([A], distribution=distribution)
    before = str(module)
    with pytest.raises(BuildError) as raised:
        attach_ffi_func(module, "f", MATMUL, NOP)
    assert str(raised.value) == (
        "the module has a symbol @__tvm_ffi_f already; attach under another name"
    )
    assert str(module) == before


def test_a_callee_that_is_attached_after_its_caller(distribution: str) -> None:
    """The other order links the two."""
    module = attached([A], PackedCallProvider("g"), distribution=distribution)
    before = str(module)
    with pytest.raises(BuildError) as raised:
        attach_ffi_func(module, "g", [A], NOP)
    assert str(raised.value) == (
        "the module declares @__tvm_ffi_g already, since something calls it, such as the wrapper "
        "of a PackedCallProvider; attach the callee before its callers"
    )
    assert str(module) == before
    module = attached([A], NOP, name="g", distribution=distribution)
    attach_ffi_func(module, "f", [A], PackedCallProvider("g"))


@pytest.mark.parametrize(
    "text",
    ["llvm.func @{}(i32) -> i32", "func.func private @{}()"],
)
def test_a_clash_with_a_declaration_that_is_needed(text: str) -> None:
    symbol = support.symbol("diagnose")
    module = new_module(text.format(symbol))
    before = str(module)
    with pytest.raises(BuildError, match=rf"symbol @{symbol} is needed as !llvm\.func<"):
        attach_ffi_func(module, "f", [A], NOP)
    assert str(module) == before


def test_a_declaration_that_is_there_is_used() -> None:
    text = "llvm.func @TVMFFIErrorSetRaised(!llvm.ptr)"
    module = attached([A], text=text)
    assert symbol_names(module).count("TVMFFIErrorSetRaised") == 1


@pytest.mark.parametrize("given", [None, "module {}", 3, object()])
def test_what_is_no_module(given: Any) -> None:
    with pytest.raises(
        BuildError, match=r"expected an ir\.Module (of an MLIR Python|but got text)"
    ):
        attach_ffi_func(given, "f", [A], NOP)


def test_a_modules_operation_is_no_module() -> None:
    module = new_module()
    with pytest.raises(BuildError, match="but got Operation from"):
        attach_ffi_func(module.operation, "f", [A], NOP)


def test_a_context_that_has_not_loaded_the_dialect(distribution: str) -> None:
    ir = import_module(f"{distribution}.ir")
    module = ir.Module.create(ir.Location.unknown(ir.Context()))
    attach_ffi_func(module, "f", [A], NOP)
    assert module.operation.verify()


class TestActiveContexts:
    """Nothing is taken from the thread's context or location but the location."""

    def test_another_context(self, distribution: str) -> None:
        ir = named(distribution).ir
        with ir.Context(), ir.Location.file("other.py", 1, 2):
            module = new_module(distribution=distribution)
            attach_ffi_func(module, "f", EVERY_KIND, DirectCallProvider("callee"))
        assert module.operation.verify()
        assert "other.py" not in module.operation.get_asm(enable_debug_info=True)

    def test_its_own_context(self, distribution: str) -> None:
        module = new_module(distribution=distribution)
        with module.context:
            attach_ffi_func(module, "f", MATMUL, DirectCallProvider("callee"))
        assert module.operation.verify()


class TestLocations:
    """The one given, else the current one, else the callee's, else the module's."""

    text = 'llvm.func @callee(i32) loc("callee.py":3:4)'

    def module(self, distribution: str) -> Any:
        found = named(distribution)
        context = found.ir.Context()
        found.load_llvm(context)
        text = f'module {{\n{self.text}\n}} loc("module.py":1:2)'
        return found.ir.Module.parse(text, context)

    @staticmethod
    def locations(module: Any) -> set[str]:
        """Locations of all definitions, and of the wrapper's operations.

        Without the names of arguments that operations check.
        """
        wrapper = next(o for o in operations(module) if name_of(o) == "__tvm_ffi_f")
        inner = (o.operation for block in wrapper.regions[0].blocks for o in block.operations)
        added = (o for o in operations(module) if not is_declaration(o))
        found = {str(operation.location) for operation in (*added, *inner)}
        return {re.sub(r'^loc\("a"\((.*)\)\)$', r"loc(\1)", location) for location in found}

    def test_given(self, distribution: str) -> None:
        module = self.module(distribution)
        ir = named(distribution).ir
        location = ir.Location.file("given.py", 5, 6, module.context)
        with ir.Location.file("current.py", 7, 8, module.context):
            attach_ffi_func(module, "f", [A], DirectCallProvider("callee"), location=location)
        assert self.locations(module) == {'loc("given.py":5:6)'}

    def test_current(self, distribution: str) -> None:
        module = self.module(distribution)
        with named(distribution).ir.Location.file("current.py", 7, 8, module.context):
            attach_ffi_func(module, "f", [A], DirectCallProvider("callee"))
        assert self.locations(module) == {'loc("current.py":7:8)'}

    def test_the_callees(self, distribution: str) -> None:
        module = self.module(distribution)
        attach_ffi_func(module, "f", [A], DirectCallProvider("callee"))
        assert self.locations(module) == {'loc("callee.py":3:4)'}

    def test_the_modules(self, distribution: str) -> None:
        for provider in (NOP, DirectCallProvider("another")):
            module = self.module(distribution)
            attach_ffi_func(module, "f", [A], provider)
            assert self.locations(module) == {'loc("module.py":1:2)'}

    def test_checks_are_named_after_the_argument(self, distribution: str) -> None:
        module = new_module("llvm.func @callee(i32, i64, f32)", distribution)
        pair = TupleParam("pair", [Var("m", "int64"), Var("f", "float32")])
        attach_ffi_func(module, "f", [A, pair], DirectCallProvider("callee", args=["a", "m", "f"]))
        wrapper = next(o for o in operations(module) if name_of(o) == "__tvm_ffi_f")
        inner = [o.operation for block in wrapper.regions[0].blocks for o in block.operations]
        names = [re.findall(r'^loc\("([^"]*)"\(', str(o.location)) for o in inner]
        assert {name for found in names for name in found} == {"a", "pair", "pair[0]", "pair[1]"}
        named_kernel = [found for o, found in zip(inner, names, strict=True) if "@callee" in str(o)]
        assert named_kernel == [[]]  # a call checks nothing

    def test_of_another_context(self, distribution: str) -> None:
        module = self.module(distribution)
        other = named(distribution).ir.Location.unknown(new_module("", distribution).context)
        before = str(module)
        with pytest.raises(BuildError, match="location= is of another MLIR context"):
            attach_ffi_func(module, "f", [A], NOP, location=other)
        assert str(module) == before


class TestManyWrappers:
    """Support functions are declared once; each wrapper costs what it itself needs."""

    @staticmethod
    def size(module: Any) -> tuple[int, int]:
        """How many symbols a module has, and how many operations in functions."""
        blocks = (
            block
            for operation in operations(module)
            for region in operation.regions
            for block in region.blocks
        )
        return len(operations(module)), sum(len(block.operations) for block in blocks)

    @pytest.mark.parametrize("params", [MATMUL, EVERY_KIND], ids=["matmul", "every kind"])
    def test_each_adds_the_same(self, params: list[spec.Param]) -> None:
        text = "llvm.func @callee(!llvm.ptr) -> i32"
        module = new_module(text)
        sizes: list[tuple[int, int]] = []
        for number in range(5):
            provider = DynamicParamPackCallProvider("callee")
            attach_ffi_func(module, f"f{number}", params, provider, "shown")
            sizes.append(self.size(module))
        steps = {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(sizes)}
        # The function: the table is of the signature, and the strings of errors are shared.
        assert [symbols for symbols, _ in steps] == [1]
        assert module.operation.verify()

    def test_helpers_come_when_they_are_needed_and_once(self) -> None:
        module = new_module()
        for number, params in enumerate(([], MATMUL, EVERY_KIND, [], EVERY_KIND, MATMUL)):
            attach_ffi_func(module, f"f{number}", params, NOP)
        names = symbol_names(module)
        assert len(names) == len(set(names))
        helpers = [name.rpartition("_")[0] for name in names if "_shared_" in name]
        assert len(helpers) == len(set(helpers))

    def test_wrappers_around_one_kernel(self) -> None:
        x = Tensor("x", [4], "float32", device_type="cpu")
        module = new_module()
        attach_ffi_func(module, "f", [x], DirectCallProvider("callee"))
        attach_ffi_func(module, "g", [x, A], DirectCallProvider("callee", args=[x]))
        assert symbol_names(module).count("callee") == 1


@pytest.mark.parametrize("name", ["", "two words", "naïve", 7])
def test_a_symbol_name_that_no_linker_takes(distribution: str, name: Any) -> None:
    module = new_module(distribution=distribution)
    with pytest.raises(BuildError, match=r"symbol name: expected ASCII letters.* but got"):
        attach_ffi_func(module, name, [], NOP, "f")


RESERVED = {
    "_library_ctx": "what tvm-ffi itself reads and writes in a library that it loads",
    "_library_bin": "what tvm-ffi itself reads and writes in a library that it loads",
    "_metadata_g": "what describes a function to tvm-ffi's tools",
    "_doc_g": "what gives tvm-ffi's tools the documentation of a function",
    "_cuda_release_g": "what loads and unloads the kernels of a function that launches some",
}


@pytest.mark.parametrize("name", RESERVED)
def test_a_name_that_is_kept_for_what_belongs_to_others(name: str) -> None:
    module = new_module()
    prefix = f"{name[: name.index('_', 1)]}_"
    words = (
        f"symbol name: {name!r} begins with {prefix!r}, which is reserved for {RESERVED[name]}; "
        f"choose another name"
    )
    with pytest.raises(BuildError) as raised:
        attach(module, Signature(name, [A]), NOP)
    assert str(raised.value) == words
    with pytest.raises(BuildError, match=f"{name!r} begins with"):
        attach_ffi_func(module, name, [A], NOP, "f")
    attach_ffi_func(module, "f", [A], NOP, name)  # errors may show it
    with pytest.raises(BuildError, match=f"{name!r} begins with"):
        rename_tvm_ffi_function(module, "f", name)
    assert "__tvm_ffi_f" in symbol_names(module)


def test_the_runtime_skips_what_attach_refuses() -> None:
    assert set(link.RESERVED) == set(abi.RESERVED_NAMES)


@pytest.mark.parametrize("name", ["_f", "library_ctx", "metadata_g", "f_doc_", "main", "_docs"])
def test_a_name_that_looks_like_one_of_these(name: str) -> None:
    function = runtime.compile(attached([A], name=name))[name]
    assert function(1) is None


def test_text_instead_of_a_signature() -> None:
    words = r"expected a Signature after the module, .*; spec.Signature.parse makes one of text"
    with pytest.raises(BuildError, match=words):
        attach(new_module(), "f(n: int32)", NopCallProvider())  # pyright: ignore
