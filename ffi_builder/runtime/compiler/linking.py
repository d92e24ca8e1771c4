"""Links a module with the items of ``link=``, and loads the result.

The JIT links objects. It cannot link shared libraries, so an object defines the functions of these,
and functions at addresses, as jumps, and code gets pointers to their variables. Libraries that are
visible to the whole process would lend theirs to others of the same names, so a library is made so
only for code with the address of its variable in a constant. The system's linker links objects that
the JIT cannot load.
"""

from __future__ import annotations

import ctypes
import platform
import re
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from ffi_builder.abi import PREFIX
from ffi_builder.errors import CompileError, LinkError
from ffi_builder.protocol import escaped
from ffi_builder.runtime.codegen import llvm, targets
from ffi_builder.runtime.files import archives
from ffi_builder.runtime.files.object_files import (
    CALLS,
    read_library,
    read_object,
    relocated,
    with_pointers,
    with_visible,
)
from ffi_builder.runtime.jit.link import Library, in_process, link, missing_in
from ffi_builder.runtime.jit.supplied import ENDINGS
from ffi_builder.runtime.jit.unsupported import UnsupportedError
from ffi_builder.runtime.sources import links
from ffi_builder.runtime.sources.links import AddressSource, ArchiveSource, Item, LibrarySource


def load(
    own: Sequence[bytes],
    linked: Sequence[bytes],
    items: Sequence[Item],
    getter: bytes | None,
    callers: Callable[[str], Sequence[str]],
) -> Library:
    """Load a module's own objects, with those of ``link=`` and its other items.

    Raises:
        LinkError, CompileError: as :func:`~ffi_builder.runtime.jit.link.link` does.
    """
    objects = [*own, *linked]
    resolved = [links.for_process(item) for item in items]
    contents = {item.what: item.data for item in resolved if isinstance(item, ArchiveSource)}
    if contents:
        objects += archives.needed(contents, missing_in(objects))
    owners = tuple(item.owner for item in items if isinstance(item, AddressSource))
    connected = _connected(objects, resolved)
    try:
        return link(connected, getter, callers, owners)
    except UnsupportedError as error:
        if error.data in connected[: len(own)]:
            raise LinkError(str(error)) from None
        functions = _functions(linked)
        called = [*missing_in(own), *functions]
        made = _linked_by_system(called, objects[len(own) :], items, error)
    try:
        connected = _connected(own, [made, *resolved], functions)
    finally:
        Path(made.given).unlink()
    return link(connected, getter, callers, owners)


def _functions(objects: Sequence[bytes]) -> list[str]:
    """Return the symbols of functions of the ABI, and of what describes them."""
    symbols = [symbol for data in objects for symbol in read_object(data).symbols]
    return [each.name for each in symbols if each.exported and each.name.startswith(PREFIX)]


def _connected(
    objects: Sequence[bytes], items: Sequence[Item], functions: Sequence[str] = ()
) -> list[bytes]:
    """Return objects that reach the libraries and addresses among `items`.

    An object is added, which defines missing functions as jumps. It also defines ``functions``, of
    which callers get the jumps.
    """
    addresses = {item.symbol: item.address for item in items if isinstance(item, AddressSource)}
    libraries = [item for item in items if isinstance(item, LibrarySource)]
    missing = [name for name in missing_in(objects) if name not in ENDINGS] if libraries else []
    missing += functions
    others: dict[str, tuple[int, ctypes.CDLL]] = {}
    for item in libraries:
        handle = item.load()
        defined = _defined(Path(links.path_in(handle)))
        for name in missing:
            # Not in `defined` are symbols of libraries that this one needs.
            if name in defined or (not in_process(name) and hasattr(handle, name)):
                address = ctypes.addressof(ctypes.c_char.in_dll(handle, name))
                if defined.get(name):
                    addresses.setdefault(name, address)
                else:
                    others.setdefault(name, (address, handle))
    pointers = {name: address for name, (address, _) in others.items()}
    connected = [with_pointers(data, pointers) for data in objects] if pointers else [*objects]
    left = [name for name in missing_in(connected) if name in others] if others else []
    called = {name for data in connected if left for name in relocated(data, CALLS)}
    for name in left:
        if name in called:
            addresses[name] = pointers[name]
        else:
            _make_visible(name, *others[name])
    return [*connected, jumps_to(addresses)] if addresses else connected


def _make_visible(name: str, address: int, handle: ctypes.CDLL) -> None:
    """Let the JIT find a variable in the process, for code that does not load its address."""
    ctypes.CDLL(links.path_in(handle), ctypes.RTLD_GLOBAL)
    if ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(None), name)) != address:
        raise LinkError(
            f"The variable `{name}` of {links.path_in(handle)} is hidden by one of that name in "
            f"another library of this process: link code that loads its address (as of -fPIC), and "
            f"has it in no constant"
        )


def _defined(path: Path) -> dict[str, bool]:
    """Return the symbols of a library, and which are functions; none for one without a path."""
    if not path.is_absolute():
        return {}
    symbols = read_library(path.read_bytes())
    return {symbol.name: symbol.exported for symbol in symbols if symbol.defined}


_JUMPS: Final = {
    "x86_64": "jmpq *1f(%rip)",
    "aarch64": "ldr x16, 1f; br x16",  # x16 is free between a call and its target
}


def jumps_to(addresses: Mapping[str, int]) -> bytes:
    """Return an object that defines each symbol as a jump to an address.

    Code that the JIT links is near, and the address may be far. The JIT ignores absolute symbols.
    """
    lines = [".text"]
    for symbol, address in addresses.items():
        name = escaped(symbol.encode())
        lines += [f'.globl "{name}"', f'.type "{name}", @function', ".p2align 4", f'"{name}":']
        lines += [_JUMPS[platform.machine()], ".p2align 3", f"1: .quad {address}"]
    text = "\n".join(f'module asm "{escaped(line.encode())}"' for line in lines)
    return llvm.emit_object(text, "host", 0, passes=False)


def _linked_by_system(
    called: Sequence[str], linked: Sequence[bytes], items: Sequence[Item], reason: LinkError
) -> LibrarySource:
    """Link what the JIT cannot load to a shared library, which stays loaded."""
    from ffi_builder.runtime.export.linker import link_library  # few need it

    host = targets.target(targets.HOST, None)
    linked = [with_visible(data, called) for data in linked]
    visible = [f'"{name}"' for name in called]
    try:
        words = [word for word in links.words_of(items) if isinstance(word, str)]
        data = link_library(linked, visible, "linked.so", host, words)
    except (CompileError, LinkError) as error:
        raise LinkError(f"{reason}. Nor can the system's linker: {error}") from None
    why = re.sub(r"(`[^`]*`)(, `[^`]*`)+", r"\1, …", f"{reason}").partition(": ")[0]
    warnings.warn(
        f"The C compiler has linked what the JIT cannot load to a shared library, which stays "
        f"loaded; the functions work. {why}. A shared library as source avoids this step",
        stacklevel=2,
    )
    with tempfile.NamedTemporaryFile(prefix="ffi_builder-", suffix=".so", delete=False) as file:
        file.write(data)
    return LibrarySource(file.name)
