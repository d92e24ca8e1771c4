"""The helper functions that all launching wrappers of a module share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ffi_builder.ir import Symbols, Type, Types, define_cached, mark_trusted
from ffi_builder.providers.cuda.context import device_of, enter, forget, launch, leave, primary
from ffi_builder.providers.cuda.control import INIT_ONCE, leave_module, preload, release, unload
from ffi_builder.providers.cuda.emit import (
    MESSAGE_VALUES,
    HelperBuilder,
    Site,
    helper_name,
    helper_result,
    say,
)
from ffi_builder.providers.cuda.load import find_driver, load, take_kernel
from ffi_builder.providers.cuda.prepare import launch_again, load_on, prepare, set_attributes
from ffi_builder.providers.cuda.report import fail

_LETTERS: Final = {"p": "ptr", "i": "i32", "l": "i64"}
_BODIES: Final[dict[str, tuple[str, Callable[..., None]]]] = {
    "enter": ("pip", enter),
    "primary": ("pip", primary),
    "leave": ("pi", leave),
    "forget": ("pi", forget),
    "launch": ("ppppi", launch),
    "device_of": ("ppi", device_of),
    "set_attributes": ("ppii", set_attributes),
    "prepare": ("ppipi", prepare),
    "launch_again": ("ppppiii", launch_again),
    "load_on": ("ppii", load_on),
    "fail": ("pppiip" + Site.LETTERS, fail),
    "find_driver": ("p" + Site.LETTERS, find_driver),
    "take_kernel": ("pppppp", take_kernel),
    "load": ("pppppp" + Site.LETTERS, load),
    "preload": ("pippppi" + Site.LETTERS, preload),
    "release": ("ippp" + Site.LETTERS, release),
    "unload": ("ppp", unload),
    "leave_module": ("p", leave_module),
    "say": ("pp" + "l" * MESSAGE_VALUES, say),
}
"""A letter for the type of each parameter, and what emits the body."""


def define_helpers(symbols: Symbols) -> None:
    """Add those that the module does not have."""
    define_cached(symbols, "cuda", _define_all)


def _define_all(symbols: Symbols) -> None:
    t = symbols.types
    symbols.declare(INIT_ONCE, t.i32, [t.ptr, t.ptr])
    internal = {"linkage": t.attribute("#llvm.linkage<internal>")}
    texts: dict[bytes, int] = {}
    for name, (letters, body) in _BODIES.items():
        parameters = _types(t, letters)
        function = symbols.function(
            helper_name(name), helper_result(t, name), parameters, internal, body=True
        )
        b = HelperBuilder(symbols, function, symbols.location, texts)
        body(b, *b.entry.arguments)
        mark_trusted(t, function, ("cold", "minsize", "nounwind"))
    symbols.constant(helper_name("words"), b"".join(text + b"\0" for text in texts))


def _types(t: Types, letters: str) -> Sequence[Type]:
    return [getattr(t, _LETTERS[letter]) for letter in letters]
