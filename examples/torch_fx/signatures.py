"""Read the signature of an exported PyTorch program: all that it assumes of its inputs."""

# pyright: basic, reportMissingImports=false
import re

import torch

from ffi_builder import BuildError, spec

REDUCTIONS = r"aten\.(amax|amin|max|min|aminmax|argmax|argmin|median|mode|(var|std)(_mean)?)\..*"
WINDOWS = r"aten\.(conv\w*|\w+_pool\dd\w*)\..*"
SIZE = r"L\[\S+\.size\(\)\[\d+\]"


def signature_of(name, program, dims=()):
    """Return the signature of an ExportedProgram; `dims` name its symbols in order."""
    program = program.run_decompositions({})  # afterwards it says which inputs it writes to
    params = [
        f"{label}: Tensor([{', '.join(map(str, x.shape))}], {str(x.dtype).removeprefix('torch.')})"
        for label, x in tensors_of(program).items()
    ]
    derived = any(not symbol.is_Symbol for symbol in program.range_constraints)
    if not derived:  # torch.export has compared all guards with what derived dimensions promise
        check_guards(program)
    used = set(re.findall(r"\w+", " ".join(params)))  # torch knows others, which no shape has
    ranges = {str(s): range_ for s, range_ in program.range_constraints.items() if str(s) in used}
    least = 2 if derived else 0  # the symbol of 2 * half begins at 2 for tracing only
    limits = [f"{range_.lower} <= {s}" for s, range_ in ranges.items() if range_.lower > least]
    limits += [f"{s} <= {range_.upper}" for s, range_ in ranges.items() if range_.upper.is_Integer]
    limits += [f"1 <= {size}" for size in sizes_not_0(program)]
    text = f"{name}({', '.join(params)})" + " where " * bool(limits) + ", ".join(limits)
    symbols = [word for word in dict.fromkeys(re.findall(r"\w+", text)) if word in ranges]
    names = dict(zip(symbols, dims, strict=False))
    text = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), text)
    return spec.Signature.parse(text, device="cpu")


def sizes_not_0(program):
    """Return the sizes, none of them constant, of which PyTorch's operators refuse 0.

    So they do for a maximum of no elements, and for a result of no windows. The code that the
    importer makes returns something. A variance of no elements is NaN, but not in that code.
    """
    sizes = []
    for node in program.graph.nodes:
        if node.op != "call_function":
            continue
        if re.fullmatch(REDUCTIONS, str(node.target)):
            shape = node.args[0].meta["val"].shape
            dims = node.args[1] if len(node.args) > 1 else node.kwargs.get("dim")
            dims = range(len(shape)) if dims in (None, []) else dims
            sizes += [shape[at] for at in ([dims] if isinstance(dims, int) else dims)]
        elif re.fullmatch(WINDOWS, str(node.target)):
            result = node.meta["val"]
            sizes += (result if isinstance(result, torch.Tensor) else result[0]).shape[1:]
    return [size for size in dict.fromkeys(map(str, sizes)) if not size.isdigit()]


def check_guards(program):
    """Refuse a program that holds for some sizes only, in ways that the signature does not say."""
    guards = getattr(program, "_guards_code", None) or ()  # private: without it, nothing is refused
    more = [guard for guard in guards if not re.fullmatch(f"{SIZE} == {SIZE}", guard)]
    if more:
        raise BuildError(
            f"The program holds only if {more[0]}, which the signature cannot say. There are fewer "
            f"such conditions if dimensions have names: torch.export.Dim, not AUTO or DYNAMIC"
        )


def tensors_of(program):
    """Return fake tensors for the inputs of an ExportedProgram, then for its results, by name."""
    exported = program.graph_signature
    if exported.user_inputs_to_mutate or exported.buffers_to_mutate:
        raise BuildError("The program writes to its inputs or buffers: is it in eval mode?")
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    results = [(f"out{index}", node) for index, node in enumerate(exported.user_outputs)]
    tensors = {}
    for label, node in [*((node, node) for node in exported.user_inputs), *results]:
        if not isinstance(values.get(node), torch.Tensor):
            raise BuildError(f"Expected tensors as inputs and results, but got {node!r}")
        tensors[label] = values[node]
    return tensors
