"""Compares what a kernel computes with what its reference does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, cast

from ffi_builder import SpecError, spec
from ffi_builder.extending import Plain
from ffi_builder.testing.kernels.elements import tolerance, values
from ffi_builder.testing.kernels.finding import Finding, of_all, place
from ffi_builder.testing.kernels.frame import Frame, call
from ffi_builder.testing.kernels.guarded import read
from ffi_builder.testing.kernels.observe import Output, Outputs, first_index
from ffi_builder.testing.make.arrays import numpy

np: Final = numpy()


def _written(signature: spec.Signature) -> Iterator[tuple[str, Plain]]:
    """Yield the tensors and lists of tensors that are written, with their paths."""
    for path, param in spec.with_paths(signature.arguments):
        plain = spec.required(param)
        tensor = plain.tensor if isinstance(plain, spec.TensorList) else plain
        if getattr(tensor, "intent", None) in ("out", "inout"):
            yield path, plain


def _output_names(frame: Frame) -> list[str]:
    """Return the paths of written tensors, also of absent ones, and of results."""
    names: list[str] = []
    for path, plain in _written(frame.signature):
        listed = (tensor.path for tensor in frame.outputs if tensor.path.startswith(f"{path}["))
        names += listed if isinstance(plain, spec.TensorList) else [path]
    return [*names, *(result.name for result in frame.signature.results)]


def expected_outputs(reference: Callable[..., Any], frame: Frame, framework: str) -> dict[str, Any]:
    """Call the reference, and return what each output should be, by name.

    Raises:
        Finding: the reference returns the wrong number of values.
    """
    frame.write_given()
    is_torch = framework == "torch"
    arguments = frame.with_tensors(
        lambda each: each.tensor.clone() if is_torch else np.array(each.values(each.read()))
    )
    with np.errstate(all="ignore"):  # as kernels do not warn of overflows
        returned = call(reference, frame.signature, arguments)
    names = _output_names(frame)
    several = isinstance(returned, (tuple, list))
    given: list[Any] = [*cast("Any", returned)] if several else [returned]
    kind = type(cast("object", returned)).__name__
    if len(given) != len(names):
        given = [*_flat(given)]  # the reference returned a list for each list of tensors
    if len(names) == 1 and len(given) != 1:
        given = [returned]  # the one output is a list of numbers
    if len(given) == len(names):
        return dict(zip(names, given, strict=True))
    shown = f"{kind} of {len(given)} values" if several else _shown(returned)
    words = (
        f"the reference returns {shown}, but there are {len(names)} outputs; it must return a "
        f"tuple of what {', '.join(names[:-1])} and {names[-1]} should be, in this order (the "
        f"tensors of intent 'out' and 'inout', then the results; anything for an absent one)"
    )
    raise Finding("number", "", words)


def _shown(value: Any) -> str:
    """Describe one value that a reference returned."""
    if value is None:
        return "None"
    return f"one {type(value).__name__}"


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from _flat(cast("list[Any]", value))
        else:
            yield value


def compare(
    outputs: Outputs, expected: Mapping[str, Any], rtol: float | None, atol: float | None
) -> None:
    """Check that outputs are as expected.

    Raises:
        Finding: an output is not as expected.
    """
    for name, output in outputs.items():
        default = tolerance(output.dtype)
        relative, absolute = (default if given is None else given for given in (rtol, atol))
        _compare(name, output, expected[name], relative, absolute)


def check_outputs(signature: spec.Signature) -> None:
    """Check that there is something to compare.

    Raises:
        SpecError: a result is a str, bytes or an object.
        ValueError: there are no outputs.
    """
    for result in signature.results:
        if not isinstance(result, (spec.Var, spec.Tensor, spec.Shape)):
            raise SpecError(
                f"check_kernel: the result {result.name!r} is a {type(result).__name__}, but only "
                f"tensors, numbers and Shapes are compared with those of a reference"
            )
    if not signature.results and not [*_written(signature)]:
        raise ValueError(
            f"check_kernel: {signature.name} has no outputs to compare; declare intent='out' or "
            f"intent='inout' for the tensors that it writes"
        )


def _compare(name: str, output: Output, wanted: Any, relative: float, absolute: float) -> None:
    if wanted is None:
        words = (
            f"the reference returns None for {name}; it must return what {name} should be, and not "
            f"write it into its arguments, which are copies"
        )
        raise Finding("missing", name, words)
    got, expected = output.values(), _as_numpy(wanted)
    if expected is None:
        words = f"the reference returns {_shown(wanted)} for {name}; it must return numbers"
        raise Finding("dtype", name, words)
    if expected.shape != got.shape:
        words = (
            f"the reference returns shape {expected.shape} for {name}, but {name} has shape "
            f"{got.shape}; it must return a value for each element"
        )
        raise Finding("shape", name, words)
    if expected.dtype.kind == "c" and got.dtype.kind != "c":
        words = f"the reference returns {expected.dtype} for {name}, but {name} is {output.dtype}"
        raise Finding("dtype", name, words)
    different = ~_close(got, expected, relative, absolute)
    if different.any():
        index = first_index(different)
        words = (
            f"expected {expected[index]} for {place(name, index)} but got {got[index]}"
            f"{of_all(int(different.sum()), different.size)}"
        )
        if relative or absolute:
            words += f", with rtol={relative:.3g} and atol={absolute:.3g}"
        raise Finding("differs", name, words, index)


def _close(got: Any, expected: Any, relative: float, absolute: float) -> Any:
    """Return which elements are close enough; NaN is close to NaN."""
    if got.dtype.kind in "biu" and expected.dtype.kind in "biu":
        return got == expected
    wide = "complex128" if "c" in (got.dtype.kind, expected.dtype.kind) else "float64"
    with np.errstate(all="ignore"):
        if got.dtype.kind == expected.dtype.kind == "f":
            expected = expected.astype(got.dtype)  # which may be infinite there
        left, right = got.astype(wide), expected.astype(wide)
        near = np.abs(left - right) <= absolute + relative * np.abs(right)
    finite = np.isfinite(right)
    return (near & finite) | (left == right) | (np.isnan(left) & np.isnan(right))


def _as_numpy(value: Any) -> Any:
    """Convert a value from a reference to a NumPy array of numbers; None if that is impossible."""
    framework = type(value).__module__.partition(".")[0]
    if framework == "torch":
        value = value.detach().resolve_conj().resolve_neg()
    if framework in ("torch", "tvm_ffi"):  # NumPy has no bfloat16 or float8
        array, contents = read("the reference's result", value)
        return values(array.dtype, contents)
    try:
        array = np.asarray(value)
        return array if array.dtype.kind in "biufc" else array.astype("float64")
    except (TypeError, ValueError):  # strs, objects, rows of different lengths
        return None
