"""Workspaces: scratch tensors that the wrapper allocates for a call."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from typing_extensions import override

from ffi_builder import addons
from ffi_builder.errors import SpecError
from ffi_builder.records import dataclass
from ffi_builder.spec._check import boolean
from ffi_builder.spec.param import MISSING, PlainValues, pasteable
from ffi_builder.spec.tensors.devices import ANY
from ffi_builder.spec.tensors.tensor import Tensor


@dataclass(frozen=True, repr=False)
class Workspace(Tensor):
    """Scratch memory that the wrapper allocates before the call, and releases after it.

    It is not an argument: callers do not pass it, and error messages do not show it. The kernel
    gets it as it gets a contiguous :class:`Tensor`. The caller's framework allocates it for its
    current stream on the device: work that the kernel launches on that stream may still run when
    the memory is released.

    Args:
        name: an identifier.
        shape: ints, and symbols or expressions of symbols that arguments bind; or ``"x.shape"``.
        dtype: the element type, or ``"x.dtype"``.
        device_type: as for a Tensor, or ``"x.device_type"``, which takes the device id too.
        device_id: an int, an integer Var, or None for the device of the first argument on this
            device type.
        data_alignment: in bytes, a power of two. The call fails if the allocator gives less.
        zero: whether to fill the memory with zeros before each call. On ``cuda`` this is
            asynchronous, on the current stream. If False, the memory is not initialised.

    Raises:
        SpecError: as for a Tensor; or a field that only arguments have, an unknown size or device,
            or ``zero`` on a device whose memory no add-on fills.

    Examples:
        Partial sums of a reduction, one for each 256 elements:

        >>> from ffi_builder import spec
        >>> n = spec.Var("n", "int64")
        >>> x = spec.Tensor("x", [n], "float32", device_type="cuda")
        >>> partial = spec.Workspace(
        ...     "partial", [spec.ceildiv(n, 256)], "float32", device_type="cuda", zero=True
        ... )
        >>> total = spec.Tensor("total", [], "float32", device_type="cuda")
        >>> print(spec.Signature("reduce", [x, partial], returns=total))
        reduce(x: Tensor([n], float32, device_type=cuda), partial: Workspace([ceildiv(n,
            256)], float32, device_type=cuda, zero=True)) -> total: Tensor([], float32,
            device_type=cuda)
    """

    accepts: ClassVar[PlainValues] = PlainValues("nothing")

    zero: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_allocated(self.label, self)
        if self.intent is not None:
            raise SpecError(f"{self.label}: intent: expected None but got {self.intent!r}")
        if self.default is not MISSING or self.kw_only:
            raise SpecError(
                f"{self.label}: it is not an argument, so has no default and no kw_only"
            )
        boolean(f"{self.label}: zero", self.zero)
        if "device_type" not in self.references:
            self.check_zero()

    def check_zero(self) -> None:
        """Check that the wrapper can fill memory on the device with zeros, if ``zero`` is set.

        Raises:
            SpecError: the wrapper cannot.
        """
        if self.zero and self.device != "cpu" and self.device not in addons.known("zeros"):
            raise SpecError(
                f"{self.label}: zero: expected False on {self.device!r}, whose memory no add-on "
                f"fills; let the kernel do it"
            )

    @override
    def _type_options(self) -> list[str]:
        return [*super()._type_options(), *(["zero=True"] if self.zero else [])]


def check_allocated(what: str, tensor: Tensor) -> None:
    """Check that a tensor gives everything that its allocation needs.

    Raises:
        SpecError: something is missing; the message begins with ``what``.
    """
    taken = tensor.references
    wrong: str | None = None
    if tensor.shape is Ellipsis:
        wrong = "shape: expected a list of sizes but got ..."
    elif "shape" not in taken and None in tensor.dims:
        wrong = f"shape[{tensor.dims.index(None)}]: expected the size to allocate but got None"
    elif "dtype" not in taken and len(tensor.dtypes) > 1:
        wrong = f"dtype: expected one but got {', '.join(tensor.dtypes)}"
    elif tensor.storage_dtype is not None:
        wrong = "storage_dtype: expected None; give what is allocated as dtype"
    elif tensor.order != "C":
        shown = tensor.strides if isinstance(tensor.strides, str) else tensor.stride_entries
        wrong = f"strides: expected None (contiguous) but got {pasteable(shown)}"
        if tensor.order == "F" and len(tensor.dims) > 1:
            reverse = ", ".join(f"{size}" for size in reversed(tensor.dims))
            wrong += (
                f". The wrapper makes it row-major: declare [{reverse}], whose transpose "
                f"{tensor.name}.T is column-major"
            )
    elif tensor.device_type == ANY:
        wrong = "device_type: expected the one to allocate on but got 'any'"
    elif "device_type" in taken and tensor.device_id is not None:
        wrong = f"device_id: expected None, as {tensor.device_type} takes it too"
    if wrong is not None:
        raise SpecError(f"{what}: {wrong}")
