"""Compares a kernel with a reference on random arguments, and shrinks examples that differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ffi_builder import spec
from ffi_builder.extending import check_signature
from ffi_builder.testing.kernels.compare import check_outputs, compare, expected_outputs
from ffi_builder.testing.kernels.elements import CONTENTS
from ffi_builder.testing.kernels.examples import Draw, Examples, simpler
from ffi_builder.testing.kernels.finding import Finding
from ffi_builder.testing.kernels.frame import Frame, Functions, function_of, shown_arguments
from ffi_builder.testing.kernels.observe import observe
from ffi_builder.testing.make.arguments import Dims, make_args
from ffi_builder.testing.make.arrays import numpy

np: Final = numpy()

_SHRINKS: Final = 1000
"""Greatest number of simpler examples to try."""


def check_intents(
    compiled: Callable[..., Any] | Functions,
    signature: spec.Signature,
    arguments: Sequence[Any] | None = None,
    *,
    framework: str | None = None,
    seed: int = 0,
) -> None:
    """Verify that a function reads and writes its tensors as their ``intent`` declares.

    The function is called twice on copies of the tensors in guarded memory, and a few times more if
    its outputs differ. In these calls

    - no element of an ``intent="in"`` tensor may change;
    - every element of an ``intent="out"`` tensor must be written, and no output or result may
      depend on what the tensor held before;
    - no byte outside of the elements of any tensor may be written, or influence the outputs. These
      bytes are 4096 before and behind the elements, and those between them if it is strided.

    A tensor without an ``intent`` is only guarded. Tensors in tuples, structs and Optionals are
    checked too; those in Arrays and Maps are not.

    Args:
        compiled: the function, or a compiled module that has it by the name of the signature.
        signature: what the function accepts. Its tensors must be allowed on the CPU, or in the
            block of a :class:`FakeCuda` on CUDA.
        arguments: the arguments in their order, which are not changed. Tensors that share memory
            do not share it in the copies. By default, :func:`make_args` makes the arguments, with
            random elements.
        framework: makes the tensors: ``"numpy"``, ``"torch"`` or ``"tvm_ffi"``. The default is the
            framework of each given tensor, or NumPy.
        seed: seeds the random elements.

    Raises:
        KernelError: the function does not do what is declared. The message names the argument and
            the element, with its values before and after the call.
        ValueError: an unknown framework, a wrong number of arguments or elements, a tensor that is
            on another device, or no arguments can be made.
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
        frame.randomize(CONTENTS[-1], np.random.default_rng(seed))
    else:
        frame = Frame(signature, arguments, framework)
    try:
        observe(function_of(compiled, signature), frame)
    except Finding as finding:
        context = f"The arguments:\n{shown_arguments(frame)}"
        raise finding.error(signature.name, context) from None


def check_kernel(
    compiled: Callable[..., Any] | Functions,
    signature: spec.Signature,
    reference: Callable[..., Any],
    *,
    examples: int = 100,
    seed: int = 0,
    rtol: float | None = None,
    atol: float | None = None,
    framework: str = "numpy",
    dims: Dims | None = None,
    values: Mapping[str, object] | None = None,
    limits: bool = False,
    prepare: Callable[..., object] | None = None,
) -> None:
    """Compare a kernel with a reference on random arguments that the signature accepts.

    Sizes are small, and often 0, 1, odd, or next to a power of two. Ints and floats are near 0, but
    elements of 8 and 16 bits have any value in half of the tensors. Floats are multiples of 1/8, or
    in one tensor of float64 of 2**-24, which float32 cannot hold. The examples vary the dtypes,
    ranks, layouts, Choices, and the presence of Optionals as the signature allows. Some tensors
    have only the alignment that the element, ``data_alignment`` or a condition on ``x.data``
    requires. Lists of tensors have up to 4 elements, or as many as the signature requires. In each
    example, the checks of :func:`check_intents` verify what is read and written. If an example
    fails, its arguments are made simpler as long as the same mistake occurs.

    ``reference`` takes copies of the same arguments, and returns the expected value of each output:
    one value, or a tuple of values. The outputs are the tensors of ``intent`` "out" and "inout", in
    the order of the parameters, and then the results. The outputs of a list of tensors may be one
    list. A value for an absent tensor is ignored. Tensors of ``intent="out"`` hold zeros. The
    reference gets NumPy arrays, in which packed elements are separate. Floats that NumPy lacks
    (bfloat16, float8, float6, float4) become float32, and ints of less than 8 bits become int8 or
    uint8. With ``framework="torch"``, the reference gets torch tensors.

    Args:
        compiled: the function, or a compiled module that has it by the name of the signature.
        signature: what the function accepts. Its tensors must be allowed on the CPU, or in the
            block of a :class:`FakeCuda` on CUDA. At least one must be declared as an output, unless
            the function returns something.
        reference: computes what is expected.
        examples: how many examples to try.
        seed: seeds the examples; the same seed makes the same ones.
        rtol: greatest difference, relative to the expected value. The default depends on the
            output: 1e-9 for float64, 1e-5 for float32, the distance of 1 to the next value for
            narrower floats, and 0 for ints and bools. An expected NaN matches NaN.
        atol: greatest absolute difference, which is added to the relative one. By default it is
            equal to ``rtol``.
        framework: makes the tensors: ``"numpy"``, ``"torch"`` or ``"tvm_ffi"``.
        dims: values of symbols for all examples, as in :func:`make_args`.
        values: arguments for all examples, as in :func:`make_args`.
        limits: put NaN, infinities, -0 and the least and greatest ints among the elements, and NaN,
            infinities and -0 among floats that are not in tensors.
        prepare: called with the arguments of each example before the kernel. It may write other
            elements into them, say indices that are in range, or return False to leave the example
            out.

    Raises:
        KernelError: an output is not as expected, a tensor is read or written against its
            ``intent``, or a call raises an exception. The message shows the smallest arguments.
        ValueError: the signature has no outputs, no arguments can be made, or ``prepare`` leaves
            out all examples.
        SpecError: ``signature`` is not a Signature, or it returns a str, bytes or an object.

    Examples:
        >>> import numpy as np
        >>> from torch_mlir import ir
        >>> from ffi_builder import attach, providers, runtime, spec, testing
        >>> hypot = spec.Signature.parse("hypot(x: float64, y: float64) -> r: float64")
        >>> module = ir.Module.parse("", ir.Context())
        >>> attach(module, hypot, providers.DirectCallProvider("hypot"))
        >>> compiled = runtime.compile(module)
        >>> testing.check_kernel(compiled, hypot, lambda x, y: np.sqrt(x * x + y * y))
        >>> testing.check_kernel(compiled, hypot, lambda x, y: x + y)
        Traceback (most recent call last):
        ...
        ffi_builder.testing.kernels.finding.KernelError: hypot: expected 2.0 for r but got
            1.4142135623730951, with rtol=1e-09 and atol=1e-09
        The smallest arguments found (example 2 of 100, seed=0):
          x = 1.0
          y = 1.0
    """
    check_signature("check_kernel: ", signature)
    check_outputs(signature)
    function = function_of(compiled, signature)
    given = dims or {}, values or {}
    made = Examples(signature, framework, seed, *given, limits=limits, prepare=prepare)

    def judge(frame: Frame) -> Finding | None:
        who = "the call"
        try:
            outputs = observe(function, frame)
            who = "the reference"
            compare(outputs, expected_outputs(reference, frame, framework), rtol, atol)
        except Finding as finding:
            return finding
        except Exception as error:
            words = f"{who} raises {type(error).__name__}"
            return Finding(words, "", f"{words}: {error}", cause=error)
        return None

    tried = 0
    for number in range(examples):
        draw, frame = made.example(number)
        if frame is None:
            continue
        tried += 1
        finding = judge(frame)
        if finding is not None:
            finding, frame = _shrunk(made, draw, number, judge, finding, frame)
            context = (
                f"The smallest arguments found (example {number + 1} of {examples}, seed={seed}):\n"
                f"{shown_arguments(frame)}"
            )
            raise finding.error(signature.name, context) from finding.cause
    if examples and not tried:
        raise ValueError(f"check_kernel: prepare leaves out all {examples} examples")


def _shrunk(
    made: Examples,
    draw: Draw,
    number: int,
    judge: Callable[[Frame], Finding | None],
    finding: Finding,
    frame: Frame,
) -> tuple[Finding, Frame]:
    """Make the arguments simpler, as long as the same mistake occurs with the same argument."""
    candidates = simpler(draw)
    for _ in range(_SHRINKS):
        lower = next(candidates, None)
        if lower is None:
            break
        try:
            drawn, other = made.example(number, lower)
        except ValueError:
            continue
        again = None if other is None else judge(other)
        if other and again and (again.kind, again.argument) == (finding.kind, finding.argument):
            finding, frame, candidates = again, other, simpler(drawn)
    return finding, frame
