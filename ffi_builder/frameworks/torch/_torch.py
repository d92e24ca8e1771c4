"""Imports PyTorch, and names the parts of it that this package uses. No other module imports it.

`_hidden` gets undocumented parts of torch, each with a replacement for a torch that lacks it. As a
rule, the replacement calls the operator instead of a shortcut. docs/private-names.md lists them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final, cast

from ffi_builder import SpecError
from ffi_builder.runtime.extending import watcher

torch: Final[Any] = import_module("torch")


def _hidden(path: str, without: Any) -> Any:
    """Return an undocumented part of torch, or `without` if torch lacks it."""
    part = torch
    for name in path.split("."):
        part = getattr(part, name, None)
    return without if part is None else part


def _yes(*_: object) -> bool:
    return True


def _no(*_: object) -> bool:
    return False


_dispatch_modes: Final = _hidden("_C._len_torch_dispatch_stack", _yes)
_function_modes: Final = _hidden("_C._is_torch_function_mode_enabled", _yes)
_any_autocast: Final = _hidden("_C._is_any_autocast_enabled", _yes)
is_functorch_wrapper: Final = _hidden("_C._functorch.is_functorch_wrapped_tensor", _yes)
is_batched_gradient: Final = _hidden("_C._functorch.is_legacy_batchedtensor", _yes)
"""Whether a tensor is a batch of gradients (`is_grads_batched`). Tensors of `vmap` are not."""
_functorch_layers: Final = _hidden("_C._functorch.get_interpreter_stack", None)
_FUNCTORCH: Final = _hidden("_C.DispatchKey.FuncTorchDynamicLayerFrontMode", None)
_is_excluded: Final = _hidden("_C._dispatch_tls_is_dispatch_key_excluded", _no)
_modes_before_dispatch: Final = _hidden("_ops._len_torch_dispatch_stack_pre_dispatch", _no)
_BelowAutograd: Final = _hidden("_C._AutoDispatchBelowAutograd", None)
_FunctionBase: Final = _hidden("_C._FunctionBase", None)

_Function: Final[Any] = torch.autograd.Function
forward_ad: Final[Any] = torch.autograd.forward_ad
is_traced: Final[Any] = torch.compiler.is_dynamo_compiling
Proxy: Final[Any] = torch.fx.Proxy


def has_modes() -> bool:
    """Return whether a mode or a trace of `torch.jit` looks at operators now."""
    return bool(_dispatch_modes() or _function_modes() or torch.jit.is_tracing())


def _has_modes_or_autocast() -> bool:
    return has_modes() or _any_autocast()


is_watched: Final = watcher() or _has_modes_or_autocast
"""Whether anything looks at operators now: a mode, a trace, or autocast.

An autocast rule may be registered at any time, so autocast counts for every operator. Traces of
`torch.fx` do not count: they see only its proxies.
"""


def tensors_in(value: Any) -> Iterator[Any]:
    """Yield a value if it is a tensor, or the tensors in a list, at any depth."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in cast("Iterable[Any]", value):
            yield from tensors_in(item)


def requires_grad(value: Any) -> bool:
    """Return whether a value is a tensor that requires a gradient, or a list with one."""
    return any(tensor.requires_grad for tensor in tensors_in(value))


def is_proxy(value: Any) -> bool:
    """Return whether a value is a proxy of `torch.fx`, or a list with one."""
    if isinstance(value, (list, tuple)):
        return any(map(is_proxy, cast("Iterable[Any]", value)))
    return isinstance(value, Proxy)


def first(tensors: Any, name: str) -> Any:
    """Return the first tensor of a list. Raises ValueError if there is none."""
    if len(tensors) == 0:
        raise ValueError(f"{name} is empty, and nothing else tells the size of an output")
    return tensors[0]


def device_in(tensors: Any, name: str, default: str | None) -> Any:
    """Return the device of a list's tensors, or the default if it is empty or None.

    Raises:
        ValueError: there is no tensor and no default.
    """
    if not tensors and default is not None:
        return default
    if not tensors:
        raise ValueError(f"{name} has no tensor, and nothing else tells the device of an output")
    return tensors[0].device


def host(*values: Any) -> str:
    """Return the device of a number that a call with these tensors and lists returns."""
    return "meta" if any(each.device.type == "meta" for each in tensors_in(values)) else "cpu"


def has_tangent(value: Any) -> bool:
    """Return whether a value is a tensor with a tangent of forward mode, or a list with one."""
    return any(forward_ad.unpack_dual(each).tangent is not None for each in tensors_in(value))


def are_ordinary(*tensors: Any) -> bool:
    """Return whether `torch.func` is off, and each of these is None or an ordinary tensor."""
    if _functorch_layers is None or _functorch_layers():
        return False
    return all(tensor is None or is_ordinary(tensor) for tensor in tensors)


def is_ordinary(tensor: Any) -> bool:
    """Return whether torch sees no more in a value than the data of a tensor and a gradient."""
    return (
        type(tensor) in _ORDINARY
        and not is_functorch_wrapper(tensor)
        and not is_batched_gradient(tensor)
        and not tensor.is_conj()
        and not tensor.is_neg()
        and not tensor.is_meta
        and not has_tangent(tensor)
    )


_ORDINARY: Final = (torch.Tensor, torch.nn.Parameter)


def below_autograd(overload: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Call an operator without autograd."""
    if _BelowAutograd is not None:
        with torch.no_grad(), _BelowAutograd():
            return overload(*args, **keywords)
    with torch.inference_mode():
        result = overload(*args, **keywords)
    # A tensor allocated in inference mode cannot be saved for a derivative, but a copy can.
    if isinstance(result, torch.Tensor):
        return result.clone()
    return result and tuple(each.clone() for each in result)


def apply_of(function: Any) -> Any:
    """Return the `apply` of a `torch.autograd.Function`, for calls outside of `torch.func`.

    It is the one in C. The one in Python takes 10 µs more, in which it looks for the defaults of
    `forward` and for transforms of `torch.func`.
    """
    if _FunctionBase is None:
        return function.apply
    return cast("Any", super(_Function, function)).apply


def in_functorch() -> bool:
    """Return whether a transform of `torch.func` is known to be active."""
    return _functorch_layers is not None and bool(_functorch_layers())


def _in_batching_rule() -> bool:
    return _FUNCTORCH is not None and _is_excluded(_FUNCTORCH)


def is_differentiated_in_functorch() -> bool:
    """Return whether `torch.func` differentiates, or may do so, above the dispatcher.

    It does not in a batching rule that the dispatcher calls, or while `torch.export` traces: there,
    torch has no kernel for a `torch.autograd.Function`.
    """
    if _functorch_layers is None:
        return True
    if not in_functorch() or _in_batching_rule() or _modes_before_dispatch():
        return False
    return any(layer.key().name in ("Grad", "Jvp") for layer in _functorch_layers())


_DTYPES: Final = {"float4_e2m1fnx2": "float4_e2m1fn_x2"}
"""Names of dtypes that torch spells differently."""
_NAMES: Final = {there: here for here, there in _DTYPES.items()}
_KEYS: Final = {"cpu": "CPU", "cuda": "CUDA", "rocm": "CUDA", "metal": "MPS", "oneapi": "XPU"}
"""Dispatch keys of tensors, by DLPack's name of their device."""
_DEVICES: Final = {"rocm": "cuda", "metal": "mps", "oneapi": "xpu"}
"""Names of devices that torch spells differently."""


def dtype_of(what: str, name: str) -> Any:
    """Return torch's dtype of this name. Raises SpecError if torch has none."""
    dtype = getattr(torch, _DTYPES.get(name, name), None)
    if not isinstance(dtype, torch.dtype):
        raise SpecError(f"{what}: torch has no dtype {name}")
    return dtype


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype as signatures have it: ``float32``."""
    name = str(dtype).removeprefix("torch.")
    return _NAMES.get(name, name)


def device_name(device_type: str) -> str:
    """Return torch's name of a device type of a signature."""
    return _DEVICES.get(device_type, device_type)


def device_types(device_type: str) -> tuple[str, ...]:
    """Return the names that signatures may use for a device type of torch."""
    return (device_type, *(here for here, there in _DEVICES.items() if there == device_type))


def dispatch_key(what: str, device_type: str) -> str:
    """Return the dispatch key of tensors on a device. Raises SpecError if torch has none."""
    if device_type not in _KEYS:
        raise SpecError(
            f"{what}: torch has no tensors on {device_type}; expected one of {', '.join(_KEYS)}"
        )
    return _KEYS[device_type]
