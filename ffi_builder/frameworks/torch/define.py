"""Defines operators: the schema, the kernels by dispatch key, and the object to call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import tvm_ffi

from ffi_builder import spec
from ffi_builder.extending import dataclass, did_you_mean
from ffi_builder.frameworks.numbers import Results, check_option
from ffi_builder.frameworks.signatures import function_and_signature
from ffi_builder.frameworks.torch import _torch, transforms
from ffi_builder.frameworks.torch.calls import (
    Careful,
    Operator,
    OperatorInfo,
    OutOperator,
    PythonOperator,
    doubt,
)
from ffi_builder.frameworks.torch.code import Writer
from ffi_builder.frameworks.torch.interface import FORMS, Form, Interface, described, schema
from ffi_builder.frameworks.torch.tracing import Tracing
from ffi_builder.runtime.extending import (
    Info,
    check_defaults,
    made,
    made_careful,
    made_operator,
    reads_arrays,
    same_function,
)

_libraries: Final[dict[str, Any]] = {}
"""The library of each operator, by its qualified name. Libraries are kept until the process ends,
since graphs refer to operators by name."""


def operator(
    function: Any,
    *,
    namespace: str,
    name: str | None = None,
    signature: spec.Signature | None = None,
    form: Form = "mutating",
    results: Results | None = None,
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., Any] | None = None,
    vmap: Callable[..., Any] | None = None,
    tags: Sequence[Any] = (),
) -> Operator:
    """Define an operator of PyTorch that calls a compiled function; return an object to call it.

    Call the object like the function. PyTorch differentiates, traces, compiles and exports its
    calls as `torch.ops.<namespace>.<name>`.

    The `intent` of each tensor in the signature says whether the function writes it. With
    `form="functional"`, the operator allocates and returns tensors with `intent="out"` instead of
    taking them. It copies tensors with `"inout"`, and returns the copies. In either form it also
    returns the tensors that the wrapper allocates, after the others. A call is checked while it is
    traced, with the errors of the wrapper.

    Args:
        function: a function of a compiled module or loaded library, or its callable.
        namespace: the namespace of the operator, an identifier. Choose your own.
        name: the name of the operator; by default that of the function.
        signature: the signature of the function, if the function does not know it, or does not
            know each `intent`.
        form: `"mutating"`, like the function itself; `"functional"`; or `"out"`, which is
            functional, and writes to outputs that a caller passes, as `op(x, out=y)`. It defines
            a second operator for this, whose name ends in `_out`.
        results: `"tensors"` returns each number that the function returns as a tensor without
            dimensions, of its dtype, on the CPU. Without it, such a function is a SpecError.
        backward: the derivative, `backward(ctx, *grads)`, as for
            `torch.library.register_autograd`; for the functional form. Without it, a call that
            requires a gradient of floats raises.
        setup_context: `setup_context(ctx, inputs, output)`, which saves what `backward` needs.
        vmap: the batching rule, `vmap(info, in_dims, *args)`, as for
            `torch.library.register_vmap`. By default functional operators are called once for each
            example, and others refuse.
        tags: more tags for the operator, such as `torch.Tag.nondeterministic_seeded`.

    Raises:
        SpecError: the signature is not known, differs from that of the function, or has something
            that operators cannot have; the message says what to change.
        TypeError, ValueError: an argument is invalid, or the name is taken.

    Examples:
        Needs PyTorch:

        >>> import torch
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec
        >>> from ffi_builder.frameworks.torch import operator
        >>> n = spec.Var("n", "int64")
        >>> with spec.DefaultConfig(device_type="cpu"):
        ...     x = spec.Tensor("x", [n], "float32", intent="in")
        ...     y = spec.Tensor("y", [n], "float32", intent="out")
        >>> module = ir.Module.parse("", ir.Context())
        >>> memcpy = providers.DirectCallProvider("memcpy", args=[y, x, n * 4])
        >>> attach(module, spec.Signature("copy", [x, y]), memcpy)
        >>> compiled = runtime.compile(module)
        >>> copy = operator(compiled["copy"], namespace="example", form="functional")
        >>> copy(torch.arange(3.0))
        tensor([0., 1., 2.])
        >>> copy.schema
        'example::copy(Tensor x) -> Tensor'
    """
    given = function
    function, own, known = function_and_signature("operator", function, signature)
    info = own if own is not None and signature is None else described(own, known)
    check_defaults(info)
    if form not in FORMS:
        hint = did_you_mean(form, FORMS)
        raise ValueError(f"form: expected 'mutating', 'functional' or 'out' but got {form!r}{hint}")
    check_option(results)
    name = info.name if name is None else name
    if form == "out":
        outputs = Interface(known, info, "mutating", results).outputs
        define = partial(
            operator, given, namespace=namespace, signature=signature, results=results, tags=tags
        )
        allocating = define(
            name=name, form="functional", backward=backward, setup_context=setup_context, vmap=vmap
        )
        return OutOperator(allocating, define(name=f"{name}_out"), outputs)
    interface = Interface(known, info, form, results)
    _check_rules(interface, backward, setup_context, vmap)
    text = schema(interface, name)
    tracing = Tracing(interface)
    writer = Writer(interface, tracing, tracing.blame)
    qualified = _qualified(namespace, name)
    eager = careful = _careful(function, info)
    if backward is None and not _is_as_it_is(interface):
        eager = writer.calling(careful, careful=True)
    library = _library(namespace, name, text, tags)
    overload = getattr(getattr(_torch.torch.ops, namespace), name).default
    batched = partial(transforms.batching_rule, interface, overload, vmap)
    recording = None
    if backward is not None:
        derived = transforms.derivative(interface, overload, backward, setup_context)
        recording = writer.passing(transforms.one_by_one(interface, derived.apply))
        transforms.give_rule(derived, interface, batched(recording))
        recorded = transforms.one_by_one(interface, _torch.apply_of(derived))
        eager = writer.calling(careful, careful=True, recorded=recorded)
        derived.eager = staticmethod(eager)
    defined = _Defined(function, interface, library, qualified, overload, text, eager, recording)
    defined.register_kernels(writer)
    defined.register_rules(batched(overload))
    return defined.made()


@dataclass(frozen=True)
class _Defined:
    """An operator that torch knows. Its methods register its kernels and rules."""

    function: tvm_ffi.Function
    interface: Interface
    library: Any
    qualified: str
    overload: Any
    text: str
    """The schema, without the namespace."""
    eager: Callable[..., Any]
    """Calls the function directly, or returns `DOUBT`."""
    recording: Callable[..., Any] | None
    """Calls the function, and records its derivative."""

    def register_kernels(self, writer: Writer) -> None:
        """Register the kernel for devices, and the fake kernel for traces."""
        kernel = _kernel(self.function, self.interface, writer)
        for key in self.interface.dispatch_keys:
            self.library.impl(self._name, kernel, key)
        _torch.torch.library.register_fake(self.qualified, writer.allocating(), lib=self.library)

    def register_rules(self, vmap: Callable[..., Any]) -> None:
        """Register the derivative and the batching rule."""
        otherwise = transforms.Autograd(
            self.qualified, self.overload, self.interface, self.recording
        )
        autograd = self._read_in_c(self.interface.info, otherwise, autocast=False)
        if autograd is None:
            autograd = transforms.directly(self.eager, otherwise)
        self.library.impl(self._name, autograd, "Autograd")
        if not self.interface.has_keyword_tensors:
            _torch.torch.library.register_vmap(self.qualified, vmap, lib=self.library)

    def made(self) -> Operator:
        """Return the object that users call."""
        given = tuple(argument.parameter for argument in self.interface.arguments if argument.given)
        info = dataclasses.replace(self.interface.info, parameters=given)
        own = OperatorInfo(
            **{field.name: getattr(info, field.name) for field in dataclasses.fields(info)},
            operator_name=self._name,
            schema=self.qualified.removesuffix(self._name) + self.text,
            overload=self.overload,
            spec=self.interface.signature,
            eager=self.eager,
            recording=self.recording,
        )
        entry = self._read_in_c(own, self.overload, autocast=True)
        return PythonOperator(own) if entry is None else entry

    def _read_in_c(self, info: Info, otherwise: Callable[..., Any], *, autocast: bool) -> Any:
        """Return an entry that calls the function, or in doubt `otherwise`.

        With `autocast`, an active autocast is a doubt. Returns None if C cannot read the calls.
        """
        if not _is_as_it_is(self.interface):
            return None
        return made_operator(
            same_function(self.function),
            info,
            lambda make_general: Careful(make_general, otherwise, info),
            Operator,
            autocast=autocast,
        )

    @property
    def _name(self) -> str:
        return self.qualified.partition("::")[2]


def _careful(function: tvm_ffi.Function, info: Info) -> Callable[..., Any]:
    """Make a function that calls the compiled function, or returns `DOUBT`."""
    return made_careful(
        same_function(function), info, lambda make_general: Careful(make_general, doubt, info)
    )


def _kernel(function: tvm_ffi.Function, interface: Interface, writer: Writer) -> Callable[..., Any]:
    """Return the kernel that the operator calls on a device."""
    info = interface.info
    kernel: Any = made(same_function(function), info.name, info)
    if interface.has_keywords or not _is_as_it_is(interface):
        return writer.calling(kernel)
    return kernel


def _is_as_it_is(interface: Interface) -> bool:
    """Return whether C reads calls, and the operator takes and returns what the function does."""
    changed = interface.functional or interface.numbers
    return not changed and reads_arrays(interface.info)


def _check_rules(
    interface: Interface, backward: object, setup_context: object, vmap: object
) -> None:
    if backward is not None and interface.mutated:
        raise ValueError(
            "backward: torch differentiates operators that write no argument: form='functional'"
        )
    if setup_context is not None and backward is None:
        raise ValueError("setup_context: it is called for backward=, which is not given")
    if interface.has_keyword_tensors and (vmap is not None or backward is not None):
        raise ValueError(
            "backward, vmap: torch has none for operators with tensors given by keyword alone"
        )


def _qualified(namespace: str, name: str) -> str:
    for what, given in (("namespace", namespace), ("name", name)):
        if not given.isidentifier():
            raise ValueError(f"{what}: expected an identifier but got {given!r}")
    _check_free(namespace, name)
    return f"{namespace}::{name}"


def _library(namespace: str, name: str, text: str, tags: Sequence[Any]) -> Any:
    """Define an operator by its schema; return its library. Raises ValueError for a taken name."""
    library = _torch.torch.library.Library(namespace, "FRAGMENT")
    tag = _torch.torch.Tag
    try:
        library.define(text, tags=(tag.pt2_compliant_tag, tag.needs_exact_strides, *tags))
    except RuntimeError:
        _check_free(namespace, name)  # another thread may have defined it
        raise
    _libraries[f"{namespace}::{name}"] = library
    return library


def _check_free(namespace: str, name: str) -> None:
    if hasattr(getattr(_torch.torch.ops, namespace), name):
        taken = f"The name {namespace}::{name} is taken; give another name="
        raise ValueError(taken) from None
