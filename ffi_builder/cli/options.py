"""Options that several commands share: the signature, the call convention, and launches.

The options for launches are for kernels in CUDA images.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ffi_builder import CompileError
from ffi_builder.cli.output import PROVIDERS

if TYPE_CHECKING:
    from ffi_builder import Launch
    from ffi_builder.providers import CallProvider


CONVENTIONS: Final = {
    "memref": "expanded MLIR memrefs, to which func.func with memref parameters is lowered",
    "direct": "plain C arguments: a tensor is its data pointer",
    "pack": "void** with one pointer per parameter",
    "nop": "no kernel: the wrapper only checks its arguments",
}
_WORDS: Final = {"NULL": None, "true": True, "false": False}
"""Constants of ``--args``, as C writes them."""


def add_signature(parser: argparse.ArgumentParser, *, many: bool) -> None:
    """Add ``--signature`` and ``--device``."""
    parser.add_argument(
        "--signature",
        required=True,
        metavar="TEXT",
        action="append" if many else "store",
        help="the parameters of the function, in the grammar of docs/signatures.md"
        + ("; may be given several times" if many else ""),
    )
    parser.add_argument(
        "--device",
        metavar="TYPE",
        help="device type of tensors without one in the signature: cpu, cuda, …",
    )


def add_convention(parser: argparse.ArgumentParser, default: str) -> None:
    """Add ``--convention`` (None if not given), ``--function`` and ``--args``."""
    known = "; ".join(f"{name}: {words}" for name, words in CONVENTIONS.items())
    parser.add_argument(
        "--convention",
        choices=CONVENTIONS,
        help=f"how the kernel is called (default {default}). {known}",
    )
    parser.add_argument(
        *("--function", "--callee"),
        metavar="NAME",
        help="symbol of the kernel (default: the prototype's, or the signature's name)",
    )
    parser.add_argument(
        "--args",
        metavar="LIST",
        help="the arguments of the kernel: parameters, parts of them, expressions, NULL and "
        "numbers, as in 'x, x.ndim, n * 2, NULL, 0.5' (default: all parameters)",
    )


def list_of(option: str, text: str) -> list[str]:
    """Split the value of an option at commas outside brackets.

    Raises:
        CompileError: an entry is empty.
    """
    entries, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            entries.append("")
        else:
            entries[-1] += letter
    entries = [entry.strip() for entry in entries]
    if "" in entries and entries != [""]:
        raise CompileError(f"{option} {text!r}: an entry is empty")
    return [entry for entry in entries if entry]


def args_of(text: str | None) -> Any:
    """Return the entries of ``--args``: ``NULL``, floats, and what providers read themselves.

    Entries such as ``ctx=NULL`` make a dict, and ``{size: n}`` is the dict of a struct.

    Raises:
        CompileError: an entry is empty.
    """
    if text is None:
        return None
    entries = list_of("--args", text)
    pairs = [re.fullmatch(r"(\w+)\s*=\s*([^=].*)", entry) for entry in entries]
    if entries and None not in pairs:
        return {pair[1]: _entry(pair[2]) for pair in pairs if pair}
    return list(map(_entry, entries))


def _entry(text: str) -> str | float | bytes | dict[str, Any] | None:
    if text in _WORDS:
        return _WORDS[text]
    if text.startswith("{") and text.endswith("}"):
        fields = [each.partition(":") for each in list_of("--args", text[1:-1])]
        return {name.strip(): _entry(entry.strip()) for name, _, entry in fields}
    is_float = re.fullmatch(r"-?\d+(\.\d*(e[+-]?\d+)?|e[+-]?\d+)", text)
    return float(text) if is_float else text


def status_of(text: str) -> int | str:
    """Return the number of a status, or the name that a prototype gives it."""
    return text if text.isidentifier() else int(text)


def errors_of(given: Sequence[str]) -> dict[Any, Any] | None:
    """Return the errors of ``--error``, by their statuses; one without is for all others.

    Raises:
        CompileError: one has another form, or a status has two.
    """
    errors = dict[Any, Any]()
    for text in given:
        parts = re.fullmatch(
            r"(?:(-?\d+|[A-Za-z_]\w*|\.\.\.)=|(?=.))(?:(\w+)(?::\s*(.+))?)?", text, re.DOTALL
        )
        if parts is None:
            raise CompileError(
                f"--error {text!r}: expected STATUS=CLASS:WORDS, as '22=ValueError: the order is "
                f"negative', or one of the two, or '-1=' for a TVM-FFI error that the kernel has "
                f"set; zError, a function that returns the text of a status, may stand for CLASS, "
                f"and without STATUS= it is for all others"
            )
        status = status_of(parts[1]) if parts[1] not in (None, "...") else ...
        if status in errors:
            raise CompileError(
                f"--error {text!r}: there is an error for {parts[1] or 'all others'} already"
            )
        errors[status] = (parts[2], parts[3]) if parts[3] else parts[2]
    return errors or None


def destroy_of(given: Sequence[str]) -> str | dict[str, str] | None:
    """Return the values of ``--destroy``: one function, or those of results by their names.

    Raises:
        CompileError: several functions without the names of results.
    """
    pairs = [tuple(text.split("=", 1)) for text in given]
    if len(pairs) == 1 and len(pairs[0]) == 1:
        return pairs[0][0]
    for text, pair in zip(given, pairs, strict=True):
        if len(pair) == 1:
            raise CompileError(f"--destroy {text!r}: of several, each has a result, as db={text}")
    return {pair[0]: pair[1] for pair in pairs} or None


def provider_of(given: argparse.Namespace) -> CallProvider | type[Any] | None:
    """Return what ``provider=`` of ``wrap`` is for a convention; None if none is given.

    Raises:
        CompileError: ``--args`` are given for a convention that calls nothing.
    """
    from ffi_builder import providers

    if given.convention is None:
        return None
    provider = getattr(providers, PROVIDERS[given.convention])
    if provider is not providers.NopCallProvider:
        return provider
    if given.args is not None:
        raise CompileError("--args goes with a --convention that calls something")
    return providers.NopCallProvider()


def file_or_name(text: str) -> Path | str:
    """Return the path of a file, or ``-l`` and the name of a library as it is."""
    return text if text.startswith("-l") else Path(text)


# ---- launches


def add_launch(parser: argparse.ArgumentParser) -> None:
    """Add ``--grid`` and the other options of launches."""
    group = parser.add_argument_group(
        "launches", "for a kernel in a cubin, a fatbin or PTX: up to three ints or expressions"
    )
    group.add_argument(
        "--grid", metavar="SIZES", help="blocks: 'ceildiv(n, 128)', '(n + 7) // 8, m'"
    )
    group.add_argument("--block", metavar="SIZES", help="threads of a block")
    group.add_argument("--cluster", metavar="SIZES", help="blocks of a cluster")
    group.add_argument(
        "--shared-memory", metavar="BYTES", help="dynamic shared memory of a block: 'n * 4'"
    )
    group.add_argument(
        "--attributes", metavar="NAMES", help="cooperative, programmatic_stream_serialization"
    )
    group.add_argument("--stream", metavar="NAME", help="the parameter that is the stream")


def launch_of(given: argparse.Namespace) -> Launch | None:
    """Return how the kernel is launched; None if no option of launches is given.

    Raises:
        CompileError: there are such options, and no grid.
    """
    from ffi_builder import Launch

    lists = {name: getattr(given, name) for name in ("grid", "block", "cluster", "attributes")}
    launch: dict[str, Any] = {
        name: list_of(f"--{name}", text) for name, text in lists.items() if text is not None
    }
    if given.shared_memory is not None:
        launch["dynamic_smem_bytes"] = given.shared_memory
    if given.stream is not None:
        launch["stream"] = int(given.stream) if given.stream.isdecimal() else given.stream
    if launch and "grid" not in launch:
        option = next(iter(launch)).replace("dynamic_smem_bytes", "shared-memory")
        raise CompileError(f"--{option} goes with --grid, for a kernel that is launched")
    return Launch(**launch) if launch else None
