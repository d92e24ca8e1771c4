"""Adds the helper functions that the wrappers of a module share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from ffi_builder.ir import Symbols, Type, Types, define_cached, mark_trusted
from ffi_builder.providers.cuda.emitted import (
    capability,
    context,
    control,
    load,
    prepare,
    report,
    zero,
)
from ffi_builder.providers.cuda.emitted.steps import (
    INIT_ONCE,
    MESSAGE_VALUES,
    HelperBuilder,
    Site,
    helper_name,
    helper_result,
    say,
)

_LETTERS: Final = {"p": "ptr", "i": "i32", "l": "i64"}
_Bodies: TypeAlias = Mapping[str, tuple[str, Callable[..., None]]]
"""Helpers by name: a letter for each parameter's type, and the function that emits the body."""
_BODIES: Final[_Bodies] = {
    "enter": ("pip", context.enter),
    "primary": ("pip", context.primary),
    "leave": ("pi", context.leave),
    "forget": ("pi", context.forget),
    "launch": ("ppppi", context.launch),
    "device_of": ("ppi", context.device_of),
    "set_attributes": ("ppii", prepare.set_attributes),
    "prepare": ("ppipi", prepare.prepare),
    "launch_again": ("ppppiii", prepare.launch_again),
    "load_on": ("ppii", prepare.load_on),
    "fail": ("pppiip" + Site.LETTERS, report.fail),
    "find_driver": ("pi" + Site.LETTERS, load.find_driver),
    "take_kernel": ("pppppp", load.take_kernel),
    "load": ("pppppp" + Site.LETTERS, load.load),
    "preload": ("pippppi" + Site.LETTERS, control.preload),
    "release": ("ippp" + Site.LETTERS, control.release),
    "unload": ("ppp", control.unload),
    "leave_module": ("p", control.leave_module),
    "ready": ("pp" + Site.LETTERS, zero.ready),
    "zero": ("pplpip" + Site.LETTERS, zero.zero),
    "fail_zero": ("pip" + Site.LETTERS, zero.fail_zero),
    "say": ("pp" + "l" * MESSAGE_VALUES, say),
}
_OF_CAPABILITIES: Final[_Bodies] = {
    "init_capability": ("pp" + Site.LETTERS, capability.init_capability),
    "find_capability": ("pppipp" + Site.LETTERS, capability.find_capability),
}


def define_helpers(symbols: Symbols) -> None:
    """Add the helpers that the module does not have."""
    define_cached(symbols, "cuda", lambda new: _define(new, _BODIES, "words"))


def define_capability_helpers(symbols: Symbols) -> None:
    """Add the helpers for compute capabilities, which call those for launches."""

    def define(new: Symbols) -> None:
        for name in ("device_of", "fail", "find_driver"):
            parameters = _types(new.types, _BODIES[name][0])
            new.declare(helper_name(name), helper_result(new.types, name), parameters)
        _define(new, _OF_CAPABILITIES, "words_of_capabilities")

    define_helpers(symbols)
    define_cached(symbols, "cuda capability", define)


def _define(symbols: Symbols, bodies: _Bodies, words: str) -> None:
    """Add a group of helpers; ``words`` names the constant with their texts."""
    t = symbols.types
    symbols.declare(INIT_ONCE, t.i32, [t.ptr, t.ptr])
    internal = {"linkage": t.attribute("#llvm.linkage<internal>")}
    texts: dict[bytes, int] = {}
    for name, (letters, body) in bodies.items():
        parameters = _types(t, letters)
        function = symbols.function(
            helper_name(name), helper_result(t, name), parameters, internal, body=True
        )
        b = HelperBuilder(symbols, function, symbols.location, texts, words)
        body(b, *b.entry.arguments)
        mark_trusted(t, function, ("cold", "minsize", "nounwind"))
    symbols.constant(helper_name(words), b"".join(text + b"\0" for text in texts))


def _types(t: Types, letters: str) -> Sequence[Type]:
    return [getattr(t, _LETTERS[letter]) for letter in letters]
