"""Verifies that a function reads and writes its tensors as they are declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ffi_builder import spec
from ffi_builder.plan import check_signature
from ffi_builder.testing.kernels.elements import CONTENTS
from ffi_builder.testing.kernels.finding import Finding
from ffi_builder.testing.kernels.frame import Frame, Functions, function_of
from ffi_builder.testing.kernels.observe import observe
from ffi_builder.testing.kernels.show import shown_arguments
from ffi_builder.testing.make.arguments import make_args
from ffi_builder.testing.make.arrays import numpy


def check_intents(
    compiled: Callable[..., Any] | Functions,
    signature: spec.Signature,
    arguments: Sequence[Any] | None = None,
    *,
    framework: str | None = None,
    seed: int = 0,
) -> None:
    """Verify that a function reads and writes its tensors as their ``intent`` declares.

    The function is called twice, or a few times more if there is something to find out, on copies
    of the tensors in guarded memory. In these calls

    - no element of an ``intent="in"`` tensor may change;
    - every element of an ``intent="out"`` tensor must be written, and no output or result may
      depend on what the tensor held before;
    - no byte outside of the elements of any tensor may be written (4096 bytes before and behind
      them, and the bytes between them if it is strided), nor have an influence on the outputs.

    A tensor without an ``intent`` is only guarded. Tensors in tuples, structs and Optionals are
    looked at too; those in Arrays and Maps are not.

    Args:
        compiled: the function, or a compiled module that has it by the name of the signature.
        signature: what the function accepts. Its tensors must be allowed on the CPU.
        arguments: the arguments in their order; they stay as they are. Tensors that share memory
            do not in the copies. Without them, :func:`make_args` makes some, with random elements.
        framework: makes the tensors: ``"numpy"``, ``"torch"`` or ``"tvm_ffi"``. The default is the
            framework of each given tensor, or NumPy.
        seed: seeds the random elements.

    Raises:
        KernelError: the function does something else than is declared. The message says to which
            argument, where, and what was there before and after.
        ValueError: an unknown framework, a wrong number of arguments or elements, a tensor that is
            not on the CPU, or no arguments can be made.
        SpecError: ``signature`` is not a Signature.

    Examples:
        A copy that forgets the last element:

        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec, testing
        >>> n = spec.Var("n", "int64", min=1)
        >>> with spec.DefaultConfig(device_type="cpu"):
        ...     x = spec.Tensor("x", [n], "float32", intent="in")
        ...     y = spec.Tensor("y", [n], "float32", intent="out")
        >>> copy = spec.Signature("copy", [x, y])
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, copy, providers.DirectCallProvider("memcpy", args=[y, x, n * 4 - 4]))
        >>> testing.check_intents(runtime.compile(module), copy)
        Traceback (most recent call last):
        ...
        ffi_builder.testing.kernels.finding.KernelError: copy: y is declared intent='out', but
            the call does not write y[1], which holds 0.7470588 as before (1 of 2 elements);
            declare intent='inout' if it may keep a part
        The arguments:
          x = float32[2]: [2.875, 1.125]
          y = float32[2]
    """
    check_signature("check_intents: ", signature)
    if arguments is None:
        frame = Frame(signature, make_args(signature, framework=framework or "numpy"), framework)
        frame.randomize(CONTENTS[-1], numpy().random.default_rng(seed))
    else:
        frame = Frame(signature, arguments, framework)
    found = observe(function_of(compiled, signature), frame)
    if isinstance(found, Finding):
        raise found.error(signature.name, f"The arguments:\n{shown_arguments(frame)}")
