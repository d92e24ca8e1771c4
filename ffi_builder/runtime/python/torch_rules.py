"""Rules of PyTorch that DLPack cannot express: what torch sees in a tensor beside its memory."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Final

from ffi_builder.runtime.python.position import Position


def check_tensor(tensor: Any, at: Position) -> Any:
    """Return a tensor whose memory has its values. Raises ValueError for any other."""
    torch: Any = sys.modules["torch"]
    if _tracing()():
        raise at.mismatch(
            f"a tensor that torch does not trace, as its graph would lack a call of {at.function}",
            f"one while it does: {at.operator}",
        )
    if tensor.is_nested:
        raise at.mismatch(
            "a tensor of one shape",
            f"a nested tensor, which has several: pass each of {at.path}.unbind(), or "
            f"torch.nested.to_padded_tensor({at.path}, 0.0)",
        )
    for is_view, adjective, resolve in (
        (tensor.is_conj, "conjugate", "resolve_conj"),
        (tensor.is_neg, "negative", "resolve_neg"),
    ):
        if is_view():
            raise at.mismatch(
                "a tensor whose memory has its values",
                f"a {adjective} view, whose memory has others: pass {at.path}.{resolve}()",
            )
    if getattr(tensor, "is_quantized", False):  # future versions of torch lack the attribute
        raise at.mismatch(
            "a tensor whose memory has its values",
            f"a quantised tensor, whose memory has ints that stand for them: pass "
            f"{at.path}.dequantize(), or {at.path}.int_repr() and how it is quantised",
        )
    if torch.is_grad_enabled() and tensor.requires_grad:
        raise at.mismatch(
            f"a tensor that needs no gradient, as autograd does not see what {at.function} does",
            f"one that requires grad: pass {at.path}.detach(), call {at.function} under "
            f"torch.no_grad(), or {at.operator}(…, backward=…)",
        )
    if torch.autograd.forward_ad.unpack_dual(tensor).tangent is not None:
        raise at.mismatch(
            f"a tensor without a tangent, as {at.function} would lose it",
            f"a dual tensor of forward-mode AD: pass its primal, "
            f"torch.autograd.forward_ad.unpack_dual({at.path}).primal",
        )
    if tensor.layout is not torch.strided:
        raise at.mismatch(
            "a tensor with memory",
            f"a tensor of the layout {tensor.layout}, which has none of its own: pass "
            f"{at.path}.to_dense()",
        )
    if (kind := _without_memory(tensor)) is not None:
        raise at.mismatch(
            "a tensor with memory",
            f"{kind}, which has none: pass a dense tensor on a device, or {at.operator}",
        )
    return tensor


def _without_memory(tensor: Any) -> str | None:
    """Return the kind of a tensor without memory, or None if the tensor has memory."""
    torch: Any = sys.modules["torch"]
    try:
        storage = tensor.untyped_storage()
        # That of tensors of FakeTensorMode is also on the meta device.
        if storage.device.type != "meta":
            if tensor.data_ptr() or tensor.numel() == 0:
                return None
            if type(tensor) in (torch.Tensor, torch.nn.Parameter):
                # The wrapper refuses a tensor whose storage was freed.
                return _TRACED if storage.nbytes() else None
    except RuntimeError:
        return _TRACED
    return "a meta tensor" if tensor.is_meta else f"a {type(tensor).__name__}"


_TRACED: Final = "a tensor that torch traces or maps over"


def refuse_proxy(proxy: Any, at: Position) -> Any:
    """Raise ValueError for a proxy of `torch.fx`."""
    raise at.mismatch(
        "a tensor",
        f"a {type(proxy).__name__} of torch.fx, which has no values while a program is traced: "
        f"{at.operator}",
    )


@functools.cache
def _tracing() -> Callable[[], bool]:
    """Return the function that tells whether this thread records what torch does in a graph.

    Modes that look at operators for other ends, such as counting, do not.
    """
    torch: Any = sys.modules["torch"]
    try:
        core = torch._C
        tracer, before = map(core._parse_dispatch_key, ("Tracer", "PreDispatch"))
        included = core._dispatch_tls_is_dispatch_key_included
        excluded = core._dispatch_tls_is_dispatch_key_excluded
        depth, mode = core._len_torch_dispatch_stack, core._get_dispatch_mode
        kinds = [getattr(core._TorchDispatchModeKey, name) for name in _RECORDING_MODES]
    except AttributeError:  # torch does not document these names
        return torch.jit.is_tracing

    def tracing() -> bool:
        # A kernel that a recorded operator calls is not recorded: the key is excluded then.
        if included(tracer) and not excluded(tracer):
            return True
        if included(before) and not excluded(before):
            return True
        return depth() > 0 and any(mode(kind) is not None for kind in kinds)

    return tracing


_RECORDING_MODES: Final = ("PROXY", "FAKE", "FUNCTIONAL")
