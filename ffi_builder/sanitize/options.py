"""The checking mode of wrappers: checks around the call of the kernel.

``attach(module, signature, provider, sanitize=True)`` lets the kernel work on copies of the tensors
on the CPU, each between guard zones::

    | guard zone | elements, and bytes between them if strided | guard zone |

After the call the copies show what the kernel has done. If all checks pass, the elements that the
kernel wrote are copied to the caller's tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Final

from ffi_builder import SpecError, spec
from ffi_builder.extending import ANY, can_overlap, dataclass, is_comparable, tensors_of
from ffi_builder.sanitize.words import ERROR

_MOST_BYTES: Final = 2**30
_FLOATS: Final = ("float", "bfloat", "complex")
_WITHOUT_NAN: Final = ("float6_", "float4_")


@dataclass(frozen=True)
class Sanitize:
    """Checks of a wrapper around the call of the kernel, for ``attach(…, sanitize=…)``.

    ``sanitize=True`` stands for ``Sanitize()``. Use it to find mistakes in kernels: a call takes
    many times as long, and three times the memory of its tensors.

    Args:
        guard_bytes: the size of the guard zones before and behind the elements of each tensor. The
            kernel must not write there, nor between strided elements; with 0, neither is watched.
        inputs: tensors of ``intent="in"`` must hold the same bytes after the call.
        poison: fill results, tensors of ``intent="out"`` and Workspaces without ``zero`` with a
            pattern before the call. Results and ``"out"`` must not hold it afterwards. For floats
            of 16 to 64 bits the pattern is a signalling NaN, which no arithmetic makes, and no
            tensor that is written may hold what arithmetic makes of it. For other dtypes the
            pattern repeats 8 different bytes, whose low four bits differ between tensors, and only
            runs of at least 4 bytes count as unwritten. For runs below 8 bytes the error says
            "possibly", except for bools, which cannot have such bytes.
        overlap: tensors of ``intent="out"`` and ``"inout"`` must share no memory with another
            tensor, as with ``no_overlap=True`` in a signature.
        nan: results and tensors that the kernel may write must hold no NaN after the call.

    Raises:
        SpecError: ``guard_bytes`` is no int from 0 to 2^30, another field is no bool, or all checks
            are off.

    Examples:
        A copy that forgets the last element:

        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import Sanitize, attach, providers, runtime, spec
        >>> n = spec.Var("n", "int64")
        >>> with spec.DefaultConfig(device_type="cpu"):
        ...     x = spec.Tensor("x", [n], "float32", intent="in")
        ...     y = spec.Tensor("y", [n], "float32", intent="out")
        >>> kernel = providers.DirectCallProvider("memcpy", args=[y, x, n * 4 - 4])
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, spec.Signature("copy", [x, y]), kernel, sanitize=Sanitize(inputs=False))
        >>> runtime.compile(module)["copy"](np.ones(3, "float32"), np.empty(3, "float32"))
        Traceback (most recent call last):
        ...
        AssertionError: y is declared intent='out', but the kernel does not write y[2], which
            still holds the poison nan (declare intent='inout' if it may keep a part) when
            calling: `...`
    """

    guard_bytes: int = 4096
    inputs: bool = True
    poison: bool = True
    overlap: bool = True
    nan: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value: object = getattr(self, field.name)
            if field.name == "guard_bytes":
                is_int = isinstance(value, int) and not isinstance(value, bool)
                if not is_int or not 0 <= self.guard_bytes <= _MOST_BYTES:
                    raise SpecError(
                        f"Sanitize: guard_bytes: expected an int from 0 to {_MOST_BYTES} but got "
                        f"{value!r}"
                    )
            elif not isinstance(value, bool):
                raise SpecError(f"Sanitize: {field.name}: expected a bool but got {value!r}")
        if not self.copies and not self.overlap:
            raise SpecError(
                "Sanitize: nothing is to be checked; leave out sanitize=, or set a field"
            )

    @property
    def copies(self) -> bool:
        """Whether the kernel works on copies: everything but ``overlap`` needs them."""
        return bool(self.guard_bytes) or self.inputs or self.poison or self.nan

    def constrain(self, signature: spec.Signature) -> spec.Signature:
        """Return the signature; with ``overlap``, add the written tensors to its ``no_overlap``."""
        if not self.overlap:
            return signature
        written = [
            path
            for path, tensor in tensors_of(signature.arguments).items()
            if tensor.intent in ("out", "inout") and is_comparable(tensor)
        ]
        if not written or not can_overlap(signature.arguments):
            return signature
        return replace(signature, no_overlap=list(dict.fromkeys((*written, *signature.no_overlap))))

    def rows(self, signature: spec.Signature) -> list[tuple[str, str, str]]:
        """Return what ``explain`` shows of the call of the kernel."""
        return [row for tensor in watched(signature, self) for row in tensor.rows()]


def checked_sanitize(given: object) -> Sanitize:
    """Return the Sanitize that ``sanitize=`` stands for; the core has seen False.

    Raises:
        SpecError: ``given`` is neither True nor a Sanitize.
    """
    if isinstance(given, Sanitize):
        return given
    if given is True:
        return Sanitize()
    raise SpecError(f"sanitize: expected True, False or a Sanitize but got {given!r}")


@dataclass(frozen=True)
class Watched:
    """A tensor that is copied if it is on the CPU, and the checks of the copy.

    For a list, one object stands for each of the elements.
    """

    path: str
    tensor: spec.Tensor
    is_result: bool
    options: Sanitize
    is_list: bool = False

    @property
    def may_be_copied(self) -> bool:
        """Whether the tensor may be on the CPU."""
        return self.tensor.device in ("cpu", ANY)

    @property
    def poisoned(self) -> bool:
        """Whether the elements are filled with the pattern before the call."""
        if isinstance(self.tensor, spec.Workspace):
            return self.options.poison and not self.tensor.zero
        return self.options.poison and (self.is_result or self.tensor.intent == "out")

    @property
    def given_back(self) -> bool:
        """Whether the elements that the kernel writes are copied to the tensor."""
        return not isinstance(self.tensor, spec.Workspace) and self.tensor.intent != "in"

    @property
    def must_be_written(self) -> bool:
        """Whether the pattern must be gone after the call."""
        return self.poisoned and self.given_back

    @property
    def must_not_change(self) -> bool:
        """Whether the elements must be the same after the call."""
        return self.options.inputs and self.tensor.intent == "in"

    @property
    def must_not_be_computed_from_poison(self) -> bool:
        """Whether no element may be what arithmetic makes of the pattern."""
        floats = (name for name in self.tensor.element_dtypes if name.startswith(_FLOATS))
        return self.options.poison and self.given_back and any("_" not in name for name in floats)

    @property
    def must_not_be_nan(self) -> bool:
        """Whether the elements must hold no NaN after the call."""
        floats = [name for name in self.tensor.element_dtypes if name.startswith(_FLOATS)]
        able = any(not name.startswith(_WITHOUT_NAN) for name in floats)
        return self.options.nan and self.given_back and able

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield a row of ``explain`` for each action and check: subject, expected, error."""
        path, device = self.path + "[i]" * self.is_list, self.tensor.device
        if not self.may_be_copied:
            yield path, f"passed as it is, since {device} tensors are not copied", ""
            return
        yield path, "copied" if device == "cpu" else "copied if it is on the CPU", "MemoryError"
        if self.options.guard_bytes:
            around = f"{self.options.guard_bytes} bytes around {path}"
            yield around, "as before the call", ERROR
        if self.must_not_change:
            yield f"elements of {path}", "as before the call", ERROR
        if self.poisoned:
            yield f"elements of {path}", "filled with poison before the call", ""
        if self.must_be_written:
            yield f"elements of {path}", "all written", ERROR
        if self.must_not_be_computed_from_poison:
            yield f"elements of {path}", "not computed from poison", ERROR
        if self.must_not_be_nan:
            yield f"elements of {path}", "no NaN", ERROR


def watched(signature: spec.Signature, options: Sanitize) -> list[Watched]:
    """Return the tensors of a signature: arguments, results and Workspaces, in this order."""
    if not options.copies:
        return []
    params = {path: spec.required(param) for path, param in spec.with_paths(signature.arguments)}
    arguments = [
        Watched(path, tensor, False, options, isinstance(params[path], spec.TensorList))
        for path, tensor in tensors_of(signature.arguments).items()
    ]
    results = [Watched(result.name, result, True, options) for result in signature.result_tensors]
    scratch = [Watched(param.name, param, False, options) for param in signature.workspaces]
    return [*arguments, *results, *scratch]
