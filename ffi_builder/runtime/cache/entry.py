"""An entry of the compile cache, and the bytes of its file.

    magic, version, length of the file, SHA-256 of what follows
    number of parts, their lengths
    parts: the key, an index in JSON, the source, the address getter, objects …

Reading runs no code from the file, and trusts only what the checksum covers.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Any, Final

from ffi_builder.records import dataclass
from ffi_builder.runtime.inputs import CachedSource, Code, LlvmSource, ObjectSource

StoredSource = CachedSource | LlvmSource | ObjectSource

_MAGIC: Final = b"ffi_bldr"
_VERSION: Final = 2
_HEADER: Final = struct.Struct("<8sIQ32s")
_COUNT: Final = struct.Struct("<Q")


@dataclass(frozen=True)
class Entry:
    """A compiled module, as the cache stores it."""

    code: Code
    getter: bytes
    """The template of address getters; making it would need LLVM."""
    source: StoredSource | None
    """The source of the code; None if whoever looks the entry up has it."""
    distributions: dict[str, str]
    """The builds of MLIR that made it, unless they are in the key."""
    made_of: list[list[str]]
    """The contents that the objects were made of, by `cache_key.made_of`."""


def encode(key: bytes, entry: Entry) -> bytes:
    """Encode an entry as the bytes of a file."""
    form, text, root, metadata = _described(entry.source)
    index = {
        "form": form,
        "root": root,
        "metadata": metadata,
        "distributions": entry.distributions,
        "own": len(entry.code.own),
        "made_of": entry.made_of,
    }
    parts = [key, json.dumps(index).encode(), text, entry.getter]
    body = _joined([*parts, *entry.code.own, *entry.code.linked])
    digest = hashlib.sha256(body).digest()
    return _HEADER.pack(_MAGIC, _VERSION, _HEADER.size + len(body), digest) + body


def decode(key: bytes, data: bytes) -> Entry | None:
    """Decode the bytes of a file; None if they are not an entry for `key`."""
    if len(data) < _HEADER.size:
        return None
    body = memoryview(data)[_HEADER.size :]
    expected = (_MAGIC, _VERSION, len(data), hashlib.sha256(body).digest())
    if _HEADER.unpack_from(data) != expected:
        return None
    try:
        found, index, text, getter, *objects = _split(body)
        return _entry(json.loads(index), text, getter, objects) if found == key else None
    except (ValueError, KeyError, TypeError, IndexError, struct.error):
        return None  # the checksum is right, but `encode` did not write this


def _entry(index: dict[str, Any], text: bytes, getter: bytes, objects: list[bytes]) -> Entry:
    own: int = index["own"]
    code = Code(tuple(objects[:own]), tuple(objects[own:]))
    source: StoredSource | None
    match index["form"]:
        case "mlir":
            source = CachedSource(text, index["root"], index["metadata"])
        case "llvm":
            source = LlvmSource(text.decode())
        case "object":
            source = ObjectSource(code.own[0])
        case None:
            source = None
        case form:
            raise ValueError(f"No source has the form {form}")
    return Entry(code, getter, source, index["distributions"], index["made_of"])


def _described(source: StoredSource | None) -> tuple[str | None, bytes, str, dict[str, str]]:
    match source:
        case CachedSource(data, root, metadata):
            return "mlir", data, root, metadata
        case LlvmSource(text):
            return "llvm", text.encode(), "", {}
        case ObjectSource():
            return "object", b"", "", {}  # it is its own object
        case None:
            return None, b"", "", {}


def _joined(parts: Sequence[bytes]) -> bytes:
    lengths = b"".join(_COUNT.pack(len(part)) for part in parts)
    return b"".join([_COUNT.pack(len(parts)), lengths, *parts])


def _split(body: memoryview) -> list[bytes]:
    (count,) = _COUNT.unpack_from(body)
    lengths = [length for (length,) in _COUNT.iter_unpack(body[8 : 8 + 8 * count])]
    parts: list[bytes] = []
    at = 8 + 8 * count
    for length in lengths:
        parts.append(bytes(body[at : at + length]))
        at += length
    if len(lengths) != count or at != len(body):
        raise ValueError("The lengths of the parts do not add up to the length of the file")
    return parts
