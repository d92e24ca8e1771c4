"""PyTorch, as this package uses it: the one place that imports it, and gives parts of it names.

Names with an underscore are not documented by torch, but are what its own custom operators use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from ffi_builder.errors import SpecError
from ffi_builder.runtime.python import entries

torch: Final[Any] = import_module("torch")
_C: Final[Any] = torch._C
_symbolic_trace: Final[Any] = import_module("torch.fx._symbolic_trace")
_ops: Final[Any] = import_module("torch._ops")
_shapes: Final[Any] = import_module("torch.fx.experimental.symbolic_shapes")

BelowAutograd: Final[Any] = _C._AutoDispatchBelowAutograd
"""A context in which autograd looks at no operator."""
AFTER_AUTOGRAD: Final[Any] = _C._after_autograd_keyset
any_requires_grad: Final[Any] = _C._any_requires_grad
forward_ad: Final[Any] = torch.autograd.forward_ad
is_functorch_wrapper: Final[Any] = _C._functorch.is_functorch_wrapped_tensor
is_batched_gradient: Final[Any] = _C._functorch.is_legacy_batchedtensor
"""Whether a tensor is one of many gradients at once (`is_grads_batched`); `vmap` has others."""
in_functorch: Final[Any] = _C._are_functorch_transforms_active
_functorch_layers: Final[Any] = _C._functorch.get_interpreter_stack
_DIFFERENTIATING: Final = (_C._functorch.TransformType.Grad, _C._functorch.TransformType.Jvp)
_is_excluded: Final[Any] = _C._dispatch_tls_is_dispatch_key_excluded
_FUNCTORCH: Final[Any] = _C.DispatchKey.FuncTorchDynamicLayerFrontMode
_modes_before_dispatch: Final[Any] = _ops._len_torch_dispatch_stack_pre_dispatch
is_traced: Final[Any] = torch.compiler.is_dynamo_compiling
dispatch_modes: Final[Any] = _C._len_torch_dispatch_stack
_function_modes: Final[Any] = _C._is_torch_function_mode_enabled
_tracing_state: Final[Any] = _C._get_tracing_state
_any_autocast: Final[Any] = _C._is_any_autocast_enabled
increment_version: Final[Any] = torch.autograd.graph.increment_version
statically_true: Final[Any] = _shapes.statically_known_true
guard_or_false: Final[Any] = _shapes.guard_or_false


def has_modes() -> bool:
    """Return whether a mode or a trace of `torch.jit` looks at operators now."""
    return bool(dispatch_modes() or _function_modes() or _tracing_state() is not None)


def is_differentiated_in_functorch() -> bool:
    """Return whether `torch.func` differentiates, and can do so above the dispatcher.

    It cannot in a batching rule that the dispatcher has called, nor while `torch.export` traces:
    torch has no kernel of `torch.autograd.Function` for these.
    """
    if not in_functorch() or _is_excluded(_FUNCTORCH) or _modes_before_dispatch():
        return False
    return any(layer.key() in _DIFFERENTIATING for layer in _functorch_layers())


def _has_modes_or_autocast() -> bool:
    return has_modes() or _any_autocast()


_in_c_or_python: Final = entries.watcher() or _has_modes_or_autocast


def is_watched() -> bool:
    """Return whether anything looks at operators now: a mode, a trace, or autocast.

    An autocast rule may be registered at any time, so autocast counts for each operator.
    """
    return _symbolic_trace._is_fx_tracing_flag or _in_c_or_python()


_DTYPES: Final = {"float4_e2m1fnx2": "float4_e2m1fn_x2"}
"""Names of dtypes that torch spells differently."""
_NAMES: Final = {there: here for here, there in _DTYPES.items()}
_KEYS: Final = {"cpu": "CPU", "cuda": "CUDA", "rocm": "CUDA", "metal": "MPS", "oneapi": "XPU"}
"""Dispatch keys of tensors, by the name that DLPack has for their device."""
_DEVICES: Final = {"rocm": "cuda", "metal": "mps", "oneapi": "xpu"}
"""Names of devices that torch spells differently."""


def dtype_of(what: str, name: str) -> Any:
    """Return torch's dtype of this name. Raises SpecError if it has none."""
    found = getattr(torch, _DTYPES.get(name, name), None)
    if not isinstance(found, torch.dtype):
        raise SpecError(f"{what}: torch has no dtype {name}")
    return found


def dtype_name(dtype: Any) -> str:
    """Return the name of a dtype as signatures have it: ``float32``."""
    name = str(dtype).removeprefix("torch.")
    return _NAMES.get(name, name)


def device_name(device_type: str) -> str:
    """Return what torch calls a device type of a signature."""
    return _DEVICES.get(device_type, device_type)


def device_types(device_type: str) -> tuple[str, ...]:
    """Return what signatures may call a device type of torch."""
    return (device_type, *(here for here, there in _DEVICES.items() if there == device_type))


def dispatch_key(what: str, device_type: str) -> str:
    """Return the dispatch key of tensors on a device. Raises SpecError if torch has none."""
    if device_type not in _KEYS:
        raise SpecError(
            f"{what}: torch has no tensors on {device_type}; expected one of {', '.join(_KEYS)}"
        )
    return _KEYS[device_type]
