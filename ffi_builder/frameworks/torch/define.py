"""Defines operators: the schema, the kernels under their dispatch keys, the object to call."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import tvm_ffi

from ffi_builder import spec
from ffi_builder.builder.metadata import metadata
from ffi_builder.errors import SpecError
from ffi_builder.frameworks.torch import _torch
from ffi_builder.frameworks.torch.batching import NotBatched, Sequential
from ffi_builder.frameworks.torch.calls import (
    Careful,
    Operator,
    OperatorInfo,
    PythonOperator,
    doubt,
)
from ffi_builder.frameworks.torch.code import Writer
from ffi_builder.frameworks.torch.derivative import (
    Differentiated,
    Refused,
    directly,
    for_functorch,
    note_written,
)
from ffi_builder.frameworks.torch.interface import FORMS, Form, Interface
from ffi_builder.frameworks.torch.schema import schema
from ffi_builder.frameworks.torch.tracing import Checks
from ffi_builder.plan import check_signature
from ffi_builder.runtime.metadata import Info, read
from ffi_builder.runtime.python import entries
from ffi_builder.runtime.python.function import check_defaults, info_of
from ffi_builder.suggest import did_you_mean

_libraries: Final[dict[str, Any]] = {}
"""The library of each operator, by its qualified name. Operators stay until the process ends, as
graphs refer to them by name."""


def operator(
    function: Any,
    *,
    namespace: str,
    name: str | None = None,
    signature: spec.Signature | None = None,
    form: Form = "mutating",
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., Any] | None = None,
    vmap: Callable[..., Any] | None = None,
    tags: Sequence[Any] = (),
) -> Operator:
    """Define an operator of PyTorch that calls a compiled function, and return what calls it.

    The result is called like the function. It is differentiated, traced, compiled and exported as
    `torch.ops.<namespace>.<name>`::

        rms_norm = operator(compiled["rms_norm"], namespace="mine", form="functional")
        y = rms_norm(x, weight)                       # y is allocated
        compiled_module = torch.compile(module)       # a module that calls rms_norm

    Tensors of the signature say by `intent` which are written. With `form="functional"` those with
    `intent="out"` are not passed but allocated and returned, and those with `"inout"` are copied
    first, and the copy is returned. Tensors that the wrapper allocates are returned in either form,
    behind these. The call is checked while it is traced, with the errors of the wrapper.

    Args:
        function: of a compiled module or loaded library, or a callable of one.
        namespace: the namespace of the operator, an identifier. One of your own.
        name: the name of the operator; by default that of the function.
        signature: the signature of the function, if it does not know that itself, or does not say
            each `intent`.
        form: `"mutating"`, as the function is, or `"functional"`.
        backward: the derivative, `backward(ctx, *grads)`, as for
            `torch.library.register_autograd`; for the functional form. Without it a call that
            wants a gradient of floats raises.
        setup_context: `setup_context(ctx, inputs, output)`, which saves what `backward` needs.
        vmap: the batching rule, `vmap(info, in_dims, *args)`, as for
            `torch.library.register_vmap`. By default functional operators are called once for each
            example, and others refuse.
        tags: more tags for the operator, such as `torch.Tag.nondeterministic_seeded`.

    Raises:
        SpecError: the signature is not known, differs from that of the function, or has something
            that operators cannot have; the message says what to change.
        TypeError, ValueError: a wrong argument, or a name that is taken.
    """
    function, own = _function_and_info(function)
    info = _info(own, signature)
    check_defaults(info)
    _check_options(form, backward, setup_context)
    interface = Interface(signature or _signature(info), info, form)
    name = info.name if name is None else name
    qualified = _qualified(namespace, name)
    if backward is not None and interface.mutated:
        raise ValueError(
            "backward: torch differentiates operators that write no argument: form='functional'"
        )
    keyword_tensors = any(argument.tensor and argument.kw_only for argument in interface.given)
    if keyword_tensors and (vmap is not None or backward is not None):
        raise ValueError(
            "backward, vmap: torch has none for operators with tensors given by keyword alone"
        )
    text = schema(interface, name)
    checks = Checks(interface)
    fake = Writer(interface).allocating(checks)
    direct = not interface.functional and entries.reads_arrays(info)
    eager = _eager(function, interface)

    library = _torch.torch.library.Library(namespace, "FRAGMENT")
    tag = _torch.torch.Tag
    library.define(text, tags=(tag.pt2_compliant_tag, tag.needs_exact_strides, *tags))
    _libraries[qualified] = library
    overload = getattr(getattr(_torch.torch.ops, namespace), name).default
    kernel = _kernel(function, interface)
    for key in interface.dispatch_keys():
        library.impl(name, kernel, key)
    _torch.torch.library.register_fake(qualified, fake, lib=library)
    slow: Any = Refused(qualified, overload, interface)
    if backward is not None:
        slow = Differentiated(qualified, _torch_kernel(qualified, backward, setup_context))
    autograd = _read_in_c(function, info, slow) if direct else None
    keys = backward is not None  # torch's own kernel takes the dispatch keys
    if autograd is None:
        autograd = directly(eager, slow, with_keyset=keys)
    library.impl(name, autograd, "Autograd", with_keyset=keys)
    rule: Any = vmap
    if rule is None:
        rule = NotBatched(qualified) if interface.mutated else Sequential(interface, overload)
    if not keyword_tensors:
        _torch.torch.library.register_vmap(qualified, rule, lib=library)
    in_functorch = None
    if backward is not None:
        in_functorch = for_functorch(overload, backward, setup_context, rule)
    own_fields = {field.name: getattr(info, field.name) for field in dataclasses.fields(info)}
    own_info = OperatorInfo(
        **own_fields,
        overload=overload,
        spec=interface.signature,
        eager=eager,
        in_functorch=in_functorch,
    )
    found = _read_in_c(function, own_info, overload) if direct else None
    return PythonOperator(own_info) if found is None else found


def _eager(function: tvm_ffi.Function, interface: Interface) -> Callable[..., Any]:
    """Return what calls the function, or returns `DOUBT`."""
    careful: Any = entries.made_careful(_same_function(function), interface.info, _in_doubt)
    if interface.functional or not entries.reads_arrays(interface.info):
        return Writer(interface).calling(careful, after=_after(interface.info), careful=True)
    return careful


def _kernel(function: tvm_ffi.Function, interface: Interface) -> Callable[..., Any]:
    """Return what the operator calls on a device."""
    info = interface.info
    kernel: Any = entries.made(_same_function(function), info.name, info)
    if interface.functional or interface.has_keywords or not entries.reads_arrays(info):
        return Writer(interface).calling(kernel, after=_after(info))
    return kernel


def _after(info: Info) -> Callable[[Any], None] | None:
    """Return what raises the versions of what was written; calls read in C do so themselves."""
    return None if entries.reads_arrays(info) else note_written


def _in_doubt(general: Callable[..., Any]) -> Careful:
    return Careful(general, doubt)


def _read_in_c(function: tvm_ffi.Function, info: Info, otherwise: Callable[..., Any]) -> Any:
    """Return an entry that calls the function, or `otherwise` in doubt; None if there is none."""
    return entries.made_operator(
        _same_function(function), info, lambda general: Careful(general, otherwise), Operator
    )


def _check_options(form: object, backward: object, setup_context: object) -> None:
    if form not in FORMS:
        hint = did_you_mean(form, FORMS)
        raise ValueError(f"form: expected 'mutating' or 'functional' but got {form!r}{hint}")
    if setup_context is not None and backward is None:
        raise ValueError("setup_context: it is called for backward=, which is not given")


def _qualified(namespace: str, name: str) -> str:
    for what, given in (("namespace", namespace), ("name", name)):
        if not given.isidentifier():
            raise ValueError(f"{what}: expected an identifier but got {given!r}")
    qualified = f"{namespace}::{name}"
    if hasattr(getattr(_torch.torch.ops, namespace), name):
        raise ValueError(f"The name {qualified} is taken; give another name=")
    return qualified


def _function_and_info(given: Any) -> tuple[tvm_ffi.Function, Info | None]:
    """Return the function of a callable, and what it knows of itself."""
    function = getattr(given, "__wrapped__", given)
    if not isinstance(function, tvm_ffi.Function):
        raise TypeError(
            f"function: expected one of a compiled module or loaded library, such as compiled['f'],"
            f" but got {given!r}"
        )
    return function, info_of(function)


def _info(own: Info | None, signature: spec.Signature | None) -> Info:
    if signature is None:
        if own is None:
            raise SpecError("operator: the function does not know its signature: give signature=")
        return own
    check_signature("signature: ", signature)
    made = read(signature.name, metadata(signature).of(signature.name))
    assert made is not None
    if own is None:
        return made
    if _without_intents(_signature(own)) != _without_intents(signature):
        raise SpecError(
            f"signature: the function has another one: {own.signature}; it may differ in intent "
            f"alone"
        )
    return dataclasses.replace(made, name=own.name, borrows=own.borrows)


def _signature(info: Info) -> spec.Signature:
    return spec.Signature.parse(info.signature)


def _without_intents(signature: spec.Signature) -> spec.Signature:
    return dataclasses.replace(signature, params=[_without_intent(p) for p in signature.params])


def _without_intent(param: spec.Param) -> spec.Param:
    match param:
        case spec.Optional():
            inner = _without_intent(param.param)
            return dataclasses.replace(param, param=inner)
        case spec.Tensor():
            return dataclasses.replace(param, intent=None)
        case _:
            return param


def _torch_kernel(
    qualified: str, backward: Callable[..., Any], setup_context: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Return the kernel for autograd that torch makes of a derivative."""
    made = _Recorder()
    _torch.torch.library.register_autograd(
        qualified, backward, setup_context=setup_context, lib=made
    )
    return made.kernel


class _Recorder:
    """Stands for a library, and keeps the kernel that is registered in it."""

    kernel: Callable[..., Any]

    def impl(self, name: str, kernel: Callable[..., Any], key: str, *, with_keyset: bool) -> None:
        """Keep the kernel."""
        assert (key, with_keyset) == ("Autograd", True)
        self.kernel = kernel


def _same_function(function: tvm_ffi.Function) -> tvm_ffi.Function:
    """Return another function object of the same code."""
    same: Any = cast("Any", tvm_ffi.Array([function]))[0]
    same.release_gil = function.release_gil
    return same
