"""What one implementation does with one call, in a form that can be compared, printed and sent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ffi_builder.spec import Signature, Tensor
from tests.differential.signatures import symbols_of, tensors_of
from tests.oracle import Rejected, Verdict


@dataclass(frozen=True)
class Outcome:
    """``kind`` is ``"accepted"``, an error's class, or ``"broken"`` where the ABI itself is."""

    kind: str
    message: str = ""
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """Each symbol's value as text, so that NaN is equal to NaN and 0.0 is not -0.0."""
    tensors: Mapping[str, str] | None = None
    """What the kernel gets of each tensor as text; None where an implementation does not say."""
    env_stream: str | None = None

    def agrees_with(self, other: Outcome) -> bool:
        """Whether two implementations did the same, as far as both say."""
        return (
            (self.kind, self.message, self.values) == (other.kind, other.message, other.values)
            and agree(self.tensors, other.tensors)
            and agree(self.env_stream, other.env_stream)
        )

    def __str__(self) -> str:
        if self.kind != "accepted":
            return f"{self.kind}: {self.message}"
        parts = {"symbols": dict(self.values), "tensors": self.tensors, "stream": self.env_stream}
        return f"accepted: {', '.join(f'{k}={v}' for k, v in parts.items() if v is not None)}"


def agree(left: object, right: object) -> bool:
    """Equal, or one of them not said."""
    return left is None or right is None or left == right


def show_values(signature: Signature, values: Mapping[str, object]) -> dict[str, str]:
    """Each symbol's value by name; what is there too much or too little is visible."""
    dtypes = {var.name: var.dtype for var in symbols_of(signature.params)}
    return {name: show(values[name], dtypes.get(name, "int64")) for name in sorted(values)}


def show(value: object, dtype: str) -> str:
    """A value of a symbol with that dtype."""
    assert isinstance(value, (int, float))
    if dtype == "bool":
        return str(bool(value))
    if not isinstance(value, float):
        return str(value)
    return "nan" if math.isnan(value) else value.hex()


def show_tensor(
    tensor: Tensor, data: int, shape: tuple[int, ...], strides: tuple[int, ...], device_id: int
) -> str:
    """Address, dimensions and device, and those strides that nobody looked at but the kernel."""
    entries = tensor.stride_entries or ()
    unseen = [strides[axis] for axis, entry in enumerate(entries) if entry is None]
    return f"{data:#x} shape={list(shape)} strides={unseen} device_id={device_id}"


def stream_of(device_type: int, device_id: int) -> int:
    """The stream that a device of the tests has: 0 where it has none."""
    return device_type << 16 | device_id << 4 if 0 <= device_id < 8 else 0


def of_verdict(signature: Signature, verdict: Verdict) -> Outcome:
    """The oracle's verdict."""
    if isinstance(verdict, Rejected):
        return Outcome(verdict.kind, verdict.message)
    by_path = verdict.tensors
    tensors = {
        path: show_tensor(tensor, found.data, found.shape, found.strides, found.device_id)
        for path, tensor in tensors_of(signature.params)
        for found in [by_path[path]]
    }
    device = verdict.env_stream_device
    stream = None if device is None else hex(stream_of(*device))
    return Outcome("accepted", "", show_values(signature, verdict.values), tensors, stream)
